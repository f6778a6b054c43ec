package xla

import (
	"math/rand/v2"
	"testing"

	"pihc/fno"
	"pihc/internal/check"
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
				n := newNetwork(b, c, x.shape, f64, in[0])
				y := n.forward(b.transpose(in[1], 1, 0))
				return []value{b.transpose(y, 1, 0), n.backward(b.transpose(in[2], 1, 0))}
			})
			check.Close(t, out[0], want, 1e-12, 1e-12)
			check.Close(t, out[1], grad, 1e-12, 1e-10)
		})
	}
}
