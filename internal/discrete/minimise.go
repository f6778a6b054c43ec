package discrete

import (
	"fmt"
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// A minimiser finds the values of the whole grid, but for those that the ansatz fixes, of which the
// sum of all squared rows is least: by Gauss-Newton steps, damped until they reduce the sum, of a
// factored band, or shortened until they do, of conjugate gradients.
type minimiser struct {
	*state
	each, work, most float64 // values of all terms; those formed so far, and the most of these
	first            float64 // square of the first gradient
	band             *normalBand
	p, g, r, q       []float64 // of conjugate gradients: fields (C, P), and one number a row
}

// maxNormal is the most multiplications of one factorisation that are tried.
const maxNormal = 2e10

func newMinimiser(sys *pde.System, scale func(set *pde.RowSet) float64, sample []float64, most float64) *minimiser {
	return newMinimised(sys, scale).minimiser(sample, most)
}

// minimised are the rows of a minimiser, for any sample.
type minimised struct {
	*system
	each   float64 // values of all terms
	banded bool    // the normal equations are a band
}

func newMinimised(sys *pde.System, scale func(set *pde.RowSet) float64) minimised {
	solved := *sys
	solved.Sets = nil
	m := minimised{system: &system{sys: &solved, rates: make([]int, len(sys.Terms)), fields: len(sys.Problem.Unknowns), slices: 1, points: sys.Grid.Size(), normal: true}}
	s := m.system
	for _, set := range sys.Sets {
		own := *set
		own.Points = set.Solved
		solved.Sets = append(solved.Sets, &own)
		s.roots = append(s.roots, math.Sqrt(scale(set)))
		s.count += len(own.Points)
		m.each += float64(len(own.Points) * len(own.Terms))
	}
	s.fixed = fixes(sys)
	means := false // to be fixed, of which each has every value
	for c, u := range sys.Problem.Unknowns {
		means = means || u.Ansatz.RemoveMean && !keptByRows(sys.Problem, c)
	}
	if dense, ok := s.tabulate(0); ok && !dense && !means {
		s.arrange(true)
		m.banded, s.direct = true, s.normalWork() <= maxNormal
	}
	return m
}

// normalWork is the number of products of a factorisation of the normal equations.
func (s *system) normalWork() float64 {
	width := float64(s.lower + 1)
	return float64(s.values()) * width * width
}

// minimiser is that of a sample.
func (m minimised) minimiser(sample []float64, most float64) *minimiser {
	return &minimiser{state: m.newState(sample), each: m.each, most: most}
}

// keptByRows reports whether the rows keep the mean of an unknown, so that an ansatz that removes it from the basis fixes nothing more.
func keptByRows(p *pde.Problem, unknown int) bool {
	q := *p
	q.Unknowns = slices.Clone(q.Unknowns)
	q.Unknowns[unknown].Ansatz.RemoveMean = false
	_, kept, err := q.KeepsMean(unknown)
	return err == nil && kept
}

// minimise moves u, near the minimiser, to it, and returns the number of steps.
func (m *minimiser) minimise(u []float64) (steps int, err error) {
	// A step is the last that is no more than this part of the distance gone so far, of which no more digits are shown, or reduces the sum
	// by no more: conjugate gradients leave an error of their own.
	part, flat, rounding, shortest := 1e-3, 1e-12, 0.0, 1.0
	const held = 1e-21 // of the first sum: all rows hold, as well as their normal equations let them
	if !m.direct {
		flat, rounding, shortest = 1e-9, 1e-12, 1e-3
		if 200*float64(len(u)*len(m.sys.Terms)) > m.most { // a hundred iterations
			return 0, fmt.Errorf("%w: %d values", ErrLarge, len(u))
		}
	}
	start, trial, damping := slices.Clone(u), make([]float64, len(u)), 0.0
	cost := m.squares(u)
	first := cost
	for steps < 60 && damping <= 1e8 {
		steps++
		found := true
		if m.direct {
			found = m.factored(damping)
		} else if !m.conjugate() {
			return steps, fmt.Errorf("%w: step %d ran out of iterations", ErrLarge, steps)
		}
		next, length := math.Inf(1), 1.0
		for ; found && length >= shortest; length /= 2 {
			copy(trial, u)
			kernel.Axpy64(trial, -length, m.step)
			if next = m.squares(trial); next <= cost*(1+rounding) {
				break
			}
		}
		if !(next <= cost*(1+rounding)) {
			if !m.direct {
				break
			}
			damping = max(10*damping, 1e-10)
			m.squares(u)
			continue
		}
		copy(u, trial)
		moved := length * grid.Norm(m.step)
		if moved <= part*grid.Distance(u, start) || moved <= 1e-8*grid.Norm(u) || cost-next <= flat*cost || next <= held*first {
			return steps, nil
		}
		cost = next
		if damping /= 10; damping < 1e-14 {
			damping = 0
		}
	}
	return steps, fmt.Errorf("%w in %d steps", ErrFloor, steps)
}

// squares is the sum of all squared rows at u.
func (m *minimiser) squares(u []float64) float64 {
	m.work += m.each
	return m.evaluate(u)
}

// factored sets the step by a factorisation of JᵀJ, whose diagonal grows by the damping. Values of
// which no row says anything, fixed ones among them, stay.
func (m *minimiser) factored(damping float64) bool {
	if m.band == nil {
		m.band = &normalBand{n: m.values(), band: m.lower, a: make([]float64, m.values()*(m.lower+1))}
	}
	clear(m.band.a)
	m.work += float64(m.values()) * float64(m.lower) * float64(m.lower)
	m.addNormal(m.band.add)
	units := m.band.equilibrate()
	if !m.band.factor(damping) {
		return false
	}
	x := m.columns()
	kernel.Mul64(x, x, units)
	m.band.solve(x)
	kernel.Mul64(x, x, units)
	m.fromColumns(x)
	return true
}

// conjugate sets the step by conjugate gradients on the normal equations (CGLS; Hestenes & Stiefel
// 1952; Björck 1996, section 7.4), to a gradient of 1e-6 of the first of all, and reports whether
// that was found. It takes any term, and more iterations the worse the rows are conditioned.
func (m *minimiser) conjugate() bool {
	const tolerance = 1e-6
	if m.p == nil {
		m.p, m.g, m.r, m.q = make([]float64, len(m.step)), make([]float64, len(m.step)), make([]float64, m.count), make([]float64, m.count)
	}
	clear(m.step)
	copy(m.r, m.res)
	m.gradient(m.g, m.r)
	copy(m.p, m.g)
	gamma := kernel.SumSquares64(m.g)
	if m.first == 0 {
		m.first = gamma
	}
	for gamma > tolerance*tolerance*m.first {
		if m.work > m.most {
			return false
		}
		m.work += 2 * m.each
		m.times(m.q, m.p)
		alpha := gamma / kernel.SumSquares64(m.q)
		kernel.Axpy64(m.step, alpha, m.p)
		kernel.Axpy64(m.r, -alpha, m.q)
		m.gradient(m.g, m.r)
		next := kernel.SumSquares64(m.g)
		for i, v := range m.g {
			m.p[i] = v + next/gamma*m.p[i]
		}
		gamma = next
	}
	return !math.IsNaN(gamma)
}

// gradient sets g to Jᵀ r at the last evaluation, as far as the ansatz can express it.
func (m *minimiser) gradient(g, r []float64) {
	row := 0
	for k, rows := range m.rows {
		for j, z := range rows.Terms.Values {
			kernel.Mul64(z, m.out[k][1+j], r[row:][:len(z)])
		}
		row += len(rows.Points)
	}
	clear(g)
	m.gatherer.Scatter([][]float64{g}, m.lists[:1], 0)
	for p, fixed := range m.fixed {
		if fixed {
			g[p] = 0
		}
	}
	m.sys.HoldMeans(g)
}
