package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"pihc/data"
	"pihc/engine"
	"pihc/grid"
	"pihc/model"
	"pihc/pde"
)

const (
	maxWorkers = 1024
	// A step of training has to end within a day at a rate that no machine reaches
	// with one process, in floating-point operations a second.
	stepSeconds = 86400
	stepRate    = 1e13
)

// checkNeeds reports an experiment that this machine cannot hold, before anything
// is made for it. A nil grid is that of training, and so many slabs of it
// are shared by ranks.
func checkNeeds(spec *model.Spec, p *pde.Problem, g *grid.Grid, workers, slabs int, training bool) error {
	if g == nil {
		var err error
		if g, err = p.Grid(spec.Grid); err != nil {
			return err
		}
	}
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	needs, err := engine.Estimate(spec, p, g, workers, max(1, slabs), training)
	if err != nil {
		return err
	}
	what := "evaluation"
	if training {
		what = "training"
	}
	if have := machineMemory(); have > 0 && needs.Bytes() > have {
		return withHint(fmt.Errorf("%s on %s needs about %s of memory; this machine has %s", what, data.FormatShape(g.Shape()), engine.Size(needs.Bytes()), engine.Size(have)),
			"most of it depends on %s", needs.Largest())
	}
	if needs.Step > stepRate*stepSeconds {
		return withHint(fmt.Errorf("a step of training takes %.3g floating-point operations; more than %.3g are not tried", needs.Step, float64(stepRate*stepSeconds)),
			"they grow with grid, network.width, network.layers, network.passes and training.batch")
	}
	return nil
}

// checkDisk reports a dataset that does not fit the disk of dir, or one sample of
// which does not fit this machine.
func checkDisk(dir string, plan data.Plan) error {
	total, sample := 0.0, 0.0
	for _, s := range plan.Splits {
		space, points := 8.0, 8.0
		for _, n := range s.SolutionShape() {
			points *= float64(n)
		}
		for _, n := range s.InitialShape() {
			space *= float64(n)
		}
		if !s.Solve {
			points = 0
		}
		total += float64(s.Count) * (space + points)
		sample = max(sample, space+points)
	}
	if have := machineMemory(); have > 0 && sample > have {
		return withHint(fmt.Errorf("a sample of the dataset needs %s of memory; this machine has %s", engine.Size(sample), engine.Size(have)), "fewer points in the spec's grid")
	}
	free := 0.0
	for at := filepath.Clean(dir); free == 0; at = filepath.Dir(at) {
		free = diskFree(at)
		if at == filepath.Dir(at) {
			break
		}
	}
	if free > 0 && total > free {
		return withHint(fmt.Errorf("the dataset needs %s on the disk of %s, which has %s left", engine.Size(total), dir, engine.Size(free)), "fewer samples (data.train.count, data.validation.count, data.test.count), or another --out")
	}
	return nil
}

// checkWritable reports a folder for a dataset that cannot be made, or written in, before anything
// is solved for it. What holds files already is for data.Generate to judge.
func checkWritable(dir string) error {
	at := filepath.Clean(dir)
	if entries, err := os.ReadDir(at); err == nil && len(entries) > 0 {
		return nil
	}
	for _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at); _, err = os.Stat(at) {
		at = filepath.Dir(at)
	}
	probe, err := os.MkdirTemp(at, ".pihc-")
	if err == nil {
		return os.Remove(probe)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("create %s: %w", dir, err)
}

// checkWorkers reports an impossible --workers.
func checkWorkers(n int) error {
	switch {
	case n < 0:
		return usagef("--workers %d: want a positive number, or 0 for all cores", n)
	case n > maxWorkers:
		return usagef("--workers %d: want at most %d", n, maxWorkers)
	}
	return nil
}
