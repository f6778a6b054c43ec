package discrete

import (
	"math"

	"pihc/grid"
	"pihc/pde"
)

// Unresolved finds expressions of a problem's rows that the points of a grid do not resolve, for the inputs of
// samples on it, and those that solutions of the rows on a refined grid miss, unless others are its reference.
func Unresolved(p *pde.Problem, g *grid.Grid, samples [][]float64) (own, reference []pde.Unresolved, err error) {
	var axes []pde.Quadrature
	for _, a := range g.Axes {
		axes = append(axes, pde.PointsOf(a))
	}
	if own, err = p.Unresolved(g, axes, samples); err != nil || p.Reference.Solver != "" && p.Reference.Solver != pde.DiscreteSolver {
		return own, nil, err
	}
	fine, _ := Refinements(p, g)
	for i, a := range refined(g, fine).Axes {
		if axes[i] = pde.PointsOf(a); i == 0 && Marches(p) {
			axes[i] = stagesOf(a)
		}
	}
	reference, err = p.Unresolved(g, axes, samples)
	return own, reference, err
}

// stagesOf is what the steps from one point of an axis to the next see of it.
func stagesOf(a grid.Axis) pde.Quadrature {
	weights := [stages]float64{(16 - math.Sqrt(6)) / 36, (16 + math.Sqrt(6)) / 36, 1. / 9}
	var q pde.Quadrature
	for i := range a.Points - 1 {
		end := a.Coordinate(i)
		for s, node := range nodes {
			end += weights[s] * a.Step()
			q.At, q.Ends = append(q.At, a.Coordinate(i)+node*a.Step()), append(q.Ends, end)
		}
	}
	return q
}
