package experiment

import (
	"strings"
	"testing"

	"pihc/pde"
)

// Where solutions of a problem without time cannot be had on the usual grid, half its points are asked for: waves in a box, whose
// equations are indefinite, by differences of fourth order.
func TestCoarserReference(t *testing.T) {
	const box = `
name: box
time: none
unknown: u
axes: {x: {range: [0, 1], points: POINTS, boundary: nodes}, y: {range: [0, 1], points: POINTS, boundary: nodes}}
inputs: {f: {distribution: random-series, series: free, parameters: {modes: 4}}}
terms: {u_xx: {axis: x, derivative: 2, order: 4}, u_yy: {axis: y, derivative: 2, order: 4}}
residual: {expression: u_xx + u_yy + 64*u - 10*f}
conditions: {a: {at: {x: low}, expression: u}, b: {at: {x: high}, expression: u}, c: {at: {y: low}, expression: u}, d: {at: {y: high}, expression: u}}
`
	for points, want := range map[string]string{"17": "", "65": ", refine: {x: 2, y: 2}"} {
		p, err := pde.Load("a.yaml", []byte(strings.ReplaceAll(box, "POINTS", points)))
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := coarserReference(p, g); err != nil || got != want {
			t.Errorf("%s points: %q, %v; want %q", points, got, err, want)
		}
	}
}
