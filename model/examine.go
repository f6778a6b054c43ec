package model

import (
	"slices"

	"pihc/data"
	"pihc/discrete"
	"pihc/grid"
	"pihc/pde"
)

// Examine says whether the rows of a problem determine its unknown, for initial
// conditions of its own distribution.
func Examine(p *pde.Problem) (*discrete.Examination, error) {
	return discrete.Examine(p, func(g *grid.Grid) ([][]float64, error) {
		next, err := sampler(p, g)
		if err != nil {
			return nil, err
		}
		initial := make([][]float64, 16)
		for i := range initial {
			initial[i] = make([]float64, p.SampleSize(g))
			if err := next(data.SampleRand(1, i), initial[i]); err != nil {
				return nil, err
			}
		}
		return initial, nil
	})
}

// InputNames returns what the network of a spec sees at every point, in order.
func InputNames(s *Spec, p *pde.Problem) ([]string, error) {
	in, err := NewInputs(s, p)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, a := range in.Axes {
		names = append(names, p.Axes[a].Name)
	}
	names = append(names, p.InputNames()...)
	for _, f := range in.Features {
		if !slices.ContainsFunc(p.Residuals, func(r pde.Rows) bool { return f == r.Name || f == MeanFeature(r.Name) }) {
			f += " of the field to correct"
		}
		names = append(names, f)
	}
	return names, nil
}
