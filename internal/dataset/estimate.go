package dataset

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"pihc/grid"
	"pihc/internal/discrete"
	"pihc/pde"
	"pihc/sim"
)

// An Estimator estimates errors of predictions on a grid from the problem alone. It computes a solution to compare with: by the
// classical solver that the problem's reference names, or else by the problem's own rows, roughly, on the grid and on one with half of
// its points along each axis. The distance between these two tells of their own errors. Where the prediction
// is nearer to the finer than that, a third solution is computed, with more points in space.
type Estimator struct {
	problem *pde.Problem
	grid    *grid.Grid
	levels  []level // coarsest first
}

// level is a solver that keeps the points of a grid, made when it is first used.
type level struct {
	grid   *grid.Grid
	solver func() (sim.Solver, error)
}

// gridError is the part of the distance between solutions on two grids that is taken for the error of the finer: that of rows of
// second order. Of higher orders it is less.
const gridError = 1.0 / 3

// NewEstimator prepares the estimates of predictions on g.
func NewEstimator(p *pde.Problem, g *grid.Grid) *Estimator {
	e := &Estimator{problem: p, grid: g}
	if p.Reference.Solver != "" && p.Reference.File == "" && p.Reference.Solver != pde.DiscreteSolver {
		e.levels = []level{{g, sync.OnceValues(func() (sim.Solver, error) { return ReferenceSolver(p, g) })}}
		return e
	}
	add := func(on *grid.Grid, refine []int) {
		e.levels = append(e.levels, level{on, sync.OnceValues(func() (sim.Solver, error) { return discrete.NewRough(p, on, refine) })})
	}
	// Inputs of the nearest point jump halfway between points, where an odd factor puts none.
	jumps := slices.ContainsFunc(p.PlaceInputs(g), func(in pde.PlacedInput) bool { return in.Nearest })
	half, same, finer := &grid.Grid{Axes: slices.Clone(g.Axes)}, make([]int, len(g.Axes)), make([]int, len(g.Axes))
	for i, a := range g.Axes {
		same[i], finer[i] = 1, 2
		switch {
		case i == 0 && discrete.Marches(p):
			finer[i] = 1
		case a.Boundary == grid.Cells || jumps:
			finer[i] = 3
		}
		switch odd := a.Points%2 == 1; {
		case a.Boundary == grid.Nodes && odd:
			half.Axes[i].Points = (a.Points + 1) / 2
		case a.Boundary != grid.Nodes && !odd:
			half.Axes[i].Points = a.Points / 2
		}
	}
	if half.Size() < g.Size() {
		add(half, same)
	}
	add(g, same)
	add(g, finer)
	return e
}

// Estimate returns an estimate of the relative L2 error (grid.RelativeL2) of a field (C, P) for the inputs of a sample. It is an error
// where fewer than two solutions were found, unless by a classical solver. Several goroutines may call it at once.
func (e *Estimator) Estimate(field, inputs []float64) (estimate float64, err error) {
	if slices.ContainsFunc(field, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return math.Inf(1), nil
	}
	fields := len(e.problem.Unknowns)
	var last []float64
	var on *grid.Grid
	found := 0
	for _, l := range e.levels {
		own, failed := e.solve(&l, field, inputs)
		if failed != nil {
			err = failed // on few points there may be none
			continue
		}
		u := grid.Resample(field, e.grid.Axes, l.grid.Axes)
		distance, between := grid.RelativeL2(u, own, fields), 0.0
		if found++; found > 1 {
			between = grid.RelativeL2(last, grid.Resample(own, l.grid.Axes, on.Axes), fields)
		}
		estimate = math.Hypot(distance, gridError*between)
		if found > 1 && l.grid == e.grid && distance >= between {
			break
		}
		last, on = own, l.grid
	}
	if found > 1 || found == len(e.levels) {
		return estimate, nil
	}
	return math.NaN(), err
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

// Estimates are those of several samples, which some goroutines compute while others are predicted.
type Estimates struct {
	estimator *Estimator
	slots     chan struct{}
	group     sync.WaitGroup
	results   []*estimated
}

type estimated struct {
	value float64
	err   error
}

// Begin begins estimates by so many goroutines, 0 for one on each core.
func (e *Estimator) Begin(workers int) *Estimates {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &Estimates{estimator: e, slots: make(chan struct{}, workers)}
}

// Add estimates the error for the next sample. It waits where as many estimates are being computed as there are goroutines.
func (s *Estimates) Add(field, inputs []float64) {
	out := &estimated{}
	s.results = append(s.results, out)
	field = slices.Clone(field)
	s.slots <- struct{}{}
	s.group.Go(func() {
		out.value, out.err = s.estimator.Estimate(field, inputs)
		<-s.slots
	})
}

// Wait returns the estimate for each sample, NaN where there is none, and why there is none of the first of these.
func (s *Estimates) Wait() (values []float64, why error) {
	s.group.Wait()
	for _, r := range s.results {
		values = append(values, r.value)
		if why == nil {
			why = r.err
		}
	}
	return values, why
}
