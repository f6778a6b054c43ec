package verdict

import (
	"slices"
	"testing"

	"pihc/data"
	"pihc/experiment"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/pde"
)

// A field that leaves no residual on its grid is as far from the solution as the grid's rows are, and estimated so; likewise ones that
// are 0.3 and 3 % larger. One draw of each equation whose solutions are those of its rows on a finer grid.
func TestErrorOfGrid(t *testing.T) {
	problems := []string{"burgers", "darcy", "heat", "telegraph"}
	if *full {
		problems = nil
		for _, c := range trials {
			problems = append(problems, c.problem)
		}
		problems = slices.Compact(problems)
	}
	for _, problem := range problems {
		x, err := experiment.Open(spec(t, problem))
		if err != nil {
			t.Fatal(problem, err)
		}
		p := x.Problem
		if p.Reference.Solver != pde.DiscreteSolver {
			continue
		}
		err = func() error {
			g, err := p.Grid(x.Spec.Grid)
			if err != nil {
				return err
			}
			draw, err := dataset.NewSampler(p, g)
			if err != nil {
				return err
			}
			fine, err := dataset.ReferenceSolver(p, g)
			if err != nil {
				return err
			}
			rows, err := discrete.New(p, g, slices.Repeat([]int{1}, len(g.Axes)))
			if err != nil {
				return err
			}
			inputs, fields := make([]float64, p.InputSize(g)), len(p.Unknowns)
			truth, own := make([]float64, fields*g.Size()), make([]float64, fields*g.Size())
			if err := draw(data.SampleRand(3, 0), inputs); err != nil {
				return err
			}
			if _, err := fine.Solve(truth, inputs); err != nil {
				return err
			}
			if _, err := rows.Solve(own, inputs); err != nil {
				return err
			}
			estimator := dataset.NewEstimator(p, g)
			for _, by := range []float64{0, 0.003, 0.03} {
				u := slices.Clone(own)
				for i := range u {
					u[i] *= 1 + by
				}
				estimated, err := estimator.Estimate(u, inputs)
				if err != nil {
					return err
				}
				estimate := estimated.Error
				e := grid.RelativeL2(u, truth, fields)
				t.Logf("%s, %g %% larger: error %.3g, estimate %.3g, ratio %.2f", problem, 100*by, e, estimate, estimate/e)
				if e > 1e-4 && !(estimate > e/3 && estimate < 3*e) { // four digits are computed
					t.Errorf("%s, %g %% larger: error %g, estimate %g", problem, 100*by, e, estimate)
				}
			}
			return nil
		}()
		if err != nil {
			t.Errorf("%s: %v", problem, err)
		}
	}
}
