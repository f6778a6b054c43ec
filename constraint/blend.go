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
	c.along = make([][]blended, len(boxes))
	for a, axis := range whole.Axes {
		for _, x := range axis.Coordinates() {
			c.along[a] = append(c.along[a], shares(boxes[a], x, width, axis.Boundary == grid.Periodic))
		}
	}
	first, end := c.System.OwnPoints()
	index := make([]int, len(whole.Axes))
	for p := first; p < end; p++ {
		whole.Unravel(p+c.System.FirstPoint(), index)
		near := false
		for a, i := range index {
			near = near || len(c.along[a][i].experts) > 1
		}
		if !near {
			continue
		}
		at := blended{point: p, experts: []int{0}, parts: []float64{1}}
		for a, i := range index {
			var next blended
			for e, k := range at.experts {
				for j, part := range c.along[a][i].experts {
					next.experts = append(next.experts, k*(len(boxes[a])-1)+part)
					next.parts = append(next.parts, at.parts[e]*c.along[a][i].parts[j])
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

// Shares are, per axis, the part (subdomains along it, points) that each subdomain has in the field at every index: the part of an expert
// at a point is the product of those of its subdomain along each axis. It is nil without Options.Blend and of a single expert.
func (c *Constraint) Shares() [][][]float64 {
	var all [][][]float64
	for a, along := range c.along {
		own := make([][]float64, len(c.Router.(Boxes)[a])-1)
		for k := range own {
			own[k] = make([]float64, len(along))
		}
		for i, b := range along {
			for j, k := range b.experts {
				own[k][i] += b.parts[j]
			}
		}
		all = append(all, own)
	}
	return all
}
