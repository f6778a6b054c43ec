package grid

import "slices"

// Slices returns the grid of count slices along the first axis, which must not be periodic, from
// one on: their points have the same coordinates, up to rounding.
func (g *Grid) Slices(first, count int) *Grid {
	part := &Grid{Axes: slices.Clone(g.Axes)}
	a := &part.Axes[0]
	step := a.Step()
	if a.Boundary == Periodic {
		panic("grid: Slices: what comes after the last slice of a periodic axis is not the first")
	}
	a.Lo, a.Points = a.Lo+float64(first)*step, count
	a.Hi = a.Lo + float64(count)*step
	if a.Boundary == Nodes {
		a.Hi = g.Axes[0].Coordinate(first + count - 1)
	}
	return part
}

// Reach returns how many slices before and after the slices [lo, hi) of the first axis the rows
// of operators on g at their points read.
func (g *Grid) Reach(ops []Operator, lo, hi int) (below, above int) {
	width := g.Size() / g.Axes[0].Points
	for _, op := range ops {
		s, ok := op.(*stencil)
		if !ok {
			continue // spectral operators act within a slice
		}
		for p := lo * width; p < hi*width; p++ {
			offsets, _ := s.pattern(p)
			for _, o := range offsets {
				slice := (p + int(o)) / width
				below, above = max(below, lo-slice), max(above, slice+1-hi)
			}
		}
	}
	return below, above
}

// Divide returns the operators of g for the part of it that Slices gives from first on, with rows in
// the slices [lo, hi) of that part alone: nothing is defined in the others, which stencils read.
func (g *Grid) Divide(part *Grid, ops []Operator, first, lo, hi int) []Operator {
	width := g.Size() / g.Axes[0].Points
	var space *Spectral
	var out []Operator
	for _, op := range ops {
		switch op := op.(type) {
		case *stencil:
			s := *op
			s.size = part.Size()
			empty := uint16(len(s.constant))
			s.stencils.Start = append(slices.Clone(s.stencils.Start), s.stencils.Start[empty])
			s.constant, s.defined = append(slices.Clone(s.constant), 0), append(slices.Clone(s.defined), false)
			s.stencils.Which = slices.Clone(s.stencils.Which[first*width:][:s.size])
			for p := range s.stencils.Which {
				if p < lo*width || p >= hi*width {
					s.stencils.Which[p] = empty
				}
			}
			out = append(out, &s)
		case *multiplier:
			if space == nil {
				space = part.NewSpectral()
			}
			m := *op
			m.space = space
			out = append(out, &m)
		}
	}
	return out
}
