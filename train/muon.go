package train

import (
	"math"

	"pihc/compute"
	"pihc/internal/kernel"
	"pihc/network"
)

const (
	// momentum is Muon's, in the form of Nesterov.
	momentum = 0.95
	// muonSize is the root mean square of a step over the learning rate, about that of Adam's (Liu et al., "Muon is
	// Scalable for LLM Training", 2025, section 2.2), so that one learning rate is for both.
	muonSize = 0.2
	// The polynomial a x + b x³ + c x⁵ of Newton-Schulz (Jordan et al., "Muon: An optimizer for hidden layers in neural
	// networks", 2024): singular values end near one, mostly between 0.7 and 1.2, not at it.
	schulzA, schulzB, schulzC = 3.4445, -4.7750, 2.0315
	// iterations are fewer than Jordan's five, since matrices begin nearer to one: divided by the root of ‖xᵀx‖.
	iterations = 3
)

// matrix is one matrix among the parameters, rows x columns from offset on. A complex one is that of its real parts above its
// imaginary parts.
type matrix struct{ offset, rows, columns int }

func (m matrix) size() int { return m.rows * m.columns }

// matrices lists the matrices of a network that Muon updates, all but those of the first and the last layer.
func matrices(layout network.Layout) (all []matrix) {
	var tensors []compute.Tensor
	for _, t := range layout {
		if len(t.Shape) > 1 {
			tensors = append(tensors, t)
		}
	}
	for _, t := range tensors[min(1, len(tensors)):max(1, len(tensors)-1)] {
		n := len(t.Shape)
		m := matrix{t.Offset, t.Shape[n-2], t.Shape[n-1]}
		if t.Complex {
			m.rows *= 2
		}
		for ; m.offset < t.Offset+t.Size(); m.offset += m.size() {
			all = append(all, m)
		}
	}
	return all
}

// A newtonSchulz makes matrices orthogonal in memory of its own.
type newtonSchulz[T compute.Float] struct{ next, gram, square []T }

func newNewtonSchulz[T compute.Float](all []matrix) *newtonSchulz[T] {
	most, columns := 0, 0
	for _, m := range all {
		most, columns = max(most, m.size()), max(columns, m.columns)
	}
	return &newtonSchulz[T]{kernel.Aligned[T](most), kernel.Aligned[T](columns * columns), kernel.Aligned[T](columns * columns)}
}

// orthogonalise replaces x, rows x columns, by a matrix with its singular vectors and singular values near one. What is next to zero stays.
func (o *newtonSchulz[T]) orthogonalise(x []T, m matrix) {
	norm := math.Sqrt(kernel.SumSquares(x))
	if norm < 1e-30 { // of a gradient that is gone, too small for a float32 to divide by
		return
	}
	scale(x, 1/norm)
	n, next := m.columns, o.next[:m.size()]
	gram, square := o.gram[:n*n], o.square[:n*n]
	for i := range iterations {
		product(gram, kernel.Product[T]{A: x, RowStride: 1, ColStride: n, B: x, BStride: n, K: m.rows}, n, n)
		if i == 0 {
			norm = math.Sqrt(kernel.SumSquares(gram))
			scale(gram, 1/norm)
			scale(x, 1/math.Sqrt(norm))
		}
		product(square, kernel.Product[T]{A: gram, RowStride: n, ColStride: 1, B: gram, BStride: n, K: n}, n, n)
		for j, v := range square {
			gram[j] = T(schulzB*gram[j]) + T(schulzC*v)
		}
		for j := range n {
			gram[j*n+j] += schulzA
		}
		product(next, kernel.Product[T]{A: x, RowStride: n, ColStride: 1, B: gram, BStride: n, K: n}, m.rows, n)
		copy(x, next)
	}
}

func product[T compute.Float](dst []T, p kernel.Product[T], rows, columns int) {
	kernel.Gemm(dst, columns, rows, columns, nil, false, p, kernel.Product[T]{})
}

func scale[T compute.Float](x []T, f float64) {
	for i := range x {
		x[i] *= T(f)
	}
}

// step is one step of Muon for a matrix (Jordan et al. 2024): params, first, its momentum, and the gradient times factor, which it
// overwrites.
func (o *newtonSchulz[T]) step(params, first, grad []T, m matrix, factor, rate float64) {
	mu, rest := T(momentum), T(1-momentum)
	for i, g := range grad {
		g *= T(factor) * rest
		first[i] = T(mu*first[i]) + g
		grad[i] = T(mu*first[i]) + g
	}
	o.orthogonalise(grad, m)
	// An orthogonal matrix has a sum of squares of min(rows, columns).
	size := T(rate * muonSize * math.Sqrt(float64(max(m.rows, m.columns))))
	for i, g := range grad {
		params[i] -= T(size * g)
	}
}
