// Package networktest is the suite that every network.Network passes: outputs against its formulas, gradients
// against differences, single precision against double, and what an evaluator promises of batches, workers and
// memory.
//
//	func TestNetwork(t *testing.T) {
//		networktest.Case{Name: "small", Network: n, Shape: []int{7, 18}, Batch: 2}.Run(t)
//	}
//
// Only tests import it.
package networktest

import (
	"math"
	"slices"
	"testing"

	"pihc/compute"
	"pihc/internal/check"
	"pihc/network"
)

// A Case is a network on a grid of some shape (axis 0 slowest) and a batch. Choose shapes that code treats
// differently: of two and more axes, of sizes that blocks do not fill, of one sample and more.
type Case struct {
	Name    string
	Network network.Network
	Shape   []int
	Batch   int
	// Dense returns the outputs of one sample by the network's formulas, as plain sums that share no code with it;
	// nil: outputs are not compared.
	Dense func(c Case, params, input []float64) []float64
}

// Run runs the suite, a subtest for what is checked.
func (c Case) Run(t *testing.T) {
	t.Run(c.Name, func(t *testing.T) {
		if err := c.Network.Validate(c.Shape); err != nil {
			t.Fatal(err)
		}
		t.Run("layout", c.layout)
		if c.Dense != nil {
			t.Run("forward", c.forward)
		}
		t.Run("gradient", c.gradient)
		t.Run("float32", c.single)
		t.Run("workers", c.workers)
		t.Run("batch", c.batch)
		t.Run("sums", c.sums)
		t.Run("memory", c.memory)
	})
}

// params draws parameters by the rule of network.Layout.Init, with a gain of 1, and gives the biases values too, so
// that a test sees them.
func (c Case) params(seed uint64) []float64 {
	rng, layout := check.Rand(seed), c.Network.Layout()
	params := make([]float64, layout.Size())
	layout.Init(params, 1, rng)
	for _, t := range layout {
		if len(t.Shape) == 1 {
			check.Normal(rng, params[t.Offset:t.Offset+t.Size()])
		}
	}
	return params
}

// sizes returns the elements that a sample has going in and coming out.
func (c Case) sizes() (in, out int) {
	inputs, outputs := c.Network.Fields()
	for _, n := range c.Shape {
		inputs, outputs = inputs*n, outputs*n
	}
	return inputs, outputs
}

// random returns parameters, inputs of so many samples, and a gradient of their outputs.
func (c Case) random(seed uint64, samples int) (params, input, bar []float64) {
	rng := check.Rand(seed)
	in, out := c.sizes()
	return c.params(seed + 1), check.Normal(rng, make([]float64, samples*in)), check.Normal(rng, make([]float64, samples*out))
}

// random32 is random in single precision.
func (c Case) random32(seed uint64, samples int) (params, input, bar []float32) {
	p, in, b := c.random(seed, samples)
	return narrow(p), narrow(in), narrow(b)
}

func narrow(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

// layout: tensors follow one another, names differ, the last is the bias of the outputs; Init draws the same again;
// Memory counts the parameters, and does not overflow for a grid of any size.
func (c Case) layout(t *testing.T) {
	at, seen, layout := 0, map[string]bool{}, c.Network.Layout()
	for _, v := range layout {
		if v.Offset != at || v.Name == "" || seen[v.Name] {
			t.Errorf("tensor %q at %d, want names that differ, and %d", v.Name, v.Offset, at)
		}
		at, seen[v.Name] = at+v.Size(), true
	}
	if _, outputs := c.Network.Fields(); !slices.Equal(layout.Last().Shape, []int{outputs}) {
		t.Errorf("the last tensor, %s, has shape %v; want the bias of the outputs, %d", layout.Last().Name, layout.Last().Shape, outputs)
	}
	once, twice := make([]float64, at), make([]float64, at)
	c.Network.Init(once, check.Rand(1))
	c.Network.Init(twice, check.Rand(1))
	check.Equal(t, twice, once)
	if _, parameters := c.Network.Memory(c.Shape, c.Batch, 2, 4, true); parameters != float64(at) {
		t.Errorf("Memory says %g parameters, want %d", parameters, at)
	}
	if huge, _ := c.Network.Memory(slices.Repeat([]int{1e9}, len(c.Shape)), 1e9, 1e9, 8, true); !(huge > 1e27) || math.IsInf(huge, 1) {
		t.Errorf("Memory of a huge grid is %g", huge)
	}
	if flop := c.Network.FLOP(c.Shape); !(flop > 0) {
		t.Errorf("FLOP is %g", flop)
	}
}

// forward compares outputs with Dense: in float64 and, at every width of vectors, in float32.
func (c Case) forward(t *testing.T) {
	params, input, bar := c.random(3, c.Batch)
	in, _ := c.sizes()
	var want []float64
	for b := range c.Batch {
		want = append(want, c.Dense(c, params, input[b*in:][:in])...)
	}
	got := make([]float64, len(bar))
	c.Network.Float64(c.Shape, c.Batch, nil).Forward(got, params, input)
	check.Close(t, got, want, 1e-12, 0)
	check.Widths(t, func(t *testing.T) {
		got := make([]float32, len(want))
		c.Network.Float32(c.Shape, c.Batch, nil).Forward(got, narrow(params), narrow(input))
		check.Close(t, got, narrow(want), 2e-5, 0)
	})
}

// gradient compares Backward with central differences, tensor by tensor, and requires that it adds.
func (c Case) gradient(t *testing.T) {
	params, input, bar := c.random(1, c.Batch)
	rng, n := check.Rand(2), c.Network.Float64(c.Shape, c.Batch, nil)
	dst, grad := make([]float64, len(bar)), make([]float64, len(params))
	n.Forward(dst, params, input)
	n.Backward(grad, params, bar)
	f := func([]float64) float64 {
		n.ForwardOnly(dst, params, input)
		return check.Dot(dst, bar)
	}
	for _, v := range c.Network.Layout() {
		t.Run(v.Name, func(t *testing.T) {
			lo, hi := v.Offset, v.Offset+v.Size()
			check.Gradient(t, rng, f, params[lo:hi], grad[lo:hi], 2, 1e-3, 1e-7)
		})
	}
	twice := slices.Clone(grad)
	n.Forward(dst, params, input)
	n.Backward(twice, params, bar)
	for i := range grad {
		grad[i] *= 2
	}
	check.Close(t, twice, grad, 1e-13, 0)
}

// single compares the float32 gradient at every width of vectors with the float64 one.
func (c Case) single(t *testing.T) {
	params, input, bar := c.random(5, c.Batch)
	want, dst := make([]float64, len(params)), make([]float64, len(bar))
	n := c.Network.Float64(c.Shape, c.Batch, nil)
	n.Forward(dst, params, input)
	n.Backward(want, params, bar)
	check.Widths(t, func(t *testing.T) {
		grad, dst := make([]float32, len(params)), make([]float32, len(bar))
		n := c.Network.Float32(c.Shape, c.Batch, nil)
		n.Forward(dst, narrow(params), narrow(input))
		n.Backward(grad, narrow(params), narrow(bar))
		for _, v := range c.Network.Layout() {
			lo, hi := v.Offset, v.Offset+v.Size()
			check.Close(t, grad[lo:hi], narrow(want[lo:hi]), 2e-4, 1e-6)
			if t.Failed() {
				t.Fatal(v.Name)
			}
		}
	})
}

// workers: bitwise the same for 1, 2 and 4 workers, at every width of vectors.
func (c Case) workers(t *testing.T) {
	params, input, bar := c.random32(7, c.Batch)
	check.Widths(t, func(t *testing.T) {
		var dst0, grad0 []float32
		for _, workers := range []int{1, 2, 4} {
			pool := compute.NewPool(workers)
			n := c.Network.Float32(c.Shape, c.Batch, pool)
			dst, grad, only := make([]float32, len(bar)), make([]float32, len(params)), make([]float32, len(bar))
			c.Network.Float32(c.Shape, c.Batch, pool).ForwardOnly(only, params, input)
			n.Forward(dst, params, input)
			n.Backward(grad, params, bar)
			if workers == 1 {
				dst0, grad0 = dst, grad
			}
			check.Equal(t, dst, dst0)
			check.Equal(t, only, dst0)
			check.Equal(t, grad, grad0)
			pool.Close()
		}
	})
}

// batch: a sample's outputs do not depend on its batch.
func (c Case) batch(t *testing.T) {
	params, input, bar := c.random32(10, 3)
	in, out := c.sizes()
	together, alone := make([]float32, len(bar)), make([]float32, len(bar))
	three, one := c.Network.Float32(c.Shape, 3, nil), c.Network.Float32(c.Shape, 1, nil)
	three.ForwardOnly(together, params, input)
	for b := range 3 {
		one.ForwardOnly(alone[b*out:][:out], params, input[b*in:][:in])
	}
	check.Equal(t, together, alone)
	clear(together)
	three.ForwardOnly(together[:2*out], params, input[in:]) // fewer than there is room for
	check.Equal(t, together[:2*out], alone[out:])
}

// sums: the gradient of a batch is the sum over its samples in their order, each formed by itself, whatever the
// micro-batches and the workers.
func (c Case) sums(t *testing.T) {
	const samples = 3
	params, input, bar := c.random32(21, samples)
	in, out := c.sizes()
	start := check.Normal(check.Rand(23), make([]float32, len(params)))
	check.Widths(t, func(t *testing.T) {
		want := slices.Clone(start)
		for b := range samples {
			one, dst := make([]float32, len(params)), make([]float32, out)
			n := c.Network.Float32(c.Shape, 1, nil)
			n.Forward(dst, params, input[b*in:][:in])
			n.Backward(one, params, bar[b*out:][:out])
			for i, v := range one {
				want[i] += v
			}
		}
		for micro := 1; micro <= samples; micro++ {
			for _, workers := range []int{1, 3} {
				pool := compute.NewPool(workers)
				n := c.Network.Float32(c.Shape, micro, pool)
				grad := slices.Clone(start)
				dst := make([]float32, micro*out)
				for lo := 0; lo < samples; lo += micro { // of two, the second has one
					hi := min(lo+micro, samples)
					n.Forward(dst[:(hi-lo)*out], params, input[lo*in:hi*in])
					n.Backward(grad, params, bar[lo*out:hi*out])
				}
				check.Equal(t, grad, want)
				pool.Close()
			}
		}
	})
}

// memory: an evaluator takes about as many bytes as Memory says; after the first step only closures are allocated,
// and as many bytes on a large grid as on a small one.
func (c Case) memory(t *testing.T) {
	pool := compute.NewPool(2)
	defer pool.Close()
	step := func(factor int) uint64 {
		c := c
		c.Shape = slices.Clone(c.Shape)
		c.Shape[0] *= factor
		params, input, bar := c.random32(12, 1)
		grad, dst := make([]float32, len(params)), make([]float32, len(bar))
		var n network.Evaluator[float32]
		only := func() { n.ForwardOnly(dst, params, input) }
		both := func() { n.Forward(dst, params, input); n.Backward(grad, params, bar) }
		for i, f := range []func(){only, both} {
			says, _ := c.Network.Memory(c.Shape, 1, 2, 4, i == 1)
			takes := float64(check.Bytes(3, func() { n = c.Network.Float32(c.Shape, 1, pool); f() }))
			if factor > 4 && !(says > takes/1.5 && says < takes*1.5) { // small ones are headers of slices more than elements
				t.Errorf("on %v an evaluator takes %.0f bytes, training %v; Memory says %.0f", c.Shape, takes, i == 1, says)
			}
		}
		return check.Bytes(25, both) // goroutines that wait may take some bytes more in a few of them
	}
	const limit = 16 << 10
	if small, large := step(4), step(32); small > limit || large > small {
		t.Errorf("%d bytes are allocated a step, and %d on a grid 8 times as large; want at most %d, and as many", small, large, limit)
	}
}
