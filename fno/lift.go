package fno

import (
	"pihc/internal/kernel"
	"pihc/internal/slab"
)

// liftForward brings the inputs into point-major order and sets the spectrum of
// v_0 = a·lift + liftBias from that of a: the constant adds points·liftBias to the
// mode 0. v_0 itself is never formed.
func (n *evaluator[T]) liftForward(params, input []T) {
	n.pool.Run(n.batch*n.rows, func(_, row int) {
		t := tile{row: row, p: row * n.nx, count: n.nx}
		dst := n.kept.features[t.p*n.in : (t.p+t.count)*n.in]
		for i := range n.Inputs {
			for x, v := range line(&n.geometry, input, n.Inputs, i, t) {
				dst[x*n.in+i] = v
			}
		}
		n.rowTransform(dst, n.in, t)
	})
	n.transform(n.kept.featureHat, n.in)
	hat := n.kept.hat[0]
	kernel.Gemm(hat, n.width, n.batch*2*n.modes, n.width, nil, false, kernel.Product[T]{
		A: n.kept.featureHat, RowStride: n.in, ColStride: 1, B: n.weights.lift, BStride: n.width, K: n.Inputs,
	}, kernel.Product[T]{})
	bias := params[n.offsets.liftBias:][:n.Width]
	for b := range n.batch {
		for i, v := range bias {
			hat[b*2*n.modes*n.width+i] += T(n.all) * v
		}
	}
}

// liftBackward adds the gradients of the lift and of weight_0, which it is composed
// with. With G = inputsᵀ·g and γ = sum g over the points, both of layer 0, L the
// lift, c its bias and D = conj(R) g^:
//
//	W̄_0 += Lᵀ·G + c γᵀ
//	L̄   += a^ᵀ·D + G·W_0ᵀ          (a^ and D as real rows)
//	c̄   += W_0 γ + points · D[mode 0]
func (n *evaluator[T]) liftBackward(grad, params []T) {
	c, w, o, sum := n.Width, n.width, &n.offsets, n.scratch[0].mix.matrix
	points := []T{T(n.all)}
	for b := range n.batch {
		parts := n.adjoint.lift[b*n.chunks*n.in*w:]
		g := parts[:n.in*w]
		for chunk := 1; chunk < n.chunks; chunk++ {
			n.add(g, parts[chunk*n.in*w:])
		}
		slab.Sum(n.slab, g)
		if !n.slab.Leads() {
			continue // all ranks have these operands
		}
		hat, gamma := n.mixed[b*2*n.modes*w:], n.adjoint.hat[b*2*n.modes*w:]
		transposed := n.weights.transposed[0]

		kernel.Gemm(sum, c, c, c, nil, false,
			kernel.Product[T]{A: params[o.lift:], RowStride: 1, ColStride: c, B: g, BStride: w, K: n.Inputs},
			kernel.Product[T]{A: params[o.liftBias:], RowStride: 1, B: gamma, K: 1})
		n.add(grad[o.weight[0]:][:c*c], sum)
		kernel.Gemm(sum, c, n.Inputs, c, nil, false,
			kernel.Product[T]{A: n.kept.featureHat[b*2*n.modes*n.in:], RowStride: 1, ColStride: n.in, B: hat, BStride: w, K: 2 * n.modes},
			kernel.Product[T]{A: g, RowStride: w, ColStride: 1, B: transposed, BStride: w, K: c})
		n.add(grad[o.lift:][:n.Inputs*c], sum)
		kernel.Gemm(sum, c, 1, c, nil, false,
			kernel.Product[T]{A: gamma, ColStride: 1, B: transposed, BStride: w, K: c},
			kernel.Product[T]{A: points, B: hat, K: 1})
		n.add(grad[o.liftBias:][:c], sum)
	}
}
