package discrete

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// system is the rows of a problem over some slices of space: all times at once, or
// the stages of one step. The values are those of every field (unknown of the problem) at
// all points, (fields, slices, points). Term j acts on the derivative of order rates[j]
// along time, which is a combination of the slices and of known fields.
type system struct {
	sys    *pde.System
	rates  []int // per term of sys
	fields int
	slices int
	points int   // of a slice
	count  int   // of rows
	normal bool  // steps solve the normal equations: rows outnumber the values
	owner  []int // per set of rows, for GMRES: the field whose values they belong to

	// Of a minimiser, or nil: what each set's rows are multiplied by, and the values that stay.
	roots []float64
	fixed []bool

	stencils []stencils // per term of sys: within a slice; nil rows where it has none
	order    []int      // position of each point of a slice in the matrix
	lower    int        // bandwidths
	upper    int
	direct   bool // by a factored matrix, else by GMRES
}

// stencils are the rows of one term within a slice.
type stencils struct {
	start []int32
	point []int32
	coef  []float64
}

// Limits of direct solves: multiplications of a factorisation, and unknowns of
// systems with dense rows.
const (
	maxDirect = 3e9
	maxDense  = 1600
)

func newSystem(sys *pde.System, rates []int) (*system, error) {
	s := &system{sys: sys, rates: rates, fields: len(sys.Problem.Unknowns), slices: 1, points: sys.Grid.Size(), direct: true}
	return s, s.prepare()
}

// values is the number of values of all fields.
func (s *system) values() int { return s.fields * s.slices * s.points }

// slice returns field f in slice i of values.
func (s *system) slice(values []float64, f, i int) []float64 {
	at := (f*s.slices + i) * s.points
	return values[at : at+s.points : at+s.points]
}

// column is the place among the columns of the matrix of field f at a point of the
// first slice; those of the other slices follow.
func (s *system) column(f int, p int32) int { return (s.order[p]*s.fields + f) * s.slices }

// newStages is for a grid whose first axis counts slices.
func newStages(sys *pde.System, rates []int) (*system, error) {
	s := &system{sys: sys, rates: rates, fields: len(sys.Problem.Unknowns), slices: sys.Grid.Axes[0].Points, direct: true}
	s.points = sys.Grid.Size() / s.slices
	return s, s.prepare()
}

func (s *system) prepare() error {
	for _, set := range s.sys.Sets {
		s.count += len(set.Points)
	}
	s.normal = s.count != s.values()
	dense, ok := s.tabulate(maxDense)
	if ok {
		s.arrange(!dense)
		work := float64(s.values()) * float64(s.lower) * float64(s.lower+s.upper)
		ok = dense || work <= maxDirect
	}
	if s.direct = ok; !ok {
		return s.checkIterative()
	}
	return nil
}

// tabulate lists the stencils of the terms that rows use, and of those without, where there are at
// most so many values, all rows; ok is false where there are more.
func (s *system) tabulate(mostDense int) (dense, ok bool) {
	used := make([]bool, len(s.sys.Terms))
	for _, set := range s.sys.Sets {
		for _, t := range set.Terms {
			used[t] = true
		}
	}
	n := s.points
	s.stencils = make([]stencils, len(s.sys.Terms))
	for t, term := range s.sys.Terms {
		if !used[t] {
			continue
		}
		list := &s.stencils[t]
		sparse, ok := term.Operator.(grid.Sparse)
		if !ok {
			if s.values() > mostDense {
				return dense, false
			}
			dense = true
			*list = denseRows(term.Operator, n, s.slices)
			continue
		}
		list.start = []int32{0}
		for p := range n {
			if term.Defined(p) {
				sparse.Row(p, func(q int, coef float64) {
					list.point, list.coef = append(list.point, int32(q)), append(list.coef, coef)
				})
			}
			list.start = append(list.start, int32(len(list.coef)))
		}
	}
	return dense, true
}

// arrange orders the columns of the matrix, of sparse rows so that it has a narrow band.
func (s *system) arrange(sparse bool) {
	s.order = make([]int, s.points)
	for p := range s.order {
		s.order[p] = p
	}
	if sparse {
		s.order = cuthillMcKee(s.graph())
	}
	s.bandwidths()
}

// ErrTooLarge says that neither way of solving fits.
var ErrTooLarge = errors.New("too large to be solved at once")

func (s *system) checkIterative() error {
	if s.normal {
		return fmt.Errorf("%w: %d rows for %d values want least squares by a factored matrix", ErrTooLarge, s.count, s.values())
	}
	if s.owner = s.owners(); s.owner == nil {
		return fmt.Errorf("%w: no unknown has one row at each of its points", ErrTooLarge)
	}
	return nil
}

// owners gives every set of rows a field whose terms it has, so that each value has one row;
// nil if there is no such choice. Fields come first whose derivative in time the set has,
// then those of which it has the most terms.
func (s *system) owners() []int {
	sets := s.sys.Sets
	owner, taken := make([]int, len(sets)), make([]bool, s.values())
	size := s.slices * s.points
	var choose func(k int) bool
	choose = func(k int) bool {
		if k == len(sets) {
			return true
		}
		scored := make([]int, s.fields)
		for _, t := range sets[k].Terms {
			scored[s.sys.Terms[t].Of] += 1 + 1000*s.rates[t]
		}
		for range s.fields {
			f := slices.Index(scored, slices.Max(scored))
			if scored[f] <= 0 {
				return false
			}
			scored[f] = 0
			own := taken[f*size : (f+1)*size]
			if slices.ContainsFunc(sets[k].Points, func(p int32) bool { return own[p] }) {
				continue
			}
			mark := func(v bool) {
				for _, p := range sets[k].Points {
					own[p] = v
				}
			}
			mark(true)
			if owner[k] = f; choose(k + 1) {
				return true
			}
			mark(false)
		}
		return false
	}
	if !choose(0) {
		return nil
	}
	return owner
}

// denseRows applies an operator without stencils to unit fields.
func denseRows(op grid.Operator, n, count int) stencils {
	list := stencils{start: make([]int32, n+1), point: make([]int32, n*n), coef: make([]float64, n*n)}
	unit, column := make([]float64, n*count), make([]float64, n*count)
	for q := range n {
		unit[q] = 1
		op.Apply(column, unit)
		unit[q] = 0
		for p := range n {
			list.point[p*n+q], list.coef[p*n+q] = int32(q), column[p]
		}
	}
	for p := range n + 1 {
		list.start[p] = int32(p * n)
	}
	return list
}

// graph connects the points that appear in one row.
func (s *system) graph() [][]int32 {
	near := make([][]int32, s.points)
	s.eachRow(func(set *pde.RowSet, i int) {
		own := set.Points[i] % int32(s.points)
		for _, t := range set.Terms {
			s.eachEntry(t, own, func(q int32, _ float64) {
				if q != own {
					near[own], near[q] = append(near[own], q), append(near[q], own)
				}
			})
		}
	})
	for p, list := range near {
		slices.Sort(list)
		near[p] = slices.Compact(list)
	}
	return near
}

func (s *system) eachRow(visit func(set *pde.RowSet, i int)) {
	for _, set := range s.sys.Sets {
		for i := range set.Points {
			visit(set, i)
		}
	}
}

// eachEntry visits the stencil of a term at a point of a slice.
func (s *system) eachEntry(term int, p int32, visit func(q int32, coef float64)) {
	list := &s.stencils[term]
	for e := list.start[p]; e < list.start[p+1]; e++ {
		visit(list.point[e], list.coef[e])
	}
}

// rowPositions gives every row the place of its own point, so that a square
// matrix is near its diagonal.
func (s *system) rowPositions() []int {
	keys, at := make([]int, 0, s.count), make([]int, s.count)
	s.eachRow(func(set *pde.RowSet, i int) {
		p := int(set.Points[i])
		keys = append(keys, s.column(0, int32(p%s.points))+p/s.points)
	})
	for place, row := range sortedBy(keys) {
		at[row] = place
	}
	return at
}

func (s *system) bandwidths() {
	var at []int
	if !s.normal {
		at = s.rowPositions()
	}
	row := 0
	s.eachRow(func(set *pde.RowSet, i int) {
		lo, hi := math.MaxInt, 0
		own := set.Points[i] % int32(s.points)
		for _, t := range set.Terms {
			s.eachEntry(t, own, func(q int32, _ float64) {
				at := s.column(s.sys.Terms[t].Of, q)
				lo, hi = min(lo, at), max(hi, at+s.slices-1)
			})
		}
		if lo <= hi {
			if s.normal {
				s.lower, s.upper = max(s.lower, hi-lo), max(s.upper, hi-lo)
			} else {
				s.lower, s.upper = max(s.lower, at[row]-lo), max(s.upper, hi-at[row])
			}
		}
		row++
	})
}

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

	lu        *band
	at        []int // place of every row in the matrix
	step, res []float64
}

// newState prepares a solve for the inputs of a sample.
func (s *system) newState(sample []float64) *state {
	st := &state{system: s, gatherer: s.sys.NewGatherer(nil), res: make([]float64, s.count), step: make([]float64, s.values()), out: make([][][]float64, len(s.sys.Sets))}
	for _, set := range s.sys.Sets {
		rows := s.sys.NewRowValues(set, set.Points)
		rows.SetInitial(sample)
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
	if s.direct && !s.normal {
		st.at = s.rowPositions()
	}
	return st
}

// setTimes gives the slices their times.
func (st *state) setTimes(times []float64) {
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
	for m, w := range st.w {
		if w != nil {
			grid.Gather(st.gatherer, w, 1, st.lists[m])
		}
	}
}

// evaluate sets the rows and their derivatives at u and returns the sum of squares.
func (st *state) evaluate(u []float64) float64 {
	st.differentiate(u, false)
	st.gather()
	row := 0
	for k, rows := range st.rows {
		st.out[k] = rows.EvalTerms(pde.FirstDerivatives)
		for _, out := range st.out[k] {
			if st.roots != nil {
				kernel.MulScalar64(out, st.roots[k], out)
			}
		}
		row += copy(st.res[row:], st.out[k][0])
	}
	return kernel.SumSquares64(st.res)
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
	st.lu = newBand(st.values(), st.lower, st.upper)
	if st.normal {
		st.addNormal(st.lu.add)
		return st.lu.factor()
	}
	row := 0
	for k, set := range st.sys.Sets {
		for i := range set.Points {
			st.jacobian(k, i, func(q int, v float64) { st.lu.add(st.at[row], q, v) })
			row++
		}
	}
	return st.lu.factor()
}

// addNormal adds up JᵀJ.
func (st *state) addNormal(add func(i, j int, v float64)) {
	var at []int
	var values []float64
	for k, set := range st.sys.Sets {
		for i := range set.Points {
			at, values = at[:0], values[:0]
			st.jacobian(k, i, func(q int, v float64) { at, values = append(at, q), append(values, v) })
			for a, p := range at {
				for b, q := range at {
					add(p, q, values[a]*values[b])
				}
			}
		}
	}
}

// solve sets step to the Gauss-Newton step of the last evaluation, by the matrix
// factored or by GMRES.
func (st *state) solve() bool {
	if !st.direct {
		return st.gmres()
	}
	x := st.columns()
	st.lu.solve(x)
	st.fromColumns(x)
	return finite(st.step)
}

// columns is the right-hand side of a step: the rows or, of the normal equations, Jᵀ times them.
func (st *state) columns() []float64 {
	x := make([]float64, st.values())
	row := 0
	for k, set := range st.sys.Sets {
		for i := range set.Points {
			r := st.out[k][0][i]
			if st.normal {
				st.jacobian(k, i, func(q int, v float64) { x[q] += v * r })
			} else {
				x[st.at[row]] = r
			}
			row++
		}
	}
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
	const iterations, shortest = 40, 1e-3
	trial := make([]float64, len(u))
	cost := st.evaluate(u)
	if math.IsNaN(cost) || math.IsInf(cost, 0) {
		return false
	}
	stale := st.direct && st.lu != nil && !fresh
	if st.direct && !stale && !st.factor() {
		return false
	}
	last := math.Inf(1)
	for range iterations {
		if !st.solve() {
			return false
		}
		size, norm := math.Sqrt(kernel.SumSquares64(st.step)), math.Sqrt(kernel.SumSquares64(u))
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
			return false
		}
		if poor {
			st.evaluate(u)
		} else {
			copy(u, trial)
			cost = next
			if size*scale <= 1e-9*norm+1e-13 {
				return true
			}
		}
		slow := poor || scale < 1 || size > 0.05*last
		last = size
		if st.direct && slow {
			if !st.factor() {
				return false
			}
		}
		stale = st.direct && !slow
	}
	return false
}

func finite(x []float64) bool {
	s := kernel.SumSquares64(x)
	return !math.IsNaN(s) && !math.IsInf(s, 0)
}
