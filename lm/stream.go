package lm

import "pihc/internal/kernel"

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
// 32·(n² + n) numbers and a block of rows per worker, whatever the number of
// rows. (The [Cauchy] rule keeps two residual vectors beside.) The rows are cut into at most 32 chunks that depend on their number
// alone, each is summed block by block, and the sums are added in order:
// results are bitwise the same for any number of workers.
type Streamed struct {
	rows    Rows
	pool    *kernel.Pool
	m, n    int
	chunk   int // rows of a chunk
	block   int // rows of a block
	parts   []partial
	workers []streamScratch

	// The evaluation under way.
	w      []float64
	first  bool // derivatives wanted
	curved CurvedRows
	run    func(worker, i int)
}

type partial struct {
	cost float64
	a, g []float64
}

type streamScratch struct {
	r, jac, ones, scratch []float64
	f, terms              [][]float64 // the argument lists of the kernel
}

// NewStreamed returns the problem of rows. Its evaluations run on the workers
// of pool; nil means the calling goroutine. It implements [RowReader] and
// [Residuals], and is for one goroutine at a time.
// It panics if rows has no rows or no unknowns.
func NewStreamed(rows Rows, pool *kernel.Pool) *Streamed {
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
	s.run = s.sumChunk
	return s
}

// Dim returns the number of unknowns.
func (s *Streamed) Dim() int { return s.n }

// Rows returns the number of rows.
func (s *Streamed) Rows() int { return s.m }

// Residual writes all residuals at w.
func (s *Streamed) Residual(r, w []float64) { s.rows.Block(r, nil, w, 0, s.m) }

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
func (s *Streamed) Normal(a, g, w []float64) float64 { return s.evaluate(a, g, w, nil) }

func (s *Streamed) evaluate(a, g, w []float64, curved CurvedRows) float64 {
	s.w, s.first, s.curved = w, g != nil, curved
	s.pool.Run(len(s.parts), s.run)
	s.w, s.curved = nil, nil
	cost := 0.0
	if g != nil {
		clear(a)
		clear(g)
	}
	for i := range s.parts {
		p := &s.parts[i]
		cost += p.cost
		if g != nil {
			axpy(a, 1, p.a)
			axpy(g, 1, p.g)
		}
	}
	if g != nil {
		kernel.Symmetrize(a, s.n)
	}
	return cost
}

// sumChunk sums chunk i into its partial.
func (s *Streamed) sumChunk(worker, i int) {
	t, p, n := &s.workers[worker], &s.parts[i], s.n
	p.cost = 0
	if s.first {
		clear(p.a)
		clear(p.g)
	}
	end := min((i+1)*s.chunk, s.m)
	for lo := i * s.chunk; lo < end; lo += s.block {
		k := min(s.block, end-lo)
		r := t.r[:k]
		if !s.first {
			s.rows.Block(r, nil, s.w, lo, lo+k)
			p.cost += 0.5 * kernel.SumSquares64(r)
			continue
		}
		s.rows.Block(r, t.jac[:k*n], s.w, lo, lo+k)
		p.cost += 0.5 * kernel.SumSquares64(r)
		kernel.AccumulateNormal(p.a, p.g, n, k, t.f, t.terms, r, t.scratch)
		if s.curved != nil {
			s.curved.AddCurvature(p.a, r, s.w, lo, lo+k)
		}
	}
}

// StreamedSecondOrder is a [Streamed] problem with its exact Hessian.
type StreamedSecondOrder struct {
	*Streamed
	curved CurvedRows
}

// NewStreamedSecondOrder is [NewStreamed] for rows with second derivatives.
func NewStreamedSecondOrder(rows CurvedRows, pool *kernel.Pool) *StreamedSecondOrder {
	return &StreamedSecondOrder{NewStreamed(rows, pool), rows}
}

// Hessian implements [SecondOrder].
func (s *StreamedSecondOrder) Hessian(h, g, w []float64) float64 {
	return s.evaluate(h, g, w, s.curved)
}
