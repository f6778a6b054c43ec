package data

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"

	"pihc/internal/disk"
)

// split makes the shards of one split, by its number, that are not in kept.
func (g *generator) split(ctx context.Context, number uint64, s Split, kept map[string]shard) error {
	workers, err := g.workers(s)
	if err != nil {
		return err
	}
	size := g.shardSize(s, g.manifest)
	for first := 0; first < s.Count; first += size {
		made := shard{Split: s.Name, First: first, Count: min(size, s.Count-first), File: shardFile(s, first/size)}
		if old, ok := kept[made.File]; ok && old.First == made.First && old.Count == made.Count && old.Split == made.Split {
			g.manifest.Shards = append(g.manifest.Shards, old)
			continue
		}
		if err := g.announce(number, first, made.Count); err != nil {
			return err
		}
		arrays, err := g.shard(ctx, s, made, workers)
		if err != nil {
			return err
		}
		made.Bytes, made.SHA256, err = disk.WriteHashed(g.path(made.File), nil, func(w io.Writer) error { return EncodeNPZ(w, arrays) })
		if err != nil {
			return err
		}
		g.manifest.Shards = append(g.manifest.Shards, made)
		if err := g.manifest.write(g.path(progressFile)); err != nil {
			return err
		}
	}
	return nil
}

// worker draws and solves samples, one after another.
type worker struct {
	sample   func(rng *rand.Rand, dst []float64) error
	solve    func(dst, initial []float64) error
	solution []float64 // of one sample
}

func (g *generator) workers(s Split) ([]worker, error) {
	n := g.plan.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	workers := make([]worker, min(n, s.Count))
	for i := range workers {
		var err error
		if workers[i].sample, err = g.plan.Sampler(s); err != nil {
			return nil, fmt.Errorf("sampler of %s: %w", s.Name, err)
		}
		if s.Solve {
			if workers[i].solve, err = g.plan.Solver(s); err != nil {
				return nil, fmt.Errorf("solver of %s: %w", s.Name, err)
			}
			size, _ := product(s.SolutionShape())
			workers[i].solution = make([]float64, size)
		}
	}
	return workers, nil
}

// shard makes the arrays of one shard, with the other ranks. Each sample is written
// by one worker to its place, so the result does not depend on which.
func (g *generator) shard(ctx context.Context, s Split, made shard, workers []worker) ([]Named, error) {
	if g.plan.Float32 {
		return arraysOf[float32](ctx, g, s, made, workers)
	}
	return arraysOf[float64](ctx, g, s, made, workers)
}

// arraysOf is shard with solutions of type T.
func arraysOf[T float32 | float64](ctx context.Context, g *generator, s Split, made shard, workers []worker) ([]Named, error) {
	lo, hi, piece := share(g.plan.Ranks, made.Count)
	points, _ := product(s.InputShape())
	size := 0
	if s.Solve {
		size, _ = product(s.SolutionShape())
	}
	initial, solutions := make([]float64, piece*points), make([]T, piece*size)
	err := g.draw(ctx, s, made.First+lo, hi-lo, workers, func(i int) []float64 { return initial[i*points : (i+1)*points] }, func(i int, solution []float64) {
		for j, v := range solution {
			solutions[i*size+j] = T(v)
		}
	})
	if err != nil {
		return nil, err
	}
	if initial, err = gather(g.plan.Ranks, initial); err != nil {
		return nil, err
	}
	if solutions, err = gather(g.plan.Ranks, solutions); err != nil {
		return nil, err
	}
	if others := made.Count - (hi - lo); others > 0 {
		g.advance(others)
	}
	arrays := separate(s.inputParts(), initial, made.Count)
	if s.Solve {
		arrays = append(arrays, separate(s.solutionParts(), solutions, made.Count)...)
	}
	return arrays, nil
}

// separate makes the arrays of the parts from the values of count samples.
func separate[T float32 | float64](parts []part, values []T, count int) []Named {
	width := 0
	for _, p := range parts {
		size, _ := product(p.shape)
		width += size
	}
	offset := 0
	var arrays []Named
	for _, p := range parts {
		size, _ := product(p.shape)
		array := values[:count*width]
		if size < width {
			array = make([]T, 0, count*size)
			for i := range count {
				array = append(array, values[i*width+offset:][:size]...)
			}
		}
		arrays, offset = append(arrays, Named{p.name, NewArray(append([]int{count}, p.shape...), array)}), offset+size
	}
	return arrays
}

// draw draws and solves count samples of a split from sample first on: sample i of them
// to inputs(i), and its solution is passed to keep.
func (g *generator) draw(ctx context.Context, s Split, first, count int, workers []worker, inputs func(i int) []float64, keep func(i int, solution []float64)) error {
	caller := ctx
	ctx, cancel := context.WithCancelCause(caller)
	defer cancel(nil)
	next := make(chan int)
	var all sync.WaitGroup
	for w := range workers {
		worker := &workers[w]
		all.Go(func() {
			for i := range next {
				if err := g.sample(worker, s, first+i, inputs(i), worker.solution); err != nil {
					cancel(fmt.Errorf("sample %d of %s: %w", first+i, s.Name, err))
					continue
				}
				keep(i, worker.solution)
				g.advance(1)
			}
		})
	}
	for i := range count {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	all.Wait()
	if err := caller.Err(); err != nil {
		return &interrupted{g.dir, err}
	}
	return context.Cause(ctx)
}

// sample takes a sample that is given, or draws and solves it.
func (g *generator) sample(w *worker, s Split, index int, initial, solution []float64) error {
	if g.plan.Given != nil {
		if there, err := g.plan.Given(s, index, initial, solution); there || err != nil {
			return err
		}
	}
	err := w.sample(SampleRand(s.Seed, index), initial)
	if err == nil && s.Solve {
		err = w.solve(solution, initial)
	}
	return err
}
