package main

import (
	"cmp"

	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/kernel"
	"pihc/sim"
)

// solverBench is the JSON of bench solver.
type solverBench struct {
	benchMachine
	Trajectory float64 `json:"trajectory_s"`
	SelfError  float64 `json:"self_error"` // against the same with tighter tolerances; worst of three initial conditions
	// Of a run on the spec's own points, where solutions are computed on more of them:
	// its time, and its distance from those solutions.
	GridTrajectory float64 `json:"grid_trajectory_s,omitempty"`
	GridError      float64 `json:"grid_error,omitempty"`
	Steps          int     `json:"steps"`
	Peak           float64 `json:"fma_peak_gflops" format:"%.1f"`
}

func (b *bench) solver() (any, error) {
	g, err := b.problem.Grid(b.spec.Grid)
	if err != nil {
		return nil, err
	}
	solver, err := dataset.ReferenceSolver(b.problem, g)
	if err != nil {
		return nil, err
	}
	ref := b.problem.Reference
	exact, err := dataset.ReferenceSolverWith(b.problem, g, map[string]any{"rtol": 1e-10, "atol": 1e-10})
	if err != nil {
		return nil, err
	}
	var own sim.Solver // on the spec's points
	for _, a := range g.Axes {
		if a.Points < ref.Points[a.Name] {
			if own, err = dataset.ClassicalSolver(b.problem, g, nil); err != nil {
				return nil, err
			}
		}
	}
	initial, err := b.inputs(b.spec, g, 0.1, 0.5, 0.9)
	if err != nil {
		return nil, err
	}
	r := solverBench{benchMachine: b.machine(1), Peak: kernel.PeakGFLOPS64(1)}
	unknowns := len(b.problem.Unknowns)
	dst, want := make([]float64, unknowns*g.Size()), make([]float64, unknowns*g.Size())
	for _, u0 := range initial {
		var stats sim.Stats
		var failed error
		t, err := b.median(func() { stats, failed = solver.Solve(dst, u0) })
		if err = cmp.Or(err, failed); err != nil {
			return nil, err
		}
		if _, err := exact.Solve(want, u0); err != nil {
			return nil, err
		}
		r.Trajectory, r.Steps, r.SelfError = max(r.Trajectory, t), stats.Steps, max(r.SelfError, grid.RelativeL2(dst, want, unknowns))
		if own == nil {
			continue
		}
		t, err = b.median(func() { _, failed = own.Solve(want, u0) })
		if err = cmp.Or(err, failed); err != nil {
			return nil, err
		}
		r.GridTrajectory, r.GridError = max(r.GridTrajectory, t), max(r.GridError, grid.RelativeL2(want, dst, unknowns))
	}
	return r, nil
}
