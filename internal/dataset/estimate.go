package dataset

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"pihc/grid"
	"pihc/internal/discrete"
	"pihc/pde"
	"pihc/sim"
)

// An Estimator estimates errors of predictions on a grid from the problem alone: distances from the solution of the equation. It
// computes solutions to compare with: by the classical solver that the problem's reference names, or else by the problem's own rows,
// roughly, on the grid and on one with half of its points along each axis. The distance between these two tells of their own errors.
// Where the prediction is nearer to the finer than that, a third solution is computed, with more points in space.
type Estimator struct {
	problem     *pde.Problem
	grid        *grid.Grid
	levels      []level // coarsest first
	rest        float64 // the part of the distance between solutions on two grids that is taken for the error of the finer
	classical   bool
	differences func() (*discrete.Differences, error) // of the rows on the grid
}

// Estimated is what is estimated of a prediction, as relative L2 distances (grid.RelativeL2): NaN is not known.
type Estimated struct {
	Error float64 // from the solution of the equation: of the grid and of the prediction
	Grid  float64 // of the solution of the rows on this grid, with its differences along time and space, from that of the equation
	Rows  float64 // of the prediction from the solution of the rows on this grid
}

// level is a solver that keeps the points of a grid, made when it is first used.
type level struct {
	grid   *grid.Grid
	solver func() (sim.Solver, error)
	own    bool // of the points of the grid
}

const (
	// restOfRows is Estimator.rest of rows of second order on twice the points. Of higher orders it is less.
	restOfRows = 1.0 / 3
	// restOfClassical is that of first order: classical solvers do not state theirs.
	restOfClassical = 1
)

// NewEstimator prepares the estimates of predictions on g.
func NewEstimator(p *pde.Problem, g *grid.Grid) *Estimator {
	e := &Estimator{problem: p, grid: g, rest: restOfRows}
	e.differences = sync.OnceValues(func() (*discrete.Differences, error) { return discrete.NewDifferences(p, g, 1) })
	e.classical = p.Reference.Solver != "" && p.Reference.File == "" && p.Reference.Solver != pde.DiscreteSolver
	if e.classical {
		e.rest = restOfClassical
	}
	add := func(on *grid.Grid, refine []int, own bool) {
		e.levels = append(e.levels, level{on, sync.OnceValues(func() (sim.Solver, error) {
			switch {
			case e.classical:
				return classicalOn(p, on, refine, nil)
			case own:
				d, err := e.differences()
				if err != nil {
					return nil, err
				}
				return d.Solver(), nil
			}
			return discrete.NewRough(p, on, refine)
		}), own})
	}
	// Inputs of the nearest point jump halfway between points, where an odd factor puts none.
	jumps := slices.ContainsFunc(p.PlaceInputs(g), func(in pde.PlacedInput) bool { return in.Nearest })
	half := &grid.Grid{Axes: slices.Clone(g.Axes)}
	same := slices.Repeat([]int{1}, len(g.Axes))
	if e.classical {
		same = referencePoints(p, g)
	}
	var coarse, finer []int
	for i, a := range g.Axes {
		s := same[i]
		f := 2 * s
		switch {
		case i == 0 && (discrete.Marches(p) || e.classical && !p.Steady):
			f = s
		case a.Boundary == grid.Cells || jumps:
			f = 3 * s
		}
		switch odd := a.Points%2 == 1; {
		case s > 1:
		case a.Boundary == grid.Nodes && odd:
			half.Axes[i].Points = (a.Points + 1) / 2
		case a.Boundary != grid.Nodes && !odd:
			half.Axes[i].Points = a.Points / 2
		}
		coarse, finer = append(coarse, max(1, s/2)), append(finer, f)
	}
	if half.Size() < g.Size() || !slices.Equal(coarse, same) {
		add(half, coarse, false)
	}
	add(g, same, true)
	add(g, finer, false)
	return e
}

// Estimate estimates the error of a field (C, P) for the inputs of a sample. It is an error where fewer than two solutions to compare with
// were found: nothing is known of the grid's error then. Several goroutines may call it at once.
func (e *Estimator) Estimate(field, inputs []float64) (Estimated, error) {
	return e.estimate(field, inputs, true)
}

// estimate is Estimate, with the parts of the error or without.
func (e *Estimator) estimate(field, inputs []float64, parts bool) (Estimated, error) {
	out := Estimated{math.NaN(), math.NaN(), math.NaN()}
	if slices.ContainsFunc(field, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		out.Error = math.Inf(1)
		return out, nil
	}
	fields := len(e.problem.Unknowns)
	var err error
	var last, own []float64 // the finest solution, and that of the grid
	var on *grid.Grid       // of last
	var between float64     // of the two finest
	found := 0
	for _, l := range e.levels {
		v, failed := e.solve(&l, field, inputs)
		if failed != nil {
			err = failed // on few points there may be none
			continue
		}
		if found++; found > 1 {
			between = grid.RelativeL2(last, grid.Resample(v, l.grid.Axes, on.Axes), fields)
		}
		if last, on = v, l.grid; l.own {
			own = v
		}
		if l.own && found > 1 && grid.RelativeL2(field, v, fields) >= between {
			break
		}
	}
	if found < 2 {
		return out, err
	}
	estimate := func(u []float64) float64 { return math.Hypot(grid.RelativeL2(u, last, fields), e.rest*between) }
	out.Error = estimate(field)
	if rows := e.rows(own, inputs); parts && rows != nil {
		out.Grid, out.Rows = estimate(rows), grid.RelativeL2(field, rows, fields)
	}
	return out, nil
}

// rows returns the solution of the problem's rows on the grid, nil for none; own is that of the level of the grid, nil for none.
func (e *Estimator) rows(own, inputs []float64) []float64 {
	d, err := e.differences()
	if err != nil || own == nil {
		return nil
	}
	rows := make([]float64, len(own))
	if e.classical {
		err = d.Solve(make([]float64, len(own)), rows, inputs)
	} else {
		err = d.Move(rows, own, inputs)
	}
	if err != nil || slices.ContainsFunc(rows, math.IsNaN) {
		return nil
	}
	return rows
}

// solve returns the solution on a level. Of several solutions it is one near the field.
func (e *Estimator) solve(l *level, field, inputs []float64) ([]float64, error) {
	solver, err := l.solver()
	if err != nil {
		return nil, err
	}
	own, sample := make([]float64, len(e.problem.Unknowns)*l.grid.Size()), InputsOn(e.problem, inputs, e.grid, l.grid)
	if near, ok := solver.(*discrete.Solver); ok {
		return own, near.SolveNear(own, sample, grid.Resample(field, e.grid.Axes, l.grid.Axes))
	}
	_, err = solver.Solve(own, sample)
	return own, err
}

// errLeftOut is why a nil Estimator estimates nothing.
var errLeftOut = errors.New("it was left out, as asked")

// Estimates are those of several samples, which some goroutines compute while others are predicted.
type Estimates struct {
	estimator *Estimator // nil: none
	slots     chan struct{}
	group     sync.WaitGroup
	results   []*estimated
	waited    time.Duration
}

type estimated struct {
	Estimated
	err  error
	done chan struct{}
}

// Begin begins estimates by so many goroutines, 0 for one on each core. Those of a nil Estimator are all not known.
func (e *Estimator) Begin(workers int) *Estimates {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &Estimates{estimator: e, slots: make(chan struct{}, workers)}
}

// Add estimates the error for the next sample. It waits where as many estimates are being computed as there are goroutines. Where the parts of the
// first sample's error are not found others have none either: rows that cannot be solved may take long to say so.
func (s *Estimates) Add(field, inputs []float64) {
	out := &estimated{done: make(chan struct{})}
	s.results = append(s.results, out)
	if s.estimator == nil {
		out.Estimated, out.err = Estimated{math.NaN(), math.NaN(), math.NaN()}, errLeftOut
		return
	}
	first := s.results[0]
	field = slices.Clone(field)
	begun := time.Now()
	s.slots <- struct{}{}
	s.waited += time.Since(begun)
	s.group.Go(func() {
		parts := first == out
		if !parts {
			<-first.done
			parts = !math.IsNaN(first.Grid)
		}
		out.Estimated, out.err = s.estimator.estimate(field, inputs, parts)
		close(out.done)
		<-s.slots
	})
}

// Wait returns the estimate for each sample, and why there is none of the first that has none.
func (s *Estimates) Wait() (all []Estimated, why error) {
	begun := time.Now()
	s.group.Wait()
	s.waited += time.Since(begun)
	for _, r := range s.results {
		all = append(all, r.Estimated)
		if why == nil {
			why = r.err
		}
	}
	return all, why
}

// Waited is for how long Add and Wait have waited for estimates.
func (s *Estimates) Waited() time.Duration { return s.waited }
