package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"pihc/grid"
	"pihc/pde"
	"pihc/sim"
)

// draw is one initial condition from rng.
type draw = func(rng *rand.Rand, dst []float64) error

// sampler draws initial conditions of the problem from a distribution:
//
//	uniform-constant  a constant from U(low, high)
//	random-sines      Σ_{k=1..4} a_k sin(2πk(x-lo)/(hi-lo) + φ_k), a_k from
//	                  U(low, high)/k, φ_k from U(0, 2π), along the last axis
//	random-field      sim.NewField
//	random-series     sim.NewSeries
//	mixture           one of several, chosen by their weights
//
// and transforms them as the distribution says.
func sampler(p *pde.Problem, s pde.Sampler, g *grid.Grid) (draw, error) {
	plain, err := plainSampler(p, s, g)
	if err != nil {
		return nil, err
	}
	return func(rng *rand.Rand, dst []float64) error {
		err := plain(rng, dst)
		s.Transform(dst)
		return err
	}, nil
}

func plainSampler(p *pde.Problem, s pde.Sampler, g *grid.Grid) (draw, error) {
	low, high := s.Low, s.High
	last := g.Axes[len(g.Axes)-1]
	switch s.Distribution {
	case "uniform-constant":
		return func(rng *rand.Rand, dst []float64) error {
			v := low + (high-low)*rng.Float64()
			for i := range dst {
				dst[i] = v
			}
			return nil
		}, nil
	case "random-sines":
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
		return fieldSampler(p, s, g)
	case "random-series":
		series, err := sim.NewSeries(s.Series, g.Axes[1:], s.Parameters)
		if err != nil {
			return nil, fmt.Errorf("problem %s: initial: %w", p.Name, err)
		}
		return func(rng *rand.Rand, dst []float64) error {
			series.Sample(rng, dst)
			return nil
		}, nil
	case "mixture":
		return mixtureSampler(p, s, g)
	}
	return nil, fmt.Errorf("problem %s states no distribution of initial conditions (`initial:`)", p.Name)
}

// fieldSampler draws random fields. A field owns its workspace and workers draw at
// the same time, so each draw takes a field from a list.
func fieldSampler(p *pde.Problem, s pde.Sampler, g *grid.Grid) (draw, error) {
	parameters := map[string]any{}
	for name, v := range s.Parameters {
		parameters[name] = v
	}
	first, err := sim.NewField(s.Field, g.Axes[1:], parameters)
	if err != nil {
		return nil, fmt.Errorf("problem %s: initial: %w", p.Name, err)
	}
	free := sync.Pool{New: func() any {
		f, err := sim.NewField(s.Field, g.Axes[1:], parameters)
		if err != nil {
			panic("model: a random field that was made once cannot be made again")
		}
		return f
	}}
	free.Put(first)
	return func(rng *rand.Rand, dst []float64) error {
		f := free.Get().(*sim.RandomField)
		f.Sample(rng, dst)
		free.Put(f)
		return nil
	}, nil
}

// mixtureSampler draws the part first, then from it.
func mixtureSampler(p *pde.Problem, s pde.Sampler, g *grid.Grid) (draw, error) {
	parts, total := make([]draw, len(s.Mixture)), 0.0
	for i, part := range s.Mixture {
		var err error
		if parts[i], err = sampler(p, part, g); err != nil {
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
