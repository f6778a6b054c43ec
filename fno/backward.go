package fno

import "pihc/internal/kernel"

// Backward adds to grad the gradient with respect to the parameters of
// ⟨dstBar, dst⟩, after a Forward with the same params. dstBar is (batch,
// outputs, points), grad and params as Config.Layout. It may be called again with
// another dstBar. It panics if a length is wrong or no Forward came before.
func (n *Network[T]) Backward(grad, params, dstBar []T) {
	c := n.Config
	if !n.kept {
		panic("fno: Backward: no Forward before it")
	}
	if len(params) != n.size || len(grad) != n.size || len(dstBar) != n.batch*c.Outputs*n.points {
		panic("fno: Backward: wrong length of grad, params or dstBar")
	}
	n.params, n.grad, n.dst, n.keep = params, grad, dstBar, true
	n.packTransposed()
	n.layer = c.Layers - 1
	n.pool.Run(n.chunks, n.run.projectionChunk)
	n.pool.Run(c.Projection+c.Width+2, n.run.reduceProject)
	for l := c.Layers - 1; l >= 0; l-- {
		n.transform(n.gHat, n.width)
		n.biasGradient(l)
		n.layer = l
		n.pool.Run(ceil(n.modes, mixGroup), n.run.mixBackwardModes)
		if l > 0 {
			n.inverseTransform(n.mixed)
			n.pool.Run(n.chunks, n.run.layerChunk)
			n.pool.Run(c.Width, n.run.reduceLayer)
		}
	}
	n.liftGradient()
	n.grad, n.dst = nil, nil
}

// chunkRows returns the rows of one chunk.
func (n *Network[T]) chunkRows(chunk int) (lo, hi int) {
	rows := n.batch * n.rows
	return chunk * rows / n.chunks, (chunk + 1) * rows / n.chunks
}

// parts are a chunk's sums of gradients, views of its partial buffer.
func (n *Network[T]) projectionParts(chunk int) (weight, bias, output, outputBias []T) {
	p := n.partial[chunk*n.partSize : (chunk+1)*n.partSize]
	a, b, c := n.width*n.hidden, n.hidden, n.hidden*n.out
	return p[:a], p[a : a+b], p[a+b : a+b+c], p[a+b+c : a+b+c+n.out]
}

// projectionChunk takes the rows of a chunk from dstBar to the gradient of the
// last layer's pre-activations, and sums the projection's gradients.
func (n *Network[T]) projectionChunk(worker, chunk int) {
	s := &n.scratch[worker]
	w, h, o, last := n.width, n.hidden, n.out, n.Config.Layers-1
	weight, bias, output, outputBias := n.projectionParts(chunk)
	lo, hi := n.chunkRows(chunk)
	for row := lo; row < hi; row++ {
		for x0 := 0; x0 < n.nx; x0 += tilePoints {
			count := min(tilePoints, n.nx-x0)
			p := row*n.nx + x0
			more := row > lo || x0 > 0
			g := s.o[:count*o]
			for j := range n.Config.Outputs {
				for i, v := range n.outputLine(n.dst, j, row, x0, count) {
					g[i*o+j] = v
				}
			}
			if n.Config.OutputActivation {
				kernel.GeluBackward(s.o2, g, n.preO[p*o:(p+count)*o])
			}
			dh := s.dh[:count*h]
			kernel.Gemm(dh, h, count, h, nil, false, kernel.Product[T]{
				A: g, RowStride: o, ColStride: 1, B: n.weights.outputTrans, BStride: h, K: n.Config.Outputs,
			}, kernel.Product[T]{})
			kernel.GeluBackward(s.h, dh, n.preH[p*h:(p+count)*h])
			n.outerSum(output, o, s.h, h, g, count, more)
			n.rowSum(outputBias, g, count, more)

			d, v := s.d[:count*w], n.preTile(last, p, count)
			kernel.Gemm(d, w, count, w, nil, false, kernel.Product[T]{
				A: dh, RowStride: h, ColStride: 1, B: n.weights.projectionTrans, BStride: w, K: n.Config.Projection,
			}, kernel.Product[T]{})
			if n.Config.LastActivation {
				kernel.GeluBackward(s.v, d, v)
				v = s.v
			}
			n.outerSum(weight, h, v, w, dh, count, more)
			n.rowSum(bias, dh, count, more)
			n.emit(d, last, chunk, row, x0, count, more)
		}
	}
}

// layerChunk takes the rows of a chunk from the gradient of layer l's
// pre-activations to that of layer l-1's, and sums the gradient of weight_l.
func (n *Network[T]) layerChunk(worker, chunk int) {
	s, l := &n.scratch[worker], n.layer
	w, k := n.width, 2*n.m
	lo, hi := n.chunkRows(chunk)
	weight := n.partial[chunk*n.partSize:][:w*w]
	for row := lo; row < hi; row++ {
		rowS := n.rowS[row*k*w : (row+1)*k*w]
		for x0 := 0; x0 < n.nx; x0 += tilePoints {
			count := min(tilePoints, n.nx-x0)
			p := row*n.nx + x0
			more := row > lo || x0 > 0
			g, d, v := n.g[p*w:(p+count)*w], s.d[:count*w], s.v[:count*w]
			kernel.Gemm(d, w, count, w, nil, false, kernel.Product[T]{
				A: g, RowStride: w, ColStride: 1, B: n.weights.transposed[l], BStride: w, K: w,
			}, kernel.Product[T]{
				A: n.basis[x0*k:], RowStride: k, ColStride: 1, B: rowS, BStride: w, K: k,
			})
			kernel.GeluBackward(v, d, n.preTile(l-1, p, count))
			n.outerSum(weight, w, v, w, g, count, more)
			n.emit(d, l-1, chunk, row, x0, count, more)
		}
	}
}

// emit hands on a tile of the gradient of layer l's pre-activations: its
// transform along the row, and the tile itself or, for layer 0, only
// inputsᵀ·tile.
func (n *Network[T]) emit(d []T, l, chunk, row, x0, count int, more bool) {
	n.rowTransform(n.rowSpectrum(row, n.width), d, n.width, x0, count)
	p := row*n.nx + x0
	if l > 0 {
		copy(n.g[p*n.width:], d)
		return
	}
	kernel.Gemm(n.partial0[chunk*n.in*n.width:], n.width, n.Config.Inputs, n.width, nil, more, kernel.Product[T]{
		A: n.features[p*n.in:], RowStride: 1, ColStride: n.in, B: d, BStride: n.width, K: count,
	}, kernel.Product[T]{})
}

// outerSum sets or adds dst (rows x columns) = aᵀ·b over count points.
func (n *Network[T]) outerSum(dst []T, columns int, a []T, rows int, b []T, count int, more bool) {
	kernel.Gemm(dst, columns, rows, columns, nil, more, kernel.Product[T]{
		A: a, RowStride: 1, ColStride: rows, B: b, BStride: columns, K: count,
	}, kernel.Product[T]{})
}

// rowSum sets or adds dst = the sum of count rows of a, each as long as dst.
func (n *Network[T]) rowSum(dst, a []T, count int, more bool) {
	kernel.Gemm(dst, len(dst), 1, len(dst), nil, more, kernel.Product[T]{
		A: n.dc, B: a, BStride: len(dst), K: count,
	}, kernel.Product[T]{})
}

// sumChunks adds to dst the sum over the chunks, in order, of part starting at at.
func (n *Network[T]) sumChunks(dst, part []T, at, stride int) {
	for c := range n.chunks {
		src := part[c*stride+at:][:len(dst)]
		if c == 0 {
			copy(dst, src)
			continue
		}
		for i, v := range src {
			dst[i] += v
		}
	}
}

// addSum adds the chunks' sum of a row of partial to a row of the gradient.
func (n *Network[T]) addSum(worker int, grad []T, at int) {
	sum := n.scratch[worker].sum[:len(grad)]
	n.sumChunks(sum, n.partial, at, n.partSize)
	for i, v := range sum {
		grad[i] += v
	}
}

// reduceLayer adds row i of the current layer's weight gradient.
func (n *Network[T]) reduceLayer(worker, i int) {
	c := n.Config.Width
	n.addSum(worker, n.grad[n.offsets.weight[n.layer]+i*c:][:c], i*n.width)
}

// reduceProjection adds one row of the projection's gradients: the rows of
// output.weight, of projection.weight, then the two biases.
func (n *Network[T]) reduceProjection(worker, i int) {
	c, at := n.Config, n.width*n.hidden
	switch {
	case i < c.Projection:
		n.addSum(worker, n.grad[n.offsets.output+i*c.Outputs:][:c.Outputs], at+n.hidden+i*n.out)
	case i < c.Projection+c.Width:
		i -= c.Projection
		n.addSum(worker, n.grad[n.offsets.projection+i*c.Projection:][:c.Projection], i*n.hidden)
	case i == c.Projection+c.Width:
		n.addSum(worker, n.grad[n.offsets.projectionBias:][:c.Projection], at)
	default:
		n.addSum(worker, n.grad[n.offsets.outputBias:][:c.Outputs], at+n.hidden+n.hidden*n.out)
	}
}

// biasGradient adds the sum of g over all points, which is its mode 0.
func (n *Network[T]) biasGradient(l int) {
	grad := n.grad[n.offsets.bias[l]:][:n.Config.Width]
	for b := range n.batch {
		for i, v := range n.gHat[b*2*n.modes*n.width:][:len(grad)] {
			grad[i] += v
		}
	}
}

// liftGradient finishes layer 0 and the lift. With G = inputsᵀ·g and γ = sum g
// over the points, both of layer 0, L the lift, c its bias and D = conj(R) g^:
//
//	W̄_0 += Lᵀ·G + c γᵀ
//	L̄   += G·W_0ᵀ + a^ᵀ·D          (a^ and D as real rows)
//	c̄   += W_0 γ + points · D[mode 0]
func (n *Network[T]) liftGradient() {
	c, o, w := n.Config, &n.offsets, n.width
	sum := n.partial0[:n.in*w]
	for chunk := 1; chunk < n.chunks; chunk++ {
		for i, v := range n.partial0[chunk*n.in*w:][:len(sum)] {
			sum[i] += v
		}
	}
	none := kernel.Product[T]{}
	weight := n.params[o.weight[0]:][:c.Width*c.Width]
	kernel.Gemm(n.grad[o.weight[0]:], c.Width, c.Width, c.Width, nil, true, kernel.Product[T]{
		A: n.params[o.lift:], RowStride: 1, ColStride: c.Width, B: sum, BStride: w, K: c.Inputs,
	}, none)
	kernel.Gemm(n.grad[o.lift:], c.Width, c.Inputs, c.Width, nil, true, kernel.Product[T]{
		A: n.featureHat, RowStride: 1, ColStride: n.in, B: n.mixed, BStride: w, K: n.batch * 2 * n.modes,
	}, none)
	for i := range c.Inputs {
		dst := n.grad[o.lift+i*c.Width:][:c.Width]
		for j := range dst {
			dst[j] += dot(weight[j*c.Width:][:c.Width], sum[i*w:])
		}
	}
	bias, biasGrad := n.params[o.liftBias:][:c.Width], n.grad[o.liftBias:][:c.Width]
	for b := range n.batch {
		gamma := n.gHat[b*2*n.modes*w:][:c.Width]
		zero := n.mixed[b*2*n.modes*w:]
		for j := range bias {
			dst := n.grad[o.weight[0]+j*c.Width:][:c.Width]
			for i, v := range gamma {
				dst[i] += bias[j] * v
			}
			biasGrad[j] += dot(weight[j*c.Width:][:c.Width], gamma) + T(n.points)*zero[j]
		}
	}
}

func dot[T kernel.Float](a, b []T) T {
	var s T
	for i, x := range a {
		s += x * b[i]
	}
	return s
}
