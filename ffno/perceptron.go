package ffno

import (
	"pihc/compute"
	"pihc/internal/kernel"
)

// perceptron is a pointwise network with one hidden layer,
//
//	y = gelu(x·weight0 + bias0)·weight1 + bias1,
//
// with padded, aligned copies of its parameters and their transposes.
type perceptron[T compute.Float] struct {
	in, hidden, out                      int // channels
	inWide, hiddenWide, outWide          int // padded
	at                                   [4]int
	weight0, bias0, weight1, bias1       []T // as Layout, padded
	transposed0, transposed1             []T
	bias0At, weight1At, bias1At, sumSize int // in a chunk's sums, which start with weight0
}

// newPerceptron takes its sizes and offsets from four successive tensors.
func newPerceptron[T compute.Float](n *evaluator[T], tensors []compute.Tensor) perceptron[T] {
	p := perceptron[T]{in: tensors[0].Shape[0], hidden: tensors[0].Shape[1], out: tensors[2].Shape[1]}
	p.inWide, p.hiddenWide, p.outWide = kernel.Pad(p.in), kernel.Pad(p.hidden), kernel.Pad(p.out)
	for i := range p.at {
		p.at[i] = tensors[i].Offset
	}
	p.weight0, p.bias0 = n.alloc(p.inWide*p.hiddenWide), n.alloc(p.hiddenWide)
	p.weight1, p.bias1 = n.alloc(p.hiddenWide*p.outWide), n.alloc(p.outWide)
	p.transposed0, p.transposed1 = n.alloc(p.hiddenWide*p.inWide), n.alloc(p.outWide*p.hiddenWide)
	p.bias0At = p.inWide * p.hiddenWide
	p.weight1At = p.bias0At + p.hiddenWide
	p.bias1At = p.weight1At + p.hiddenWide*p.outWide
	p.sumSize = p.bias1At + p.outWide
	return p
}

// pack copies the parameters of a pass.
func (p *perceptron[T]) pack(params []T) {
	kernel.CopyPadded(p.weight0, p.hiddenWide, params[p.at[0]:], p.in, p.hidden)
	copy(p.bias0[:p.hidden], params[p.at[1]:])
	kernel.CopyPadded(p.weight1, p.outWide, params[p.at[2]:], p.hidden, p.out)
	copy(p.bias1[:p.out], params[p.at[3]:])
}

// packTransposed makes the transposes that backward multiplies by.
func (p *perceptron[T]) packTransposed(params []T) {
	kernel.Transpose(p.transposed0, p.inWide, params[p.at[0]:], p.in, p.hidden)
	kernel.Transpose(p.transposed1, p.hiddenWide, params[p.at[2]:], p.hidden, p.out)
}

// forward sets y, or adds to it, for a number of points: x (count, inWide), y (count,
// outWide); hidden is scratch.
func (p *perceptron[T]) forward(y, x, hidden, one []T, count int, add bool) {
	h := hidden[:count*p.hiddenWide]
	p.layer0(h, x, count)
	kernel.Gelu(h, h)
	kernel.Gemm(y, p.outWide, count, p.outWide, nil, add, kernel.Product[T]{
		A: h, RowStride: p.hiddenWide, ColStride: 1, B: p.weight1, BStride: p.outWide, K: p.hidden,
	}, kernel.Product[T]{A: one, B: p.bias1, K: 1})
}

// layer0 sets the pre-activations of the hidden layer.
func (p *perceptron[T]) layer0(pre, x []T, count int) {
	kernel.Gemm(pre, p.hiddenWide, count, p.hiddenWide, p.bias0, false, kernel.Product[T]{
		A: x, RowStride: p.inWide, ColStride: 1, B: p.weight0, BStride: p.hiddenWide, K: p.in,
	}, kernel.Product[T]{})
}

// backward takes g, the gradient of y, to dx, that of x, and sets or adds to the
// gradients of the parameters over the points in sums. hidden and bar are scratch.
func (p *perceptron[T]) backward(dx, sums, x, g, hidden, bar, one []T, count int, add bool) {
	h, d := hidden[:count*p.hiddenWide], bar[:count*p.hiddenWide]
	p.layer0(h, x, count)
	kernel.Gemm(d, p.hiddenWide, count, p.hiddenWide, nil, false, kernel.Product[T]{
		A: g, RowStride: p.outWide, ColStride: 1, B: p.transposed1, BStride: p.hiddenWide, K: p.out,
	}, kernel.Product[T]{})
	kernel.GeluBackward(h, d, h)
	outerSum(sums[p.weight1At:], p.outWide, h, p.hiddenWide, g, count, add)
	sumRows(sums[p.bias1At:][:p.outWide], g, p.outWide, one, count, add)
	outerSum(sums, p.hiddenWide, x, p.inWide, d, count, add)
	sumRows(sums[p.bias0At:][:p.hiddenWide], d, p.hiddenWide, one, count, add)
	kernel.Gemm(dx, p.inWide, count, p.inWide, nil, false, kernel.Product[T]{
		A: d, RowStride: p.hiddenWide, ColStride: 1, B: p.transposed0, BStride: p.inWide, K: p.hidden,
	}, kernel.Product[T]{})
}

// addSums adds the chunks' sums to grad.
func (p *perceptron[T]) addSums(n *evaluator[T], grad []T) {
	n.addSums(grad[p.at[0]:], p.in, p.hidden, p.hiddenWide, 0)
	n.addSums(grad[p.at[1]:], 1, p.hidden, p.hiddenWide, p.bias0At)
	n.addSums(grad[p.at[2]:], p.hidden, p.out, p.outWide, p.weight1At)
	n.addSums(grad[p.at[3]:], 1, p.out, p.outWide, p.bias1At)
}

// outerSum sets or adds dst (rows x columns) = aᵀ·b over count points.
func outerSum[T compute.Float](dst []T, columns int, a []T, rows int, b []T, count int, add bool) {
	kernel.Gemm(dst, columns, rows, columns, nil, add, kernel.Product[T]{
		A: a, RowStride: 1, ColStride: rows, B: b, BStride: columns, K: count,
	}, kernel.Product[T]{})
}

// sumRows sets or adds dst = the sum of count rows of a that start stride apart.
func sumRows[T compute.Float](dst, a []T, stride int, one []T, count int, add bool) {
	kernel.Gemm(dst, len(dst), 1, len(dst), nil, add, kernel.Product[T]{A: one, B: a, BStride: stride, K: count}, kernel.Product[T]{})
}
