package experiment

import (
	"errors"
	"fmt"
	"slices"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/words"
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
	Open   []string `json:"-"` // among the notes: what may be missing at ends of axes with cells, IllPosed where it is no fault, and Torn
	// IllPosed says that disturbances grow without bound as they get finer; "": they do not, or it cannot be told. Where they do so everywhere it is a fault.
	IllPosed string `json:"-"`
	// Torn says that initial conditions of waves miss what a wall prescribes; "": they do not.
	Torn string `json:"-"`
}

// examine says whether the rows of a problem determine its unknown, and agree with each other and
// with the ansatz, for initial conditions of its own distribution.
func examine(p *pde.Problem) (*Verdict, error) {
	found, err := discrete.Examine(p, nil, func(g *grid.Grid) ([][]float64, error) {
		samples, err := dataset.Draws(p, g, 16)
		if err != nil {
			return nil, err
		}
		return append(samples, dataset.Extremes(p, g, samples[0])...), nil
	})
	if err != nil {
		return nil, err
	}
	x := (*Verdict)(found)
	if len(x.Faults) > 0 {
		return x, nil
	}
	x.Notes = append(x.Notes, x.Open...)
	for c, u := range p.Unknowns {
		met := p.SmoothMet(c)
		if len(met) == 0 {
			continue
		}
		if ok, err := meets(p, met); err != nil {
			return nil, err
		} else if !ok {
			x.Faults = append(x.Faults, fmt.Sprintf("the offset of the ansatz of %s misses %s, which the rest of its fields meets without right-hand sides", u.Name, words.List(met)))
			return x, nil
		}
	}
	if gradual, err := beginsGradually(p); err != nil || !gradual {
		return x, err
	}
	_, misfit, err := model.Misfit(p)
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
	multiplier := sys.Vanishing()
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

// unresolved says what of a problem's expressions the points of a grid do not resolve. The fault is that of
// solutions of its rows, which miss it on their refined grid too.
func unresolved(p *pde.Problem, g *grid.Grid) (notes []string, fault, err error) {
	samples, err := dataset.Draws(p, g, 3)
	if err != nil {
		return nil, nil, err
	}
	own, reference := discrete.Unresolved(p, g, samples)
	for _, x := range own {
		note := x.String()
		if slices.ContainsFunc(reference, func(y pde.Unresolved) bool { return y.Rows == x.Rows && expr.Same(y.Expr, x.Expr) }) {
			note += ", and solutions of these rows on a refined grid miss it as well"
		}
		notes = append(notes, note+": "+wider(x))
	}
	if len(reference) > 0 {
		x := reference[0]
		fault = words.WithHint(errors.New("solutions of these rows are wrong: on their refined grid "+x.String()), "%s", wider(x))
		if len(own) == 0 {
			notes = append(notes, fault.Error())
		}
	}
	return notes, fault, nil
}

func wider(x pde.Unresolved) string {
	return "more points along " + x.Axis + ", something wider, or its mean over a step"
}
