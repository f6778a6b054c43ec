package experiment

import (
	"context"
	"testing"

	"pihc/internal/dataset"
	"pihc/pde"
	"pihc/report"
	"pihc/score"
)

// TestUses requires a fit of the one number that decay has, which its rows tell apart from nothing, and of the field, whose background is one
// constant: both linear in coordinates or nearly so, a step or a few.
func TestUses(t *testing.T) {
	p, err := pde.Load("decay.yaml", []byte(`
name: decay
unknown: u
axes:
  t: {range: [0, 1], points: 11, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
constants: {a: 1, b: 0.5}
terms:
  u_t: {axis: t, derivative: 1, order: 2, closure: one-sided}
residual: {expression: u_t + a*b*u, rows: {t: [1, 0]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
initial: {distribution: uniform-constant, low: 1, high: 2}
`))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	draws, err := dataset.Draws(p, g, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := &timing{problem: p, grid: g, space: 1, samples: score.Samples{Inputs: draws}, chosen: []int{0}}
	if err := x.uses(context.Background()); err != nil {
		t.Fatal(err)
	}
	list := x.out.Uses.List
	if len(list) != 2 || x.out.Uses.Note != "" {
		t.Fatalf("%+v", x.out.Uses)
	}
	// a and b enter as a product, and only one of them is free.
	for i, want := range []report.Use{{What: "fit of a", Numbers: 1}, {What: "field inversion, u0", Numbers: 1}} {
		if list[i].What != want.What || list[i].Numbers != want.Numbers || list[i].Evaluations < 2 || list[i].Evaluations > 12 || !(list[i].Solutions > float64(list[i].Evaluations)/2) {
			t.Errorf("%+v, want %+v", list[i], want)
		}
	}
}
