package discrete

import (
	"testing"

	"pihc/pde"
)

// At the first time only an unknown that no initial condition gives is solved for, with its own walls, so that rows are as many as values.
func TestBeginsSquare(t *testing.T) {
	p, err := pde.Load("p.yaml", []byte(`
name: layer
unknown: [T, psi]
axes:
  t: {range: [0, 0.1], points: 3, boundary: nodes}
  y: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 9, boundary: nodes}
terms:
  T_t: {of: T, axis: t, derivative: 1}
  T_x: {of: T, axis: x, derivative: 1}
  T_xx: {of: T, axis: x, derivative: 2}
  T_yy: {of: T, axis: y, derivative: 2}
  psi_x: {of: psi, axis: x, derivative: 1}
  psi_xx: {of: psi, axis: x, derivative: 2}
  psi_yy: {of: psi, axis: y, derivative: 2}
residual:
  heat: {expression: T_t + psi_x - T_xx - T_yy}
  flow: {expression: psi_xx + psi_yy + 10*T_x}
conditions:
  start: {at: {t: low}, expression: T - T0}
  a: {at: {y: low}, expression: T}
  b: {at: {y: high}, expression: T}
  c: {at: {x: low}, expression: T}
  d: {at: {x: high}, expression: T}
  e: {at: {y: low}, expression: psi}
  f: {at: {y: high}, expression: psi}
  g: {at: {x: low}, expression: psi}
  h: {at: {x: high}, expression: psi}
initial:
  T: {distribution: random-series, series: sine, parameters: {modes: 2}}
`))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(p, g, []int{1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	if start := s.march.start; start.normal || start.count != 2*9*9 {
		t.Errorf("%d rows for %d values at the first time", start.count, start.values())
	}
}
