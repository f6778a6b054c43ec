package ffno

import (
	"fmt"
	"slices"
	"strings"
)

// Spec holds the keys that an experiment's network block has for a factorised Fourier
// neural operator. A place tag is where the key stands among those of the whole
// block, which is part of the hash of a spec.
type Spec struct {
	Width         int            `yaml:"width" place:"1"`
	Layers        int            `yaml:"layers" place:"2"`
	Modes         map[string]int `yaml:"modes,flow" place:"3"` // by axis name; 8 where an axis is not named
	Projection    int            `yaml:"projection" place:"4"`
	Expansion     int            `yaml:"expansion" place:"6"`      // channels of the feed-forward's hidden layer over width
	SharedWeights bool           `yaml:"shared_weights" place:"7"` // the layers share the spectral weights
	SpectralGain  float64        `yaml:"spectral_gain" place:"10"` // multiplies the initial spectral weights; 0 starts them at zero
}

// DefaultSpec returns a network of the publication's form: four layers, whose
// feed-forward parts are four times as wide.
func DefaultSpec() Spec {
	return Spec{Width: 64, Layers: 4, Projection: 128, Expansion: 4, SpectralGain: 1}
}

// Small returns a network of the same form that is small enough to be differenced
// in seconds, on the given axes.
func (s Spec) Small(axes []string) Spec {
	s.Width, s.Layers, s.Projection, s.Expansion, s.Modes = 6, 2, 8, 2, map[string]int{}
	for _, name := range axes {
		s.Modes[name] = 3
	}
	return s
}

// Validate calls bad with every key whose value makes no sense by itself, and why.
func (s Spec) Validate(bad func(key, reason string)) {
	for _, f := range []struct {
		key   string
		value int
	}{{"width", s.Width}, {"layers", s.Layers}, {"projection", s.Projection}, {"expansion", s.Expansion}} {
		if f.value < 1 {
			bad(f.key, fmt.Sprintf("%d: want at least 1", f.value))
		}
	}
	if !(s.SpectralGain >= 0) {
		bad("spectral_gain", fmt.Sprintf("%g: want zero or a positive number", s.SpectralGain))
	}
}

// Config returns the network on the given axes (the slowest first) with so many
// fields going in and coming out. The error names the key; whether the network fits
// a grid is for Config.Validate.
func (s Spec) Config(axes []string, inputs, outputs int) (Config, error) {
	c := Config{
		Inputs: inputs, Width: s.Width, Layers: s.Layers, Axes: slices.Clone(axes), Modes: make([]int, len(axes)),
		Projection: s.Projection, Outputs: outputs,
		Expansion: s.Expansion, SharedWeights: s.SharedWeights, SpectralGain: s.SpectralGain,
	}
	for i, name := range axes {
		c.Modes[i] = 8
		if m, ok := s.Modes[name]; ok {
			c.Modes[i] = m
		}
	}
	for name := range s.Modes {
		if !slices.Contains(axes, name) {
			return Config{}, fmt.Errorf("modes: no axis %q; the axes are %s", name, strings.Join(axes, ", "))
		}
	}
	return c, nil
}
