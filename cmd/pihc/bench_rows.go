package main

import (
	"math/rand/v2"

	"pihc/compute"
	"pihc/internal/kernel"
)

const (
	rowsBlock  = 256       // rows that go through the pass together
	rowsMemory = 256 << 20 // bytes of all rows of a measurement
)

// syntheticRows is a least-squares problem of the shape of a constraint's with
// random rows: r = z1 − D·z2/R(z0) − 1 with z_j = A_j w and R(u) = 1 + c/(1+u²),
// evaluated block by block in one pass: terms, residual, partials, JᵀJ, Jᵀr. It
// is an lm.RowReader.
type syntheticRows[T compute.Float] struct {
	m, n, stored int    // rows, unknowns, rows that are stored: they repeat
	a            [3][]T // A_j, row-major

	widened     [3][]float64 // a block of A_j, where T is float32
	z           [3][]float64
	f, view     [][]float64 // ∂r/∂z_j and A_j of the block at hand
	r, jacobian []float64
	scratch     []float64
}

// newSyntheticRows stores at most the given bytes of rows. More rows than that
// repeat: they are read from memory all the same, where they exceed the caches.
func newSyntheticRows[T compute.Float](m, n, bytes int, seed uint64) *syntheticRows[T] {
	size := 8
	if _, ok := any(T(0)).(float32); ok {
		size = 4
	}
	p := &syntheticRows[T]{
		m: m, n: n, stored: min(m, max(bytes/(3*n*size)/rowsBlock, 1)*rowsBlock),
		f: make([][]float64, 3), view: make([][]float64, 3),
		r: make([]float64, rowsBlock), jacobian: make([]float64, rowsBlock*n), scratch: make([]float64, kernel.NormalScratch(n)),
	}
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	for j := range p.a {
		p.a[j] = make([]T, p.stored*n)
		for i := range p.a[j] {
			p.a[j][i] = T(rng.Float64() - 0.5)
		}
		p.widened[j] = make([]float64, rowsBlock*n)
		p.z[j], p.f[j] = make([]float64, rowsBlock), make([]float64, rowsBlock)
	}
	return p
}

func (p *syntheticRows[T]) Dim() int { return p.n }

// block evaluates rows [lo, lo+k), k <= rowsBlock, and returns ½Σr².
func (p *syntheticRows[T]) block(w []float64, lo, k int) float64 {
	const d, c = 0.1, 2
	n, at := p.n, lo%p.stored
	for j := range p.a {
		switch rows := any(p.a[j]).(type) {
		case []float64:
			p.view[j] = rows[at*n : (at+k)*n]
		case []float32:
			p.view[j] = p.widened[j][:k*n]
			kernel.Widen(p.view[j], rows[at*n:(at+k)*n])
		}
		kernel.MatVecRows(p.z[j], n, k, p.view[j], w)
	}
	for i := range k {
		u := p.z[0][i] + 1
		s := 1 / (1 + u*u)
		inv := 1 / (1 + c*s)
		p.r[i] = p.z[1][i] - d*inv*p.z[2][i] - 1
		p.f[0][i] = -d * p.z[2][i] * inv * inv * c * s * s * 2 * u
		p.f[1][i] = 1
		p.f[2][i] = -d * inv
	}
	return 0.5 * kernel.SumSquares64(p.r[:k])
}

// Normal is the fused pass.
func (p *syntheticRows[T]) Normal(a, g, w []float64) float64 {
	cost := 0.0
	if g != nil {
		clear(a)
		clear(g)
	}
	for lo := 0; lo < p.m; lo += rowsBlock {
		k := min(rowsBlock, p.m-lo)
		cost += p.block(w, lo, k)
		if g != nil {
			kernel.AccumulateNormal(a, g, p.n, k, p.f, p.view, p.r, p.scratch)
		}
	}
	if g != nil {
		kernel.Symmetrize(a, p.n)
	}
	return cost
}

func (p *syntheticRows[T]) EachBlock(w []float64, visit func(r, jac []float64)) {
	for lo := 0; lo < p.m; lo += rowsBlock {
		k := min(rowsBlock, p.m-lo)
		p.block(w, lo, k)
		kernel.CombineRows(p.jacobian, p.n, k, p.f, p.view)
		visit(p.r[:k], p.jacobian[:k*p.n])
	}
}
