package main

import (
	"math"
	"math/rand/v2"

	"pihc/compute"
	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/model"
	"pihc/network"
)

// networkBench is the JSON of bench network.
type networkBench struct {
	benchMachine
	Forward  float64 `json:"forward_s"`
	Backward float64 `json:"backward_s"`
	FLOP     float64 `json:"flop" format:"%.1f"` // forward and backward by the published count
	Peak     float64 `json:"fma_peak_gflops" format:"%.1f"`
	Fraction float64 `json:"fraction_of_peak" format:"%.3f"`
}

// inference is a network of random parameters on samples of smooth inputs.
type inference[T compute.Float] struct {
	network           network.Network
	grid              *grid.Grid
	dst               []T
	forward, backward func() // backward goes back through the last forward
}

// newInference makes the network of the spec's experts on a pool.
func newInference[T compute.Float](b *bench, pool *compute.Pool, batch int) (*inference[T], error) {
	spec, err := b.specOf(model.MoE)
	if err != nil {
		return nil, err
	}
	net, err := spec.NewNetwork(b.problem)
	if err != nil {
		return nil, err
	}
	g, err := b.problem.Grid(spec.Grid)
	if err != nil {
		return nil, err
	}
	if err := model.CheckNetwork(net, g); err != nil {
		return nil, err
	}
	evaluator, rng := network.NewEvaluator[T](net, g.Shape(), batch, pool, nil), rand.New(rand.NewPCG(1, 2))
	wide := make([]float64, net.Layout().Size())
	net.Init(wide, rng)
	params, grad := make([]T, len(wide)), make([]T, len(wide))
	for i, v := range wide {
		params[i] = T(v)
	}
	inputs, outputs := net.Fields()
	input, dst, bar := make([]T, batch*inputs*g.Size()), make([]T, batch*outputs*g.Size()), make([]T, batch*outputs*g.Size())
	for i := range input {
		p := i % g.Size()
		for a, stride := range g.Strides() {
			x := float64(p/stride%g.Axes[a].Points) / float64(g.Axes[a].Points)
			input[i] += T(math.Cos(math.Pi * float64(1+i/g.Size()) * x))
		}
	}
	for i := range bar {
		bar[i] = T(rng.NormFloat64())
	}
	return &inference[T]{
		network: net, grid: g, dst: dst,
		forward:  func() { evaluator.Forward(dst, params, input) },
		backward: func() { evaluator.Backward(grad, params, bar) },
	}, nil
}

func (b *bench) network() (any, error) {
	if b.wide() {
		return benchNetwork[float64](b)
	}
	return benchNetwork[float32](b)
}

func benchNetwork[T compute.Float](b *bench) (any, error) {
	pool := compute.NewPool(b.workers)
	defer pool.Close()
	n, err := newInference[T](b, pool, 1)
	if err != nil {
		return nil, err
	}
	r := networkBench{benchMachine: b.machine(b.workers), FLOP: 3 * n.network.FLOP(n.grid.Shape())}
	if r.Forward, err = b.median(n.forward); err != nil {
		return nil, err
	}
	if r.Backward, err = b.median(n.backward); err != nil {
		return nil, err
	}
	r.Peak = b.peak()
	r.Fraction = r.FLOP / (r.Forward + r.Backward) / (r.Peak * 1e9)
	return r, nil
}

// wide reports whether the spec's network computes in float64.
func (b *bench) wide() bool { return b.spec.Network.Precision == "float64" }

// peak measures the peak of fused multiply-adds, in the precision of the network.
func (b *bench) peak() float64 {
	if b.wide() {
		return kernel.PeakGFLOPS64(b.workers)
	}
	return kernel.PeakGFLOPS32(b.workers)
}
