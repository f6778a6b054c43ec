package constraint

import (
	"cmp"
	"slices"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/internal/slab"
)

// Border is a pair of neighbouring experts along an axis, and the points next
// to their common border that are own: Below[i] in the lower subdomain and its neighbour
// Below[i]+Stride in the upper one, a step apart. Across the seam of a periodic
// axis the last point is the lower one and Stride is negative.
type Border struct {
	Lower, Upper int
	Below        []int32
	Stride       int32
	Step         float64 // of the axis, as a fraction of its length
}

// findBorders lists the pairs of neighbouring points with two owners, inside the domain and across the
// seams of periodic axes, by their experts and the way from one to the other.
func (c *Constraint) findBorders() {
	g := c.System.All().Grid
	strides, at := g.Strides(), map[[3]int]int{} // place of a border
	for p := range g.Size() {
		for a, axis := range g.Axes {
			stride := strides[a]
			if p/stride%axis.Points == axis.Points-1 {
				if axis.Boundary != grid.Periodic {
					continue
				}
				stride *= 1 - axis.Points
			}
			key := [3]int{c.Expert(p), c.Expert(p + stride), stride}
			if key[0] == key[1] {
				continue
			}
			i, ok := at[key]
			if !ok {
				i, at[key] = len(c.Borders), len(c.Borders)
				c.Borders = append(c.Borders, Border{key[0], key[1], nil, int32(stride), axis.Step() / (axis.Hi - axis.Lo)})
			}
			c.Borders[i].Below = append(c.Borders[i].Below, int32(p))
			c.allPairs += len(c.System.Problem.Unknowns)
		}
	}
	slices.SortStableFunc(c.Borders, func(x, y Border) int {
		return cmp.Or(x.Lower-y.Lower, x.Upper-y.Upper)
	})
	for i, b := range c.Borders {
		c.Borders[i].Below = c.System.Own(b.Below)
	}
	c.findPairs()
}

// Expert returns the expert that owns grid point p.
func (c *Constraint) Expert(p int) int { return int(c.division.Owner[p]) }

// Crossing tells, for every row of each residual, whether its stencils
// reach into the subdomain of another expert: there the residual of the
// assembled field sees the jump between two experts. Spectral terms see it
// everywhere, but the response to a jump falls off like 1/distance, and four fifths
// of its square is at the two points beside the border: those rows count as
// crossing.
func (c *Constraint) Crossing() [][]bool {
	whole := c.System.All()
	g := whole.Grid
	owner := c.division.Owner
	beside := make([]bool, g.Size())
	offset := int32(c.System.FirstPoint())
	for _, b := range c.Borders {
		if max(b.Stride, -b.Stride) >= int32(g.Strides()[0]) {
			continue // spectral terms act within a slice
		}
		for _, p := range b.Below {
			beside[p+offset], beside[p+offset+b.Stride] = true, true
		}
	}
	var all [][]bool
	for _, set := range c.System.Residuals() {
		crossing := make([]bool, len(set.Points))
		for _, t := range set.Terms {
			stencil, sparse := whole.Terms[t].Operator.(grid.Sparse)
			for i, p := range set.Points {
				p += offset
				if !sparse {
					crossing[i] = crossing[i] || beside[p]
					continue
				}
				stencil.Row(int(p), func(q int, _ float64) { crossing[i] = crossing[i] || owner[q] != owner[p] })
			}
		}
		all = append(all, crossing)
	}
	return all
}

// pair is two neighbouring values of a field (C, P) with two owners.
type pair struct {
	lower, upper int // experts
	at           [2]int
	column       int // of their weights
	step         float64
}

// findPairs lists those of all borders, whose points are own by now.
func (c *Constraint) findPairs() {
	for _, b := range c.Borders {
		for unknown := range c.System.Problem.Unknowns {
			for _, p := range b.Below {
				at := unknown*c.System.Grid.Size() + int(p)
				c.pairs = append(c.pairs, pair{b.Lower, b.Upper, [2]int{at, at + int(b.Stride)}, c.first(unknown), b.Step})
			}
		}
	}
}

// Jumps measures how the predictions of neighbouring experts differ along their borders:
// with d, on the two points on either side of a border, what the upper expert predicts of
// an unknown less what the lower one does, the means of d² and of (Δd/h)², h the step as a
// fraction of the axis's length. Without borders both are zero.
func (x Solution) Jumps() (jump, slope float64) {
	s := x.memory
	s.measurePairs()
	n := s.c.allPairs
	if n == 0 {
		return 0, 0
	}
	sums := []float64{0, 0}
	for i, d := range s.jump {
		sums[0] += d[0] * d[0]
		sums[0] += d[1] * d[1]
		slope := (d[1] - d[0]) / s.c.pairs[i].step
		sums[1] += slope * slope
	}
	slab.Sum(s.c.System.Slab, sums)
	return sums[0] / float64(2*n), sums[1] / float64(n)
}

// measurePairs fills the differences of both experts at the two values of every pair.
func (s *Workspace) measurePairs() {
	s.c.pool.Run(len(s.c.pairs), func(worker, i int) {
		p := &s.c.pairs[i]
		lower, upper := s.experts[p.lower].omega[p.column:], s.experts[p.upper].omega[p.column:]
		for side, at := range p.at {
			row := s.store.basisRows(s.workers[worker], at, at+1)
			s.jump[i][side] = kernel.Dot(row, upper[:len(row)]) - kernel.Dot(row, lower[:len(row)])
		}
	})
}

// spreadJumps adds the gradient of the weighted jumps, d = b·(ω_u − ω_l), to ω̄ of the two experts
// of each pair, and leaves that by the differences in their place, for addJumps.
func (s *Workspace) spreadJumps(jump, slope float64) {
	s.measurePairs()
	n := float64(s.c.allPairs)
	value := jump / n
	for i, d := range s.jump {
		p := &s.c.pairs[i]
		lower, upper := s.experts[p.lower], s.experts[p.upper]
		change := 2 * slope / (n * p.step * p.step) * (d[1] - d[0])
		for side, bar := range [2]float64{value*d[0] - change, value*d[1] + change} {
			at := p.at[side]
			row := s.store.basisRows(s.workers[0], at, at+1)
			kernel.Axpy64(upper.omegaBar[p.column:][:len(row)], bar, row)
			kernel.Axpy64(lower.omegaBar[p.column:][:len(row)], -bar, row)
			s.jump[i][side] = bar
		}
	}
}

// addJumps adds that gradient to α of the two experts, of which there are points [lo, hi).
func (s *Workspace) addJumps(lo, hi int) {
	size := s.c.System.Grid.Size()
	for i, bars := range s.jump {
		p := &s.c.pairs[i]
		for side, bar := range bars {
			if at := p.at[side] % size; at >= lo && at < hi {
				at += p.at[side]/size*(hi-lo) - lo
				s.alpha(p.upper)[at] += bar
				s.alpha(p.lower)[at] -= bar
			}
		}
	}
}
