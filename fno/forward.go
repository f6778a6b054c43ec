package fno

import "pihc/internal/kernel"

// Forward evaluates the network and keeps what Backward needs.
//
// dst is (batch, outputs, points), input (batch, inputs, points), both with the
// grid's points row-major; params as Config.Layout. params must not change
// before Backward. It panics if a length is wrong.
func (n *Network[T]) Forward(dst, params, input []T) {
	n.allocateBackward()
	n.forward(dst, params, input, true)
}

// ForwardOnly evaluates the network with the same result as Forward, in less
// memory; Backward may not follow.
func (n *Network[T]) ForwardOnly(dst, params, input []T) { n.forward(dst, params, input, false) }

func (n *Network[T]) forward(dst, params, input []T, keep bool) {
	c := n.Config
	if len(params) != n.size || len(input) != n.batch*c.Inputs*n.points || len(dst) != n.batch*c.Outputs*n.points {
		panic("fno: Forward: wrong length of dst, params or input")
	}
	n.params, n.input, n.dst, n.keep, n.kept = params, input, dst, keep, keep
	n.pack(params)
	n.pool.Run(n.batch*n.rows, n.run.loadRow)
	n.transform(n.featureHat, n.in)
	n.liftSpectrum()
	for l := range c.Layers {
		n.layer = l
		n.pool.Run(ceil(n.modes, mixGroup), n.run.mixModes)
		n.inverseTransform(n.mixed)
		n.pool.Run(n.batch*n.rows, n.run.forwardRow)
		if l+1 < c.Layers {
			n.transform(n.hat[l+1], n.width)
		}
	}
	n.input, n.dst = nil, nil
}

// loadRow brings one row of the inputs into point-major order and transforms it.
func (n *Network[T]) loadRow(_, row int) {
	b, r := row/n.rows, row%n.rows
	dst := n.features[row*n.nx*n.in : (row+1)*n.nx*n.in]
	for i := range n.Config.Inputs {
		src := n.input[(b*n.Config.Inputs+i)*n.points+r*n.nx:][:n.nx]
		for x, v := range src {
			dst[x*n.in+i] = v
		}
	}
	n.rowTransform(n.rowSpectrum(row, n.in), dst, n.in, 0, n.nx)
}

// rowSpectrum returns the transform along the last axis of one row of the batch.
func (n *Network[T]) rowSpectrum(row, width int) []T {
	k := 2 * n.m * width
	return n.rowHat[row*k : (row+1)*k]
}

// liftSpectrum sets the spectrum of v_0 = a·lift + liftBias from that of a: the
// constant adds points·liftBias to the mode 0.
func (n *Network[T]) liftSpectrum() {
	kernel.Gemm(n.hat[0], n.width, n.batch*2*n.modes, n.width, nil, false, kernel.Product[T]{
		A: n.featureHat, RowStride: n.in, ColStride: 1,
		B: n.weights.lift, BStride: n.width, K: n.Config.Inputs,
	}, kernel.Product[T]{})
	bias := n.params[n.offsets.liftBias:][:n.Config.Width]
	for b := range n.batch {
		zero := n.hat[0][b*2*n.modes*n.width:]
		for i, v := range bias {
			zero[i] += T(n.points) * v
		}
	}
}

// forwardRow computes one row of the current layer's pre-activations, tile by
// tile, and what can follow without other rows: the next layer's transform along
// the row or, after the last layer, the projection. Where nothing is kept, the
// activations take the place of the pre-activations.
func (n *Network[T]) forwardRow(worker, row int) {
	s, l := &n.scratch[worker], n.layer
	w, k := n.width, 2*n.m
	last := l == n.Config.Layers-1
	rowS := n.rowS[row*k*w : (row+1)*k*w]
	for x0 := 0; x0 < n.nx; x0 += tilePoints {
		count := min(tilePoints, n.nx-x0)
		p := row*n.nx + x0
		pre, active := s.d[:count*w], n.preTile(0, p, count)
		if n.keep {
			pre, active = n.preTile(l, p, count), s.v[:count*w]
		}
		v, stride, inner := active, w, w
		switch {
		case l == 0:
			v, stride, inner = n.features[p*n.in:(p+count)*n.in], n.in, n.Config.Inputs
		case n.keep:
			kernel.Gelu(v, n.preTile(l-1, p, count))
		}
		kernel.Gemm(pre, w, count, w, n.weights.bias[l], false, kernel.Product[T]{
			A: v, RowStride: stride, ColStride: 1, B: n.weights.weight[l], BStride: w, K: inner,
		}, kernel.Product[T]{
			A: n.basis[x0*k:], RowStride: k, ColStride: 1, B: rowS, BStride: w, K: k,
		})
		v = pre
		if !last || n.Config.LastActivation {
			v = active
			kernel.Gelu(v, pre)
		}
		if !last {
			n.rowTransform(n.rowSpectrum(row, w), v, w, x0, count)
		} else {
			n.projectTile(s, v, row, x0, count)
		}
	}
}

// preTile returns the pre-activations of layer l for count points from p on.
func (n *Network[T]) preTile(l, p, count int) []T {
	return n.pre[l][p*n.width : (p+count)*n.width]
}

// projectTile computes the outputs of one tile from its v.
func (n *Network[T]) projectTile(s *scratch[T], v []T, row, x0, count int) {
	w, h, o := n.width, n.hidden, n.out
	p := row*n.nx + x0
	pre := s.dh[:count*h]
	if n.keep {
		pre = n.preH[p*h : (p+count)*h]
	}
	kernel.Gemm(pre, h, count, h, n.weights.projectionBias, false, kernel.Product[T]{
		A: v, RowStride: w, ColStride: 1, B: n.weights.projection, BStride: h, K: w,
	}, kernel.Product[T]{})
	kernel.Gelu(s.h[:count*h], pre)
	out := s.o2[:count*o]
	kernel.Gemm(out, o, count, o, n.weights.outputBias, false, kernel.Product[T]{
		A: s.h, RowStride: h, ColStride: 1, B: n.weights.output, BStride: o, K: h,
	}, kernel.Product[T]{})
	if n.Config.OutputActivation {
		if n.keep {
			copy(n.preO[p*o:(p+count)*o], out)
		}
		kernel.Gelu(out, out)
	}
	for j := range n.Config.Outputs {
		dst := n.outputLine(n.dst, j, row, x0, count)
		for i := range dst {
			dst[i] = out[i*o+j]
		}
	}
}

// outputLine returns output j of count points of a row in a (batch, outputs,
// points) slice.
func (n *Network[T]) outputLine(field []T, j, row, x0, count int) []T {
	b, r := row/n.rows, row%n.rows
	return field[(b*n.Config.Outputs+j)*n.points+r*n.nx+x0:][:count]
}
