package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pihc/constraint"
	"pihc/data"
	"pihc/dataset"
	"pihc/discrete"
	"pihc/grid"
	"pihc/model"
	"pihc/pde"
	"pihc/score"
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
		Use:   "check SPEC",
		Short: "Show a problem as understood; check its gradient and discretisation",
		Long: `check reads a spec and its PDE file, and reports

  the problem as understood: axes, constants, rows, every term's scheme, which axis
  is time, the shape of initial conditions and what the network sees;

  whether the rows determine the unknown: their number and the rank of their
  linearisation against the number of values, on a small grid; whether they contain
  the initial condition, hold at an end of every axis where the equation needs them, at
  the ends of none more than it takes, and agree with each other and with the ansatz;
  whether they are finite for initial
  conditions of the distribution. What is wrong there is a fault, and ends check with
  status 1. Notes are other ends of axes without conditions, ends where rows of the
  equation hold beside a condition's, terms that no row uses,
  rows that are not finite further away, samples that are all alike, expressions
  narrower than the steps of the grid, which its points do not see, several solutions
  of an equation without time, a residual that
  leaves out the first time where it could hold, or holds there though the grid does
  not resolve how solutions begin, and an ansatz that leaves initial conditions
  gradually where walls may make the field jump;

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

Use floor_error to choose schemes and rows before training. The exit status is 1
where there is a fault, the gradient is wrong, a reference solution cannot be found
or misses an expression narrower than its steps, or floor_error is above 50 %.`,
		Example: `  pihc check diffusion-sorption-demo
  pihc check my.yaml --grid t=101,x=128 --json
  pihc check diffusion-sorption-demo --set problem=diffusion-sorption-published --grid x=128`,
		Args: positional("SPEC", 1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.check(c.Context(), args[0], o) },
	}
	o.add(c, "seed", "method")
	c.Flags().Var((*gridFlag)(&o.grid), "grid", "points by axis for the floor (default the spec's, at most 256 along each space axis)")
	o.engine.add(c)
	jsonFlag(c, &o.json)
	return c
}

// checkResult is the JSON of check.
type checkResult struct {
	Problem       string                `json:"problem"`
	Description   []string              `json:"description"`
	Terms         []checkTerm           `json:"terms"`
	Time          string                `json:"time,omitempty"` // the axis that is time
	InitialShape  []int                 `json:"initial_shape,omitempty"`
	Inputs        []string              `json:"inputs"` // of the network
	Verdict       *discrete.Examination `json:"verdict"`
	GradientError float64               `json:"gradient_error"`
	Gradients     map[string]float64    `json:"gradient_errors"` // per method
	GradientGrid  []int                 `json:"gradient_grid"`
	GradientLimit float64               `json:"gradient_limit"`
	GradientOK    bool                  `json:"gradient_ok"`
	Incomparable  []string              `json:"gradient_incomparable,omitempty"` // methods, with why
	FloorResidual *data.Float           `json:"floor_residual,omitempty"`
	FloorError    *data.Float           `json:"floor_error,omitempty"`
	FloorGrid     []int                 `json:"floor_grid,omitempty"`
	Floors        []checkFloor          `json:"floors,omitempty"`

	wrong, notJudged []string // methods, the wrong ones with their errors
	floorFault       error
}

type checkTerm struct {
	Name   string `json:"name"`
	Scheme string `json:"scheme"`
}

type checkFloor struct {
	Initial    string      `json:"initial"`
	Residual   data.Float  `json:"residual"`
	Error      *data.Float `json:"error,omitempty"`
	Iterations int         `json:"iterations,omitempty"`
	Start      *data.Float `json:"start_residual,omitempty"` // at the first time alone, over the rate there
}

func (a *app) check(ctx context.Context, name string, o *checkOptions) error {
	if err := o.engine.check(); err != nil {
		return err
	}
	spec, p, err := o.open(name)
	if err != nil {
		return err
	}
	// The spec's own engine must exist: modes, stencils and points fit.
	if err := checkSizes(spec, p, o.workers, 1); err != nil {
		return err
	}
	if err := checkDrawn(spec.Problem, p); err != nil {
		return err
	}
	g, err := floorGrid(spec, p, o.grid)
	if err != nil {
		return err
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return err
	}
	out := &checkResult{Problem: p.Name, Description: p.Describe()}
	for _, t := range sys.Terms {
		text := t.Operator.String()
		if len(p.Unknowns) > 1 {
			text += ", of " + p.Unknowns[t.Of].Name
		}
		out.Terms = append(out.Terms, checkTerm{t.Name, text})
	}
	if out.Verdict, err = model.Examine(p); err != nil {
		return err
	}
	notes, missed, err := unresolved(p, g)
	if err != nil {
		return err
	}
	out.Verdict.Notes = append(out.Verdict.Notes, notes...)
	if err := describeInputs(out, spec, p); err != nil {
		return err
	}
	if err := determined(out.Verdict); err != nil {
		return cmp.Or(a.printCheck(o, out), err)
	}
	if err := a.checkGradients(ctx, out, spec, p, o.engine); err != nil {
		return err
	}
	start := math.NaN()
	if solvable(p) {
		err := a.checkFloors(ctx, out, spec, sys)
		if ctx.Err() != nil {
			return err
		}
		start = meanOf(out.Floors, func(f checkFloor) *data.Float { return f.Start })
		if err != nil {
			out.floorFault = err
		} else if floor := out.FloorError; floor != nil && *floor > mostFloor {
			out.floorFault = withHint(fmt.Errorf("what the rows determine on this grid is %s from the reference solution", score.Percent(float64(*floor))), "more points, other schemes, or an equation whose solutions are not there: one that amplifies every difference, say")
		}
	}
	if err := noteStart(out.Verdict, p, start); err != nil {
		return err
	}
	if err := a.printCheck(o, out); err != nil {
		return err
	}
	if len(out.wrong) > 0 {
		return fmt.Errorf("the gradient is wrong: relative error of %s", strings.Join(out.wrong, ", of "))
	}
	return cmp.Or(missed, out.floorFault)
}

// noteStart says where the residual should hold at the first time, and where it should not, for the
// residual of solutions there, NaN where it is not known.
func noteStart(v *discrete.Examination, p *pde.Problem, start float64) error {
	t := p.Axes[0].Name
	may, err := mayHoldAtStart(p)
	switch {
	case err != nil:
		return err
	case may && !(start > resolvedStart):
		v.Notes = append(v.Notes, fmt.Sprintf("the residual leaves out the first %s, though initial conditions meet those of the walls: rows there (0 in the place of 1 in its `rows: {%s: [1, ...]}`; pihc init writes so) tie the solution to its initial condition", t, t))
	case discrete.Marches(p) && startHolds(p) && start > resolvedStart:
		v.Notes = append(v.Notes, unresolvedStart(p, start))
	}
	return nil
}

// mostFloor is the floor_error above which rows are no approximation of the equation.
const mostFloor = 0.5

func (a *app) printCheck(o *checkOptions, out *checkResult) error {
	if o.json {
		return a.printJSON(out)
	}
	return printCheck(a.Out, out)
}

// describeInputs says which axis is time, and what the network gets.
func describeInputs(out *checkResult, spec *model.Spec, p *pde.Problem) error {
	names, err := model.InputNames(spec, p)
	if err != nil {
		return err
	}
	out.Inputs = names
	if discrete.Marches(p) {
		out.Time = p.Axes[0].Name
	}
	on, err := p.Grid(spec.Grid)
	if err != nil {
		return err
	}
	if !p.Steady {
		out.InitialShape = on.Shape()[1:]
	}
	time := "none: all of " + strings.Join(p.AxisNames(), ", ") + " are solved at once"
	if out.Time != "" {
		time = out.Time
	}
	out.Description = append(out.Description,
		"time       "+time)
	for _, in := range p.PlaceInputs(on) {
		shape, along := "1 number", ""
		if len(in.Axes) > 0 {
			shape, along = data.FormatShape(in.Shape())+" values", " along "+strings.Join(in.Axes, ", ")
		}
		out.Description = append(out.Description, fmt.Sprintf("input      %s: %s%s", in.Name, shape, along))
	}
	out.Description = append(out.Description, "network    sees "+strings.Join(names, ", "))
	return nil
}

// checkSizes reports a spec whose network or constraint does not fit its grid,
// without building the engine.
func checkSizes(spec *model.Spec, p *pde.Problem, workers, slabs int) error {
	stages, err := model.Stages(spec, p)
	if err != nil {
		return err
	}
	for i, stage := range stages {
		if err := checkSizesOn(stage.Grid, stage.Spec, p, workers, slabs); err != nil {
			if i < len(stages)-1 {
				err = fmt.Errorf("training.stages.%d: %w", i, err)
			}
			return err
		}
	}
	if len(spec.Training.Window) > 0 { // evaluation is beyond it
		g, err := p.Grid(spec.Grid)
		if err != nil {
			return err
		}
		if err := checkSizesOn(g, spec, p, workers, slabs); err != nil {
			return err
		}
	}
	_, err = model.EvaluationGrids(spec, p)
	return err
}

// checkSizesOn does so for one grid.
func checkSizesOn(g *grid.Grid, spec *model.Spec, p *pde.Problem, workers, slabs int) error {
	if err := checkNeeds(spec, p, g, workers, slabs, true); err != nil {
		return err
	}
	sys, err := p.Discretize(g)
	if err != nil {
		if errors.Is(err, pde.ErrLong) {
			return withHint(err, "a shorter expression in the PDE file")
		}
		return withHint(err, "more points in the spec's grid, or a lower order in the PDE file")
	}
	net, err := model.NewNetwork(spec, p)
	if err != nil {
		return err
	}
	if err := model.CheckNetwork(net, g); err != nil {
		return withHint(err, "another value there, or more points in the spec's grid (axes: %s)", strings.Join(p.AxisNames(), ", "))
	}
	options, err := spec.Options(p)
	if err != nil {
		return err
	}
	if _, err := constraint.New(sys, spec.Outputs(), options, nil, nil); err != nil {
		return withHint(err, "see constraint.points and constraint.experts in the spec")
	}
	return nil
}

// floorGrid is the grid the floor is measured on.
func floorGrid(spec *model.Spec, p *pde.Problem, given map[string]int) (*grid.Grid, error) {
	points := maps.Clone(spec.Grid)
	if points == nil {
		points = map[string]int{}
	}
	for i, axis := range p.Axes {
		if _, ok := points[axis.Name]; !ok {
			points[axis.Name] = axis.Points
		}
		if i > 0 {
			points[axis.Name] = min(points[axis.Name], 256)
		}
	}
	maps.Copy(points, given)
	return p.Grid(points)
}

// statedInitial returns initial conditions that can be named: constants at the
// given fractions of the range where the distribution is one of constants, draws
// otherwise.
func statedInitial(spec *model.Spec, p *pde.Problem, g *grid.Grid, fractions []float64) ([][]float64, []string, error) {
	var titles []string
	if _, constant := p.Inputs[0].Sampler.Constant(0); constant && p.OnlyInitial() {
		var fields [][]float64
		for _, f := range fractions {
			v, _ := p.Inputs[0].Sampler.Constant(f)
			fields = append(fields, slices.Repeat([]float64{v}, p.SampleSize(g)))
			titles = append(titles, fmt.Sprintf("%s = %.3g", p.Unknowns[0].InitialName(), v))
		}
		return fields, titles, nil
	}
	on := *spec
	on.Grid, on.Data.Test.Grids = g.PointsByName(), nil
	for i := range fractions {
		titles = append(titles, fmt.Sprintf("test sample %d", i))
	}
	fields, err := draws(&on, p, "test", len(fractions))
	return fields, titles, err
}

// checkFloors measures the discretisation floor for three initial conditions.
func (a *app) checkFloors(ctx context.Context, out *checkResult, spec *model.Spec, sys *pde.System) error {
	m := a.newMeter("floor", 3)
	defer m.close()
	floors, err := measureFloors(ctx, spec, sys, mostFloorWork, func(i int) { m.set(i, "") })
	if err != nil {
		return err
	}
	out.Floors, out.FloorGrid = floors, sys.Grid.Shape()
	residual, floor := data.Float(meanOf(floors, func(f checkFloor) *data.Float { return &f.Residual })), data.Float(meanOf(floors, errorOf))
	out.FloorResidual = &residual
	if !math.IsNaN(float64(floor)) {
		out.FloorError = &floor
	}
	return nil
}

// mostFloorWork bounds what constraint.MeasureFloor does for one initial condition: half a minute
// of a core.
const mostFloorWork = 4e9

// measureFloors measures what the discretisation costs for three initial conditions, with so much
// work for each, and calls done after each.
func measureFloors(ctx context.Context, spec *model.Spec, sys *pde.System, work float64, done func(i int)) ([]checkFloor, error) {
	p, g := sys.Problem, sys.Grid
	options, err := spec.Options(p)
	if err != nil {
		return nil, err
	}
	var start *constraint.PlainResidual
	if discrete.Marches(p) {
		if start, err = newStartResidual(p, g); err != nil {
			return nil, err
		}
	}
	var floors []checkFloor
	err = eachReference(ctx, spec, p, g, func(title string, u0, truth []float64) error {
		f, err := constraint.MeasureFloor(sys, options, u0, truth, work)
		floor := checkFloor{Initial: title, Residual: data.Float(f.Residual)}
		switch {
		case errors.Is(err, constraint.ErrLarge):
			work = 0 // of the others there would be no mean either
		case err != nil:
			return withHint(fmt.Errorf("floor, %s: %w", title, err), "try a smaller --grid")
		default:
			distance := data.Float(f.Error)
			floor.Error, floor.Iterations = &distance, f.Iterations
		}
		if start != nil {
			v := data.Float(constraint.Relative(start.RMS(truth, u0)))
			floor.Start = &v
		}
		floors = append(floors, floor)
		done(len(floors))
		return nil
	})
	return floors, err
}

// eachReference solves three stated initial conditions on a grid and visits each with its title and
// solution (C, P).
func eachReference(ctx context.Context, spec *model.Spec, p *pde.Problem, g *grid.Grid, visit func(title string, u0, truth []float64) error) error {
	initial, titles, err := statedInitial(spec, p, g, []float64{0.1, 0.5, 0.9})
	if err != nil {
		return err
	}
	solver, err := dataset.ReferenceSolver(p, g)
	if err != nil {
		return err
	}
	truth := make([]float64, len(p.Unknowns)*g.Size())
	for i, u0 := range initial {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := solver.Solve(truth, u0); err != nil {
			return fmt.Errorf("reference solution, %s: %w", titles[i], err)
		}
		if err := visit(titles[i], u0, truth); err != nil {
			return err
		}
	}
	return nil
}

// meanOf is the mean of what floors have, NaN where one has it not or there are none.
func meanOf(floors []checkFloor, of func(checkFloor) *data.Float) float64 {
	sum := 0.0
	for _, f := range floors {
		v := of(f)
		if v == nil {
			return math.NaN()
		}
		sum += float64(*v)
	}
	return sum / float64(len(floors))
}

// errorOf is the floor_error of one initial condition.
func errorOf(f checkFloor) *data.Float { return f.Error }

// printCheck writes the result for people.
func printCheck(w io.Writer, r *checkResult) error {
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
		fmt.Fprintf(&b, "rows            %d for %d values, rank %d   on %s\n", v.Rows, v.Unknowns, v.Rank, data.FormatShape(v.Grid))
	}
	for _, fault := range v.Faults {
		b.WriteString("fault           " + fault + "\n")
	}
	for _, note := range v.Notes {
		b.WriteString("note            " + note + "\n")
	}
	if len(v.Faults) > 0 {
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, "gradient_error  %.2g", r.GradientError)
	var parts []string
	for _, m := range slices.Sorted(maps.Keys(r.Gradients)) {
		parts = append(parts, fmt.Sprintf("%s %.2g", m, r.Gradients[m]))
	}
	fmt.Fprintf(&b, "   on %s: %s\n", data.FormatShape(r.GradientGrid), strings.Join(parts, ", "))
	verdict := "right"
	switch {
	case len(r.wrong) > 0:
		verdict = "WRONG: " + strings.Join(r.wrong, ", ")
	case len(r.Incomparable) > 0:
		verdict = "right where it can be compared"
	}
	if len(r.Incomparable) > 0 {
		verdict += "; not comparable: " + strings.Join(r.Incomparable, "; ") + " (rows have no derivative where they jump, as `where` and `floor` of an unknown do; in units in which all values are near 1 solves keep their digits)"
	}
	if len(r.notJudged) > 0 {
		verdict += "; not judged, as constraint.adjoint asks for an approximation: " + strings.Join(r.notJudged, ", ")
	}
	fmt.Fprintf(&b, "gradient        %s\n", verdict)
	if r.FloorResidual == nil {
		why := "the PDE file names no solver of reference solutions"
		if r.floorFault != nil {
			why = r.floorFault.Error()
		}
		b.WriteString("floor           not measured: " + why + "\n")
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, "floor_residual  %s   on %s\n", score.Percent(float64(*r.FloorResidual)), data.FormatShape(r.FloorGrid))
	if r.FloorError == nil {
		b.WriteString("floor_error     not available: the minimiser over all grid values takes too long on this grid (--grid names a smaller one)\n")
	} else {
		fmt.Fprintf(&b, "floor_error     %s\n", score.Percent(float64(*r.FloorError)))
	}
	for _, f := range r.Floors {
		fmt.Fprintf(&b, "  %-16s residual %s", f.Initial, score.Percent(float64(f.Residual)))
		if f.Error != nil {
			fmt.Fprintf(&b, ", error %s, %d steps", score.Percent(float64(*f.Error)), f.Iterations)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
