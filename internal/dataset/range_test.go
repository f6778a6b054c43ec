package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/data"
	"pihc/grid"
	"pihc/pde"
)

// Draws that were not seen are like those that were; others are not.
func TestRange(t *testing.T) {
	for _, name := range pde.Builtins() {
		p, err := pde.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		points := map[string]int{}
		for _, a := range p.Axes {
			points[a.Name] = 16
		}
		g, err := p.Grid(points)
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewRange(p, g)
		if err != nil {
			t.Fatal(err)
		}
		next, err := NewSampler(p, g)
		if err != nil {
			t.Fatal(err)
		}
		u0 := make([]float64, g.Size()/16)
		for i := range 200 {
			if err := next(data.SampleRand(7, i), u0); err != nil {
				t.Fatal(err)
			}
			if why := r.Outside(u0); why != "" {
				t.Fatalf("%s, draw %d: %s", name, i, why)
			}
		}
		far := slices.Clone(u0)
		for i := range far {
			far[i] *= 1e6
		}
		if why := r.Outside(far); !strings.Contains(why, "draws of the PDE file's distribution were from") {
			t.Errorf("%s: a million times too large: %q", name, why)
		}
		for i := range far {
			far[i] = 1e-3 * u0[i]
		}
		if why := r.Outside(far); strings.Contains(why, "values of size") == strings.HasPrefix(name, "diffusion-sorption") { // constants from zero
			t.Errorf("%s: a thousand times too small: %q", name, why)
		}
		in := r.inputs[0]
		size := (in.high - in.low) / 2
		for i := range u0 {
			u0[i] = (in.low+in.high)/2 + size*math.Copysign(1, float64(i%2)-0.5)
		}
		if why := r.Outside(u0); !strings.Contains(why, "neighbouring values differ") {
			t.Errorf("%s: a sawtooth: %q", name, why)
		}
		if in.low < 0 {
			continue
		}
		for i := range u0 {
			u0[i] = -in.high / 100
		}
		if why := r.Outside(u0); !strings.Contains(why, "draws of the PDE file's distribution were from") {
			t.Errorf("%s: of another sign: %q", name, why)
		}
		for i := range u0 {
			u0[i] = in.high / 2 * float64(i%2)
		}
		u0[0] = -1e-12 * in.high
		if why := r.Outside(u0); strings.Contains(why, "draws of the PDE file's distribution were from") {
			t.Errorf("%s: zero but for rounding: %q", name, why)
		}
	}
}

// Inputs far smaller than all that are drawn are unlike them; zero is not where draws come
// near it, or some are zero.
func TestRangeSmall(t *testing.T) {
	sines := pde.Sampler{Distribution: "random-sines", Low: -0.5, High: 0.5}
	zero := pde.Sampler{Distribution: "uniform-constant"}
	constant := func(low, high float64) pde.Sampler {
		return pde.Sampler{Distribution: "uniform-constant", Low: low, High: high}
	}
	last := []grid.Axis{{Name: "x", Lo: 0, Hi: 1, Points: 16, Boundary: grid.Periodic}}
	for _, c := range []struct {
		name    string
		s       pde.Sampler
		axes    []grid.Axis
		small   bool // there is a size that is too small
		unusual float64
	}{
		{"sines", sines, last, true, 1e-3},
		{"sines around one", pde.Sampler{Distribution: "random-sines", Low: -0.1, High: 0.1, Offset: 1}, last, true, 0.01},
		{"constants from zero", constant(0, 0.2), last, false, 0},
		{"constants of both signs", constant(-1, 0.7), last, false, 0},
		{"constants from a thousandth", constant(1e-3, 1), last, false, 0},
		{"constants from a half", constant(0.5, 1), last, true, 0.04},
		{"zero", zero, last, false, 0},
		{"zero now and then", pde.Sampler{Distribution: "mixture", Mixture: []pde.Sampler{{Distribution: "random-sines", Low: -1, High: 1, Weight: 1}, {Distribution: "uniform-constant", Weight: 1e-6}}}, last, false, 0},
		{"of either size", pde.Sampler{Distribution: "mixture", Mixture: []pde.Sampler{constant(10, 12), sines}}, last, true, 1e-3},
		{"a number over decades", pde.Sampler{Distribution: "log-uniform", Low: 1e-4, High: 1}, nil, true, 1e-6},
	} {
		next, err := NewInputSampler(c.s, c.axes)
		if err != nil {
			t.Fatal(err)
		}
		small, err := smallest(c.s, c.axes)
		if err != nil {
			t.Fatal(err)
		}
		if c.small != (small > 0) || c.small && !(small > c.unusual) {
			t.Errorf("%s: sizes below %g are too small", c.name, small)
		}
		v := make([]float64, 16)
		if c.axes == nil {
			v = v[:1]
		}
		for i := range 4000 {
			if err := next(data.SampleRand(7, i), v); err != nil {
				t.Fatal(err)
			}
			if size := RootMeanSquare(v); size < small {
				t.Fatalf("%s: a draw of size %g is too small, as all below %g", c.name, size, small)
			}
		}
	}
}

// An initial condition that walls do not let stand is unlike draws that meet them, and one like
// the draws is not, of either kind of wall and where draws miss the walls themselves.
func TestRangeWalls(t *testing.T) {
	const file = `name: heat
unknown: u
axes:
  t: {range: [0, 1], points: 11, boundary: nodes}
  x: {range: [0, 2], points: 33, boundary: nodes}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
  u_x: {axis: x, derivative: 1, order: 2}
  u_xx: {axis: x, derivative: 2, order: 2}
residual: {expression: u_t - 0.01*u_xx, rows: {t: [1, 0], x: [1, 1]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
  a: {at: {x: low}, rows: {t: [1, 0]}, expression: LOW, weight: 3}
  b: {at: {x: high}, expression: HIGH}
initial: {distribution: random-series, series: SERIES}
`
	type shape func(x float64) float64
	one := func(x float64) float64 { return 1 }
	for _, c := range []struct {
		low, high, series string
		u0                shape
		want              string
	}{
		{"u", "u", "sine", one, "a beginning that misses condition a by 97 % of its size; the PDE file's distribution does by 0 % at most"},
		{"u", "u", "sine", func(x float64) float64 { return math.Sin(math.Pi * x) }, ""},
		{"u", "u", "sine", func(x float64) float64 { return x / 2 }, "misses condition b by 97 %"},
		{"u_x", "u_x", "cosine", one, ""},
		{"u_x", "u_x", "cosine", func(x float64) float64 { return math.Cos(math.Pi * x) }, ""},
		{"u_x", "u_x", "cosine", func(x float64) float64 { return math.Sin(math.Pi * x) }, "misses condition a by"},
		{"u", "u - 1", "cosine", one, ""}, // cosines miss both by all
		{"u - 1", "u", "sine", func(x float64) float64 { return math.Sin(math.Pi * x) }, ""},
	} {
		src := strings.NewReplacer("LOW", c.low, "HIGH", c.high, "SERIES", c.series).Replace(file)
		p, err := pde.Load("heat.yaml", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewRange(p, g)
		if err != nil {
			t.Fatal(err)
		}
		u0 := make([]float64, p.InputSize(g))
		for i, x := range g.Axes[1].Coordinates() {
			u0[i] = c.u0(x)
		}
		if got := r.Outside(u0); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("walls %s and %s: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}
