package model

import (
	"fmt"
	"maps"
	"slices"

	"pihc/constraint"
	"pihc/grid"
	"pihc/internal/words"
	"pihc/pde"
)

// An EvaluationGrid is a grid that the test split is scored on beside the spec's own.
type EvaluationGrid struct {
	*grid.Grid
	Samples int // the first so many; 0: all
}

// EvaluationGrids returns the grids of data.test.grids that are not the spec's
// own, each once, in their order. The truth is computed once, on the finest
// points of every axis, and thinned out to each grid, so those points must hold
// the points of all of them. Errors name the grid.
func (s *Spec) EvaluationGrids(p *pde.Problem) ([]EvaluationGrid, error) {
	base, err := p.Grid(s.Grid)
	if err != nil {
		return nil, err
	}
	if len(s.Data.Test.Grids) == 0 {
		return nil, nil
	}
	net, err := s.NewNetwork(p)
	if err != nil {
		return nil, err
	}
	router, err := s.NewRouter(p, base)
	if err != nil {
		return nil, err
	}
	var grids []EvaluationGrid
	for i, points := range s.Data.Test.Grids {
		name := fmt.Sprintf("data.test.grids.%d", i)
		g := &grid.Grid{Axes: slices.Clone(base.Axes)}
		points = maps.Clone(points)
		samples := points[gridSamples]
		delete(points, gridSamples)
		counts, err := axisMap(p, name, points, 0)
		if err != nil {
			return nil, err
		}
		for a, n := range counts {
			if n > 0 {
				g.Axes[a].Points = n
			}
		}
		if err := g.Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		part, err := s.SegmentGrid(p, g)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := CheckNetwork(net, part); err != nil {
			return nil, fmt.Errorf("%s (%s): %w", name, words.Shape(g.Shape()), err)
		}
		if _, err := constraint.Divide(router, part); err != nil {
			return nil, fmt.Errorf("%s (%s): %w", name, words.Shape(g.Shape()), err)
		}
		if same := func(o EvaluationGrid) bool { return slices.Equal(o.Axes, g.Axes) }; !same(EvaluationGrid{Grid: base}) && !slices.ContainsFunc(grids, same) {
			grids = append(grids, EvaluationGrid{g, samples})
		}
	}
	finest := finestGrid(base, grids)
	for _, g := range append([]EvaluationGrid{{Grid: base}}, grids...) {
		for a, axis := range g.Axes {
			if !axis.Thins(finest.Axes[a]) {
				return nil, fmt.Errorf("data.test.grids: the %d points of axis %s are not among the finest, %d (%s): %s",
					axis.Points, axis.Name, finest.Axes[a].Points, axis.Boundary, nesting[axis.Boundary])
			}
		}
	}
	return grids, nil
}

// nesting says when the points of an axis are among those of a finer one.
var nesting = map[grid.Boundary]string{
	grid.Periodic: "want one a multiple of the other",
	grid.Nodes:    "want one less one a multiple of the other less one",
	grid.Cells:    "want one an odd multiple of the other",
}

// finestGrid has the largest number of points along every axis.
func finestGrid(base *grid.Grid, others []EvaluationGrid) *grid.Grid {
	finest := &grid.Grid{Axes: slices.Clone(base.Axes)}
	for _, g := range others {
		for a, axis := range g.Axes {
			finest.Axes[a].Points = max(finest.Axes[a].Points, axis.Points)
		}
	}
	return finest
}

// CoarserGrids returns the grids that a spec trains on, those of its stages and its own, as
// far as each is finer than the one before and g finer than it: with no fewer points along any
// axis, and more in all.
func (s *Spec) CoarserGrids(p *pde.Problem, g *grid.Grid) ([]*grid.Grid, error) {
	var out []*grid.Grid
	for _, stage := range append(slices.Clone(s.Training.Stages), StageSpec{}) {
		on, err := p.Grid(s.pointsWith(stage.Grid))
		if err != nil {
			return nil, err
		}
		if finer(g, on) && (len(out) == 0 || finer(on, out[len(out)-1])) {
			out = append(out, on)
		}
	}
	return out, nil
}

func finer(g, than *grid.Grid) bool {
	for i, a := range g.Axes {
		if a.Points < than.Axes[i].Points {
			return false
		}
	}
	return g.Size() > than.Size()
}
