package xla

import (
	"pihc/model"
	"pihc/pde"
)

// loss writes the loss of a field on the grid, as engine.Loss states it.
type loss struct {
	*terms
	spec     model.LossSpec
	weights  []float64 // per set
	inputs   value     // of the sample
	crossing []value   // per residual: rows that cross a border (m); none where all count alike
}

// lossRows is a set of rows evaluated over the grid.
type lossRows struct {
	set    *pde.RowSet
	points value   // (m)
	z      []value // (m) per term
	out    []value // r and its derivatives
	r      value   // with the factor of rows that cross a border
	factor value   // (m), or nothing
	weight value   // ∂L/∂r = weight r
}

// evaluated is the loss of a field.
type evaluated struct {
	loss    value
	squares []value // mean squares of the sets, without factors
	sets    []lossRows
}

// evaluate evaluates the loss of u (C P, 1); factor, a scalar, multiplies the rows that
// cross a border, nothing: 1.
func (l *loss) evaluate(u, factor value) evaluated {
	e := evaluated{loss: l.scalar(0, f64)}
	wholes := l.wholes(u)
	for i, set := range l.system.Sets {
		m := len(set.Points)
		r := lossRows{set: set, points: l.integers(set.Points, m)}
		var constants []value
		for _, j := range set.Terms {
			z := l.reshape(l.rowsOf(j, u, wholes[j], r.points), m)
			r.z, constants = append(r.z, l.total(z, l.offset(j, r.points))), append(constants, value{})
		}
		r.out = l.terms.evaluate(set, r.z, constants, l.extras(set, r.points, l.inputs))
		r.r = r.out[0]
		plain := l.sum(l.mul(r.r, r.r), 0)
		sum := plain
		if set.Kind == pde.ResidualRows && factor.exists() && l.crossing != nil {
			r.factor = l.where(l.crossing[i], l.spread(factor, []int{m}), l.full(1, f64, m))
			r.r = l.mul(r.r, r.factor)
			sum = l.sum(l.mul(r.r, r.r), 0)
		}
		w := l.weights[i]
		if l.spec.Form == "norm" {
			norm := l.sqrt(sum)
			e.loss = l.add(e.loss, l.times(norm, w))
			r.weight = l.where(l.than("GT", norm, 0), l.div(l.scalar(w, f64), norm), l.scalar(0, f64))
		} else {
			e.loss = l.add(e.loss, l.times(sum, w/float64(m)))
			r.weight = l.scalar(2*w/float64(m), f64)
		}
		e.squares = append(e.squares, l.times(plain, 1/float64(m)))
		e.sets = append(e.sets, r)
	}
	return e
}

// gradient is scale·∂L/∂u (C P, 1).
func (l *loss) gradient(e evaluated, scale value) value {
	pulled := map[int]value{} // what every term pulls back, on the grid
	for _, r := range e.sets {
		g := l.mul(r.r, l.mul(r.weight, scale))
		if r.factor.exists() {
			g = l.mul(g, r.factor)
		}
		for i, j := range r.set.Terms {
			v := l.put(l.full(0, f64, l.terms.points, 1), r.points, l.mul(g, r.out[1+i]), false)
			pulled[j] = l.total(pulled[j], v)
		}
	}
	return l.pullBackAll(pulled, 1)
}

// distance is loss.data times the mean over unknowns of |u - truth|²/|truth|², and its
// gradient, of fields (C P, 1); given, a scalar, multiplies both. Without a solution to be
// relative to it is the mean square of u.
func (l *loss) distance(u, truth, given value) (total, gradient value) {
	unknowns := len(l.system.Problem.Unknowns)
	d := l.reshape(l.sub(u, truth), unknowns, l.terms.points)
	t := l.reshape(truth, unknowns, l.terms.points)
	size := l.sum(l.mul(t, t), 1)
	size = l.where(l.than("EQ", size, 0), l.full(float64(l.terms.points), f64, unknowns), size)
	factor := l.mul(l.div(l.full(l.spec.Data/float64(unknowns), f64, unknowns), size), given)
	total = l.sum(l.mul(factor, l.sum(l.mul(d, d), 1)), 0)
	gradient = l.times(l.mul(d, l.spread(factor, d.shape, 0)), 2)
	return total, l.reshape(gradient, u.size(), 1)
}

// pullBackAll is the sum of the transposes of terms, of fields (P, F): (C P, F).
func (t *terms) pullBackAll(pulled map[int]value, fields int) value {
	var all []value
	for c := range t.system.Problem.Unknowns {
		sum := t.full(0, f64, t.points, fields)
		for j, term := range t.system.Terms {
			if y, ok := pulled[j]; ok && term.Of == c {
				sum = t.add(sum, t.pullBack(j, y))
			}
		}
		all = append(all, sum)
	}
	return t.concatenate(0, all...)
}
