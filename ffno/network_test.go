package ffno

import (
	"fmt"
	"math"
	"math/cmplx"
	"reflect"
	"strings"
	"testing"

	"pihc/compute"
	"pihc/internal/check"
	"pihc/network/networktest"
)

// cases span the shapes the code treats differently: two to four axes, one layer,
// shared and separate weights, tiles and blocks that do not fill, widths that are no
// multiple of a lane, the Nyquist mode, batches, a first axis of many lines.
var cases = []networktest.Case{
	{Name: "2-D", Network: operator{Inputs: 3, Width: 16, Layers: 3, Modes: []int{3, 4}, Projection: 32, Outputs: 16, Expansion: 4}, Shape: []int{7, 18}, Batch: 1},
	{Name: "odd widths", Network: operator{Inputs: 2, Width: 5, Layers: 2, Modes: []int{2, 3}, Projection: 9, Outputs: 3, Expansion: 3, SharedWeights: true}, Shape: []int{5, 11}, Batch: 2},
	{Name: "one layer", Network: operator{Inputs: 1, Width: 4, Layers: 1, Modes: []int{1, 1}, Projection: 4, Outputs: 1, Expansion: 1}, Shape: []int{3, 5}, Batch: 1},
	{Name: "all modes", Network: operator{Inputs: 3, Width: 3, Layers: 2, Modes: []int{4, 5}, Projection: 6, Outputs: 2, Expansion: 2}, Shape: []int{6, 8}, Batch: 1},
	{Name: "long lines", Network: operator{Inputs: 3, Width: 6, Layers: 2, Modes: []int{1, 2}, Projection: 6, Outputs: 2, Expansion: 2, SharedWeights: true}, Shape: []int{2, 150}, Batch: 1},
	{Name: "many lines", Network: operator{Inputs: 1, Width: 20, Layers: 2, Modes: []int{2, 2}, Projection: 4, Outputs: 1, Expansion: 1}, Shape: []int{140, 5}, Batch: 2},
	{Name: "3-D", Network: operator{Inputs: 2, Width: 6, Layers: 3, Modes: []int{2, 2, 3}, Projection: 10, Outputs: 4, Expansion: 2}, Shape: []int{5, 4, 6}, Batch: 2},
	{Name: "3-D shared", Network: operator{Inputs: 2, Width: 6, Layers: 3, Modes: []int{2, 2, 3}, Axes: []string{"t", "x", "y"}, Projection: 10, Outputs: 4, Expansion: 2, SharedWeights: true}, Shape: []int{5, 4, 6}, Batch: 2},
	{Name: "4-D", Network: operator{Inputs: 2, Width: 4, Layers: 2, Modes: []int{1, 1, 1, 2}, Projection: 6, Outputs: 2, Expansion: 2}, Shape: []int{3, 2, 3, 4}, Batch: 1},
	{Name: "many workers", Network: operator{Inputs: 3, Width: 32, Layers: 3, Modes: []int{2, 2, 3}, Projection: 48, Outputs: 4, Expansion: 2, SharedWeights: true}, Shape: []int{9, 8, 20}, Batch: 2},
	{Name: "full width", Network: operator{Inputs: 3, Width: 64, Layers: 3, Modes: []int{4, 8}, Projection: 128, Outputs: 16, Expansion: 2}, Shape: []int{13, 70}, Batch: 2},
}

// dense evaluates the formulas of the package comment for one sample, transforms
// and all as plain sums over every point.
func dense(tt networktest.Case, params, input []float64) []float64 {
	c, shape := tt.Network.(operator), tt.Shape
	view := check.Views(c.Layout(), params)
	v := check.Pointwise(check.PerPoint(input, check.Points(shape)), view["lift.weight"], view["lift.bias"])
	for l := range c.Layers {
		name, spectral := fmt.Sprintf("layers.%d.", l), ""
		if !c.SharedWeights {
			spectral = name
		}
		sum := make([][]float64, len(v))
		for i := range sum {
			sum[i] = make([]float64, c.Width)
		}
		for a := range shape {
			denseSpectral(sum, v, c, shape, a, view[spectral+"spectral."+c.axis(a)])
		}
		hidden := check.Pointwise(sum, view[name+"inner.weight"], view[name+"inner.bias"])
		check.Gelu(hidden)
		for i, y := range check.Pointwise(hidden, view[name+"outer.weight"], view[name+"outer.bias"]) {
			for o := range y {
				v[i][o] += y[o]
			}
		}
	}
	h := check.Pointwise(v, view["projection.weight"], view["projection.bias"])
	check.Gelu(h)
	out := check.Pointwise(h, view["output.weight"], view["output.bias"])
	return check.Fields(out)
}

// denseSpectral adds K v along one axis to sum, mode by mode.
func denseSpectral(sum, v [][]float64, c operator, shape []int, axis int, weights []float64) {
	w, n, stride := c.Width, shape[axis], check.Points(shape[axis+1:])
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

func TestNetwork(t *testing.T) {
	for _, c := range cases {
		if c.Network.(operator).Width < 32 { // else the dense version takes minutes
			c.Dense = dense
		}
		c.Run(t)
	}
}

// TestMemory: the estimate is what is allocated, within a tenth, on two workers; and it holds for a huge network,
// that nothing can be allocated for.
func TestMemory(t *testing.T) {
	pool := compute.NewPool(2)
	defer pool.Close()
	for _, c := range []networktest.Case{
		{Network: operator{Inputs: 3, Width: 64, Layers: 4, Modes: []int{8, 8}, Projection: 128, Outputs: 16, Expansion: 4}, Shape: []int{51, 128}, Batch: 1},
		{Network: operator{Inputs: 7, Width: 20, Layers: 2, Modes: []int{3, 4, 5}, Projection: 40, Outputs: 1, Expansion: 2, SharedWeights: true}, Shape: []int{10, 16, 16}, Batch: 3},
		{Network: operator{Inputs: 1, Width: 100, Layers: 1, Modes: []int{2, 2}, Projection: 10, Outputs: 64, Expansion: 1}, Shape: []int{20, 20}, Batch: 2},
	} {
		for _, training := range []bool{false, true} {
			n := newEvaluator[float32](c.Network.(operator), c.Shape, c.Batch, pool)
			if training {
				n.allocateBackward()
			}
			got, _ := c.Network.Memory(c.Shape, c.Batch, 2, 4, training)
			if want := float64(n.bytes); got < 0.9*want || got > 1.1*want {
				t.Errorf("%+v, training %v: estimated %.0f, allocated %.0f", c.Network, training, got, want)
			}
		}
	}
	huge := operator{Inputs: 1, Width: 1e9, Layers: 1e9, Modes: []int{1e9, 1e9}, Projection: 1e9, Outputs: 1e9, Expansion: 1e9}
	if got, _ := huge.Memory([]int{1e9, 1e9}, 1e9, 1e9, 8, true); !(got > 1e40) {
		t.Errorf("huge: %g", got)
	}
}

// TestConstant: with zero weights but those of the outputs, every layer adds a
// constant that can be worked out by hand.
func TestConstant(t *testing.T) {
	c, shape := operator{Inputs: 2, Width: 3, Layers: 2, Modes: []int{1, 2}, Projection: 2, Outputs: 2, Expansion: 1}, []int{4, 6}
	params := make([]float64, c.Layout().Size())
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
	newEvaluator[float64](c, shape, 1, nil).ForwardOnly(dst, params, make([]float64, 2*24))
	want := make([]float64, len(dst))
	for i := range 24 {
		want[i] = 2 + (1 + math.Tanh(math.Sqrt(2/math.Pi)*(2+0.044715*8)))
		want[24+i] = -3
	}
	check.Close(t, dst, want, 1e-14, 0)
}

func TestValidate(t *testing.T) {
	good := operator{Inputs: 1, Width: 2, Layers: 1, Modes: []int{5, 5}, Projection: 2, Outputs: 1, Expansion: 1}
	if err := good.Validate([]int{8, 8}); err != nil {
		t.Errorf("valid: %v", err)
	}
	for _, tt := range []struct {
		change func(*operator)
		shape  []int
		want   string
	}{
		{func(c *operator) {}, []int{7, 8}, "modes.0 is 5 (0..4); a real axis of 7 points holds at most 4"},
		{func(c *operator) { c.Axes = []string{"t", "x"} }, []int{8, 7}, "modes.x is 5 (0..4); a real axis of 7 points holds at most 4"},
		{func(c *operator) {}, []int{8, 8, 8}, "modes has 2 entries; the grid has 3 axes"},
		{func(c *operator) { c.Modes = []int{4} }, []int{8}, "needs at least 2"},
		{func(c *operator) { c.Modes = []int{0, 1} }, []int{8, 8}, "modes.0 is 0; it must be at least 1"},
		{func(c *operator) { c.Expansion = 0 }, []int{8, 8}, "expansion is 0; it must be at least 1"},
	} {
		c := good
		tt.change(&c)
		if err := c.Validate(tt.shape); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: got %v, want %q", tt.shape, err, tt.want)
		}
	}
}

// TestSpec: keys become an operator, and what is wrong is said by key.
func TestSpec(t *testing.T) {
	s := DefaultKeys()
	s.Modes, s.SharedWeights, s.SpectralGain = map[string]int{"x": 4}, true, 0.5
	got, err := s.Network([]string{"t", "x"}, 3, 16)
	want := operator{
		Inputs: 3, Width: 64, Layers: 4, Modes: []int{8, 4}, Axes: []string{"t", "x"}, Projection: 128, Outputs: 16,
		Expansion: 4, SharedWeights: true, SpectralGain: 0.5,
	}
	want.Keys.Modes = s.Modes
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if b := want.Layout().Last(); b.Name != "output.bias" || b.Size() != 16 || b.Offset+16 != want.Layout().Size() {
		t.Errorf("output bias %+v", b)
	}
	if _, err := s.Network([]string{"t", "y"}, 3, 16); err == nil || err.Error() != `modes: no axis "x"; the axes are t, y` {
		t.Errorf("got %v", err)
	}
}

// TestInit: the gain multiplies the spectral weights and nothing else.
func TestInit(t *testing.T) {
	c := cases[0].Network.(operator)
	want, got, spectral := make([]float64, c.Layout().Size()), make([]float64, c.Layout().Size()), 0
	c.SpectralGain = 1
	c.Init(want, check.Rand(1))
	c.SpectralGain = 0.5
	c.Init(got, check.Rand(1))
	for _, v := range c.Layout() {
		if strings.Contains(v.Name, "spectral") {
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

// TestCount: a network small enough to count by hand.
func TestCount(t *testing.T) {
	c := operator{Inputs: 1, Width: 2, Layers: 1, Modes: []int{1, 1}, Projection: 3, Outputs: 1, Expansion: 2}
	// Per point: lift 2, two axes 4 and 4·4·1/4 each, feed-forward 16, projection 6,
	// output 3 multiplications and additions; 7 GELUs.
	if got, want := c.FLOP([]int{4, 4}), 16.*(2*(2+2*(8+4)+16+6+3)+15*7); got != want {
		t.Errorf("%g, want %g", got, want)
	}
}

func ExampleNetwork_Layout() {
	c := operator{Inputs: 4, Width: 32, Layers: 1, Modes: []int{8, 12, 12}, Axes: []string{"t", "x", "y"}, Projection: 64, Outputs: 16, Expansion: 2}
	for _, t := range c.Layout() {
		fmt.Println(t.Name, t.Shape)
	}
	// Output:
	// lift.weight [4 32]
	// lift.bias [32]
	// layers.0.spectral.t [8 2 32 32]
	// layers.0.spectral.x [12 2 32 32]
	// layers.0.spectral.y [12 2 32 32]
	// layers.0.inner.weight [32 64]
	// layers.0.inner.bias [64]
	// layers.0.outer.weight [64 32]
	// layers.0.outer.bias [32]
	// projection.weight [32 64]
	// projection.bias [64]
	// output.weight [64 16]
	// output.bias [16]
}
