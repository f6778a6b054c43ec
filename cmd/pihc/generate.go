package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
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
control). Solutions of a file (reference: {file: ...}) are taken from there. They must
begin with their initial conditions, and are compared, one by one, with solutions of
the rows from the same start: what differs by more than 3 times what the
discretisation explains is a warning, what cannot be of this equation an error
(docs/reference/pde-files.md).

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
	x, err := o.open(name)
	if err != nil {
		return err
	}
	if err := x.CheckRead("generate"); err != nil {
		return err
	}
	if _, err := x.Generate(ctx, o.out, a.options(o.workers)); err != nil {
		return err
	}
	d := x.Spec.Data
	_, err = fmt.Fprintf(a.Out, "dataset %s: %d training, %d validation and %d test samples\n", o.out, d.Train.Count, d.Validation.Count, d.Test.Count)
	return err
}
