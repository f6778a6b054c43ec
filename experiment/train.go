package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"pihc/data"
	"pihc/internal/disk"
	"pihc/internal/machine"
	"pihc/internal/words"
	"pihc/model"
	"pihc/score"
	"pihc/train"
)

// Train fits the network of the experiment in the new run folder dir, on the dataset in dataDir, which must be that of this
// problem, constants included, and returns the run, with the training's summary. A folder that exists is an error: Resume or
// Ensure go on with it. An interrupted training (ctx) leaves a checkpoint and returns train.ErrInterrupted with
// the run.
func (x *Experiment) Train(ctx context.Context, dir, dataDir string, o Options) (*Run, error) {
	return x.train(ctx, dir, dataDir, o, "")
}

// TrainFrom is Train that begins with the best parameters of the run in the folder from, whose network must be the same.
func (x *Experiment) TrainFrom(ctx context.Context, from, dir, dataDir string, o Options) (*Run, error) {
	if !train.Folder(from).IsRun() {
		return nil, usagef("--from %s: it is no run folder", from)
	}
	return x.train(ctx, dir, dataDir, o, from)
}

func (x *Experiment) train(ctx context.Context, dir, dataDir string, o Options, from string) (*Run, error) {
	if err := x.asRead(dir, o); err != nil {
		return nil, err
	}
	set, err := data.Open(dataDir)
	if err != nil {
		return nil, withDataHint(err, x.name, dataDir)
	}
	if err := x.checkConstants(dataDir, set); err != nil {
		return nil, err
	}
	if err := x.checkDrawn(dataDir, set); err != nil {
		return nil, err
	}
	if err := x.CheckSizes(o); err != nil {
		return nil, err
	}
	r := &Run{Dir: dir, Spec: x.Spec, Problem: x.Problem}
	for _, err := range x.unread("train") { // the run's spec has them all the same
		o.warn(&r.Warnings, "%v", err)
	}
	if warning := set.Metadata[gridWarning]; warning != "" {
		o.warn(&r.Warnings, "%s", warning)
	}
	return r, r.train(ctx, model.MethodLabel(x.Spec.Method), dataDir, set, o, train.Options{From: from})
}

// Ensure is Train that goes on with the run in dir where there is one, which must be of the same spec. The title names it in
// progress.
func (x *Experiment) Ensure(ctx context.Context, title, dir, dataDir string, o Options) (*Run, error) {
	if err := x.asRead(dir, o); err != nil {
		return nil, err
	}
	set, err := data.Open(dataDir)
	if err != nil {
		return nil, err
	}
	resume := train.Folder(dir).IsRun()
	if resume {
		if err := checkSameSpec(dir, x.Spec); err != nil {
			return nil, err
		}
	}
	r := &Run{Dir: dir, Spec: x.Spec, Problem: x.Problem}
	if resume {
		if err := r.sameData(dataDir, set); err != nil {
			return nil, err
		}
	}
	return r, r.train(ctx, title, dataDir, set, o, train.Options{Resume: resume})
}

// CheckFolder returns an error for a folder that Ensure refuses, as far as its files tell.
func (x *Experiment) CheckFolder(dir string) error {
	err := train.Folder(dir).Check()
	if err == nil && train.Folder(dir).IsRun() {
		err = checkSameSpec(dir, x.Spec)
	}
	return err
}

// Resume goes on with the training of a run, bitwise as if it had not been interrupted, on its dataset or that in the folder
// dataDir. With steps > 0 the run is extended to so many first.
func Resume(ctx context.Context, dir, dataDir string, steps int, o Options) (*Run, error) {
	if cleared, err := train.Folder(dir).ClearUnmade(); err != nil {
		return nil, err
	} else if cleared {
		return nil, words.WithHint(fmt.Errorf("run %s was stopped while its folder was made, before any training; the folder was removed", dir),
			"begin again with `pihc train SPEC --data DIR --out %s`", dir)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if steps < 0 {
		return nil, usagef("--set training.steps=%d: want a positive number of steps", steps)
	}
	r, err := OpenRun(dir)
	if err != nil {
		return nil, err
	}
	set, dataDir, err := r.openData(dataDir)
	if err != nil {
		return nil, err
	}
	if err := r.sameData(dataDir, set); err != nil {
		return nil, err
	}
	if err := checkNeeds(r.Spec, r.Problem, nil, o.Workers, o.Slabs, true); err != nil {
		return nil, err
	}
	if steps > 0 {
		if o.comm().Size() > 1 {
			return nil, usagef("--set training.steps with several processes: one process extends a run, then several may go on")
		}
		if err := train.Folder(dir).Extend(steps); err != nil {
			return nil, err
		}
		if r, err = OpenRun(dir); err != nil {
			return nil, err
		}
	}
	return r, r.train(ctx, model.MethodLabel(r.Spec.Method), dataDir, set, o, train.Options{Resume: true})
}

// sameData reports a dataset that is not the one which a run was begun with.
func (r *Run) sameData(dir string, set *data.Dataset) error {
	had, _, err := r.Origin()
	if err != nil || had == set.Checksum { // without run.json checkpoints tell
		return nil
	}
	return words.WithHint(fmt.Errorf("run %s was trained with another dataset than %s (hash %.12s, now %.12s); resume needs the same one", r.Dir, dir, had, set.Checksum),
		"without --data it is found by run.json")
}

// withDataHint tells how to make a dataset that does not exist.
func withDataHint(err error, spec, dir string) error {
	var corrupt *disk.CorruptError
	if errors.Is(err, fs.ErrNotExist) && errors.As(err, &corrupt) && corrupt.File == dir { // not a shard that is missing
		return words.WithHint(err, "`pihc generate %s --out %s` makes it", spec, dir)
	}
	return err
}

// train trains a run, and tells of it by a title.
func (r *Run) train(ctx context.Context, title, dataDir string, set *data.Dataset, o Options, options train.Options) error {
	info, err := newRunInfo(r.Dir, dataDir, options.From, set)
	if err != nil {
		return err
	}
	events, err := r.newEvents(o)
	if err != nil {
		return err
	}
	defer events.close()
	if o.Progress != nil { // that a training stops is told by another goroutine
		var mu sync.Mutex
		tell := o.Progress
		o.Progress = func(p Progress) {
			mu.Lock()
			defer mu.Unlock()
			tell(p)
		}
	}
	steps := r.Spec.Training.Steps
	m := o.Stage(title, steps)
	defer m.End()
	options.Engine, options.Plugin, options.Workers, options.Comm, options.Slabs = o.Engine, o.Plugin, o.Workers, o.comm(), max(1, o.Slabs)
	options.Info = info
	options.Logger, options.Build = o.Logger, machine.Version()
	var loss, validation string
	passes := passesText(float64(r.Spec.Network.Passes))
	small, expected := false, "initial conditions"
	if r.Problem.Reference.Solver != "" {
		expected = "solutions"
	}
	options.Progress = func(now train.Record) {
		events.write(now)
		if now.Loss != nil {
			loss = "batch loss " + words.Number(float64(*now.Loss))
		}
		if now.ValidationResidual != nil {
			validation = ", validation residual " + words.Number(float64(*now.ValidationResidual))
			if now.ValidationError != nil {
				validation += ", error " + words.Percent(float64(*now.ValidationError))
			}
			validation += passes
		}
		m.Set(now.Step, loss+validation)
		if now.Collapse != nil && !small {
			small = true
			o.say("%s: step %d: predictions collapse towards zero: their size is %s of that of the %s", title, now.Step, words.Percent(float64(*now.Collapse)), expected)
		}
		if now.ValidationResidual != nil && now.Step == steps {
			m.Line()
		}
	}
	options.Stopping = func() {
		o.tell(Progress{Text: title + ": stopping with a checkpoint; Ctrl-C again stops at once", Saving: true})
	}
	r.Summary, err = train.Run(ctx, r.Dir, r.Spec, r.Problem, set, options)
	m.End()
	if s := r.Summary; err == nil && s.BestResidual >= s.Start && s.Start > 0 {
		o.warn(&r.Warnings, "%s did not get better than its start: %s %s at best (step %d), %s before the first step; a lower training.learning_rate.initial, or more steps, may help",
			title, r.Spec.Training.Measure(), words.Number(s.BestResidual), s.BestStep, words.Number(s.Start))
	}
	return err
}

// passesText says in how many passes something was predicted, "" of one.
func passesText(passes float64) string {
	if passes <= 1 {
		return ""
	}
	return " in " + words.Number(passes) + " passes"
}

// checkSameSpec is an error for a run folder that was begun with another spec than this one,
// however written. It sets in spec from which steps the run was extended, which a spec need not say.
func checkSameSpec(dir string, spec *model.Spec) error {
	stored, _, err := train.Folder(dir).Read()
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
			return words.WithHint(fmt.Errorf("run folder %s holds a run with another spec: training.steps is %d, not %d", dir, steps, n),
				"`pihc train --resume %s --set training.steps=%d` extends it; or choose another folder with --out, or remove that one", dir, n)
		}
	}
	return words.WithHint(fmt.Errorf("run folder %s holds a run with another spec", dir), "choose another folder with --out, or remove that one")
}

// Trained says how a training went, in words, and how long it took in all processes that had a part.
func (r *Run) Trained() (seconds float64, unbeatenBy string, err error) {
	records, err := r.Log()
	return trainSeconds(records), unbeaten(records), err
}

// unbeaten is score.Unbeaten of the last validation of a run.
func unbeaten(records []train.Record) string {
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
