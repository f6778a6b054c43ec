package conv

import (
	"math"

	"pihc/compute"
)

// layer is one of Net: the places of its parameters, and of every neighbour and point the point that it is.
type layer struct {
	weight, bias int
	in, out      int
	neighbours   [][]int32 // the point itself first
	hidden       bool      // with tanh
}

// evaluator is Net on one grid. A field is its P points, fields of a sample stand one after another.
type evaluator[T compute.Float] struct {
	Net
	layers []layer
	points int
	pool   *compute.Pool

	spare [][]T   // per hidden layer: what ForwardOnly computes, for one sample
	bars  [2][]T  // gradients by the outputs of a layer and of the one before
	batch int     // samples that kept has room for
	kept  [][][]T // per sample: what Forward computed, as spare
	input []T     // of the last Forward, a copy
	grad  []T     // of one sample
}

func newEvaluator[T compute.Float](n Net, shape []int, batch int, pool *compute.Pool) *evaluator[T] {
	e := &evaluator[T]{Net: n, points: int(points(shape)), pool: pool, batch: batch}
	layout := n.Layout()
	for l := range n.Layers + 1 {
		weight, bias := layout[2*l], layout[2*l+1]
		e.layers = append(e.layers, layer{
			weight.Offset, bias.Offset, weight.Shape[1], weight.Shape[2], neighbours(shape, weight.Shape[0], 1<<min(l, 20)), l < n.Layers,
		})
		if l < n.Layers {
			e.spare = append(e.spare, make([]T, n.Width*e.points))
		}
	}
	for i := range e.bars {
		e.bars[i] = make([]T, n.Width*e.points)
	}
	return e
}

// neighbours lists, of count neighbours, the points that they are of each point.
func neighbours(shape []int, count, distance int) (all [][]int32) {
	size := int(points(shape))
	for k := range count {
		of := make([]int32, size)
		stride := size // from one point to the next along the axis
		for p := range of {
			of[p] = int32(p)
		}
		if k > 0 {
			axis, step := (k-1)/2, distance*(2*(k%2)-1)
			for _, n := range shape[:axis+1] {
				stride /= n
			}
			for p := range of {
				at := p / stride % shape[axis]
				of[p] += int32((min(max(at+step, 0), shape[axis]-1) - at) * stride)
			}
		}
		all = append(all, of)
	}
	return all
}

// forward evaluates one sample; values receive what each hidden layer computes.
func (e *evaluator[T]) forward(dst, params, input []T, values [][]T) {
	for l, y := range e.layers {
		out := dst
		if y.hidden {
			out = values[l]
		}
		// A worker computes whole channels, and nobody else writes to them: results do not depend on the workers.
		e.pool.Run(y.out, func(_, o int) {
			channel := out[o*e.points:][:e.points]
			for p := range channel {
				channel[p] = params[y.bias+o]
			}
			for k, of := range y.neighbours {
				for i := range y.in {
					w, v := params[y.weight+(k*y.in+i)*y.out+o], input[i*e.points:][:e.points]
					for p, q := range of {
						channel[p] += w * v[q]
					}
				}
			}
			if y.hidden {
				for p, v := range channel {
					channel[p] = T(math.Tanh(float64(v)))
				}
			}
		})
		input = out
	}
}

// sample returns the fields of sample b of a batch.
func (e *evaluator[T]) sample(fields []T, b, count int) []T {
	return fields[b*count*e.points:][:count*e.points]
}

// ForwardOnly implements network.Evaluator. There may be fewer samples than the batch has room for.
func (e *evaluator[T]) ForwardOnly(dst, params, input []T) {
	for b := range len(input) / (e.Inputs * e.points) {
		e.forward(e.sample(dst, b, e.Outputs), params, e.sample(input, b, e.Inputs), e.spare)
	}
}

// Forward implements network.Evaluator.
func (e *evaluator[T]) Forward(dst, params, input []T) {
	if e.kept == nil {
		e.grow(len(params))
	}
	copy(e.input, input)
	for b := range len(input) / (e.Inputs * e.points) {
		e.forward(e.sample(dst, b, e.Outputs), params, e.sample(input, b, e.Inputs), e.kept[b])
	}
}

// grow allocates what training needs besides.
func (e *evaluator[T]) grow(params int) {
	e.grad, e.input = make([]T, params), make([]T, e.batch*e.Inputs*e.points)
	for range e.batch {
		var values [][]T
		for _, v := range e.spare {
			values = append(values, make([]T, len(v)))
		}
		e.kept = append(e.kept, values)
	}
}

// Backward implements network.Evaluator: the gradient of each sample is formed by itself and then added, so that batches
// may be divided in any way.
func (e *evaluator[T]) Backward(grad, params, dstBar []T) {
	for b := range len(dstBar) / (e.Outputs * e.points) {
		clear(e.grad)
		e.backward(params, e.sample(dstBar, b, e.Outputs), e.sample(e.input, b, e.Inputs), e.kept[b])
		for i, g := range e.grad {
			grad[i] += g
		}
	}
}

// backward adds to e.grad the gradient of one sample, from the last layer to the first. bar is the gradient by what a
// layer puts out.
func (e *evaluator[T]) backward(params, bar, input []T, values [][]T) {
	for l := len(e.layers) - 1; l >= 0; l-- {
		y, v := e.layers[l], input
		if l > 0 {
			v = values[l-1]
		}
		e.pool.Run(y.out, func(_, o int) {
			channel := bar[o*e.points:][:e.points]
			sum := T(0)
			for p := range channel {
				if y.hidden { // tanh' = 1 - tanh²
					u := values[l][o*e.points+p]
					channel[p] *= 1 - u*u
				}
				sum += channel[p]
			}
			e.grad[y.bias+o] += sum
			for k, of := range y.neighbours {
				for i := range y.in {
					sum, v := T(0), v[i*e.points:][:e.points]
					for p, q := range of {
						sum += channel[p] * v[q]
					}
					e.grad[y.weight+(k*y.in+i)*y.out+o] += sum
				}
			}
		})
		if l == 0 {
			return // nobody asks for the gradient by the inputs
		}
		before := e.bars[l%2][:y.in*e.points]
		e.pool.Run(y.in, func(_, i int) {
			channel := before[i*e.points:][:e.points]
			clear(channel)
			for k, of := range y.neighbours {
				for o := range y.out {
					w, g := params[y.weight+(k*y.in+i)*y.out+o], bar[o*e.points:][:e.points]
					for p, q := range of {
						channel[q] += w * g[p]
					}
				}
			}
		})
		bar = before
	}
}
