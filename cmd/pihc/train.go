package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pihc/experiment"
	"pihc/internal/words"
	"pihc/model"
	"pihc/train"
)

type trainOptions struct {
	specFlags
	engine                  engineFlags
	data, out, resume, from string
	tensorboard             string
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
checkpoints/. Ctrl-C, SIGTERM and SIGHUP write a checkpoint, after the sample in progress, and
exit with status 130, 143 and 129; a second one stops at once. --resume continues bitwise as if nothing had happened, on any
number of workers, with vectors of the same width.

A finished run is extended by --resume RUN --set training.steps=N: its learning rate
goes through its schedule once more, from the last step to N, and spec.yaml records
where (training.restarts). --from RUN begins a new run, of any spec whose network
has the same form and inputs, with the best parameters of another.

--tensorboard writes the numbers of log.jsonl, under its keys, to an event file in a folder
outside of RUN, and seconds_per_step, validations included. A training that goes on begins
another, with all that came before, and TensorBoard forgets the older ones of the folder.
A disk that fails there is a warning; training goes on.

Started by mpirun or srun, its processes train one run, with the bits of one.

A sample whose loss or gradient is not finite is left out of its step, counted and
logged; a step of no others is skipped. After too many skipped steps in a row
(training.max_bad_steps) training goes back to the last good checkpoint, once, with
a lower learning rate (training.recovery_factor); the second time it ends with an
error. So does a training with nothing to use at its end: no finite step or
validation, or a validation residual at best above ten times those of its start and of
fields that keep their initial values. One that did not get better than its start
says so.`,
		Example: `  pihc train diffusion-sorption-demo --method moe --data data --out runs/moe
  pihc train my.yaml --data data --out runs/wide --set network.width=48 --seed 3
  pihc train --resume runs/moe --tensorboard board/moe
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
	tensorboardFlag(c, &o.tensorboard)
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
		options := o.engine.options(a.options(o.workers))
		options.Events = o.tensorboard
		r, err := experiment.Resume(ctx, o.resume, o.data, steps, options)
		return a.tellTraining(r, o.resume, err)
	}
	switch {
	case len(args) == 0:
		return usagef("SPEC missing")
	case o.data == "":
		return usagef("--data DIR missing")
	case o.out == "":
		return usagef("--out RUN missing")
	}
	x, err := o.open(args[0])
	if err != nil {
		return err
	}
	var r *experiment.Run
	options := o.engine.options(a.options(o.workers))
	options.Events = o.tensorboard
	if o.from != "" {
		r, err = x.TrainFrom(ctx, o.from, o.out, o.data, options)
	} else {
		r, err = x.Train(ctx, o.out, o.data, options)
	}
	return a.tellTraining(r, o.out, err)
}

// extension returns the number of steps that overrides extend a run to, 0 without
// any.
func extension(overrides []string) (int, error) {
	if len(overrides) == 0 {
		return 0, nil
	}
	value, ok := strings.CutPrefix(overrides[0], "training.steps=")
	if len(overrides) > 1 || !ok {
		return 0, words.WithHint(usagef("--set, --seed or --method with --resume: of a run's spec training.steps alone changes, to extend it"),
			"`pihc train SPEC --from RUN` starts another experiment from its parameters")
	}
	x, err := strconv.ParseFloat(value, 64)
	steps := int(x)
	if err != nil || steps < 1 || float64(steps) != x {
		return 0, usagef("--set training.steps=%s: want a positive number of steps", value)
	}
	return steps, nil
}

// tellTraining says how a training in dir went.
func (a *app) tellTraining(r *experiment.Run, dir string, err error) error {
	if r == nil {
		return err
	}
	s, spec := r.Summary, r.Spec
	if errors.Is(err, train.ErrInterrupted) {
		return words.WithHint(fmt.Errorf("%w at step %d of %d", err, s.Steps, spec.Training.Steps), "`pihc train --resume %s` continues", dir)
	}
	if what := noSpace(err); what != "" && train.Folder(dir).IsRun() {
		return words.WithHint(err, "%s; then `pihc train --resume %s` continues from its newest checkpoint", what, dir)
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
	passes := ""
	if n := spec.Network.Passes; n > 1 {
		passes = fmt.Sprintf(" in %d passes", n)
	}
	if !a.writes() {
		return nil
	}
	seconds, unbeaten, err := r.Trained()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "%s: %d steps%s in %s; best %s %s at step %d%s; run folder %s\n",
		model.MethodLabel(spec.Method), s.Steps, skipped, words.Duration(max(s.Seconds, seconds)), spec.Training.Measure(), words.Number(s.BestResidual), s.BestStep, passes, dir)
	if err != nil {
		return err
	}
	if unbeaten != "" {
		_, err = fmt.Fprintf(a.Out, "on validation samples, %s\n", unbeaten)
	}
	return err
}
