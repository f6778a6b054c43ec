package constraint

import (
	"testing"

	"pihc/grid"
	"pihc/pde"
	"pihc/sim"
)

// The discretisation floors of docs/choices.md: 0.07-0.10 % for the shipped
// rows, whatever the weights, and 2.4-3.1 % for the published ones.
func TestFloor(t *testing.T) {
	for _, tc := range []struct {
		problem  string
		points   int
		options  Options
		u0       float64
		low, top float64
	}{
		{"diffusion-sorption", 128, Options{Mean: true}, 0.1, 0.0005, 0.0012},
		{"diffusion-sorption", 128, Options{Mean: true, Weights: map[string]float64{"residual": 10}}, 0.1, 0.0005, 0.0012},
		{"diffusion-sorption-published", 64, Options{}, 0.18, 0.02, 0.06},
	} {
		p, err := pde.Open(tc.problem)
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Grid(map[string]int{"t": 101, "x": tc.points})
		if err != nil {
			t.Fatal(err)
		}
		sys, err := p.Discretize(g)
		if err != nil {
			t.Fatal(err)
		}
		solver, err := sim.New(p.Reference.Solver, g.Axes, p.Reference.Constants, nil)
		if err != nil {
			t.Fatal(err)
		}
		initial := make([]float64, tc.points)
		for i := range initial {
			initial[i] = tc.u0
		}
		truth := make([]float64, g.Size())
		if _, err := solver.Solve(truth, initial); err != nil {
			t.Fatal(err)
		}
		f, err := MeasureFloor(sys, tc.options, initial, truth)
		if err != nil {
			t.Fatal(err)
		}
		if f.Error < tc.low || f.Error > tc.top {
			t.Errorf("%s, weights %v: floor error %.4f, want %g to %g", tc.problem, tc.options.Weights, f.Error, tc.low, tc.top)
		}
	}
}

// folded keeps neighbours along a periodic axis, those across the seam too, within two steps
// of each other, and every point once.
func TestFolded(t *testing.T) {
	const others = 3
	for _, n := range []int{4, 7} {
		axis := grid.Axis{Points: n, Boundary: grid.Periodic}
		seen := map[int]bool{}
		for p := range n * others {
			at := folded(axis, p, others)
			seen[at] = true
			next := folded(axis, (p+others)%(n*others), others)
			if d := at - next; d > 2*others || d < -2*others || at < 0 || at >= n*others {
				t.Errorf("%d points: %d is at %d, its neighbour at %d", n, p, at, next)
			}
		}
		if len(seen) != n*others {
			t.Errorf("%d points have %d places", n*others, len(seen))
		}
		axis.Boundary = grid.Cells
		if at := folded(axis, 5, others); at != 5 {
			t.Errorf("of an axis with walls point 5 is at %d", at)
		}
	}
}
