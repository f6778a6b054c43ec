// Package networktest tests a neural operator: values against a dense version,
// gradients against differences, and the promises of operator.Network about batches,
// workers and memory.
package networktest

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"pihc/compute"
	"pihc/internal/check"
	"pihc/network"
)

// A Case is a network on a grid of some shape (axis 0 slowest) and a batch.
type Case struct {
	Name    string
	Network network.Network
	Shape   []int
	Batch   int
}

// Points is the size of a grid.
func Points(shape []int) int {
	p := 1
	for _, n := range shape {
		p *= n
	}
	return p
}

// Params draws parameters as networks do, with a gain of 1, and gives the biases
// values too, so that a test sees them.
func Params(n network.Network, seed uint64) []float64 {
	rng := check.Rand(seed)
	params := make([]float64, n.Size())
	network.Layout(n.Layout()).Init(params, 1, rng)
	for _, t := range n.Layout() {
		if len(t.Shape) == 1 {
			check.Normal(rng, params[t.Offset:t.Offset+t.Size()])
		}
	}
	return params
}

// sizes returns the elements that a sample has going in and coming out.
func (c Case) sizes() (in, out int) {
	inputs, outputs := c.Network.Fields()
	p := Points(c.Shape)
	return inputs * p, outputs * p
}

func narrow(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

// Forward compares networks with dense, their formulas as plain sums for one
// sample: in float64 and, at every width of vectors, in float32.
func Forward(t *testing.T, cases []Case, dense func(c Case, params, input []float64) []float64) {
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			params := Params(c.Network, 3)
			in, _ := c.sizes()
			input := check.Normal(check.Rand(4), make([]float64, c.Batch*in))
			var want []float64
			for b := range c.Batch {
				want = append(want, dense(c, params, input[b*in:][:in])...)
			}
			got := make([]float64, len(want))
			c.Network.Float64(c.Shape, c.Batch, nil).Forward(got, params, input)
			check.Close(t, got, want, 1e-12, 0)
			narrowWant := narrow(want)
			check.Widths(t, func(t *testing.T) {
				got := make([]float32, len(want))
				c.Network.Float32(c.Shape, c.Batch, nil).Forward(got, narrow(params), narrow(input))
				check.Close(t, got, narrowWant, 2e-5, 0)
			})
		})
	}
}

// Gradient compares Backward with central differences, tensor by tensor.
func Gradient(t *testing.T, cases []Case) {
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Network.Validate(c.Shape); err != nil {
				t.Fatal(err)
			}
			rng := check.Rand(1)
			n := c.Network.Float64(c.Shape, c.Batch, nil)
			params := Params(c.Network, 2)
			in, out := c.sizes()
			input := check.Normal(rng, make([]float64, c.Batch*in))
			bar := check.Normal(rng, make([]float64, c.Batch*out))
			dst := make([]float64, len(bar))
			f := func([]float64) float64 {
				n.ForwardOnly(dst, params, input)
				return check.Dot(dst, bar)
			}
			grad := make([]float64, len(params))
			n.Forward(dst, params, input)
			n.Backward(grad, params, bar)
			for _, v := range c.Network.Layout() {
				t.Run(v.Name, func(t *testing.T) {
					lo, hi := v.Offset, v.Offset+v.Size()
					check.Gradient(t, rng, f, params[lo:hi], grad[lo:hi], 2, 1e-3, 1e-7)
				})
			}

			// Backward accumulates and may be repeated.
			twice := append([]float64(nil), grad...)
			n.Forward(dst, params, input)
			n.Backward(twice, params, bar)
			for i := range grad {
				grad[i] *= 2
			}
			check.Close(t, twice, grad, 1e-13, 0)
		})
	}
}

// BackwardFloat32 compares the float32 gradient at every width of vectors with the
// float64 one, which Gradient holds to central differences.
func BackwardFloat32(t *testing.T, cases []Case) {
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			params := Params(c.Network, 5)
			rng := check.Rand(6)
			in, out := c.sizes()
			input := check.Normal(rng, make([]float64, c.Batch*in))
			bar := check.Normal(rng, make([]float64, c.Batch*out))
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
		})
	}
}

// Workers: bitwise the same for 1, 2 and 4 workers, at every width of vectors.
func Workers(t *testing.T, c Case) {
	params := narrow(Params(c.Network, 7))
	in, out := c.sizes()
	input := check.Normal(check.Rand(8), make([]float32, c.Batch*in))
	bar := check.Normal(check.Rand(9), make([]float32, c.Batch*out))
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

// Batch: a sample's outputs do not depend on its batch.
func Batch(t *testing.T, c Case) {
	params := narrow(Params(c.Network, 10))
	in, out := c.sizes()
	input := check.Normal(check.Rand(11), make([]float32, 3*in))
	together, alone := make([]float32, 3*out), make([]float32, 3*out)
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

// BatchGradient: the gradient of a batch is the sum over its samples in their
// order, each formed by itself, whatever the micro-batches and the workers.
func BatchGradient(t *testing.T, cases []Case) {
	const samples = 3
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			params := narrow(Params(c.Network, 20))
			sizeIn, sizeOut := c.sizes()
			input := check.Normal(check.Rand(21), make([]float32, samples*sizeIn))
			bar := check.Normal(check.Rand(22), make([]float32, samples*sizeOut))
			start := check.Normal(check.Rand(23), make([]float32, len(params)))
			check.Widths(t, func(t *testing.T) {
				want := slices.Clone(start)
				for b := range samples {
					one, dst := make([]float32, len(params)), make([]float32, sizeOut)
					n := c.Network.Float32(c.Shape, 1, nil)
					n.Forward(dst, params, input[b*sizeIn:][:sizeIn])
					n.Backward(one, params, bar[b*sizeOut:][:sizeOut])
					for i, v := range one {
						want[i] += v
					}
				}
				for micro := 1; micro <= samples; micro++ {
					for _, workers := range []int{1, 3} {
						pool := compute.NewPool(workers)
						n := c.Network.Float32(c.Shape, micro, pool)
						grad := slices.Clone(start)
						dst := make([]float32, micro*sizeOut)
						for lo := 0; lo < samples; lo += micro { // of two, the second has one
							hi := min(lo+micro, samples)
							n.Forward(dst[:(hi-lo)*sizeOut], params, input[lo*sizeIn:hi*sizeIn])
							n.Backward(grad, params, bar[lo*sizeOut:hi*sizeOut])
						}
						check.Equal(t, grad, want)
						pool.Close()
					}
				}
			})
		})
	}
}

// Allocations: after the first step only closures are allocated, at most so many
// bytes, and as many on a large grid as on a small one.
func Allocations(t *testing.T, network network.Network, limit uint64) {
	params := narrow(Params(network, 12))
	grad := make([]float32, len(params))
	pool := compute.NewPool(2)
	defer pool.Close()
	bytes := func(shape []int) uint64 {
		in, out := Case{Network: network, Shape: shape}.sizes()
		input, dst := make([]float32, in), make([]float32, out)
		n := network.Float32(shape, 1, pool)
		least := uint64(math.MaxUint64)
		for range 5 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n.Forward(dst, params, input)
			n.Backward(grad, params, dst)
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		return least
	}
	small, large := bytes([]int{64, 32}), bytes([]int{128, 128})
	if small > limit || large > small {
		t.Errorf("%d bytes a step, and %d on 8 times the grid", small, large)
	}
}

// Gain: the gain of half multiplies the spectral weights of one and nothing else.
func Gain(t *testing.T, one, half network.Network) {
	want, got := make([]float64, one.Size()), make([]float64, half.Size())
	one.Init(want, check.Rand(1))
	half.Init(got, check.Rand(1))
	spectral := 0
	for _, v := range one.Layout() {
		if len(v.Shape) > 2 {
			spectral++
			for i := range v.Size() {
				want[v.Offset+i] *= 0.5
			}
		}
	}
	check.Equal(t, got, want)
	if spectral == 0 {
		t.Error("no spectral weights")
	}
}

// Memory: the estimate is what is allocated, within a tenth, on two workers; and it
// holds for a huge network, that nothing can be allocated for. allocated makes an
// evaluator, for training or not, and returns its bytes.
func Memory(t *testing.T, cases []Case, huge network.Network, allocated func(c Case, pool *compute.Pool, training bool) int64) {
	pool := compute.NewPool(2)
	defer pool.Close()
	for _, c := range cases {
		for _, training := range []bool{false, true} {
			got, parameters := c.Network.Memory(c.Shape, c.Batch, 2, 4, training)
			if want := float64(c.Network.Size()); parameters != want {
				t.Errorf("%g parameters, want %g", parameters, want)
			}
			want := float64(allocated(c, pool, training))
			if got < 0.9*want || got > 1.1*want {
				t.Errorf("%+v, training %v: estimated %.0f, allocated %.0f", c.Network, training, got, want)
			}
		}
	}
	if got, _ := huge.Memory([]int{1e9, 1e9}, 1e9, 1e9, 8, true); !(got > 1e40) {
		t.Errorf("huge: %g", got)
	}
}

// Pointwise applies a matrix (in, out) and a bias to the channels of each point, as
// dense versions do.
func Pointwise(v [][]float64, weight, bias []float64) [][]float64 {
	out := make([][]float64, len(v))
	for i, x := range v {
		y := append([]float64(nil), bias...)
		for j, a := range x {
			for o := range y {
				y[o] += a * weight[j*len(bias)+o]
			}
		}
		out[i] = y
	}
	return out
}

// Gelu replaces each element by its GELU, by the formula.
func Gelu(v [][]float64) {
	for _, x := range v {
		for i, y := range x {
			x[i] = y / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(y+0.044715*y*y*y)))
		}
	}
}

// PerPoint turns fields (channels, P) into the channels of each point, and Fields
// back.
func PerPoint(input []float64, points int) [][]float64 {
	a := make([][]float64, points)
	for j := 0; j < len(input); j += points {
		for i := range a {
			a[i] = append(a[i], input[j+i])
		}
	}
	return a
}

// Fields turns the channels of each point into fields (channels, P).
func Fields(v [][]float64) []float64 {
	flat := make([]float64, len(v)*len(v[0]))
	for i, x := range v {
		for j, y := range x {
			flat[j*len(v)+i] = y
		}
	}
	return flat
}

// Views returns the tensors of a flat parameter slice by name.
func Views(layout []compute.Tensor, params []float64) map[string][]float64 {
	view := map[string][]float64{}
	for _, t := range layout {
		view[t.Name] = params[t.Offset : t.Offset+t.Size()]
	}
	return view
}
