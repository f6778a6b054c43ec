package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pihc/experiment"
	"pihc/internal/words"
	"pihc/model"
)

type checkOptions struct {
	specFlags
	engine engineFlags
	grid   map[string]int
	json   bool
}

func newCheck(a *app) *cobra.Command {
	o := &checkOptions{}
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Show a problem as understood; check its gradient and discretisation",
		Long: `check reads a spec and its PDE file, or a PDE file alone, and reports

  the problem as understood: axes, constants, rows, every term's scheme, which axis
  is time, the shape of initial conditions and what the network sees;

  whether the rows determine the unknown: their number and the rank of their
  linearisation against the number of values, on a small grid; whether they contain
  the initial condition, hold at an end of every axis where the equation needs them, at
  the ends of none more than it takes, and agree with each other and with the ansatz;
  whether they are finite for initial
  conditions of the distribution. What is wrong there is a fault, and ends check with
  status 1. Notes are other ends of axes without conditions, ends where rows of the
  equation hold beside a condition's, terms that no row uses, constants and
  expressions that nothing uses, rows that are not finite further away, samples that
  are all alike, expressions narrower than the steps of the grid, which its points do
  not see, or that go up and down between them, several solutions of an equation
  without time, a residual that leaves out the first time where it could hold, or holds
  there though the grid does not resolve how solutions begin, and an ansatz that leaves
  initial conditions gradually where walls may make the field jump;

  for solutions of a file (reference: {file: ...}), how far they are from those of the
  rows from the same start; what is far is a note, and what cannot be of this equation
  ends check with status 1;

  gradient_error: the gradient of the whole loss against central differences in
  float64, in three random directions for every parameter tensor, with the
  constraint solved anew at every point, on a small instance of the problem and
  for initial conditions at which the loss is smooth; the worst of the three
  methods, and whether it is right (gradient_ok), that is within gradient_limit;
  where the loss has no derivative to compare with (solves end at jumps of the rows,
  or without the digits, in badly scaled units) it is neither right nor wrong.
  Where constraint.adjoint asks for an approximation, only that of soft is judged;

  floor_residual: rms of the residual of the reference solution over rms of the
  time derivative, and floor_error: relative_l2 between the reference solution
  and the field that minimises all rows over all grid values that the ansatz
  leaves open. No network is expected to do better. Both are means over three initial conditions: constants
  at 10, 50 and 90 % of the distribution's range where it is one of constants,
  three draws otherwise.

  grid_error: relative_l2 between solutions of the rows on this grid and those of the
  equation, for up to three samples, by solutions on a finer grid; above 5 % a note says
  so, with the points that would do.

Use floor_error to choose schemes and rows before training. The exit status is 1
where there is a fault, the gradient is wrong, a reference solution cannot be found
or misses an expression narrower than its steps, or floor_error is above 50 %.`,
		Example: `  pihc check diffusion-sorption-demo
  pihc check my.yaml --grid t=101,x=128 --json
  pihc check diffusion-sorption-demo --set problem=diffusion-sorption-published --grid x=128`,
		Args: positional("FILE", 1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.check(c.Context(), args[0], o) },
	}
	o.add(c, "seed", "method")
	c.Flags().Var((*gridFlag)(&o.grid), "grid", "points by axis for the floor (default the spec's, at most 256 along each space axis)")
	o.engine.add(c)
	jsonFlag(c, &o.json)
	return c
}

func (a *app) check(ctx context.Context, name string, o *checkOptions) error {
	if err := o.engine.check(); err != nil {
		return err
	}
	overrides, err := o.overrides()
	if err != nil {
		return err
	}
	x, err := experiment.Open(name, overrides...)
	var states *model.StatesProblemError
	if info, missing := os.Stat(name); errors.As(err, &states) && missing == nil && info.Mode().IsRegular() {
		x, err = experiment.OpenAlone(name, overrides...)
	}
	if err != nil {
		return err
	}
	out, err := x.Check(ctx, experiment.CheckOptions{Options: o.engine.options(a.options(o.workers)), Grid: o.grid})
	switch {
	case out == nil:
		return err
	case o.json:
		return cmp.Or(a.printJSON(out), err)
	}
	return cmp.Or(printCheck(a.Out, out), err)
}

// printCheck writes the result for people.
func printCheck(w io.Writer, r *experiment.Checked) error {
	var b strings.Builder
	for _, line := range r.Description {
		b.WriteString(line + "\n")
	}
	for _, t := range r.Terms {
		fmt.Fprintf(&b, "term       %s: %s\n", t.Name, t.Scheme)
	}
	v := r.Verdict
	b.WriteString("\n")
	if v.Rank > 0 {
		fmt.Fprintf(&b, "rows            %d for %d values, rank %d   on %s\n", v.Rows, v.Unknowns, v.Rank, words.Shape(v.Grid))
	}
	list := func(what string, lines []string) {
		shown, more := words.Most(lines)
		for _, line := range shown {
			fmt.Fprintf(&b, "%-15s %s\n", what, line)
		}
		if more > 0 {
			fmt.Fprintf(&b, "%-15s and %s more\n", what, words.Count(more))
		}
	}
	list("fault", v.Faults)
	list("note", v.Notes)
	if len(v.Faults) > 0 {
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, "gradient_error  %.2g", r.GradientError)
	var parts []string
	for _, m := range slices.Sorted(maps.Keys(r.Gradients)) {
		parts = append(parts, fmt.Sprintf("%s %.2g", m, r.Gradients[m]))
	}
	fmt.Fprintf(&b, "   on %s: %s\n", words.Shape(r.GradientGrid), strings.Join(parts, ", "))
	verdict := "right"
	switch {
	case len(r.Wrong) > 0:
		verdict = "WRONG: " + strings.Join(r.Wrong, ", ")
	case len(r.Incomparable) > 0:
		verdict = "right where it can be compared"
	}
	if len(r.Incomparable) > 0 {
		verdict += "; not comparable: " + strings.Join(r.Incomparable, "; ") + " (rows have no derivative where they jump, as `where` and `floor` of an unknown do; in units in which all values are near 1 solves keep their digits)"
	}
	if len(r.NotJudged) > 0 {
		verdict += "; not judged, as constraint.adjoint asks for an approximation: " + strings.Join(r.NotJudged, ", ")
	}
	fmt.Fprintf(&b, "gradient        %s\n", verdict)
	if r.GridError != nil {
		fmt.Fprintf(&b, "grid_error      %s\n", words.Percent(float64(*r.GridError)))
	}
	if r.FloorResidual == nil {
		why := "the PDE file names no solver of reference solutions (`pihc init` adds one)"
		if r.FloorFault != nil {
			why = r.FloorFault.Error()
		}
		b.WriteString("floor           not measured: " + why + "\n")
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, "floor_residual  %s   on %s\n", words.Percent(float64(*r.FloorResidual)), words.Shape(r.FloorGrid))
	if r.FloorError == nil {
		b.WriteString("floor_error     not available: the minimiser over all grid values takes too long on this grid (--grid names a smaller one)\n")
	} else {
		fmt.Fprintf(&b, "floor_error     %s\n", words.Percent(float64(*r.FloorError)))
	}
	for _, f := range r.Floors {
		fmt.Fprintf(&b, "  %-16s residual %s", f.Initial, words.Percent(float64(f.Residual)))
		if f.Error != nil {
			fmt.Fprintf(&b, ", error %s, %d steps", words.Percent(float64(*f.Error)), f.Iterations)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
