package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"pihc/data"
	"pihc/engine"
	"pihc/grid"
	"pihc/internal/disk"
	"pihc/internal/machine"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
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
	if have := machine.Memory(); have > 0 && needs.Bytes() > have {
		return words.WithHint(fmt.Errorf("%s on %s needs about %s of memory; this machine has %s", what, words.Shape(g.Shape()), words.Size(needs.Bytes()), words.Size(have)),
			"most of it depends on %s", needs.Largest())
	}
	return nil
}

// checkDisk reports a dataset that does not fit the disk of dir, or one sample of
// which does not fit this machine.
func checkDisk(dir string, plan data.Plan) error {
	size := func(shape []int) float64 {
		bytes := 8.0
		for _, n := range shape {
			bytes *= float64(n)
		}
		return bytes
	}
	total, sample := 0.0, 0.0
	for _, s := range plan.Splits {
		bytes := size(s.InputShape())
		if s.Solve {
			bytes += size(s.SolutionShape())
		}
		total += float64(s.Count) * bytes
		sample = max(sample, bytes)
	}
	if have := machine.Memory(); have > 0 && sample > have {
		return words.WithHint(fmt.Errorf("a sample of the dataset needs %s of memory; this machine has %s", words.Size(sample), words.Size(have)), "fewer points in the spec's grid")
	}
	free := machine.DiskFree(disk.Existing(dir))
	if free > 0 && total > free {
		return words.WithHint(fmt.Errorf("the dataset needs %s on the disk of %s, which has %s left", words.Size(total), dir, words.Size(free)), "fewer samples (data.train.count, data.validation.count, data.test.count), or another --out")
	}
	return nil
}

// checkWritable reports a folder for a dataset that cannot be made, or written in, before anything
// is solved for it. What holds files already is for data.Generate to judge.
func checkWritable(dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil
	}
	if err := disk.Outside(dir, nil); err != nil {
		return err
	}
	probe, err := os.MkdirTemp(disk.Existing(dir), ".pihc-")
	if err == nil {
		return os.Remove(probe)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("create %s: %w", dir, err)
}
