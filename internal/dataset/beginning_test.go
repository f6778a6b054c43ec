package dataset

import (
	"math"
	"testing"

	"pihc/pde"
)

// A field that does not begin with its initial condition is told, with the condition's own factor, and of
// a small beginning of a large field more may be missed.
func TestBeginnings(t *testing.T) {
	p, err := pde.Load("heat.yaml", []byte(`name: heat
unknown: u
axes:
  t: {range: [0, 1], points: 5, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t - 0.1*u_xx, rows: {t: [1, 0]}}
conditions: {start: {at: {t: low}, expression: 3*(u - 2*u0), weight: 7}}
initial: {distribution: random-sines, low: -1, high: 1}
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
	b := NewBeginnings(sys)
	u0, field := make([]float64, 16), make([]float64, g.Size())
	set := func(start, later float64) {
		for q := range field {
			v := math.Sin(2 * math.Pi * float64(q%16) / 16)
			u0[q%16] = v
			if field[q] = later * v; q < 16 {
				field[q] = start * v
			}
		}
	}
	for _, c := range []struct {
		start, later, miss float64
		far                bool
	}{
		{2, 2, 0, false},
		{1.9, 1.9, 0.05, false},
		{-2, -2, 2, true},
		{1.2, 1.2, 0.4, true},
		{1.6, 20, 0.4 / 2 / (math.Sqrt((1.6*1.6+4*400)/5) / 1.6), false},
	} {
		set(c.start, c.later)
		if miss, far := b.Miss(field, u0); math.Abs(miss-c.miss) > 1e-9 || far != c.far {
			t.Errorf("%v, then %v: %v, %v; want %v", c.start, c.later, miss, far, c.miss)
		}
	}
}

// A field that varies little about a mean, and begins by an ansatz, has its residual over its rate; by what of it is 32 bits without one it is rounding.
func TestResidualAboutAMean(t *testing.T) {
	const file = `
name: pressure
unknown: u
axes:
  t: {range: [0, 1], points: 11, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t - 0.02*u_xx}
conditions: {initial: {kind: initial, at: {t: low}, expression: u - u0}}
initial: {distribution: random-sines, low: 101324, high: 101326}
`
	for ansatz, want := range map[string]bool{"": false, "ansatz: {offset: u0, multiplier: t}\n": true} {
		p, err := pde.Load("pressure.yaml", []byte(file+ansatz))
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
		u, u0 := make([]float64, g.Size()), make([]float64, 16)
		for i := range u {
			x := float64(i%16) / 16
			u0[i%16] = 101325 + 0.5*math.Sin(2*math.Pi*x)
			u[i] = u0[i%16] - 0.05*float64(i/16)*math.Sin(2*math.Pi*x)
		}
		if got := PredictionResidual(plain, p, g, u, u0); want != (got > 0.01) {
			t.Errorf("%q: %g", ansatz, got)
		}
	}
}
