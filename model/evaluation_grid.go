package model

import (
	"fmt"
	"maps"
	"slices"

	"pihc/constraint"
	"pihc/data"
	"pihc/grid"
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
func EvaluationGrids(s *Spec, p *pde.Problem) ([]EvaluationGrid, error) {
	own, err := p.Grid(s.Grid)
	if err != nil {
		return nil, err
	}
	if len(s.Data.Test.Grids) == 0 {
		return nil, nil
	}
	net, err := NewNetwork(s, p)
	if err != nil {
		return nil, err
	}
	options, err := s.Options(p)
	if err != nil {
		return nil, err
	}
	router := constraint.NewRouter(own, options.Experts)
	var grids []EvaluationGrid
	for i, points := range s.Data.Test.Grids {
		name := fmt.Sprintf("data.test.grids.%d", i)
		g := &grid.Grid{Axes: slices.Clone(own.Axes)}
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
		if err := CheckNetwork(net, g); err != nil {
			return nil, fmt.Errorf("%s (%s): %w", name, data.FormatShape(g.Shape()), err)
		}
		if _, err := router.Windows(g); err != nil {
			return nil, fmt.Errorf("%s (%s): %w", name, data.FormatShape(g.Shape()), err)
		}
		if same := func(o EvaluationGrid) bool { return slices.Equal(o.Axes, g.Axes) }; !same(EvaluationGrid{Grid: own}) && !slices.ContainsFunc(grids, same) {
			grids = append(grids, EvaluationGrid{g, samples})
		}
	}
	finest := finestGrid(own, grids)
	for _, g := range append([]EvaluationGrid{{Grid: own}}, grids...) {
		for a, axis := range g.Axes {
			if _, _, ok := picks(axis, finest.Axes[a]); !ok {
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
func finestGrid(own *grid.Grid, others []EvaluationGrid) *grid.Grid {
	finest := &grid.Grid{Axes: slices.Clone(own.Axes)}
	for _, g := range others {
		for a, axis := range g.Axes {
			finest.Axes[a].Points = max(finest.Axes[a].Points, axis.Points)
		}
	}
	return finest
}

// picks returns the first of the points of fine that is a point of coarse, and
// the step from one to the next; ok is false where coarse has other points.
func picks(coarse, fine grid.Axis) (first, step int, ok bool) {
	if coarse.Name != fine.Name || coarse.Lo != fine.Lo || coarse.Hi != fine.Hi || coarse.Boundary != fine.Boundary {
		return 0, 0, false
	}
	n, m := coarse.Points, fine.Points
	if coarse.Boundary == grid.Nodes {
		n, m = n-1, m-1
	}
	if n < 1 || m%n != 0 {
		return 0, 0, false
	}
	step = m / n
	if coarse.Boundary == grid.Cells {
		return step / 2, step, step%2 == 1
	}
	return 0, step, true
}

// Thins reports whether the axes fine have all points of the axes coarse.
func Thins(coarse, fine []grid.Axis) bool {
	for a := range coarse {
		if _, _, ok := picks(coarse[a], fine[a]); !ok {
			return false
		}
	}
	return true
}

// Thin writes to dst, on the axes coarse, the values that src, on the axes fine,
// has there, of one field or of several one after another. It panics if a length does not
// fit, or unless Thins.
func Thin(dst, src []float64, coarse, fine []grid.Axis) {
	size, fineSize := 1, 1
	first, step := make([]int, len(fine)), make([]int, len(fine))
	for a := range fine {
		var ok bool
		if first[a], step[a], ok = picks(coarse[a], fine[a]); !ok {
			panic("model: Thin: the finer grid lacks points of the coarser")
		}
		size, fineSize = size*coarse[a].Points, fineSize*fine[a].Points
	}
	fields := len(src) / fineSize
	if len(dst) != fields*size || len(src) != fields*fineSize {
		panic("model: Thin: a field does not fit its axes")
	}
	for f := range fields {
		thin(dst[f*size:(f+1)*size], src[f*fineSize:(f+1)*fineSize], coarse, fine, first, step)
	}
}

func thin(dst, src []float64, coarse, fine []grid.Axis, first, step []int) {
	size := len(dst)
	last := len(fine) - 1
	width := coarse[last].Points
	for row := range size / width {
		at, stride, rest := 0, 1, row
		for a := last; a >= 0; a-- {
			i := 0
			if a < last {
				i = rest % coarse[a].Points
				rest /= coarse[a].Points
			}
			at += (first[a] + i*step[a]) * stride
			stride *= fine[a].Points
		}
		for j := range width {
			dst[row*width+j] = src[at+j*step[last]]
		}
	}
}

// CoarserGrids returns the grids that a spec trains on, those of its stages and its own, as
// far as each is finer than the one before and g finer than it: with no fewer points along any
// axis, and more in all.
func CoarserGrids(s *Spec, p *pde.Problem, g *grid.Grid) ([]*grid.Grid, error) {
	var out []*grid.Grid
	for _, stage := range append(slices.Clone(s.Training.Stages), StageSpec{}) {
		points := map[string]int{}
		maps.Copy(points, s.Grid)
		maps.Copy(points, stage.Grid)
		on, err := p.Grid(points)
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
