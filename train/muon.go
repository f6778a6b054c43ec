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
	// The iterations and the polynomial a x + b x³ + c x⁵ of Newton-Schulz (Jordan et al., "Muon: An optimizer for hidden
	// layers in neural networks", 2024): singular values end near one, mostly between 0.7 and 1.2, not at it.
	iterations                = 5
	schulzA, schulzB, schulzC = 3.4445, -4.7750, 2.0315
)

// matrix is one matrix among the parameters, rows x columns from offset on; a complex one has its imaginary parts after
// its real ones.
type matrix struct {
	offset, rows, columns int
	complex               bool
}

// parts is 2 for a complex matrix, else 1.
func (m matrix) parts() int {
	if m.complex {
		return 2
	}
	return 1
}

// size is the number of parameters.
func (m matrix) size() int { return m.rows * m.columns * m.parts() }

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
		m := matrix{t.Offset, t.Shape[n-2], t.Shape[n-1], t.Complex}
		for ; m.offset < t.Offset+t.Size(); m.offset += m.size() {
			all = append(all, m)
		}
	}
	return all
}

// A newtonSchulz makes matrices orthogonal in memory of its own. A complex matrix has there in each row its real parts,
// then its imaginary ones.
type newtonSchulz[T compute.Float] struct {
	x, next, factor, square, turned []T
}

func newNewtonSchulz[T compute.Float](all []matrix) *newtonSchulz[T] {
	most := 0
	for _, m := range all {
		most = max(most, max(m.rows, m.columns)*m.columns*m.parts())
	}
	a := kernel.Aligned[T]
	return &newtonSchulz[T]{a(most), a(most), a(most), a(most), a(most)}
}

// orthogonalise replaces a matrix, as the parameters have it, by one with its singular vectors and singular values near one.
// Zero stays.
func (o *newtonSchulz[T]) orthogonalise(v []T, m matrix) {
	norm := math.Sqrt(kernel.SumSquares(v))
	if norm == 0 {
		return
	}
	parts, width := m.parts(), m.parts()*m.columns
	x, next, factor, square := o.x[:m.rows*width], o.next[:m.rows*width], o.factor[:m.columns*width], o.square[:m.columns*width]
	for part := range parts {
		kernel.CopyPadded(x[part*m.columns:], width, v[part*m.rows*m.columns:], m.rows, m.columns)
	}
	scale := T(1 / norm)
	for i := range x {
		x[i] *= scale
	}
	for range iterations {
		o.gram(factor, x, m.rows, m)
		o.gram(square, factor, m.columns, m) // its square, since it is its own adjoint
		for i, f := range factor {
			factor[i] = T(schulzB*f) + T(schulzC*square[i])
		}
		for i := range m.columns {
			factor[i*width+i] += schulzA
		}
		first := kernel.Product[T]{A: x, RowStride: width, ColStride: 1, B: factor, BStride: width, K: m.columns}
		var second kernel.Product[T]
		if m.complex {
			second = first
			second.A, second.B = x[m.columns:], o.turn(factor, m)
		}
		kernel.Gemm(next, width, m.rows, width, nil, false, first, second)
		x, next = next, x
	}
	for part := range parts {
		for i := range m.rows {
			copy(v[(part*m.rows+i)*m.columns:][:m.columns], x[i*width+part*m.columns:])
		}
	}
}

// gram writes xᴴx, columns x columns, of x with so many rows.
func (o *newtonSchulz[T]) gram(dst, x []T, rows int, m matrix) {
	width := m.parts() * m.columns
	first := kernel.Product[T]{A: x, RowStride: 1, ColStride: width, B: x, BStride: width, K: rows}
	var second kernel.Product[T]
	if m.complex { // Reᵀx - Imᵀix: the real parts of ix are -Im
		second = first
		second.A = o.turn(x, m)
		second.B = second.A
	}
	kernel.Gemm(dst, width, m.columns, width, nil, false, first, second)
}

// turn returns i·x.
func (o *newtonSchulz[T]) turn(x []T, m matrix) []T {
	n, out := m.columns, o.turned[:len(x)]
	for i := 0; i < len(x); i += 2 * n {
		re, im := x[i:][:n], x[i+n:][:n]
		for j := range n {
			out[i+j], out[i+n+j] = -im[j], re[j]
		}
	}
	return out
}

// muon is one step of Muon for one matrix with a gradient that is scaled (Jordan et al. 2024): momentum in the form of
// Nesterov, made orthogonal. It leaves the gradient overwritten.
func (o *newtonSchulz[T]) muon(params, first, grad []T, m matrix, scale, rate float64) {
	f, mu, rest := T(scale), T(momentum), 1-T(momentum)
	for i, g := range grad {
		g = T(f * g)
		first[i] = T(mu*first[i]) + T(rest*g)
		grad[i] = T(mu*first[i]) + T(rest*g)
	}
	o.orthogonalise(grad, m)
	// An orthogonal matrix has min(rows, columns) for a sum of squares.
	size := T(rate * muonSize * math.Sqrt(float64(max(m.rows, m.columns)*m.parts())))
	for i, g := range grad {
		params[i] -= T(size * g)
	}
}
