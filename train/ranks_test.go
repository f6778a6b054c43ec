package train

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pihc/dist"
)

// together runs an experiment on ranks of this process; each may have its own
// options. A rank that fails ends the others.
func together(ctx context.Context, dir string, ranks []experiment, options ...Options) []error {
	errs := make([]error, len(ranks))
	comms := dist.Local(len(ranks))
	var wait sync.WaitGroup
	for r, e := range ranks {
		wait.Go(func() {
			o := options[min(r, len(options)-1)]
			o.Comm = comms[r]
			_, errs[r] = e.run(ctx, dir, o)
			if errs[r] != nil {
				comms[r].Abort(1)
			}
		})
	}
	wait.Wait()
	return errs
}

func same(e experiment, size int) []experiment {
	ranks := make([]experiment, size)
	for i := range ranks {
		ranks[i] = e
	}
	return ranks
}

// Any number of ranks gives the bits of one process, whatever its micro-batches
// are: parameters, moments, average, best checkpoint, log. A run that some began
// continues with others.
func TestRanksBitwise(t *testing.T) {
	flow := newExperiment(t, "problem=navier-stokes", "grid={t: 8, x: 12, y: 12}",
		"network={width: 4, layers: 2, modes: {t: 2, x: 3, y: 3}, projection: 6, basis: 4, spectral_gain: 0, omit_coordinates: [x, y], passes: 2, features: {w: 1, residual: 0.2}}",
		"constraint={experts: {x: 2}, points: 40, overlap: {start: 0.5, end: 0}}", "loss={relative: true, border_jump: 0.1}")
	rollout := newExperiment(t, "problem=navier-stokes", "grid={t: 17, x: 12, y: 12}", "rollout=2",
		"network={width: 4, layers: 2, modes: {t: 2, x: 3, y: 3}, projection: 6, basis: 4, spectral_gain: 0, omit_coordinates: [x, y], passes: 2, features: {w: 1, residual: 0.2}}",
		"constraint={experts: {x: 2}, points: 40}", "loss={relative: true, border_jump: 0.1}")
	for method, e := range map[string]experiment{
		"soft": newExperiment(t, "method=soft"), "moe": newExperiment(t, "method=moe"), "flow": flow, "rollout": rollout,
	} {
		e = e.with(t, "training.batch=5", "training.micro_batch=3")
		want, _ := e.train(t, Options{})
		sizes := []int{2, 3, 4}
		if method != "moe" {
			sizes = sizes[1:2]
		}
		for _, size := range sizes {
			dir := filepath.Join(t.TempDir(), "run")
			for r, err := range together(context.Background(), dir, same(e, size), Options{stopAt: 7}) {
				if !errors.Is(err, ErrInterrupted) {
					t.Fatalf("%s, rank %d of %d: %v", method, r, size, err)
				}
			}
			for r, err := range together(context.Background(), dir, same(e, 5-size), Options{Resume: true}) {
				if err != nil {
					t.Fatalf("%s, rank %d of %d: %v", method, r, 5-size, err)
				}
			}
			sameRun(t, method, dir, want)
		}
	}
}

// Ranks that would not train the same thing refuse to start.
func TestRanksDisagree(t *testing.T) {
	e := newExperiment(t)
	other := newExperiment(t, "data.train.seed=9")
	other.spec = e.spec
	for what, ranks := range map[string][]experiment{
		"spec":    {e, e, e.with(t, "training.clip=0.5")},
		"dataset": {e, other, e},
	} {
		for r, err := range together(context.Background(), filepath.Join(t.TempDir(), "run"), ranks, Options{}) {
			if err == nil || !strings.Contains(err.Error(), "has another "+what+" than rank 0") {
				t.Errorf("%s, rank %d: %v", what, r, err)
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "run")
	for r, err := range together(context.Background(), dir, same(e, 2), Options{Build: "a"}, Options{Build: "b"}) {
		if err == nil || !strings.Contains(err.Error(), "rank 1 has another build than rank 0 (b, a)") {
			t.Errorf("rank %d: %v", r, err)
		}
	}
	if Folder(dir).IsRun() {
		t.Error("ranks that disagree have left a run folder")
	}
}

// Rank 0, interrupted, writes the last whole step without waiting for ranks that
// may be gone; the run continues to the same bits.
func TestRanksInterrupted(t *testing.T) {
	e := newExperiment(t)
	want, _ := e.train(t, Options{})
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(context.Background())
	// Rank 1 stops taking part after step 6, as if it had been killed.
	errs := together(ctx, dir, same(e, 2),
		Options{Progress: func(r Record) {
			if r.Step == 6 {
				cancel()
			}
		}}, Options{stopAt: 6})
	if !errors.Is(errs[0], ErrInterrupted) {
		t.Fatal(errs[0])
	}
	if _, err := e.run(context.Background(), dir, Options{Resume: true}); err != nil {
		t.Fatal(err)
	}
	sameRun(t, "interrupted", dir, want)
}
