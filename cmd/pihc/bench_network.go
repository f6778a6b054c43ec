package main

import (
	"math"
	"math/rand/v2"

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

// inference is a network of random parameters on samples of smooth inputs.
type inference struct {
	net           model.Evaluator[float32]
	network       model.Network
	shape         []int
	params, input []float32
	dst           []float32
	rng           *rand.Rand
}

// inference makes the network of the spec's experts on a pool.
func (b *bench) inference(pool *kernel.Pool, batch int) (*inference, error) {
	spec := *b.spec
	spec.Method = model.MoE
	net, err := model.NewNetwork(&spec, b.problem)
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
	n := &inference{net: net.Float32(g.Shape(), batch, pool), network: net, shape: g.Shape(), rng: rand.New(rand.NewPCG(1, 2))}
	wide := make([]float64, net.Size())
	net.Init(wide, n.rng)
	n.params = make([]float32, len(wide))
	for i, v := range wide {
		n.params[i] = float32(v)
	}
	inputs, outputs := net.Fields()
	n.input, n.dst = make([]float32, batch*inputs*g.Size()), make([]float32, batch*outputs*g.Size())
	for i := range n.input {
		p := i % g.Size()
		for a, stride := range g.Strides() {
			x := float64(p/stride%g.Axes[a].Points) / float64(g.Axes[a].Points)
			n.input[i] += float32(math.Cos(math.Pi * float64(1+i/g.Size()) * x))
		}
	}
	return n, nil
}

func (n *inference) normal(size int) []float32 {
	x := make([]float32, size)
	for i := range x {
		x[i] = float32(n.rng.NormFloat64())
	}
	return x
}

func (n *inference) forward() { n.net.Forward(n.dst, n.params, n.input) }

// backward returns a backward pass after a forward one.
func (n *inference) backward() func() {
	bar, grad := n.normal(len(n.dst)), make([]float32, len(n.params))
	return func() { n.net.Backward(grad, n.params, bar) }
}

func (b *bench) network() (any, error) {
	pool := kernel.NewPool(b.workers)
	defer pool.Close()
	n, err := b.inference(pool, 1)
	if err != nil {
		return nil, err
	}
	r := networkBench{machine: b.machine(b.workers), FLOP: 3 * n.network.FLOP(n.shape)}
	if r.Forward, err = b.median(n.forward); err != nil {
		return nil, err
	}
	if r.Backward, err = b.median(n.backward()); err != nil {
		return nil, err
	}
	r.Peak = kernel.PeakGFLOPS32(b.workers)
	r.Fraction = r.FLOP / (r.Forward + r.Backward) / (r.Peak * 1e9)
	return r, nil
}
