package main

import (
	"cmp"

	"pihc/constraint"
	"pihc/internal/kernel"
	"pihc/model"
	"pihc/train"
)

// constraintBench is the JSON of bench constraint.
type constraintBench struct {
	benchMachine
	Rows       int     `json:"rows"` // residual rows of the expert
	Basis      int     `json:"basis"`
	Solve      float64 `json:"solve_s"`
	Iterations int     `json:"iterations"`
	Per15      float64 `json:"solve_15_iterations_s"` // solve_s scaled to 15 iterations
	GFLOPS     float64 `json:"gflops" format:"%.1f"`
	Peak       float64 `json:"fma_peak_gflops" format:"%.1f"`
}

// benchIterations is the number of iterations a measured solve is stopped at.
const benchIterations = 15

func (b *bench) constraint() (any, error) {
	spec, err := b.specOf(model.Hard)
	if err != nil {
		return nil, err
	}
	n, err := newInference[float32](b, nil, 1)
	if err != nil {
		return nil, err
	}
	sys, err := b.problem.Discretize(n.grid)
	if err != nil {
		return nil, err
	}
	// One expert over the whole domain with the points of one of moe's: the rows
	// are the same in number, the conditions are global either way.
	options, err := spec.Options(b.problem)
	if err != nil {
		return nil, err
	}
	// No test may end it sooner.
	options.Solver.MaxIterations, options.Solver.GTol, options.Solver.FTol, options.Solver.XTol = benchIterations, -1, -1, -1
	c, err := constraint.New(sys, spec.Outputs(), options, nil, nil)
	if err != nil {
		return nil, err
	}
	initial, err := b.inputs(spec, n.grid, 0.5)
	if err != nil {
		return nil, err
	}
	n.forward()
	problem := c.NewWorkspace().Assemble(constraint.Input[float32]{Basis: n.dst, Sample: initial[0], Seed: train.EvaluationSeeds(1)[0]})
	r := constraintBench{benchMachine: b.machine(1), Basis: spec.Outputs(), Rows: cmp.Or(options.Points, len(sys.Residuals()[0].Points))} // 0 points: all
	if r.Solve, err = b.median(func() { problem.Solve() }); err != nil {
		return nil, err
	}
	outcome := problem.Solve().Outcomes()[0]
	if r.Iterations = outcome.Iterations; r.Iterations > 0 {
		r.Per15 = r.Solve * benchIterations / float64(r.Iterations)
	}
	// Per residual row and evaluation: z = A w, J = sum of F_j A_j, JᵀJ, Jᵀr.
	basis, terms := float64(r.Basis), float64(len(sys.Residuals()[0].Terms))
	r.GFLOPS = float64(outcome.Evaluations) * float64(r.Rows) * (4*terms*basis + basis*(basis+1) + 2*basis) / r.Solve / 1e9
	r.Peak = kernel.PeakGFLOPS64(1)
	return r, nil
}
