package constraint

import (
	"slices"

	"pihc/grid"
)

// gatherTask fills rows [lo, hi) of the terms of one block that have stencils:
// they share the rows of the basis that the first brings to the cache.
type gatherTask struct {
	block  *rowBlock
	lo, hi int
}

// gatherRows is the number of rows gathered at once, and what they read should
// fit in a second-level cache.
const gatherRows = 1024

// gatherer fills the rows of all terms of a Sample. Terms that act on slices by
// Fourier transforms are filled slice by slice, for all blocks at once: then what
// is done for a whole slice serves every term and every expert.
type gatherer struct {
	tasks []gatherTask
	space *grid.Spectral // nil without such terms
	wants [][]wanted     // per term of Constraint.spectral: the rows of blocks

	// Lists of rows of the points last sampled, operator by operator.
	rows    []grid.SpectralRows   // of the basis, or instead
	dense   []grid.DenseRows      // for all operators
	offsets []grid.SpectralRows   // of the ansatz offset
	sources [][]grid.SpectralRows // adjoint rows, per expert s and q
}

type wanted struct {
	block *rowBlock
	at    int // among the set's terms
}

// add plans the rows of a block.
func (g *gatherer) add(b *rowBlock, c *Constraint) {
	g.wants = append(g.wants, make([][]wanted, len(c.spectral)-len(g.wants))...)
	stencils := false
	for j, t := range b.set.Terms {
		i := slices.Index(c.spectral, t)
		if i < 0 {
			stencils = true
			continue
		}
		g.space = grid.SpectralOf(c.System.Terms[t].Operator)
		g.wants[i] = append(g.wants[i], wanted{b, j})
	}
	for lo := 0; stencils && lo < len(b.points); lo += gatherRows {
		g.tasks = append(g.tasks, gatherTask{b, lo, min(lo+gatherRows, len(b.points))})
	}
}

// plan lists the spectral rows of the points just sampled, those of a float64
// basis for Fourier transforms.
func (g *gatherer) plan(c *Constraint, single bool) {
	g.rows, g.offsets = g.rows[:0], g.offsets[:0]
	for i, wants := range g.wants {
		op := c.System.Terms[c.spectral[i]].Operator
		for _, w := range wants {
			if !single {
				g.rows = appendRows(g.rows, op, w.block.points, w.block.a[w.at], c.N)
			}
			g.offsets = appendRows(g.offsets, op, w.block.points, w.block.constants[w.at], 1)
		}
	}
}

// planDense lists the rows of the basis for products with dense matrices.
func (g *gatherer) planDense(c *Constraint, blocks []*rowBlock) {
	count := 0
	for _, b := range blocks {
		for points := b.points; len(points) > 0; {
			lo := len(b.points) - len(points)
			hi := lo + ascending(points)
			points = b.points[hi:]
			if count == len(g.dense) {
				g.dense = append(g.dense, grid.DenseRows{Dst: make([][]float32, len(c.spectral))})
			}
			l := &g.dense[count]
			count++
			l.Points = b.points[lo:hi]
			for i, t := range c.spectral {
				l.Dst[i] = nil
				if j := slices.Index(b.set.Terms, t); j >= 0 {
					l.Dst[i] = b.a32[j][lo*c.N : hi*c.N]
				}
			}
		}
	}
	for i := count; i < len(g.dense); i++ {
		g.dense[i].Points = nil
	}
}

// ascending returns how many points ascend from the first on: rows from beyond the
// border follow an expert's own.
func ascending(points []int32) int {
	n := 1
	for n < len(points) && points[n] > points[n-1] {
		n++
	}
	return n
}

// planSources lists the adjoint rows of the spectral terms of every expert.
func (g *gatherer) planSources(c *Constraint, experts []*expert) {
	if g.sources == nil {
		g.sources = make([][]grid.SpectralRows, 2*len(experts))
	}
	for k, e := range experts {
		s, q := g.sources[2*k][:0], g.sources[2*k+1][:0]
		for _, term := range c.spectral {
			op := c.System.Terms[term].Operator
			for i, b := range e.blocks {
				if j := slices.Index(b.set.Terms, term); j >= 0 {
					s = appendRows(s, op, b.points, e.s[i][j], 1)
					q = appendRows(q, op, b.points, e.q[i][j], 1)
				}
			}
		}
		g.sources[2*k], g.sources[2*k+1] = s, q
	}
}

// appendRows adds the rows of one operator, cut where points do not ascend.
func appendRows(rows []grid.SpectralRows, op grid.Operator, points []int32, values []float64, n int) []grid.SpectralRows {
	for lo := 0; lo < len(points); {
		hi := lo + ascending(points[lo:])
		rows = append(rows, grid.SpectralRows{Operator: op, Points: points[lo:hi], Dst: values[lo*n : hi*n]})
		lo = hi
	}
	return rows
}

// gather fills the rows of every block from the basis, and those of spectral terms
// from the offset.
func (s *Sample) gather() {
	c, g := s.c, &s.gatherer
	c.pool.Run(len(g.tasks), s.stencilTask)
	if g.space == nil {
		return
	}
	g.plan(c, s.single)
	if s.single {
		g.planDense(c, s.finishes)
		c.pool.Run(s.slices, s.denseTask)
	} else {
		c.pool.Run(s.slices, s.spectralTask)
	}
	if s.offset != nil {
		c.pool.Run(g.space.Blocks(), s.offsetTask)
	}
}

func (s *Sample) gatherStencils(_, i int) {
	t, terms := &s.gatherer.tasks[i], s.c.System.Terms
	n := s.c.N
	for j, k := range t.block.set.Terms {
		switch {
		case grid.SpectralOf(terms[k].Operator) != nil:
		case s.single:
			grid.GatherFloat32(terms[k].Operator, t.block.a32[j][t.lo*n:t.hi*n], s.basis32, n, t.block.points[t.lo:t.hi])
		default:
			terms[k].Gather(t.block.a[j][t.lo*n:t.hi*n], s.basis, n, t.block.points[t.lo:t.hi])
		}
	}
}

func (s *Sample) gatherSlice(_, slice int) {
	s.gatherer.space.GatherSlice(slice, s.basis, s.c.N, s.gatherer.rows)
}

func (s *Sample) gatherDense(_, slice int) {
	width := len(s.basis32) / s.slices
	s.c.dense.GatherSlice(slice, s.basis32[slice*width:(slice+1)*width], s.c.N, s.gatherer.dense)
}

func (s *Sample) gatherOffsets(_, block int) {
	s.gatherer.space.GatherBlock(block, s.offset, s.gatherer.offsets)
}
