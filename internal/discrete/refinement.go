package discrete

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/words"
	"pihc/pde"
	"pihc/sim"
)

const (
	// mostRefinedWork bounds values times steps of one solution: some minutes.
	mostRefinedWork = 3e7
	// cheapWork is that of a solution which is computed for a better estimate alone: about a second.
	cheapWork = 1e6
	// mostFailures is on how many grids, one after another, no solution is found before it is given up.
	mostFailures = 3
	// mostOrder and mostRatio bound what a refinement is taken to leave of an error: no more than its order of accuracy says (leastRatio),
	// and of distances that do not fall no limit is known.
	mostOrder, mostRatio = 6, 0.9
	// farApart is a distance of two solutions from which a ratio to the next distance tells nothing yet: of it all is taken to come again.
	farApart = 0.05
	// LeastTolerance is what steps of Newton's method and rounding allow.
	LeastTolerance = 1e-8
)

// A Refinement solves the rows of a problem on finer and finer grids, until an estimate of the error at the points of a grid is within a
// tolerance.
//
// Points in space double from one level to the next (they triple where an axis has cells, or an input jumps half way between
// points), and so do steps in time where the problem is marched, each as far as its part of the error asks for. The error in space is
// what the distances between three levels, of which each is a part of the one before, leave to come (Richardson's argument, with the
// order of the rows where the distances fall faster than it says); of two levels it is their whole distance. The error in time is the distance to the solution with twice the steps, on the grid
// of the same points in space or that before it.
type Refinement struct {
	problem   *pde.Problem
	grid      *grid.Grid
	tolerance float64
	factors   []int // by axis, from one level to the next
	marches   bool
	implicit  bool // all is by Radau IIA, also what could be by its linear part
	chosen    bool // whether implicit is decided
	effort    effort
	most      float64 // work of one solution
	// leastRatio is what a refinement leaves of an error by the order of the rows.
	leastRatio float64
	solvers    map[level]*Solver
}

// level is how often space, or all that is solved at once, and steps in time are refined.
type level struct{ space, time int }

// Refined is a solution on the points of the grid that was asked for.
type Refined struct {
	Field       []float64 // (C, P)
	Grid        *grid.Grid
	Steps       int     // in time; of Newton's method where all is solved at once
	Space, Time float64 // parts of the estimate of its relative L2 error (grid.RelativeL2); infinite before two solutions are there
	Short       error   // why the estimate is above the tolerance: nil where it is not
}

// Error is the estimate of the relative L2 error.
func (r *Refined) Error() float64 { return r.Space + r.Time }

// Missed finds expressions of the rows that no point of a solution's grid sees, for the inputs of samples.
func (r *Refinement) Missed(x *Refined, samples [][]float64) []pde.Unresolved {
	return missed(r.problem, r.grid, x.Grid, samples)
}

// NewRefinement prepares solutions on g, to a tolerance of LeastTolerance or more.
func NewRefinement(p *pde.Problem, g *grid.Grid, tolerance float64) *Refinement {
	r := &Refinement{problem: p, grid: g, tolerance: tolerance, marches: Marches(p), effort: thorough, most: mostRefinedWork, solvers: map[level]*Solver{}}
	r.effort.tolerance = min(max(tolerance*1e-3, thorough.tolerance), 1e-6) // steps add up what each leaves
	r.effort.halvings = 20
	if r.marches && !slices.ContainsFunc(g.Axes[1:], func(a grid.Axis) bool { return a.Boundary != grid.Periodic }) {
		r.effort.dense = 200 // a circulant preconditioner is at hand
	}
	jumps := slices.ContainsFunc(p.PlaceInputs(g), func(in pde.PlacedInput) bool { return in.Nearest })
	for i, a := range g.Axes {
		factor := 2
		if a.Boundary == grid.Cells || jumps && (i > 0 || !r.marches) {
			factor = 3
		}
		r.factors = append(r.factors, factor)
	}
	r.leastRatio = math.Pow(float64(slices.Min(r.factors)), -r.order())
	return r
}

// order is the least order of accuracy of the rows' terms along the axes that levels refine, mostOrder at most.
func (r *Refinement) order() float64 {
	order := mostOrder
	for _, term := range r.problem.Terms {
		for _, x := range term.Factors {
			if r.marches && x.Axis == r.problem.Axes[0].Name {
				continue
			}
			switch {
			case term.PerStep:
				order = min(order, 2)
			case x.Edge != nil && x.Edge.Derivative > 0:
				order = min(order, x.Edge.Points-x.Edge.Derivative)
			case x.Edge == nil && x.Scheme.Derivative > 0 && x.Scheme.Side == 0:
				order = min(order, cmp.Or(x.Scheme.Order, 2))
			case x.Edge == nil && x.Scheme.Derivative > 0:
				order = min(order, cmp.Or(x.Scheme.Order, 1))
			}
		}
	}
	return float64(max(1, order))
}

// refine is by how much a level refines each axis.
func (r *Refinement) refine(at level) []int {
	out := make([]int, len(r.factors))
	for i, f := range r.factors {
		times := at.space
		if i == 0 && r.marches {
			times = at.time
		}
		out[i] = 1
		for range times {
			out[i] *= f
		}
	}
	return out
}

// gridFactors is refine, of a grid whose steps in time are no points where they choose themselves.
func (r *Refinement) gridFactors(at level) []int {
	out := r.refine(at)
	if r.marches && !r.implicit {
		out[0] = 1
	}
	return out
}

// work is the number of values of a level, of all steps in time.
func (r *Refinement) work(at level) float64 {
	work := float64(len(r.problem.Unknowns))
	for _, a := range refined(r.grid, r.refine(at)).Axes {
		work *= float64(a.Points)
	}
	return work
}

// solver returns that of a level, made when it is first used.
func (r *Refinement) solver(at level) (*Solver, error) {
	if s := r.solvers[at]; s != nil {
		return s, nil
	}
	var s *Solver
	var err error
	if r.marches && !r.implicit {
		if s, err = r.exponential(at); err != nil {
			return nil, err
		}
	}
	if s == nil {
		s, err = newSolver(r.problem, r.grid, r.refine(at), r.effort)
	}
	if err == nil && s.whole != nil && !s.whole.direct && at.space > 0 {
		err = fmt.Errorf("%w by a factored matrix", ErrTooLarge) // GMRES without a preconditioner has little hope on finer grids
	}
	if err == nil {
		r.solvers[at] = s
	}
	return s, err
}

// exponential is the solver of a level by the linear part of the problem, whose steps in time choose themselves: to a sixteenth of the tolerance
// of the level before: of less than a tenth, so that steps do change (they double where errors are below that), and to at most half an interval
// for each level, so that they change where the interval bounds them. It is nil, and stays so, where the problem has no such form.
func (r *Refinement) exponential(at level) (*Solver, error) {
	refine := r.refine(at)
	refine[0] = 1
	s, err := newSolver(r.problem, r.grid, refine, r.effort)
	if err != nil || s.march == nil {
		r.implicit = true
		return nil, nil // the implicit one says why
	}
	if s.semilinear = newSemilinear(s.march); s.semilinear == nil {
		r.implicit = true
		return nil, nil
	}
	s.tolerance, s.halvings = math.Ldexp(r.tolerance, -4*at.time), at.time
	return s, nil
}

// Stepper names the method that the last solution is by: ETDRK4, Radau IIA or Newton.
func (r *Refinement) Stepper() string {
	switch {
	case !r.marches:
		return "Newton"
	case r.implicit:
		return "Radau IIA"
	}
	return "ETDRK4"
}

// Solve solves for the inputs of a sample, and calls each with every solution. Where the tolerance is not met within some minutes of work, or finer
// grids only get further from each other, the last one before estimates grew is returned; so it is, with ctx's error, when ctx ends. Other errors
// leave no solution.
func (r *Refinement) Solve(ctx context.Context, inputs []float64, each func(Refined)) (Refined, error) {
	best, err := r.search(ctx, inputs, each)
	if !r.implicit && (errors.Is(err, errShortSteps) || errors.Is(best.Short, errShortSteps)) {
		r.implicit, r.solvers = true, map[level]*Solver{}
		return r.search(ctx, inputs, each)
	}
	return best, err
}

func (r *Refinement) search(ctx context.Context, inputs []float64, each func(Refined)) (Refined, error) {
	s := &search{Refinement: r, inputs: inputs, fields: map[level][]float64{}, steps: map[level]int{}}
	var best, sound Refined // the last one, and the last before estimates grew
	var unsolved error      // of the first grid
	failures, worse := 0, 0
	if r.marches && !r.implicit && !r.chosen {
		if err := s.choose(ctx); err != nil {
			return best, err
		}
	}
	for at := (level{}); ; {
		err := s.solve(ctx, at)
		if err == nil && r.marches && at == (level{}) {
			err = s.solve(ctx, level{0, 1})
		}
		switch {
		case err == nil:
		case errors.Is(err, ErrNotConverged) && best.Field == nil && failures < mostFailures && r.work(r.finerInAll(at)) <= r.most:
			unsolved = cmp.Or(unsolved, err)
			failures++
			at = r.finerInAll(at)
			continue
		case unsolved != nil && best.Field == nil && ctx.Err() == nil:
			return sound, unsolved
		case best.Field != nil && ctx.Err() == nil:
			if best.Error() <= s.tolerance { // a third level was for the estimate alone
				return best, nil
			}
			sound.Short = fmt.Errorf("on %s: %w", words.Shape(refined(s.grid, s.refine(at)).Shape()), err)
			return sound, nil
		default:
			return sound, cmp.Or(ctx.Err(), err) // a level may fail after ctx ended
		}
		before := best
		best = s.refined(at)
		each(best)
		next, err := s.next(ctx, at, &best)
		if before.Field != nil && best.Error() >= worsening*before.Error() {
			worse++
		} else {
			worse, sound = 0, best
		}
		switch {
		case err != nil:
			return sound, cmp.Or(ctx.Err(), err)
		case next == at && best.Short == nil:
			return best, nil
		case next == at:
			sound.Short = best.Short
			return sound, nil
		case worse == 2:
			sound.Short = errors.New("solutions on finer grids are further from each other: rounding, divided by powers of the steps? Higher `order` of derivatives needs fewer points")
			return sound, nil
		}
		at = next
	}
}

// worsening is how many times as large an estimate is that finer grids have made worse.
const worsening = 4

// finer is the level with one refinement more in space.
func (l level) finer() level { return level{l.space + 1, l.time} }

// finerInAll is the level with one refinement more in space and, where it is marched, in time.
func (r *Refinement) finerInAll(at level) level {
	at = at.finer()
	if r.marches {
		at.time++
	}
	return at
}

// search is the solutions for one sample.
type search struct {
	*Refinement
	inputs []float64
	fields map[level][]float64
	steps  map[level]int
}

// solve adds the solution of a level.
func (s *search) solve(ctx context.Context, at level) error {
	if s.fields[at] != nil {
		return nil
	}
	solver, err := s.solver(at)
	if err != nil {
		return err
	}
	field, steps, err := s.run(ctx, solver, s.fields[level{at.space - 1, at.time}], &meter{})
	if err == nil {
		s.fields[at], s.steps[at] = field, steps
	}
	return err
}

// run solves by one solver.
func (s *search) run(ctx context.Context, solver *Solver, near []float64, work *meter) ([]float64, int, error) {
	type result struct {
		field []float64
		stats sim.Stats
		err   error
	}
	if err := ctx.Err(); err != nil { // a quick one could be done before anyone looks
		return nil, 0, err
	}
	done := make(chan result, 1) // one that nobody waits for any longer ends by itself
	go func() {
		field := make([]float64, len(s.problem.Unknowns)*s.grid.Size())
		stats, err := solver.metered(field, s.inputs, near, work)
		done <- result{field, stats, err}
	}()
	select {
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	case x := <-done:
		if x.err == nil && !finite(x.field) {
			x.err = fmt.Errorf("%w: it is not finite", ErrNotConverged)
		}
		return x.field, x.stats.Steps, x.err
	}
}

// next is the level to solve on after a solution, or the same one where that does or nothing finer can be had. Before an estimate within the tolerance
// is believed, its part in time is measured on this grid in space or the one before it, and its part in space by three levels, or
// more until their distances are settled, where another costs little.
func (s *search) next(ctx context.Context, at level, best *Refined) (level, error) {
	if best.Error() <= s.tolerance && s.marches {
		if err := s.solveTime(ctx, at); err != nil {
			return at, err
		}
		*best = s.refined(at)
	}
	met := best.Error() <= s.tolerance
	if met && (at.space > 1 && s.settled(at) || s.work(at.finer()) > cheapWork) {
		return at, nil
	}
	next := at.finer()
	if !met && best.Time > best.Space {
		next = level{at.space, at.time + 1}
		if err := s.solveTime(ctx, next); err != nil {
			return at, err
		}
	}
	if s.work(next) > s.most {
		if !met {
			best.Short = fmt.Errorf("%s takes more than some minutes", words.Shape(refined(s.grid, s.refine(next)).Shape()))
		}
		return at, nil
	}
	return next, nil
}

// solveTime adds what tells the error in time of a level, on a coarser grid in space.
func (s *search) solveTime(ctx context.Context, at level) error {
	for _, l := range []level{{max(at.space-1, 0), at.time}, {max(at.space-1, 0), at.time + 1}} {
		if err := s.solve(ctx, l); err != nil && !errors.Is(err, ErrNotConverged) {
			return err
		}
	}
	return nil
}

// refined is the solution of a level with its estimate.
func (s *search) refined(at level) Refined {
	return Refined{
		Field: s.fields[at], Grid: refined(s.grid, s.gridFactors(at)), Steps: s.steps[at],
		Space: s.spaceError(at), Time: s.timeError(at),
	}
}

// between is the distance between two levels that differ by one refinement in space, with as many steps in time as both have at most.
func (s *search) between(space, time int) (distance float64, ok bool) {
	for ; time >= 0; time-- {
		coarse, fine := s.fields[level{space, time}], s.fields[level{space + 1, time}]
		if coarse != nil && fine != nil {
			return s.distance(coarse, fine), true
		}
	}
	return 0, false
}

func (s *search) distance(u, finer []float64) float64 {
	return grid.RelativeL2(u, finer, len(s.problem.Unknowns))
}

func (s *search) spaceError(at level) float64 {
	last, ok := s.between(at.space-1, at.time)
	if !ok {
		return math.Inf(1)
	}
	ratio := 0.5
	if before, ok := s.between(at.space-2, at.time); ok && before > 0 {
		if ratio = min(max(last/before, s.leastRatio), mostRatio); before > farApart {
			ratio = max(ratio, 0.5)
		}
	}
	return last * ratio / (1 - ratio)
}

// settled reports whether the distances behind an estimate fall as the order of the rows says, or slower: a luckier one may be chance.
func (s *search) settled(at level) bool {
	last, ok := s.between(at.space-1, at.time)
	before, two := s.between(at.space-2, at.time)
	if first, three := s.between(at.space-3, at.time); three && before > 0.7*first && before > s.tolerance {
		return false // they have only begun to fall
	}
	return ok && two && before <= farApart && (last >= 0.5*s.leastRatio*before || last <= 0.01*s.tolerance)
}

func (s *search) timeError(at level) float64 {
	if !s.marches {
		return 0
	}
	for space := at.space; space >= 0; space-- {
		if u, finer := s.fields[level{space, at.time}], s.fields[level{space, at.time + 1}]; u != nil && finer != nil {
			return s.distance(u, finer)
		}
	}
	return math.Inf(1)
}
