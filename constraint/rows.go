package constraint

import (
	"math"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// chunkRows is the number of rows whose sums are formed together. Chunks, not
// workers, fix the order of every reduction. It is a multiple of kernel.BlockSize.
const chunkRows = 2048

// block is one set of rows as one solve sees it: at m points, the affine map from ω to
// the set's terms, z_j = c_j + A_j ω, with A_j in the sample's store.
type block struct {
	*pde.PointRows
	index int     // in the store
	count int     // of its rows on the whole grid
	most  int     // rows that memory is for
	times float64 // rows for each of those that solves start on
	// Of a part of a system: scratch of all rows that are sampled, and how many rows of the first
	// chunk, of which some are own, come before these: chunks and parts are those of the whole.
	drawn []int32
	phase int
	scale float64 // multiplies r², F_j F_k, ...: weight² or weight²/m

	// For affine sets the sums are formed once: ½‖r‖² = half + linear·ω + ½ ωᵀ gram ω.
	gram, linear []float64
	half         float64
}

// part is the part of a row, partEnd the row after the last of that part.
func (b *block) part(row int) int { return (b.phase%kernel.BlockSize + row) / kernel.BlockSize }

func (b *block) partEnd(row int) int {
	return (b.part(row)+1)*kernel.BlockSize - b.phase%kernel.BlockSize
}

// sums are those over one chunk of rows, unscaled.
type sums struct {
	gram, grad []float64 // JᵀJ (lower triangle), Jᵀr
	curvature  []float64 // Σ r_i∇²r_i, to be completed by the store
	cost       float64   // ½‖r‖²
}

func newSums(n int) sums {
	return sums{gram: make([]float64, n*n), grad: make([]float64, n), curvature: make([]float64, n*n)}
}

func (p *sums) clear() {
	clear(p.gram)
	clear(p.grad)
	clear(p.curvature)
	p.cost = 0
}

// wanted says which sums a pass over rows forms besides the cost.
type wanted struct{ normal, curvature bool }

func (w wanted) order() int {
	switch {
	case w.curvature:
		return 2
	case w.normal:
		return 1
	}
	return 0
}

// worker is one worker's memory.
type worker struct {
	*pde.RowEvaluator
	index   int         // on the pool
	z, y    [][]float64 // per term (kernel.BlockSize)
	s       [][]float64 // per pair of terms
	view    [][]float64
	sview   [][]float64
	scratch []float64 // of kernels
	wide    []float64 // rows of the basis in float64: as many as the last axis has points
	sums    sums
	line    []float64      // two lines of the functions, of smooth
	steps   *grid.Stepping // of Duhamel's formula by rows

	tile []float64 // b̄ of the functions at tilePoints points
}

func (c *Constraint) newWorker(index int) *worker {
	terms := 1
	for _, set := range c.System.Sets {
		terms = max(terms, len(set.Terms))
	}
	buffers := func(count int) [][]float64 {
		b := make([][]float64, count)
		for i := range b {
			b[i] = make([]float64, kernel.BlockSize)
		}
		return b
	}
	axes := c.System.Grid.Axes
	return &worker{
		RowEvaluator: c.System.NewRowEvaluator(kernel.BlockSize), index: index,
		z: buffers(terms), y: buffers(terms), s: buffers(terms * terms),
		view: make([][]float64, terms), sview: make([][]float64, terms*terms),
		scratch: make([]float64, max(kernel.NormalScratch32(c.N), kernel.BlockSize)), wide: make([]float64, axes[len(axes)-1].Points*c.stored),
		sums: newSums(c.N),
		tile: make([]float64, c.Functions*tilePoints),
	}
}

// evaluate returns r and its derivatives of rows [lo, lo+m) of a block, one part, at ω.
func (s *Workspace) evaluate(w *worker, b *block, order int, omega []float64, lo, m int) [][]float64 {
	for j := range b.Set.Terms {
		s.store.product(w, w.z[j][:m], b.index, b.part(lo), j, omega)
	}
	return w.Eval(b.PointRows, order, w.z, lo, m)
}

// pass adds the sums over rows [lo, hi) of a block at ω to p.
func (s *Workspace) pass(p *sums, w *worker, b *block, want wanted, omega []float64, lo, hi int) {
	terms := len(b.Set.Terms)
	for m := 0; lo < hi; lo += m {
		m = min(b.partEnd(lo), hi) - lo
		out := s.evaluate(w, b, want.order(), omega, lo, m)
		r := out[0]
		p.cost += 0.5 * kernel.SumSquares64(r)
		if want.normal {
			copy(w.view, out[1:1+terms])
			s.store.normal(w, p, b.index, b.part(lo), w.view[:terms], r)
		}
		if want.curvature {
			for j := range terms {
				for k := range j + 1 {
					var rf []float64
					if at := b.Set.Pair(j, k); at >= 0 {
						rf = w.s[j*terms+k][:m]
						kernel.Mul64(rf, r, out[at])
					}
					w.sview[j*terms+k], w.sview[k*terms+j] = rf, rf
				}
			}
			s.store.curvature(w, p, b.index, b.part(lo), m, w.sview[:terms*terms])
		}
	}
}

// summarise forms the constant sums of an affine set.
func (s *Workspace) summarise(w *worker, b *block) {
	p := &w.sums
	p.clear()
	s.pass(p, w, b, wanted{normal: true}, s.zero, 0, len(b.Points))
	kernel.Symmetrize(p.gram, len(s.zero))
	copy(b.gram, p.gram)
	copy(b.linear, p.grad)
	b.half = p.cost
}

// addAffine returns the cost of an affine set at ω, scaled, and adds its sums to a and g
// when g is not nil.
func (b *block) addAffine(a, g, omega []float64) float64 {
	n := len(omega)
	cost := b.half
	for i := range n {
		row := kernel.Dot(b.gram[i*n:(i+1)*n], omega)
		cost += omega[i] * (b.linear[i] + 0.5*row)
		if g != nil {
			g[i] += b.scale * (b.linear[i] + row)
			kernel.Axpy64(a[i*n:(i+1)*n], b.scale, b.gram[i*n:(i+1)*n])
		}
	}
	return b.scale * math.Max(cost, 0)
}

// adjointRows sets rows [lo, hi) of s_j = −scale Σ_l (F_j F_l + r F_jl) A_l λ and
// q_j = −scale r F_j at ω; in paper mode s_j = −scale F_j (Jλ) and q_j = 0. The signs
// are those with which the rows enter α and β.
func (s *Workspace) adjointRows(sj, qj [][]float64, w *worker, b *block, paper bool, omega, lambda []float64, lo, hi int) {
	for m := 0; lo < hi; lo += m {
		m = min(b.partEnd(lo), hi) - lo
		out := s.evaluate(w, b, 2, omega, lo, m)
		r := out[0]
		jl, product := w.s[0][:m], w.scratch[:m] // Jλ
		clear(jl)
		for j := range b.Set.Terms {
			s.store.product(w, w.y[j][:m], b.index, b.part(lo), j, lambda)
			kernel.Mul64(product, out[1+j], w.y[j][:m])
			kernel.Add64(jl, jl, product)
		}
		for j := range b.Set.Terms {
			sums, q := sj[j][lo:lo+m], qj[j][lo:lo+m]
			kernel.Mul64(q, r, out[1+j])
			kernel.MulScalar64(q, -b.scale, q)
			kernel.Mul64(sums, out[1+j], jl)
			for l := range b.Set.Terms {
				if at := b.Set.Pair(j, l); at >= 0 && !paper {
					kernel.Mul64(product, r, out[at])
					kernel.Mul64(product, product, w.y[l][:m])
					kernel.Add64(sums, sums, product)
				}
			}
			kernel.MulScalar64(sums, -b.scale, sums)
			if paper {
				clear(q)
			}
		}
	}
}
