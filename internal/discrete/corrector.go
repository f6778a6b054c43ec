package discrete

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// A Corrector finds steps of Newton's method over all grid values of a field. Where rows are finite differences and a factorisation is not much work they are those of the
// Gauss-Newton method for the rows that a Floor minimises, else they are marched (March). Several goroutines may use it at once.
type Corrector struct {
	rows   minimised
	banded bool      // the normal equations are factored
	bands  sync.Pool // of *normalBand, that this is done with
	march  *march    // with one instant a step, or nil
	most   float64   // work of a march
}

// freeDamping is the damping of steps where values are free.
const freeDamping = 1e-10

// ErrNoSteps says why there is no Corrector.
var ErrNoSteps = errors.New("no steps of Newton's method")

// NewCorrector returns ErrNoSteps, with the reason, where steps are not found either way in about so many products. scale is that of MeasureFloor.
func NewCorrector(sys *pde.System, scale func(set *pde.RowSet) float64, most float64) (*Corrector, error) {
	c := &Corrector{rows: newMinimised(sys, scale), most: most}
	c.banded = c.rows.banded && c.rows.normalWork() <= most
	march, err := marchOfInstants(sys, c.rows.fixed)
	if err == nil {
		if s := march.step; s.direct && !s.tries && float64(march.parts*len(march.times))*(s.costs.factor+s.costs.solve) > most {
			err = fmt.Errorf("to march takes more than %.2g products", most)
		} else {
			c.march = march
		}
	}
	if !c.banded && c.march == nil {
		why := fmt.Sprintf("least squares of all values take more than %.2g products", most)
		if !c.rows.banded {
			why = "a term is no finite difference, or the ansatz fixes a mean"
		}
		return nil, fmt.Errorf("%w: %s; and %w", ErrNoSteps, why, err)
	}
	if !c.banded { // what a march has no need of
		c.rows.stencils, c.rows.order, c.rows.at = nil, nil, nil
	}
	return c, nil
}

// Marches reports whether there is a March.
func (c *Corrector) Marches() bool { return c.march != nil }

// substeps are those of a march from one time of the grid to the next, by the highest order of a derivative in time: rows are mostly of higher order in time than steps.
var substeps = [orders]int{1, 2, 4}

// marchOfInstants is a march of one instant a step, where rows give each what the ansatz does not fix at the first time, and no more.
func marchOfInstants(sys *pde.System, fixed []bool) (*march, error) {
	e := rough
	e.dense, e.left = 200, 1e-2
	axis := sys.Grid.Axes[0]
	m, why, err := newMarch(sys.Problem, sys.Grid.Axes, axis.Coordinates(), substeps[min(slices.Max(TimeOrders(sys.Problem)), orders-1)], 1, e)
	switch {
	case err != nil:
		return nil, err
	case m == nil && why == "":
		return nil, fmt.Errorf("%s is no time", axis.Name)
	case m == nil:
		return nil, errors.New(why)
	case m.second && m.start == nil:
		return nil, errors.New("no condition is the velocity at the first time")
	case len(m.times) < 3:
		return nil, fmt.Errorf("%s has %d points", axis.Name, len(m.times))
	case m.step.normal:
		return nil, errors.New("rows of an instant outnumber its values")
	}
	size, n := sys.Grid.Size(), m.step.points
	held := make([]bool, size) // by a condition
	for _, set := range sys.Sets {
		if set.Kind != pde.ResidualRows {
			for _, p := range set.Points {
				held[p] = true
			}
		}
	}
	for p := range sys.FieldSize() {
		switch fixes := fixed != nil && fixed[p]; {
		case p%size < n && m.start == nil && !fixes:
			return nil, errors.New("no condition gives all values at the first time")
		case p%size >= n && fixes && !held[p%size]:
			return nil, errors.New("the ansatz fixes values that no condition is about")
		}
	}
	return m, nil
}

// Correct sets dst (C, P) to a step for a field and the inputs of a sample; ok is false where there is none that is finite. Where values are free the normal equations are
// damped.
func (c *Corrector) Correct(dst, field, sample []float64) (ok bool) {
	if !c.banded {
		return c.March(dst, field, sample, 1)
	}
	m := c.rows.minimiser(sample, 0)
	if band, ok := c.bands.Get().(*normalBand); ok {
		m.band = band
	}
	defer func() { c.bands.Put(m.band) }()
	if square := m.squares(field); math.IsNaN(square) || math.IsInf(square, 0) {
		return false
	}
	if !m.factored(0) || !finite(m.step) {
		m.squares(field)
		if !m.factored(freeDamping) || !finite(m.step) {
			return false
		}
	}
	for i, v := range m.step {
		dst[i] = -v
	}
	return true
}

// March is Correct by a march through the times of the grid, from instant to instant, with what the field leaves of the rows as a source: backward differences of second
// order (of second derivatives: J. C. Houbolt, J. Aeronaut. Sci. 17, 1950) take the place of the rows' own differences in time (deferred correction: H. J. Stetter,
// Numerische Mathematik 29, 1978). A field that does not vary in time is corrected to the solution by such differences. There are so many times the usual steps. ok is false where there is no march, too.
func (c *Corrector) March(dst, field, sample []float64, steps int) (ok bool) {
	if c.march == nil {
		return false
	}
	sys, times := c.rows.sys, c.march.times
	x := correction{march: c.march, field: field, left: leftOf(sys, field, sample), h: sys.Grid.Axes[0].Step() / float64(steps*c.march.parts)}
	if !x.begin(sample) {
		return false
	}
	st := c.march.step.newState(sample)
	st.most = c.most * float64(steps)
	for k := range times {
		for i := range steps * c.march.parts {
			if k > 0 && !x.advance(st, k, times[k-1]+float64(i+1)*x.h) {
				return false
			}
		}
		n := c.march.step.points
		for f := range sys.Problem.Unknowns {
			copy(dst[(f*len(times)+k)*n:][:n], x.before[0][f*n:])
		}
	}
	c.Hold(dst, make([]float64, len(dst)))
	sys.HoldMeans(dst)
	return finite(dst)
}

// A correction is a step of Newton's method on its way through the times of a grid.
type correction struct {
	*march
	field  []float64 // (C, P)
	left   *source   // what it leaves of the rows
	h      float64
	before [][]float64 // the correction now and at steps before, the last first: (C, points) of an instant
}

// at is the field near time k, or a derivative in time, by five times.
func (x *correction) at(order, k int, t float64) []float64 {
	count, n := min(5, len(x.times)), x.step.points
	first := min(max(k-count/2, 0), len(x.times)-count)
	out := make([]float64, x.step.values())
	for j, w := range grid.Fornberg(order, t, x.times[first:first+count]) {
		for f := range x.step.fields {
			kernel.Axpy64(out[f*n:][:n], w, x.field[(f*len(x.times)+first+j)*n:][:n])
		}
	}
	return out
}

// begin corrects the first time, where there are rows for that.
func (x *correction) begin(sample []float64) bool {
	s := x.start
	if s == nil {
		x.before = [][]float64{make([]float64, x.step.values())}
		return true
	}
	st, u, d := s.newState(sample), make([]float64, s.values()), make([]float64, s.values())
	for i := range s.slices {
		derivative := x.at(i, 0, x.times[0])
		for f := range s.fields {
			copy(s.slice(u, f, i), derivative[f*s.points:])
		}
	}
	if x.second {
		st.rate[1] = []float64{0, 1, 0, 0}
	}
	if !st.correct(d, u, [orders][]float64{}, [orders][]float64{}, x.left, x.times[0]) {
		return false
	}
	for back := range 2*s.slices - 1 { // of second order also as it would have been before
		now := make([]float64, 0, x.step.values())
		for f := range s.fields {
			now = append(now, s.slice(d, f, 0)...)
			if back > 0 {
				kernel.Axpy64(now[f*s.points:], -float64(back)*x.h, s.slice(d, f, 1))
			}
		}
		x.before = append(x.before, now)
	}
	return true
}

// advance goes on to t, after time k-1 and at time k at the latest.
func (x *correction) advance(st *state, k int, t float64) bool {
	d := make([]float64, st.values())
	var about, known [orders][]float64
	for m, weights := range backward(len(x.before), x.h) {
		if weights == nil || m == 2 && !x.second {
			continue
		}
		st.rate[m], known[m], about[m] = weights[:1], make([]float64, len(d)), x.at(m, k, t)
		for j, w := range weights[1:] {
			kernel.Axpy64(known[m], w, x.before[j])
		}
	}
	if len(x.before) > 2 { // a guess
		kernel.Axpy64(d, 2, x.before[0])
		kernel.Axpy64(d, -1, x.before[1])
	}
	if !st.correct(d, x.at(0, k, t), about, known, x.left, t) {
		return false
	}
	x.before = append([][]float64{d}, x.before[:min(len(x.before), 2)]...)
	return true
}

// backward are differences in time, by order of the derivative: the weights of what is now and of the last values before, as far as these go.
func backward(values int, h float64) (all [orders][]float64) {
	if all[1] = []float64{1 / h, -1 / h}; values > 1 {
		all[1] = []float64{1.5 / h, -2 / h, 0.5 / h}
	}
	if values > 2 {
		all[2] = []float64{2 / (h * h), -5 / (h * h), 4 / (h * h), -1 / (h * h)}
	}
	return all
}

// mostIterations bounds those of an instant.
const mostIterations = 8

// correct moves x to what values u of an instant, with derivatives in time, are to be corrected by so that their rows change by what is left of them; known is of the
// derivatives of x. A factored matrix is kept while it serves.
func (st *state) correct(x, u []float64, about, known [orders][]float64, left *source, t float64) bool {
	st.setTimes(slices.Repeat([]float64{t}, st.slices))
	for m, derivative := range about {
		if st.known[m] = derivative; derivative != nil {
			kernel.Axpy64(derivative, -st.rate[m][0], u)
		}
	}
	st.evaluate(u)
	wanted := slices.Clone(st.res)
	kernel.MulScalar64(wanted, -1, wanted)
	row := 0
	for _, set := range st.sys.Sets {
		left.add(wanted[row:][:len(set.Points)], set, st.instants)
		row += len(set.Points)
	}
	for m := range known {
		if known[m] != nil {
			kernel.Axpy64(st.known[m], 1, known[m])
		}
	}
	norm := 0.0
	corrected, last, stale := make([]float64, len(u)), math.Inf(1), st.factors && st.lu != nil
	for range mostIterations {
		copy(corrected, u)
		kernel.Axpy64(corrected, 1, x)
		st.evaluate(corrected)
		row := 0
		for _, out := range st.out {
			kernel.Axpy64(out[0], 1, wanted[row:][:len(out[0])])
			row += copy(st.res[row:], out[0])
		}
		if !finite(st.res) {
			return false
		}
		if st.balance(u); norm == 0 {
			norm = st.norm(u)
		}
		switch {
		case st.factors && !stale && !st.factor():
			return false
		case !st.factors:
			st.invert()
		}
		if st.spent() || !st.factors && st.near == nil && !st.tries || !st.solve() { // GMRES without a preconditioner has little hope
			return false
		}
		size := st.norm(st.step)
		if stale && size > 0.2*last {
			if !st.factor() || !st.solve() {
				return false
			}
			size = st.norm(st.step)
		}
		kernel.Axpy64(x, -1, st.step)
		if stale, last = st.factors, size; size <= max(st.effort.left*st.norm(x), 1e-9*norm) {
			return finite(x)
		}
	}
	return finite(x) && last <= max(0.1*st.norm(x), 1e-6*norm)
}

// leftOf is what a field leaves of the rows.
func leftOf(sys *pde.System, field, sample []float64) *source {
	s := &source{axis: sys.Grid.Axes[0], rows: map[sourceKey][][]float64{}}
	n := sys.Grid.Size() / s.axis.Points
	for _, set := range sys.Sets {
		at := make([][]float64, s.axis.Points)
		for i, v := range sys.NewRowValues(set, set.Points).Eval(0, field, sample)[0] {
			k := int(set.Points[i]) / n
			at[k] = append(at[k], v)
		}
		s.rows[sourceKey{set.Kind, set.Name}] = at
	}
	return s
}

// Hold sets the values of a field (C, P) that the ansatz fixes to those of another.
func (c *Corrector) Hold(field, to []float64) {
	for p, fixed := range c.rows.fixed {
		if fixed {
			field[p] = to[p]
		}
	}
}
