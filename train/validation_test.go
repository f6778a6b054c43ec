package train

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"testing"

	"pihc/engine"
	"pihc/grid"
	"pihc/internal/check"
)

// The first validation, and no other, says what predictions without training score on the
// same samples, however often the run is interrupted.
func TestBaselines(t *testing.T) {
	e := newExperiment(t, "method=soft")
	whole, _ := e.train(t, Options{})
	var b map[string]Baseline
	for _, r := range records(t, whole) {
		switch {
		case r.Step == 4 && r.ValidationResidual != nil:
			b = r.Baselines
		case r.Baselines != nil:
			t.Errorf("step %d has baselines too: %v", r.Step, r.Baselines)
		}
	}
	if len(b) != 3 {
		t.Fatalf("baselines %v", b)
	}
	const count = 3
	initial, err := bySample(e.set.InputRange("validation", 0, count))
	if err != nil {
		t.Fatal(err)
	}
	truth, err := bySample(e.set.SolutionsRange("validation", 0, count))
	if err != nil {
		t.Fatal(err)
	}
	g, err := e.problem.Grid(e.spec.Grid)
	if err != nil {
		t.Fatal(err)
	}
	info := engine.Info{Problem: e.problem, Grid: g, Spec: e.spec}
	losses, err := info.StillLosses(initial)
	if err != nil {
		t.Fatal(err)
	}
	sum, others, still := make([]float64, g.Size()), make([]float64, g.Size()), make([]float64, g.Size())
	loss, mean, held := 0.0, 0.0, 0.0
	for i, u := range truth {
		loss += losses[i] / count
		for q, v := range u {
			sum[q] += v
		}
		e.problem.Persist(still, initial[i], g)
		held += grid.RelativeL2(still, u, 1) / count
	}
	for _, u := range truth {
		for q, v := range u {
			others[q] = (sum[q] - v) / (count - 1)
		}
		mean += grid.RelativeL2(others, u, 1) / count
	}
	check.Close(t, []float64{float64(b["persistence"].Residual), float64(*b["zero"].Error), float64(*b["persistence"].Error), float64(*b["mean"].Error)},
		[]float64{math.Sqrt(loss), 1, held, mean}, 1e-12, 0)

	for _, stop := range []int{2, 4, 6} {
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := e.run(context.Background(), dir, Options{stopAt: stop}); !errors.Is(err, ErrInterrupted) {
			t.Fatal(err)
		}
		if _, err := e.run(context.Background(), dir, Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		sameRun(t, "interrupted", dir, whole)
	}
}
