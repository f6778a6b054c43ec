// Package network has what neural operators of every architecture share: their
// interfaces, the list of their parameters, and how parameters are drawn.
package network

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"pihc/compute"
)

// A Network maps fields on a grid, the inputs, to others, the basis functions or
// the solution itself. It is what a spec says of it; an Evaluator runs it.
type Network interface {
	// Fields returns the numbers of fields going in and coming out.
	Fields() (inputs, outputs int)
	// Layout names the parameters in the flat slice. The last tensor, one element an
	// output, is added to the outputs.
	Layout() Layout
	// Init draws initial parameters.
	Init(params []float64, rng *rand.Rand)
	// Validate reports whether the network can run on a grid of the given shape
	// (axis 0 slowest); the error begins with the key that is wrong.
	Validate(shape []int) error
	// FLOP returns the floating-point operations of a forward pass of one sample,
	// by a fixed count that does not depend on how it is computed.
	FLOP(shape []int) float64
	// Memory estimates the bytes of an evaluator with elements of so many bytes, in
	// training or for ForwardOnly alone, and returns the number of parameters, not counted among them. It
	// allocates nothing and never overflows.
	Memory(shape []int, batch, workers, element int, training bool) (bytes, parameters float64)
	// Float32 and Float64 return an evaluator on a grid for so many samples a call.
	// A nil pool runs on the caller.
	Float32(shape []int, batch int, pool *compute.Pool) Evaluator[float32]
	Float64(shape []int, batch int, pool *compute.Pool) Evaluator[float64]
}

// An Evaluator runs a network on one grid for batches of any size up to that it was made for. Inputs are
// (batch, inputs, P), outputs (batch, outputs, P), params and grad as
// Network.Layout.
type Evaluator[T compute.Float] interface {
	// Forward evaluates the network and keeps what Backward needs; ForwardOnly, with
	// the same result in less memory, keeps nothing. params must not change before
	// Backward.
	Forward(dst, params, input []T)
	ForwardOnly(dst, params, input []T)
	// Backward adds to grad the gradient of ⟨dstBar, dst⟩ by the parameters of the
	// last Forward, sample by sample in their order, each formed by itself: the same
	// bits as a call for each of them.
	Backward(grad, params, dstBar []T)
}

// A Divisible network can be evaluated by ranks that have a slab of the grid each.
type Divisible interface {
	Network
	Divided32(shape []int, batch int, pool *compute.Pool, part *compute.Slab) DividedEvaluator[float32]
	Divided64(shape []int, batch int, pool *compute.Pool, part *compute.Slab) DividedEvaluator[float64]
}

// A DividedEvaluator has the fields of a rank's slices. Backward adds the rank's share of the gradient;
// all ranks make the same calls.
type DividedEvaluator[T compute.Float] interface {
	Evaluator[T]
	// SumOverRanks makes shares of a gradient, which began at zero, the gradient.
	SumOverRanks(grad []T)
}

// NewEvaluator returns a network's evaluator in the precision T; of a Divisible one, that of
// a slab where part is not nil.
func NewEvaluator[T compute.Float](n Network, shape []int, batch int, pool *compute.Pool, part *compute.Slab) Evaluator[T] {
	var e any
	_, single := any(T(0)).(float32)
	switch {
	case part != nil && single:
		e = n.(Divisible).Divided32(shape, batch, pool, part)
	case part != nil:
		e = n.(Divisible).Divided64(shape, batch, pool, part)
	case single:
		e = n.Float32(shape, batch, pool)
	default:
		e = n.Float64(shape, batch, pool)
	}
	return e.(Evaluator[T])
}

// A Layout lists parameters in the order of a flat slice.
type Layout []compute.Tensor

// Add appends a tensor.
func (l *Layout) Add(name string, shape ...int) {
	*l = append(*l, compute.Tensor{Name: name, Shape: shape, Offset: l.Size()})
}

// Last returns the tensor added last.
func (l Layout) Last() compute.Tensor { return l[len(l)-1] }

// Size returns the length of the flat slice.
func (l Layout) Size() int {
	if len(l) == 0 {
		return 0
	}
	return l.Last().Offset + l.Last().Size()
}

// Init fills params, which has the layout's size, with normal numbers of standard
// deviation 1/sqrt(in) for matrices (in, out) and gain/sqrt(2 in) for tensors of more
// axes (..., in, out), such as spectral weights, each part by itself; with a gain of 1 a
// spectral layer keeps the energy of its input. Vectors, the biases, become zero. The
// numbers are drawn in the order of the layout.
func (l Layout) Init(params []float64, gain float64, rng *rand.Rand) {
	if len(params) != l.Size() {
		panic(fmt.Sprintf("network: Init: %d parameters, want %d", len(params), l.Size()))
	}
	for _, t := range l {
		view := params[t.Offset : t.Offset+t.Size()]
		if len(t.Shape) == 1 {
			clear(view)
			continue
		}
		in, scale := float64(t.Shape[len(t.Shape)-2]), 1.0
		if len(t.Shape) > 2 {
			in, scale = 2*in, gain
		}
		for i := range view {
			view[i] = rng.NormFloat64() / math.Sqrt(in) * scale
		}
	}
}

// Check returns an error that names the first count below 1, by its key, or says that modes has no entry for each
// axis of a grid, at least two.
func Check(keys []string, counts, modes, shape []int) error {
	for i, n := range counts {
		if n < 1 {
			return fmt.Errorf("%s is %d; it must be at least 1", keys[i], n)
		}
	}
	if len(modes) != len(shape) {
		return fmt.Errorf("modes has %d entries; the grid has %d axes", len(modes), len(shape))
	}
	if len(shape) < 2 {
		return fmt.Errorf("modes has %d entries; the network needs at least 2 axes", len(shape))
	}
	return nil
}

// Modes returns the modes kept on each axis: the number named, else 8.
func Modes(axes []string, named map[string]int) ([]int, error) {
	modes := make([]int, len(axes))
	for i, name := range axes {
		modes[i] = 8
		if m, ok := named[name]; ok {
			modes[i] = m
		}
	}
	for name := range named {
		if !slices.Contains(axes, name) {
			return nil, fmt.Errorf("modes: no axis %q; the axes are %s", name, strings.Join(axes, ", "))
		}
	}
	return modes, nil
}
