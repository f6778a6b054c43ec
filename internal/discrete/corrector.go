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
// Gauss-Newton method for the rows that a Floor minimises. Else the linearised problem is marched through the times of the grid with what the field leaves of the rows as a
// source, by backward differences of second order (of second derivatives: J. C. Houbolt, J. Aeronaut. Sci. 17, 1950) in the place of the rows' own differences in time (deferred correction: H. J. Stetter, Numerische Mathematik 29, 1978).
// Several goroutines may use it at once.
type Corrector struct {
	rows  minimised
	bands sync.Pool // of *normalBand, that steps are made with
	march *march    // with one instant a step, or nil
}

// freeDamping is the damping of steps where values are free.
const freeDamping = 1e-10

// ErrNoSteps says why there is no Corrector.
var ErrNoSteps = errors.New("no steps of Newton's method")

// NewCorrector returns ErrNoSteps, with the reason, where steps are not found either way in about so many products. scale is that of MeasureFloor.
func NewCorrector(sys *pde.System, scale func(set *pde.RowSet) float64, most float64) (*Corrector, error) {
	c := &Corrector{rows: newMinimised(sys, scale)}
	if c.rows.banded && c.rows.normalWork() <= most {
		return c, nil
	}
	var err error
	if c.march, err = marchOfInstants(sys); err != nil {
		why := fmt.Sprintf("least squares of all values take %.2g products, more than %.2g", c.rows.normalWork(), most)
		if !c.rows.banded {
			why = "a term is no finite difference, or the ansatz fixes a mean"
		}
		return nil, fmt.Errorf("%w: %s; and %w", ErrNoSteps, why, err)
	}
	if s := c.march.step; s.direct {
		if work := float64(c.march.parts*len(c.march.times)) * (s.costs.factor + s.costs.solve); work > most && !s.tries {
			return nil, fmt.Errorf("%w: one takes %.2g products, more than %.2g", ErrNoSteps, work, most)
		}
	}
	return c, nil
}

// substeps are those of a march from one time of the grid to the next, by the highest order of a derivative in time: rows are mostly of higher order in time than steps.
var substeps = [orders]int{1, 2, 4}

// marchOfInstants is a march of one instant a step.
func marchOfInstants(sys *pde.System) (*march, error) {
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
	}
	return m, nil
}

// Correct sets dst (C, P) to a step for a field and the inputs of a sample; ok is false where there is none that is finite. Where values are free the normal equations are
// damped.
func (c *Corrector) Correct(dst, field, sample []float64) (ok bool) {
	if c.march != nil {
		return c.marched(dst, field, sample)
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

// marched is Correct by a march.
func (c *Corrector) marched(dst, field, sample []float64) (ok bool) {
	sys, times := c.rows.sys, c.march.times
	x := correction{march: c.march, field: field, left: leftOf(sys, field, sample), h: sys.Grid.Axes[0].Step() / float64(c.march.parts)}
	if !x.begin(sample) {
		return false
	}
	st := c.march.step.newState(sample)
	for k := range times {
		for i := range c.march.parts {
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

// correct moves x to the solution of the rows of an instant, linearised at values u with derivatives in time, for what is left of them and what is known of those of the
// solution. A factored matrix is kept while it serves.
func (st *state) correct(x, u []float64, about, known [orders][]float64, left *source, t float64) bool {
	st.setTimes(slices.Repeat([]float64{t}, st.slices))
	for m, derivative := range about {
		if st.known[m] = derivative; derivative != nil {
			kernel.Axpy64(derivative, -st.rate[m][0], u)
		}
	}
	if st.evaluate(u); !finite(st.res) {
		return false
	}
	st.balance(u)
	stale := st.factors && st.lu != nil && !st.normal
	if st.factors && !stale && !st.factor() {
		return false
	}
	if !st.factors {
		st.invert()
	}
	st.known = known
	first := 0.0
	for last := math.Inf(1); ; {
		st.linearise(x, left)
		if !st.solve() {
			return false
		}
		size := st.norm(st.step)
		if first = max(first, size); stale && !(size <= 0.2*last) && !math.IsInf(last, 1) {
			if stale = false; !st.factor() || !st.solve() {
				return false
			}
		}
		kernel.Axpy64(x, -1, st.step)
		if !stale || size <= st.effort.left*first {
			return finite(x)
		}
		last = size
	}
}

// linearise sets the rows to their derivative along x, with what is left of them.
func (st *state) linearise(x []float64, left *source) {
	st.differentiate(x, false)
	st.linear(st.res)
	row := 0
	for k, set := range st.sys.Sets {
		own := st.res[row:][:len(set.Points)]
		left.add(own, set, st.instants)
		row += copy(st.out[k][0], own)
	}
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
