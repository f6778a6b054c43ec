package train

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pihc/dist"
	"pihc/model"
)

// Stages on coarser grids: the first steps are those of a run on that grid alone, and
// interrupted in a stage or between two, a run continues to the same bits.
func TestStages(t *testing.T) {
	e := newExperiment(t, "training.stages=[{steps: 5, grid: {x: 8}, points: 10}, {steps: 3, grid: {t: 17}}]", "training.window={t: [0, 375]}")
	dir, _ := e.train(t, Options{})
	log := records(t, dir)

	alone := newExperiment(t, "grid={t: 9, x: 8}", "constraint.points=10", "training.window={t: [0, 375]}")
	coarse, _ := alone.train(t, Options{})
	steps := func(log []Record, from, to int) (out []Record) {
		for _, r := range log {
			if r.Loss != nil && r.Step >= from && r.Step <= to {
				r.Seconds = 0
				out = append(out, r)
			}
		}
		return out
	}
	if got, want := steps(log, 1, 5), steps(records(t, coarse), 1, 5); len(got) != 5 || !reflect.DeepEqual(got, want) {
		t.Errorf("steps of the first stage %+v, of a run on its grid %+v", got, want)
	}
	if got, want := steps(log, 6, 6), steps(records(t, coarse), 6, 6); reflect.DeepEqual(got, want) {
		t.Error("the second stage is on the grid of the first")
	}
	again := filepath.Join(t.TempDir(), "run")
	for i, stop := range []int{3, 5, 7} {
		if s, err := e.run(context.Background(), again, Options{stopAt: stop, Resume: i > 0, Workers: 1 + i%2}); !errors.Is(err, ErrInterrupted) || s.Steps != stop {
			t.Fatalf("%+v, %v", s, err)
		}
	}
	resume(t, e, again, dir)
}

// Training that ends early in time knows nothing of what comes after: solutions of
// validation are cut off there.
func TestWindow(t *testing.T) {
	e := newExperiment(t, "training.window={t: [0, 437.5]}")
	tr, err := newTrainer[float32](filepath.Join(t.TempDir(), "run"), e.spec, e.problem, e.set, Options{Workers: 1, Logger: slog.New(slog.DiscardHandler), Comm: dist.Alone{}})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.close()
	axis := tr.info.Grid.Axes[0]
	if axis.Hi != 437.5 || axis.Points != 8 || axis.Step() != 62.5 {
		t.Errorf("axis %+v", axis)
	}
	if n := 8 * tr.info.InputSize(); len(tr.valid.truth) != 3 || len(tr.valid.truth[0]) != n {
		t.Errorf("%d solutions of %d values, want 3 of %d", len(tr.valid.truth), len(tr.valid.truth[0]), n)
	}
	g, err := e.problem.Grid(e.spec.Grid)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.spec.WindowEnd(g); got != 8 {
		t.Errorf("%d of 9 points are within the window, want 8", got)
	}
	for override, want := range map[string]string{
		"training.window={x: [0, 0.5]}":              "training.window.x: want the first axis of problem diffusion-sorption, t",
		"training.window={t: [10, 250]}":             "training.window.t: [10, 250]: want from 0 to an end below 500",
		"training.window={t: [0, 260]}":              "training.window.t: 260 is no border between steps of 62.5",
		"training.stages=[{steps: 4, grid: {x: 2}}]": "training.stages.0: term u_xx: axis x has 2 points",
	} {
		bad := e.with(t, override)
		if _, err := bad.spec.Stages(bad.problem); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", override, err, want)
		}
	}
	if _, err := model.LoadSpec("toy.yaml", []byte(toySpec), "training.stages=[{steps: 12, grid: {x: 8}}]"); err == nil || !strings.Contains(err.Error(), "12 of the 12 steps of training") {
		t.Errorf("%v", err)
	}
}
