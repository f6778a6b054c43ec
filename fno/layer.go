package fno

import "pihc/internal/kernel"

// layerForward computes layer l from the spectrum of v_l: the spectrum of v_{l+1} or, in
// the last layer, dst. A row goes, tile by tile, through all that needs no other rows.
func (n *evaluator[T]) layerForward(dst, params []T, l int, keep bool) {
	n.mixForward(params, l)
	n.inverseTransform(n.mixed)
	w, last := n.width, l == n.Layers-1
	n.pool.Run(n.batch*n.rows, func(worker, row int) {
		s := &n.scratch[worker]
		n.rowTiles(row, row+1, func(t tile) {
			pre, v, stride, inner := s.d[:t.count*w], part(t, n.field, w), w, w
			if keep {
				pre = part(t, n.kept.pre[l], w)
			}
			if l == 0 {
				v, stride, inner = part(t, n.kept.features, n.in), n.in, n.Inputs
			}
			kernel.Gemm(pre, w, t.count, w, n.weights.bias[l], false, kernel.Product[T]{
				A: v, RowStride: stride, ColStride: 1, B: n.weights.weight[l], BStride: w, K: inner,
			}, n.inverseRow(t))
			switch v = pre; {
			case !last:
				v = part(t, n.field, w)
				kernel.Gelu(v, pre)
			case n.LastActivation:
				v = s.v[:t.count*w]
				kernel.Gelu(v, pre)
			}
			if last {
				n.projectionForward(s, dst, v, t, keep)
			} else {
				n.rowTransform(v, w, t)
			}
		})
	})
	if !last {
		n.transform(n.kept.hat[l+1], w)
	}
}

// layerBackward computes the gradient of layer l-1's pre-activations from layer l's, and
// adds the gradients of the layer's parameters; liftBackward adds the ones that the lift
// is composed with.
func (n *evaluator[T]) layerBackward(grad, params []T, l int) {
	c, w := n.Width, n.width
	n.transform(n.adjoint.hat, w)
	for b := range n.batch { // the sum over all points is the mode 0
		if !n.slab.Leads() {
			break // all ranks have it
		}
		n.add(grad[n.offsets.bias[l]:][:c], n.adjoint.hat[b*2*n.modes*w:])
	}
	n.mixBackward(grad, params, l)
	if l == 0 {
		return
	}
	n.inverseTransform(n.mixed)
	n.pool.Run(n.batch*n.chunks, func(worker, chunk int) {
		s, weight := &n.scratch[worker], n.adjoint.chunkSums(chunk)
		n.tiles(chunk, func(t tile) {
			g, d, v := part(t, n.field, w), s.d[:t.count*w], s.v[:t.count*w]
			kernel.Gemm(d, w, t.count, w, nil, false, kernel.Product[T]{
				A: g, RowStride: w, ColStride: 1, B: n.weights.transposed[l], BStride: w, K: w,
			}, n.inverseRow(t))
			kernel.GeluBackward(v, d, part(t, n.kept.pre[l-1], w))
			outerSum(weight, w, v, w, g, t)
			n.emit(d, l-1, chunk, t)
		})
	})
	n.addSums(grad[n.offsets.weight[l]:], c, c, w, 0)
}

// emit hands on a tile of the gradient of layer l's pre-activations: its transform
// along the row, and the tile itself or, for layer 0, only inputsᵀ·tile.
func (n *evaluator[T]) emit(d []T, l, chunk int, t tile) {
	n.rowTransform(d, n.width, t)
	if l > 0 {
		copy(part(t, n.field, n.width), d)
		return
	}
	kernel.Gemm(n.adjoint.lift[chunk*n.in*n.width:], n.width, n.Inputs, n.width, nil, t.more, kernel.Product[T]{
		A: n.kept.features[t.p*n.in:], RowStride: 1, ColStride: n.in, B: d, BStride: n.width, K: t.count,
	}, kernel.Product[T]{})
}
