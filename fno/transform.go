package fno

import (
	"math"

	"pihc/compute"
	"pihc/internal/kernel"
	"pihc/internal/slab"
)

// fourier holds the truncated transforms of a grid and the spectra between them.
type fourier[T compute.Float] struct {
	basis   []T            // E of the last axis
	inverse []T            // c_k/P
	axes    []outerAxis[T] // the last of them first, as forward applies them
	middle  [][]T          // between two outer transforms
	rows    []T            // (batch, rows, 2, m, width): transforms along the last axis
	mixed   []T            // (batch, rows, 2, m, width): S_row
}

func newFourier[T compute.Float](n *evaluator[T], shape []int) fourier[T] {
	last, widest := len(shape)-1, max(n.in, n.width)
	f := fourier[T]{
		basis: n.alloc(n.nx * 2 * n.m), inverse: make([]T, n.m),
		rows: n.alloc(n.batch * n.rows * 2 * n.m * widest), mixed: n.alloc(n.batch * n.rows * 2 * n.m * n.width),
	}
	for k := range n.m {
		for x := range n.nx {
			sin, cos := sincos(k, x, n.nx)
			f.basis[x*2*n.m+k], f.basis[x*2*n.m+n.m+k] = T(cos), T(-sin)
		}
		f.inverse[k] = T(2 / float64(n.all))
		if k == 0 || 2*k == n.nx {
			f.inverse[k] = T(1 / float64(n.all))
		}
	}
	outer, inner := n.rows, n.m
	for axis := last - 1; axis >= 0; axis-- {
		first, count := 0, shape[axis]
		if n.slab != nil && axis == 0 {
			first, count = n.slab.Lo, n.slab.Hi-n.slab.Lo
		}
		outer /= count
		f.axes = append(f.axes, newOuterAxis(n, axis, shape[axis], first, count, outer, inner))
		inner *= 2 * n.Modes[axis]
		if axis > 0 {
			f.middle = append(f.middle, n.alloc(n.batch*outer*2*inner*widest))
		}
	}
	return f
}

// rowTransform adds a tile's share of its row's transform along the last axis:
// (2m x width) (+)= Eᵀ·v.
func (n *evaluator[T]) rowTransform(v []T, width int, t tile) {
	k := 2 * n.m
	kernel.Gemm(n.fourier.rows[t.row*k*width:], width, k, width, nil, t.x > 0, kernel.Product[T]{
		A: n.fourier.basis[t.x*k:], RowStride: 1, ColStride: k, B: v, BStride: width, K: t.count,
	}, kernel.Product[T]{})
}

// inverseRow returns the product E·S_row of a tile: the transpose of rowTransform.
func (n *evaluator[T]) inverseRow(t tile) kernel.Product[T] {
	k := 2 * n.m
	return kernel.Product[T]{
		A: n.fourier.basis[t.x*k:], RowStride: k, ColStride: 1,
		B: n.fourier.mixed[t.row*k*n.width : (t.row+1)*k*n.width], BStride: n.width, K: k,
	}
}

// transform carries the spectra of all rows, of all ranks, through the outer axes into dst
// (batch, 2, modes, width).
func (n *evaluator[T]) transform(dst []T, width int) {
	f, src := &n.fourier, n.fourier.rows
	for i := range f.axes {
		to := dst
		if i < len(f.middle) {
			to = f.middle[i]
		}
		a, from := &f.axes[i], src
		n.pool.Run(a.tasks(n.batch, width), func(_, task int) { a.forward(to, from, width, task) })
		src = to
	}
	slab.Sum(n.slab, dst[:n.batch*2*n.modes*width])
}

// inverseTransform carries src (batch, 2, modes, width) to every S_row.
func (n *evaluator[T]) inverseTransform(src []T) {
	f := &n.fourier
	for i := len(f.axes) - 1; i >= 0; i-- {
		to := f.mixed
		if i > 0 {
			to = f.middle[i-1]
		}
		a, from := &f.axes[i], src
		n.pool.Run(a.tasks(n.batch, n.width), func(_, task int) { a.inverse(to, from, n.width, task) })
		src = to
	}
}

// outerAxis is the transform along one axis other than the last, as a real matrix
// that maps rows (point, part) to rows (part, mode):
//
//	[part, mode; point, part] = [cos sin; -sin cos],  θ = 2π q point/n
//
// for q = 0..m-1, -m..-1. Its transpose is the unnormalised inverse.
type outerAxis[T compute.Float] struct {
	points, modes int // of this rank, out of n, and 2m
	outer         int // transforms per sample: points of the axes before this one
	inner         int // modes of the axes after this one
	matrix        []T // (2 modes) x (2 points)
}

// newOuterAxis prepares the transform of count of all points of an axis, from first on.
func newOuterAxis[T compute.Float](n *evaluator[T], axis, all, first, count, outer, inner int) outerAxis[T] {
	m, points := n.Modes[axis], count
	a := outerAxis[T]{points: points, modes: 2 * m, outer: outer, inner: inner, matrix: n.alloc(4 * m * 2 * points)}
	for i := range 2 * m {
		q := i
		if i >= m {
			q -= 2 * m
		}
		for j := range points {
			sin, cos := sincos(q, first+j, all)
			re, im := a.matrix[i*2*points+2*j:], a.matrix[(2*m+i)*2*points+2*j:]
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
