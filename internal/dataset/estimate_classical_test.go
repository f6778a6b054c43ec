package dataset

import (
	"math"
	"testing"

	"pihc/grid"
	"pihc/pde"
)

// A prediction that is what the classical solver computes on the points of the grid is as far from the solution of the equation as the
// grid is, and estimated so. The witness has sixteen times the points or more and conditions of second order on the walls, which the solver has
// at a distance of half a cell.
func TestEstimateClassical(t *testing.T) {
	p, err := pde.Open("diffusion-sorption")
	if err != nil {
		t.Fatal(err)
	}
	const fine = 3 * 512
	for _, points := range []int{32, 128, 512} {
		g, err := p.Grid(map[string]int{"t": 51, "x": points})
		if err != nil {
			t.Fatal(err)
		}
		witness := &grid.Grid{Axes: []grid.Axis{g.Axes[0], g.Axes[1]}}
		refine := []int{1, max(3, 3*(fine/points/3))}
		refine[1] -= 1 - refine[1]%2
		witness.Axes[1].Points *= refine[1]
		exact, err := classicalOn(p, g, refine, map[string]any{"wall_conditions": true})
		if err != nil {
			t.Fatal(err)
		}
		own, err := ReferenceSolver(p, g)
		if err != nil {
			t.Fatal(err)
		}
		inputs, truth, u := make([]float64, points), make([]float64, g.Size()), make([]float64, g.Size())
		for i := range inputs {
			inputs[i] = 0.1
		}
		if _, err := exact.Solve(truth, inputs); err != nil {
			t.Fatal(err)
		}
		if _, err := own.Solve(u, inputs); err != nil {
			t.Fatal(err)
		}
		for _, by := range []float64{0, 0.2} {
			for q := range u {
				u[q] *= 1 + by
			}
			e := grid.RelativeL2(u, truth, 1)
			got, err := NewEstimator(p, g).Estimate(u, inputs)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d points, %g larger: error %.4g, estimated %.4g", points, by, e, got)
			if !(got.Error > e/1.5 && got.Error < 1.5*e) {
				t.Errorf("%d points, %g larger: error %g, estimated %g", points, by, e, got.Error)
			}
			if by == 0 && !(got.Grid > e/1.5 && got.Grid < 1.5*e && got.Rows < e/3) {
				t.Errorf("%d points: the error of the grid is %g, and estimated %+v", points, e, got)
			}
			if by > 0 && !(math.Abs(got.Rows-by) < 0.02) {
				t.Errorf("%d points, %g larger: %g from the rows", points, by, got.Rows)
			}
		}
	}
}
