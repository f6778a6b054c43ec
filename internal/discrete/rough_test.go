package discrete

import (
	"math"
	"slices"
	"testing"

	"pihc/internal/check"
)

// Between walls GMRES converges by an incomplete factorisation also for steps that are long for diffusion, where it does not without one.
func TestRoughOfStiffDiffusion(t *testing.T) {
	p := load(t, `
axes:
  t: {range: [0, 4], points: 5, boundary: nodes}
  y: {range: [0, 1], points: 41, boundary: nodes}
  x: {range: [0, 1], points: 41, boundary: nodes}
terms:
  u_t: {axis: t, derivative: 1}
  u_xx: {axis: x, derivative: 2}
  u_yy: {axis: y, derivative: 2}
  u_x: {axis: x, derivative: 1}
  u_y: {axis: y, derivative: 1}
residual: {expression: u_t - 0.5*u_xx - 0.5*u_yy}
conditions:
  a: {kind: initial, at: {t: low}, expression: u - u0}
  west: {at: {x: low}, expression: u_x}
  east: {at: {x: high}, expression: u_x + u}
  south: {at: {y: low}, expression: u_y}
  north: {at: {y: high}, expression: u_y + u}
`)
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	few := rough
	few.direct = 1 // so that it is GMRES that solves
	solver, err := newSolver(p, g, []int{1, 1, 1}, few)
	if err != nil {
		t.Fatal(err)
	}
	begin := func(x []float64) float64 { return math.Cos(x[0]) * math.Cos(x[1]) }
	u := make([]float64, g.Size())
	if _, err := solver.Solve(u, onSpace(g, begin)); err != nil {
		t.Fatal(err)
	}
	if off := check.RelativeL2(u, solve(t, p, g, []int{1, 1, 1}, begin)); off > 1e-3 {
		t.Errorf("%g from the solution of small steps", off)
	}
}

// A hot bar that begins to lose heat at all sides: the rows of corners have a second solution below -1/b, which no first guess may lead to.
func TestQuench(t *testing.T) {
	p := load(t, `
axes:
  t: {range: [0, 0.1], points: 9, boundary: nodes}
  y: {range: [0, 1], points: 25, boundary: nodes}
  x: {range: [0, 1], points: 25, boundary: nodes}
constants: {b: 0.5, Bi: 2.633}
terms:
  u_t: {axis: t, derivative: 1}
  u_x: {axis: x, derivative: 1}
  u_y: {axis: y, derivative: 1}
  u_xx: {axis: x, derivative: 2}
  u_yy: {axis: y, derivative: 2}
residual: {expression: "u_t - (1 + b*u)*(u_xx + u_yy) - b*(u_x^2 + u_y^2)", rows: {t: [1, 0]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
  south: {at: {y: low}, expression: (1 + b*u)*u_y - Bi*u, rows: {t: [1, 0]}}
  north: {at: {y: high}, expression: (1 + b*u)*u_y + Bi*u, rows: {t: [1, 0]}}
  west: {at: {x: low}, expression: (1 + b*u)*u_x - Bi*u, rows: {t: [1, 0]}}
  east: {at: {x: high}, expression: (1 + b*u)*u_x + Bi*u, rows: {t: [1, 0]}}
initial: {distribution: uniform-constant, low: 0.5, high: 1}
`)
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	solver, err := NewRough(p, g, []int{1, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	u := make([]float64, g.Size())
	if _, err := solver.Solve(u, constant(0.992, 625)); err != nil {
		t.Fatal(err)
	}
	if low := slices.Min(u); low < 0 {
		t.Errorf("a temperature of %g", low)
	}
}
