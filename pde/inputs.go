package pde

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/config"
)

// An Input is what differs from one sample to the next: an initial condition, another
// field, or a number.
type Input struct {
	Name    string
	Axes    []string // along which it is a field, in the problem's order; none: a number
	Sampler Sampler
	Nearest bool // on other grids it has the values of the nearest points, and is not interpolated
}

// PlacedInput is an input on a grid. The values of a sample's inputs are one slice, input
// after input in the order of Problem.Inputs, fields row-major.
type PlacedInput struct {
	Input
	Offset, Size int
	Space        []grid.Axis // those of Axes

	grid    *grid.Grid
	strides []int // per axis of the grid, 0 where the input does not extend along it
}

// PlaceInputs lays the inputs out on a grid.
func (p *Problem) PlaceInputs(g *grid.Grid) []PlacedInput {
	var all []PlacedInput
	offset := 0
	for _, in := range p.Inputs {
		x := PlacedInput{Input: in, Offset: offset, Size: 1, grid: g, strides: make([]int, len(g.Axes))}
		for a := len(g.Axes) - 1; a >= 0; a-- {
			if slices.Contains(in.Axes, g.Axes[a].Name) {
				x.strides[a] = x.Size
				x.Size *= g.Axes[a].Points
				x.Space = slices.Insert(x.Space, 0, g.Axes[a])
			}
		}
		offset += x.Size
		all = append(all, x)
	}
	return all
}

// InputSize is the number of values of all inputs of one sample on a grid.
func (p *Problem) InputSize(g *grid.Grid) int {
	size := 0
	for _, x := range p.PlaceInputs(g) {
		size += x.Size
	}
	return size
}

// Of returns the input's values among those of a sample.
func (x *PlacedInput) Of(sample []float64) []float64 { return sample[x.Offset : x.Offset+x.Size] }

// Shape is the number of points along the axes of the input.
func (x *PlacedInput) Shape() []int {
	shape := make([]int, len(x.Space))
	for i, a := range x.Space {
		shape[i] = a.Points
	}
	return shape
}

// At returns where among a sample's values the input's at a grid point is, or at the point
// so many steps further along an axis: past an end that is the last one.
func (x *PlacedInput) At(point int32, axis, shift int) int {
	at, rest := x.Offset, int(point)
	for a := len(x.strides) - 1; a >= 0; a-- {
		n := x.grid.Axes[a].Points
		i := rest % n
		rest /= n
		if a == axis && shift != 0 {
			if i += shift; x.grid.Axes[a].Boundary == grid.Periodic {
				i = (i + n) % n
			}
			i = min(max(i, 0), n-1)
		}
		at += i * x.strides[a]
	}
	return at
}

// InputNames returns the names of the inputs, the initial conditions first.
func (p *Problem) InputNames() []string {
	return namesOf(p.Inputs, func(in Input) string { return in.Name })
}

// Initials is the number of initial conditions, which are the first of the inputs.
func (p *Problem) Initials() int {
	n := 0
	for _, u := range p.Unknowns {
		if u.Initial >= 0 {
			n++
		}
	}
	return n
}

// OnlyInitial reports whether one initial condition is all that differs between samples.
func (p *Problem) OnlyInitial() bool { return p.Initials() == 1 && len(p.Inputs) == 1 }

// Drawn reports whether every input has a distribution.
func (p *Problem) Drawn() bool {
	return len(p.Inputs) > 0 && !slices.ContainsFunc(p.Inputs, func(in Input) bool { return in.Sampler.Distribution == "" })
}

// numbers are the distributions of numbers.
var numbers = []string{"uniform", "log-uniform"}

// Number reports whether draws are single numbers.
func (s Sampler) Number() bool {
	if s.Distribution == "mixture" && len(s.Mixture) > 0 {
		return s.Mixture[0].Number()
	}
	return slices.Contains(numbers, s.Distribution)
}

// Unit maps a value of the distribution to the size of 1: to 0 to 1 over the ends of a
// distribution that has two, and by undoing Offset and Scale otherwise. It is what a
// network sees of an input.
func (s Sampler) Unit(v float64) float64 {
	v -= s.Offset
	if s.Scale != 0 {
		v /= s.Scale
	}
	between := func(v, low, high float64) float64 {
		if low == high {
			return v - low
		}
		return (v - low) / (high - low)
	}
	switch {
	case len(s.Levels) > 0:
		return between(v, s.Levels[0], s.Levels[1])
	case s.Positive != "":
	case s.Distribution == "uniform" || s.Distribution == "uniform-constant":
		return between(v, s.Low, s.High)
	case s.Distribution == "log-uniform":
		return between(math.Log(v), math.Log(s.Low), math.Log(s.High))
	case s.Distribution == "random-sines" && max(math.Abs(s.Low), math.Abs(s.High)) > 0:
		return v / max(math.Abs(s.Low), math.Abs(s.High))
	}
	return v
}

// inputs reads `time` and `inputs`, and makes the initial conditions the first of them.
func (l *loader) inputs(p *Problem) {
	f := l.file
	switch name := f.Time.Text; {
	case name == "none":
		p.Steady = true
	case name != "" && p.Axis(name) < 0:
		l.report(f.Time.Pos.Errorf("time: there is no axis %q", name).WithHint("the axes are %s; time: none for a problem without", strings.Join(p.AxisNames(), ", ")))
	case name != "" && p.Axis(name) > 0:
		l.report(f.Time.Pos.Errorf("time: axis %s is not the first one", name).WithHint("put it first under axes"))
	}
	space := p.Axes
	if !p.Steady {
		space = p.Axes[min(1, len(p.Axes)):]
		l.initial(p, space)
	} else if f.Initial.one.Distribution != "" || f.Initial.named.Len() > 0 {
		l.report(f.Initial.pos.Errorf("initial: a problem with time: none has no initial condition").WithHint("what differs between samples is one of `inputs`"))
	}
	for name, in := range f.Inputs.All() {
		p.Inputs = append(p.Inputs, l.input(p, name, in, space))
	}
	p.time = f.Time.Pos
}

// initial makes the initial conditions the first inputs: of all unknowns, or of those
// that `initial` names.
func (l *loader) initial(p *Problem, space []DomainAxis) {
	f := l.file.Initial
	add := func(c int, from fileSampler, what string) {
		s, bad := l.sampler(space, from, what), l.reporter(from.Pos, what)
		p.Unknowns[c].Initial = len(p.Inputs)
		p.Inputs = append(p.Inputs, Input{Name: p.Unknowns[c].InitialName(), Axes: axisNames(space), Sampler: s})
		if s.Number() {
			bad("%s draws a number, and the initial condition is a field", s.Distribution).WithHint("distribution: uniform-constant")
		}
		if len(from.Axes) > 0 {
			bad("`axes` belongs to one of `inputs`")
		}
		if from.Interpolation != "" {
			bad("`interpolation` belongs to one of `inputs`")
		}
	}
	for c, u := range p.Unknowns {
		if f.named.Len() == 0 {
			add(c, f.one, "initial")
		} else if from, ok := f.named.Get(u.Name); ok {
			add(c, from, "initial."+u.Name)
		}
	}
	for _, e := range f.named.Entries() {
		l.unknown(p, "initial", e.Key, e.KeyPos)
	}
}

// dropInitial takes initial conditions from the inputs where the file draws others alone, and a condition of kind initial
// says how solutions begin.
func (l *loader) dropInitial(p *Problem) {
	n := p.Initials()
	begins := slices.ContainsFunc(p.Conditions, func(r Rows) bool { return r.Kind == InitialRows })
	if !begins || n == 0 || n == len(p.Inputs) || l.file.Initial.one.Distribution != "" || l.file.Initial.named.Len() > 0 || p.Reference.File != "" {
		return
	}
	if slices.ContainsFunc(p.Unknowns, func(u Unknown) bool { return p.reads(u.InitialName()) }) {
		return
	}
	p.keepInputs(func(in Input) bool {
		return !slices.ContainsFunc(p.Unknowns, func(u Unknown) bool { return u.InitialName() == in.Name })
	})
}

// WithoutUnread is the problem without the inputs that none of its rows, ansatz and terms reads.
func (p *Problem) WithoutUnread() *Problem {
	q := *p
	q.Unknowns = slices.Clone(p.Unknowns)
	q.keepInputs(func(in Input) bool { return p.reads(in.Name) })
	return &q
}

// keepInputs takes the other inputs away.
func (p *Problem) keepInputs(keep func(in Input) bool) {
	var kept []Input
	for _, in := range p.Inputs {
		if keep(in) {
			kept = append(kept, in)
		}
	}
	p.Inputs = kept
	for c := range p.Unknowns {
		u := &p.Unknowns[c]
		u.Initial = slices.IndexFunc(kept, func(in Input) bool { return in.Name == u.InitialName() && !p.Steady })
		if u.Initial < 0 && u.Start != nil && u.Start.DependsOn(u.InitialName()) {
			u.Start = expr.Const(0)
		}
	}
}

// contains reports whether an expression has an input, at a point or at its neighbours.
func contains(e *expr.Expr, input string) bool {
	return slices.ContainsFunc(e.Variables(), func(v string) bool { return v == input || strings.HasPrefix(v, input+".") })
}

// reads reports whether anything contains an input.
func (p *Problem) reads(input string) bool {
	return slices.ContainsFunc(p.AllRows(), func(r Rows) bool { return contains(r.Expr, input) || contains(r.Weight, input) }) ||
		slices.ContainsFunc(p.Unknowns, func(u Unknown) bool { return contains(u.Ansatz.Offset, input) })
}

// input reads one of `inputs`.
func (l *loader) input(p *Problem, name string, f fileSampler, space []DomainAxis) Input {
	what := "inputs." + name
	bad := l.reporter(f.Pos, what)
	axes := slices.Clone(space)
	if len(f.Axes) > 0 {
		axes = slices.DeleteFunc(axes, func(a DomainAxis) bool { return !slices.Contains(f.Axes, a.Name) })
	}
	for _, a := range f.Axes {
		if names := axisNames(space); !slices.Contains(names, a) {
			bad("axes: %q is no axis of space", a).WithHint("those are %s; a signal in time is a formula with drawn numbers, as a*sin(t)", strings.Join(names, ", "))
		}
	}
	in := Input{Name: name, Axes: axisNames(axes), Sampler: l.sampler(axes, f, what), Nearest: f.Interpolation == "nearest"}
	if in.Sampler.Number() {
		if len(f.Axes) > 0 || f.Interpolation != "" {
			bad("%s draws a number, which has no axes or interpolation", in.Sampler.Distribution)
		}
		in.Axes = nil
	}
	if !slices.Contains([]string{"", "smooth", "nearest"}, f.Interpolation) {
		bad("interpolation %q: want smooth or nearest", f.Interpolation)
	}
	return in
}

// reservedArrays are the names of arrays in files of samples and predictions, beside those of unknowns, axes and inputs.
var reservedArrays = []string{"initial", "solution", "train", "passes", "residual", "relative_residual", "trusted_edits", "residual_over_rate", "relative_loss", "error_estimate", "grid_error", "rows_error"}

// steady reports what a problem without time cannot have.
func (l *loader) steady(p *Problem) {
	if !p.Steady {
		return
	}
	for name, t := range l.file.Terms.All() {
		if t.spectral != nil {
			l.report(t.spectral.Pos.Errorf("term %s: spectral terms act along all axes but time, and this problem has time: none", name).WithHint("derivative: %d, order: 6 along an axis", max(1, t.spectral.Derivative)))
		}
	}
	for name, r := range l.file.Conditions.All() {
		if r.Kind == "initial" {
			l.report(r.Pos.Errorf("%s: kind: initial: a problem with time: none has boundaries alone", name).WithHint("leave out kind"))
		}
	}
	if slices.ContainsFunc(p.Unknowns, func(u Unknown) bool { return u.Ansatz.RemoveMean }) {
		l.report(l.file.Ansatz.pos.Errorf("ansatz: projection remove-mean takes the mean over all axes but time, and this problem has time: none"))
	}
}

// flux makes the terms of ∂/∂x(c ∂u/∂x) in conservative form,
//
//	(c₊(u[i+1] - u[i]) - c₋(u[i] - u[i-1]))/h²
//
// with c₊ and c₋ the harmonic means of c at the point and its two neighbours, which keeps
// the flux where c jumps half way between two points (Patankar, Numerical Heat Transfer
// and Fluid Flow, 4.2-3). Names of what files cannot name have a dot.
func (l *loader) flux(p *Problem, name string, from fileTerm) []Term {
	f, of := from.flux, l.of(p, name, from)
	axis := l.axis(p, "term "+name, f.Axis, f.Pos)
	if axis < 0 {
		return nil
	}
	if axis == 0 && !p.Steady {
		l.report(f.Pos.Errorf("term %s: a flux is along an axis of space, and %s is time", name, f.Axis))
	}
	values := l.values
	l.values = l.free(p)
	c := l.expression("term "+name, f.Flux, append(p.AxisNames(), p.InputNames()...))
	l.values = values
	// half adds the term of the difference to one neighbour, and returns the flow.
	var terms []Term
	half := func(suffix string, side int) *expr.Expr {
		t := Term{Name: name + suffix, Of: of, PerStep: true, Factors: []Factor{{Axis: f.Axis, Scheme: grid.Scheme{Derivative: 1, Order: 1, Side: side, Closure: grid.Undefined}}}}
		terms = append(terms, t)
		neighbour := map[string]*expr.Expr{f.Axis: expr.Variable(shiftedName(f.Axis, axis, side))}
		for _, in := range p.Inputs {
			if slices.Contains(in.Axes, f.Axis) {
				neighbour[in.Name] = expr.Variable(shiftedName(in.Name, axis, side))
			}
		}
		mean := c
		if d := c.Substitute(neighbour); !expr.Same(d, c.Substitute(nil)) {
			mean = expr.Const(2).Times(c).Times(d).Over(c.Plus(d))
		}
		return mean.Times(expr.Variable(t.Name))
	}
	high := half(".high", 1)
	l.values[name] = high.Minus(half(".low", -1))
	return terms
}

// free returns the constants, and those expressions that hold nothing but constants, coordinates and
// inputs: a coefficient may be one of them, and expressions are read after terms.
func (l *loader) free(p *Problem) map[string]*expr.Expr {
	values := maps.Clone(l.values)
	for name, v := range l.file.Expressions.All() {
		if e, _, err := resolve(v.Text, append(p.AxisNames(), p.InputNames()...), values); err == nil {
			values[name] = e
		}
	}
	return values
}

// shiftedName names the value of an input, or the coordinate, at a neighbour along an axis.
func shiftedName(name string, axis, shift int) string {
	return fmt.Sprintf("%s.%d%+d", name, axis, shift)
}

// fileFlux is a flux term.
type fileFlux struct {
	Of   config.Scalar   `yaml:"of"`
	Flux config.Scalar   `yaml:"flux" config:"required"`
	Axis string          `yaml:"axis" config:"required"`
	Pos  config.Position `yaml:"-"`
}

// Persist fills a field (C, P) with persistence: with what the unknowns begin with, for the inputs of a sample, at
// all times; of g, its grid, the times do not matter.
func (p *Problem) Persist(field, sample []float64, g *grid.Grid) {
	size, slice := len(field)/len(p.Unknowns), g.Size()/g.Axes[0].Points
	for c, u := range p.Unknowns {
		own := field[c*size : (c+1)*size]
		if u.Start.Name() == u.InitialName() {
			copy(own, sample[u.Initial*slice:(u.Initial+1)*slice])
		} else {
			p.evaluateStart(own[:slice], u.Start, sample, g)
		}
		for at := slice; at < size; at += slice {
			copy(own[at:at+slice], own[:slice])
		}
	}
}

// evaluateStart evaluates what an unknown begins with at the points of a slice.
func (p *Problem) evaluateStart(dst []float64, start *expr.Expr, sample []float64, g *grid.Grid) {
	var names []string
	var in [][]float64
	add := func(name string, value func(i int) float64) {
		if !start.DependsOn(name) {
			return
		}
		x := make([]float64, len(dst))
		for i := range x {
			x[i] = value(i)
		}
		names, in = append(names, name), append(in, x)
	}
	for a, axis := range g.Axes[1:] {
		stride := g.Strides()[1+a]
		add(axis.Name, func(i int) float64 { return axis.Coordinate(i / stride % axis.Points) })
	}
	for _, input := range p.PlaceInputs(g) {
		add(input.Name, func(i int) float64 { return sample[input.At(int32(i), 0, 0)] })
	}
	program, err := expr.Compile([]*expr.Expr{start}, names)
	if err != nil {
		panic("pde: " + err.Error()) // its names are those of axes and inputs
	}
	program.Evaluator()(len(dst), [][]float64{dst}, in)
}

// start is what an unknown begins with: the offset of its ansatz, where the multiplier is zero
// at the lowest time or the basis is integrated from there; else what a condition there that is affine in it alone asks for; of a steady
// problem the number that its rows are linear about; else its initial condition, or zero.
func (p *Problem) start(c int) *expr.Expr {
	u := p.Unknowns[c]
	if !p.Steady {
		time := p.Axes[0]
		first := map[string]*expr.Expr{time.Name: expr.Const(time.Lo)}
		if v, ok := u.Ansatz.Multiplier.Substitute(first).Constant(); ok && v == 0 || p.integrated(c) {
			return u.Ansatz.Offset.Substitute(first)
		}
		for _, r := range p.Conditions {
			if r.At[time.Name] != "low" || len(r.At) > 1 || !p.onlyUnknown(r.Expr, u.Name) {
				continue
			}
			if slope, ok := r.Expr.Diff(u.Name).Constant(); ok && slope != 0 {
				first[u.Name] = expr.Const(0)
				return r.Expr.Substitute(first).Over(r.Expr.Diff(u.Name)).Negative()
			}
		}
	}
	if _, number := u.Ansatz.Offset.Constant(); p.Steady && u.Ansatz.ByRows && number {
		return u.Ansatz.Offset
	}
	if u.Initial < 0 {
		return expr.Const(0)
	}
	return expr.Variable(u.InitialName())
}

// onlyUnknown reports whether an expression has no other unknown than one, no term and no neighbour of an input.
func (p *Problem) onlyUnknown(e *expr.Expr, unknown string) bool {
	known := slices.Concat([]string{unknown}, p.AxisNames(), p.InputNames())
	return !slices.ContainsFunc(e.Variables(), func(name string) bool { return !slices.Contains(known, name) })
}

// InitialOf returns the initial conditions of a sample on a grid, one after another; nil in
// a steady problem.
func (p *Problem) InitialOf(sample []float64, g *grid.Grid) []float64 {
	if p.Initials() == 0 {
		return nil
	}
	return sample[:p.Initials()*(g.Size()/g.Axes[0].Points)]
}
