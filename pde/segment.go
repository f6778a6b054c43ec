package pde

import (
	"fmt"
	"slices"

	"pihc/expr"
)

// SegmentBegin is the input of a segment's problem that says how much later than the problem it begins; there is one only
// where the equation, a condition or an offset contains the time.
const SegmentBegin = "time.begin"

// RateName is the input of a segment's problem that is the derivative in time with which the unknown begins, where the equation
// has its second derivative.
func (u Unknown) RateName() string { return u.Name + ".rate" }

// Segment returns the problem of one of parts equal parts of the time of p; orders are those of the highest derivative in time,
// per unknown. Its time is local: its axis is the first part's. It is one problem for all parts, whose inputs say how a part begins:
// InitialName of every unknown with a derivative in time, RateName for those of second order, and SegmentBegin.
//
// Equation, conditions and wall values in the ansatz see the time of p; weights see that of the segment. Multipliers are
// stretched, so that they have at the end of a segment what they have at the end of the time. An ansatz that has an initial
// condition begins with that of the segment, and moves on from there as it does in p.
func (p *Problem) Segment(parts int, orders []int) (*Problem, error) {
	s := segmenter{Problem: *p, whole: p, orders: orders, low: expr.Const(p.Axes[0].Lo), time: expr.Variable(p.Axes[0].Name)}
	q := &s.Problem
	first := p.Axes[0]
	q.Axes, q.Unknowns, q.Reference = slices.Clone(p.Axes), slices.Clone(p.Unknowns), Reference{}
	q.Axes[0].Hi = first.Lo + (first.Hi-first.Lo)/float64(parts)
	q.Residuals, q.Conditions = slices.Clone(p.Residuals), slices.Clone(p.Conditions)
	for i := range q.Residuals {
		if err := s.row(&q.Residuals[i]); err != nil {
			return nil, err
		}
	}
	for i := range q.Conditions {
		change := s.row
		if q.Conditions[i].At[first.Name] == "low" {
			change = s.start
		}
		if err := change(&q.Conditions[i]); err != nil {
			return nil, err
		}
	}
	stretched := map[string]*expr.Expr{first.Name: s.low.Plus(s.time.Minus(s.low).Times(expr.Const(float64(parts))))}
	for c := range q.Unknowns {
		a := &q.Unknowns[c].Ansatz
		if err := s.offset(c, a); err != nil {
			return nil, err
		}
		a.Multiplier = a.Multiplier.Substitute(stretched)
	}
	s.inputs(parts)
	return q, nil
}

// segmenter makes a Problem that of a segment.
type segmenter struct {
	Problem
	whole     *Problem
	orders    []int
	low, time *expr.Expr
	timed     bool // SegmentBegin is an input
}

// global puts the time of the whole problem in the place of that of the segment.
func (s *segmenter) global(e *expr.Expr) *expr.Expr { return s.shifted(e, s.time) }

// begin is an expression at the time when a segment begins.
func (s *segmenter) begin(e *expr.Expr) *expr.Expr { return s.shifted(e, s.low) }

func (s *segmenter) shifted(e, local *expr.Expr) *expr.Expr {
	name := s.time.Name()
	if !e.DependsOn(name) {
		return e
	}
	s.timed = true
	return e.Substitute(map[string]*expr.Expr{name: local.Plus(expr.Variable(SegmentBegin))})
}

// row changes rows that hold at all times.
func (s *segmenter) row(r *Rows) error {
	for _, u := range s.Unknowns {
		if name := u.InitialName(); contains(r.Expr, name) {
			return fmt.Errorf("%s %s contains %s, which is another field in each segment", r.Kind, r.Name, name)
		}
	}
	r.Expr = s.global(r.Expr)
	return nil
}

// start changes rows of the first time: a value or a derivative in time is that which is handed over.
func (s *segmenter) start(r *Rows) error {
	for c, u := range s.Unknowns {
		if s.orders[c] == 0 {
			continue
		}
		handed := u.InitialName()
		term := u.Name
		if s.whole.onlyUnknown(r.Expr, u.Name) {
			if slope, ok := r.Expr.Diff(term).Constant(); ok && slope != 0 {
				r.Expr = expr.Const(slope).Times(expr.Variable(term).Minus(expr.Variable(handed)))
				return nil
			}
		}
		if term, slope := s.whole.rateTerm(c, r); term != "" && s.orders[c] == 2 {
			r.Expr = expr.Const(slope).Times(expr.Variable(term).Minus(expr.Variable(u.RateName())))
			return nil
		}
	}
	return fmt.Errorf("condition %s at the first %s is neither a value of an unknown with a derivative in time nor, where the equation has a second one, that derivative",
		r.Name, s.time.Name())
}

// rateTerm is the first derivative in time of unknown c that rows at the first time are affine in, with its factor; "" if there is none.
func (p *Problem) rateTerm(c int, r *Rows) (term string, slope float64) {
	for _, t := range p.Terms {
		if t.Of != c || len(t.Factors) != 1 || t.Factors[0].Axis != p.Axes[0].Name || !r.Expr.DependsOn(t.Name) {
			continue
		}
		order := t.Factors[0].Scheme.Derivative
		if e := t.Factors[0].Edge; e != nil {
			order = e.Derivative
		}
		if slope, ok := r.Expr.Diff(t.Name).Constant(); ok && slope != 0 && order == 1 {
			return t.Name, slope
		}
	}
	return "", 0
}

// offset changes the offset of an ansatz. What vanishes with the multiplier when a segment begins is handed over; walls keep what
// the offset has there: with O that of p, b the beginning and u0 what is handed over it is O(t) - O(b) + u0, and of second order in
// time O(t) - O(b) - (t - b) O_t(b) + u0 + (t - b) rate.
func (s *segmenter) offset(c int, a *Ansatz) error {
	u, name := s.whole.Unknowns[c], s.time.Name()
	at := map[string]*expr.Expr{name: s.low}
	if !equals(a.Multiplier.Substitute(at), 0) && !s.whole.integrated(c) || s.orders[c] == 0 {
		a.Offset = s.global(a.Offset)
		return nil
	}
	since, slope := s.time.Minus(s.low), a.Offset.Diff(name)
	moved, curved := slope, slope.DependsOn(name)
	if s.orders[c] == 2 {
		moved = slope.Diff(name)
		curved = !equals(moved, 0)
	}
	still := map[string]*expr.Expr{} // initial conditions that say nothing of how it moves
	for _, v := range s.whole.Unknowns {
		if initial := v.InitialName(); !slope.DependsOn(initial) {
			still[initial] = expr.Const(0)
		} else if v.Start.Name() != initial {
			return fmt.Errorf("the offset of %s moves with %s, and %s does not begin with that", u.Name, initial, v.Name)
		}
	}
	offset := expr.Variable(u.InitialName())
	switch {
	case curved:
		moving := a.Offset.Substitute(still)
		offset = s.global(moving).Minus(s.begin(moving)).Plus(offset)
		if s.orders[c] == 2 {
			offset = offset.Minus(since.Times(s.begin(slope)))
		}
	case s.orders[c] == 1 && !equals(slope, 0):
		offset = since.Times(slope).Plus(offset)
	}
	if s.orders[c] == 2 {
		offset = offset.Plus(since.Times(expr.Variable(u.RateName())))
	}
	a.Offset = offset
	return nil
}

// inputs makes what segments begin with inputs.
func (s *segmenter) inputs(parts int) {
	p, first := s.whole, s.whole.Axes[0]
	others := p.Inputs[p.Initials():]
	space := axisNames(p.Axes[1:])
	s.Inputs = nil
	for c := range s.Unknowns {
		u := &s.Unknowns[c]
		if s.orders[c] == 0 && u.Initial < 0 {
			continue
		}
		in := Input{Name: u.InitialName(), Axes: space}
		if u.Initial >= 0 {
			in = p.Inputs[u.Initial]
		}
		u.Initial = len(s.Inputs)
		s.Inputs = append(s.Inputs, in)
		if s.orders[c] > 0 {
			u.Start = expr.Variable(u.InitialName())
		}
	}
	for _, in := range others {
		if s.reads(in.Name) { // not where all that it said was how the problem begins
			s.Inputs = append(s.Inputs, in)
		}
	}
	for c, u := range s.Unknowns {
		if s.orders[c] == 2 {
			s.Inputs = append(s.Inputs, Input{Name: u.RateName(), Axes: space})
		}
	}
	if s.timed {
		last := (first.Hi - first.Lo) * float64(parts-1) / float64(parts)
		s.Inputs = append(s.Inputs, Input{Name: SegmentBegin, Sampler: Sampler{Distribution: "uniform", High: last}})
	}
}

// NewRate returns a function that sets dst (SliceSize) to the derivative in time with which an unknown of second order in time begins,
// for the inputs of a sample: that of the ansatz' offset, where the multiplier vanishes with its derivative; else what conditions at
// the first time ask for, and zero where none does.
func (s *System) NewRate(c int) func(dst, sample []float64) {
	p := s.Problem
	a, name := p.Unknowns[c].Ansatz, p.Axes[0].Name
	first := map[string]*expr.Expr{name: expr.Const(p.Axes[0].Lo)}
	if p.integrated(c) || equals(a.Multiplier.Substitute(first), 0) && equals(a.Multiplier.Diff(name).Substitute(first), 0) {
		rate := a.Offset.Diff(name).Substitute(first)
		return func(dst, sample []float64) { p.evaluateStart(dst, rate, sample, s.Grid) }
	}
	type rated struct {
		*RowValues
		term int // the rate, among those of the rows
	}
	var sets []rated
	for i := range p.Conditions {
		r := &p.Conditions[i]
		if term, _ := p.rateTerm(c, r); r.At[name] == "low" && term != "" {
			set := s.Sets[len(p.Residuals)+i]
			at := slices.IndexFunc(set.Terms, func(t int) bool { return s.Terms[t].Name == term })
			sets = append(sets, rated{s.NewRowValues(set, set.Points), at})
		}
	}
	field := make([]float64, s.FieldSize())
	return func(dst, sample []float64) {
		clear(dst)
		p.Persist(field, sample, s.Grid) // whose rate is zero
		for _, r := range sets {
			rows := r.Eval(1, field, sample)
			for k, point := range r.Points {
				dst[point] = -rows[0][k] / rows[1+r.term][k]
			}
		}
	}
}
