package discrete

import (
	"context"
	"errors"
	"math"
	"math/bits"

	"pihc/grid"
)

// A choice between exponential steps and Radau's is by work that is counted, in additions and multiplications, on the coarsest grid: of a
// clock's seconds one file would get other bits from one run to the next. Constants are those of two processors and one cache, to a factor of two.

// errWork says that a solution was given up since it took more work than it was given.
var errWork = errors.New("more work than it was given")

// meter is the work of one solution, and the most that it may take, 0 for all that it needs.
type meter struct{ spent, most float64 }

// costs are the work of what Newton's method does on a system.
type costs struct{ terms, rows, factor, solve, precondition, project, invert float64 }

// transformCost is the work of one real transform of n values, with its traffic in memory.
func transformCost(n int) float64 { return float64(n) * (2.5*float64(bits.Len(uint(n))) + 10) }

// rowCost is the work of an expression at a point that reads so many terms.
func rowCost(reads int) float64 { return float64(20 + 10*reads) }

func (s *system) setCosts() {
	n, values, size := float64(s.points), float64(s.values()), float64(s.fields*s.slices)
	c := costs{terms: 4 * float64(s.slices) * values, project: 4 * values}
	transform := transformCost(s.points)
	for _, set := range s.sys.Sets {
		c.rows += float64(len(set.Points)) * rowCost(len(set.Terms))
		for _, t := range set.Terms {
			if _, ok := s.sys.Terms[t].Operator.(grid.Sparse); ok {
				c.terms += 20 * n * float64(s.slices)
			} else {
				c.terms += 2 * transform * float64(s.slices)
			}
		}
	}
	if s.direct {
		if both := float64(s.lower + s.upper); s.tree == nil {
			c.factor, c.solve = 2*s.products+10*values*both, 2*values*(float64(s.lower)+both)
		} else {
			_, numbers := s.tree.Work(s.fields * s.slices)
			c.factor, c.solve = 2*s.products+10*numbers, 4*numbers
		}
	}
	if s.circulant != nil {
		modes := float64(s.circulant.modes)
		c.precondition, c.invert = 2*size*transform+modes*8*size*size+8*values, modes*8*size*size*size
	}
	if (!s.direct || s.tries) && s.circulant == nil && s.order != nil {
		const neighbours = 8 // about as many blocks as a point has
		c.precondition, c.invert = neighbours*2*size*values, neighbours*4*size*size*values
	}
	s.costs = c
}

// leastWork is what a march at least takes: two steps of Newton's method for each of Radau's, of two products by GMRES.
func (s *Solver) leastWork() float64 {
	c := s.march.step.costs
	steps := float64((len(s.march.times)-1)*s.march.parts + s.march.effort.grading - 1)
	newton := c.rows + c.terms + c.solve
	if !s.march.step.direct || s.march.step.tries {
		newton += 2*(c.terms+c.precondition) - c.solve
	}
	return steps * 2 * newton
}

const (
	// tried is how many times the least work of Radau's steps the exponential ones may take before the former are tried.
	tried = 16
	// radauOrder is the order of Radau's steps.
	radauOrder = 5
)

// choose takes, before the first solution, the method that takes less work to the tolerance, and keeps what it solved. Exponential steps,
// whose length goes by the tolerance, win at once where they take no more than Radau's at least do. Otherwise the coarsest grid is marched by
// both, and the distance d of the solutions says how often Radau's steps have to be halved: d falls 32 times by each.
func (s *search) choose(ctx context.Context) error {
	r := s.Refinement
	r.chosen = true
	e, err := r.exponential(level{})
	if err != nil || e == nil {
		return err
	}
	implicit := func(at level) (*Solver, error) { return newSolver(r.problem, r.grid, r.refine(at), r.effort) }
	i, err := implicit(level{})
	if err != nil {
		return nil
	}
	least := i.leastWork()
	exponential := meter{most: tried * least}
	ue, se, err := s.run(ctx, e, nil, &exponential)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errShortSteps):
		r.implicit = true
		return nil
	case err == nil:
		s.fields[level{}], s.steps[level{}] = ue, se
		if exponential.spent <= least {
			return nil
		}
		radau := meter{most: exponential.spent}
		ui, si, err := s.run(ctx, i, nil, &radau)
		if err == nil && radau.spent*s.halved(ui, ue) < exponential.spent {
			r.implicit, r.solvers = true, map[level]*Solver{{}: i}
			s.fields[level{}], s.steps[level{}] = ui, si
		}
		return ctx.Err()
	case !errors.Is(err, errWork):
		return nil // the search says so
	}
	fine := level{0, 1}
	j, err := implicit(fine)
	if err != nil {
		return nil
	}
	var radau, half meter
	ui, si, err := s.run(ctx, i, nil, &radau)
	if err != nil {
		return ctx.Err()
	}
	uj, sj, err := s.run(ctx, j, nil, &half)
	if err != nil {
		return ctx.Err()
	}
	exponential = meter{most: radau.spent * s.halved(ui, uj)}
	if ue, se, err = s.run(ctx, e, nil, &exponential); err == nil {
		s.fields[level{}], s.steps[level{}] = ue, se
		return nil
	}
	if ctx.Err() == nil {
		r.implicit, r.solvers = true, map[level]*Solver{{}: i, fine: j}
		s.fields = map[level][]float64{{}: ui, fine: uj}
		s.steps = map[level]int{{}: si, fine: sj}
	}
	return ctx.Err()
}

// halved is by how much work grows until Radau's steps leave of a distance what the tolerance allows.
func (s *search) halved(u, better []float64) float64 {
	d := s.distance(u, better)
	if !(d > s.tolerance) {
		return 1
	}
	return math.Exp2(math.Ceil(math.Log2(d/s.tolerance) / radauOrder))
}
