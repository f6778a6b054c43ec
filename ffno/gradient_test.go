package ffno

import (
	"fmt"
	"testing"

	"pihc/internal/check"
)

// cases span the shapes the code treats differently: two to four axes, one layer,
// shared and separate weights, tiles and blocks that do not fill, widths that are no
// multiple of a lane, the Nyquist mode, batches, a first axis of many lines.
var cases = []struct {
	name   string
	config Config
	shape  []int
	batch  int
}{
	{"2-D", Config{Inputs: 3, Width: 16, Layers: 3, Modes: []int{3, 4}, Projection: 32, Outputs: 16, Expansion: 4}, []int{7, 18}, 1},
	{"odd widths", Config{Inputs: 2, Width: 5, Layers: 2, Modes: []int{2, 3}, Projection: 9, Outputs: 3, Expansion: 3, SharedWeights: true}, []int{5, 11}, 2},
	{"one layer", Config{Inputs: 1, Width: 4, Layers: 1, Modes: []int{1, 1}, Projection: 4, Outputs: 1, Expansion: 1}, []int{3, 5}, 1},
	{"all modes", Config{Inputs: 3, Width: 3, Layers: 2, Modes: []int{4, 5}, Projection: 6, Outputs: 2, Expansion: 2}, []int{6, 8}, 1},
	{"long lines", Config{Inputs: 3, Width: 6, Layers: 2, Modes: []int{1, 2}, Projection: 6, Outputs: 2, Expansion: 2, SharedWeights: true}, []int{2, 150}, 1},
	{"many lines", Config{Inputs: 1, Width: 20, Layers: 2, Modes: []int{2, 2}, Projection: 4, Outputs: 1, Expansion: 1}, []int{140, 5}, 2},
	{"3-D", Config{Inputs: 2, Width: 6, Layers: 3, Modes: []int{2, 2, 3}, Projection: 10, Outputs: 4, Expansion: 2}, []int{5, 4, 6}, 2},
	{"3-D shared", Config{Inputs: 2, Width: 6, Layers: 3, Modes: []int{2, 2, 3}, Axes: []string{"t", "x", "y"}, Projection: 10, Outputs: 4, Expansion: 2, SharedWeights: true}, []int{5, 4, 6}, 2},
	{"4-D", Config{Inputs: 2, Width: 4, Layers: 2, Modes: []int{1, 1, 1, 2}, Projection: 6, Outputs: 2, Expansion: 2}, []int{3, 2, 3, 4}, 1},
}

func points(shape []int) int {
	p := 1
	for _, n := range shape {
		p *= n
	}
	return p
}

// randomParams gives the biases values too, so that a test sees them.
func randomParams(c Config, seed uint64) []float64 {
	rng := check.Rand(seed)
	c.SpectralGain = 1
	params := make([]float64, c.Size())
	c.Init(params, rng)
	for _, t := range c.Layout() {
		if len(t.Shape) == 1 {
			check.Normal(rng, params[t.Offset:t.Offset+t.Size()])
		}
	}
	return params
}

// TestGradient compares Backward with central differences, tensor by tensor.
func TestGradient(t *testing.T) {
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			c, p := tt.config, points(tt.shape)
			if err := c.Validate(tt.shape); err != nil {
				t.Fatal(err)
			}
			rng := check.Rand(1)
			n := New[float64](c, tt.shape, tt.batch, nil)
			params := randomParams(c, 2)
			input := check.Normal(rng, make([]float64, tt.batch*c.Inputs*p))
			bar := check.Normal(rng, make([]float64, tt.batch*c.Outputs*p))
			dst := make([]float64, len(bar))
			f := func([]float64) float64 {
				n.ForwardOnly(dst, params, input)
				return check.Dot(dst, bar)
			}
			grad := make([]float64, len(params))
			n.Forward(dst, params, input)
			n.Backward(grad, params, bar)
			for _, v := range c.Layout() {
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

func ExampleConfig_Layout() {
	c := Config{Inputs: 4, Width: 32, Layers: 1, Modes: []int{8, 12, 12}, Axes: []string{"t", "x", "y"}, Projection: 64, Outputs: 16, Expansion: 2}
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
