package fno

import "pihc/internal/kernel"

// Memory implements network.Network, in float64, so that sizes no machine has do not overflow.
func (c Network) Memory(shape []int, batch, workers, element int, training bool) (bytes, parameters float64) {
	wide := func(n int) float64 { return float64(n) + float64((kernel.Lane-n%kernel.Lane)%kernel.Lane) }
	in, width, hidden, out, layers := wide(c.Inputs), wide(c.Width), wide(c.Projection), wide(c.Outputs), float64(c.Layers)
	points, rows, modes := 1.0, 1.0, 1.0
	for axis, n := range shape {
		points *= float64(n)
		if axis < len(shape)-1 {
			rows *= float64(n)
			modes *= 2 * float64(c.Modes[axis])
		} else {
			modes *= float64(c.Modes[axis])
		}
	}
	line := 2 * float64(c.Modes[len(c.Modes)-1]) // of the spectrum along the last axis
	sample := points*(in+width) + 2*modes*(in+(layers+1)*width) + rows*line*(max(in, width)+width)
	if training {
		size := max(width*width, width*hidden+hidden+hidden*out+out)
		sample += points*(layers*width+hidden) + 2*modes*width + min(maxChunks, rows)*(size+in*width)
		if c.OutputActivation {
			sample += points * out
		}
	}
	groups := mixGroup * 2 * float64(batch) * 6 * width
	scratch := 2*tilePoints*(width+hidden+out) + max(2*width, in)*width + groups
	weights := 2 * (layers*max(in, width)*width + width*hidden + hidden*out)
	spectral := layers * 2 * modes * float64(c.Width) * float64(c.Width)
	w, h, o := float64(c.Width), float64(c.Projection), float64(c.Outputs)
	pointwise := float64(c.Inputs+1)*w + float64(c.Layers)*(w+1)*w + (w+1)*h + (h+1)*o
	return float64(element) * (float64(batch)*sample + float64(workers)*scratch + weights), pointwise + spectral
}
