package ffno

import (
	"math"

	"pihc/compute"
	"pihc/internal/kernel"
)

// axis is the truncated transform along one axis and the matrices of its modes. A
// field is (outer, points, columns), its spectrum (outer, 2, modes, columns): cosine
// parts, then minus sine parts.
type axis[T compute.Float] struct {
	points, modes int
	outer         int   // per sample: points of the axes before this one
	inner         int   // points of the axes after this one
	basis         []T   // E (points, 2 modes): cosines, then minus sines
	inverse       []T   // E with columns times c_k/n
	at            []int // per layer: the offset of R
	matrices      []T   // (modes, 3, width, width), padded: Re R, Im R, -Im R; in backward their transposes
	hat           [][]T // per layer: the spectrum of v; where nothing is kept, the first is that of all
	sums          []T   // (batch, modes, 3, width, width): gradients, the last to be subtracted from the second
}

func newAxis[T compute.Float](n *evaluator[T], a int, shape []int, at []int) axis[T] {
	x := axis[T]{points: shape[a], modes: n.Modes[a], outer: 1, inner: 1, at: at, hat: make([][]T, n.Layers)}
	for _, points := range shape[:a] {
		x.outer *= points
	}
	for _, points := range shape[a+1:] {
		x.inner *= points
	}
	x.basis, x.inverse = n.alloc(x.points*2*x.modes), n.alloc(x.points*2*x.modes)
	for p := range x.points {
		for k := range x.modes {
			sin, cos := math.Sincos(2 * math.Pi * float64(k*p%x.points) / float64(x.points))
			scale := 2 / float64(x.points)
			if k == 0 || 2*k == x.points {
				scale /= 2
			}
			re, im := p*2*x.modes+k, p*2*x.modes+x.modes+k
			x.basis[re], x.basis[im] = T(cos), T(-sin)
			x.inverse[re], x.inverse[im] = T(scale*cos), T(-scale*sin)
		}
	}
	x.matrices = n.alloc(x.modes * 3 * n.width * n.width)
	x.hat[0] = n.alloc(x.size(n))
	return x
}

// size is the length of a spectrum of the batch.
func (x *axis[T]) size(n *evaluator[T]) int {
	return n.batch * x.outer * 2 * x.modes * x.inner * n.width
}

// columnBlock is how many columns one task transforms.
const columnBlock = 128

// transform sets dst (outer, 2 modes, columns) = matrixᵀ·src (outer, points, columns)
// for a matrix like E.
func (x *axis[T]) transform(n *evaluator[T], dst, src, matrix []T) {
	x.apply(n, dst, src, 2*x.modes, x.points, kernel.Product[T]{A: matrix, RowStride: 1, ColStride: 2 * x.modes}, false)
}

// back sets or adds to dst (outer, points, columns) matrix·src (outer, 2 modes, columns).
func (x *axis[T]) back(n *evaluator[T], dst, src, matrix []T, add bool) {
	x.apply(n, dst, src, x.points, 2*x.modes, kernel.Product[T]{A: matrix, RowStride: 2 * x.modes, ColStride: 1}, add)
}

// apply multiplies every block of columns, rows x columns of them, by a matrix. The
// rows of src may be powers of two apart, which compete for the same places of a
// cache: they are brought together first.
func (x *axis[T]) apply(n *evaluator[T], dst, src []T, rows, inner int, p kernel.Product[T], add bool) {
	columns := x.inner * n.width
	blocks := (columns + columnBlock - 1) / columnBlock
	n.pool.Run(n.batch*x.outer*blocks, func(worker, task int) {
		o, lo := task/blocks, task%blocks*columnBlock
		count := min(columnBlock, columns-lo)
		from := src[o*inner*columns+lo : (o+1)*inner*columns]
		product := p
		product.B, product.BStride, product.K = from, columns, inner
		if blocks > 1 {
			product.B, product.BStride = n.scratch[worker].columns, count
			for i := range inner {
				copy(product.B[i*count:(i+1)*count], from[i*columns:])
			}
		}
		kernel.Gemm(dst[o*rows*columns+lo:(o+1)*rows*columns], columns, rows, count, nil, add, product, kernel.Product[T]{})
	})
}

// pack copies the matrices of a layer, padded, or their transposes.
func (x *axis[T]) pack(n *evaluator[T], params []T, l int, transposed bool) {
	c, w := n.Width, n.width
	n.pool.Run(x.modes, func(_, k int) {
		m := x.matrices[k*3*w*w:][:3*w*w]
		re := params[x.at[l]+k*2*c*c:][:2*c*c]
		re, im := re[:c*c], re[c*c:]
		if transposed {
			kernel.Transpose(m, w, re, c, c)
			kernel.Transpose(m[w*w:], w, im, c, c)
		} else {
			kernel.CopyPadded(m, w, re, c, c)
			kernel.CopyPadded(m[w*w:], w, im, c, c)
		}
		for i, v := range m[w*w : 2*w*w] {
			m[2*w*w+i] = -v
		}
	})
}

// lineBlock is how many lines of one mode are multiplied at a time.
const lineBlock = 128

// lines is a number of lines of a spectrum at one mode: the offset of the first's
// real and imaginary part, and how far apart they are.
type lines struct{ re, im, count, stride int }

// runs is the number of groups of lines of a sample, and run one of them at a mode.
func (x *axis[T]) runs() (count, per int) {
	per = (x.inner + lineBlock - 1) / lineBlock
	if x.inner == 1 {
		return (x.outer + lineBlock - 1) / lineBlock, 1
	}
	return x.outer * per, per
}

func (x *axis[T]) run(n *evaluator[T], b, k, r int) lines {
	w := n.width
	line, block := x.inner*w, 2*x.modes*x.inner*w
	if x.inner == 1 {
		lo := r * lineBlock
		re := (b*x.outer+lo)*block + k*w
		return lines{re, re + x.modes*w, min(lineBlock, x.outer-lo), block}
	}
	_, per := x.runs()
	o, lo := r/per, r%per*lineBlock
	re := (b*x.outer+o)*block + k*line + lo*w
	return lines{re, re + x.modes*line, min(lineBlock, x.inner-lo), w}
}

// mix multiplies the spectrum, mode by mode, by R as complex numbers, and in backward
// by its conjugate transpose:
//
//	yr = vr·Re R - vi·Im R,       yi = vr·Im R + vi·Re R
//	v̄r = gr·Re Rᵀ + gi·Im Rᵀ,     v̄i = gi·Re Rᵀ - gr·Im Rᵀ
func (x *axis[T]) mix(n *evaluator[T], dst, src []T, conjugate bool) {
	w := n.width
	plus, minus := 1, 2 // Im R and -Im R
	if conjugate {
		plus, minus = 2, 1
	}
	runs, _ := x.runs()
	n.pool.Run(n.batch*x.modes*runs, func(_, task int) {
		b, k, r := task/(x.modes*runs), task/runs%x.modes, task%runs
		at := x.run(n, b, k, r)
		m := x.matrices[k*3*w*w:]
		product := func(from, which int) kernel.Product[T] {
			return kernel.Product[T]{A: src[from:], RowStride: at.stride, ColStride: 1, B: m[which*w*w:], BStride: w, K: n.Width}
		}
		kernel.Gemm(dst[at.re:], at.stride, at.count, w, nil, false, product(at.re, 0), product(at.im, minus))
		kernel.Gemm(dst[at.im:], at.stride, at.count, w, nil, false, product(at.re, plus), product(at.im, 0))
	})
}

// addMatrices sets or adds to the samples' gradients of a layer's matrices, from the
// spectra of v and of the gradient:
//
//	Re R̄ = vrᵀ·gr + viᵀ·gi,       Im R̄ = vrᵀ·gi - viᵀ·gr
func (x *axis[T]) addMatrices(n *evaluator[T], l int, g []T, add bool) {
	w, hat := n.width, x.hat[l]
	runs, _ := x.runs()
	n.pool.Run(n.batch*x.modes, func(_, task int) {
		b, k := task/x.modes, task%x.modes
		sums := x.sums[task*3*w*w:][:3*w*w]
		for r := range runs {
			at, more := x.run(n, b, k, r), add || r > 0
			product := func(v, g []T) kernel.Product[T] {
				return kernel.Product[T]{A: v, RowStride: 1, ColStride: at.stride, B: g, BStride: at.stride, K: at.count}
			}
			vr, vi, gr, gi := hat[at.re:], hat[at.im:], g[at.re:], g[at.im:]
			kernel.Gemm(sums, w, w, w, nil, more, product(vr, gr), product(vi, gi))
			kernel.Gemm(sums[w*w:], w, w, w, nil, more, product(vr, gi), kernel.Product[T]{})
			kernel.Gemm(sums[2*w*w:], w, w, w, nil, more, product(vi, gr), kernel.Product[T]{})
		}
	})
}

// addSums adds the samples' gradients of a layer's matrices to grad, in their order.
func (x *axis[T]) addSums(n *evaluator[T], grad []T, l int) {
	c, w := n.Width, n.width
	n.pool.Run(x.modes, func(_, k int) {
		re := grad[x.at[l]+k*2*c*c:][:2*c*c]
		re, im := re[:c*c], re[c*c:]
		for b := range n.batch {
			sums := x.sums[(b*x.modes+k)*3*w*w:]
			for i := range c {
				r, plus, minus := sums[i*w:][:c], sums[(w+i)*w:][:c], sums[(2*w+i)*w:][:c]
				for j, v := range r {
					re[i*c+j] += v
					im[i*c+j] += plus[j] - minus[j]
				}
			}
		}
	})
}
