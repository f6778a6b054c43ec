package lm

import (
	"pihc/compute"
	"pihc/internal/kernel"
)

// Rows provides the rows of a problem in blocks, for row counts that do not
// fit in memory as a Jacobian. Block may be called from several goroutines at
// once with disjoint ranges.
type Rows interface {
	Dim() int
	Rows() int

	// Block writes rows [lo, hi) at w: residuals to r (hi-lo) and, unless jac
	// is nil, the Jacobian to jac ((hi-lo) x Dim, row-major).
	Block(r, jac, w []float64, lo, hi int)
}

// CurvedRows is a row provider with second derivatives.
type CurvedRows interface {
	Rows

	// AddCurvature adds Σ r_i∇²r_i over rows [lo, hi) to h (Dim x Dim,
	// row-major; only the lower triangle need be right). r holds the
	// residuals of those rows. Concurrent calls have different h.
	AddCurvature(h, r, w []float64, lo, hi int)
}

// maxChunks bounds the partial sums that exist at once, and with them the
// number of workers that one evaluation can keep busy.
const maxChunks = 32

// Streamed is the problem of a row provider. Its memory is bounded by
// 32·(n² + n) numbers (twice that with second derivatives) and a block of rows
// per worker, whatever the number of rows. The rows are cut into at most 32
// chunks that depend on their number alone, each is summed block by block, and
// the sums are added in order: results are bitwise the same for any number of
// workers.
type Streamed struct {
	rows    Rows
	pool    *compute.Pool
	m, n    int
	chunk   int // rows of a chunk
	block   int // rows of a block
	parts   []partial
	workers []streamScratch
}

// partial is the sum over a chunk.
type partial struct {
	cost    float64
	a, c, g []float64
}

type streamScratch struct {
	r, jac, ones, scratch []float64
	f, terms              [][]float64 // the argument lists of the kernel
}

// NewStreamed returns the problem of rows. Its evaluations run on the workers
// of pool; nil means the calling goroutine. It is a
// [RowReader], and for one goroutine at a time.
// It panics if rows has no rows or no unknowns.
func NewStreamed(rows Rows, pool *compute.Pool) *Streamed {
	m, n := rows.Rows(), rows.Dim()
	if m < 1 || n < 1 {
		panic("lm: NewStreamed needs positive Rows and Dim")
	}
	s := &Streamed{rows: rows, pool: pool, m: m, n: n}
	s.block = min(max(8192/n, 32), 512)
	s.chunk = max((m+maxChunks-1)/maxChunks, 2*s.block)
	s.chunk = (s.chunk + s.block - 1) / s.block * s.block
	s.parts = make([]partial, (m+s.chunk-1)/s.chunk)
	for i := range s.parts {
		s.parts[i] = partial{a: make([]float64, n*n), g: make([]float64, n)}
	}
	s.workers = make([]streamScratch, pool.Workers())
	for i := range s.workers {
		t := streamScratch{
			r: make([]float64, s.block), jac: make([]float64, s.block*n),
			ones: make([]float64, s.block), scratch: make([]float64, kernel.NormalScratch(n)),
		}
		for k := range t.ones {
			t.ones[k] = 1
		}
		t.f, t.terms = [][]float64{t.ones}, [][]float64{t.jac}
		s.workers[i] = t
	}
	return s
}

// Dim returns the number of unknowns.
func (s *Streamed) Dim() int { return s.n }

// EachBlock implements [RowReader].
func (s *Streamed) EachBlock(w []float64, visit func(r, jac []float64)) {
	t := &s.workers[0]
	for lo := 0; lo < s.m; lo += s.block {
		k := min(s.block, s.m-lo)
		s.rows.Block(t.r[:k], t.jac[:k*s.n], w, lo, lo+k)
		visit(t.r[:k], t.jac[:k*s.n])
	}
}

// Normal implements [Problem].
func (s *Streamed) Normal(a, g, w []float64) float64 { return s.evaluate(a, nil, g, w, nil) }

// evaluate sums the cost and, where they are not nil, a and g, and c from curved.
func (s *Streamed) evaluate(a, c, g, w []float64, curved CurvedRows) float64 {
	s.pool.Run(len(s.parts), func(worker, i int) {
		lo := i * s.chunk
		s.parts[i].sum(&s.workers[worker], s.rows, curved, w, lo, min(lo+s.chunk, s.m), s.block, g != nil)
	})
	cost := 0.0
	clear(a)
	clear(c)
	clear(g)
	for i := range s.parts {
		p := &s.parts[i]
		cost += p.cost
		if g != nil {
			axpy(a, 1, p.a)
			axpy(g, 1, p.g)
		}
		if curved != nil {
			axpy(c, 1, p.c)
		}
	}
	if g != nil {
		kernel.Symmetrize(a, s.n)
	}
	if curved != nil {
		kernel.Symmetrize(c, s.n)
	}
	return cost
}

// sum sums rows [lo, hi), a block at a time: the cost, with first the normal
// equations, and the curvature of curved, if there is one.
func (p *partial) sum(t *streamScratch, rows Rows, curved CurvedRows, w []float64, lo, hi, block int, first bool) {
	n := len(w)
	p.cost = 0
	clear(p.a)
	clear(p.g)
	clear(p.c)
	for ; lo < hi; lo += block {
		k := min(block, hi-lo)
		r := t.r[:k]
		if first {
			rows.Block(r, t.jac[:k*n], w, lo, lo+k)
			kernel.AccumulateNormal(p.a, p.g, n, k, t.f, t.terms, r, t.scratch)
		} else {
			rows.Block(r, nil, w, lo, lo+k)
		}
		p.cost += 0.5 * kernel.SumSquares64(r)
		if curved != nil {
			curved.AddCurvature(p.c, r, w, lo, lo+k)
		}
	}
}

// StreamedSecondOrder is a [Streamed] problem with its exact Hessian.
type StreamedSecondOrder struct {
	*Streamed
	curved CurvedRows
}

// NewStreamedSecondOrder is [NewStreamed] for rows with second derivatives.
func NewStreamedSecondOrder(rows CurvedRows, pool *compute.Pool) *StreamedSecondOrder {
	s := &StreamedSecondOrder{NewStreamed(rows, pool), rows}
	for i := range s.parts {
		s.parts[i].c = make([]float64, s.n*s.n)
	}
	return s
}

// HessianParts implements [SecondOrder].
func (s *StreamedSecondOrder) HessianParts(a, c, g, w []float64) float64 {
	return s.evaluate(a, c, g, w, s.curved)
}
