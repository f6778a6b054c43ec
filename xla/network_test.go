package xla

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pihc/fno"
	"pihc/internal/check"
	"pihc/model"
)

// Outputs and gradient are those of package fno.
func TestNetwork(t *testing.T) {
	for _, x := range []struct {
		name   string
		shape  []int
		config fno.Network
	}{
		{"two axes", []int{9, 24}, fno.Network{Inputs: 3, Width: 6, Layers: 2, Modes: []int{3, 4}, Projection: 8, Outputs: 4, LastActivation: true, SpectralGain: 1}},
		{"all modes", []int{6, 8}, fno.Network{Inputs: 1, Width: 3, Layers: 3, Modes: []int{3, 5}, Projection: 5, Outputs: 2, OutputActivation: true, SpectralGain: 1}},
		{"three axes", []int{5, 6, 7}, fno.Network{Inputs: 2, Width: 4, Layers: 1, Modes: []int{2, 3, 4}, Projection: 3, Outputs: 3, SpectralGain: 1}},
	} {
		t.Run(x.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			random := func(n int) []float64 {
				v := make([]float64, n)
				for i := range v {
					v[i] = rng.NormFloat64()
				}
				return v
			}
			c, points := x.config, product(x.shape)
			params, input, bar := random(c.Size()), random(c.Inputs*points), random(c.Outputs*points)
			want, grad := make([]float64, c.Outputs*points), make([]float64, c.Size())
			net := c.Float64(x.shape, 1, nil)
			net.Forward(want, params, input)
			net.Backward(grad, params, bar)
			out := computed(t, [][]float64{params, input, bar}, [][]int{{c.Size()}, {c.Inputs, points}, {c.Outputs, points}}, func(b *builder, in []value) []value {
				n := newNetwork(b, c, x.shape, f64, "", in[0])
				y := n.forward(in[1])
				return []value{y, n.backward(in[2])}
			})
			check.Close(t, out[0], want, 1e-12, 1e-12)
			check.Close(t, out[1], grad, 1e-12, 1e-10)
		})
	}
}

// Factors keep the digits that network.matmul says, and sums those of float32: 1 + 2^-k is told
// from 1 as long as the type has k digits after the point.
func TestMatmulRounds(t *testing.T) {
	x := []float64{1 + 0x1p-7, 1 + 0x1p-10, 1 + 0x1p-16, 4096 - 16}
	for matmul, want := range map[string][]float64{
		"":         x,
		model.TF32: {1 + 0x1p-7, 1 + 0x1p-10, 1, 4096 - 16},
		model.BF16: {1 + 0x1p-7, 1, 1, 4096 - 16},
	} {
		want = append(slices.Clone(want), want[0]+want[1]+want[2]+want[3]+1) // the last row
		out := computed(t, [][]float64{x}, [][]int{{4}}, func(b *builder, in []value) []value {
			n := &network{builder: b, dtype: f32, matmul: matmul}
			single := b.convert(in[0], f32)
			one := n.dot("a,b->ab", single, b.full(1, f32, 1))
			// One more term, so that bfloat16 would lose it beside 4096.
			terms := b.concatenate(0, single, b.full(1, f32, 1))
			sum := n.dot("a,ab->b", terms, b.full(1, f32, 5, 1))
			return []value{b.convert(b.concatenate(0, b.reshape(one, 4), sum), f64)}
		})
		check.Close(t, out[0], want, 1e-6, 0)
	}
}

// Outputs and gradient of every precision of products, beside float64: neither more nor less
// digits than it says.
func TestMatmul(t *testing.T) {
	config := fno.Network{Inputs: 3, Width: 16, Layers: 3, Modes: []int{4, 6}, Projection: 32, Outputs: 4, LastActivation: true, SpectralGain: 1}
	shape := []int{17, 32}
	points := product(shape)
	rng := rand.New(rand.NewPCG(3, 4))
	params := make([]float64, config.Size())
	config.Init(params, rng)
	input, bar := make([]float64, config.Inputs*points), make([]float64, config.Outputs*points)
	for i := range input {
		input[i] = rng.NormFloat64()
	}
	for i := range bar {
		bar[i] = rng.NormFloat64()
	}
	want, grad := make([]float64, len(bar)), make([]float64, len(params))
	net := config.Float64(shape, 1, nil)
	net.Forward(want, params, input)
	net.Backward(grad, params, bar)
	for matmul, bounds := range map[string][2]float64{"": {0, 1e-6}, model.TF32: {3e-4, 2e-3}, model.BF16: {3e-3, 2e-2}} {
		out := computed(t, [][]float64{params, input, bar}, [][]int{{len(params)}, {config.Inputs, points}, {config.Outputs, points}}, func(b *builder, in []value) []value {
			n := newNetwork(b, config, shape, f32, matmul, b.convert(in[0], f32))
			y := n.forward(b.convert(in[1], f32))
			return []value{b.convert(y, f64), b.convert(n.backward(b.convert(in[2], f32)), f64)}
		})
		for i, what := range []string{"outputs", "gradient"} {
			e := check.RelativeL2(out[i], [][]float64{want, grad}[i])
			t.Logf("%q: %s are %.1e from float64", matmul, what, e)
			if !(e >= bounds[0] && e <= bounds[1]) {
				t.Errorf("%q: %s are %g from float64; want %g to %g", matmul, what, e, bounds[0], bounds[1])
			}
		}
	}
}
