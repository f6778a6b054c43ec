package model

import (
	"fmt"
	"math"
	"slices"

	"pihc/data"
	"pihc/grid"
	"pihc/pde"
)

// A Range is what initial conditions of a problem's distribution are like on a grid,
// by 64 draws: a network has been trained on nothing else.
type Range struct {
	low, high float64 // of the values
	rough     float64 // largest root mean square of the differences of neighbours along the last axis
	line      int     // points of that axis
}

// NewRange draws from the problem's distribution; nil where it has none.
func NewRange(p *pde.Problem, g *grid.Grid) (*Range, error) {
	if p.Initial.Distribution == "" {
		return nil, nil
	}
	next, err := sampler(p, p.Initial, g)
	if err != nil {
		return nil, err
	}
	r := &Range{low: math.Inf(1), high: math.Inf(-1), line: g.Axes[len(g.Axes)-1].Points}
	u0 := make([]float64, g.Size()/g.Axes[0].Points)
	for i := range 64 {
		if err := next(data.SampleRand(1, i), u0); err != nil {
			return nil, err
		}
		r.low, r.high = min(r.low, slices.Min(u0)), max(r.high, slices.Max(u0))
		r.rough = max(r.rough, r.roughness(u0))
	}
	return r, nil
}

// roughness is the root mean square of the differences of neighbours.
func (r *Range) roughness(u0 []float64) float64 {
	sum, n := 0.0, 0
	for i := 1; i < len(u0); i++ {
		if i%r.line == 0 {
			continue
		}
		sum += (u0[i] - u0[i-1]) * (u0[i] - u0[i-1])
		n++
	}
	return math.Sqrt(sum / float64(max(n, 1)))
}

// Outside says how an initial condition is unlike those of the distribution: values
// further outside of theirs than half their range, or differences of neighbours more
// than three times theirs. It is "" for one that is like them.
func (r *Range) Outside(u0 []float64) string {
	low, high := slices.Min(u0), slices.Max(u0)
	margin := (r.high - r.low) / 2
	switch rough := r.roughness(u0); {
	case low < r.low-margin || high > r.high+margin:
		return fmt.Sprintf("values from %.3g to %.3g; those of the PDE file's distribution are from %.3g to %.3g", low, high, r.low, r.high)
	case rough > 3*r.rough+1e-6*max(math.Abs(r.low), math.Abs(r.high)):
		return fmt.Sprintf("neighbouring values differ by %.3g (root mean square); in the PDE file's distribution by %.3g at most", rough, r.rough)
	}
	return ""
}
