package ffno

import (
	"fmt"
	"math"
	"math/cmplx"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pihc/internal/check"
	"pihc/internal/kernel"
)

// dense evaluates the formulas of the package comment for one sample, transforms
// and all as plain sums over every point.
func dense(c Config, shape []int, params, input []float64) []float64 {
	view := map[string][]float64{}
	for _, t := range c.Layout() {
		view[t.Name] = params[t.Offset : t.Offset+t.Size()]
	}
	p := points(shape)
	pointwise := func(v [][]float64, weight, bias []float64) [][]float64 {
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
	gelu := func(v [][]float64) {
		for _, x := range v {
			for i, y := range x {
				x[i] = y / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(y+0.044715*y*y*y)))
			}
		}
	}
	a := make([][]float64, p)
	for i := range a {
		for j := range c.Inputs {
			a[i] = append(a[i], input[j*p+i])
		}
	}
	v := pointwise(a, view["lift.weight"], view["lift.bias"])
	for l := range c.Layers {
		name, spectral := fmt.Sprintf("layers.%d.", l), ""
		if !c.SharedWeights {
			spectral = name
		}
		sum := make([][]float64, p)
		for i := range sum {
			sum[i] = make([]float64, c.Width)
		}
		for a := range shape {
			denseSpectral(sum, v, c, shape, a, view[spectral+"spectral."+c.axis(a)])
		}
		hidden := pointwise(sum, view[name+"inner.weight"], view[name+"inner.bias"])
		gelu(hidden)
		for i, y := range pointwise(hidden, view[name+"outer.weight"], view[name+"outer.bias"]) {
			for o := range y {
				v[i][o] += y[o]
			}
		}
	}
	h := pointwise(v, view["projection.weight"], view["projection.bias"])
	gelu(h)
	out := pointwise(h, view["output.weight"], view["output.bias"])
	flat := make([]float64, c.Outputs*p)
	for i, x := range out {
		for j, y := range x {
			flat[j*p+i] = y
		}
	}
	return flat
}

// denseSpectral adds K v along one axis to sum, mode by mode.
func denseSpectral(sum, v [][]float64, c Config, shape []int, axis int, weights []float64) {
	w, n, stride := c.Width, shape[axis], points(shape[axis+1:])
	for k := range c.Modes[axis] {
		phase := func(x int) complex128 { return cmplx.Exp(complex(0, 2*math.Pi*float64(k*x)/float64(n))) }
		r := weights[k*2*w*w:][:2*w*w]
		factor := 2 / float64(n)
		if k == 0 || 2*k == n {
			factor /= 2
		}
		for i := range v {
			if i/stride%n != 0 {
				continue // the first point of a line stands for it
			}
			for o := range w {
				var y complex128
				for x := range n {
					for j, u := range v[i+x*stride] {
						y += complex(r[j*w+o], r[w*w+j*w+o]) * complex(u, 0) * cmplx.Conj(phase(x))
					}
				}
				for x := range n {
					sum[i+x*stride][o] += factor * real(y*phase(x))
				}
			}
		}
	}
}

// TestForward compares the network with the dense version, in float64 and, at
// every width of vectors, in float32.
func TestForward(t *testing.T) {
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			c, p := tt.config, points(tt.shape)
			params := randomParams(c, 3)
			input := check.Normal(check.Rand(4), make([]float64, tt.batch*c.Inputs*p))
			var want []float64
			for b := range tt.batch {
				want = append(want, dense(c, tt.shape, params, input[b*c.Inputs*p:][:c.Inputs*p])...)
			}
			got := make([]float64, len(want))
			New[float64](c, tt.shape, tt.batch, nil).Forward(got, params, input)
			check.Close(t, got, want, 1e-12, 0)
			narrowWant := narrow(want)
			check.Widths(t, func(t *testing.T) {
				got := make([]float32, len(want))
				New[float32](c, tt.shape, tt.batch, nil).Forward(got, narrow(params), narrow(input))
				check.Close(t, got, narrowWant, 2e-5, 0)
			})
		})
	}
}

func narrow(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

// TestBackwardFloat32 compares the float32 gradient at every width with the
// float64 one, which TestGradient holds to central differences.
func TestBackwardFloat32(t *testing.T) {
	all := append(cases[:len(cases):len(cases)], struct {
		name   string
		config Config
		shape  []int
		batch  int
	}{"full width", Config{Inputs: 3, Width: 64, Layers: 3, Modes: []int{4, 8}, Projection: 128, Outputs: 16, Expansion: 2}, []int{13, 70}, 2})
	for _, tt := range all {
		t.Run(tt.name, func(t *testing.T) {
			c, p := tt.config, points(tt.shape)
			params := randomParams(c, 5)
			rng := check.Rand(6)
			input := check.Normal(rng, make([]float64, tt.batch*c.Inputs*p))
			bar := check.Normal(rng, make([]float64, tt.batch*c.Outputs*p))
			want, dst := make([]float64, len(params)), make([]float64, len(bar))
			n := New[float64](c, tt.shape, tt.batch, nil)
			n.Forward(dst, params, input)
			n.Backward(want, params, bar)
			check.Widths(t, func(t *testing.T) {
				grad, dst := make([]float32, len(params)), make([]float32, len(bar))
				n := New[float32](c, tt.shape, tt.batch, nil)
				n.Forward(dst, narrow(params), narrow(input))
				n.Backward(grad, narrow(params), narrow(bar))
				for _, v := range c.Layout() {
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

// TestWorkers: bitwise the same for 1, 2 and 4 workers, at every width of vectors.
func TestWorkers(t *testing.T) {
	c, shape, batch := Config{Inputs: 3, Width: 32, Layers: 3, Modes: []int{2, 2, 3}, Projection: 48, Outputs: 4, Expansion: 2, SharedWeights: true}, []int{9, 8, 20}, 2
	p := points(shape)
	params := narrow(randomParams(c, 7))
	input := check.Normal(check.Rand(8), make([]float32, batch*c.Inputs*p))
	bar := check.Normal(check.Rand(9), make([]float32, batch*c.Outputs*p))
	check.Widths(t, func(t *testing.T) {
		var dst0, grad0 []float32
		for _, workers := range []int{1, 2, 4} {
			pool := kernel.NewPool(workers)
			n := New[float32](c, shape, batch, pool)
			dst, grad, only := make([]float32, len(bar)), make([]float32, len(params)), make([]float32, len(bar))
			New[float32](c, shape, batch, pool).ForwardOnly(only, params, input)
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

// TestBatch: a sample's outputs do not depend on its batch.
func TestBatch(t *testing.T) {
	c, shape := cases[0].config, cases[0].shape
	p := points(shape)
	params := narrow(randomParams(c, 10))
	input := check.Normal(check.Rand(11), make([]float32, 3*c.Inputs*p))
	together, alone := make([]float32, 3*c.Outputs*p), make([]float32, 3*c.Outputs*p)
	New[float32](c, shape, 3, nil).ForwardOnly(together, params, input)
	one := New[float32](c, shape, 1, nil)
	for b := range 3 {
		one.ForwardOnly(alone[b*c.Outputs*p:][:c.Outputs*p], params, input[b*c.Inputs*p:][:c.Inputs*p])
	}
	check.Equal(t, together, alone)
}

// TestBatchGradient: the gradient of a batch is the sum over its samples in their
// order, each formed by itself, whatever the micro-batches and the workers.
func TestBatchGradient(t *testing.T) {
	const samples = 3
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			c, p := tt.config, points(tt.shape)
			params := narrow(randomParams(c, 20))
			input := check.Normal(check.Rand(21), make([]float32, samples*c.Inputs*p))
			bar := check.Normal(check.Rand(22), make([]float32, samples*c.Outputs*p))
			start := check.Normal(check.Rand(23), make([]float32, len(params)))
			check.Widths(t, func(t *testing.T) {
				want := slices.Clone(start)
				for b := range samples {
					one, dst := make([]float32, len(params)), make([]float32, c.Outputs*p)
					n := New[float32](c, tt.shape, 1, nil)
					n.Forward(dst, params, input[b*c.Inputs*p:][:c.Inputs*p])
					n.Backward(one, params, bar[b*c.Outputs*p:][:c.Outputs*p])
					for i, v := range one {
						want[i] += v
					}
				}
				for micro := 1; micro <= samples; micro++ {
					for _, workers := range []int{1, 3} {
						pool := kernel.NewPool(workers)
						n := New[float32](c, tt.shape, micro, pool)
						grad := slices.Clone(start)
						dst, in, out := make([]float32, micro*c.Outputs*p), make([]float32, micro*c.Inputs*p), make([]float32, micro*c.Outputs*p)
						for lo := 0; lo < samples; lo += micro {
							clear(out) // places past the last sample add nothing
							copy(in, input[lo*c.Inputs*p:])
							copy(out, bar[lo*c.Outputs*p:])
							n.Forward(dst, params, in)
							n.Backward(grad, params, out)
						}
						check.Equal(t, grad, want)
						pool.Close()
					}
				}
			})
		})
	}
}

// TestAllocations: after the first step only closures are allocated, as many bytes
// on a large grid as on a small one.
func TestAllocations(t *testing.T) {
	c := cases[0].config
	params := narrow(randomParams(c, 12))
	grad := make([]float32, len(params))
	pool := kernel.NewPool(2)
	defer pool.Close()
	bytes := func(shape []int) uint64 {
		p := points(shape)
		input, dst := make([]float32, c.Inputs*p), make([]float32, c.Outputs*p)
		n := New[float32](c, shape, 1, pool)
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
	if small > 16<<10 || large > small {
		t.Errorf("%d bytes a step, and %d on 8 times the grid", small, large)
	}
}

// TestConstant: with zero weights but those of the outputs, every layer adds a
// constant that can be worked out by hand.
func TestConstant(t *testing.T) {
	c, shape := Config{Inputs: 2, Width: 3, Layers: 2, Modes: []int{1, 2}, Projection: 2, Outputs: 2, Expansion: 1}, []int{4, 6}
	params := make([]float64, c.Size())
	for _, v := range c.Layout() {
		switch v.Name {
		case "layers.0.outer.bias", "layers.1.outer.bias":
			params[v.Offset+1] = 1 // channel 1 ends at 2
		case "projection.weight": // (width, projection): hidden 0 takes channel 1
			params[v.Offset+2] = 1
		case "output.weight":
			params[v.Offset] = 1
		case "output.bias":
			params[v.Offset], params[v.Offset+1] = 2, -3
		}
	}
	dst := make([]float64, 2*24)
	New[float64](c, shape, 1, nil).ForwardOnly(dst, params, make([]float64, 2*24))
	want := make([]float64, len(dst))
	for i := range 24 {
		want[i] = 2 + (1 + math.Tanh(math.Sqrt(2/math.Pi)*(2+0.044715*8)))
		want[24+i] = -3
	}
	check.Close(t, dst, want, 1e-14, 0)
}

func TestValidate(t *testing.T) {
	good := Config{Inputs: 1, Width: 2, Layers: 1, Modes: []int{5, 5}, Projection: 2, Outputs: 1, Expansion: 1}
	if err := good.Validate([]int{8, 8}); err != nil {
		t.Errorf("valid: %v", err)
	}
	for _, tt := range []struct {
		change func(*Config)
		shape  []int
		want   string
	}{
		{func(c *Config) {}, []int{7, 8}, "modes.0 is 5 (0..4); a real axis of 7 points holds at most 4"},
		{func(c *Config) { c.Axes = []string{"t", "x"} }, []int{8, 7}, "modes.x is 5 (0..4); a real axis of 7 points holds at most 4"},
		{func(c *Config) {}, []int{8, 8, 8}, "modes has 2 entries; the grid has 3 axes"},
		{func(c *Config) { c.Modes = []int{4} }, []int{8}, "needs at least 2"},
		{func(c *Config) { c.Modes = []int{0, 1} }, []int{8, 8}, "modes.0 is 0; it must be at least 1"},
		{func(c *Config) { c.Expansion = 0 }, []int{8, 8}, "expansion is 0; it must be at least 1"},
	} {
		c := good
		tt.change(&c)
		if err := c.Validate(tt.shape); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: got %v, want %q", tt.shape, err, tt.want)
		}
	}
}

// TestSpec: keys become a Config, and what is wrong is said by key.
func TestSpec(t *testing.T) {
	s := DefaultSpec()
	s.Modes, s.SharedWeights, s.SpectralGain = map[string]int{"x": 4}, true, 0.5
	c, err := s.Config([]string{"t", "x"}, 3, 16)
	want := Config{
		Inputs: 3, Width: 64, Layers: 4, Modes: []int{8, 4}, Axes: []string{"t", "x"}, Projection: 128, Outputs: 16,
		Expansion: 4, SharedWeights: true, SpectralGain: 0.5,
	}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, %v", c, err)
	}
	if b := c.OutputBias(); b.Name != "output.bias" || b.Size() != 16 || b.Offset+16 != c.Size() {
		t.Errorf("output bias %+v", b)
	}
	if _, err := s.Config([]string{"t", "y"}, 3, 16); err == nil || err.Error() != `modes: no axis "x"; the axes are t, y` {
		t.Errorf("got %v", err)
	}
	var got []string
	Spec{Width: -1, Layers: 1, Projection: 1, SpectralGain: -2}.Validate(func(key, reason string) { got = append(got, key+": "+reason) })
	if want := []string{"width: -1: want at least 1", "expansion: 0: want at least 1", "spectral_gain: -2: want zero or a positive number"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestInit: the gain multiplies the spectral weights and nothing else.
func TestInit(t *testing.T) {
	c := cases[0].config
	one, half := make([]float64, c.Size()), make([]float64, c.Size())
	c.SpectralGain = 1
	c.Init(one, check.Rand(1))
	c.SpectralGain = 0.5
	c.Init(half, check.Rand(1))
	for _, v := range c.Layout() {
		if strings.Contains(v.Name, "spectral") {
			for i := range v.Size() {
				one[v.Offset+i] *= 0.5
			}
		}
	}
	check.Equal(t, half, one)
}

// TestCount: a network small enough to count by hand.
func TestCount(t *testing.T) {
	c := Config{Inputs: 1, Width: 2, Layers: 1, Modes: []int{1, 1}, Projection: 3, Outputs: 1, Expansion: 2}
	// Per point: lift 2, two axes 4 and 4·4·1/4 each, feed-forward 16, projection 6,
	// output 3 multiplications and additions; 7 GELUs.
	if got, want := c.FLOP([]int{4, 4}), 16.*(2*(2+2*(8+4)+16+6+3)+15*7); got != want {
		t.Errorf("%g, want %g", got, want)
	}
}

// The estimate is what is allocated, within a tenth; and it holds for sizes that
// nothing can be allocated for.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		Config
		shape []int
		batch int
	}{
		{Config{Inputs: 3, Width: 64, Layers: 4, Modes: []int{8, 8}, Projection: 128, Outputs: 16, Expansion: 4}, []int{51, 128}, 1},
		{Config{Inputs: 7, Width: 20, Layers: 2, Modes: []int{3, 4, 5}, Projection: 40, Outputs: 1, Expansion: 2, SharedWeights: true}, []int{10, 16, 16}, 3},
		{Config{Inputs: 1, Width: 100, Layers: 1, Modes: []int{2, 2}, Projection: 10, Outputs: 64, Expansion: 1}, []int{20, 20}, 2},
	} {
		for _, training := range []bool{false, true} {
			pool := kernel.NewPool(2)
			n := New[float32](c.Config, c.shape, c.batch, pool)
			if training {
				n.allocateBackward()
			}
			got, parameters := c.Memory(c.shape, c.batch, 2, 4, training)
			if want := float64(c.Size()); parameters != want {
				t.Errorf("%g parameters, want %g", parameters, want)
			}
			want := float64(n.Bytes())
			if got < 0.9*want || got > 1.1*want {
				t.Errorf("%+v, training %v: estimated %.0f, allocated %.0f", c.Config, training, got, want)
			}
			pool.Close()
		}
	}
	huge := Config{Inputs: 1, Width: 1e9, Layers: 1e9, Modes: []int{1e9, 1e9}, Projection: 1e9, Outputs: 1e9, Expansion: 1e9}
	if got, _ := huge.Memory([]int{1e9, 1e9}, 1e9, 1e9, 8, true); !(got > 1e40) {
		t.Errorf("huge: %g", got)
	}
}
