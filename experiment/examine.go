package experiment

import (
	"fmt"
	"slices"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/model"
	"pihc/pde"
)

// jumpMisfit is the misfit that is worth a note: more than differences of low order make of slopes.
const jumpMisfit = 10 * compatibleMisfit

// compatibleMisfit is the misfit (model.Misfit) from which on the field changes at once at the ends of axes of space, which
// no ansatz that begins smoothly can follow.
const compatibleMisfit = 0.01

// A Verdict says whether the rows of a problem determine its unknowns, from
// their linearisation on a small grid, and agree with each other and with the ansatz.
type Verdict struct {
	Grid     []int `json:"grid"`
	Rows     int   `json:"rows"`     // with what the ansatz fixes
	Unknowns int   `json:"unknowns"` // values of all unknowns
	Rank     int   `json:"rank"`
	// Faults are what no training can make up for, Notes what may be meant.
	Faults []string `json:"faults,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}

// examine says whether the rows of a problem determine its unknown, and agree with each other and
// with the ansatz, for initial conditions of its own distribution.
func examine(p *pde.Problem) (*Verdict, error) {
	found, err := discrete.Examine(p, func(g *grid.Grid) ([][]float64, error) {
		next, err := dataset.NewSampler(p, g)
		if err != nil {
			return nil, err
		}
		initial := make([][]float64, 16)
		for i := range initial {
			initial[i] = make([]float64, p.InputSize(g))
			if err := next(data.SampleRand(1, i), initial[i]); err != nil {
				return nil, err
			}
		}
		return initial, nil
	})
	if err != nil {
		return nil, err
	}
	x := (*Verdict)(found)
	if len(x.Faults) > 0 {
		return x, nil
	}
	if gradual, err := beginsGradually(p); err != nil || !gradual {
		return x, err
	}
	misfit, err := model.Misfit(p)
	if err != nil {
		return nil, err
	}
	if !(misfit <= jumpMisfit) {
		x.Notes = append(x.Notes, fmt.Sprintf("initial conditions, kept for all times, miss the conditions at the ends of space by %.2g %% of their size: where the field jumps there at once the ansatz, which leaves them gradually, cannot follow, and is better left out", 100*misfit))
	}
	return x, nil
}

// beginsGradually reports whether the ansatz of an unknown holds it at the beginning of the first axis, and a
// point further on still has less than half of its multiplier.
func beginsGradually(p *pde.Problem) (bool, error) {
	g, err := p.Grid(nil)
	if err != nil {
		return false, err
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return false, err
	}
	multiplier := sys.Multiplier()
	if multiplier == nil || p.Steady {
		return false, nil
	}
	most := func(m []float64) float64 { return max(slices.Max(m), -slices.Min(m)) }
	size, n := g.Size(), sys.SliceSize()
	for f := range p.Unknowns {
		own := multiplier[f*size : (f+1)*size]
		if most(own[:n]) == 0 && most(own[n:2*n]) < most(own)/2 {
			return true, nil
		}
	}
	return false, nil
}

// unresolvedBy is discrete.Unresolved for a few samples of a problem's own distribution.
func unresolvedBy(p *pde.Problem, g *grid.Grid) (own, reference []pde.Unresolved, err error) {
	next, err := dataset.NewSampler(p, g)
	if err != nil {
		return nil, nil, err
	}
	samples := make([][]float64, 3)
	for i := range samples {
		samples[i] = make([]float64, p.InputSize(g))
		if err := next(data.SampleRand(1, i), samples[i]); err != nil {
			return nil, nil, err
		}
	}
	own, reference = discrete.Unresolved(p, g, samples)
	return own, reference, nil
}
