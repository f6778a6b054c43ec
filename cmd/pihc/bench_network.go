package main

import (
	"math/rand/v2"

	"pihc/fno"
	"pihc/internal/kernel"
	"pihc/model"
)

// networkBench is the JSON of bench network.
type networkBench struct {
	machine
	Forward  float64 `json:"forward_s"`
	Backward float64 `json:"backward_s"`
	FLOP     float64 `json:"flop"` // forward and backward by the published count
	Peak     float64 `json:"fma_peak_gflops"`
	Fraction float64 `json:"fraction_of_peak"`
}

func (r networkBench) fields() []field {
	return append(r.machine.fields(), seconds("forward_s", r.Forward), seconds("backward_s", r.Backward),
		gflops("flop (1e9)", r.FLOP/1e9), gflops("fma_peak_gflops", r.Peak), ratio("fraction_of_peak", r.Fraction))
}

func (b *bench) network() (any, error) {
	spec := *b.spec
	spec.Method = model.MoE
	cfg, err := model.NetworkConfig(&spec, b.problem)
	if err != nil {
		return nil, err
	}
	g, err := b.problem.Grid(spec.Grid)
	if err != nil {
		return nil, err
	}
	if err := cfg.Validate(g.Shape()); err != nil {
		return nil, err
	}
	pool := kernel.NewPool(b.workers)
	defer pool.Close()
	net := fno.New[float32](cfg, g.Shape(), 1, pool)
	rng := rand.New(rand.NewPCG(1, 2))
	normal := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		return x
	}
	wide := make([]float64, cfg.Size())
	cfg.Init(wide, rng)
	params := make([]float32, len(wide))
	for i, v := range wide {
		params[i] = float32(v)
	}
	input, bar := normal(cfg.Inputs*g.Size()), normal(cfg.Outputs*g.Size())
	dst, grad := make([]float32, len(bar)), make([]float32, len(params))
	r := networkBench{machine: b.machine(b.workers), FLOP: 3 * cfg.FLOP(g.Shape())}
	if r.Forward, err = b.median(func() { net.Forward(dst, params, input) }); err != nil {
		return nil, err
	}
	if r.Backward, err = b.median(func() { net.Backward(grad, params, bar) }); err != nil {
		return nil, err
	}
	r.Peak = kernel.PeakGFLOPS32(b.workers)
	r.Fraction = r.FLOP / (r.Forward + r.Backward) / (r.Peak * 1e9)
	return r, nil
}
