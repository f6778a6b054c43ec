package main

import (
	"math"
	"math/rand/v2"

	"pihc/compute"
	"pihc/internal/kernel"
	"pihc/model"
	"pihc/network"
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
		decimal("flop (1e9)", r.FLOP/1e9), decimal("fma_peak_gflops", r.Peak), ratio("fraction_of_peak", r.Fraction))
}

// inference is a network of random parameters on samples of smooth inputs.
type inference[T compute.Float] struct {
	net           model.Evaluator[T]
	network       model.Network
	shape         []int
	params, input []T
	dst           []T
	rng           *rand.Rand
}

// newInference makes the network of the spec's experts on a pool.
func newInference[T compute.Float](b *bench, pool *compute.Pool, batch int) (*inference[T], error) {
	spec, err := b.specOf(model.MoE)
	if err != nil {
		return nil, err
	}
	net, err := model.NewNetwork(spec, b.problem)
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
	n := &inference[T]{net: network.NewEvaluator[T](net, g.Shape(), batch, pool, nil), network: net, shape: g.Shape(), rng: rand.New(rand.NewPCG(1, 2))}
	wide := make([]float64, net.Size())
	net.Init(wide, n.rng)
	n.params = make([]T, len(wide))
	for i, v := range wide {
		n.params[i] = T(v)
	}
	inputs, outputs := net.Fields()
	n.input, n.dst = make([]T, batch*inputs*g.Size()), make([]T, batch*outputs*g.Size())
	for i := range n.input {
		p := i % g.Size()
		for a, stride := range g.Strides() {
			x := float64(p/stride%g.Axes[a].Points) / float64(g.Axes[a].Points)
			n.input[i] += T(math.Cos(math.Pi * float64(1+i/g.Size()) * x))
		}
	}
	return n, nil
}

func (n *inference[T]) normal(size int) []T {
	x := make([]T, size)
	for i := range x {
		x[i] = T(n.rng.NormFloat64())
	}
	return x
}

func (n *inference[T]) forward() { n.net.Forward(n.dst, n.params, n.input) }

// backward returns a backward pass after a forward one.
func (n *inference[T]) backward() func() {
	bar, grad := n.normal(len(n.dst)), make([]T, len(n.params))
	return func() { n.net.Backward(grad, n.params, bar) }
}

func (b *bench) network() (fielder, error) {
	if b.wide() {
		return benchNetwork[float64](b)
	}
	return benchNetwork[float32](b)
}

func benchNetwork[T compute.Float](b *bench) (fielder, error) {
	pool := compute.NewPool(b.workers)
	defer pool.Close()
	n, err := newInference[T](b, pool, 1)
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
