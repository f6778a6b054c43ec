package discrete

import (
	"pihc/grid"
	"pihc/pde"
)

// Unresolved finds expressions of a problem's rows that the points of a grid do not resolve, for the inputs of
// samples on it, and those that solutions of the rows on a refined grid miss, unless others are its reference.
func Unresolved(p *pde.Problem, g *grid.Grid, samples [][]float64) (own, reference []pde.Unresolved) {
	points := func(g *grid.Grid) (all [][]float64) {
		for _, a := range g.Axes {
			all = append(all, a.Coordinates())
		}
		return all
	}
	own = p.Unresolved(g, points(g), samples)
	if p.Reference.Solver != "" && p.Reference.Solver != pde.DiscreteSolver {
		return own, nil
	}
	fine, _ := Refinements(p, g)
	refined := refined(g, fine)
	all := points(refined)
	if a := refined.Axes[0]; Marches(p) {
		all[0] = nil
		for i := range a.Points - 1 {
			for _, node := range nodes {
				all[0] = append(all[0], a.Coordinate(i)+node*a.Step())
			}
		}
	}
	return own, p.Unresolved(g, all, samples)
}
