package fno

import (
	"fmt"
	"slices"
	"strings"
)

// Spec holds the keys that an experiment's network block has for a Fourier neural
// operator. A place tag is where the key stands among those of the whole block,
// which is part of the hash of a spec.
type Spec struct {
	Width            int            `yaml:"width" place:"1"`
	Layers           int            `yaml:"layers" place:"2"`
	Modes            map[string]int `yaml:"modes,flow" place:"3"` // by axis name; 8 where an axis is not named
	Projection       int            `yaml:"projection" place:"4"`
	LastActivation   bool           `yaml:"last_activation" place:"6"`
	OutputActivation bool           `yaml:"output_activation" place:"7"`
	SpectralGain     float64        `yaml:"spectral_gain" place:"10"` // multiplies the initial spectral weights; 0 starts them at zero
}

// DefaultSpec returns the paper's network.
func DefaultSpec() Spec {
	return Spec{Width: 64, Layers: 5, Projection: 128, LastActivation: true, SpectralGain: 1}
}

// Small returns a network of the same form that is small enough to be differenced
// in seconds, on the given axes.
func (s Spec) Small(axes []string) Spec {
	s.Width, s.Layers, s.Projection, s.Modes = 6, 2, 8, map[string]int{}
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
	}{{"width", s.Width}, {"layers", s.Layers}, {"projection", s.Projection}} {
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
		LastActivation: s.LastActivation, OutputActivation: s.OutputActivation, SpectralGain: s.SpectralGain,
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
