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
	for points, want := range map[string]string{"17": "", "129": ", refine: {x: 2, y: 2}"} {
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

// Where a solution takes long fewer are validated and tested with, but some.
func TestSolvedInTime(t *testing.T) {
	src, err := templateSource("heat")
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Load("heat.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	p.Reference.Solver = pde.DiscreteSolver
	spec, err := scaledSpec(p, nil)
	if err == nil {
		err = spec.Fit(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	for minutes, want := range map[float64][2]int{1e-9: {4, 4}, 1e6: {16, 32}} {
		s := &sizes{fitted: spec, workers: 1, tests: 32, check: 1}
		if err := s.timeSolution(p, &SizeOptions{Minutes: minutes}); err != nil {
			t.Fatal(err)
		}
		if got := [2]int{s.validation(), s.tests}; got != want || s.check != float64(want[0])/16 {
			t.Errorf("%g minutes: %d to validate and test with, a check of %g s", minutes, got, s.check)
		}
	}
}
