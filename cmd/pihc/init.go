package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pihc/experiment"
	"pihc/internal/disk"
	"pihc/internal/words"
)

type initOptions struct {
	out     string
	minutes float64
	workers int
	force   bool
}

func newInit(a *app) *cobra.Command {
	o := &initOptions{}
	var list strings.Builder
	for _, t := range experiment.Templates {
		fmt.Fprintf(&list, "  %-20s %s\n", t[0], t[1])
	}
	c := &cobra.Command{
		Use:   "init NAME|FILE.yaml --out DIR",
		Short: "Write a problem and a spec to begin with",
		Long: `init writes DIR/problem.yaml and DIR/spec.yaml, with comments: from a template,

` + list.String() + `
or for a PDE file of your own, which is copied. A file without a reference gets
` + "`reference: {solver: discrete}`" + `, solutions of its own rows on a finer grid; one without
an ansatz gets that which meets the most of its conditions exactly, at the start and
at walls that agree with it; which stay rows is said. A residual that
leaves out the first time holds there too, if initial conditions meet those of the
walls; one that the grid does not resolve there, since they do not, leaves it out, as those
walls do, if that lowers a floor above 1 %. Differences along at most two axes get the orders of accuracy with which
the rows' solution is nearest to the reference (floor_error of ` + "`pihc check`" + `), if
solutions change no more with the grid than before, and those of the rows on it are not
further from the equation's, and else order 4 or orders in time alone; where it
cannot hold there, that in time is 4 at most, and the first rows count for more. Where
the grid does not hold the solutions (grid_error of check above 5 %), it gets more
points along the axis that is to blame, as many as the time carries; what stays above
10 % is refused. Grid
and numbers of samples of a file with solutions (reference: {file: ...}) are those of
that. Where small differences between solutions grow, which eight solutions tell, it gets a
residual_weight that falls in time. Files with faults that ` + "`pihc check`" + ` finds
in rows and ansatz are refused.

The spec's sizes are such that the steps of one training take about --minutes on
this machine, less what others take of it; validations, at least three, take a
quarter of that more at most where three are not longer. init says how long
everything will take. The time of an equation whose network runs several times is divided
into segments (rollout): four, or 5, 3 or 2 where those fit the grid, and more where
samples do not converge by Newton's method, which predictions use where a step is
little work (evaluation: {newton: true}), and the ansatz is not the solution itself by
modes. Second order in time wants a basis that is integrated along it (ansatz: smooth),
and semilinear waves, on periodic axes or between walls where a value or a derivative
is zero, fields that are solutions of their linear part (ansatz: duhamel), which init
writes where the file has no ansatz. In time between walls, for several unknowns on
periodic axes whose linear part does not grow tenfold, for linear rows of second order
that have no such modes, and without time where an ansatz leaves conditions to rows,
these are solutions of the linear part of the rows (duhamel: rows). In time their
experts divide it, not space. All else has defaults that follow from the problem.`,
		Example: `  pihc init burgers --out burgers
  pihc init my-equation.yaml --out mine --minutes 10
  pihc reproduce mine/spec.yaml --out runs/mine`,
		Args: positional("NAME or FILE.yaml", 1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.initialise(c.Context(), args[0], o) },
	}
	c.Flags().StringVarP(&o.out, "out", "o", "", "folder to make (required)")
	c.Flags().Float64Var(&o.minutes, "minutes", 3, "time for the training of one method")
	forceFlag(c, &o.force)
	workersFlag(c, &o.workers)
	return c
}

func (a *app) initialise(ctx context.Context, name string, o *initOptions) error {
	switch {
	case o.out == "":
		return usagef("--out DIR missing")
	case !(o.minutes > 0):
		return usagef("--minutes %g: want a positive number", o.minutes)
	}
	problemFile, specFile := filepath.Join(o.out, "problem.yaml"), filepath.Join(o.out, "spec.yaml")
	output := func(path string, ours func(string) bool) error {
		return disk.Output{Path: path, Kind: "file that init would write again", Ours: ours, Force: o.force, Makes: true}.Check()
	}
	if err := cmp.Or(output(specFile, nil), output(problemFile, func(string) bool { return true })); err != nil {
		return err
	}
	s, err := experiment.Size(ctx, name, experiment.SizeOptions{Options: a.options(o.workers), Minutes: o.minutes, Folder: o.out})
	if err != nil {
		return err
	}
	same := func(path string) bool {
		old, err := disk.ReadFile(path)
		return err == nil && bytes.Equal(old, s.Problem)
	} // an init that was stopped left the same
	if err := output(problemFile, same); err != nil {
		return err
	}
	made, err := disk.MakeFolder(o.out)
	if err != nil {
		return err
	}
	for path, text := range map[string][]byte{problemFile: s.Problem, specFile: s.Spec} {
		if err := disk.WriteFile(path, text); err != nil {
			if made {
				os.RemoveAll(o.out)
			}
			return err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", problemFile)
	for _, line := range s.Added {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	fmt.Fprintf(&b, "%s\n  %s\n", specFile, s.Choice)
	if s.Untrained != "" {
		fmt.Fprintf(&b, "  %s\n", s.Untrained)
	}
	for _, line := range s.Warnings {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	fmt.Fprintf(&b, "about %s a method, about %s for all three with data and scores, on %s of this machine when it is idle\n",
		words.Duration(s.Training), words.Duration(s.Total), words.Threads(s.Threads))
	fmt.Fprintf(&b, "next: pihc reproduce %s --out RUN\n", specFile)
	_, err = io.WriteString(a.Out, b.String())
	return err
}
