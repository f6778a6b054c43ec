package pde

import (
	"math"
	"math/rand/v2"
	"slices"

	"pihc/expr"
	"pihc/internal/kernel"
)

// A PlainResidual evaluates the residuals of fields on a grid without row weights, and one that a
// PDE file squares without the square, so that figures of different files, and of different
// fields, compare, and are ratios.
type PlainResidual struct {
	sets []*plainRows
	zero []float64 // (C, P), of a steady problem
}

// plainRows is one residual.
type plainRows struct {
	*RowValues
	rate     int       // of the terms
	evaluate evaluator // of the residual and of its derivative by that term
	residual []float64 // per row
	slope    []float64 // likewise
}

// NewPlainResidual prepares the residuals.
func (s *System) NewPlainResidual() (*PlainResidual, error) {
	r := &PlainResidual{}
	if s.Problem.Steady {
		r.zero = make([]float64, s.FieldSize())
	}
	for i, set := range s.Residuals() {
		rows, err := newPlainRows(s, set, s.Problem.Residuals[i].Expr.Unsquared())
		if err != nil {
			return nil, err
		}
		r.sets = append(r.sets, rows)
	}
	return r, nil
}

func newPlainRows(sys *System, set *RowSet, residual *expr.Expr) (*plainRows, error) {
	p := sys.Problem
	r := &plainRows{RowValues: sys.NewRowValues(set, set.Points), residual: make([]float64, len(set.Points)), slope: make([]float64, len(set.Points))}
	var names []string
	most := 0
	for j, t := range set.Terms {
		names = append(names, sys.Terms[t].Name)
		if term, ok := sys.Term(t); ok && !p.Steady {
			if factors := term.Factors; len(factors) == 1 && factors[0].Axis == p.Axes[0].Name && factors[0].Scheme.Derivative > most {
				r.rate, most = j, factors[0].Scheme.Derivative
			}
		}
	}
	for _, x := range set.Extras {
		names = append(names, x.Name)
	}
	slope := expr.Const(1)
	if most > 0 {
		slope = residual.Diff(names[r.rate])
	}
	program, err := expr.Compile([]*expr.Expr{residual, slope}, names)
	if err != nil {
		return nil, err
	}
	r.evaluate = program.Evaluator()
	return r, nil
}

// RMS returns the root mean squares, over the rows of each residual, of the residual of u
// (C, P) for the inputs of a sample and of its highest derivative along the first axis, times what multiplies that, or of its
// first term where there is no such derivative; of a steady problem, of the residual of
// zero, unless that is zero.
func (r *PlainResidual) RMS(u, initial []float64) (residual, rate []float64) {
	for _, rows := range r.sets {
		scale := 0.0
		if r.zero != nil {
			scale, _ = rows.rms(r.zero, initial)
		}
		all, term := rows.rms(u, initial)
		if scale == 0 {
			scale = term
		}
		residual, rate = append(residual, all), append(rate, scale)
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
		rows.rms(u, initial)
		before, square := slices.Clone(rows.residual), 0.0
		rows.rms(near, initial)
		for i, v := range rows.residual {
			square += (v - before[i]) * (v - before[i])
		}
		out = append(out, math.Sqrt(square/float64(len(before))))
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

// rms evaluates residual at u, and returns its root mean square and that of the rate.
func (r *plainRows) rms(u, initial []float64) (residual, rate float64) {
	r.Eval(0, u, initial) // gives the terms their constants
	r.evaluate(len(r.residual), [][]float64{r.residual, r.slope}, append(slices.Clone(r.Terms.Values), r.Extras...))
	kernel.Mul64(r.slope, r.slope, r.Terms.Values[r.rate])
	root := func(x []float64) float64 { return math.Sqrt(kernel.SumSquares64(x) / float64(len(x))) }
	return root(r.residual), root(r.slope)
}
