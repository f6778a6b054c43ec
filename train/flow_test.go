package train

import (
	"testing"

	"pihc/data"
	"pihc/grid"
	"pihc/model"
)

// Navier-Stokes at toy size, in three passes: all methods learn without a
// solution, end below three quarters of the error of w(t) = w0, and a second run that is
// interrupted between passes and resumed ends with the same bits.
func TestFlowLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 360 steps")
	}
	const steps = 120
	for _, method := range model.Methods {
		e := newExperiment(t, "method="+method, "problem=navier-stokes", "grid={t: 8, x: 12, y: 12}",
			"network={width: 12, layers: 2, modes: {t: 3, x: 4, y: 4}, projection: 12, basis: 6, last_activation: false, spectral_gain: 0, omit_coordinates: [x, y], passes: 3, features: {w: 1, vel_x: 0.07, vel_y: 0.07, w_x: 4, w_y: 4, residual: 0.2, mean_residual: 1}}",
			"constraint={experts: {x: 2}, points: 300, overlap: {start: 0.75, end: 0.25, from: 0.2, to: 0.8}}",
			"loss.relative=true", "loss.border_jump=0.1", "training.steps=120", "training.batch=4", "training.micro_batch=4", "training.average=0", "training.validate=120",
			"training.learning_rate={initial: 1e-2, final: 1e-4, decay: cosine}", "data.train.count=40")
		dir, s := e.train(t, Options{})
		log := records(t, dir)
		got := float64(*log[len(log)-1].ValidationError)
		still := persistence(t, e.set)
		t.Logf("%s: %.3g, w(t) = w0 %.3g", method, got, still)
		if !(got < 0.75*still) {
			t.Errorf("%s: error %.3g, of w(t) = w0 %.3g", method, got, still)
		}
		if s.Steps != steps || s.Skipped != 0 {
			t.Errorf("%s: %d steps, %d skipped", method, s.Steps, s.Skipped)
		}
		if method != model.MoE {
			continue
		}
		again := t.TempDir() + "/run"
		if _, err := e.run(t.Context(), again, Options{stopAt: 61}); err != ErrInterrupted {
			t.Fatal(err)
		}
		if _, err := e.run(t.Context(), again, Options{Resume: true, Workers: 2}); err != nil {
			t.Fatal(err)
		}
		last := "checkpoints/" + stepName(steps) + ".safetensors"
		if files(t, again)[last] != files(t, dir)[last] {
			t.Error("interrupted and resumed, the run ends with other parameters")
		}
	}
}

// persistence is the mean relative L2 error of the field that keeps its initial
// values.
func persistence(t testing.TB, set *data.Dataset) float64 {
	t.Helper()
	initial, err := bySample(set.InputRange("validation", 0, 3))
	if err != nil {
		t.Fatal(err)
	}
	truth, err := bySample(set.SolutionsRange("validation", 0, 3))
	if err != nil {
		t.Fatal(err)
	}
	mean := 0.0
	for i, u := range truth {
		still := make([]float64, len(u))
		for p := range still {
			still[p] = initial[i][p%len(initial[i])]
		}
		mean += grid.RelativeL2(still, u, 1) / float64(len(truth))
	}
	return mean
}
