package enginetest

import (
	"slices"

	"pihc/constraint"
	"pihc/grid"
)

// Routers that are no boxes, or not alone: the suite has cases of both.
func init() {
	constraint.RegisterRouter("enginetest-diagonal", func(g *grid.Grid, experts []int) (constraint.Router, error) {
		return diagonal{g, experts[1]}, nil
	})
	constraint.RegisterRouter("enginetest-overlapping", func(g *grid.Grid, experts []int) (constraint.Router, error) {
		return overlapping{constraint.NewBoxes(g, experts)}, nil
	})
}

// diagonal divides the domain into bands across the first two axes, of which no expert has a box.
type diagonal struct {
	trained *grid.Grid
	bands   int
}

func (r diagonal) Experts() int { return r.bands }

func (r diagonal) Divide(g *grid.Grid) (*constraint.Division, error) {
	d := &constraint.Division{Owner: make([]int32, g.Size())}
	for p := range d.Owner {
		along := 0.0 // from 0 to 1
		for a, axis := range r.trained.Axes[:2] {
			i := p / g.Strides()[a] % g.Axes[a].Points
			along += (g.Axes[a].Coordinate(i) - axis.Lo) / (axis.Hi - axis.Lo) / 2
		}
		d.Owner[p] = int32(min(int(along*float64(r.bands)), r.bands-1))
	}
	return d, nil
}

// overlapping are boxes whose rows reach two points beyond them.
type overlapping struct{ constraint.Boxes }

func (r overlapping) Divide(g *grid.Grid) (*constraint.Division, error) {
	d, err := r.Boxes.Divide(g)
	if err != nil {
		return nil, err
	}
	for k := range r.Experts() {
		reached := make([]bool, g.Size())
		for _, p := range d.Points(k) {
			reached[p] = true
		}
		for a, axis := range g.Axes {
			stride, before := g.Strides()[a], slices.Clone(reached)
			for p := range reached {
				for _, step := range []int{-2, -1, 1, 2} {
					if i := p/stride%axis.Points + step; i >= 0 && i < axis.Points {
						reached[p] = reached[p] || before[p+step*stride]
					}
				}
			}
		}
		var rows []int32
		for p, is := range reached {
			if is {
				rows = append(rows, int32(p))
			}
		}
		d.Rows = append(d.Rows, rows)
	}
	return d, nil
}
