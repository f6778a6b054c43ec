package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"strings"

	"pihc/data"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
)

// A Checked is what Check found: the problem as understood, whether its rows determine the unknown, its gradient, and
// what its discretisation costs.
type Checked struct {
	Problem       string             `json:"problem"`
	Description   []string           `json:"description"`
	Terms         []CheckedTerm      `json:"terms"`
	Time          string             `json:"time,omitempty"` // the axis that is time
	InitialShape  []int              `json:"initial_shape,omitempty"`
	Inputs        []string           `json:"inputs"` // of the network
	Verdict       *Verdict           `json:"verdict"`
	GradientError float64            `json:"gradient_error"`
	Gradients     map[string]float64 `json:"gradient_errors"` // per method
	GradientGrid  []int              `json:"gradient_grid"`
	GradientLimit float64            `json:"gradient_limit"`
	GradientOK    bool               `json:"gradient_ok"`
	Incomparable  []string           `json:"gradient_incomparable,omitempty"` // methods, with why
	FloorResidual *data.Float        `json:"floor_residual,omitempty"`
	FloorError    *data.Float        `json:"floor_error,omitempty"`
	FloorGrid     []int              `json:"floor_grid,omitempty"`
	Floors        []CheckedFloor     `json:"floors,omitempty"`
	GridError     *data.Float        `json:"grid_error,omitempty"` // as floor_error, measured in another way

	// Wrong and NotJudged are methods, the wrong ones with their errors; FloorFault says why a floor is missing, or no floor.
	Wrong, NotJudged []string `json:"-"`
	FloorFault       error    `json:"-"`
}

// A CheckedTerm is a term of the rows and its scheme.
type CheckedTerm struct {
	Name   string `json:"name"`
	Scheme string `json:"scheme"`
}

// A CheckedFloor is what the discretisation costs for one initial condition.
type CheckedFloor struct {
	Initial    string      `json:"initial"`
	Residual   data.Float  `json:"residual"`
	Error      *data.Float `json:"error,omitempty"`
	Iterations int         `json:"iterations,omitempty"`
	Start      *data.Float `json:"start_residual,omitempty"` // at the first time alone, over the rate there
}

// CheckOptions say what is checked.
type CheckOptions struct {
	Options
	Grid map[string]int // points by axis for the floor; nil: the spec's, at most 256 along each axis of space
}

// operand is what operators are applied to, as they are written.
var operand = regexp.MustCompile(`\bu(_|\b)`)

// Check examines the problem, compares the gradient of each method with central differences, and measures what the
// discretisation costs. The error says what is wrong with the problem; what was found until then is returned with it.
func (x *Experiment) Check(ctx context.Context, o CheckOptions) (*Checked, error) {
	spec, p := x.Spec, x.Problem
	// The spec's own engine must exist: modes, stencils and points fit.
	if err := x.CheckSizes(Options{Workers: o.Workers}); err != nil {
		return nil, err
	}
	if err := drawable(spec.Problem, p); err != nil {
		return nil, err
	}
	g, err := floorGrid(spec, p, o.Grid)
	if err != nil {
		return nil, err
	}
	sys, err := x.systems.on(p, g)
	if err != nil {
		return nil, err
	}
	out := &Checked{Problem: p.Name, Description: p.Describe()}
	for _, t := range sys.Terms {
		text := operand.ReplaceAllString(t.Operator.String(), p.Unknowns[t.Of].Name+"$1")
		out.Terms = append(out.Terms, CheckedTerm{t.Name, text})
	}
	o.say("check: looking at the rows")
	if out.Verdict, err = examine(p); err != nil {
		return nil, err
	}
	notes, missed, err := unresolved(p, g)
	if err != nil {
		return nil, err
	}
	out.Verdict.Notes = append(append(out.Verdict.Notes, notes...), roughNotes(p)...)
	if err := describeInputs(out, spec, p); err != nil {
		return nil, err
	}
	if err := determined(out.Verdict); err != nil {
		return out, err
	}
	if err := checkGiven(ctx, out, p, o.Options); err != nil {
		return nil, err
	}
	o.say("check: comparing gradients with differences")
	if err := checkGradients(ctx, out, spec, p, o.Options); err != nil {
		return nil, err
	}
	start := math.NaN()
	if solvable(p) {
		o.say("check: comparing solutions with what the rows determine")
		err := checkFloors(ctx, out, spec, sys, o.Options)
		if ctx.Err() != nil {
			return nil, err
		}
		start = meanOf(out.Floors, func(f CheckedFloor) *data.Float { return f.Start })
		if err != nil {
			out.FloorFault = err
		} else if floor := out.FloorError; floor != nil && *floor > mostFloor {
			out.FloorFault = words.WithHint(fmt.Errorf("what the rows determine on this grid is %s from the reference solution", words.Percent(float64(*floor))), "more points, other schemes, or an equation whose solutions are not there: one that amplifies every difference, say")
		}
	}
	if err := noteStart(out.Verdict, p, start); err != nil {
		return nil, err
	}
	o.say("check: comparing solutions of the rows on this grid with those of the equation")
	if err := checkHold(ctx, out, spec, p, g.PointsByName()); err != nil {
		return nil, err
	}
	if len(out.Wrong) > 0 {
		return out, fmt.Errorf("the gradient is wrong: relative error of %s", strings.Join(out.Wrong, ", of "))
	}
	return out, cmp.Or(missed, out.FloorFault)
}

// checkGiven compares the solutions of the problem's file, if it has one that is there, with those of the rows.
func checkGiven(ctx context.Context, out *Checked, p *pde.Problem, o Options) error {
	if p.Reference.File == "" {
		return nil
	}
	given, err := dataset.ReadGiven(p)
	if errors.Is(err, fs.ErrNotExist) {
		out.Verdict.Notes = append(out.Verdict.Notes, err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	compared, err := compareGiven(ctx, given, o)
	if err != nil {
		return err
	}
	out.Description = append(out.Description, "solutions  "+compared.Summary)
	out.Verdict.Notes = append(out.Verdict.Notes, compared.Warnings...)
	return nil
}

// checkHold measures how well a grid holds the solutions, and notes where it does not.
func checkHold(ctx context.Context, out *Checked, spec *model.Spec, p *pde.Problem, points map[string]int) error {
	h, err := hold(ctx, p, spec, points)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		out.Verdict.Notes = append(out.Verdict.Notes, notHeld(err))
		return nil
	}
	distance := data.Float(h.distance)
	out.GridError = &distance
	grids, err := h.enough(ctx, p, spec)
	if h.poor() {
		out.Verdict.Notes = append(out.Verdict.Notes, h.describe(p, grids))
	}
	return err
}

// mostFloor is the floor_error above which rows are no approximation of the equation.
const mostFloor = 0.5

// noteStart says where the residual should hold at the first time, and where it should not, for the
// residual of solutions there, NaN where it is not known.
func noteStart(v *Verdict, p *pde.Problem, start float64) error {
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

// describeInputs says which axis is time, and what the network gets.
func describeInputs(out *Checked, spec *model.Spec, p *pde.Problem) error {
	names, err := spec.InputNames(p)
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
			shape, along = words.Shape(in.Shape())+" values", " along "+strings.Join(in.Axes, ", ")
		}
		out.Description = append(out.Description, fmt.Sprintf("input      %s: %s%s", in.Name, shape, along))
	}
	out.Description = append(out.Description, "network    sees "+strings.Join(names, ", "))
	return nil
}
