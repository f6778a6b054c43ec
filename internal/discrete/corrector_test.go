package discrete

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
	"pihc/pde"
)

// Steps of a Corrector converge as Newton's method does, to the minimiser that a Floor is of, in any units of the unknowns, and leave alone what the ansatz fixes.
func TestCorrector(t *testing.T) {
	var errs [2][]float64
	for k, unit := range []string{"1", "1e-9"} {
		p, err := pde.Load("a.yaml", []byte(strings.ReplaceAll(`
name: darcy
unknown: [u, q]
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 12, boundary: nodes}
constants: {Q: UNIT}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  u_x: {of: u, axis: x, derivative: 1}
  q_x: {of: q, axis: x, derivative: 1}
residual:
  mass: {expression: u_t + q_x/Q, rows: {t: [1, 0], x: [1, 0]}}
  flow: {expression: (q/Q + (0.5 + u^2)*u_x)}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
  left: {at: {x: low}, expression: u - 1}
  right: {at: {x: high}, expression: q/Q}
ansatz: {u: {offset: u0, multiplier: t}}
initial: {u: {distribution: random-series, series: sine, parameters: {modes: 2}, scale: 0.2, offset: 1}}
`, "UNIT", unit)))
		if err != nil {
			t.Fatal(err)
		}
		sys := discretized(t, p, nil)
		g := sys.Grid
		c, err := NewCorrector(sys, meanOf(1), 1e9)
		if err != nil {
			t.Fatal(err)
		}
		sample := make([]float64, 12)
		for i := range sample {
			sample[i] = 1 + 0.3*math.Sin(math.Pi*float64(i)/11)
		}
		field, step := make([]float64, sys.FieldSize()), make([]float64, sys.FieldSize())
		p.Persist(field, sample, g)
		size := g.Size()
		for range 8 {
			if !c.Correct(step, field, sample) {
				t.Fatal("no step")
			}
			for i, v := range step {
				field[i] += v
			}
			errs[k] = append(errs[k], grid.Norm(step[:size])/grid.Norm(field[:size]))
			check.Close(t, step[:12], make([]float64, 12), 0, 0)
		}
		nearest := slices.Clone(field)
		for i := range nearest {
			nearest[i] *= 1 + 0.01*math.Sin(float64(i))
		}
		if _, _, err := minimiseFrom(sys, meanOf(1), sample, nearest, 1e9); err != nil {
			t.Fatal(err)
		}
		if d := grid.RelativeL2(field, nearest, 2); d > 1e-6 {
			t.Errorf("in units of %s the minimiser is %g away", unit, d)
		}
	}
	check.Close(t, errs[1][:3], errs[0][:3], 1e-3, 0)
	for k := range errs {
		if last := errs[k][len(errs[k])-1]; last > 1e-7 {
			t.Errorf("the last step is %g of the field: %g", last, errs[k])
		}
	}
}

// Marched steps converge to the solution of rows in two dimensions: between walls, of two unknowns of which one has no rate, with initial conditions as rows, and with
// spectral terms. Differences in time of second order at least have what steps leave fall by a multiple each.
func TestCorrectorMarched(t *testing.T) {
	for _, c := range []struct {
		name, file string
		grid       map[string]int
		least      float64 // after eight steps, of the first
	}{
		{"walls, two unknowns", `
name: darcy
unknown: [u, q]
axes:
  t: {range: [0, 1], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 10, boundary: nodes}
  y: {range: [0, 1], points: 9, boundary: periodic}
terms:
  u_t: {of: u, axis: t, derivative: 1, order: 2, side: backward}
  u_xx: {of: u, axis: x, derivative: 2}
  u_yy: {of: u, axis: y, derivative: 2}
residual:
  mass: {expression: (1 + u^2)*u_t - q, rows: {t: [1, 0], x: [1, 1]}}
  flow: {expression: 1e-3*q - 1e-3*(u_xx + 0.2*u_yy + u*(1 - u))}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
  left: {at: {x: low}, expression: u - 1, rows: {t: [1, 0]}}
  right: {at: {x: high}, expression: u - 0.5, rows: {t: [1, 0]}}
initial: {u: {distribution: random-series, series: sine, parameters: {modes: 2}, scale: 0.2, offset: 1}}
`, nil, 2e-3},
		{"waves", `
name: waves
unknown: u
axes:
  t: {range: [0, 1], points: 33, boundary: nodes}
  x: {range: [0, 1], points: 10, boundary: nodes}
  y: {range: [0, 1], points: 9, boundary: periodic}
terms:
  u_tt: {axis: t, derivative: 2}
  u_start: {axis: t, derivative: 1, edge: low, at: wall, points: 3}
  u_xx: {axis: x, derivative: 2}
  u_yy: {axis: y, derivative: 2}
residual: {expression: u_tt - (1 + x/2)*(u_xx + u_yy) + u^3, rows: {t: [1, 0], x: [1, 1]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
  rest: {kind: initial, at: {t: low}, expression: u_start - 0.3}
  left: {at: {x: low}, expression: u, rows: {t: [1, 0]}}
  right: {at: {x: high}, expression: u, rows: {t: [1, 0]}}
initial: {u: {distribution: random-series, series: sine, parameters: {modes: 2}, scale: 0.2, offset: 1}}
`, nil, 0.02},
		{"spectral", "navier-stokes", map[string]int{"t": 17, "x": 8, "y": 8}, 0.05},
	} {
		var sys *pde.System
		if c.grid != nil {
			sys = systemOf(t, c.file, c.grid)
		} else {
			p, err := pde.Load("a.yaml", []byte(c.file))
			if err != nil {
				t.Fatal(err)
			}
			sys = discretized(t, p, nil)
		}
		p, g := sys.Problem, sys.Grid
		rows := newMinimised(sys, meanOf(1))
		march, err := marchOfInstants(sys, rows.fixed)
		if err != nil {
			t.Fatal(err)
		}
		corrector := &Corrector{rows: rows, march: march}
		n := g.Size() / g.Axes[0].Points
		sample := make([]float64, n)
		for i := range sample {
			sample[i] = math.Sin(2*math.Pi*float64(i)/float64(n)) + 0.3*math.Cos(float64(i%8)*math.Pi/4)
			if c.name == "waves" {
				sample[i] *= math.Sin(math.Pi * float64(i/9) / 9)
			}
		}
		field, step := make([]float64, sys.FieldSize()), make([]float64, sys.FieldSize())
		p.Persist(field, sample, g)
		if c.grid == nil {
			for i := range n {
				field[i] *= 1.1 // the start is a row like others
			}
		}
		var all []float64
		left := func() (sum float64) {
			for _, set := range sys.Sets {
				for _, v := range sys.NewRowValues(set, set.Points).Eval(0, field, sample)[0] {
					sum += v * v
				}
			}
			return math.Sqrt(sum)
		}
		all = append(all, left())
		for range 8 {
			if !corrector.March(step, field, sample, 1) {
				t.Fatal("no step")
			}
			for i, v := range step {
				field[i] += v
			}
			all = append(all, left())
		}
		check.Close(t, field[:n], sample, 0, 1e-9)
		if t.Logf("%s: %.2g", c.name, all); !(all[8] < c.least*all[0]) {
			t.Errorf("%s: steps leave %.2g", c.name, all)
		}
	}
}

// A solution, but for rounding, has a step that is as small.
func TestCorrectorSolved(t *testing.T) {
	p := load(t, `
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
  y: {range: [0, 1], points: 16, boundary: periodic}
terms:
  u_t: {axis: t, derivative: 1}
  lap: {spectral: laplacian}
residual: {expression: u_t - (1 + 0.5*sin(2*pi*x) + u^2)*lap}
conditions: {start: {kind: initial, at: {t: low}, expression: u - u0}}
initial: {distribution: uniform-constant, low: 0.5, high: 1}
`)
	sys := discretized(t, p, nil)
	rows := newMinimised(sys, meanOf(1))
	march, err := marchOfInstants(sys, rows.fixed)
	if err != nil {
		t.Fatal(err)
	}
	field, step := constant(1, sys.FieldSize()), make([]float64, sys.FieldSize())
	for i := range field {
		field[i] += 1e-15 * math.Sin(float64(7*i))
	}
	c := &Corrector{rows: rows, march: march, most: 1e9}
	if !c.March(step, field, constant(1, 256), 1) || grid.Norm(step) > 1e-10*grid.Norm(field) {
		t.Errorf("a step of %g", grid.Norm(step))
	}
}

// What is not marched: values that the ansatz alone fixes, a first time that nothing gives, rows that outnumber values.
func TestCorrectorRefused(t *testing.T) {
	const axes = "axes:\n  t: {range: [0, 1], points: 9, boundary: nodes}\n  x: {range: [0, 1], points: 12, boundary: nodes}\n"
	for _, c := range []struct{ name, file, says string }{
		{"fixed", `unknown: u
` + axes + `terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t - 0.1*u_xx - u*(1 - u), rows: {x: [0, 0]}}
ansatz: {offset: u0, multiplier: t*x*(1 - x)}
initial: {distribution: random-series, series: sine, parameters: {modes: 2}}
`, "no condition is about"},
		{"first time", `unknown: [u, q]
` + axes + `terms: {u_t: {of: u, axis: t, derivative: 1}, u_xx: {of: u, axis: x, derivative: 2}}
residual: {a: {expression: u_t - q, rows: {t: [1, 0]}}, b: {expression: q - 0.1*u_xx - u*(1 - u)}}
ansatz: {u: {offset: u0, multiplier: t}}
initial: {u: {distribution: random-series, series: sine, parameters: {modes: 2}}}
`, "at the first time"},
		{"rows", `unknown: u
` + axes + `terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {a: {expression: u_t - 0.1*u_xx}, b: {expression: u - 1}}
conditions: {start: {kind: initial, at: {t: low}, expression: u - u0}}
initial: {distribution: random-series, series: sine, parameters: {modes: 2}}
`, "outnumber"},
	} {
		p, err := pde.Load("p.yaml", []byte("name: p\n"+c.file))
		if err != nil {
			t.Fatal(err)
		}
		sys := discretized(t, p, nil)
		if _, err := marchOfInstants(sys, fixes(sys)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// BenchmarkCorrector finds a step for Navier-Stokes on 32³ points, by a march.
func BenchmarkCorrector(b *testing.B) {
	sys := systemOf(b, "navier-stokes", map[string]int{"t": 32, "x": 32, "y": 32})
	c, err := NewCorrector(sys, meanOf(1), 1e9)
	if err != nil {
		b.Fatal(err)
	}
	sample := make([]float64, 32*32)
	for i := range sample {
		sample[i] = math.Sin(2*math.Pi*float64(i)/1024) + 0.3*math.Cos(float64(i%32)*math.Pi/16) + 0.2*math.Sin(float64(i%32)*math.Pi/8+float64(i/32)*math.Pi/8)
	}
	field, step := make([]float64, sys.FieldSize()), make([]float64, sys.FieldSize())
	sys.Problem.Persist(field, sample, sys.Grid)
	for b.Loop() {
		if !c.Correct(step, field, sample) {
			b.Fatal("no step")
		}
	}
}
