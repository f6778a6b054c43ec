package ffno

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pihc/compute"
	"pihc/internal/kernel"
	"pihc/network"
)

// operator states a factorised Fourier neural operator on some axes. The zero value is not valid.
type operator struct {
	Keys
	Inputs  int      // fields per grid point going in
	Outputs int      // fields per grid point coming out (basis functions)
	Modes   []int    // per axis m: 0..m-1
	Axes    []string // their names, for messages and tensors; nil: their positions
}

// axis names axis a.
func (c operator) axis(a int) string {
	if c.Axes != nil {
		return c.Axes[a]
	}
	return fmt.Sprint(a)
}

// Validate implements network.Network: the error names the number that is wrong and its limit.
func (c operator) Validate(shape []int) error {
	if err := network.Check([]string{"inputs", "width", "layers", "projection", "outputs", "expansion"}, []int{c.Inputs, c.Width, c.Layers, c.Projection, c.Outputs, c.Expansion}, c.Modes, shape); err != nil {
		return err
	}
	for a, n := range shape {
		switch m := c.Modes[a]; {
		case m < 1:
			return fmt.Errorf("modes.%s is %d; it must be at least 1", c.axis(a), m)
		case m > n/2+1:
			return fmt.Errorf("modes.%s is %d (0..%d); a real axis of %d points holds at most %d", c.axis(a), m, m-1, n, n/2+1)
		}
	}
	return nil
}

// Layout lists the parameters in the order of the flat slice:
//
//	lift.weight                (inputs, width)
//	lift.bias                  (width)
//	layers.L.spectral.AXIS     (modes, 2, width, width)     for L = 0..layers-1 and each axis;
//	                                                        shared ones stand before all layers as spectral.AXIS
//	layers.L.inner.weight      (width, expansion·width)
//	layers.L.inner.bias        (expansion·width)
//	layers.L.outer.weight      (expansion·width, width)
//	layers.L.outer.bias        (width)
//	projection.weight          (width, projection)
//	projection.bias            (projection)
//	output.weight              (projection, outputs)
//	output.bias                (outputs)
//
// Weights are (in, out): a layer computes v·weight + bias. The axis of 2 is the real
// and the imaginary part.
func (c operator) Layout() (all network.Layout) {
	perceptron := func(first, second string, in, hidden, out int) {
		all.Add(first+".weight", in, hidden)
		all.Add(first+".bias", hidden)
		all.Add(second+".weight", hidden, out)
		all.Add(second+".bias", out)
	}
	spectral := func(prefix string) {
		for a, m := range c.Modes {
			all.Add(prefix+"spectral."+c.axis(a), m, 2, c.Width, c.Width)
		}
	}
	all.Add("lift.weight", c.Inputs, c.Width)
	all.Add("lift.bias", c.Width)
	if c.SharedWeights {
		spectral("")
	}
	for l := range c.Layers {
		name := fmt.Sprintf("layers.%d.", l)
		if !c.SharedWeights {
			spectral(name)
		}
		perceptron(name+"inner", name+"outer", c.Width, c.hidden(), c.Width)
	}
	perceptron("projection", "output", c.Width, c.Projection, c.Outputs)
	return all
}

// hidden is the number of channels of a feed-forward's hidden layer.
func (c operator) hidden() int { return c.Expansion * c.Width }

// Init draws parameters in the order of Layout, spectral ones times SpectralGain.
func (c operator) Init(params []float64, rng *rand.Rand) {
	c.Layout().Init(params, c.SpectralGain, rng)
}

// Fields implements network.Network.
func (c operator) Fields() (inputs, outputs int) { return c.Inputs, c.Outputs }

// Float32 implements network.Network.
func (c operator) Float32(shape []int, batch int, pool *compute.Pool) network.Evaluator[float32] {
	return newEvaluator[float32](c, shape, batch, pool)
}

// Float64 implements network.Network.
func (c operator) Float64(shape []int, batch int, pool *compute.Pool) network.Evaluator[float64] {
	return newEvaluator[float64](c, shape, batch, pool)
}

// FLOP returns the floating-point operations of a forward pass of one sample on a
// grid of the given shape: two for each multiplication and addition of the formulas
// of the package comment, transforms counted as truncated dense ones, and 15 for a
// GELU. A backward pass counts twice as much.
func (c operator) FLOP(shape []int) float64 {
	points, w, h, hidden := 1.0, float64(c.Width), float64(c.Projection), float64(c.hidden())
	axes := 0.0 // per point and layer
	for a, n := range shape {
		points *= float64(n)
		m := float64(c.Modes[a])
		axes += 2*2*m*w + 4*w*w*m/float64(n)
	}
	layers := float64(c.Layers)
	macs := float64(c.Inputs)*w + layers*(axes+2*w*hidden) + w*h + h*float64(c.Outputs)
	return points * (2*macs + 15*(layers*hidden+h))
}

// Memory implements network.Network, in float64, so that sizes no machine has do not overflow.
func (c operator) Memory(shape []int, batch, workers, element int, training bool) (bytes, parameters float64) {
	wide := func(n float64) float64 { return math.Ceil(n/kernel.Lane) * kernel.Lane }
	w, layers := float64(c.Width), float64(c.Layers)
	inner := float64(c.Expansion) * w
	in, width, hidden, projection, out := wide(float64(c.Inputs)), wide(w), wide(inner), wide(float64(c.Projection)), wide(float64(c.Outputs))
	points, modes, longest := 1.0, 0.0, 0.0
	for a, n := range shape {
		points *= float64(n)
		modes += float64(c.Modes[a])
		longest = max(longest, float64(n))
	}
	spectra, largest := 0.0, 0.0 // over width
	for a, n := range shape {
		one := 2 * float64(c.Modes[a]) * points / float64(n)
		spectra += one
		largest = max(largest, one)
	}
	perceptron := width*hidden + hidden + hidden*width + width
	head := width*projection + projection + projection*out + out
	sample := points*(in+2*width) + (spectra+largest)*width
	weights := in*width + 2*(layers*perceptron+head) + 3*modes*width*width
	scratch := columnBlock*longest + tilePoints*(2*max(hidden, projection)+2*max(width, out)) + max(hidden, projection, width, out)
	if training {
		sample += points*2*width + (layers-1)*(points+spectra)*width + largest*width
		sample += min(maxChunks, math.Ceil(points/tilePoints))*max(perceptron, head, in*width+width) + 3*modes*width*width
	}
	spectral := 2 * modes * w * w
	if !c.SharedWeights {
		spectral *= layers
	}
	parameters = (float64(c.Inputs)+1)*w + spectral + layers*((w+1)*inner+(inner+1)*w) + (w+1)*float64(c.Projection) + (float64(c.Projection)+1)*float64(c.Outputs)
	return float64(element) * (float64(batch)*sample + float64(workers)*scratch + weights), parameters
}
