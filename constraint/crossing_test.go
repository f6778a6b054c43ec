package constraint

import (
	"math"
	"testing"

	"pihc/internal/check"
	"pihc/lm"
)

// The rows that see a jump are those whose central differences reach over a
// border: the two cells beside each border in space, the two times beside one in
// time. Checked by a field that jumps between experts.
func TestCrossing(t *testing.T) {
	sys, _, _ := toy(t, shipped, map[string]int{"t": 12, "x": 24}, 2)
	for _, experts := range [][]int{nil, {1, 3}, {2, 2}} {
		c, err := New(sys, 2, Options{Experts: experts}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		// Constants have no residual: any that is left comes from the jump.
		u := make([]float64, sys.Grid.Size())
		for p := range u {
			u[p] = 0.3 + 0.1*float64(c.Expert(p)*c.Expert(p))
		}
		r := rowValues(sys, sys.Residuals()[0], u, make([]float64, sys.InputSize()))
		count := 0
		for i, crossing := range c.Crossing()[0] {
			if crossing != (math.Abs(r[i]) > 1e-12) {
				t.Errorf("experts %v: row at point %d: crossing %v, residual %g", experts, sys.Residuals()[0].Points[i], crossing, r[i])
			}
			if crossing {
				count++
			}
		}
		if (count > 0) != (experts != nil) {
			t.Errorf("experts %v: %d rows cross borders", experts, count)
		}
	}
}

// With spectral terms the rows that count are those beside a border in space,
// seams included, and those whose stencil in time reaches over one in time; their
// share of the residual that a jump leaves is most of it.
func TestCrossingOfFlow(t *testing.T) {
	sys, _, initial := flow(t, map[string]int{"t": 12, "x": 16, "y": 16}, 1)
	g := sys.Grid
	for _, experts := range [][]int{{1, 1, 1}, {1, 2, 1}, {1, 2, 2}, {2, 1, 1}} {
		c, err := New(sys, 1, Options{Experts: experts}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		u := make([]float64, g.Size())
		for p := range u {
			u[p] = 0.1 * float64(c.Expert(p)%2)
		}
		r := rowValues(sys, sys.Residuals()[0], u, initial)
		var near, all float64
		index := make([]int, 3)
		for i, crossing := range c.Crossing()[0] {
			p := int(sys.Residuals()[0].Points[i])
			g.Unravel(p, index)
			beside := false
			for _, a := range []int{1, 2} {
				for _, step := range []int{1, -1} {
					next := append([]int(nil), index...)
					next[a] = (next[a] + step + g.Axes[a].Points) % g.Axes[a].Points
					beside = beside || c.Expert(g.Ravel(next)) != c.Expert(p)
				}
			}
			if experts[0] == 1 && crossing != beside {
				t.Errorf("experts %v: row at %v: crossing %v", experts, index, crossing)
			}
			all += r[i] * r[i]
			if crossing {
				near += r[i] * r[i]
			}
		}
		if near < 0.7*all || (all > 0) != (c.Router.Experts() > 1) {
			t.Errorf("experts %v: %g of %g of the squared residual beside borders", experts, near, all)
		}
	}
}

// normalization: mean divides the squares of a set by its number of rows: the
// same as plain sums with every set's weight divided by the root of that number.
func TestMeanDividesByRows(t *testing.T) {
	sys, basis, initial := toy(t, shipped, map[string]int{"t": 9, "x": 20}, 5)
	const points = 70
	o := Options{Mean: true, Points: points, Start: 0.1, Weights: map[string]float64{"residual": 0.3}, Solver: lm.Options{GTol: 1e-13, FTol: -1, XTol: -1, MaxIterations: 400, NewtonCorrection: true}}
	mean := solved(t, sys, basis, initial, o)
	o.Mean, o.Weights = false, map[string]float64{"residual": 0.3 / math.Sqrt(points)}
	for _, set := range sys.Sets[1:] {
		o.Weights[set.Name] = 1 / math.Sqrt(float64(len(set.Points)))
	}
	plain := solved(t, sys, basis, initial, o)
	check.Close(t, mean.Weights(0), plain.Weights(0), 1e-9, 0)
	o.Weights["residual"] *= 1.01
	if other := solved(t, sys, basis, initial, o); math.Abs(other.Weights(0)[0]-plain.Weights(0)[0]) < 1e-6 {
		t.Error("the weights do not depend on the balance of the sets")
	}
}
