package discrete

import (
	"pihc/grid"
	"pihc/pde"
)

// Unresolved finds expressions of a problem's rows that the points of a grid do not resolve, for the inputs of
// samples on it, and those that solutions of the rows on a refined grid miss, unless others are its reference.
func Unresolved(p *pde.Problem, g *grid.Grid, samples [][]float64) (own, reference []pde.Unresolved) {
	own = p.Unresolved(g, points(g), samples)
	if p.Reference.Solver != "" && p.Reference.Solver != pde.DiscreteSolver {
		return own, nil
	}
	fine, _ := Refinements(p, g)
	return own, missed(p, g, refined(g, fine), samples)
}

// missed finds the expressions that solutions on a grid finer than g miss, for the inputs of samples on g.
func missed(p *pde.Problem, g, fine *grid.Grid, samples [][]float64) []pde.Unresolved {
	all := points(fine)
	if a := fine.Axes[0]; Marches(p) {
		all[0] = nil
		for i := range a.Points - 1 {
			for _, node := range nodes {
				all[0] = append(all[0], a.Coordinate(i)+node*a.Step())
			}
		}
	}
	return p.Unresolved(g, all, samples)
}

func points(g *grid.Grid) (all [][]float64) {
	for _, a := range g.Axes {
		all = append(all, a.Coordinates())
	}
	return all
}
