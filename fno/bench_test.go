package fno

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pihc/compute"
	"pihc/internal/check"
	"pihc/internal/kernel"
)

// paper is the paper's network for diffusion-sorption (3 -> 64, 5 layers, 8
// modes, projection 128, 16 outputs), on the paper's grid.
var (
	paper      = Network{Inputs: 3, Width: 64, Layers: 5, Modes: []int{8, 8}, Projection: 128, Outputs: 16, LastActivation: true, SpectralGain: 1}
	paperShape = []int{101, 1024}
)

// small is the network of navier-stokes-small, on its grid.
var (
	small      = Network{Inputs: 12, Width: 32, Layers: 4, Modes: []int{8, 8, 8}, Projection: 64, Outputs: 16}
	smallShape = []int{32, 32, 32}
)

// BenchmarkNetwork runs forward and backward of the paper's network for one sample and of the small one
// for one and for a micro-batch of four. fraction is 3·FLOP/time over the FMA peak of the workers, measured in
// the same run: with the median times, and with the best.
func BenchmarkNetwork(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("paper/cores=%d", workers), func(b *testing.B) { benchmarkNetwork(b, paper, paperShape, workers, 1) })
		for _, batch := range []int{1, 4} {
			b.Run(fmt.Sprintf("small/batch=%d/cores=%d", batch, workers), func(b *testing.B) {
				benchmarkNetwork(b, small, smallShape, workers, batch)
			})
		}
	}
}

func benchmarkNetwork(b *testing.B, c Network, shape []int, workers, batch int) {
	pool := compute.NewPool(workers)
	defer pool.Close()
	n := newEvaluator[float32](c, shape, batch, pool, nil)
	p := check.Points(shape)
	rng := check.Rand(1)
	params64 := make([]float64, c.Size())
	c.Init(params64, rng)
	params := make([]float32, len(params64))
	for i, v := range params64 {
		params[i] = float32(v)
	}
	input := check.Normal(rng, make([]float32, batch*c.Inputs*p))
	bar := check.Normal(rng, make([]float32, batch*c.Outputs*p))
	dst, grad := make([]float32, len(bar)), make([]float32, len(params))
	n.Forward(dst, params, input)
	n.Backward(grad, params, bar)
	peak := kernel.PeakGFLOPS32(workers)
	b.ReportAllocs()
	var forward, backward []float64
	for b.Loop() {
		start := time.Now()
		n.Forward(dst, params, input)
		middle := time.Now()
		n.Backward(grad, params, bar)
		forward = append(forward, middle.Sub(start).Seconds())
		backward = append(backward, time.Since(middle).Seconds())
	}
	slices.Sort(forward)
	slices.Sort(backward)
	work := 3 * float64(batch) * c.FLOP(shape) / 1e9
	half := len(forward) / 2
	b.ReportMetric(work/(forward[half]+backward[half])/peak, "fraction")
	b.ReportMetric(work/(forward[0]+backward[0])/peak, "best-fraction")
	b.ReportMetric(1e3*forward[0], "best-forward-ms")
	b.ReportMetric(1e3*backward[0], "best-backward-ms")
	b.ReportMetric(peak, "peak-GFLOPS")
	b.ReportMetric(float64(n.bytes)/(1<<20), "MiB")
}

// BenchmarkForward runs the forward pass alone.
func BenchmarkForward(b *testing.B) {
	pool := compute.NewPool(0)
	defer pool.Close()
	n := newEvaluator[float32](paper, paperShape, 1, pool, nil)
	p := check.Points(paperShape)
	params := make([]float32, paper.Size())
	input := check.Normal(check.Rand(1), make([]float32, paper.Inputs*p))
	check.Normal(check.Rand(2), params)
	for i := range params {
		params[i] /= 8
	}
	dst := make([]float32, paper.Outputs*p)
	n.Forward(dst, params, input)
	for b.Loop() {
		n.Forward(dst, params, input)
	}
}
