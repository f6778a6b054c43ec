package ffno

import (
	"slices"

	"pihc/network"
)

// Keys are those that an experiment's network block has for a factorised Fourier
// neural operator.
type Keys struct {
	Width         int            `yaml:"width" want:"at least 1"`                        // channels of the layers
	Layers        int            `yaml:"layers" want:"at least 1"`                       // number of layers
	Modes         map[string]int `yaml:"modes,flow"`                                     // by axis name; 8 where an axis is not named
	Projection    int            `yaml:"projection" want:"at least 1"`                   // channels of the hidden layer after the layers
	Expansion     int            `yaml:"expansion" want:"at least 1"`                    // channels of the feed-forward's hidden layer over width
	SharedWeights bool           `yaml:"shared_weights"`                                 // the layers share the spectral weights
	SpectralGain  float64        `yaml:"spectral_gain" want:"zero or a positive number"` // multiplies the initial spectral weights; 0 starts them at zero
}

// DefaultKeys returns a network of the publication's form: four layers, whose
// feed-forward parts are four times as wide.
func DefaultKeys() Keys {
	return Keys{Width: 64, Layers: 4, Projection: 128, Expansion: 4, SpectralGain: 1}
}

// Small returns a network of the same form that is small enough to be differenced
// in seconds, on the given axes.
func (s Keys) Small(axes []string) Keys {
	s.Width, s.Layers, s.Projection, s.Expansion = 6, 2, 8, 2
	s.Modes = map[string]int{}
	for _, name := range axes {
		s.Modes[name] = 3
	}
	return s
}

// WithModes returns the same network with other modes.
func (s Keys) WithModes(modes map[string]int) Keys {
	s.Modes = modes
	return s
}

// Network returns the network on the given axes (the slowest first) with so many
// fields going in and coming out. The error names the key; whether the network fits
// a grid is for Validate.
func (s Keys) Network(axes []string, inputs, outputs int) (network.Network, error) {
	modes, err := network.Modes(axes, s.Modes)
	return operator{Keys: s, Inputs: inputs, Outputs: outputs, Modes: modes, Axes: slices.Clone(axes)}, err
}
