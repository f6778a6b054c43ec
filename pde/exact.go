package pde

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pihc/expr"
	"pihc/grid"
)

// ExactAnsatz returns an ansatz of an unknown whose fields meet conditions at the ends of axes whatever the
// basis is, and the names of these conditions: of all choices the first with the most conditions that holds accepts (nil: any).
// The multiplier is the product of the distances from walls, to the power of the number of derivatives given there;
// the offset has these. Along axes with a length in smooth, S takes the place of the multiplier; along time only where conditions
// give as many derivatives as S begins with; of the conditions that S would meet some may be left to rows, those of slopes first. It is trivial where the unknown
// has an ansatz, none meets its condition at the beginning of time, or an axis that is to be smoothed has not the conditions for it.
func (p *Problem) ExactAnsatz(unknown int, smooth map[string]float64, holds func(a Ansatz, met []string) bool) (a Ansatz, met []string) {
	u := p.Unknowns[unknown]
	if !u.Ansatz.Trivial() {
		return Ansatz{}, nil
	}
	if len(smooth) > 0 && p.Smoothable(unknown) != nil {
		return Ansatz{}, nil
	}
	walls := p.walls(unknown)
	starts := !p.Steady && slices.ContainsFunc(p.Conditions, func(c Rows) bool {
		return c.At[p.Axes[0].Name] == "low" && slices.Contains(p.unknownsOf(c.Expr), unknown)
	})
	if starts && (len(walls) == 0 || walls[0].axis != 0 || walls[0].high) {
		return Ansatz{}, nil
	}
	if time := p.Axes[0].Name; !p.Steady && smooth[time] > 0 && !(starts && len(walls[0].values) == p.timeOrder(unknown)) {
		smooth = maps.Clone(smooth)
		delete(smooth, time)
	}
	others := slices.DeleteFunc(slices.Clone(walls), func(w wall) bool { // whose conditions the offset has by S
		_, ok := p.smoothed(unknown, w.axis)
		return ok && !p.isTime(w.axis) && smooth[p.Axes[w.axis].Name] > 0
	})
	all := choices(others, starts)
	if len(smooth) > 0 && !starts {
		all = append(all, nil)
	}
	type try struct {
		Ansatz
		met []string
	}
	var tries []try
	for _, choice := range all {
		cut := slices.DeleteFunc(slices.Clone(choice), func(w wall) bool { return smooth[p.Axes[w.axis].Name] > 0 })
		for _, leaves := range p.leaves(unknown, smooth) {
			q := p.leaving(unknown, leaves)
			t := try{Ansatz{Multiplier: p.cutoff(cut), Smooth: smooth, Leaves: leaves}, nil}
			for _, w := range choice {
				t.met = append(t.met, w.names...)
			}
			for _, name := range q.smoothMet(unknown, smooth) {
				if !slices.Contains(t.met, name) {
					t.met = append(t.met, name)
				}
			}
			if len(t.met) == 0 && !p.Steady {
				continue
			}
			t.Offset = p.lift(q.endConditions(unknown, choice, smooth))
			tries = append(tries, t)
		}
	}
	slices.SortStableFunc(tries, func(a, b try) int { return cmp.Compare(len(b.met), len(a.met)) })
	for _, t := range tries {
		if holds == nil || holds(t.Ansatz, t.met) {
			return t.Ansatz, t.met
		}
	}
	return Ansatz{}, nil
}

// leaving is a problem whose ansatz of an unknown leaves conditions to rows.
func (p *Problem) leaving(unknown int, leaves []string) *Problem {
	q := *p
	q.Unknowns = slices.Clone(q.Unknowns)
	q.Unknowns[unknown].Ansatz.Leaves = leaves
	return &q
}

// leaves are the ways to leave conditions to rows that S would meet along axes of second order of a steady problem: the fewest first, and of
// these the ones with derivatives first, which ask least of a field.
func (p *Problem) leaves(unknown int, smooth map[string]float64) [][]string {
	ways := [][]string{nil}
	for axis, a := range p.Axes {
		f, ends, err := p.smoothing(unknown, axis)
		if !p.Steady || smooth[a.Name] == 0 || err != nil || f.Scheme.Derivative != 2 {
			continue
		}
		for _, c := range slices.Concat(ends[0], ends[1]) {
			for _, way := range ways {
				ways = append(ways, append(slices.Clip(way), c.Name))
			}
		}
	}
	values := func(way []string) (n int) {
		for _, c := range p.Conditions {
			if slices.Contains(way, c.Name) && !p.HasDerivative(c) {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(ways, func(a, b []string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(values(a), values(b))) })
	return ways
}

// HasDerivative reports whether a condition contains a derivative.
func (p *Problem) HasDerivative(c Rows) bool {
	return slices.ContainsFunc(p.Terms, func(t Term) bool {
		return c.Expr.DependsOn(t.Name) && slices.ContainsFunc(t.Factors, func(f Factor) bool {
			return f.Edge == nil && f.Scheme.Derivative > 0 || f.Edge != nil && f.Edge.Derivative > 0
		})
	})
}

// Trivial reports whether fields are the basis itself.
func (a *Ansatz) Trivial() bool {
	return equals(a.Offset, 0) && equals(a.Multiplier, 1) && !a.RemoveMean && len(a.Smooth) == 0 && !a.Duhamel
}

// A wall is what conditions give of an unknown at one end of an axis: derivatives along it, from none on.
type wall struct {
	axis   int
	high   bool
	values []*expr.Expr
	names  []string // of the conditions
}

// end is the coordinate of a wall.
func (p *Problem) end(axis int, high bool) *expr.Expr {
	if high {
		return expr.Const(p.Axes[axis].Hi)
	}
	return expr.Const(p.Axes[axis].Lo)
}

// walls are those at which the value of an unknown is given, by axis, low ends first.
func (p *Problem) walls(unknown int) []wall {
	var out []wall
	for axis := range p.Axes {
		for _, high := range []bool{false, true} {
			w := wall{axis: axis, high: high}
			for order := 0; order == len(w.values); order++ {
				for _, c := range p.Conditions {
					value, ok := p.given(unknown, c, axis, high, order)
					if !ok || slices.Contains(w.names, c.Name) {
						continue
					}
					w.values, w.names = append(w.values, value), append(w.names, c.Name)
					break
				}
			}
			if len(w.values) > 0 {
				out = append(out, w)
			}
		}
	}
	return out
}

// choices are the ways to take some walls, and of each its first derivatives, those with the most conditions first. The
// first of the walls is among them all where it is to be.
func choices(walls []wall, first bool) [][]wall {
	out := [][]wall{nil}
	for i, w := range walls {
		var longer [][]wall
		for _, choice := range out {
			for n := len(w.values); n >= 0; n-- {
				switch {
				case n > 0:
					part := wall{w.axis, w.high, w.values[:n], w.names[:n]}
					longer = append(longer, append(slices.Clip(choice), part))
				case i > 0 || !first:
					longer = append(longer, choice)
				}
			}
		}
		out = longer
	}
	count := func(choice []wall) (n int) {
		for _, w := range choice {
			n += len(w.values)
		}
		return n
	}
	slices.SortStableFunc(out, func(a, b []wall) int { return cmp.Compare(count(b), count(a)) })
	return slices.DeleteFunc(out, func(choice []wall) bool { return len(choice) == 0 })
}

// fraction is the position on an axis as a fraction of its range, from its low end or its high one.
func (p *Problem) fraction(axis int, high bool) *expr.Expr {
	a := p.Axes[axis]
	low := expr.Variable(a.Name).Minus(expr.Const(a.Lo)).Over(expr.Const(a.Hi - a.Lo))
	switch {
	case !high:
		return low
	case a.Lo == 0:
		return expr.Const(1).Minus(low)
	}
	return expr.Const(a.Hi).Minus(expr.Variable(a.Name)).Over(expr.Const(a.Hi - a.Lo))
}

// cutoff is the multiplier that vanishes at walls with the derivatives that they give; its largest value is 1.
func (p *Problem) cutoff(walls []wall) *expr.Expr {
	factors := []string{"1"}
	scale := 1.0
	for axis := range p.Axes {
		var powers [2]int
		for _, w := range walls {
			if w.axis != axis {
				continue
			}
			end, factor := 0, "("+p.fraction(axis, w.high).String()+")"
			if w.high {
				end = 1
			}
			if powers[end] = len(w.values); powers[end] > 1 {
				factor += fmt.Sprintf("^%d", powers[end])
			}
			factors = append(factors, factor)
		}
		if m, n := powers[0], powers[1]; m > 0 && n > 0 { // ξ^m (1 - ξ)^n is largest at m/(m + n)
			scale *= power(m+n, m+n) / power(m, m) / power(n, n)
		}
	}
	e, err := expr.Parse(fmt.Sprintf("%g*%s", scale, strings.Join(factors, "*")))
	if err != nil {
		panic("pde: " + err.Error()) // a product of fractions
	}
	return e.Substitute(nil)
}

func power(x, n int) float64 {
	v := 1.0
	for range n {
		v *= float64(x)
	}
	return v
}

// given returns the derivative of an unknown, of an order, along an axis at an end of it, if a condition gives it and says
// nothing else, and holds on all of the wall but two points at its ends.
func (p *Problem) given(unknown int, c Rows, axis int, high bool, order int) (*expr.Expr, bool) {
	a := p.Axes[axis]
	if !p.onWall(c, axis, high) {
		return nil, false
	}
	name := p.Unknowns[unknown].Name
	d, known := 0, a.Boundary == grid.Nodes
	for _, t := range p.Terms {
		if !c.Expr.DependsOn(t.Name) {
			continue
		}
		if t.Of != unknown || len(t.Factors) != 1 || t.PerStep || t.Factors[0].Axis != a.Name {
			return nil, false
		}
		f := t.Factors[0]
		name = t.Name
		if f.Edge != nil {
			d, known = f.Edge.Derivative, f.Edge.High == high && (f.Edge.At == grid.Wall || f.Edge.At == grid.Inner && a.Boundary == grid.Nodes)
		} else {
			ghost := f.Low
			if high {
				ghost = f.High
			}
			d, known = f.Scheme.Derivative, a.Boundary == grid.Nodes && ghost == nil
		}
	}
	if !known || d != order {
		return nil, false
	}
	value, ok := p.solved(c.Expr, name)
	if !ok {
		return nil, false
	}
	return value.Substitute(map[string]*expr.Expr{a.Name: p.end(axis, high)}), true
}

// solved returns the value that an expression c·(name - value) gives a term or an unknown, if it contains no
// other.
func (p *Problem) solved(e *expr.Expr, name string) (*expr.Expr, bool) {
	if !p.onlyUnknown(e, name) {
		return nil, false
	}
	slope, constant := e.Diff(name).Constant()
	if !constant || slope == 0 {
		return nil, false
	}
	rest := e.Substitute(map[string]*expr.Expr{name: expr.Const(0)})
	return expr.Const(-1 / slope).Times(rest), true
}

// unknownsOf are the unknowns that an expression contains, themselves or by a term.
func (p *Problem) unknownsOf(e *expr.Expr) []int {
	var out []int
	for c, u := range p.Unknowns {
		if e.DependsOn(u.Name) || slices.ContainsFunc(p.Terms, func(t Term) bool { return t.Of == c && e.DependsOn(t.Name) }) {
			out = append(out, c)
		}
	}
	return out
}
