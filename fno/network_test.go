package fno

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
		name := fmt.Sprintf("layers.%d.", l)
		pre := pointwise(v, view[name+"weight"], view[name+"bias"])
		denseSpectral(pre, v, c, shape, view[name+"spectral"])
		if l+1 < c.Layers || c.LastActivation {
			gelu(pre)
		}
		v = pre
	}
	h := pointwise(v, view["projection.weight"], view["projection.bias"])
	gelu(h)
	out := pointwise(h, view["output.weight"], view["output.bias"])
	if c.OutputActivation {
		gelu(out)
	}
	flat := make([]float64, c.Outputs*p)
	for i, x := range out {
		for j, y := range x {
			flat[j*p+i] = y
		}
	}
	return flat
}

// denseSpectral adds K v to pre, mode by mode.
func denseSpectral(pre, v [][]float64, c Config, shape []int, weights []float64) {
	last, w := len(shape)-1, c.Width
	kept := append([]int(nil), c.Modes...)
	for i := range last {
		kept[i] *= 2
	}
	unravel := func(i int, shape []int) []int {
		index := make([]int, len(shape))
		for axis := len(shape) - 1; axis >= 0; axis-- {
			index[axis], i = i%shape[axis], i/shape[axis]
		}
		return index
	}
	for mode := range points(kept) {
		q := unravel(mode, kept)
		for axis := range last {
			if q[axis] >= c.Modes[axis] {
				q[axis] -= kept[axis]
			}
		}
		phase := func(i int) complex128 {
			theta := 0.0
			for axis, x := range unravel(i, shape) {
				theta += 2 * math.Pi * float64(q[axis]*x) / float64(shape[axis])
			}
			return cmplx.Exp(complex(0, theta))
		}
		hat := make([]complex128, w)
		for i, x := range v {
			e := cmplx.Conj(phase(i))
			for j, y := range x {
				hat[j] += complex(y, 0) * e
			}
		}
		r := weights[mode*2*w*w:][:2*w*w]
		factor := 2 / float64(len(v))
		if q[last] == 0 || 2*q[last] == shape[last] {
			factor /= 2
		}
		for o := range w {
			var y complex128
			for j, x := range hat {
				y += complex(r[j*w+o], r[w*w+j*w+o]) * x
			}
			for i := range pre {
				pre[i][o] += factor * real(y*phase(i))
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
	}{"full width", Config{Inputs: 3, Width: 64, Layers: 3, Modes: []int{4, 8}, Projection: 128, Outputs: 16, LastActivation: true}, []int{13, 70}, 2})
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
	c, shape, batch := Config{Inputs: 3, Width: 32, Layers: 3, Modes: []int{2, 2, 3}, Projection: 48, Outputs: 4, LastActivation: true}, []int{9, 8, 20}, 2
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
	if small > 4<<10 || large > small {
		t.Errorf("%d bytes a step, and %d on 8 times the grid", small, large)
	}
}

// TestConstant: with zero weights but the biases, every layer is a constant that
// can be worked out by hand.
func TestConstant(t *testing.T) {
	c, shape := Config{Inputs: 2, Width: 3, Layers: 2, Modes: []int{1, 2}, Projection: 2, Outputs: 2}, []int{4, 6}
	params := make([]float64, c.Size())
	for _, v := range c.Layout() {
		if v.Name == "projection.bias" || v.Name == "output.bias" {
			params[v.Offset], params[v.Offset+1] = 2, -3
		}
		if v.Name == "output.weight" { // (projection, outputs): output 0 takes hidden 0
			params[v.Offset] = 1
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
	good := Config{Inputs: 1, Width: 2, Layers: 1, Modes: []int{4, 5}, Projection: 2, Outputs: 1}
	if err := good.Validate([]int{8, 8}); err != nil {
		t.Errorf("valid: %v", err)
	}
	for _, tt := range []struct {
		change func(*Config)
		shape  []int
		want   string
	}{
		{func(c *Config) {}, []int{7, 8}, "modes[0] is 4 (-4..3); an axis of 7 points holds at most 3"},
		{func(c *Config) {}, []int{8, 7}, "modes[1] is 5 (0..4); a real axis of 7 points holds at most 4"},
		{func(c *Config) {}, []int{8, 8, 8}, "modes has 2 entries; the grid has 3 axes"},
		{func(c *Config) { c.Modes = []int{4} }, []int{8}, "needs at least 2"},
		{func(c *Config) { c.Modes = []int{0, 1} }, []int{8, 8}, "modes[0] is 0; it must be at least 1"},
		{func(c *Config) { c.Axes = []string{"t", "x"} }, []int{8, 7}, "modes.x is 5 (0..4)"},
		{func(c *Config) { c.Width = 0 }, []int{8, 8}, "width is 0; it must be at least 1"},
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
	s.Modes, s.OutputActivation, s.SpectralGain = map[string]int{"x": 4}, true, 0.5
	c, err := s.Config([]string{"t", "x"}, 3, 16)
	want := Config{
		Inputs: 3, Width: 64, Layers: 5, Modes: []int{8, 4}, Axes: []string{"t", "x"}, Projection: 128, Outputs: 16,
		LastActivation: true, OutputActivation: true, SpectralGain: 0.5,
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
	Spec{Width: -1, Layers: 1, SpectralGain: -2}.Validate(func(key, reason string) { got = append(got, key+": "+reason) })
	if want := []string{"width: -1: want at least 1", "projection: 0: want at least 1", "spectral_gain: -2: want zero or a positive number"}; !slices.Equal(got, want) {
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
		if len(v.Shape) > 2 {
			for i := range v.Size() {
				one[v.Offset+i] *= 0.5
			}
		}
	}
	check.Equal(t, half, one)
}

// TestCount: the paper's network counts 9.2 GFLOP forward.
func TestCount(t *testing.T) {
	if got := paper.FLOP(paperShape) / 1e9; math.Abs(got-9.2) > 0.05 {
		t.Errorf("%.3f GFLOP", got)
	}
}
