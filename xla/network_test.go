package xla

import (
	"math"
	"math/rand/v2"
	"testing"

	"pihc/fno"
	"pihc/internal/check"
	"pihc/internal/pjrt"
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
				y := n.forward(in[1])
				return []value{y, n.backward(in[2])}
			})
			check.Close(t, out[0], want, 1e-12, 1e-12)
			check.Close(t, out[1], grad, 1e-12, 1e-10)
		})
	}
}

// Forward and backward pass of the paper's network for diffusion-sorption, in float32.
func BenchmarkNetwork(b *testing.B) {
	config := fno.Network{Inputs: 3, Width: 64, Layers: 5, Modes: []int{8, 8}, Projection: 128, Outputs: 16, LastActivation: true}
	shape := []int{101, 1024}
	points := product(shape)
	c, w := client(b), newBuilder()
	net := newNetwork(w, config, shape, f32, w.input(f32, config.Size()))
	input := w.input(f32, config.Inputs, points)
	bar := net.forward(input)
	p, err := c.Compile(w.module(net.backward(bar)))
	if err != nil {
		b.Fatal(err)
	}
	defer p.Free()
	tables, err := w.upload(c)
	if err != nil {
		b.Fatal(err)
	}
	var buffers []*pjrt.Buffer
	for _, v := range w.arguments {
		x := make([]float32, v.size())
		for i := range x {
			x[i] = float32(math.Sin(float64(i))) / 8
		}
		d, err := pjrt.Upload(c, x, v.shape...)
		if err != nil {
			b.Fatal(err)
		}
		buffers = append(buffers, d)
	}
	defer free(append(buffers, tables...)...)
	for b.Loop() {
		out, err := p.Run(append(buffers, tables...)...)
		if err != nil {
			b.Fatal(err)
		}
		if err := pjrt.Download(out[0], make([]float32, config.Size())); err != nil {
			b.Fatal(err)
		}
		out[0].Free()
	}
}
