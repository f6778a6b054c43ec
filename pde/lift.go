package pde

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/kernel"
)

// An endCondition is a linear condition at one end of an axis: the sum of the derivatives of an unknown along it, from none on, times coefs is value.
type endCondition struct {
	high  bool
	coefs []float64
	value *expr.Expr
}

// of is what the condition's left-hand side is of g, with what is put in there.
func (c *endCondition) of(g *expr.Expr, axis string, at map[string]*expr.Expr) *expr.Expr {
	sum := expr.Const(0)
	for k, coef := range c.coefs {
		if k > 0 {
			g = g.Diff(axis)
		}
		if coef != 0 {
			sum = sum.Plus(expr.Const(coef).Times(g.Substitute(at)))
		}
	}
	return sum
}

// endConditions are by axis those of walls and, along axes of space with a length in smooth, those that S meets of an unknown in their place.
func (p *Problem) endConditions(unknown int, walls []wall, smooth map[string]float64) [][]endCondition {
	out := make([][]endCondition, len(p.Axes))
	for axis, a := range p.Axes {
		if smooth[a.Name] > 0 && !p.isTime(axis) {
			if all, ok := p.smoothed(unknown, axis); ok {
				out[axis] = all
				continue
			}
		}
		for _, w := range walls {
			for k, value := range w.values {
				if w.axis == axis {
					out[axis] = append(out[axis], endCondition{w.high, append(make([]float64, k), 1), value})
				}
			}
		}
	}
	return out
}

// smoothed are the conditions that S meets along an axis of space; false where one is about something else than the field at a wall.
func (p *Problem) smoothed(unknown, axis int) (all []endCondition, ok bool) {
	_, ends, err := p.smoothing(unknown, axis)
	nodes := p.Axes[axis].Boundary == grid.Nodes
	if err != nil || p.Axes[axis].Boundary == grid.Periodic {
		return nil, false
	}
	for end, rows := range ends {
		for _, r := range rows {
			if !nodes && r.Expr.DependsOn(p.Unknowns[unknown].Name) { // half a step away
				return nil, false
			}
			c, there := endCondition{high: end == 1}, p.atEnd(r, p.Axes[axis].Name)
			rest := map[string]*expr.Expr{p.Unknowns[unknown].Name: expr.Const(0)}
			add := func(name string, derivative int) {
				slope, _ := there.Diff(name).Constant()
				c.coefs = append(c.coefs, make([]float64, max(0, derivative+1-len(c.coefs)))...)
				c.coefs[derivative] += slope
				rest[name] = expr.Const(0)
			}
			add(p.Unknowns[unknown].Name, 0)
			for _, t := range p.Terms {
				if !r.Expr.DependsOn(t.Name) {
					continue
				}
				f := t.Factors[0] // the only one (linearAlong)
				switch {
				case f.Edge != nil && (f.Edge.At == grid.GhostPoint || !nodes && f.Edge.At != grid.Wall), f.Edge == nil && (!nodes || f.Low != nil || f.High != nil):
					return nil, false
				case f.Edge != nil:
					add(t.Name, f.Edge.Derivative)
				default:
					add(t.Name, f.Scheme.Derivative)
				}
			}
			c.value = expr.Const(0).Minus(there.Substitute(rest))
			all = append(all, c)
		}
	}
	return all, true
}

// lift is an offset that has at all ends of axes what conditions there ask for, by axis, where they agree with each other: along axis
// after axis, what is missing there is interpolated (a Boolean sum of projections; Gordon 1971). Inputs that extend along
// an axis have no values at its ends in an expression, so axes whose conditions have such come last, and what sines vanish at is put in.
func (p *Problem) lift(conditions [][]endCondition) *expr.Expr {
	foreign := func(axis int) (n int) {
		for _, in := range p.Inputs {
			if slices.ContainsFunc(conditions[axis], func(c endCondition) bool { return c.value.DependsOn(in.Name) }) {
				n = max(n, len(slices.DeleteFunc(slices.Clone(in.Axes), func(a string) bool { return a == p.Axes[axis].Name })))
			}
		}
		return n
	}
	order := make([]int, len(p.Axes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(foreign(a), foreign(b)) })
	g := expr.Const(0)
	for _, axis := range order {
		name := p.Axes[axis].Name
		given := slices.Clone(conditions[axis])
		there := slices.Clone(given)
		for i, c := range given {
			at := map[string]*expr.Expr{name: p.end(axis, c.high)}
			for _, in := range p.Inputs {
				if slices.Contains(in.Axes, name) {
					v := []float64{0}
					in.Sampler.Transform(v)
					at[in.Name] = expr.Const(v[0])
				}
			}
			there[i].value = c.of(g, name, at)
			if alike(there[i].value, c.value) {
				there[i].value, given[i].value = expr.Const(0), expr.Const(0)
			}
		}
		if len(given) > 0 {
			g = g.Minus(p.polynomial(axis, there)).Plus(p.polynomial(axis, given))
		}
	}
	return g
}

// polynomial is the one along an axis of least degree that meets conditions at its ends; zero where none does.
func (p *Problem) polynomial(axis int, conditions []endCondition) *expr.Expr {
	var values [2][]*expr.Expr // where they are derivatives from none on
	plain := true
	for _, c := range conditions {
		end := 0
		if c.high {
			end = 1
		}
		k := len(values[end])
		plain = plain && len(c.coefs) == k+1 && c.coefs[k] == 1 && !slices.ContainsFunc(c.coefs[:k], func(v float64) bool { return v != 0 })
		values[end] = append(values[end], c.value)
	}
	if plain {
		return p.hermite(axis, values)
	}
	n, x := len(conditions), expr.Variable(p.Axes[axis].Name).Minus(expr.Const(p.Axes[axis].Lo))
	// Of the powers of x the first that conditions tell apart: what conditions are of them, a row each.
	var powers []int
	var rows, before [][]float64
	length := p.Axes[axis].Hi - p.Axes[axis].Lo
	for power := 0; power < 2*n+2 && len(rows) < n; power++ {
		row := make([]float64, n)
		for i, c := range conditions {
			factor := 1.0 // of the derivative
			for k, coef := range c.coefs {
				switch {
				case k > power:
				case c.high:
					row[i] += coef * factor * math.Pow(length, float64(power-k))
				case k == power:
					row[i] += coef * factor
				}
				factor *= float64(power - k)
			}
		}
		own := slices.Clone(row) // what is orthogonal to those before
		for _, b := range before {
			kernel.Axpy64(own, -kernel.Dot(own, b)/kernel.Dot(b, b), b)
		}
		if kernel.SumSquares64(own) > 1e-18*kernel.SumSquares64(row) {
			powers, rows, before = append(powers, power), append(rows, row), append(before, own)
		}
	}
	if len(rows) < n {
		return expr.Const(0)
	}
	inverse := invert(slices.Concat(rows...), n) // by condition and power
	sum := expr.Const(0)
	for i, c := range conditions {
		shape := expr.Const(0)
		for j, power := range powers {
			v := inverse[i*n+j]
			switch term := expr.Const(math.Abs(v)).Times(raised(x, power)); {
			case math.Abs(v)*math.Pow(length, float64(power)) < 1e-12: // of rounding
			case v < 0:
				shape = shape.Minus(term)
			default:
				shape = shape.Plus(term)
			}
		}
		sum = sum.Plus(c.value.Times(shape))
	}
	return sum
}

// hermite is the polynomial along an axis of least degree that has given derivatives, from none on, at the low and the
// high end (two-point Taylor interpolation).
func (p *Problem) hermite(axis int, values [2][]*expr.Expr) *expr.Expr {
	sum := expr.Const(0)
	if len(values[0]) == 1 && len(values[1]) == 1 && alike(values[0][0], values[1][0]) {
		return values[0][0]
	}
	for end := range values {
		own, other := p.fraction(axis, end == 1), p.fraction(axis, end == 0)
		since := expr.Variable(p.Axes[axis].Name).Minus(p.end(axis, end == 1))
		m, n := len(values[end]), len(values[1-end])
		for k, value := range values[end] {
			// (x - x_0)^k/k! (1 - ξ)^n Σ_j C(n+j-1, j) ξ^j, j < m - k
			series, binomial := expr.Const(0), 1.0
			for j := range m - k {
				series = series.Plus(expr.Const(binomial).Times(raised(own, j)))
				binomial *= float64(n+j) / float64(j+1)
			}
			shape := raised(other, n).Times(series)
			for i := range k {
				shape = shape.Times(since).Times(expr.Const(1 / float64(i+1)))
			}
			sum = sum.Plus(value.Times(shape))
		}
	}
	return sum
}

// alike reports whether two expressions have the same value, but for rounding, at some places.
func alike(a, b *expr.Expr) bool {
	random := rand.New(rand.NewPCG(1, 1))
	for range 4 {
		at := map[string]float64{}
		for _, name := range slices.Concat(a.Variables(), b.Variables()) {
			at[name] = random.Float64()
		}
		x, y := a.Value(at), b.Value(at)
		if !(math.Abs(x-y) <= 1e-12*max(1, math.Abs(x), math.Abs(y))) {
			return false
		}
	}
	return true
}

func raised(e *expr.Expr, n int) *expr.Expr {
	out := expr.Const(1)
	for range n {
		out = out.Times(e)
	}
	return out
}
