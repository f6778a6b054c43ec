package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pihc/data"
	"pihc/model"
	"pihc/pde"
	"pihc/score"
	"pihc/train"
)

type trainOptions struct {
	specFlags
	engine                  engineFlags
	data, out, resume, from string
}

func newTrain(a *app) *cobra.Command {
	o := &trainOptions{}
	c := &cobra.Command{
		Use:   "train SPEC --data DIR --out RUN | train --resume RUN",
		Short: "Train one method in a run folder, or resume or extend one",
		Long: `train fits the network of a spec to the equation on the training split of a
dataset. No solution enters the training (but for loss.data, a control); the error
against solutions of the validation split is logged, and the best checkpoint is chosen
by the validation residual alone.

RUN is a new folder. It receives spec.yaml (resolved), problem.yaml (the PDE
file), run.json (where the dataset is), log.jsonl (one line per logged step) and
checkpoints/. Ctrl-C writes a checkpoint, after the sample in progress, and exits with status
130; a second one stops at once. --resume continues bitwise as if nothing had happened, on any
number of workers, with vectors of the same width.

A finished run is extended by --resume RUN --set training.steps=N: its learning rate
goes through its schedule once more, from the last step to N, and spec.yaml records
where (training.restarts). --from RUN begins a new run, of any spec with the same
network, with the best parameters of another.

Started by mpirun or srun, its processes train one run, with the bits of one.

A sample whose loss or gradient is not finite is left out of its step, counted and
logged; a step of no others is skipped. After too many skipped steps in a row
(training.max_bad_steps) training goes back to the last good checkpoint, once, with
a lower learning rate (training.recovery_factor); the second time it ends with an
error.`,
		Example: `  pihc train diffusion-sorption-demo --method moe --data data --out runs/moe
  pihc train my.yaml --data data --out runs/wide --set network.width=48 --seed 3
  pihc train --resume runs/moe
  pihc train --resume runs/moe --set training.steps=8000
  pihc train my.yaml --from runs/moe --data data --out runs/finer --set grid.x=256`,
		Args: positional("SPEC", 0, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.train(c.Context(), args, o) },
	}
	o.add(c, "seed", "method")
	o.engine.add(c)
	c.Flags().StringVarP(&o.data, "data", "d", "", "folder of the dataset (required, except with --resume)")
	c.Flags().StringVarP(&o.out, "out", "o", "", "run folder to make (required, except with --resume)")
	c.Flags().StringVar(&o.resume, "resume", "", "run folder to continue")
	c.Flags().StringVar(&o.from, "from", "", "run folder whose parameters a new run starts from")
	return c
}

func (a *app) train(ctx context.Context, args []string, o *trainOptions) error {
	if err := o.engine.check(); err != nil {
		return err
	}
	a.logEngine(&o.engine)
	if o.resume != "" {
		switch {
		case len(args) > 0:
			return usagef("SPEC %s with --resume: the spec is in the run folder", args[0])
		case o.out != "":
			return usagef("--out with --resume: a run continues in its own folder")
		case o.from != "":
			return usagef("--from with --resume: a run continues with its own parameters")
		}
		overrides, err := o.overrides()
		if err != nil {
			return err
		}
		steps, err := extension(overrides)
		if err != nil {
			return err
		}
		return a.resume(ctx, o, steps)
	}
	switch {
	case len(args) == 0:
		return usagef("SPEC missing")
	case o.data == "":
		return usagef("--data DIR missing")
	case o.out == "":
		return usagef("--out RUN missing")
	}
	spec, p, err := o.open(args[0])
	if err != nil {
		return err
	}
	set, err := data.Open(o.data)
	if err != nil {
		return withDataHint(err, args[0], o.data)
	}
	if err := o.checkConstants(args[0], o.data, spec, p, set); err != nil {
		return err
	}
	if err := o.checkDrawn(args[0], o.data, spec, set); err != nil {
		return err
	}
	if err := checkSizes(spec, p, o.workers, a.slabs); err != nil {
		return err
	}
	if o.from != "" && !train.IsRun(o.from) {
		return usagef("--from %s: it is no run folder", o.from)
	}
	return a.trainAndTell(ctx, o.out, o.data, spec, p, set, train.Options{Engine: o.engine.name, Plugin: o.engine.plugin, Workers: a.workers(o.workers), Comm: a.comm, Slabs: a.slabs, From: o.from})
}

// extension returns the number of steps that overrides extend a run to, 0 without
// any.
func extension(overrides []string) (int, error) {
	if len(overrides) == 0 {
		return 0, nil
	}
	value, ok := strings.CutPrefix(overrides[0], "training.steps=")
	if len(overrides) > 1 || !ok {
		return 0, withHint(usagef("--set, --seed or --method with --resume: of a run's spec training.steps alone changes, to extend it"),
			"`pihc train SPEC --from RUN` starts another experiment from its parameters")
	}
	steps, err := strconv.Atoi(value)
	if err != nil || steps < 1 {
		return 0, usagef("--set training.steps=%s: want a positive number of steps", value)
	}
	return steps, nil
}

// withDataHint tells how to make a dataset that does not exist.
func withDataHint(err error, spec, dir string) error {
	var corrupt *data.CorruptError
	if errors.Is(err, fs.ErrNotExist) && errors.As(err, &corrupt) && corrupt.File == dir { // not a shard that is missing
		return withHint(err, "`pihc generate %s --out %s` makes it", spec, dir)
	}
	return err
}

// resume continues a run, after an extension to so many steps unless that is 0.
func (a *app) resume(ctx context.Context, o *trainOptions, steps int) error {
	if cleared, err := train.ClearUnmade(o.resume); err != nil {
		return err
	} else if cleared {
		return withHint(fmt.Errorf("run %s was stopped while its folder was made, before any training; the folder was removed", o.resume),
			"begin again with `pihc train SPEC --data DIR --out %s`", o.resume)
	}
	if steps > 0 && a.comm.Size() > 1 {
		return usagef("--set training.steps with several processes: one process extends a run, then several may go on")
	}
	if steps > 0 {
		if err := train.Extend(o.resume, steps); err != nil {
			return err
		}
	}
	spec, p, err := train.ReadRun(o.resume)
	if err != nil {
		return err
	}
	set, dataDir, err := openRunData(o.resume, o.data)
	if err != nil {
		return err
	}
	if err := checkNeeds(spec, p, nil, o.workers, a.slabs, true); err != nil {
		return err
	}
	return a.trainAndTell(ctx, o.resume, dataDir, spec, p, set, train.Options{Engine: o.engine.name, Plugin: o.engine.plugin, Workers: a.workers(o.workers), Comm: a.comm, Slabs: a.slabs, Resume: true})
}

func (a *app) trainAndTell(ctx context.Context, dir, dataDir string, spec *model.Spec, p *pde.Problem, set *data.Dataset, options train.Options) error {
	s, err := a.trainRun(ctx, model.MethodLabel(spec.Method), dir, dataDir, spec, p, set, options)
	if errors.Is(err, train.ErrInterrupted) {
		return withHint(fmt.Errorf("%w at step %d of %d", err, s.Steps, spec.Training.Steps), "`pihc train --resume %s` continues", dir)
	}
	if what := noSpace(err); what != "" && train.IsRun(dir) {
		return withHint(err, "%s; then `pihc train --resume %s` continues from its newest checkpoint", what, dir)
	}
	if err != nil {
		return err
	}
	if s.Complete {
		_, err := fmt.Fprintf(a.Out, "run %s is complete: %d of %d steps; `pihc train --resume %s --set training.steps=%d` extends it\n",
			dir, s.Steps, spec.Training.Steps, dir, 2*s.Steps)
		return err
	}
	skipped := ""
	if s.Skipped > 0 {
		skipped = fmt.Sprintf(", %d skipped", s.Skipped)
	}
	if s.Samples > 0 {
		skipped += fmt.Sprintf(", %d samples left out", s.Samples)
	}
	if s.RecoveredAt > 0 {
		skipped += fmt.Sprintf(", gone back at step %d", s.RecoveredAt)
	}
	if !a.writes() {
		return nil
	}
	records, err := readLog(dir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "%s: %d steps%s in %s; best validation residual %s at step %d; run folder %s\n",
		model.MethodLabel(spec.Method), s.Steps, skipped, score.Duration(max(s.Seconds, trainSeconds(records))), score.Number(s.BestResidual), s.BestStep, dir)
	if err != nil {
		return err
	}
	if line := unbeatenOnValidation(records); line != "" {
		_, err = fmt.Fprintf(a.Out, "on validation samples, %s\n", line)
	}
	return err
}

// unbeatenOnValidation is report.Unbeaten of the last validation of a run.
func unbeatenOnValidation(records []train.Record) string {
	var baselines map[string]train.Baseline
	var last train.Record
	for _, r := range records {
		if r.Baselines != nil {
			baselines = r.Baselines
		}
		if r.ValidationResidual != nil {
			last = r
		}
	}
	summary := func(x *data.Float) *score.Summary {
		if x == nil {
			return nil
		}
		return &score.Summary{Mean: float64(*x)}
	}
	var trivial []score.Trivial
	for _, name := range slices.Sorted(maps.Keys(baselines)) {
		x := baselines[name]
		trivial = append(trivial, score.Trivial{Name: name, RelativeL2: summary(x.Error), Loss: *summary(&x.Residual), OutsideAnsatz: x.OutsideAnsatz})
	}
	if len(trivial) == 0 {
		return ""
	}
	return score.Unbeaten(summary(last.ValidationError), float64(*last.ValidationResidual), "validation_residual", trivial)
}

// trainRun trains in dir with a progress meter.
func (a *app) trainRun(ctx context.Context, title, dir, dataDir string, spec *model.Spec, p *pde.Problem, set *data.Dataset, options train.Options) (train.Summary, error) {
	info, err := newRunInfo(dir, dataDir, set)
	if err != nil {
		return train.Summary{}, err
	}
	m := a.newMeter(title, spec.Training.Steps)
	defer m.close()
	options.Files = map[string][]byte{train.InfoFile: info}
	options.Logger, options.Build = a.log, versionText()
	var loss, validation string
	small, expected := false, "initial conditions"
	if p.Reference.Solver != "" {
		expected = "solutions"
	}
	options.Progress = func(r train.Record) {
		if r.Loss != nil {
			loss = "loss " + score.Number(float64(*r.Loss))
		}
		if r.ValidationResidual != nil {
			validation = ", validation residual " + score.Number(float64(*r.ValidationResidual))
			if r.ValidationError != nil {
				validation += ", error " + score.Percent(float64(*r.ValidationError))
			}
		}
		m.set(r.Step, loss+validation)
		if r.Collapse != nil && !small {
			small = true
			a.say("%s: step %d: predictions collapse towards zero: their size is %s of that of the %s", title, r.Step, score.Percent(float64(*r.Collapse)), expected)
		}
		if r.ValidationResidual != nil && r.Step == spec.Training.Steps {
			m.line()
		}
	}
	stopping := context.AfterFunc(ctx, func() {
		a.say("%s: stopping with a checkpoint; Ctrl-C again stops at once", title)
	})
	defer stopping()
	return train.Run(ctx, dir, spec, p, set, options)
}

// checkSameSpec is an error for a run folder that was begun with another spec than this one,
// however written. It sets in spec from which steps the run was extended, which a spec need not say.
func checkSameSpec(dir string, spec *model.Spec) error {
	stored, err := model.ReadStoredSpec(filepath.Join(dir, train.SpecFile))
	if err != nil {
		return err
	}
	if spec.Training.Restarts == nil && spec.Training.Steps == stored.Training.Steps {
		spec.Training.Restarts = stored.Training.Restarts
	}
	want, err := spec.Encode()
	if err != nil {
		return err
	}
	steps := stored.Training.Steps
	for _, n := range []int{steps, spec.Training.Steps} {
		stored.Training.Steps = n
		have, err := stored.Encode()
		switch {
		case err != nil:
			return err
		case !bytes.Equal(have, want):
		case n == steps:
			return nil
		case n > steps:
			return withHint(fmt.Errorf("run folder %s holds a run with another spec: training.steps is %d, not %d", dir, steps, n),
				"`pihc train --resume %s --set training.steps=%d` extends it; or choose another folder with --out, or remove that one", dir, n)
		}
	}
	return withHint(fmt.Errorf("run folder %s holds a run with another spec", dir), "choose another folder with --out, or remove that one")
}
