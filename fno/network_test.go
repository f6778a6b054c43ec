package fno

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

// cases span the shapes the code treats differently: two and three axes, one
// layer, tiles that do not fill, widths that are no multiple of 16, the Nyquist
// mode, batches, more rows than chunks, both activation choices.
var cases = []networktest.Case{
	{Name: "2-D", Network: Network{Inputs: 3, Width: 16, Layers: 3, Modes: []int{3, 4}, Projection: 32, Outputs: 16, LastActivation: true}, Shape: []int{7, 18}, Batch: 1},
	{Name: "odd widths", Network: Network{Inputs: 2, Width: 5, Layers: 2, Modes: []int{2, 3}, Projection: 9, Outputs: 3, OutputActivation: true}, Shape: []int{5, 11}, Batch: 2},
	{Name: "one layer", Network: Network{Inputs: 1, Width: 4, Layers: 1, Modes: []int{1, 1}, Projection: 4, Outputs: 1}, Shape: []int{3, 5}, Batch: 1},
	{Name: "one layer, all activations", Network: Network{Inputs: 1, Width: 20, Layers: 1, Modes: []int{1, 2}, Projection: 4, Outputs: 1, LastActivation: true, OutputActivation: true}, Shape: []int{60, 5}, Batch: 2},
	{Name: "all modes", Network: Network{Inputs: 3, Width: 3, Layers: 2, Modes: []int{3, 5}, Projection: 6, Outputs: 2}, Shape: []int{6, 8}, Batch: 1},
	{Name: "long rows", Network: Network{Inputs: 3, Width: 6, Layers: 2, Modes: []int{1, 2}, Projection: 6, Outputs: 2}, Shape: []int{2, 150}, Batch: 1},
	{Name: "3-D", Network: Network{Inputs: 2, Width: 6, Layers: 3, Modes: []int{2, 2, 3}, Projection: 10, Outputs: 4}, Shape: []int{5, 4, 6}, Batch: 2},
	{Name: "4-D", Network: Network{Inputs: 2, Width: 4, Layers: 2, Modes: []int{1, 1, 1, 2}, Projection: 6, Outputs: 2}, Shape: []int{3, 2, 3, 4}, Batch: 1},
	{Name: "many workers", Network: Network{Inputs: 3, Width: 32, Layers: 3, Modes: []int{2, 2, 3}, Projection: 48, Outputs: 4, LastActivation: true}, Shape: []int{9, 8, 20}, Batch: 2},
	{Name: "full width", Network: Network{Inputs: 3, Width: 64, Layers: 3, Modes: []int{4, 8}, Projection: 128, Outputs: 16, LastActivation: true}, Shape: []int{13, 70}, Batch: 2},
}

// dense evaluates the formulas of the package comment for one sample, transforms
// and all as plain sums over every point.
func dense(tt networktest.Case, params, input []float64) []float64 {
	c, shape := tt.Network.(Network), tt.Shape
	view := check.Views(c.Layout(), params)
	v := check.Pointwise(check.PerPoint(input, check.Points(shape)), view["lift.weight"], view["lift.bias"])
	for l := range c.Layers {
		name := fmt.Sprintf("layers.%d.", l)
		pre := check.Pointwise(v, view[name+"weight"], view[name+"bias"])
		denseSpectral(pre, v, c, shape, view[name+"spectral"])
		if l+1 < c.Layers || c.LastActivation {
			check.Gelu(pre)
		}
		v = pre
	}
	h := check.Pointwise(v, view["projection.weight"], view["projection.bias"])
	check.Gelu(h)
	out := check.Pointwise(h, view["output.weight"], view["output.bias"])
	if c.OutputActivation {
		check.Gelu(out)
	}
	return check.Fields(out)
}

// denseSpectral adds K v to pre, mode by mode.
func denseSpectral(pre, v [][]float64, c Network, shape []int, weights []float64) {
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
	for mode := range check.Points(kept) {
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

func TestNetwork(t *testing.T) {
	for _, c := range cases {
		if c.Network.(Network).Width < 32 { // else the dense version takes minutes
			c.Dense = dense
		}
		c.Run(t)
	}
}

// TestAllocations holds a step to less than the suite does.
func TestAllocations(t *testing.T) {
	pool := compute.NewPool(2)
	defer pool.Close()
	c := cases[0].Network.(Network)
	params, grad, input, dst := make([]float32, c.Size()), make([]float32, c.Size()), make([]float32, 3*64*32), make([]float32, 16*64*32)
	n := newEvaluator[float32](c, []int{64, 32}, 1, pool, nil)
	if bytes := check.Bytes(5, func() {
		n.Forward(dst, params, input)
		n.Backward(grad, params, dst)
	}); bytes > 4<<10 {
		t.Errorf("%d bytes a step", bytes)
	}
}

// TestMemory: the estimate is what is allocated, within a tenth, on two workers; and it holds for a huge network,
// that nothing can be allocated for.
func TestMemory(t *testing.T) {
	pool := compute.NewPool(2)
	defer pool.Close()
	for _, c := range []networktest.Case{
		{Network: Network{Inputs: 3, Width: 64, Layers: 5, Modes: []int{8, 8}, Projection: 128, Outputs: 16}, Shape: []int{51, 128}, Batch: 1},
		{Network: Network{Inputs: 7, Width: 20, Layers: 2, Modes: []int{3, 4, 5}, Projection: 40, Outputs: 1, OutputActivation: true}, Shape: []int{10, 16, 16}, Batch: 3},
		{Network: Network{Inputs: 1, Width: 100, Layers: 1, Modes: []int{2, 2}, Projection: 10, Outputs: 64}, Shape: []int{20, 20}, Batch: 2},
	} {
		for _, training := range []bool{false, true} {
			n := newEvaluator[float32](c.Network.(Network), c.Shape, c.Batch, pool, nil)
			if training {
				n.allocateBackward()
			}
			got, _ := c.Network.Memory(c.Shape, c.Batch, 2, 4, training)
			if want := float64(n.bytes); got < 0.9*want || got > 1.1*want {
				t.Errorf("%+v, training %v: estimated %.0f, allocated %.0f", c.Network, training, got, want)
			}
		}
	}
	huge := Network{Inputs: 1, Width: 1e9, Layers: 1e9, Modes: []int{1e9, 1e9}, Projection: 1e9, Outputs: 1e9}
	if got, _ := huge.Memory([]int{1e9, 1e9}, 1e9, 1e9, 8, true); !(got > 1e40) {
		t.Errorf("huge: %g", got)
	}
}

// TestConstant: with zero weights but the biases, every layer is a constant that
// can be worked out by hand.
func TestConstant(t *testing.T) {
	c, shape := Network{Inputs: 2, Width: 3, Layers: 2, Modes: []int{1, 2}, Projection: 2, Outputs: 2}, []int{4, 6}
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
	newEvaluator[float64](c, shape, 1, nil, nil).ForwardOnly(dst, params, make([]float64, 2*24))
	want := make([]float64, len(dst))
	for i := range 24 {
		want[i] = 2 + (1 + math.Tanh(math.Sqrt(2/math.Pi)*(2+0.044715*8)))
		want[24+i] = -3
	}
	check.Close(t, dst, want, 1e-14, 0)
}

func TestValidate(t *testing.T) {
	good := Network{Inputs: 1, Width: 2, Layers: 1, Modes: []int{4, 5}, Projection: 2, Outputs: 1}
	if err := good.Validate([]int{8, 8}); err != nil {
		t.Errorf("valid: %v", err)
	}
	for _, tt := range []struct {
		change func(*Network)
		shape  []int
		want   string
	}{
		{func(c *Network) {}, []int{7, 8}, "modes[0] is 4 (-4..3); an axis of 7 points holds at most 3"},
		{func(c *Network) {}, []int{8, 7}, "modes[1] is 5 (0..4); a real axis of 7 points holds at most 4"},
		{func(c *Network) {}, []int{8, 8, 8}, "modes has 2 entries; the grid has 3 axes"},
		{func(c *Network) { c.Modes = []int{4} }, []int{8}, "needs at least 2"},
		{func(c *Network) { c.Modes = []int{0, 1} }, []int{8, 8}, "modes[0] is 0; it must be at least 1"},
		{func(c *Network) { c.Axes = []string{"t", "x"} }, []int{8, 7}, "modes.x is 5 (0..4)"},
		{func(c *Network) { c.Width = 0 }, []int{8, 8}, "width is 0; it must be at least 1"},
	} {
		c := good
		tt.change(&c)
		if err := c.Validate(tt.shape); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: got %v, want %q", tt.shape, err, tt.want)
		}
	}
}

// TestSpec: keys become a Network, and what is wrong is said by key.
func TestSpec(t *testing.T) {
	s := DefaultKeys()
	s.Modes, s.OutputActivation, s.SpectralGain = map[string]int{"x": 4}, true, 0.5
	got, err := s.Network([]string{"t", "x"}, 3, 16)
	want := Network{
		Inputs: 3, Width: 64, Layers: 5, Modes: []int{8, 4}, Axes: []string{"t", "x"}, Projection: 128, Outputs: 16,
		LastActivation: true, OutputActivation: true, SpectralGain: 0.5,
	}
	want.Keys.Modes = s.Modes
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if b := want.Layout().Last(); b.Name != "output.bias" || b.Size() != 16 || b.Offset+16 != want.Size() {
		t.Errorf("output bias %+v", b)
	}
	if _, err := s.Network([]string{"t", "y"}, 3, 16); err == nil || err.Error() != `modes: no axis "x"; the axes are t, y` {
		t.Errorf("got %v", err)
	}
}

// TestInit: the gain multiplies the spectral weights and nothing else.
func TestInit(t *testing.T) {
	c := cases[0].Network.(Network)
	want, got, spectral := make([]float64, c.Size()), make([]float64, c.Size()), 0
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

// TestCount: the paper's network counts 9.2 GFLOP forward.
func TestCount(t *testing.T) {
	if got := paper.FLOP(paperShape) / 1e9; math.Abs(got-9.2) > 0.05 {
		t.Errorf("%.3f GFLOP", got)
	}
}

func ExampleNetwork_Layout() {
	c := Network{Inputs: 3, Width: 64, Layers: 1, Modes: []int{8, 8}, Projection: 128, Outputs: 16}
	for _, t := range c.Layout() {
		fmt.Println(t.Name, t.Shape)
	}
	// Output:
	// lift.weight [3 64]
	// lift.bias [64]
	// layers.0.spectral [16 8 2 64 64]
	// layers.0.weight [64 64]
	// layers.0.bias [64]
	// projection.weight [64 128]
	// projection.bias [128]
	// output.weight [128 16]
	// output.bias [16]
}
