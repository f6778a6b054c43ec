package main

import (
	"cmp"
	"fmt"
	"strconv"

	"pihc/constraint"
	"pihc/internal/kernel"
	"pihc/model"
	"pihc/report"
	"pihc/train"
)

// constraintBench is the JSON of bench constraint.
type constraintBench struct {
	machine
	Rows       int     `json:"rows"` // residual rows of the expert
	Basis      int     `json:"basis"`
	Solve      float64 `json:"solve_s"`
	Iterations int     `json:"iterations"`
	Per15      float64 `json:"solve_15_iterations_s"` // solve_s scaled to 15 iterations
	GFLOPS     float64 `json:"gflops"`
	Peak       float64 `json:"fma_peak_gflops"`
	solverGrid
}

func (r constraintBench) fields() []field {
	return append(append(r.machine.fields(), field{"rows", strconv.Itoa(r.Rows)}, field{"basis", strconv.Itoa(r.Basis)}, seconds("solve_s", r.Solve),
		field{"iterations", strconv.Itoa(r.Iterations)}, seconds("solve_15_iterations_s", r.Per15), decimal("gflops", r.GFLOPS), decimal("fma_peak_gflops", r.Peak)),
		field{"twenty_thousand_by_16_s", short(r.Twenty)}, decimal("read_gb_s", r.Read))
}

// benchIterations is the number of iterations a measured solve is stopped at.
const benchIterations = 15

func (b *bench) constraint() (fielder, error) {
	spec, err := b.specOf(model.Hard)
	if err != nil {
		return nil, err
	}
	// One expert over the whole domain with the points of one of moe's: the rows
	// are the same in number, the conditions are global either way.
	spec.Constraint.MaxIterations, spec.Constraint.Tolerance = benchIterations, 1e-15
	g, err := b.problem.Grid(spec.Grid)
	if err != nil {
		return nil, err
	}
	sys, err := b.problem.Discretize(g)
	if err != nil {
		return nil, err
	}
	options, err := spec.Options(b.problem)
	if err != nil {
		return nil, err
	}
	// No test may end it sooner.
	options.Solver.GTol, options.Solver.FTol, options.Solver.XTol = -1, -1, -1
	c, err := constraint.New(sys, spec.Outputs(), options, nil, nil)
	if err != nil {
		return nil, err
	}
	n, err := newInference[float32](b, nil, 1)
	if err != nil {
		return nil, err
	}
	n.forward()
	initial, _, err := statedInitial(spec, b.problem, g, []float64{0.5})
	if err != nil {
		return nil, err
	}
	s := c.NewSample()
	constraint.Load(s, n.dst, initial[0])
	s.Draw(train.EvaluationSeed(0))
	rows := cmp.Or(options.Points, len(sys.Residuals()[0].Points)) // 0: all
	r := constraintBench{machine: b.machine(1), Basis: spec.Outputs(), Rows: rows}
	if r.Solve, err = b.median(s.Solve); err != nil {
		return nil, err
	}
	outcome := s.Outcomes()[0]
	r.Iterations = outcome.Iterations
	if r.Iterations > 0 {
		r.Per15 = r.Solve * benchIterations / float64(r.Iterations)
	}
	// Per residual row and evaluation: z = A w, J = sum of F_j A_j, JᵀJ, Jᵀr.
	basis, terms := float64(spec.Outputs()), float64(len(sys.Residuals()[0].Terms))
	r.GFLOPS = float64(outcome.Evaluations) * float64(rows) * (4*terms*basis + basis*(basis+1) + 2*basis) / r.Solve / 1e9
	r.Peak = kernel.PeakGFLOPS64(1)
	if r.solverGrid, err = b.solverGrid(r.Peak); err != nil || b.options.json {
		return r, err
	}
	for _, t := range []*report.Table{r.solveTable(b.workers), r.passTable()} {
		if _, err := t.WriteTo(b.app.Out); err != nil {
			return nil, err
		}
		if _, err := fmt.Fprintln(b.app.Out); err != nil {
			return nil, err
		}
	}
	return r, nil
}
