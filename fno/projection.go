package fno

import "pihc/internal/kernel"

// projectionForward computes the outputs of one tile from its v after the last layer.
func (n *evaluator[T]) projectionForward(s *scratch[T], dst, v []T, t tile, keep bool) {
	w, h, o := n.width, n.hidden, n.out
	pre := s.dh[:t.count*h]
	if keep {
		pre = part(t, n.kept.hidden, h)
	}
	kernel.Gemm(pre, h, t.count, h, n.weights.projectionBias, false, kernel.Product[T]{
		A: v, RowStride: w, ColStride: 1, B: n.weights.projection, BStride: h, K: w,
	}, kernel.Product[T]{})
	kernel.Gelu(s.h[:t.count*h], pre)
	out := s.do[:t.count*o]
	kernel.Gemm(out, o, t.count, o, n.weights.outputBias, false, kernel.Product[T]{
		A: s.h, RowStride: h, ColStride: 1, B: n.weights.output, BStride: o, K: h,
	}, kernel.Product[T]{})
	if n.OutputActivation {
		if keep {
			copy(part(t, n.kept.output, o), out)
		}
		kernel.Gelu(out, out)
	}
	for j := range n.Outputs {
		dst := line(&n.geometry, dst, n.Outputs, j, t)
		for i := range dst {
			dst[i] = out[i*o+j]
		}
	}
}

// projectionBackward takes bar to the gradient of the last layer's pre-activations,
// and adds the gradients of the projection.
func (n *evaluator[T]) projectionBackward(grad, bar []T) {
	c, h, o := &n.Network, n.hidden, n.out
	bias := n.width * h // offsets in a chunk's sums
	output := bias + h
	outputBias := output + h*o
	n.pool.Run(n.batch*n.chunks, func(worker, chunk int) {
		s, sums := &n.scratch[worker], n.adjoint.chunkSums(chunk)
		n.tiles(chunk, func(t tile) {
			g, dh := s.o[:t.count*o], s.dh[:t.count*h]
			for j := range c.Outputs {
				for i, v := range line(&n.geometry, bar, c.Outputs, j, t) {
					g[i*o+j] = v
				}
			}
			if c.OutputActivation {
				kernel.GeluBackward(s.do, g, part(t, n.kept.output, o))
			}
			kernel.Gemm(dh, h, t.count, h, nil, false, kernel.Product[T]{
				A: g, RowStride: o, ColStride: 1, B: n.weights.outputTrans, BStride: h, K: c.Outputs,
			}, kernel.Product[T]{})
			kernel.GeluBackward(s.h, dh, part(t, n.kept.hidden, h))
			outerSum(sums[output:], o, s.h, h, g, t)
			n.sumRows(sums[outputBias:][:o], g, o, t.count, t.more)

			w := n.width
			d, v := s.d[:t.count*w], part(t, n.kept.pre[c.Layers-1], w)
			kernel.Gemm(d, w, t.count, w, nil, false, kernel.Product[T]{
				A: dh, RowStride: h, ColStride: 1, B: n.weights.projectionTrans, BStride: w, K: c.Projection,
			}, kernel.Product[T]{})
			if c.LastActivation {
				kernel.GeluBackward(s.v, d, v)
				v = s.v
			}
			outerSum(sums, h, v, w, dh, t)
			n.sumRows(sums[bias:][:h], dh, h, t.count, t.more)
			n.emit(d, c.Layers-1, chunk, t)
		})
	})
	n.addSums(grad[n.offsets.projection:], c.Width, c.Projection, h, 0)
	n.addSums(grad[n.offsets.projectionBias:], 1, c.Projection, h, bias)
	n.addSums(grad[n.offsets.output:], c.Projection, c.Outputs, o, output)
	n.addSums(grad[n.offsets.outputBias:], 1, c.Outputs, o, outputBias)
}
