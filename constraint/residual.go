package constraint

import (
	"math"
	"math/rand/v2"
	"slices"

	"pihc/compute"
	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// A PlainResidual evaluates the residuals of fields on a grid without row weights, and one that a
// PDE file squares without the square, so that figures of different files, and of different
// fields, compare, and are ratios.
type PlainResidual struct {
	sets     []*plainRows
	gatherer *grid.Gatherer
	zero     []float64 // (C, P), of a steady problem
}

// plainRows is one residual.
type plainRows struct {
	rows      *pde.PointRows
	values    grid.Rows[float64] // terms at the rows
	rate      int                // of the terms
	evaluator *pde.Evaluator
	program   *pde.Program
	work      *pde.Workspace
	residual  []float64 // per row
}

// NewPlainResidual prepares the residuals of a discretised problem.
func NewPlainResidual(sys *pde.System, pool *compute.Pool) (*PlainResidual, error) {
	r := &PlainResidual{gatherer: sys.NewGatherer(pool)}
	if sys.Problem.Steady {
		r.zero = make([]float64, sys.FieldSize())
	}
	for i, set := range sys.Residuals() {
		rows, err := newPlainRows(sys, set, sys.Problem.Residuals[i].Expr.Unsquared())
		if err != nil {
			return nil, err
		}
		r.sets = append(r.sets, rows)
	}
	return r, nil
}

func newPlainRows(sys *pde.System, set *pde.RowSet, residual *pde.Expr) (*plainRows, error) {
	p, m := sys.Problem, len(set.Points)
	r := &plainRows{rows: sys.NewPointRows(set, set.Points), evaluator: sys.NewEvaluator(m), residual: make([]float64, m)}
	r.rows.Prepare()
	r.values = r.rows.NewValues()
	var names []string
	for j, t := range set.Terms {
		names = append(names, sys.Terms[t].Name)
		if term, ok := sys.Term(t); ok && !p.Steady {
			if factors := term.Factors; len(factors) == 1 && factors[0].Axis == p.Axes[0].Name && factors[0].Scheme.Derivative == 1 {
				r.rate = j
			}
		}
	}
	for _, x := range set.Extras {
		names = append(names, x.Name)
	}
	var err error
	if r.program, err = pde.Compile([]*pde.Expr{residual}, names); err != nil {
		return nil, err
	}
	r.work = r.program.NewWorkspace()
	return r, nil
}

// RMS returns the root mean squares, over the rows of each residual, of the residual of u
// (C, P) for the inputs of a sample and of its derivative along the first axis, or of its
// first term where there is no such derivative; of a steady problem, of the residual of
// zero, unless that is zero.
func (r *PlainResidual) RMS(u, initial []float64) (residual, rate []float64) {
	for _, rows := range r.sets {
		rows.rows.SetInitial(initial)
		still := 0.0
		if r.zero != nil {
			still, _ = rows.rms(r.gatherer, r.zero)
		}
		own, term := rows.rms(r.gatherer, u)
		if still == 0 {
			still = term
		}
		residual, rate = append(residual, own), append(rate, still)
	}
	return residual, rate
}

// Rounding returns the root mean squares, over the rows of each residual, of what residuals of u
// (C, P) change by where each of its values changes by a number up to so much either way.
func (r *PlainResidual) Rounding(u, initial []float64, by float64) []float64 {
	rng, near := rand.New(rand.NewPCG(1, 0)), make([]float64, len(u))
	for i, v := range u {
		near[i] = v + by*(2*rng.Float64()-1)
	}
	var out []float64
	for _, rows := range r.sets {
		rows.rows.SetInitial(initial)
		rows.rms(r.gatherer, u)
		own, square := slices.Clone(rows.residual), 0.0
		rows.rms(r.gatherer, near)
		for i, v := range rows.residual {
			square += (v - own[i]) * (v - own[i])
		}
		out = append(out, math.Sqrt(square/float64(len(own))))
	}
	return out
}

// Relative is the root mean square over residuals of each one's root mean square over
// that of its rate.
func Relative(residual, rate []float64) float64 {
	norm := 0.0
	for i, v := range residual {
		norm = math.Hypot(norm, v/rate[i])
	}
	return norm / math.Sqrt(float64(len(residual)))
}

func (r *plainRows) rms(gatherer *grid.Gatherer, u []float64) (residual, rate float64) {
	m := len(r.residual)
	grid.Gather(gatherer, u, 1, []grid.Rows[float64]{r.values})
	r.evaluator.Eval(r.rows, pde.Values, r.values.Values, 0, m) // adds the constants to the terms
	r.program.Eval(r.work, m, [][]float64{r.residual}, append(slices.Clone(r.values.Values), r.rows.Extras...))
	root := func(x []float64) float64 { return math.Sqrt(kernel.SumSquares64(x) / float64(m)) }
	return root(r.residual), root(r.values.Values[r.rate])
}
