// Package conv is a small convolutional network as a network of pihc: a program that imports it has specs with
//
//	network: {kind: conv, width: 8, layers: 3}
//
// It shows what a network needs. Keys is the block of a spec: a struct with yaml tags that makes the network
// (model.NetworkBlock). Net is a network.Network: it says how its parameters are laid out and drawn, what it costs, and
// makes evaluators in two precisions. The evaluator, in evaluator.go, is a network.Evaluator: forward and backward.
// Three suites judge it, in conv_test.go: networktest.Case.Run, enginetest.RunCPU and a short training.
//
// A layer takes every point's own channels and those of its two neighbours along each axis, a distance of 1, 2, 4, ...
// points away from layer to layer, so that few layers see far; at the ends of an axis the last point stands for those
// beyond it. With v_0 the inputs,
//
//	v_{l+1}[p] = tanh( bias_l + Σ_k v_l[neighbour(k, p)]·weight_l[k] )      l = 0..layers-1
//	output[p]  = bias + v_layers[p]·weight
package conv

import (
	"fmt"
	"math/rand/v2"

	"pihc/compute"
	"pihc/model"
	"pihc/network"
)

func init() { model.RegisterNetwork("conv", Keys{Width: 16, Layers: 3}) }

// Keys are the keys of the network block. A tag want says which values a spec may have.
type Keys struct {
	Width  int `yaml:"width" want:"at least 1"`  // channels of a layer
	Layers int `yaml:"layers" want:"at least 0"` // with neighbours; the layer of the outputs has none
}

// Network implements model.NetworkBlock. The inputs are the coordinates, the inputs of the problem, such as the initial
// condition, and the features of the spec; the outputs are the basis functions of all unknowns.
func (k Keys) Network(axes []string, inputs, outputs int) (network.Network, error) {
	return Net{k, len(axes), inputs, outputs}, nil
}

// Net is the network on a grid with so many axes.
type Net struct {
	Keys
	Axes, Inputs, Outputs int
}

// Fields implements network.Network.
func (n Net) Fields() (inputs, outputs int) { return n.Inputs, n.Outputs }

// Layout lists the parameters. Weights are (neighbours, in, out): the point itself, then those before and after it along
// each axis.
func (n Net) Layout() (all network.Layout) {
	in := n.Inputs
	for l := range n.Layers {
		all.Add(fmt.Sprintf("layers.%d.weight", l), 1+2*n.Axes, in, n.Width)
		all.Add(fmt.Sprintf("layers.%d.bias", l), n.Width)
		in = n.Width
	}
	all.Add("output.weight", 1, in, n.Outputs)
	all.Add("output.bias", n.Outputs)
	return all
}

// Init draws parameters by the rule of network.Layout, which every network may use.
func (n Net) Init(params []float64, rng *rand.Rand) { n.Layout().Init(params, 1, rng) }

// Validate refuses grids that the network does not fit: none, if they have its axes.
func (n Net) Validate(shape []int) error {
	if len(shape) != n.Axes {
		return fmt.Errorf("kind is conv on %d axes; the grid has %d", n.Axes, len(shape))
	}
	return nil
}

// FLOP counts two operations for every multiplication and addition, and ten for a tanh.
func (n Net) FLOP(shape []int) float64 {
	taps, width := float64(1+2*n.Axes), float64(n.Width)
	flop, in := 0.0, float64(n.Inputs)
	for range n.Layers {
		flop += 2*taps*in*width + 10*width
		in = width
	}
	return points(shape) * (flop + 2*in*float64(n.Outputs))
}

// Memory counts what newEvaluator allocates, and grow for training. It is in float64, so that sizes no machine has do
// not overflow, and pihc can say that they do not fit.
func (n Net) Memory(shape []int, batch, workers, element int, training bool) (bytes, parameters float64) {
	taps, width, layers := float64(1+2*n.Axes), float64(n.Width), float64(n.Layers)
	in := float64(n.Inputs)
	for range n.Layers {
		parameters += (taps*in + 1) * width
		in = width
	}
	parameters += (in + 1) * float64(n.Outputs)
	elements := points(shape) * width * (layers + 2)
	if training {
		elements += parameters + points(shape)*float64(batch)*(float64(n.Inputs)+width*layers)
	}
	return float64(element)*elements + 4*points(shape)*(layers*taps+1), parameters
}

func points(shape []int) float64 {
	p := 1.0
	for _, n := range shape {
		p *= float64(n)
	}
	return p
}

// Float32 implements network.Network.
func (n Net) Float32(shape []int, batch int, pool *compute.Pool) network.Evaluator[float32] {
	return newEvaluator[float32](n, shape, batch, pool)
}

// Float64 implements network.Network.
func (n Net) Float64(shape []int, batch int, pool *compute.Pool) network.Evaluator[float64] {
	return newEvaluator[float64](n, shape, batch, pool)
}
