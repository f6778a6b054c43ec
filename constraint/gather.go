package constraint

import (
	"pihc/grid"
	"pihc/pde"
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
// Fourier transforms are filled slice by slice, for all blocks at once: then one
// forward transform of a slice serves every term and every expert.
type gatherer struct {
	tasks    []gatherTask
	space    *grid.Spectral // nil without such terms
	spectral []spectralTerm

	// Lists of rows of the points last sampled, operator by operator.
	rows    []grid.SpectralRows   // of the basis
	offsets []grid.SpectralRows   // of the ansatz offset
	sources [][]grid.SpectralRows // adjoint rows, per expert s and q
}

// spectralTerm is one such operator, and the rows of blocks that want it.
type spectralTerm struct {
	term  int
	wants []wanted
}

type wanted struct {
	block *rowBlock
	at    int // among the set's terms
}

// add plans the rows of a block.
func (g *gatherer) add(b *rowBlock, terms []pde.Operator) {
	stencils := false
	for j, t := range b.set.Terms {
		space := grid.SpectralOf(terms[t].Operator)
		if space == nil {
			stencils = true
			continue
		}
		g.space = space
		g.want(t, wanted{b, j})
	}
	for lo := 0; stencils && lo < len(b.points); lo += gatherRows {
		g.tasks = append(g.tasks, gatherTask{b, lo, min(lo+gatherRows, len(b.points))})
	}
}

func (g *gatherer) want(term int, w wanted) {
	for i := range g.spectral {
		if g.spectral[i].term == term {
			g.spectral[i].wants = append(g.spectral[i].wants, w)
			return
		}
	}
	g.spectral = append(g.spectral, spectralTerm{term, []wanted{w}})
}

// plan lists the spectral rows of the points just sampled.
func (g *gatherer) plan(terms []pde.Operator, n int) {
	g.rows, g.offsets = g.rows[:0], g.offsets[:0]
	for _, s := range g.spectral {
		op := terms[s.term].Operator
		for _, w := range s.wants {
			g.rows = appendRows(g.rows, op, w.block.points, w.block.a[w.at], n)
			g.offsets = appendRows(g.offsets, op, w.block.points, w.block.constants[w.at], 1)
		}
	}
}

// planSources lists the adjoint rows of the spectral terms of every expert.
func (g *gatherer) planSources(experts []*expert, terms []pde.Operator) {
	if g.sources == nil {
		g.sources = make([][]grid.SpectralRows, 2*len(experts))
	}
	for k, e := range experts {
		s, q := g.sources[2*k][:0], g.sources[2*k+1][:0]
		for _, term := range g.spectral {
			op := terms[term.term].Operator
			for i, b := range e.blocks {
				for j, t := range b.set.Terms {
					if t == term.term {
						s = appendRows(s, op, b.points, e.s[i][j], 1)
						q = appendRows(q, op, b.points, e.q[i][j], 1)
					}
				}
			}
		}
		g.sources[2*k], g.sources[2*k+1] = s, q
	}
}

// appendRows adds the rows of one operator, cut where points do not ascend (rows
// from beyond the border follow an expert's own).
func appendRows(rows []grid.SpectralRows, op grid.Operator, points []int32, values []float64, n int) []grid.SpectralRows {
	for lo := 0; lo < len(points); {
		hi := lo + 1
		for hi < len(points) && points[hi] > points[hi-1] {
			hi++
		}
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
	if g.space != nil {
		g.plan(c.System.Terms, c.N)
		c.pool.Run(s.slices, s.spectralTask)
		if s.offset != nil {
			c.pool.Run(g.space.Blocks(), s.offsetTask)
		}
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

func (s *Sample) gatherOffsets(_, block int) {
	s.gatherer.space.GatherBlock(block, s.offset, s.gatherer.offsets)
}
