package experiment

import (
	"math"
	"strings"
	"testing"

	"pihc/pde"
)

// A field that does not move meets the equation where that leaves rounding of the field, and
// else is no solution.
func TestJudgeOfStillFields(t *testing.T) {
	p, err := pde.Load("heat.yaml", []byte(`name: heat
unknown: u
axes:
  t: {range: [0, 2], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 64, boundary: periodic}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t - 0.1*u_xx, rows: {t: [1, 0]}}
initial: {distribution: random-sines, low: 0.5, high: 1}
`))
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
	j, err := newJudge(sys, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []func(time, x float64) float64{
		func(_, x float64) float64 { return float64(float32(0.7 + 1e-7*math.Sin(1e4*x))) },
		func(time, x float64) float64 { return math.Sin(2*math.Pi*x) * math.Exp(-0.1*4*math.Pi*math.Pi*time) },
		func(_, x float64) float64 { return math.Sin(2 * math.Pi * x) },
		func(_, _ float64) float64 { return 0 },
	} {
		field := make([]float64, g.Size())
		for q := range field {
			field[q] = u(g.Axes[0].Coordinate(q/64), g.Axes[1].Coordinate(q%64))
		}
		j.add(field, field[:64])
	}
	r := j.residuals
	if r[0] != 0 || !(r[1] > 0 && r[1] < 0.3) || !math.IsInf(r[2], 1) || r[3] != 0 {
		t.Errorf("residuals %v", r)
	}
	want := "1 of 4 predictions do not change in time (the derivative in time, or a residual's first term where it has none, is zero) and leave a residual, which is relative to nothing: sample 2 is the first"
	if got := strings.Join(j.warnings(), "\n"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
