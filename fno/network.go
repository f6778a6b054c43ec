package fno

import (
	"fmt"
	"math/rand/v2"

	"pihc/compute"
	"pihc/network"
)

// Network states a Fourier neural operator on some axes. The zero value is not valid.
//
// The published code activates after the last Fourier layer in two dimensions
// and not in three (LastActivation), and puts GELU on the basis functions of
// some configurations (OutputActivation); pihc makes both a choice.
type Network struct {
	Keys
	Inputs  int      // fields per grid point going in
	Outputs int      // fields per grid point coming out (basis functions)
	Modes   []int    // per axis m: 0..m-1 on the last axis, -m..m-1 on the others
	Axes    []string // their names, for messages; nil: their positions
}

// Validate implements network.Network: the error names the number that is wrong and its limit.
func (c Network) Validate(shape []int) error {
	if err := network.Check([]string{"inputs", "width", "layers", "projection", "outputs"}, []int{c.Inputs, c.Width, c.Layers, c.Projection, c.Outputs}, c.Modes, shape); err != nil {
		return err
	}
	last := len(shape) - 1
	for axis, n := range shape {
		m, name := c.Modes[axis], fmt.Sprintf("modes[%d]", axis)
		if c.Axes != nil {
			name = "modes." + c.Axes[axis]
		}
		switch {
		case m < 1:
			return fmt.Errorf("%s is %d; it must be at least 1", name, m)
		case axis < last && 2*m > n:
			return fmt.Errorf("%s is %d (-%d..%d); an axis of %d points holds at most %d", name, m, m, m-1, n, n/2)
		case axis == last && m > n/2+1:
			return fmt.Errorf("%s is %d (0..%d); a real axis of %d points holds at most %d", name, m, m-1, n, n/2+1)
		}
	}
	return nil
}

// Layout lists the parameters in the order of the flat slice:
//
//	lift.weight          (inputs, width)
//	lift.bias            (width)
//	layers.L.spectral    (modes..., 2, width, width)    for L = 0..layers-1
//	layers.L.weight      (width, width)
//	layers.L.bias        (width)
//	projection.weight    (width, projection)
//	projection.bias      (projection)
//	output.weight        (projection, outputs)
//	output.bias          (outputs)
//
// Weights are (in, out): a layer computes v·weight + bias. In a spectral tensor
// the mode axes have 2m entries in the order 0..m-1, -m..-1, the last m entries
// 0..m-1; the axis of 2 is the real and the imaginary part.
func (c Network) Layout() (all network.Layout) {
	all.Add("lift.weight", c.Inputs, c.Width)
	all.Add("lift.bias", c.Width)
	for l := range c.Layers {
		name := fmt.Sprintf("layers.%d.", l)
		var shape []int
		for axis, m := range c.Modes {
			if axis < len(c.Modes)-1 {
				m *= 2
			}
			shape = append(shape, m)
		}
		all.Add(name+"spectral", append(shape, 2, c.Width, c.Width)...)
		all.Add(name+"weight", c.Width, c.Width)
		all.Add(name+"bias", c.Width)
	}
	all.Add("projection.weight", c.Width, c.Projection)
	all.Add("projection.bias", c.Projection)
	all.Add("output.weight", c.Projection, c.Outputs)
	all.Add("output.bias", c.Outputs)
	return all
}

// Size returns the length of the flat parameter slice.
func (c Network) Size() int { return c.Layout().Size() }

// Init draws parameters (length Size), spectral ones times SpectralGain. A float32
// network starts from these numbers rounded.
func (c Network) Init(params []float64, rng *rand.Rand) { c.Layout().Init(params, c.SpectralGain, rng) }

// Fields implements network.Network.
func (c Network) Fields() (inputs, outputs int) { return c.Inputs, c.Outputs }

// Float32 implements network.Network.
func (c Network) Float32(shape []int, batch int, pool *compute.Pool) network.Evaluator[float32] {
	return newEvaluator[float32](c, shape, batch, pool, nil)
}

// Float64 implements network.Network.
func (c Network) Float64(shape []int, batch int, pool *compute.Pool) network.Evaluator[float64] {
	return newEvaluator[float64](c, shape, batch, pool, nil)
}

// FLOP returns the floating-point operations of one forward pass of one sample
// on a grid of the given shape, by a fixed count that does not depend on how
// the engine works: 2 per multiply-add of the lift, of the pointwise part and of
// the transforms along the last axis of each Fourier layer and of the
// projection, and 15 per GELU. A backward pass counts twice as much. The paper's
// network on 101 x 1024 points counts 9.2e9.
func (c Network) FLOP(shape []int) float64 {
	points := 1.0
	for _, n := range shape {
		points *= float64(n)
	}
	w, h, o := float64(c.Width), float64(c.Projection), float64(c.Outputs)
	modes := float64(c.Modes[len(c.Modes)-1])
	gelus := w*float64(c.Layers-1) + h
	if c.LastActivation {
		gelus += w
	}
	if c.OutputActivation {
		gelus += o
	}
	macs := float64(c.Inputs)*w + float64(c.Layers)*(w*w+2*2*modes*w) + w*h + h*o
	return points * (2*macs + 15*gelus)
}

// Divided32 implements network.Divisible.
func (c Network) Divided32(shape []int, batch int, pool *compute.Pool, part *compute.Slab) network.DividedEvaluator[float32] {
	return newEvaluator[float32](c, shape, batch, pool, part)
}

// Divided64 implements network.Divisible.
func (c Network) Divided64(shape []int, batch int, pool *compute.Pool, part *compute.Slab) network.DividedEvaluator[float64] {
	return newEvaluator[float64](c, shape, batch, pool, part)
}
