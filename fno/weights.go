package fno

import (
	"pihc/compute"
	"pihc/internal/kernel"
)

// offsets locates the tensors of Layout in the flat slice.
type offsets struct {
	lift, liftBias             int
	spectral, weight, bias     []int // per layer
	projection, projectionBias int
	output, outputBias, size   int
}

func newOffsets(c Network) offsets {
	all := c.Layout()
	o := offsets{lift: all[0].Offset, liftBias: all[1].Offset}
	for l := range c.Layers {
		t := all[2+3*l:]
		o.spectral = append(o.spectral, t[0].Offset)
		o.weight = append(o.weight, t[1].Offset)
		o.bias = append(o.bias, t[2].Offset)
	}
	t := all[2+3*c.Layers:]
	o.projection, o.projectionBias, o.output, o.outputBias = t[0].Offset, t[1].Offset, t[2].Offset, t[3].Offset
	o.size = o.outputBias + c.Outputs
	return o
}

// weights holds padded, aligned copies of the pointwise weights: the parameters
// of a call, and their transposes for backward. Padding is zero.
type weights[T compute.Float] struct {
	lift            []T   // in x width
	weight, bias    [][]T // width x width, width; those of layer 0 composed with the lift: in x width
	transposed      [][]T // width x width
	projection      []T   // width x hidden
	projectionBias  []T
	projectionTrans []T // hidden x width
	output          []T // hidden x out
	outputBias      []T
	outputTrans     []T // out x hidden
}

func newWeights[T compute.Float](n *evaluator[T]) weights[T] {
	w := weights[T]{
		lift:       n.alloc(n.in * n.width),
		projection: n.alloc(n.width * n.hidden), projectionBias: n.alloc(n.hidden), projectionTrans: n.alloc(n.hidden * n.width),
		output: n.alloc(n.hidden * n.out), outputBias: n.alloc(n.out), outputTrans: n.alloc(n.out * n.hidden),
	}
	for range n.Layers {
		w.weight = append(w.weight, n.alloc(max(n.in, n.width)*n.width))
		w.transposed = append(w.transposed, n.alloc(n.width*n.width))
		w.bias = append(w.bias, n.alloc(n.width))
	}
	return w
}

// pack copies the parameters of a forward pass and composes the lift with layer
// 0: v_0·W + b = a·(lift·W) + (liftBias·W + b).
func (n *evaluator[T]) pack(params []T) {
	c, o, w := &n.Network, &n.offsets, &n.weights
	kernel.CopyPadded(w.lift, n.width, params[o.lift:], c.Inputs, c.Width)
	for l := 1; l < c.Layers; l++ {
		kernel.CopyPadded(w.weight[l], n.width, params[o.weight[l]:], c.Width, c.Width)
		copy(w.bias[l], params[o.bias[l]:o.bias[l]+c.Width])
	}
	kernel.CopyPadded(w.projection, n.hidden, params[o.projection:], c.Width, c.Projection)
	copy(w.projectionBias, params[o.projectionBias:o.projectionBias+c.Projection])
	kernel.CopyPadded(w.output, n.out, params[o.output:], c.Projection, c.Outputs)
	copy(w.outputBias, params[o.outputBias:o.outputBias+c.Outputs])

	first := kernel.Product[T]{B: params[o.weight[0]:], BStride: c.Width, K: c.Width}
	first.A, first.RowStride, first.ColStride = params[o.lift:], c.Width, 1
	kernel.Gemm(w.weight[0], n.width, c.Inputs, c.Width, nil, false, first, kernel.Product[T]{})
	first.A, first.RowStride = params[o.liftBias:], 0
	kernel.Gemm(w.bias[0], n.width, 1, c.Width, params[o.bias[0]:], false, first, kernel.Product[T]{})
}

// packTransposed makes the transposes that backward multiplies by.
func (n *evaluator[T]) packTransposed(params []T) {
	c, o, w := &n.Network, &n.offsets, &n.weights
	for l := range c.Layers {
		kernel.Transpose(w.transposed[l], n.width, params[o.weight[l]:], c.Width, c.Width)
	}
	kernel.Transpose(w.projectionTrans, n.width, params[o.projection:], c.Width, c.Projection)
	kernel.Transpose(w.outputTrans, n.hidden, params[o.output:], c.Projection, c.Outputs)
}
