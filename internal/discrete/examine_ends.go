package discrete

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// openEnds names the ends of axes that no condition, ghost value or ansatz holds at;
// the end of time needs none, nor an unknown without a derivative along the axis, nor, unless values stay free, one of first order in time that is
// held at the other end of it.
func openEnds(p *pde.Problem, sys *pde.System, free bool) []string {
	fixed := fixes(sys)
	var ends []string
	for a, axis := range p.Axes {
		if axis.Boundary == grid.Periodic {
			continue
		}
		for _, end := range []string{"low", "high"} {
			if a == 0 && end == "high" && marches(p) {
				continue
			}
			var open []string
			for f, u := range p.Unknowns {
				other := map[string]string{"low": "high", "high": "low"}[end]
				begins := !free && a == 0 && !p.Steady && p.Highest(f, 0) == 1 && heldAt(p, sys, fixed, a, other, f)
				if changes(p, f, axis.Name) && !begins && !heldAt(p, sys, fixed, a, end, f) {
					open = append(open, u.Name)
				}
			}
			switch {
			case len(open) == len(p.Unknowns):
				ends = append(ends, axis.Name+" "+end)
			case len(open) > 0:
				ends = append(ends, axis.Name+" "+end+" of "+strings.Join(open, ", "))
			}
		}
	}
	return ends
}

// changes reports whether residuals contain a derivative of an unknown along an axis.
func changes(p *pde.Problem, unknown int, axis string) bool {
	return slices.ContainsFunc(p.Terms, func(t pde.Term) bool {
		return t.Of == unknown && p.InResidual(t.Name) && (t.Spectral != nil || slices.ContainsFunc(t.Factors, func(f pde.Factor) bool { return f.Axis == axis }))
	})
}

// heldAt reports whether a condition, ghost value or the ansatz holds an unknown at an end of
// axis a.
func heldAt(p *pde.Problem, sys *pde.System, fixed []bool, a int, end string, unknown int) bool {
	name := p.Axes[a].Name
	if slices.ContainsFunc(p.Conditions, func(c pde.Rows) bool { return c.At[name] == end && p.Concerns(c, unknown) }) {
		return true
	}
	for _, t := range p.Terms {
		for _, f := range t.Factors {
			if t.Of == unknown && f.Axis == name && p.InResidual(t.Name) && (end == "low" && f.Low != nil || end == "high" && f.High != nil) {
				return true
			}
		}
	}
	return fixedAt(sys, fixed, a, end, unknown)
}

// fixedAt reports whether the ansatz holds an unknown at an end of axis a.
func fixedAt(sys *pde.System, fixed []bool, a int, end string, unknown int) bool {
	if fixed == nil {
		return false
	}
	stride, n := sys.Grid.Strides()[a], sys.Grid.Axes[a].Points
	at := map[string]int{"low": 0, "high": n - 1}[end]
	for q, is := range fixed[unknown*sys.Grid.Size() : (unknown+1)*sys.Grid.Size()] {
		if q/stride%n == at && !is {
			return false
		}
	}
	return true
}

// openWalls finds ends of an axis of space at which no condition holds, where the equation, of one
// unknown, needs some: differences to one side then make up a solution of their own. A second derivative, or a
// higher one, needs conditions at each end; so does a first one where a linear equation only carries it along, where it comes from.
// Where coefficients vanish at the ends, up to rounding, none is needed; centres of cells do not show that, so that theirs are no faults. Nor are
// those of a second derivative whose other end has a condition: an outflow is at times left open on purpose.
func (x *Examination) openWalls(s *system, initial [][]float64) {
	p := s.sys.Problem
	if len(p.Unknowns) > 1 || len(p.Residuals) > 1 {
		return
	}
	fixed := fixes(s.sys)
	for a, axis := range p.Axes {
		if axis.Boundary == grid.Periodic || a == 0 && !p.Steady {
			continue
		}
		open := [2]bool{!heldAt(p, s.sys, fixed, a, "low", 0), !heldAt(p, s.sys, fixed, a, "high", 0)}
		if !open[0] && !open[1] {
			continue
		}
		type need struct {
			term  string
			order int
		}
		needs := make(map[need]int)
		for draw, u0 := range initial {
			st := s.newState(u0)
			st.evaluate(varied(s.sys, u0, 0, 0, draw))
			term, order := st.needsConditions(a, open)
			needs[need{term, order}]++
		}
		for n, draws := range needs {
			if n.order == 0 || draws < len(initial) {
				continue
			}
			where, wrong := "either end of "+axis.Name, ""
			if both := open[0] && open[1]; !both {
				ends := []string{axis.Name + " low", axis.Name + " high"}
				where = ends[slices.Index(open[:], true)]
				if n.order == 1 {
					wrong = fmt.Sprintf(", as it carries values in there; is that of %s at the wrong end, or a sign reversed?", ends[slices.Index(open[:], false)])
				}
			}
			if axis.Boundary == grid.Nodes && (open[0] && open[1] || n.order == 1) {
				x.Faults = append(x.Faults, fmt.Sprintf("no condition holds at %s, where %s needs one%s", where, n.term, wrong))
			} else {
				x.Open = append(x.Open, fmt.Sprintf("no condition holds at %s, where %s needs one unless its coefficient vanishes there; differences to one side make up for it, and no estimate sees that", where, n.term))
			}
		}
	}
}

// needsConditions returns the term, and its order, that needs conditions at open ends (low, high) of axis a; order 0: none.
func (st *state) needsConditions(a int, open [2]bool) (name string, order int) {
	p, set := st.sys.Problem, st.sys.Sets[0]
	stride, n := st.sys.Grid.Strides()[a], st.sys.Grid.Axes[a].Points
	rate, carries := st.rateSlopes(), st.onlyCarries(a)
	for j, t := range set.Terms {
		order, along := alongOne(st.sys, t)
		if along != a || order == 0 {
			continue
		}
		largest, ends := 0.0, [2]struct{ least, most float64 }{{math.Inf(1), math.Inf(-1)}, {math.Inf(1), math.Inf(-1)}}
		for i, point := range set.Points {
			v := st.out[0][1+j][i] * rate[i]
			largest = max(largest, math.Abs(v))
			for e, at := range []int{0, n - 1} {
				if int(point)/stride%n == at {
					ends[e].least, ends[e].most = min(ends[e].least, v), max(ends[e].most, v)
				}
			}
		}
		acts := func(e int) bool { // at all its points, with one sign
			least := min(math.Abs(ends[e].least), math.Abs(ends[e].most))
			return ends[e].least*ends[e].most > 0 && !math.IsInf(least, 0) && !vanishes(least, largest)
		}
		enters := open[0] && acts(0) && ends[0].least > 0 || open[1] && acts(1) && ends[1].most < 0
		if order >= 2 && (!open[0] || acts(0)) && (!open[1] || acts(1)) || order == 1 && enters && carries {
			return p.Terms[t-len(p.Unknowns)].Name, order
		}
	}
	return "", 0
}

// onlyCarries reports whether values are carried along axis a by one term of first order alone, in an equation that is linear, of
// first order in time and has no other derivative along the axis, a mixed one included: the sign of the term then says where they enter.
func (st *state) onlyCarries(a int) bool {
	p := st.sys.Problem
	if slices.Max(TimeOrders(p)) != 1 || !marches(p) || !st.sys.Sets[0].Linear {
		return false
	}
	count := 0
	for _, t := range p.Terms {
		if !p.InResidual(t.Name) {
			continue
		}
		if t.Spectral != nil {
			return false
		}
		if along := alongAxis(t, p.Axes[a].Name); along > 0 {
			if along > 1 || len(t.Factors) != 1 {
				return false
			}
			count++
		}
	}
	return count == 1
}

// rateSlopes is the derivative of the first equation's rows by the first derivative along axis 0, 1
// where there is none.
func (st *state) rateSlopes() []float64 {
	rate := slices.Repeat([]float64{1}, len(st.sys.Sets[0].Points))
	for j, t := range st.sys.Sets[0].Terms {
		if order, along := alongOne(st.sys, t); along == 0 && order == 1 {
			rate = st.out[0][1+j]
		}
	}
	return rate
}

// tooManyWalls finds an axis of space at whose ends more conditions hold than the equations have derivatives
// along it: one of order d takes d at both ends together, and what is beyond them is met by no solution
// (or says nothing new): least squares of all rows end between them. Counted are conditions of that axis alone, of
// weights that are numbers, which contain an unknown itself or a derivative along the axis. Where d is odd its
// coefficient must have one sign at both ends, as of a flow that enters at one: it may enter at both.
func (x *Examination) tooManyWalls(st *state) {
	sys := st.sys
	p := sys.Problem
	for a, axis := range p.Axes {
		if axis.Boundary == grid.Periodic || a == 0 && !p.Steady {
			continue
		}
		orders, countable := make([]int, len(p.Unknowns)), true
		for _, t := range p.Terms {
			if p.InResidual(t.Name) {
				order := alongAxis(t, axis.Name)
				orders[t.Of] = max(orders[t.Of], order)
				countable = countable && t.Spectral == nil
			}
		}
		order := 0
		for _, o := range orders {
			order += o
		}
		var names []string
		for _, c := range p.Conditions {
			if len(c.At) != 1 || c.At[axis.Name] == "" || len(c.Weight.Variables()) > 0 {
				continue
			}
			if slices.ContainsFunc(p.Unknowns, func(u pde.Unknown) bool { return c.Expr.DependsOn(u.Name) }) ||
				slices.ContainsFunc(p.Terms, func(t pde.Term) bool { return alongAxis(t, axis.Name) >= 0 && c.Expr.DependsOn(t.Name) }) {
				names = append(names, c.Name)
			}
		}
		if countable && order > 0 && len(names) > order && (order%2 == 0 || st.oneSign(a, order)) {
			x.Faults = append(x.Faults, fmt.Sprintf("%d conditions hold at the ends of %s (%s), where equations with derivatives of order %d along it take %d", len(names), axis.Name, strings.Join(names, ", "), order, order))
		}
	}
}

// oneSign reports whether the coefficient of the derivative of an order along axis a, of one unknown and one
// equation, has the same sign at all points of both ends, over that of the rate.
func (st *state) oneSign(a, order int) bool {
	set := st.sys.Sets[0]
	if len(st.sys.Problem.Unknowns) > 1 || len(st.sys.Problem.Residuals) > 1 {
		return false
	}
	stride, n := st.sys.Grid.Strides()[a], st.sys.Grid.Axes[a].Points
	rate, coefficient := st.rateSlopes(), make([]float64, len(set.Points))
	for j, t := range set.Terms {
		if own, along := alongOne(st.sys, t); along == a && own == order && (a > 0 || order > 1) {
			kernel.Axpy64(coefficient, 1, st.out[0][1+j])
		}
	}
	low, high := math.Inf(1), math.Inf(-1)
	first, last := n, -1 // rows may leave out the ends themselves
	for _, q := range set.Points {
		first, last = min(first, int(q)/stride%n), max(last, int(q)/stride%n)
	}
	for i, q := range set.Points {
		if at := int(q) / stride % n; at == first || at == last {
			low, high = min(low, coefficient[i]*rate[i]), max(high, coefficient[i]*rate[i])
		}
	}
	return low*high > 0
}

// alongAxis is the order of a term's derivative along an axis, -1 where it has no factor of that.
func alongAxis(t pde.Term, axis string) int {
	order := -1
	for _, f := range t.Factors {
		if f.Axis != axis {
			continue
		}
		order = max(order, 0) + f.Scheme.Derivative
		if f.Edge != nil {
			order += f.Edge.Derivative
		}
		if t.PerStep {
			order++
		}
	}
	return order
}

// alongOne returns the order and the axis of a term that is a derivative along one axis, at an edge of
// none; the axis is -1 of others.
func alongOne(sys *pde.System, t int) (order, axis int) {
	term, ok := sys.Term(t)
	if !ok || len(term.Factors) != 1 || term.Factors[0].Edge != nil {
		return 0, -1
	}
	order = term.Factors[0].Scheme.Derivative
	if term.PerStep {
		order++
	}
	return order, sys.Problem.Axis(term.Factors[0].Axis)
}

// lacksRate says what is missing where an unknown's derivative in time of order two or more has fewer conditions at the
// beginning than its order, or is "".
func lacksRate(p *pde.Problem) string {
	time := p.Axes[0].Name
	if p.Steady || slices.ContainsFunc(p.Conditions, func(c pde.Rows) bool { return c.At[time] == "high" }) {
		return ""
	}
	for _, t := range p.Terms {
		order := alongAxis(t, time)
		if order < 2 || !p.InResidual(t.Name) || slices.ContainsFunc(t.Factors, func(f pde.Factor) bool { return f.Axis == time && f.Edge != nil }) {
			continue
		}
		conditions := 0
		for _, c := range p.Conditions {
			if c.At[time] == "low" && p.Concerns(c, t.Of) {
				conditions++
			}
		}
		switch {
		case conditions >= order:
		case order == 2:
			return fmt.Sprintf("%s needs two conditions at %s low, the value and its derivative", t.Name, time)
		default:
			return fmt.Sprintf("%s needs %d conditions at %s low, the value and its derivatives below the order %[2]d", t.Name, order, time)
		}
	}
	return ""
}
