package discrete

import (
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/band"
	"pihc/internal/kernel"
	"pihc/internal/sparse"
	"pihc/pde"
)

// orders are those of derivatives along time: none, first and second.
const orders = 3

// state is one solve's memory.
type state struct {
	*system
	gatherer *grid.Gatherer
	rows     []*pde.RowValues             // per set
	out      [][][]float64                // per set: the rows and derivatives last evaluated
	lists    [orders][]grid.Rows[float64] // per order and set: the terms of the order

	rate  [orders][]float64 // (slices·slices) weights of the slices; nil: none
	known [orders][]float64 // the part that is known (fields, slices, points); nil: none
	w     [orders][]float64 // the fields terms act on

	instants []float64 // of the slices
	source   *source   // added to the rows, or nil

	factors    bool // steps are by a factored matrix, else by GMRES
	dear       bool // the last by GMRES took more work
	lu         matrix
	inverse    *inverse       // memory of a preconditioner
	incomplete *incomplete    // likewise
	near       preconditioner // that of the matrix, or nil
	// Of several unknowns, once it is balanced: those of the unknowns and of the sets of rows.
	units, rowUnits []float64
	step, res       []float64
	steps           int     // of Newton's method, in all
	work            float64 // so far
	most            float64 // after which Newton's method gives up; 0: none
}

// matrix is that of a Gauss-Newton step: a band, or divided.
type matrix interface {
	Clear()
	Add(i, j int, v float64)
	Factor() bool
	Solve(x []float64)
}

// newState prepares a solve for the inputs of a sample.
func (s *system) newState(sample []float64) *state {
	st := &state{system: s, factors: s.direct && !s.tries, gatherer: s.sys.NewGatherer(nil), res: make([]float64, s.count), step: make([]float64, s.values()), out: make([][][]float64, len(s.sys.Sets))}
	for _, set := range s.sys.Sets {
		rows := s.sys.NewRowValues(set, set.Points)
		rows.SetInputs(sample)
		st.rows = append(st.rows, rows)
		for m := range orders {
			list := rows.Terms
			list.Values = make([][]float64, len(set.Terms))
			for j, t := range set.Terms {
				if s.rates[t] == m {
					list.Values[j] = rows.Terms.Values[j]
				}
			}
			st.lists[m] = append(st.lists[m], list)
		}
	}
	return st
}

// setTimes gives the slices their times.
func (st *state) setTimes(times []float64) {
	st.instants = times
	for _, rows := range st.rows {
		for e, x := range rows.Set.Extras {
			if x.Axis == 0 {
				for i, p := range rows.Points {
					rows.Extras[e][i] = times[int(p)/st.points]
				}
			}
		}
	}
}

// differentiate sets w to the fields that terms act on; linear leaves out what is known.
func (st *state) differentiate(u []float64, linear bool) {
	st.w[0] = u
	for m := 1; m < len(st.w); m++ {
		if st.rate[m] == nil {
			continue
		}
		if st.w[m] == nil {
			st.w[m] = make([]float64, len(u))
		}
		w := st.w[m]
		if clear(w); !linear && st.known[m] != nil {
			copy(w, st.known[m])
		}
		for f := range st.fields {
			for i := range st.slices {
				for k := range st.slices {
					if c := st.rate[m][i*st.slices+k]; c != 0 {
						kernel.Axpy64(st.slice(w, f, i), c, st.slice(u, f, k))
					}
				}
			}
		}
	}
}

// gather applies all terms to the fields.
func (st *state) gather() {
	st.work += st.costs.terms
	for m, w := range st.w {
		if w != nil {
			grid.Gather(st.gatherer, w, 1, st.lists[m])
		}
	}
}

// evaluate sets the rows and their derivatives at u and returns the sum of squares.
func (st *state) evaluate(u []float64) float64 {
	st.work += st.costs.rows
	st.differentiate(u, false)
	st.gather()
	row := 0
	for k, rows := range st.rows {
		st.out[k] = rows.EvalTerms(1)
		if st.source != nil {
			st.source.add(st.out[k][0], rows.Set, st.instants)
		}
		for _, out := range st.out[k] {
			if st.roots != nil {
				kernel.MulScalar64(out, st.roots[k], out)
			}
		}
		row += copy(st.res[row:], st.out[k][0])
	}
	return st.cost()
}

// jacobian visits the entries of one row at the last evaluation, but for those of fixed values.
func (st *state) jacobian(set, i int, visit func(unknown int, v float64)) {
	rows := st.sys.Sets[set]
	p := rows.Points[i]
	slice, own := int(p)/st.points, p%int32(st.points)
	for j, t := range rows.Terms {
		g := st.out[set][1+j][i]
		if g == 0 {
			continue
		}
		m, of := st.rates[t], st.sys.Terms[t].Of
		st.eachEntry(t, own, func(q int32, coef float64) {
			at := st.column(of, q)
			if st.fixed != nil && st.fixed[of*st.points+int(q)] {
				return
			}
			if m == 0 {
				visit(at+slice, g*coef)
				return
			}
			for k := range st.slices {
				if c := st.rate[m][slice*st.slices+k]; c != 0 {
					visit(at+k, g*coef*c)
				}
			}
		})
	}
}

// factor builds and factors the matrix of a Gauss-Newton step at the last evaluation.
func (st *state) factor() bool {
	st.work += st.costs.factor
	switch {
	case st.lu != nil:
		st.lu.Clear()
	case st.tree != nil:
		st.lu = sparse.New(st.tree, st.fields*st.slices)
	default:
		st.lu = band.New(st.values(), st.lower, st.upper)
	}
	if st.normal {
		st.addNormal(st.lu.Add)
		return st.lu.Factor()
	}
	st.eachRow(func(k, i, row int) {
		st.jacobian(k, i, func(q int, v float64) { st.lu.Add(st.at[row], q, v) })
	})
	return st.lu.Factor()
}

// addNormal adds up JᵀJ.
func (st *state) addNormal(add func(i, j int, v float64)) {
	var at []int
	var values []float64
	st.eachRow(func(k, i, _ int) {
		at, values = at[:0], values[:0]
		st.jacobian(k, i, func(q int, v float64) { at, values = append(at, q), append(values, v) })
		for a, p := range at {
			for b, q := range at {
				add(p, q, values[a]*values[b])
			}
		}
	})
}

// served is how many steps of Newton's method a factored matrix serves, times how much less time its products take than those of GMRES.
const served = 16

// solve sets step to the Gauss-Newton step of the last evaluation, by the matrix
// factored or by GMRES.
func (st *state) solve() bool {
	if !st.factors {
		before := st.work
		if st.near != nil && st.gmres() && finite(st.step) {
			st.dear = st.tries && st.work-before > st.costs.solve+st.costs.factor/served
			return true
		}
		if st.tries {
			st.factors = true
			return st.factor() && st.solve()
		}
		st.near = nil // it may be far: what multiplies the terms from its means, say
		return st.gmres()
	}
	st.work += st.costs.solve
	x := st.columns()
	st.lu.Solve(x)
	st.fromColumns(x)
	return finite(st.step)
}

// columns is the right-hand side of a step: the rows or, of the normal equations, Jᵀ times them.
func (st *state) columns() []float64 {
	x := make([]float64, st.values())
	st.eachRow(func(k, i, row int) {
		r := st.out[k][0][i]
		if st.normal {
			st.jacobian(k, i, func(q int, v float64) { x[q] += v * r })
		} else {
			x[st.at[row]] = r
		}
	})
	return x
}

// fromColumns sets the step from the solution, by column.
func (st *state) fromColumns(x []float64) {
	for p := range st.order {
		for f := range st.fields {
			at := st.column(f, int32(p))
			for k := range st.slices {
				st.slice(st.step, f, k)[p] = x[at+k]
			}
		}
	}
}

// newton solves the rows from u in place by Gauss-Newton steps, shortened until they
// reduce the sum of squares. A factored matrix is kept while it serves, also from
// one call to the next unless fresh is asked for.
func (st *state) newton(u []float64, fresh bool) bool {
	first := slices.Clone(u)
	st.factors = st.factors || st.dear
	if st.descend(u, fresh) {
		return true
	}
	if !st.factors && st.tries {
		copy(u, first)
		st.factors = true
		return st.newton(u, true)
	}
	if !st.factors || st.normal {
		return false
	}
	copy(u, first)
	if st.whole {
		return st.approach(u, 100, 1e-4)
	}
	return st.approach(u, 10, 0.1) // else a shorter step in time is the better way
}

// descend is newton by steps that reduce the sum of squares.
func (st *state) descend(u []float64, fresh bool) bool {
	const iterations, shortest = 40, 1e-3
	trial := make([]float64, len(u))
	st.evaluate(u)
	st.balance(u)
	cost := st.cost()
	if math.IsNaN(cost) || math.IsInf(cost, 0) || st.spent() {
		return false
	}
	if !st.factors {
		st.invert()
	}
	stale := st.factors && st.lu != nil && !fresh
	if st.factors && !stale && !st.factor() {
		return false
	}
	last := math.Inf(1)
	for range iterations {
		st.steps++
		if st.spent() || !st.solve() {
			return false
		}
		size, norm := st.norm(st.step), st.norm(u)
		scale, next := 1.0, 0.0
		for ; scale >= shortest; scale /= 2 {
			copy(trial, u)
			kernel.Axpy64(trial, -scale, st.step)
			next = st.evaluate(trial)
			if next <= cost*(1+1e-9) || size*scale <= 1e-8*norm {
				break
			}
		}
		poor := scale < shortest || math.IsNaN(next)
		if poor && !stale {
			return st.negligible()
		}
		if poor {
			st.evaluate(u)
		} else {
			copy(u, trial)
			cost = next
			if st.enough(size*scale, norm) {
				return true
			}
		}
		slow := poor || scale < 1 || size > 0.05*last
		last = size
		if st.factors && slow {
			if !st.factor() {
				return false
			}
		}
		stale = st.factors && !slow
	}
	return st.negligible()
}

// approach is newton by steps that are shortened until the next one, by the same matrix, is the shorter. The units of the rows do not matter to
// that, where a wall that is not met yet may let the sum of squares fall by short steps alone (the natural monotonicity test; P. Deuflhard,
// Newton Methods for Nonlinear Problems, Springer 2004, section 3.3).
func (st *state) approach(u []float64, iterations int, shortest float64) bool {
	st.evaluate(u)
	trial, step, scale := make([]float64, len(u)), make([]float64, len(u)), 1.0
	for range iterations {
		st.steps++
		if st.spent() || !finite(st.res) || !st.factor() || !st.solve() {
			return false
		}
		copy(step, st.step)
		size := st.norm(step)
		for scale = min(1, 4*scale); ; scale /= 2 {
			if scale < shortest {
				return false
			}
			copy(trial, u)
			kernel.Axpy64(trial, -scale, step)
			st.evaluate(trial)
			if finite(st.res) && st.solve() && st.norm(st.step) <= (1-scale/4)*size {
				break
			}
		}
		copy(u, trial)
		if st.enough(size*scale, st.norm(u)) {
			return true
		}
	}
	return false
}

// spent reports whether no work is left.
func (st *state) spent() bool { return st.most > 0 && st.work > st.most }

// enough reports whether values of a norm are as near as is wanted after a step of Newton's method of a size. What GMRES leaves of a
// step is a small part of it, and what Newton's method leaves of its square.
func (st *state) enough(size, norm float64) bool {
	tolerance := st.effort.tolerance
	if !st.factors && st.near != nil && norm > 0 {
		tolerance /= max(st.effort.left*10, size/norm)
	}
	return size <= tolerance*norm
}

// negligible reports whether the last step is rounding of rows whose values are near 1, about a solution that is zero.
func (st *state) negligible() bool { return math.Sqrt(kernel.SumSquares64(st.step)) <= 1e-13 }

func finite(x []float64) bool {
	s := kernel.SumSquares64(x)
	return !math.IsNaN(s) && !math.IsInf(s, 0)
}
