package engine

import (
	"fmt"
	"math"
	"testing"

	"pihc/compute"
	"pihc/constraint"
	"pihc/internal/check"
	"pihc/model"
	"pihc/pde"
)

// lossCase is a loss with factors for the rows that cross the borders of experts, as
// loss.border_rows has them, and a field.
func lossCase(t *testing.T, problem, form string, shape map[string]int, experts []int, factor float64, pool *compute.Pool) (l *Loss, rows rowFactor, u, initial []float64) {
	t.Helper()
	p, err := pde.Open(problem)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(shape)
	if err != nil {
		t.Fatal(err)
	}
	sys, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	weights := map[string]float64{"residual": 3, sys.Sets[len(sys.Sets)-1].Name: 0.7}
	if l, err = NewLoss(sys, model.LossSpec{Form: form, Weights: weights}, pool); err != nil {
		t.Fatal(err)
	}
	c, err := constraint.New(sys, 1, constraint.Options{Experts: experts}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rows = (rowFactor{c.Crossing(), factor}); factor == 1 {
		rows = rowFactor{}
	}
	rng := check.Rand(3)
	u, initial = make([]float64, g.Size()), make([]float64, sys.InputSize())
	for i := range u {
		u[i] = 0.4 + 0.1*rng.Float64()
	}
	for i := range initial {
		initial[i] = 0.3 + 0.1*rng.Float64()
	}
	return l, rows, u, initial
}

// The gradient of the loss against central differences, with and without factors of
// rows: a factor f of a row multiplies its square, and its gradient, by f².
func TestLossGradient(t *testing.T) {
	for _, tc := range []struct {
		problem string
		shape   map[string]int
		experts []int
	}{
		{"diffusion-sorption", map[string]int{"t": 7, "x": 20}, []int{1, 3}},
		{"navier-stokes", map[string]int{"t": 6, "x": 6, "y": 8}, []int{1, 2, 2}},
	} {
		for _, form := range []string{"mean-square", "norm"} {
			for _, factor := range []float64{1, 0.3, 5} {
				t.Run(fmt.Sprint(tc.problem, " ", form, " ", factor), func(t *testing.T) {
					pool := compute.NewPool(2)
					defer pool.Close()
					l, rows, u, initial := lossCase(t, tc.problem, form, tc.shape, tc.experts, factor, pool)
					gradient := make([]float64, len(u))
					const scale = 0.25
					l.add(gradient, u, initial, rows, scale)
					check.Gradient(t, check.Rand(4), func(u []float64) float64 {
						loss, _ := l.add(nil, u, initial, rows, 0)
						return scale * loss
					}, u, gradient, 3, 1e-4, 1e-7)

					// Mean squares are without the factor, the loss is with it.
					got, squares := l.add(nil, u, initial, rows, 0)
					residual := l.sets[0]
					var plain, weighed float64
					for i, r := range residual.value {
						plain += r * r
						if rows.chosen != nil && rows.chosen[0][i] {
							r *= factor
						}
						weighed += r * r
					}
					m := float64(len(residual.value))
					check.Close(t, squares[:1], []float64{plain / m}, 1e-12, 0)
					want := 0.0
					for i, set := range l.sets {
						sum, rows := squares[i]*float64(len(set.Points)), float64(len(set.Points))
						if set == residual {
							sum = weighed
						}
						if form == "norm" {
							want += l.weights[i] * math.Sqrt(sum)
						} else {
							want += l.weights[i] * sum / rows
						}
					}
					check.Close(t, []float64{got}, []float64{want}, 1e-12, 0)
				})
			}
		}
	}
}

// The gradient of the whole loss of an engine with border_rows, overlap and relative
// losses, on both problems.
func TestWholeGradientWithRamps(t *testing.T) {
	for _, progress := range []float64{0.3, 0.5, 1} {
		e := toyEngine[float64](t, "diffusion-sorption", model.MoE, "mean-square", 1, 1, "loss.border_rows={start: 3, end: 0.2, from: 0, to: 0.9}",
			"constraint.overlap={start: 0.75, end: 0.1, from: 0, to: 1}", "loss.relative=true")
		batch := toyBatch(24, 2)
		batch.Progress = progress
		worst, err := CheckGradient(e, batch, 2)
		if err != nil {
			t.Fatal(err)
		}
		if !(worst < 1e-6) {
			t.Errorf("at %g: relative error %.2g", progress, worst)
		}
	}
}
