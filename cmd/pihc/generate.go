package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"pihc/data"
	"pihc/dataset"
	"pihc/model"
	"pihc/pde"
	"pihc/score"
)

type generateOptions struct {
	specFlags
	out string
}

func newGenerate(a *app) *cobra.Command {
	o := &generateOptions{}
	c := &cobra.Command{
		Use:   "generate SPEC --out DIR",
		Short: "Generate a dataset: initial conditions, and solutions to score with",
		Long: `generate draws the initial conditions of a spec from the distribution in its PDE
file, and solves those for validation and test with the solver that its reference
names, if it has one. No solution is computed for training (but for loss.data, a
control). Solutions of a file (reference: {file: ...}) are taken from there, if they
begin with their initial conditions; that they are far from meeting the equation is
a warning.

The seeds are data.train.seed, data.validation.seed and data.test.seed of the spec.
The dataset is a folder of NPZ shards with a manifest that holds seeds, grid and
the SHA-256 of every file. It is the same, byte for byte, for any number of
workers and ranks. An interrupted generation continues when started again; a complete
dataset is verified and left alone.`,
		Example: `  pihc generate diffusion-sorption-demo --out data
  pihc generate my.yaml --out data --set data.test.count=50`,
		Args: positional("SPEC", 1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.generate(c.Context(), args[0], o) },
	}
	o.add(c)
	c.Flags().StringVarP(&o.out, "out", "o", "", "folder of the dataset (required)")
	return c
}

func (a *app) generate(ctx context.Context, name string, o *generateOptions) error {
	if o.out == "" {
		return usagef("--out DIR missing")
	}
	spec, p, err := o.open(name)
	if err != nil {
		return err
	}
	if err := a.generateData(ctx, o.out, spec, p, a.workers(o.workers)); err != nil {
		return err
	}
	d := spec.Data
	_, err = fmt.Fprintf(a.Out, "dataset %s: %d training, %d validation and %d test samples\n", o.out, d.Train.Count, d.Validation.Count, d.Test.Count)
	return err
}

// mostReferenceError is the discretisation error of reference solutions that is warned of.
const mostReferenceError = 0.05

// generateData makes the dataset of a spec in dir, or completes it.
func (a *app) generateData(ctx context.Context, dir string, spec *model.Spec, p *pde.Problem, workers int) error {
	if err := checkDrawn(spec.Problem, p); err != nil {
		return err
	}
	plan, err := model.DatasetPlan(spec, p, workers)
	if err != nil {
		return err
	}
	g, err := p.Grid(spec.Grid)
	if err != nil {
		return err
	}
	warning, err := dataset.GivenSolutions(&plan, p, g)
	if err != nil {
		return err
	}
	plan.Ranks = a.comm
	if err := a.agree(spec, p); err != nil {
		return err
	}
	if !a.writes() {
		return data.Generate(ctx, dir, plan, nil)
	}
	if warning != "" {
		fmt.Fprintf(a.Err, "pihc: warning: %s\n", warning)
	}
	verdict, err := model.Examine(p)
	if err == nil {
		err = determined(verdict)
	}
	if err != nil {
		fmt.Fprintf(a.Err, "pihc: warning: %v\n", err)
	}
	notes, _, err := unresolved(p, g)
	if err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintf(a.Err, "pihc: warning: %s\n", note)
	}
	if _, err := os.Stat(dir); err != nil {
		if err := checkDisk(dir, plan); err != nil {
			return err
		}
	}
	if err := checkWritable(dir); err != nil {
		return err
	}
	estimate, refined, ok, err := model.ReferenceError(spec, p)
	if err != nil {
		return err
	}
	if ok {
		plan.Metadata["reference_refinement"], plan.Metadata["reference_error"] = refined, fmt.Sprintf("%.2g", estimate)
		a.say("reference: the problem's own rows on a grid refined %s; discretisation error about %s", refined, score.Percent(estimate))
		switch {
		case !(estimate <= mostFloor):
			return withHint(fmt.Errorf("the reference solutions are none: on another grid they differ by %s", score.Percent(estimate)), "a finer `reference: {solver: discrete, refine: ...}`, or an equation that amplifies every difference?")
		case estimate > mostReferenceError:
			fmt.Fprintf(a.Err, "pihc: warning: the reference solutions are uncertain by about %s: scores say no more than that\n", score.Percent(estimate))
		}
	}
	total := 0
	for _, s := range plan.Splits {
		total += s.Count
	}
	_, incomplete := data.Open(dir)
	begin := time.Now()
	m := a.newMeter("generate", total)
	defer m.close()
	if err := data.Generate(ctx, dir, plan, func(done, _ int) { m.set(done, "") }); err != nil || incomplete == nil {
		return err // or all has been compared before
	}
	m.close()
	warnings, err := checkSolutions(ctx, dir, p, workers, max(leastComparison, time.Since(begin)/2))
	for _, warning := range warnings {
		fmt.Fprintf(a.Err, "pihc: warning: %s\n", warning)
	}
	return err
}
