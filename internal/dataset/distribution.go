// Package dataset is what a sample of a problem is: draws of its inputs, reference solutions, solutions that a file
// holds, and what is common among draws.
package dataset

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"pihc/data"
	"pihc/grid"
	"pihc/pde"
	"pihc/sim"
)

// draw is what a sample has of one input, or of all, from rng.
type draw = func(rng *rand.Rand, dst []float64) error

// NewSampler draws the inputs of a sample, one after another in their order: from their
// distributions, or, where one is missing, from the samples of the file of solutions.
func NewSampler(p *pde.Problem, g *grid.Grid) (draw, error) {
	if p.Reference.File != "" && !p.Drawn() {
		return givenSampler(p, g)
	}
	var all []draw
	inputs := p.PlaceInputs(g)
	for i, in := range inputs {
		what := "inputs." + in.Name
		switch {
		case i < p.Initials() && len(p.Unknowns) > 1:
			what = "initial condition " + in.Name
		case i < p.Initials():
			what = "initial"
		}
		next, err := NewInputSampler(in.Sampler, in.Space)
		if err == errNoDistribution {
			return nil, errNoDistribution
		}
		if err != nil {
			return nil, fmt.Errorf("problem %s: %s: %w", p.Name, what, err)
		}
		all = append(all, next)
	}
	return func(rng *rand.Rand, dst []float64) error {
		for i, next := range all {
			if err := next(rng, inputs[i].Of(dst)); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

var errNoDistribution = errors.New("no distribution")

// NewInputSampler draws one input on the axes it extends along from a distribution:
//
//	uniform           a number from U(low, high)
//	log-uniform       a number whose logarithm is uniform
//	uniform-constant  a constant from U(low, high)
//	random-sines      Σ_{k=1..4} a_k sin(2πk(x-lo)/(hi-lo) + φ_k), a_k from
//	                  U(low, high)/k, φ_k from U(0, 2π), along the last axis
//	random-field      sim.NewField
//	random-series     sim.NewSeries
//	mixture           one of several, chosen by their weights
//
// and transforms it as the distribution says.
func NewInputSampler(s pde.Sampler, axes []grid.Axis) (draw, error) {
	plain, err := plainSampler(s, axes)
	if err != nil {
		return nil, err
	}
	return func(rng *rand.Rand, dst []float64) error {
		err := plain(rng, dst)
		s.Transform(dst)
		return err
	}, nil
}

func plainSampler(s pde.Sampler, axes []grid.Axis) (draw, error) {
	low, high := s.Low, s.High
	switch s.Distribution {
	case "log-uniform":
		return func(rng *rand.Rand, dst []float64) error {
			dst[0] = low * math.Pow(high/low, rng.Float64())
			return nil
		}, nil
	case "uniform", "uniform-constant":
		return func(rng *rand.Rand, dst []float64) error {
			v := low + (high-low)*rng.Float64()
			for i := range dst {
				dst[i] = v
			}
			return nil
		}, nil
	case "random-sines":
		last := axes[len(axes)-1]
		return func(rng *rand.Rand, dst []float64) error {
			clear(dst)
			for k := 1; k <= 4; k++ {
				a := (low + (high-low)*rng.Float64()) / float64(k)
				phase := 2 * math.Pi * rng.Float64()
				for i := range dst {
					x := (last.Coordinate(i%last.Points) - last.Lo) / (last.Hi - last.Lo)
					dst[i] += a * math.Sin(2*math.Pi*float64(k)*x+phase)
				}
			}
			return nil
		}, nil
	case "random-field":
		return NewFieldSampler(s, axes)
	case "random-series":
		series, err := sim.NewSeries(s.Series, axes, s.Parameters)
		if err != nil {
			return nil, err
		}
		return func(rng *rand.Rand, dst []float64) error {
			series.Sample(rng, dst)
			return nil
		}, nil
	case "mixture":
		return mixtureSampler(s, axes)
	}
	return nil, errNoDistribution
}

// Draws are the inputs of count samples of a problem on a grid, from its own distributions.
func Draws(p *pde.Problem, g *grid.Grid, count int) ([][]float64, error) {
	next, err := NewSampler(p, g)
	if err != nil {
		return nil, err
	}
	samples := make([][]float64, count)
	for i := range samples {
		samples[i] = make([]float64, p.InputSize(g))
		if err := next(data.SampleRand(1, i), samples[i]); err != nil {
			return nil, err
		}
	}
	return samples, nil
}

// Extremes are copies of a sample, each with one of its drawn numbers at an end of that number's range, which a draw comes
// as near to as it likes and does not meet.
func Extremes(p *pde.Problem, g *grid.Grid, sample []float64) [][]float64 {
	var all [][]float64
	for _, in := range p.PlaceInputs(g) {
		s := in.Sampler
		if in.Size != 1 || s.Distribution != "uniform" && s.Distribution != "log-uniform" {
			continue
		}
		inside := 1e-9 * (s.High - s.Low)
		if s.Distribution == "log-uniform" {
			inside = 0
		}
		for _, end := range []float64{s.Low + inside, s.High - inside} {
			copied := slices.Clone(sample)
			value := in.Of(copied)
			value[0] = end
			s.Transform(value)
			all = append(all, copied)
		}
	}
	return all
}

// NewFieldSampler draws random fields. A field owns its workspace and workers draw at
// the same time, so each draw takes a field from a list.
func NewFieldSampler(s pde.Sampler, axes []grid.Axis) (draw, error) {
	parameters := map[string]any{}
	for name, v := range s.Parameters {
		parameters[name] = v
	}
	first, err := sim.NewField(s.Field, axes, parameters)
	if err != nil {
		return nil, err
	}
	free := sync.Pool{New: func() any {
		f, err := sim.NewField(s.Field, axes, parameters)
		if err != nil {
			panic("dataset: a random field that was made once cannot be made again")
		}
		return f
	}}
	free.Put(first)
	return func(rng *rand.Rand, dst []float64) error {
		f := free.Get().(interface {
			Sample(rng *rand.Rand, dst []float64)
		})
		f.Sample(rng, dst)
		free.Put(f)
		return nil
	}, nil
}

// mixtureSampler draws the part first, then from it.
func mixtureSampler(s pde.Sampler, axes []grid.Axis) (draw, error) {
	parts, total := make([]draw, len(s.Mixture)), 0.0
	for i, part := range s.Mixture {
		var err error
		if parts[i], err = NewInputSampler(part, axes); err != nil {
			return nil, err
		}
		total += part.Weight
	}
	return func(rng *rand.Rand, dst []float64) error {
		at, i := total*rng.Float64(), 0
		for ; i < len(parts)-1 && at >= s.Mixture[i].Weight; i++ {
			at -= s.Mixture[i].Weight
		}
		return parts[i](rng, dst)
	}, nil
}
