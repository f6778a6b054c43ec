package fno

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pihc/internal/kernel"
)

// Config states a Fourier neural operator. The zero value is not valid.
//
// The published code activates after the last Fourier layer in two dimensions
// and not in three (LastActivation), and puts GELU on the basis functions of
// some configurations (OutputActivation); pihc makes both a choice.
type Config struct {
	Inputs           int      // fields per grid point going in
	Width            int      // channels of the Fourier layers
	Layers           int      // number of Fourier layers, at least 1
	Modes            []int    // per axis m: 0..m-1 on the last axis, -m..m-1 on the others
	Axes             []string // their names, for messages; nil: their positions
	Projection       int      // channels of the hidden layer after the Fourier layers
	Outputs          int      // fields per grid point coming out (basis functions)
	LastActivation   bool     // GELU after the last Fourier layer
	OutputActivation bool     // GELU on the outputs
	SpectralGain     float64  // multiplies the spectral weights that Init draws
}

// Validate reports whether the network can run on a grid of the given shape
// (axis 0 slowest): the error names the number that is wrong and its limit.
func (c Config) Validate(shape []int) error {
	for _, f := range []struct {
		name  string
		value int
	}{{"inputs", c.Inputs}, {"width", c.Width}, {"layers", c.Layers}, {"projection", c.Projection}, {"outputs", c.Outputs}} {
		if f.value < 1 {
			return fmt.Errorf("%s is %d; it must be at least 1", f.name, f.value)
		}
	}
	if len(c.Modes) != len(shape) {
		return fmt.Errorf("modes has %d entries; the grid has %d axes", len(c.Modes), len(shape))
	}
	if len(shape) < 2 {
		return fmt.Errorf("modes has %d entries; the network needs at least 2 axes", len(shape))
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
func (c Config) Layout() []kernel.Tensor {
	var all []kernel.Tensor
	offset := 0
	add := func(name string, shape ...int) {
		t := kernel.Tensor{Name: name, Shape: shape, Offset: offset}
		offset += t.Size()
		all = append(all, t)
	}
	add("lift.weight", c.Inputs, c.Width)
	add("lift.bias", c.Width)
	for l := range c.Layers {
		name := fmt.Sprintf("layers.%d.", l)
		var shape []int
		for axis, m := range c.Modes {
			if axis < len(c.Modes)-1 {
				m *= 2
			}
			shape = append(shape, m)
		}
		add(name+"spectral", append(shape, 2, c.Width, c.Width)...)
		add(name+"weight", c.Width, c.Width)
		add(name+"bias", c.Width)
	}
	add("projection.weight", c.Width, c.Projection)
	add("projection.bias", c.Projection)
	add("output.weight", c.Projection, c.Outputs)
	add("output.bias", c.Outputs)
	return all
}

// OutputBias returns the tensor added to the outputs, one element each.
func (c Config) OutputBias() kernel.Tensor {
	all := c.Layout()
	return all[len(all)-1]
}

// Size returns the length of the flat parameter slice.
func (c Config) Size() int {
	last := c.OutputBias()
	return last.Offset + last.Size()
}

// Init fills params (length Size) with normal numbers of standard deviation
// 1/sqrt(in) for the weights and SpectralGain/sqrt(2 in) for each part of the
// spectral ones (with a gain of 1 a layer keeps the energy of its input), and with
// zero biases. It draws in the order of Layout. A float32 network starts from these
// numbers rounded.
func (c Config) Init(params []float64, rng *rand.Rand) {
	if len(params) != c.Size() {
		panic("fno: Init: params has the wrong length")
	}
	for _, t := range c.Layout() {
		view := params[t.Offset : t.Offset+t.Size()]
		if len(t.Shape) == 1 {
			clear(view)
			continue
		}
		in, gain := float64(t.Shape[len(t.Shape)-2]), 1.0
		if len(t.Shape) > 2 {
			in, gain = 2*in, c.SpectralGain
		}
		for i := range view {
			view[i] = rng.NormFloat64() / math.Sqrt(in) * gain
		}
	}
}

// FLOP returns the floating-point operations of one forward pass of one sample
// on a grid of the given shape, by a fixed count that does not depend on how
// the engine works: 2 per multiply-add of the lift, of the pointwise part and of
// the transforms along the last axis of each Fourier layer and of the
// projection, and 15 per GELU. A backward pass counts twice as much. The paper's
// network on 101 x 1024 points counts 9.2e9.
func (c Config) FLOP(shape []int) float64 {
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
