package pde

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// A residual that a file squares, as the authors' code does that of Navier-Stokes, is measured
// like the one it does not, and so is one whose rate has a factor: only so is it a share of the rate, whatever the units.
func TestPlainResidualOfSquare(t *testing.T) {
	const file = `
name: decay
unknown: u
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: periodic}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
residual: {expression: "u_t + 3*u", weight: 7}
initial: {distribution: random-sines, low: -1, high: 1}
`
	measure := func(text string, scale float64) float64 {
		p, err := Load("decay", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		sys, err := p.Discretize(g)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := sys.NewPlainResidual()
		if err != nil {
			t.Fatal(err)
		}
		u := make([]float64, g.Size())
		for i := range u {
			u[i] = scale * math.Sin(float64(i*i))
		}
		return Relative(plain.RMS(u, slices.Clone(u[:sys.InputSize()])))
	}
	want := measure(file, 1)
	for _, text := range []string{file, strings.Replace(file, "u_t + 3*u", "(u_t + 3*u)^2", 1), strings.Replace(file, "u_t + 3*u", "4e6*u_t + 12e6*u", 1)} {
		for _, scale := range []float64{1, 1000} {
			if got := measure(text, scale); math.Abs(got/want-1) > 1e-12 || want < 0.1 {
				t.Errorf("u times %g: relative residual %g, want %g of\n%s", scale, got, want, text)
			}
		}
	}
}

// The rate is the highest derivative in time, wherever it stands: what begins from rest has no first one there.
func TestRateOfSecondOrder(t *testing.T) {
	p, err := Load("damped", []byte(`
name: damped
unknown: u
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: periodic}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
  u_tt: {axis: t, derivative: 2, order: 2}
  u_x: {axis: x, derivative: 1, order: 2}
residual: {expression: 3*u_t + u_tt + u_x}
initial: {distribution: random-sines, low: -1, high: 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	g, _ := p.Grid(nil)
	sys, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := sys.NewPlainResidual()
	if err != nil {
		t.Fatal(err)
	}
	u := make([]float64, g.Size())
	for i := range u {
		at := g.Axes[0].Coordinate(i / 8)
		u[i] = at * at
	}
	if _, rate := plain.RMS(u, u[:8]); math.Abs(rate[0]-2) > 1e-9 {
		t.Errorf("rate %g of t², want 2", rate[0])
	}
}
