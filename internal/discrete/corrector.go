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
	sys, times, h := c.rows.sys, c.march.times, c.rows.sys.Grid.Axes[0].Step()
	left, size, n, unknowns := leftOf(sys, field, sample), sys.Grid.Size(), c.march.step.points, len(sys.Problem.Unknowns)
	// at is (C, P) at time k, as values of an instant (C, n).
	at := func(of []float64, k int) []float64 {
		out := make([]float64, 0, n*unknowns)
		for f := range unknowns {
			out = append(out, of[f*size+k*n:][:n]...)
		}
		return out
	}
	// derivative is that of the field in time, or itself, at t not before time k, by the points about it.
	derivative := func(order, k int, t float64) []float64 {
		points := min(5, len(times))
		first := min(max(k-points/2, 0), len(times)-points)
		out := make([]float64, n*unknowns)
		for j, w := range grid.Fornberg(order, t, times[first:first+points]) {
			if w != 0 {
				kernel.Axpy64(out, w, at(field, first+j))
			}
		}
		return out
	}
	parts := c.march.parts
	h /= float64(parts)
	// before are corrections now and before, the last first.
	var before [][]float64
	if c.march.start == nil {
		before = [][]float64{make([]float64, n*unknowns)}
	} else {
		st := c.march.start.newState(sample)
		u, x := make([]float64, st.values()), make([]float64, st.values())
		c.march.start.setSlices(u, at(field, 0), 0)
		if c.march.second {
			c.march.start.setSlices(u, derivative(1, 0, times[0]), 1)
			st.rate[1] = []float64{0, 1, 0, 0}
		}
		if !st.correct(x, u, [orders][]float64{}, [orders][]float64{}, left, times[0]) {
			return false
		}
		now := c.march.start.slicesAt(x, 0)
		before = [][]float64{now}
		if c.march.second { // as they would have been before
			rate := c.march.start.slicesAt(x, 1)
			for k := 1; k <= 2; k++ {
				earlier := slices.Clone(now)
				kernel.Axpy64(earlier, -float64(k)*h, rate)
				before = append(before, earlier)
			}
		}
	}
	st := c.march.step.newState(sample)
	clear(dst)
	for k := range times {
		for i := range parts {
			if k == 0 {
				break
			}
			t := times[k-1] + float64(i+1)*h
			x := make([]float64, n*unknowns)
			var about, known [orders][]float64
			for m, weights := range backward(len(before), h) {
				if st.rate[m] = nil; m == 0 || weights == nil {
					continue
				}
				st.rate[m], known[m], about[m] = weights[:1], make([]float64, len(x)), derivative(m, k, t)
				for j, w := range weights[1:] {
					kernel.Axpy64(known[m], w, before[j])
				}
			}
			if len(before) > 2 { // a guess
				kernel.Axpy64(x, 2, before[0])
				kernel.Axpy64(x, -1, before[1])
			}
			if !st.correct(x, derivative(0, k, t), about, known, left, t) {
				return false
			}
			before = append([][]float64{x}, before[:min(len(before), 2)]...)
		}
		for f := range unknowns {
			copy(dst[f*size+k*n:][:n], before[0][f*n:])
		}
	}
	c.Hold(dst, make([]float64, len(dst)))
	sys.HoldMeans(dst)
	return finite(dst)
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

// setSlices sets slice i of all fields of values to an instant (C, points).
func (s *system) setSlices(values, instant []float64, i int) {
	for f := range s.fields {
		copy(s.slice(values, f, i), instant[f*s.points:])
	}
}

// slicesAt is slice i of all fields, as an instant.
func (s *system) slicesAt(values []float64, i int) (out []float64) {
	for f := range s.fields {
		out = append(out, s.slice(values, f, i)...)
	}
	return out
}

// correct moves x to the solution of the rows of an instant, linearised at values u with derivatives in time, for what is left of them and what is known of those of the
// solution.
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
	if st.factors && !st.factor() {
		return false
	}
	if !st.factors {
		st.invert()
	}
	st.known = known
	st.differentiate(x, false)
	st.linear(st.res)
	row := 0
	for k, set := range st.sys.Sets {
		own := st.res[row:][:len(set.Points)]
		left.add(own, set, st.instants)
		row += copy(st.out[k][0], own)
	}
	if !st.solve() {
		return false
	}
	kernel.Axpy64(x, -1, st.step)
	return finite(x)
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
