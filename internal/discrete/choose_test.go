package discrete

import (
	"context"
	"math"
	"slices"
	"testing"

	"pihc/grid"
)

// Steps of ETDRK4 have order 4: with steps of half the length a 16th of the distance to a known solution is left.
func TestExponentialOrder(t *testing.T) {
	const forced = `axes: {t: {range: [0, 2], points: 9, boundary: nodes}, x: {range: [0, 2*pi], points: 32, boundary: periodic}}
constants: {nu: 0.3}
terms: {u_t: {axis: t, derivative: 1}, u_x: {spectral: derivative, axis: x}, u_xx: {spectral: derivative, axis: x, derivative: 2}}
residual: {expression: u_t + u*u_x - nu*u_xx + cos(x - t) - nu*sin(x - t) - sin(x - t)*cos(x - t)}
conditions: {a: {at: {t: low}, expression: u - sin(x)}}
`
	p := load(t, forced).WithoutUnread()
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	exact := func(x []float64) float64 { return math.Sin(x[1] - x[0]) }
	var errs []float64
	for _, points := range []int{9, 17, 33} {
		g := &grid.Grid{Axes: slices.Clone(g.Axes)}
		g.Axes[0].Points = points
		s, err := New(p, g, []int{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		if s.semilinear = newSemilinear(s.march); s.semilinear == nil {
			t.Fatal("no exponential steps")
		}
		s.tolerance = math.MaxFloat64 // a step an interval
		u := make([]float64, g.Size())
		if stats, err := s.Solve(u, nil); err != nil || stats.Steps != points-1 {
			t.Fatal(stats, err)
		}
		errs = append(errs, distance(g, u, exact))
	}
	for i := range 2 {
		if ratio := errs[i] / errs[i+1]; !(ratio > 12 && ratio < 24) {
			t.Errorf("errors %g: ratio %g, want about 16", errs, ratio)
		}
	}
}

// A stiff reaction is marched by Radau's steps and a stiff linear part by exponential ones; both give the same bits again, and agree with the
// other method within the tolerance.
func TestChoose(t *testing.T) {
	const tolerance = 1e-4
	for _, c := range []struct{ name, stepper, src string }{
		{"reaction", "Radau IIA", `axes: {t: {range: [0, 1], points: 6, boundary: nodes}, x: {range: [0, 1], points: 16, boundary: periodic}}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {spectral: derivative, axis: x, derivative: 2}}
residual: {expression: u_t - 0.01*u_xx + 2000*(u^3 - (1 + 0.2*sin(2*pi*x))*cos(t))}
conditions: {a: {at: {t: low}, expression: u - 1}}
`},
		{"fourth order", "ETDRK4", `axes: {t: {range: [0, 5], points: 6, boundary: nodes}, x: {range: [0, 20], points: 32, boundary: periodic}}
terms: {u_t: {axis: t, derivative: 1}, u_x: {spectral: derivative, axis: x}, u_xx: {spectral: derivative, axis: x, derivative: 2}, u_xxxx: {spectral: derivative, axis: x, derivative: 4}}
residual: {expression: u_t + u*u_x + u_xx + u_xxxx}
conditions: {a: {at: {t: low}, expression: u - sin(pi*x/10) - 0.3*cos(pi*x/5)}}
`},
	} {
		p := load(t, c.src).WithoutUnread()
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		solve := func(implicit bool) []float64 {
			r := NewRefinement(p, g, tolerance)
			r.implicit = implicit
			x, err := r.Solve(context.Background(), nil, func(Refined) {})
			if err != nil || x.Short != nil {
				t.Fatal(c.name, err, x.Short)
			}
			if !implicit && r.Stepper() != c.stepper {
				t.Errorf("%s: by %s, want %s", c.name, r.Stepper(), c.stepper)
			}
			return x.Field
		}
		u := solve(false)
		if !slices.Equal(u, solve(false)) {
			t.Errorf("%s: other bits the second time", c.name)
		}
		other := NewRefinement(p, g, tolerance)
		other.chosen = true // exponential steps, whatever they cost
		if c.stepper == "ETDRK4" {
			other.implicit = true
		}
		x, err := other.Solve(context.Background(), nil, func(Refined) {})
		if err != nil || other.Stepper() == c.stepper {
			t.Fatal(c.name, other.Stepper(), err)
		}
		if d := grid.RelativeL2(u, x.Field, 1); !(d <= 2*tolerance) {
			t.Errorf("%s: the methods are %g from each other", c.name, d)
		}
	}
}
