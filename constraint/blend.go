package constraint

import (
	"fmt"
	"math"

	"pihc/grid"
	"pihc/internal/kernel"
)

// A blended point is near borders: its field is a mean of those of several experts.
type blended struct {
	point   int // on the grid, or the part of it
	experts []int
	parts   []float64 // of each, with the sum 1
}

// findBlended lists the points within a band around borders, in which the field of one expert goes over into its neighbour's
// (a partition of unity; I. Babuška and J. M. Melenk, 1997). The band reaches to either side by the fraction width of the
// narrower subdomain, along each axis by itself.
func (c *Constraint) findBlended(width float64) error {
	boxes, ok := c.Router.(Boxes)
	if !ok {
		return fmt.Errorf("blend: experts are no boxes: want 0")
	}
	whole := c.System.All().Grid
	along := make([][]blended, len(boxes)) // per axis and index, experts counted along the axis
	for a, axis := range whole.Axes {
		for _, x := range axis.Coordinates() {
			along[a] = append(along[a], shares(boxes[a], x, width, axis.Boundary == grid.Periodic))
		}
	}
	first, end := c.System.OwnPoints()
	index := make([]int, len(whole.Axes))
	for p := first; p < end; p++ {
		whole.Unravel(p+c.System.FirstPoint(), index)
		near := false
		for a, i := range index {
			near = near || len(along[a][i].experts) > 1
		}
		if !near {
			continue
		}
		at := blended{point: p, experts: []int{0}, parts: []float64{1}}
		for a, i := range index {
			var next blended
			for e, k := range at.experts {
				for j, part := range along[a][i].experts {
					next.experts = append(next.experts, k*(len(boxes[a])-1)+part)
					next.parts = append(next.parts, at.parts[e]*along[a][i].parts[j])
				}
			}
			at.experts, at.parts = next.experts, next.parts
		}
		c.blended = append(c.blended, at)
	}
	return nil
}

// shares are the subdomains of an axis, between ascending borders, that have a part in x, and these parts.
func shares(borders []float64, x, width float64, periodic bool) blended {
	n := len(borders) - 1
	length := func(j int) float64 { return borders[j+1] - borders[j] }
	for j := range n + 1 {
		lower, upper := j-1, j
		if j == 0 || j == n {
			if !periodic || n == 1 {
				continue
			}
			lower, upper = n-1, 0
		}
		d := (x - borders[j]) / (width * min(length(lower), length(upper)))
		if math.Abs(d) >= 1 {
			continue
		}
		// The polynomial of fifth degree whose first and second derivatives vanish at both ends.
		s := (d + 1) / 2
		s = s * s * s * (10 + s*(6*s-15))
		return blended{experts: []int{lower, upper}, parts: []float64{1 - s, s}}
	}
	own := 0
	for own < n-1 && x >= borders[own+1] {
		own++
	}
	return blended{experts: []int{own}, parts: []float64{1}}
}

// blend puts the means of experts' fields in the place of those of single ones, within bands around borders.
func (s *Workspace) blend() {
	size := s.c.System.Grid.Size()
	s.c.pool.Run(len(s.c.blended), func(worker, i int) {
		b := &s.c.blended[i]
		for unknown := range s.c.System.Problem.Unknowns {
			at := unknown*size + b.point
			row, column, v := s.store.basisRows(s.workers[worker], at, at+1), s.c.first(unknown), 0.0
			for j, k := range b.experts {
				v += b.parts[j] * kernel.Dot(row, s.experts[k].omega[column:][:len(row)])
			}
			if s.offset != nil {
				v += s.offset[at]
			}
			s.field[at] = v
		}
	})
}

// Shares are the part of each expert (K, P) in the field at every point of the grid: 1 of the owner, but near borders with
// Options.Blend.
func (c *Constraint) Shares() [][]float64 {
	size := c.System.Grid.Size()
	all := make([][]float64, c.Router.Experts())
	for k := range all {
		all[k] = make([]float64, size)
	}
	for p := range size {
		all[c.Expert(p+c.System.FirstPoint())][p] = 1
	}
	for _, b := range c.blended {
		for k := range all {
			all[k][b.point] = 0
		}
		for j, k := range b.experts {
			all[k][b.point] += b.parts[j]
		}
	}
	return all
}
