package pde

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"pihc/expr"
)

// lift is an offset that has at all walls what they give, where they agree with each other: along axis
// after axis, what is missing there is interpolated (a Boolean sum of projections; Gordon 1971). Inputs that extend along
// an axis have no values at its ends in an expression, so axes whose walls have such come last, and what sines vanish at is put in.
func (p *Problem) lift(walls []wall) *expr.Expr {
	foreign := func(axis int) (n int) {
		for _, in := range p.Inputs {
			for _, w := range walls {
				if w.axis == axis && slices.ContainsFunc(w.values, func(v *expr.Expr) bool { return v.DependsOn(in.Name) }) {
					n = max(n, len(slices.DeleteFunc(slices.Clone(in.Axes), func(a string) bool { return a == p.Axes[axis].Name })))
				}
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
		var given, there [2][]*expr.Expr
		for _, w := range walls {
			if w.axis != axis {
				continue
			}
			end, at := 0, map[string]*expr.Expr{name: p.end(axis, w.high)}
			if w.high {
				end = 1
			}
			for _, in := range p.Inputs {
				if slices.Contains(in.Axes, name) {
					v := []float64{0}
					in.Sampler.Transform(v)
					at[in.Name] = expr.Const(v[0])
				}
			}
			given[end] = slices.Clone(w.values)
			for d, slope := 0, g; d < len(w.values); d, slope = d+1, slope.Diff(name) {
				has := slope.Substitute(at)
				if alike(has, given[end][d]) {
					has, given[end][d] = expr.Const(0), expr.Const(0)
				}
				there[end] = append(there[end], has)
			}
		}
		if len(given[0])+len(given[1]) > 0 {
			g = g.Minus(p.hermite(axis, there)).Plus(p.hermite(axis, given))
		}
	}
	return g
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
