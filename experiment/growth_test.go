package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pihc/expr"
	"pihc/model"
	"pihc/pde"
)

// An interrupted init has no floors and no orders, and says so.
func TestRaiseOrdersInterrupted(t *testing.T) {
	src, err := templateSource("heat")
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Load("heat.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	p.Reference.Solver = pde.DiscreteSolver
	spec, err := model.LoadSpec("spec.yaml", []byte("defaults: fitted\nproblem: problem.yaml\n"))
	if err == nil {
		err = spec.Fit(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	d := &draft{sizes: &sizes{fitted: spec}, src: src, p: p}
	if err := d.raiseOrders(ctx, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// A system that begins at rest has no rate at the first time; that its grid resolves how solutions begin is seen all the same,
// and that a grid of few points does not.
func TestStartResidualAtRest(t *testing.T) {
	src := `name: strings
unknown: [u, p]
axes:
  t: {range: [0, 1], points: 41, boundary: nodes}
  x: {range: [0, 1], points: 32, boundary: periodic}
terms:
  u_t: {of: u, axis: t, derivative: 1, order: 4}
  p_t: {of: p, axis: t, derivative: 1, order: 4}
  p_xx: {of: p, axis: x, derivative: 2, order: 4}
residual:
  rate: {expression: u_t - p_xx}
  integral: {expression: p_t - u}
conditions:
  start_u: {kind: initial, at: {t: low}, expression: u - u0}
  start_p: {kind: initial, at: {t: low}, expression: p}
initial:
  u: {distribution: random-field, field: periodic-kernel, parameters: {lambda: 1}}
reference: {solver: discrete}
`
	p, err := pde.Load("strings.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		points   int
		low, top float64
	}{{41, 0, 0.01}, {6, resolvedStart, 10}} {
		spec, err := model.LoadSpec("spec.yaml", fmt.Appendf(nil, "defaults: fitted\nproblem: problem.yaml\ngrid: {t: %d, x: 32}\n", c.points))
		if err == nil {
			err = spec.Fit(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, err := meanStart(t.Context(), spec, p); err != nil || !(start > c.low && start < c.top) {
			t.Errorf("%d times: residual at the first %g, %v", c.points, start, err)
		}
	}
}

// Orders with which solutions change with the grid they are computed on are not raised; those in time alone are, where they can be.
func TestRaiseOrdersUnsteady(t *testing.T) {
	const file = `name: absorb
unknown: u
axes:
  t: {range: [0, 1], points: 25, boundary: nodes}
  x: {range: [0, 1], points: 33, boundary: nodes}
terms:
  uxL: {axis: x, edge: low, at: wall, derivative: 1, points: 4}
  uxR: {axis: x, edge: high, at: wall, derivative: 1, points: 4}
  u_t: {axis: t, derivative: 1, order: TIME}
  u_tt: {axis: t, derivative: 2, order: TIME}
  u_xx: {axis: x, derivative: 2, order: 4}
  v0: {axis: t, edge: low, at: wall, derivative: 1, points: 5}
residual: {expression: "u_tt - u_xx", rows: {x: [1, 1]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
  vel: {kind: initial, at: {t: low}, expression: v0}
  l: {at: {x: low}, expression: u_t - uxL}
  r: {at: {x: high}, expression: u_t + uxR}
initial: {distribution: random-series, series: sine, parameters: {modes: 3, decay: 1}, scale: 0.5}
reference: {solver: discrete}
`
	for _, c := range []struct{ inTime, said, orders string }{
		{"4", "orders of accuracy are raised less than would be nearest: with higher ones solutions of the rows change", "u_t 6, u_tt 6"},
		{"6", "orders of accuracy stay as they are: with higher ones solutions of the rows change", ""},
	} {
		src := []byte(strings.ReplaceAll(file, "TIME", c.inTime))
		p, err := pde.Load("absorb.yaml", src)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := model.LoadSpec("spec.yaml", (&sizes{width: 8, layers: 1, steps: 20, batch: 1, tests: 3}).spec(p))
		if err == nil {
			err = spec.Fit(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		d := &draft{sizes: &sizes{fitted: spec}, src: src, p: p}
		err = d.raiseOrders(t.Context(), Options{})
		said := strings.Join(append(d.warnings, d.added...), "\n")
		if err != nil || !strings.Contains(said, c.said) || !strings.HasSuffix(said, c.orders) || strings.Contains(string(d.src), "u_xx: {axis: x, derivative: 2, order: 6}") || c.orders == "" && string(d.src) != string(src) {
			t.Errorf("%s in time: %v, %s, %s", c.inTime, err, said, d.src)
		}
	}
}

// TestGrowth: differences between solutions of u_t + u_x = a u grow, or decay, as e^(at).
func TestGrowth(t *testing.T) {
	const across = "\n  y: {range: [0, 1], points: 8, boundary: periodic}" // where coarser solutions are compared
	for _, c := range []struct {
		rate  float64
		plane string
	}{{-1, ""}, {0, ""}, {2.5, ""}, {2.5, across}} {
		rate := c.rate
		p, err := pde.Load("problem.yaml", []byte(fmt.Sprintf(`
name: growing
unknown: u
axes:
  t: {range: [0, 2], points: 41, boundary: nodes}
  x: {range: [0, 1], points: 32, boundary: periodic}%s
constants: {a: %g}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
  u_x: {axis: x, derivative: 1, order: 4}
residual: {expression: u_t + u_x - a*u, rows: {t: [1, 0]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
initial: {distribution: random-series, series: periodic, parameters: {modes: 2}}
reference: {solver: discrete}
`, c.plane, rate)))
		if err != nil {
			t.Fatal(err)
		}
		spec, err := model.LoadSpec("spec.yaml", []byte("defaults: fitted\nproblem: problem.yaml\n"))
		if err == nil {
			err = spec.Fit(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := growth(t.Context(), p, spec)
		if err != nil || math.Abs(got-rate) > 0.01 {
			t.Errorf("growth of e^(%g t): %g, %v", rate, got, err)
		}
	}
}

// What one unknown does to another in larger units is no growth.
func TestGrowthUnits(t *testing.T) {
	for _, unit := range []float64{1, 377} {
		p, err := pde.Load("problem.yaml", fmt.Appendf(nil, `
name: waves
unknown: [h, e]
axes:
  t: {range: [0, 0.9], points: 41, boundary: nodes}
  x: {range: [0, 1], points: 32, boundary: periodic}
terms:
  h_t: {of: h, axis: t, derivative: 1}
  h_x: {of: h, axis: x, derivative: 1, order: 4}
  e_t: {of: e, axis: t, derivative: 1}
  e_x: {of: e, axis: x, derivative: 1, order: 4}
residual:
  magnetic: {expression: "h_t + e_x/%[1]g"}
  electric: {expression: "e_t + %[1]g*h_x"}
conditions:
  a: {kind: initial, at: {t: low}, expression: h - h0}
  b: {kind: initial, at: {t: low}, expression: e}
initial: {h: {distribution: random-series, series: periodic, parameters: {modes: 2}}}
reference: {solver: discrete}
`, unit))
		if err != nil {
			t.Fatal(err)
		}
		spec, err := model.LoadSpec("spec.yaml", fmt.Appendf(nil, "defaults: fitted\nproblem: problem.yaml\nnetwork: {scales: {h: 1, e: %g}}\n", unit))
		if err == nil {
			err = spec.Fit(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := growth(t.Context(), p, spec); err != nil || math.Abs(got) > 0.1 {
			t.Errorf("unit %g: growth of e^(%g t), %v", unit, got, err)
		}
	}
}

// TestWeightInTime: the weight has a mean square of 1 over the axis, falls, and does not vanish.
func TestWeightInTime(t *testing.T) {
	const begin, end, rate, n = 1.0, 3.0, 1.5, 4000
	e, err := expr.Parse(strings.Trim(weightInTime("t", end, end-begin, rate), `"`))
	if err != nil {
		t.Fatal(err)
	}
	program, err := expr.Compile([]*expr.Expr{e}, []string{"t"})
	if err != nil {
		t.Fatal(err)
	}
	times, w := make([]float64, n), make([]float64, n)
	for i := range times {
		times[i] = begin + (float64(i)+0.5)/n*(end-begin)
	}
	program.Evaluator()(n, [][]float64{w}, [][]float64{times})
	square := 0.0
	for i, v := range w {
		square += v * v / n
		if i > 0 && !(v < w[i-1]) || !(v > 0) {
			t.Fatalf("weight %g at %g", v, times[i])
		}
	}
	if math.Abs(square-1) > 0.01 { // its numbers have three digits
		t.Errorf("mean square %g, want 1", square)
	}
}

// Validations are as many as take a quarter of a training's steps, from 3 to 20, and count in its time.
func TestValidationsOfSizes(t *testing.T) {
	for _, c := range []struct {
		check    float64
		every    int
		training float64
	}{{0, 5, 100}, {0.5, 5, 110}, {2, 8, 124}, {50, 33, 250}} {
		s := &sizes{steps: 100, step: 1, check: c.check}
		if every, training := s.every(), s.training(); every != c.every || training != c.training {
			t.Errorf("a validation of %g s: every %d steps, %g s in all; want %d, %g", c.check, every, training, c.every, c.training)
		}
	}
}
