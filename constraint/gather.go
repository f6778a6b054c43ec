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
	rows     []grid.SpectralRows // of this solve, operator by operator
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

// plan lists the spectral rows of the points just sampled, each list cut where
// its points do not ascend (rows from beyond the border follow an expert's own).
func (g *gatherer) plan(terms []pde.Operator, n int) {
	g.rows = g.rows[:0]
	for _, s := range g.spectral {
		for _, w := range s.wants {
			points := w.block.points
			for lo := 0; lo < len(points); {
				hi := lo + 1
				for hi < len(points) && points[hi] > points[hi-1] {
					hi++
				}
				g.rows = append(g.rows, grid.SpectralRows{
					Operator: terms[s.term].Operator, Points: points[lo:hi], Dst: w.block.a[w.at][lo*n : hi*n],
				})
				lo = hi
			}
		}
	}
}

// gather fills the rows of every block from the basis.
func (s *Sample) gather() {
	c, g := s.c, &s.gatherer
	c.pool.Run(len(g.tasks), s.stencilTask)
	if g.space != nil {
		g.plan(c.System.Terms, c.N)
		c.pool.Run(s.slices, s.spectralTask)
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
