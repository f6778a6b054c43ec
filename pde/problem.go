// Package pde reads PDE files (docs/reference/pde-files.md) as a [Problem]: axes, terms,
// residual, conditions and initial conditions as data. On a grid it becomes a
// [System], whose terms are operators of package grid, and whose sets of rows are
// expressions, differentiated twice and compiled to a [Program] over many points.
package pde

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/config"
	"pihc/internal/words"
)

// A Problem is a PDE as data: unknowns on a box of axes, linear terms of them,
// residuals and conditions that are pointwise expressions in those terms, an
// ansatz, and the distribution of its initial conditions. It is read from a
// PDE file by Load or Builtin; Discretize puts it on a grid.
//
// A field of a problem with C unknowns on a grid of P points is C fields of P values, one
// after another in the order of Unknowns.
type Problem struct {
	Name     string
	Title    string
	Unknowns []Unknown

	Axes        []DomainAxis
	Constants   []Constant
	Expressions []Named // sub-expressions, in file order, already resolved
	Terms       []Term
	Residuals   []Rows
	Conditions  []Rows
	Steady      bool    // no axis is time
	Inputs      []Input // the initial conditions, unless Steady, then those of `inputs`
	Reference   Reference
	Unused      []string // constants and expressions that no other expression of the file has

	Source []byte // the file it was read from

	file     string          // its name in messages
	residual config.Position // in it
	time     config.Position
	fromFile *givenOnce
}

type givenOnce struct {
	sync.Mutex
	grid    *grid.Grid
	samples [][]float64
}

// Given returns what read returned the first time without an error, inputs of samples that the
// problem's file of solutions has, on the file's grid: engines and checks ask for them again and again.
func (p *Problem) Given(read func() (*grid.Grid, [][]float64, error)) (g *grid.Grid, samples [][]float64, err error) {
	once := p.fromFile
	once.Lock()
	defer once.Unlock()
	if once.samples == nil {
		once.grid, once.samples, err = read()
	}
	return once.grid, once.samples, err
}

// Unknown is one of the functions that a problem asks for.
type Unknown struct {
	Name    string // in expressions, e.g. "u"
	Initial int    // the input that is its initial condition, -1 for none
	Ansatz  Ansatz
	Start   *expr.Expr // what it begins with, in axes of space and inputs
}

// InitialName is the name of the initial condition in expressions: the unknown's name
// followed by 0, e.g. "u0".
func (u Unknown) InitialName() string { return u.Name + "0" }

// DomainAxis is an axis of the domain; axis 0 is the slowest in memory and, where a
// problem has time, is the time axis. Its Points are the default.
type DomainAxis struct {
	grid.Axis
	Unit string
}

// Constant is a named number.
type Constant struct {
	Name  string
	Value float64
}

// Named is a named expression.
type Named struct {
	Name string
	Expr *expr.Expr
	Text string // of Expr in the file, with names of constants and earlier expressions
}

// Term is a linear (or affine) operator applied to an unknown. Exactly one of
// Scheme (a derivative on the whole grid) and Edge (a stencil at one end of an
// axis) describes each factor; the term is the product of its factors, or, where
// Spectral is not nil, that operator, without factors.
type Term struct {
	Name     string
	Of       int // the unknown, by its position
	Factors  []Factor
	PerStep  bool // divided by the step of its axis: half of a flux term
	Spectral *Spectral
}

// Spectral is an operator by Fourier transforms over the axes other than the
// first (grid.Spectral).
type Spectral struct {
	Kind       string // "derivative", "laplacian" or "velocity"
	Axis       string // of a derivative, or the component of a velocity
	Derivative int    // order of a derivative
}

// Factor is a one-dimensional operator along one axis.
type Factor struct {
	Axis   string
	Scheme grid.Scheme
	// Low and High are the values one step outside the two ends for a scheme
	// with ghost values (nil: none): expressions affine in inner1, inner2, ...,
	// the points nearest that end, and free in step, the axis's step.
	Low, High *expr.Expr
	Edge      *Edge // nil: Scheme
}

// Edge evaluates the derivative-th derivative from the Points points nearest
// one end of an axis, at Location.
type Edge struct {
	High       bool
	Derivative int
	At         grid.Location
	Points     int
}

// Kind tells what a set of rows states.
type Kind int

const (
	ResidualRows Kind = iota
	InitialRows
	BoundaryRows
)

// String returns "residual", "initial" or "boundary".
func (k Kind) String() string { return [...]string{"residual", "initial", "boundary"}[k] }

// Rows is one set of rows: a pointwise expression in terms, coordinates and
// the initial condition, required to be zero, and where it holds.
type Rows struct {
	Name string
	Kind Kind
	// Expr is the unweighted expression, constants and sub-expressions
	// substituted; its variables are terms, axis names and inputs.
	Expr *expr.Expr
	Text string // of Expr in the file, with names of constants and sub-expressions
	// Weight multiplies Expr; its variables are axis names and inputs.
	Weight *expr.Expr
	// At fixes axes at an end: axis name -> "low" or "high".
	At map[string]string
	// Skip leaves out points at the two ends of an axis: axis name -> (low, high). Of a residual it has what Load left to conditions at walls.
	Skip map[string][2]int
	// SolveSkip is Skip for the rows of least-squares solves, where they are not those
	// of the loss; nil: they are.
	SolveSkip map[string][2]int
}

// Ansatz is u = Offset + S(Multiplier * P(b)) * w (docs/reference/constraint.md, section 2).
type Ansatz struct {
	Offset     *expr.Expr // in axis names and inputs; default 0
	Multiplier *expr.Expr // in axis names; default 1
	RemoveMean bool       // P removes the mean over the axes other than the first
	// MeanWeight weighs that mean, in axis names of space; nil: all points alike. With one P comes last, after S, and by Duhamel's formula
	// the offset keeps the mean that it begins with too.
	MeanWeight *expr.Expr
	// Smooth is the length λ of S (Smoother) by axis, time too; S is the identity along others.
	Smooth map[string]float64
	// Leaves names conditions at ends of axes that S would meet, and leaves to rows.
	Leaves []string
	// Duhamel says that S b is the solution of the linear part of the residuals with b on their right-hand side, from zero, and
	// that the offset is replaced by the solution that begins with it (Propagator).
	Duhamel bool
	// ByRows says that this linear part is that of the rows themselves, with their walls, for each sample (LinearRows), and not of Fourier modes.
	ByRows bool
}

// Reference names the solver that makes solutions to compare with;
// an empty Solver means there is none.
type Reference struct {
	Solver    string
	Constants map[string]float64
	// Points, by axis name, is the least number of points along a periodic axis
	// that solutions are computed with; coarser grids get every second, third,
	// ... point of them.
	Points map[string]int
	// File is the NPZ file of solutions, its path that of a file beside
	// the PDE file.
	File string
	// Refine, by axis name, is how much finer the grid of DiscreteSolver is than the
	// one solutions are asked for on; axes left out have what it chooses.
	Refine map[string]int
}

// DiscreteSolver is the solver that knows no equation: the problem's own rows on
// a refined grid.
const DiscreteSolver = "discrete"

// fileSolver is Solver where a File holds the solutions: none is computed.
const fileSolver = "file"

// AllRows returns the residuals, then the conditions: the order of System.Sets.
func (p *Problem) AllRows() []Rows { return slices.Concat(p.Residuals, p.Conditions) }

// InResidual reports whether a residual depends on a name.
func (p *Problem) InResidual(name string) bool {
	return slices.ContainsFunc(p.Residuals, func(r Rows) bool { return r.Expr.DependsOn(name) })
}

// UnknownNames returns the names in order.
func (p *Problem) UnknownNames() []string {
	return namesOf(p.Unknowns, func(u Unknown) string { return u.Name })
}

// CheckConditions returns an error, with its place in the file, for a problem
// that has no conditions and contains its initial condition nowhere: nothing can
// be trained then, and no file that can be is refused. So has a problem without time and inputs, which
// is solved as it stands, nothing to learn.
func (p *Problem) CheckConditions() error {
	if p.Steady && len(p.Inputs) == 0 {
		return config.Join(p.time.Errorf("time: none: without inputs all samples are the same").
			WithHint("`pihc solve` solves it; to train, add inputs: {f: {distribution: random-series, series: sine}} and use f in the residual or a condition"))
	}
	return p.CheckHeld()
}

// CheckHeld is the first part of CheckConditions, for a problem that is to be solved.
func (p *Problem) CheckHeld() error {
	held := len(p.Conditions) > 0
	for _, u := range p.Unknowns {
		_, free := u.Ansatz.Multiplier.Constant()
		held = held || p.Steady && !free // which the ansatz meets
		for _, v := range p.Unknowns {
			held = held || u.Ansatz.Offset.DependsOn(v.InitialName()) || p.InResidual(v.InitialName())
		}
	}
	if held {
		return nil
	}
	all := words.List(p.UnknownNames())
	if p.Steady {
		return config.Join(p.residual.Errorf("no conditions: nothing but the residual is required of %s, and that holds for many fields", all).
			WithHint("add conditions with rows for every wall, or an ansatz that meets them"))
	}
	u, initial := p.Unknowns[0].Name, p.Unknowns[0].InitialName()
	return config.Join(p.residual.Errorf("no conditions: nothing but the residual is required of %s, and that holds for many fields whatever %s is", all, initial).
		WithHint("add conditions: {initial: {kind: initial, at: {%s: low}, expression: %s - %s}}, and rows for every wall", p.Axes[0].Name, u, initial))
}

// SetConstants returns the problem with constants of its file replaced, as if the
// file had the new numbers: they are part of Source. A number the file has already
// changes nothing. The error for a name that is no constant of the file is an
// *UnknownConstantError.
func (p *Problem) SetConstants(values map[string]float64) (*Problem, error) {
	src := p.Source
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := slices.IndexFunc(p.Constants, func(c Constant) bool { return c.Name == name })
		if at < 0 {
			return nil, &UnknownConstantError{Problem: p, Name: name}
		}
		if p.Constants[at].Value == values[name] {
			continue
		}
		var err error
		if src, err = config.Set(src, fmt.Sprintf("constants.%s=%v", name, values[name])); err != nil {
			return nil, err
		}
	}
	if bytes.Equal(src, p.Source) {
		return p, nil
	}
	return Load(p.file, src)
}

// Free returns the problem with constants of its file as inputs that are numbers, after its own inputs: values of a sample, by which rows
// have derivatives. A constant of which another constant, an axis or a ghost value is made cannot be one; the error says where that is.
func (p *Problem) Free(names ...string) (*Problem, error) {
	for _, name := range names {
		if !slices.ContainsFunc(p.Constants, func(c Constant) bool { return c.Name == name }) {
			return nil, &UnknownConstantError{Problem: p, Name: name}
		}
	}
	q, err := load(p.file, p.Source, names)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be free where its value has to be known: %w", strings.Join(names, ", "), err)
	}
	return q, nil
}

// UnknownConstantError says that a problem has no constant of a name.
type UnknownConstantError struct {
	Problem *Problem
	Name    string
}

// Error implements error.
func (e *UnknownConstantError) Error() string {
	return fmt.Sprintf("problem %s has no constant %q", e.Problem.Name, e.Name)
}

// Hint says which constants there are.
func (e *UnknownConstantError) Hint() string {
	names := namesOf(e.Problem.Constants, func(c Constant) string { return c.Name })
	switch near := config.Nearest(e.Name, names); {
	case near != "":
		return "did you mean " + near + "?"
	case len(names) == 0:
		return "its file defines none"
	}
	return "its constants are " + words.List(names)
}

// File is the name of the file that the problem was read from.
func (p *Problem) File() string { return p.file }

// Axis returns the position of the axis called name, or -1.
func (p *Problem) Axis(name string) int {
	return slices.IndexFunc(p.Axes, func(a DomainAxis) bool { return a.Name == name })
}

// AxisNames returns the names in order.
func (p *Problem) AxisNames() []string { return axisNames(p.Axes) }

func axisNames(axes []DomainAxis) []string {
	return namesOf(axes, func(a DomainAxis) string { return a.Name })
}

func namesOf[T any](all []T, name func(T) string) []string {
	names := make([]string, len(all))
	for i, x := range all {
		names[i] = name(x)
	}
	return names
}

// Grid returns the problem's axes with the given numbers of points by axis
// name; axes not named keep their default.
func (p *Problem) Grid(points map[string]int) (*grid.Grid, error) {
	g := &grid.Grid{}
	for _, a := range p.Axes {
		axis := a.Axis
		if v, ok := points[a.Name]; ok {
			axis.Points = v
		}
		g.Axes = append(g.Axes, axis)
	}
	for name := range points {
		if p.Axis(name) < 0 {
			return nil, fmt.Errorf("grid: problem %s has no axis %q; its axes are %s", p.Name, name, strings.Join(p.AxisNames(), ", "))
		}
	}
	if err := g.Validate(); err != nil {
		return nil, err
	}
	return g, nil
}

// span says which points of an axis have rows, of all but some at either end.
func span(axis string, skip [2]int) string {
	switch {
	case skip[0] == 0 && skip[1] == 0:
		return axis + " everywhere"
	case skip[1] == 0:
		return fmt.Sprintf("%s from point %d on", axis, skip[0])
	case skip[0] == 0:
		return fmt.Sprintf("%s but for the last %d", axis, skip[1])
	}
	return fmt.Sprintf("%s from point %d on but for the last %d", axis, skip[0], skip[1])
}

// Describe returns the problem as understood, one line an item, for
// `pihc check`.
func (p *Problem) Describe() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	text := func(e *expr.Expr) string { return words.Clip(e.String(), 1000) }
	written := func(text string, e *expr.Expr) string { // as the file has it, on one line
		return words.Clip(cmp.Or(strings.Join(strings.Fields(text), " "), e.String()), 1000)
	}
	add("problem    %s (%s)", p.Name, p.Title)
	for _, a := range p.Axes {
		add("axis       %s in [%g, %g], %s", a.Name, a.Lo, a.Hi, strings.TrimPrefix(a.Unit+", "+a.Boundary.String(), ", "))
	}
	for _, c := range p.Constants {
		add("constant   %s = %g", c.Name, c.Value)
	}
	for _, e := range p.Expressions {
		add("expression %s = %s", e.Name, written(e.Text, e.Expr))
	}
	for _, r := range p.AllRows() {
		var at []string
		for axis, end := range r.At {
			at = append(at, axis+" "+end)
		}
		for axis, s := range r.Skip {
			at = append(at, span(axis, s))
		}
		slices.Sort(at)
		where := cmp.Or(strings.Join(at, ", "), "all points")
		for _, axis := range slices.Sorted(maps.Keys(r.SolveSkip)) {
			where += ", in solves " + span(axis, r.SolveSkip[axis])
		}
		add("%-10s %s: %s = 0 at %s, weight %s", r.Kind, r.Name, written(r.Text, r.Expr), where, text(r.Weight))
	}
	for _, u := range p.Unknowns {
		basis := "b*w"
		if u.Ansatz.RemoveMean {
			basis = "(b - mean of b over space)*w"
		}
		if u.Ansatz.MeanWeight != nil {
			basis = "b*w"
		}
		if !equals(u.Ansatz.Multiplier, 1) {
			basis = fmt.Sprintf("(%s)*%s", text(u.Ansatz.Multiplier), basis)
		}
		for _, axis := range slices.Sorted(maps.Keys(u.Ansatz.Smooth)) {
			basis = fmt.Sprintf("S[%s, %g](%s)", axis, u.Ansatz.Smooth[axis], basis)
		}
		if len(u.Ansatz.Leaves) > 0 {
			basis += ", S leaves " + strings.Join(u.Ansatz.Leaves, ", ")
		}
		if u.Ansatz.Duhamel {
			basis = fmt.Sprintf("D(%s), D the solution of the linear part", basis)
			if !equals(u.Ansatz.Offset, 0) {
				basis = fmt.Sprintf("exp(L t)(%s) + %s", text(u.Ansatz.Offset), basis)
			}
		} else if !equals(u.Ansatz.Offset, 0) {
			basis = fmt.Sprintf("%s + %s", text(u.Ansatz.Offset), basis)
		}
		if u.Ansatz.MeanWeight != nil {
			basis += fmt.Sprintf(", without the change in time of its mean over space by weights %s", text(u.Ansatz.MeanWeight))
		}
		add("ansatz     %s = %s", u.Name, basis)
	}
	for i, in := range p.Inputs {
		switch {
		case i >= p.Initials():
			add("drawn      %s: %s", in.Name, in.Sampler)
		case in.Sampler.Distribution == "":
		case len(p.Unknowns) == 1:
			add("initial    %s", in.Sampler)
		default:
			add("initial    %s: %s", in.Name, in.Sampler)
		}
	}
	return out
}
