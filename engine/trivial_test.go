package engine

import (
	"math"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
	"pihc/model"
	"pihc/pde"
)

// Where a row holds fields to the initial condition the loss of zero has it; where the
// ansatz keeps it, fields that begin otherwise are outside of the ansatz.
func TestTrivials(t *testing.T) {
	const file = `
name: decay
unknown: u
axes:
  t: {range: [0, 1], points: 5, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: periodic}
terms: {u_t: {axis: t, derivative: 1}}
residual: {expression: u_t + u, rows: {t: [1, 0]}}
initial: {distribution: random-sines, low: 0.5, high: 1}
`
	for _, c := range []struct {
		rows    string
		start   float64 // over the initial condition
		outside bool
	}{
		{"conditions: {start: {at: {t: low}, expression: u - u0}}\n", 1, false},
		{"conditions: {start: {at: {t: low}, expression: u - 2*u0}}\n", 2, false},
		{"ansatz: {offset: u0, multiplier: t}\n", 1, true},
		{"ansatz: {offset: 2*u0, multiplier: t}\n", 2, true},
		{"ansatz: {offset: u0, multiplier: t}\nconditions: {start: {at: {t: low}, expression: u - u0}}\n", 1, false},
	} {
		p, err := pde.Load("decay.yaml", []byte(file[1:]+c.rows))
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		initial := [][]float64{make([]float64, 8), make([]float64, 8)}
		solutions := [][]float64{make([]float64, 40), make([]float64, 40)}
		for i, u0 := range initial {
			for k := range u0 {
				u0[k] = math.Sin(float64(3*i+k)) + 1
			}
			for q := range solutions[i] {
				solutions[i][q] = u0[q%8] * math.Exp(-g.Axes[0].Coordinate(q/8))
			}
		}
		info := Info{Problem: p, Grid: g, Spec: &model.Spec{Loss: model.LossSpec{Form: "mean-square"}}}
		got, err := info.Trivials(initial, func(i int) ([]float64, error) { return solutions[i], nil })
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 3 || got[0].Name != "zero" || got[1].Name != "persistence" || got[2].Name != "mean" {
			t.Fatalf("%+v", got)
		}
		for k, outside := range []bool{c.outside, false, c.outside} {
			if got[k].OutsideAnsatz != outside {
				t.Errorf("%s: %s: outside %v", c.rows, got[k].Name, got[k].OutsideAnsatz)
			}
		}
		for i, u0 := range initial {
			mean, square := 0.0, 0.0
			for _, v := range u0 {
				mean += c.start * v * c.start * v / 8
			}
			if len(p.Conditions) > 0 {
				square = mean // of zero, which meets the equation
			}
			check.Close(t, []float64{got[0].Losses[i]}, []float64{square}, 1e-12, 1e-13)
			check.Close(t, []float64{got[1].Losses[i]}, []float64{mean}, 1e-12, 1e-13)
			still := make([]float64, 40)
			for q := range still {
				still[q] = c.start * u0[q%8]
			}
			for k, field := range [][]float64{make([]float64, 40), still, solutions[1-i]} { // the mean of all others
				check.Close(t, []float64{got[k].Errors[i]}, []float64{grid.RelativeL2(field, solutions[i], 1)}, 1e-12, 1e-13)
			}
		}
		losses, err := info.StillLosses(initial)
		if err != nil {
			t.Fatal(err)
		}
		check.Close(t, losses, got[1].Losses, 0, 0)
		if got, err = info.Trivials(initial[:1], func(int) ([]float64, error) { return solutions[0], nil }); err != nil || len(got) != 2 {
			t.Errorf("one sample has a mean of others: %+v, %v", got, err)
		}
		if got, err = info.Trivials(initial, nil); err != nil || len(got) != 2 || got[0].Errors != nil {
			t.Errorf("without solutions: %+v, %v", got, err)
		}
	}
}
