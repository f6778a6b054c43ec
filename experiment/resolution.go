package experiment

import (
	"errors"
	"slices"

	"pihc/expr"
	"pihc/grid"
	"pihc/pde"
)

// unresolved says what of a problem's expressions the points of a grid do not resolve. The fault is that of
// solutions of its rows, which miss it on their refined grid too.
func unresolved(p *pde.Problem, g *grid.Grid) (notes []string, fault, err error) {
	own, reference, err := unresolvedBy(p, g)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range own {
		note := x.String()
		if slices.ContainsFunc(reference, func(y pde.Unresolved) bool { return y.Rows == x.Rows && expr.Same(y.Expr, x.Expr) }) {
			note += ", and solutions of these rows on a refined grid miss it as well"
		}
		notes = append(notes, note+": "+wider(x))
	}
	if len(reference) > 0 {
		x := reference[0]
		fault = WithHint(errors.New("solutions of these rows are wrong: on their refined grid "+x.String()), "%s", wider(x))
		if len(own) == 0 {
			notes = append(notes, fault.Error())
		}
	}
	return notes, fault, nil
}

func wider(x pde.Unresolved) string {
	return "more points along " + x.Axis + ", something wider, or its mean over a step"
}
