package pde

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/fft"
)

// linearTerm is a term of a residual, by its position in System.Terms, with the derivative in time that it takes of its unknown and
// what multiplies it where all unknowns are zero, over what multiplies the derivative of highest order: an expression in axes.
type linearTerm struct {
	row, term, of, rate int
	slope               *expr.Expr
}

// linear is the linear part of residuals: the order in time of each unknown, terms below these orders, by the residual that has the
// derivative of highest order of an unknown, how unknowns go on beyond walls, and the conditions there that such fields meet.
type linear struct {
	orders   []int
	terms    []linearTerm
	parities grid.Parities
	met      [][]string // per unknown
	drawn    bool       // terms are left out that inputs multiply
}

// duhamel reports whether fields are solutions of the linear part.
func (p *Problem) duhamel() bool { return p.Unknowns[0].Ansatz.Duhamel }

// byRows reports whether that linear part is that of rows.
func (p *Problem) byRows() bool { return p.Unknowns[0].Ansatz.ByRows }

// Linear says why the residuals have no linear part that can be solved in time, Fourier mode by mode.
func (p *Problem) Linear() error {
	_, err := p.linearPart()
	return err
}

// SemilinearWaves reports whether Duhamel's formula was measured to help (docs/evidence/choices.md): the linear part contains derivatives in
// space, and no diffusion of an unknown of first order in time unless it oscillates too; what it leaves of nonlinear terms contains no
// derivatives, or those in space that are two orders lower.
func (p *Problem) SemilinearWaves() bool {
	l, err := p.linearTerms()
	if err != nil {
		return false
	}
	highest, waves := 0, p.oscillates(l)
	for _, t := range l.terms {
		order := p.orderInSpace(t)
		if t.row == t.of && t.rate == 0 && !waves && order > 0 && order%2 == 0 {
			return false
		}
		highest = max(highest, order)
	}
	if highest == 0 {
		return false
	}
	names := p.UnknownNames()
	for _, t := range p.Terms {
		names = append(names, t.Name)
	}
	for _, r := range p.Residuals {
		for _, t := range p.Terms {
			rate, _ := t.inTime(p.Axes[0].Name)
			if slices.ContainsFunc(names, r.Expr.Diff(t.Name).DependsOn) && (rate > 0 || t.inSpace(p.Axes[0].Name) > highest-2) {
				return false
			}
		}
	}
	return true
}

// oscillates reports whether some modes do in time: where an unknown is of second order, one disperses (a third derivative of itself), or two of
// first order drive each other with opposite signs, by constants and derivatives in space (height and velocity, the parts of a complex field).
func (p *Problem) oscillates(l *linear) bool {
	if slices.Max(l.orders) == 2 {
		return true
	}
	for _, a := range l.terms {
		if order := p.orderInSpace(a); a.row == a.of && order > 2 && order%2 == 1 {
			return true
		}
		for _, b := range l.terms {
			x, one := a.slope.Constant()
			y, other := b.slope.Constant()
			if a.row == a.of || a.row != b.of || a.of != b.row || !one || !other {
				continue
			}
			order := p.orderInSpace(a) + p.orderInSpace(b) // the rate's square is x y (ik)^order
			if order > 0 && (order%4 == 0 && x*y < 0 || order%4 == 2 && x*y > 0) {
				return true
			}
		}
	}
	return false
}

// orderInSpace is the order in space of a term of the linear part, 0 of an unknown itself.
func (p *Problem) orderInSpace(t linearTerm) int {
	if t.term < len(p.Unknowns) {
		return 0
	}
	return p.Terms[t.term-len(p.Unknowns)].inSpace(p.Axes[0].Name)
}

// inSpace is the order of a term's derivative along axes but time; 0 of a velocity.
func (t *Term) inSpace(time string) (order int) {
	for _, f := range t.Factors {
		if f.Axis != time {
			order += f.Scheme.Derivative
		}
	}
	if s := t.Spectral; s != nil && s.Kind == "laplacian" {
		return 2
	} else if s != nil {
		return s.Derivative
	}
	return order
}

// inTime is the order of a term's derivative along time, and whether it is taken at an end of time.
func (t *Term) inTime(time string) (order int, edge bool) {
	for _, f := range t.Factors {
		if f.Axis == time {
			order += f.Scheme.Derivative
			edge = edge || f.Edge != nil
		}
	}
	return order, edge
}

// inAxes reports whether an expression contains nothing but axes.
func (p *Problem) inAxes(e *expr.Expr) bool {
	return !slices.ContainsFunc(e.Variables(), func(name string) bool { return p.Axis(name) < 0 })
}

// atWall reports whether a term is taken at an end of an axis.
func (t *Term) atWall() bool {
	return slices.ContainsFunc(t.Factors, func(f Factor) bool { return f.Edge != nil })
}

// linearDomain is an error where modes of time and space cannot be solved for: where the problem is no initial value problem with a
// residual for each unknown.
func (p *Problem) linearDomain() error {
	if p.Steady {
		return errors.New("the problem has no time")
	}
	time := p.Axes[0]
	if time.Boundary != grid.Nodes {
		return fmt.Errorf("want nodes along %s", time.Name)
	}
	if len(p.Axes) < 2 {
		return errors.New("there is no axis of space")
	}
	for _, c := range p.Conditions {
		if c.At[time.Name] == "high" {
			return fmt.Errorf("%s is a condition at the high end of %s", c.Name, time.Name)
		}
	}
	if len(p.Residuals) != len(p.Unknowns) {
		return errors.New("want as many residuals as unknowns")
	}
	return nil
}

// rowsDomain says why the linear part of the rows cannot be solved: in steps of time, or of a steady problem at once.
func (p *Problem) rowsDomain() error {
	if p.Steady {
		return nil
	}
	return p.linearDomain()
}

// linearPart finds the linear part; the error says why there is none.
func (p *Problem) linearPart() (*linear, error) {
	l, err := p.linearTerms()
	if err != nil {
		return nil, err
	}
	if l.parities, l.met, err = p.parities(l.terms); err != nil {
		return nil, err
	}
	l.terms = slices.DeleteFunc(l.terms, func(t linearTerm) bool { return !p.keepsParity(t, l.parities) })
	return l, p.ghostsMirror(l)
}

// ByModes reports whether the linear part is solved whole by Fourier modes: what multiplies its terms is constant, and all go on beyond walls as their
// unknowns do.
func (p *Problem) ByModes() bool {
	l, err := p.linearTerms()
	if err != nil || l.drawn {
		return false
	}
	whole, err := p.linearPart()
	return err == nil && len(whole.terms) == len(l.terms) && !slices.ContainsFunc(l.terms, func(t linearTerm) bool {
		_, constant := t.slope.Constant()
		return !constant
	})
}

// linearTerms finds the linear part but for walls.
func (p *Problem) linearTerms() (*linear, error) {
	if err := p.linearDomain(); err != nil {
		return nil, err
	}
	l := &linear{}
	leading := make([]*expr.Expr, len(p.Unknowns))
	time := p.Axes[0].Name
	zeros := map[string]*expr.Expr{}
	all := make([]Term, 0, len(p.Unknowns)+len(p.Terms))
	for c, u := range p.Unknowns {
		all = append(all, Term{Name: u.Name, Of: c})
		order := p.timeOrder(c)
		if order != 1 && order != 2 {
			return nil, fmt.Errorf("want a first or second derivative of %s along %s as a term by itself", u.Name, time)
		}
		l.orders = append(l.orders, order)
	}
	all = append(all, p.Terms...)
	for _, t := range all {
		zeros[t.Name] = expr.Const(0)
	}
	owner := make([]int, len(p.Residuals))
	for k, r := range p.Residuals {
		owner[k] = -1
		for i, t := range all {
			if !r.Expr.DependsOn(t.Name) {
				continue
			}
			rate, edge := t.inTime(time)
			slope := r.Expr.Diff(t.Name)
			if rate >= l.orders[t.Of] {
				if rate > l.orders[t.Of] || len(t.Factors) != 1 || equals(slope, 0) || !p.inAxes(slope) || owner[k] >= 0 || leading[t.Of] != nil {
					return nil, fmt.Errorf("residual %s: want one derivative of highest order along %s, of another unknown in each, times a number or an expression in axes", r.Name, time)
				}
				owner[k], leading[t.Of] = t.Of, slope
				continue
			}
			slope = slope.Substitute(zeros)
			if edge || t.atWall() || !p.inAxes(slope) || equals(slope, 0) {
				l.drawn = l.drawn || !equals(slope, 0)
				continue
			}
			l.terms = append(l.terms, linearTerm{k, i, t.Of, rate, slope})
		}
		if owner[k] < 0 {
			return nil, fmt.Errorf("residual %s: want one derivative of highest order along %s", r.Name, time)
		}
	}
	for i := range l.terms {
		t := &l.terms[i]
		t.row = owner[t.row]
		t.slope = t.slope.Over(leading[t.row])
	}
	return l, nil
}

// Mirrored is the grid that the linear part of the residuals is solved on, of an ansatz that has it: g itself where no axis of space has ends.
func (p *Problem) Mirrored(g *grid.Grid) *grid.Grid {
	l, err := p.linearPart()
	if err != nil {
		return g
	}
	return g.Mirrored(l.parities)
}

// Propagator returns the one of the linear part of the residuals: terms with the means over the grid of what multiplies them, where
// that does not depend on inputs; 0 stands for unknowns that they are multiplied by.
// It is nil where the ansatz has none.
func (s *System) Propagator() (*grid.Propagator, error) {
	if s.propagating == nil {
		return nil, nil
	}
	if s.Slab != nil {
		return nil, errors.New("slabs divide time, and each value wants all times before it")
	}
	return s.propagating()
}

func (s *System) newPropagator() (*grid.Propagator, error) {
	l, err := s.Problem.linearPart()
	if err != nil {
		return nil, err
	}
	unknowns, d := len(l.orders), 0
	var first []int
	for _, m := range l.orders {
		first, d = append(first, d), d+m
	}
	mirrored := &System{Problem: s.Problem, Grid: s.Grid.Mirrored(l.parities)}
	transform := fft.NewReal(mirrored.Grid.Shape()[1:], 1)
	modes := transform.Modes()
	re, im := make([]float64, modes), make([]float64, modes)
	unit, response := make([]float64, mirrored.Grid.Size()), make([]float64, mirrored.Grid.Size())
	unit[0] = 1 // on axes without ends all points have one stencil
	rows := make([]complex128, modes*unknowns*d)
	for _, t := range l.terms {
		mean, err := s.mean(t.slope)
		if err != nil || math.IsNaN(mean) || math.IsInf(mean, 0) {
			continue
		}
		op, err := mirrored.inSpace(t.term)
		if err != nil {
			return nil, err
		}
		op.Apply(response, unit)
		transform.Forward(re, im, response[:mirrored.SliceSize()])
		by := complex(-mean, 0)
		for mode := range modes {
			rows[(mode*unknowns+t.row)*d+first[t.of]+t.rate] += by * complex(re[mode], im[mode])
		}
	}
	time := s.Grid.Axes[0]
	scale := make([]float64, unknowns)
	for c, m := range l.orders {
		scale[c] = math.Pow(time.Hi-time.Lo, -float64(m))
	}
	return s.Grid.NewPropagator(l.parities, l.orders, scale, rows), nil
}

// inSpace is a term without its derivatives in time, on axes without ends.
func (s *System) inSpace(t int) (grid.Operator, error) {
	term, ok := s.Term(t)
	switch {
	case !ok:
		return s.Grid.NewOperator(grid.Product{Coef: 1}), nil
	case term.Spectral != nil:
		return term.Spectral.operator(s.Problem, s.Grid.NewSpectral())
	}
	term.Factors = slices.DeleteFunc(slices.Clone(term.Factors), func(f Factor) bool { return f.Axis == s.Grid.Axes[0].Name })
	for i := range term.Factors {
		f := &term.Factors[i] // values beyond an end are by parities here
		f.Low, f.High, f.Scheme.Closure = nil, nil, grid.OneSided
	}
	return s.product(term)
}

// mean is that of an expression in axes over the grid.
func (s *System) mean(e *expr.Expr) (float64, error) {
	if v, ok := e.Constant(); ok {
		return v, nil
	}
	program, err := expr.Compile([]*expr.Expr{e}, s.Problem.AxisNames())
	if err != nil {
		return 0, err
	}
	ev, n, sum := s.NewRowEvaluator(1), s.SliceSize(), 0.0
	evaluate, out := program.Evaluator(), make([]float64, n)
	for slice := range s.Grid.Axes[0].Points {
		for i := range ev.first {
			ev.first[i] = s.Grid.Axes[0].Coordinate(slice)
		}
		evaluate(n, [][]float64{out}, append([][]float64{ev.first}, s.coordinates...))
		for _, v := range out {
			sum += v
		}
	}
	return sum / float64(s.Grid.Size()), nil
}

// propagated fills a field (C, P) with the solution of the linear part that begins as the offset of the ansatz does; with what is not a number where rows have none for a sample.
func (s *System) propagated(field, inputs []float64) {
	fail := func(err error) {
		if err != nil {
			panic("pde: an ansatz by Duhamel's formula without its linear part: " + err.Error())
		}
	}
	e := s.NewRowEvaluator(1)
	y, n := make([]float64, len(e.begins)*s.SliceSize()), s.SliceSize()
	e.Begin(y, inputs)
	if s.Problem.byRows() {
		rows, err := s.NewLinearRows()
		fail(err)
		solver, err := rows.For(inputs)
		if err != nil { // of what is drawn
			for i := range field {
				field[i] = math.NaN()
			}
			return
		}
		solver.Begin(solver.NewStepping(), y, func(unknown, time int, values []float64) {
			slice := field[unknown*s.Grid.Size()+time*n:][:n]
			for p := range slice {
				slice[p] = values[p*grid.Stepped]
			}
			s.KeepMean(slice, solver.Of(y, unknown), unknown, time)
		})
		return
	}
	propagator, err := s.Propagator()
	fail(err)
	propagator.NewPropagation(1, nil).Begin(y, func(unknown, time int, values []float64) {
		slice := field[unknown*s.Grid.Size()+time*n:][:n]
		copy(slice, values)
		s.KeepMean(slice, propagator.Of(y, unknown), unknown, time)
	})
}

// Begins are the offsets of the ansatz at the first time, each followed by its derivative there where the equation has a second one:
// what a Propagator begins with.
func (p *Problem) Begins() (all []*expr.Expr) {
	if p.Steady {
		return nil
	}
	time := p.Axes[0]
	first := map[string]*expr.Expr{time.Name: expr.Const(time.Lo)}
	for c, u := range p.Unknowns {
		value := u.Ansatz.Offset
		for range p.timeOrder(c) {
			all, value = append(all, value.Substitute(first)), value.Diff(time.Name)
		}
	}
	return all
}
