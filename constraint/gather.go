package constraint

import (
	"slices"

	"pihc/grid"
	"pihc/internal/kernel"
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
	blocks  []denseBlock          // that these belong to
	offsets []grid.SpectralRows   // of the ansatz offset
	sources [][]grid.SpectralRows // adjoint rows, per expert s and q
}

// denseBlock is the block of a list of dense rows, and the row it begins at.
type denseBlock struct {
	*rowBlock
	lo int
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
				g.blocks = append(g.blocks, denseBlock{})
			}
			g.blocks[count] = denseBlock{b, lo}
			l := &g.dense[count]
			count++
			l.Points = b.points[lo:hi]
			for i, t := range c.spectral {
				l.Dst[i] = nil
				if c.merged[t] >= 0 {
					t = c.merged[t]
				}
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
	if s.single {
		g.planDense(c, s.finishes)
		c.pool.Run(s.slices, s.denseTask)
	} else {
		c.pool.Run(len(g.tasks), s.stencilTask)
	}
	if g.space == nil {
		return
	}
	g.plan(c, s.single)
	if !s.single {
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
		if grid.SpectralOf(terms[k].Operator) == nil {
			terms[k].Gather(t.block.a[j][t.lo*n:t.hi*n], s.basis, n, t.block.points[t.lo:t.hi])
		}
	}
}

func (s *Sample) gatherSlice(_, slice int) {
	s.gatherer.space.GatherSlice(slice, s.basis, s.c.N, s.gatherer.rows)
}

// gatherDense fills the rows of one slice: of terms with stencils too, which then
// find the slices around it in a cache.
func (s *Sample) gatherDense(_, slice int) {
	c, g := s.c, &s.gatherer
	n, width := c.N, len(s.field)/s.slices
	s.touch(slice)
	for i, b := range g.blocks {
		points := g.dense[i].Points
		from, _ := slices.BinarySearch(points, int32(slice*width))
		to, _ := slices.BinarySearch(points, int32((slice+1)*width))
		for j, t := range b.set.Terms {
			if op := c.System.Terms[t].Operator; grid.SpectralOf(op) == nil && from < to {
				grid.GatherFloat32(op, b.a32[j][(b.lo+from)*n:(b.lo+to)*n], s.basis32, n, points[from:to])
			}
		}
	}
	c.dense.GatherSlice(slice, s.basis32[slice*width*n:(slice+1)*width*n], n, g.dense)
}

// ahead is how many slices further on stencils in time look, as a rule.
const ahead = 2

// touch reads, in the order of memory, the slice that stencils are about to reach:
// rows are wanted here and there, and fetched one by one they come at a fraction of
// the speed.
func (s *Sample) touch(slice int) {
	width := len(s.basis32) / s.slices
	first, last := slice+ahead, min(slice+ahead, s.slices-1)
	if slice == 0 {
		first = 0
	}
	if first <= last {
		kernel.SumSquares(s.basis32[first*width : (last+1)*width])
	}
}

func (s *Sample) gatherOffsets(_, block int) {
	s.gatherer.space.GatherBlock(block, s.offset, s.gatherer.offsets)
}
