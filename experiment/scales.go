package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/model"
	"pihc/pde"
	"pihc/sim"
)

// measuredScales are keys of the network with the sizes of the unknowns that no draw says (model.Spec.Unsized), and their centers: model.SizeOf
// reference solutions, "" where all are said or nothing can be solved. Weights of rows, inputs and
// outputs of the network follow from them.
func measuredScales(ctx context.Context, p *pde.Problem, given *givenSizes, o *SizeOptions) (string, error) {
	spec, err := scaledSpec(p, given)
	if err != nil {
		return "", err
	}
	unsized, err := spec.Unsized(p)
	if err != nil || len(unsized) == 0 {
		return "", err
	}
	sizes, middles, err := sizesOfSolutions(ctx, p, spec, o)
	if err != nil || sizes == nil {
		return "", err
	}
	var named, centers []string
	for _, c := range unsized {
		size, center := sizes[c], middles[c]
		if size > 0 && !math.IsInf(size, 0) {
			named = append(named, fmt.Sprintf("%s: %.2g", p.Unknowns[c].Name, size))
			if center != 0 {
				centers = append(centers, fmt.Sprintf("%s: %.3g", p.Unknowns[c].Name, center))
			}
		}
	}
	var keys string
	switch {
	case len(named) == 0:
		return "", nil
	case len(p.Unknowns) == 1:
		keys = "initial_scale: " + strings.SplitN(named[0], ": ", 2)[1]
	default:
		keys = "scales: {" + strings.Join(named, ", ") + "}"
	}
	if len(centers) > 0 {
		keys += ", centers: {" + strings.Join(centers, ", ") + "}"
	}
	return keys, nil
}

// scaledSpec is a spec of a problem, for what does not depend on sizes.
func scaledSpec(p *pde.Problem, given *givenSizes) (*model.Spec, error) {
	return model.LoadSpec("spec.yaml", (&sizes{width: 8, layers: 1, steps: 20, batch: 1, tests: 3, given: given}).spec(p))
}

// sizesOfSolutions are model.SizeOf some reference solutions, by the unknown; nil where nothing can be solved, which others say. The spec is fitted.
func sizesOfSolutions(ctx context.Context, p *pde.Problem, spec *model.Spec, o *SizeOptions) (sizes, centers []float64, err error) {
	if !solvable(p) {
		return nil, nil, nil
	}
	g, err := p.Grid(spec.Grid)
	if err == nil {
		err = spec.Fit(p)
	}
	if err != nil {
		return nil, nil, err
	}
	o.say("init: looking at the sizes of solutions")
	for _, solver := range []func(*pde.Problem, *grid.Grid) (sim.Solver, error){sizeSolver, holdSolver} { // these rows may be solved on a finer grid alone
		means, squares, count := make([]float64, len(p.Unknowns)), make([]float64, len(p.Unknowns)), 0.0
		if eachReference(ctx, spec, p, g, solver, func(_ string, _, truth []float64) error {
			for c := range squares {
				for _, v := range truth[c*g.Size():][:g.Size()] {
					means[c] += v / float64(g.Size())
					squares[c] += v * v / float64(g.Size())
				}
			}
			count++
			return nil
		}) != nil {
			continue
		}
		for c := range means {
			size, center := model.SizeOf(means[c]/count, squares[c]/count)
			sizes, centers = append(sizes, size), append(centers, center)
		}
		break
	}
	return sizes, centers, ctx.Err()
}

// sizeSolver returns the solver of a problem's reference on a grid, rough and on no more points than that has where it is that of its rows.
func sizeSolver(p *pde.Problem, g *grid.Grid) (sim.Solver, error) {
	if p.Reference.Solver != pde.DiscreteSolver {
		return dataset.ReferenceSolver(p, g)
	}
	return discrete.NewRough(p, g, slices.Repeat([]int{1}, len(g.Axes)))
}
