package pde

import (
	"math"
	"path/filepath"
	"slices"
	"testing"
)

// What fields begin with is what conditions or the ansatz say, which may be more than the
// initial condition alone.
func TestStart(t *testing.T) {
	const file = `name: start
unknown: u
axes:
  t: {range: [1, 2], points: 3, boundary: nodes}
  x: {range: [0, 1], points: 4, boundary: periodic}
inputs: {k: {distribution: uniform, low: 1, high: 2}}
terms: {u_t: {axis: t, derivative: 1}, u_x: {axis: x, derivative: 1}}
residual: {expression: u_t + k*u_x, rows: {t: [1, 0]}}
initial: {distribution: random-sines, low: 0.5, high: 1}
`
	condition := func(text string) string { return "conditions: {start: {at: {t: low}, expression: " + text + "}}\n" }
	u0, k := []float64{0.3, -0.7, 1.1, 0.1}, 1.7
	for _, c := range []struct {
		rows, start string
		value       func(x, u0 float64) float64
	}{
		{condition("u - u0"), "u0", func(_, u0 float64) float64 { return u0 }},
		{condition("u0 - u"), "u0", func(_, u0 float64) float64 { return u0 }},
		{condition("u - 2*u0"), "2*u0", func(_, u0 float64) float64 { return 2 * u0 }},
		{condition("2*u - k*u0 - x - t"), "", func(x, u0 float64) float64 { return (k*u0 + x + 1) / 2 }},
		{condition("u - 3"), "3", func(_, _ float64) float64 { return 3 }},
		{condition("u^2 - u0"), "u0", func(_, u0 float64) float64 { return u0 }},       // not affine
		{condition("u + u_x - 2*u0"), "u0", func(_, u0 float64) float64 { return u0 }}, // a term
		{condition("x*u - 2*u0"), "u0", func(_, u0 float64) float64 { return u0 }},     // nothing at x = 0
		{"conditions: {corner: {at: {t: low, x: low}, expression: u - 2*u0}}\n", "u0", func(_, u0 float64) float64 { return u0 }},
		{"conditions: {end: {at: {t: high}, expression: u - 2*u0}}\n", "u0", func(_, u0 float64) float64 { return u0 }},
		{"ansatz: {offset: t*u0*sin(2*pi*x), multiplier: (t - 1)*x}\n", "", func(x, u0 float64) float64 { return u0 * math.Sin(2*math.Pi*x) }},
		{"ansatz: {offset: 3*u0, multiplier: t}\n" + condition("u - 2*u0"), "2*u0", func(_, u0 float64) float64 { return 2 * u0 }}, // 1 at the lowest time
		{"ansatz: {offset: 3*u0, multiplier: t - 1}\n" + condition("u - 2*u0"), "3*u0", func(_, u0 float64) float64 { return 3 * u0 }},
	} {
		p := mustLoad(t, file+c.rows)
		if got := p.Unknowns[0].Start.String(); c.start != "" && got != c.start {
			t.Errorf("%s: begins with %s, want %s", c.rows, got, c.start)
		}
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		field := slices.Repeat([]float64{9}, g.Size())
		p.Persist(field, append(slices.Clone(u0), k), g)
		for q, got := range field {
			if want := c.value(g.Axes[1].Coordinate(q%4), u0[q%4]); math.Abs(got-want) > 1e-14 {
				t.Fatalf("%s: point %d: %g, want %g", c.rows, q, got, want)
			}
		}
	}
}

// The problems that come with pihc begin with their initial conditions, bit for bit, but for
// one example, which says otherwise.
func TestStartOfKnownProblems(t *testing.T) {
	files, err := filepath.Glob("../examples/*/problem.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range append(files, Builtins()...) {
		p, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range p.Unknowns {
			want := u.InitialName()
			switch {
			case u.Initial < 0:
				want = "0"
			case p.Name == "fisher-kpp":
				want = "0.5 + u0"
			}
			if got := u.Start.String(); got != want {
				t.Errorf("%s: %s begins with %s, want %s", name, u.Name, got, want)
			}
		}
	}
}
