package dataset

import (
	"math"
	"slices"

	"pihc/internal/kernel"
	"pihc/pde"
)

// UnitOf is the factor that brings a set of rows to the unit of the unknown of, which one of
// its terms belongs to: what a row says of a derivative of order d, over a range L of its axis,
// changes the unknown by L^d/d! times as much. Of the residual that is the highest derivative
// along the first axis, of conditions the lowest. slopes are the derivatives of the rows by
// their terms.
func UnitOf(sys *pde.System, set *pde.RowSet, slopes [][]float64) (unit float64, of int) {
	best, unit, of := -1, 1.0, sys.Terms[set.Terms[0]].Of
	for j, t := range set.Terms {
		order, length := 0, 1.0
		if term, ok := sys.Term(t); ok {
			if len(term.Factors) != 1 {
				continue
			}
			factor := term.Factors[0]
			order = factor.Scheme.Derivative
			if term.PerStep {
				order++
			}
			if factor.Edge != nil {
				order = factor.Edge.Derivative
			}
			a := sys.Problem.Axis(factor.Axis)
			if set.Kind == pde.ResidualRows && a > 0 {
				continue
			}
			length = sys.Grid.Axes[a].Hi - sys.Grid.Axes[a].Lo
		}
		var square float64
		for _, v := range slopes[j] {
			square += v * v / float64(len(slopes[j]))
		}
		better := best < 0 || set.Kind == pde.ResidualRows && order > best || set.Kind != pde.ResidualRows && order < best
		if !better || !(square > 0) || math.IsInf(square, 0) {
			continue
		}
		best, unit, of = order, 1/math.Sqrt(square), sys.Terms[t].Of
		for d := 1; d <= order; d++ {
			unit *= length / float64(d)
		}
	}
	return unit, of
}

// AtFirstAxis reports whether a condition holds at an end of the first axis.
func AtFirstAxis(p *pde.Problem, name string) bool {
	i := slices.IndexFunc(p.Conditions, func(r pde.Rows) bool { return r.Name == name })
	return p.Conditions[i].At[p.Axes[0].Name] != ""
}

func RootMeanSquare(x []float64) float64 { return math.Sqrt(kernel.SumSquares64(x) / float64(len(x))) }
