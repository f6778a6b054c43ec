package model

import (
	"fmt"
	"math"
	"slices"

	"pihc/data"
	"pihc/grid"
	"pihc/pde"
)

// A Range is what inputs of a problem's distributions are like on a grid, by 64 draws: a
// network has been trained on nothing else.
type Range struct {
	initial bool // there is nothing but the initial condition
	inputs  []inputRange
}

type inputRange struct {
	pde.PlacedInput
	low, high float64 // of the values
	rough     float64 // largest root mean square of the differences of neighbours along the last axis
}

// NewRange draws from the problem's distributions; nil where one is missing.
func NewRange(p *pde.Problem, g *grid.Grid) (*Range, error) {
	if !p.Drawn() {
		return nil, nil
	}
	next, err := sampler(p, g)
	if err != nil {
		return nil, err
	}
	r := &Range{initial: p.OnlyInitial()}
	for _, in := range p.PlaceInputs(g) {
		r.inputs = append(r.inputs, inputRange{in, math.Inf(1), math.Inf(-1), 0})
	}
	sample := make([]float64, p.SampleSize(g))
	for i := range 64 {
		if err := next(data.SampleRand(1, i), sample); err != nil {
			return nil, err
		}
		for k := range r.inputs {
			in := &r.inputs[k]
			v := in.Of(sample)
			in.low, in.high = min(in.low, slices.Min(v)), max(in.high, slices.Max(v))
			in.rough = max(in.rough, in.roughness(v))
		}
	}
	return r, nil
}

// roughness is the root mean square of the differences of neighbours.
func (r *inputRange) roughness(v []float64) float64 {
	line := 1
	if n := len(r.Space); n > 0 {
		line = r.Space[n-1].Points
	}
	sum, n := 0.0, 0
	for i := 1; i < len(v); i++ {
		if i%line == 0 {
			continue
		}
		sum += (v[i] - v[i-1]) * (v[i] - v[i-1])
		n++
	}
	return math.Sqrt(sum / float64(max(n, 1)))
}

// Outside says how the inputs of a sample are unlike those of the distributions: values
// further outside of theirs than half their range, or differences of neighbours more
// than three times theirs. It is "" for a sample that is like them.
func (r *Range) Outside(sample []float64) string {
	for i := range r.inputs {
		in := &r.inputs[i]
		v, of := in.Of(sample), ""
		if !r.initial {
			of = in.Name + ": "
		}
		low, high := slices.Min(v), slices.Max(v)
		margin := (in.high - in.low) / 2
		switch rough := in.roughness(v); {
		case low < in.low-margin || high > in.high+margin:
			return of + fmt.Sprintf("values from %.3g to %.3g; those of the PDE file's distribution are from %.3g to %.3g", low, high, in.low, in.high)
		case rough > 3*in.rough+1e-6*max(math.Abs(in.low), math.Abs(in.high)):
			return of + fmt.Sprintf("neighbouring values differ by %.3g (root mean square); in the PDE file's distribution by %.3g at most", rough, in.rough)
		}
	}
	return ""
}
