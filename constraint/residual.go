package constraint

import (
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// A PlainResidual evaluates the residual of fields on a grid without row weights, so
// that figures of different weights, and of different fields, compare.
type PlainResidual struct {
	rows      *pde.PointRows
	values    grid.Rows[float64] // terms at the rows
	rate      int                // of the terms
	gatherer  *grid.Gatherer
	evaluator *pde.Evaluator
	program   *pde.Program
	work      *pde.Workspace
	residual  []float64 // per row
	zero      []float64 // (P), of a steady problem
}

// NewPlainResidual prepares the residual of a discretised problem.
func NewPlainResidual(sys *pde.System, pool *kernel.Pool) (*PlainResidual, error) {
	set, p := sys.Residuals()[0], sys.Problem
	m := len(set.Points)
	r := &PlainResidual{
		rows: sys.NewPointRows(set, set.Points), gatherer: sys.NewGatherer(pool), evaluator: sys.NewEvaluator(m), residual: make([]float64, m),
	}
	if p.Steady {
		r.zero = make([]float64, sys.Grid.Size())
	}
	r.rows.Prepare()
	r.values = r.rows.NewValues()
	var names []string
	for j, t := range set.Terms {
		names = append(names, sys.Terms[t].Name)
		if t > 0 && !p.Steady {
			if factors := p.Terms[t-1].Factors; len(factors) == 1 && factors[0].Axis == p.Axes[0].Name && factors[0].Scheme.Derivative == 1 {
				r.rate = j
			}
		}
	}
	for _, x := range set.Extras {
		names = append(names, x.Name)
	}
	var err error
	if r.program, err = pde.Compile([]*pde.Expr{p.Residuals[0].Expr}, names); err != nil {
		return nil, err
	}
	r.work = r.program.NewWorkspace()
	return r, nil
}

// RMS returns the root mean squares, over the residual rows, of the residual of u (P)
// for the inputs of a sample and of the derivative of u along the first axis, or of its
// first term where there is no such derivative; of a steady problem, of the residual of
// zero, unless that is zero.
func (r *PlainResidual) RMS(u, initial []float64) (residual, rate float64) {
	r.rows.SetInitial(initial)
	if r.zero != nil {
		rate, _ = r.rms(r.zero)
	}
	residual, term := r.rms(u)
	if rate == 0 {
		rate = term
	}
	return residual, rate
}

func (r *PlainResidual) rms(u []float64) (residual, rate float64) {
	m := len(r.residual)
	grid.Gather(r.gatherer, u, 1, []grid.Rows[float64]{r.values})
	r.evaluator.Eval(r.rows, pde.Values, r.values.Values, 0, m) // adds the constants to the terms
	r.program.Eval(r.work, m, [][]float64{r.residual}, append(slices.Clone(r.values.Values), r.rows.Extras...))
	root := func(x []float64) float64 { return math.Sqrt(kernel.SumSquares64(x) / float64(m)) }
	return root(r.residual), root(r.values.Values[r.rate])
}
