package fno

import (
	"math"

	"pihc/internal/kernel"
)

// basisMatrix returns E (n x 2m) of the last axis: E[x, k] = cos(2π k x/n) and
// E[x, m+k] = -sin(2π k x/n), the real and imaginary parts of exp(-i θ).
func basisMatrix[T kernel.Float](n, m int) []T {
	e := aligned[T](n * 2 * m)
	for x := range n {
		for k := range m {
			sin, cos := sincos(k, x, n)
			e[x*2*m+k], e[x*2*m+m+k] = T(cos), T(-sin)
		}
	}
	return e
}

// inverseWeights returns c_k/points for the modes of the last axis of n points.
func inverseWeights[T kernel.Float](n, m, points int) []T {
	w := make([]T, m)
	for k := range w {
		w[k] = T(2 / float64(points))
		if k == 0 || 2*k == n {
			w[k] = T(1 / float64(points))
		}
	}
	return w
}

// outerAxis is the transform along one axis other than the last, as a real matrix
// that maps rows (point, part) to rows (part, mode):
//
//	[part, mode; point, part] = [cos sin; -sin cos],  θ = 2π q point/n
//
// for q = 0..m-1, -m..-1. Its transpose is the unnormalised inverse.
type outerAxis[T kernel.Float] struct {
	points, modes int // n and 2m
	outer         int // transforms per sample: points of the axes before this one
	inner         int // modes of the axes after this one
	matrix        []T // (2 modes) x (2 points)
}

func newOuterAxis[T kernel.Float](n, m, outer, inner int) outerAxis[T] {
	a := outerAxis[T]{points: n, modes: 2 * m, outer: outer, inner: inner, matrix: make([]T, 4*m*2*n)}
	for i := range 2 * m {
		q := i
		if i >= m {
			q -= 2 * m
		}
		for j := range n {
			sin, cos := sincos(q, j, n)
			re, im := a.matrix[i*2*n+2*j:], a.matrix[(2*m+i)*2*n+2*j:]
			re[0], re[1] = T(cos), T(sin)
			im[0], im[1] = T(-sin), T(cos)
		}
	}
	return a
}

// columnBlock is how many columns of a spectrum one task transforms.
const columnBlock = 128

// tasks returns the number of independent pieces of a transform of fields of
// the given width, over all samples.
func (a *outerAxis[T]) tasks(batch, width int) int {
	return batch * a.outer * ceil(a.inner*width, columnBlock)
}

// forward runs piece i: dst (outer, part, mode, inner·width) from src (outer,
// point, part, inner·width).
func (a *outerAxis[T]) forward(dst, src []T, width, i int) {
	a.apply(dst, src, width, i, 2*a.modes, 2*a.points, 2*a.points, 1)
}

// inverse runs piece i of the transpose, from and to the layouts of forward.
func (a *outerAxis[T]) inverse(dst, src []T, width, i int) {
	a.apply(dst, src, width, i, 2*a.points, 2*a.modes, 1, 2*a.points)
}

func (a *outerAxis[T]) apply(dst, src []T, width, i, m, k, rowStride, colStride int) {
	columns := a.inner * width
	blocks := ceil(columns, columnBlock)
	o, lo := i/blocks, i%blocks*columnBlock
	kernel.Gemm(dst[o*m*columns+lo:(o+1)*m*columns], columns, m, min(columnBlock, columns-lo), nil, false,
		kernel.Product[T]{
			A: a.matrix, RowStride: rowStride, ColStride: colStride,
			B: src[o*k*columns+lo : (o+1)*k*columns], BStride: columns, K: k,
		}, kernel.Product[T]{})
}

// sincos returns the sine and cosine of 2π k x/n with the angle reduced exactly.
func sincos(k, x, n int) (sin, cos float64) {
	r := k * x % n
	return math.Sincos(2 * math.Pi * float64(r) / float64(n))
}

func ceil(a, b int) int { return (a + b - 1) / b }
