package dist

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pihc/data"
)

// datasetPlan has splits of more and of fewer samples than ranks, with solutions and
// without, in several shards.
func datasetPlan(single bool) data.Plan {
	axes := []data.AxisRecord{{Name: "t", Lo: 0, Hi: 2, Points: 3, Boundary: "nodes"}, {Name: "x", Lo: 0, Hi: 1, Points: 4, Boundary: "cells"}}
	return data.Plan{
		Problem: "test", ProblemHash: "abc", Float32: single, Workers: 2, ShardSize: 5,
		Splits: []data.Split{{Name: "train", Count: 12, Seed: 1, Axes: axes}, {Name: "validation", Count: 1, Seed: 3, Solve: true, Axes: axes}, {Name: "test", Count: 7, Seed: 2, Solve: true, Axes: axes}},
		Sampler: func(data.Split) (func(*rand.Rand, []float64) error, error) {
			return func(rng *rand.Rand, dst []float64) error {
				for i := range dst {
					dst[i] = rng.Float64()
				}
				return nil
			}, nil
		},
		Solver: func(data.Split) (func(dst, initial []float64) error, error) {
			return func(dst, initial []float64) error {
				for i := range dst {
					dst[i] = initial[i%len(initial)] * float64(1+i/len(initial))
				}
				return nil
			}, nil
		},
	}
}

// generate makes a dataset on ranks of this process; a rank that fails ends the others.
func generate(dir string, size int, plan func(rank int) data.Plan) []error {
	errs := make([]error, size)
	var wait sync.WaitGroup
	for r, c := range Local(size) {
		wait.Go(func() {
			p := plan(r)
			p.Ranks = c
			if errs[r] = data.Generate(context.Background(), dir, p, nil); errs[r] != nil {
				c.Abort(1)
			}
		})
	}
	wait.Wait()
	return errs
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		src, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(e.Name(), ".") {
			all[e.Name()] = string(src)
		}
	}
	return all
}

// Any number of ranks makes the files of one process, continues what another number
// began, and verifies what is complete.
func TestGenerate(t *testing.T) {
	for _, single := range []bool{false, true} {
		plan := func(int) data.Plan { return datasetPlan(single) }
		whole := filepath.Join(t.TempDir(), "whole")
		if err := data.Generate(context.Background(), whole, plan(0), nil); err != nil {
			t.Fatal(err)
		}
		want := files(t, whole)
		for size := 2; size <= 4; size++ {
			dir := filepath.Join(t.TempDir(), "shared")
			// The first time rank 1 fails at the first sample it solves.
			broken := errors.New("broken")
			errs := generate(dir, size, func(rank int) data.Plan {
				p := plan(rank)
				if rank == 1 {
					p.Solver = func(data.Split) (func(dst, initial []float64) error, error) {
						return func(_, _ []float64) error { return broken }, nil
					}
				}
				return p
			})
			if !errors.Is(errs[1], broken) || !errors.Is(errs[0], errAborted) {
				t.Errorf("%d ranks, rank 1 fails: %v", size, errs)
			}
			for range 2 {
				for r, err := range generate(dir, size, plan) {
					if err != nil {
						t.Fatalf("rank %d of %d: %v", r, size, err)
					}
				}
			}
			got := files(t, dir)
			if len(got) != len(want) {
				t.Errorf("%d ranks: %d files, want %d", size, len(got), len(want))
			}
			for name, src := range want {
				if got[name] != src {
					t.Errorf("%d ranks: %s differs", size, name)
				}
			}
		}
	}
}
