package discrete

import (
	"math"
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
