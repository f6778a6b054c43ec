package experiment

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/data"
	"pihc/grid"
	"pihc/model"
	"pihc/pde"
)

// onGrid is the problem of a PDE file, and its grid.
func onGrid(t *testing.T, src string) (*pde.Problem, *grid.Grid) {
	t.Helper()
	p, err := pde.Load("p.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, g
}

// One sample needs no axis of samples, a field nor a number; fields of another shape are told how to have it.
func TestReadInputsOneSample(t *testing.T) {
	p, g := onGrid(t, `name: poisson
time: none
unknown: u
axes:
  y: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: periodic}
inputs:
  f: {axes: [y, x], distribution: random-series, series: free}
  s: {distribution: uniform, low: 1, high: 2}
terms: {u_yy: {axis: y, derivative: 2}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_xx + s*u_yy + f, rows: {y: [1, 1]}}
conditions:
  a: {at: {y: low}, expression: u}
  b: {at: {y: high}, expression: u}
`)
	field := func(shape ...int) data.Named {
		return data.Named{Name: "f", Array: data.NewArray(shape, make([]float64, 72))}
	}
	number := func(shape ...int) data.Named {
		return data.Named{Name: "s", Array: data.NewArray(shape, []float64{1})}
	}
	for _, c := range []struct {
		hint   string // "": none is needed
		arrays []data.Named
	}{
		{"", []data.Named{field(1, 9, 8), number(1)}},
		{"", []data.Named{field(9, 8), number(1)}},
		{"", []data.Named{field(1, 9, 8), number()}},
		{"numpy.transpose(f", []data.Named{field(1, 8, 9), number(1)}},
		{"one value for each point", []data.Named{field(9, 4, 2), number(1)}},
	} {
		path := filepath.Join(t.TempDir(), "inputs.npz")
		if err := data.WriteNPZ(path, c.arrays); err != nil {
			t.Fatal(err)
		}
		samples, err := ReadInputs(path, p, g)
		var hint interface{ Hint() string }
		if c.hint == "" && (err != nil || len(samples) != 1 || len(samples[0]) != 73 || samples[0][72] != 1) {
			t.Errorf("%v: %d samples, %v", c.arrays[0].Array.Shape, len(samples), err)
		}
		if c.hint != "" && (!errors.As(err, &hint) || !strings.Contains(hint.Hint(), c.hint)) {
			t.Errorf("%v, want hint %q", err, c.hint)
		}
	}
}

// Initial conditions are bounded by the size of their own unknown: a pressure of 2e5 Pa beside a displacement of 1e-6 m is one, a displacement of 2e5 m is not.
func TestCheckInputsByUnknown(t *testing.T) {
	p, g := onGrid(t, `name: pair
unknown: [w, q]
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: periodic}
terms: {w_t: {of: w, axis: t, derivative: 1}, q_t: {of: q, axis: t, derivative: 1}}
residual:
  motion: {expression: w_t}
  balance: {expression: q_t}
conditions:
  start_w: {at: {t: low}, expression: w - w0}
  start_q: {at: {t: low}, expression: q - q0}
initial:
  w: {distribution: random-series, series: periodic, scale: 1e-6}
  q: {distribution: random-series, series: periodic, scale: 2e5}
`)
	spec := &model.Spec{Network: model.NetworkSpec{NetworkShared: model.NetworkShared{InitialScale: 1e-6, Scales: map[string]float64{"q": 2e5}}}}
	r := &Run{Problem: p, Spec: spec}
	for _, c := range []struct {
		w, q float64
		want string
	}{
		{1e-6, 2e5, ""},
		{1e-6, 3e9, "values of q0 range from 3e+09 to 3e+09"},
		{2e5, 2e5, "values of w0 range from 2e+05 to 2e+05"},
	} {
		sample := slices.Concat(slices.Repeat([]float64{c.w}, 8), slices.Repeat([]float64{c.q}, 8))
		err := r.checkInputs([][]float64{sample}, g, &PredictOptions{Name: "u0.npz"})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("w %g, q %g: %v; want %q", c.w, c.q, err, c.want)
		}
	}
}

// A file says where its points are, by arrays with the names of axes; where it does not, both ends of a periodic axis are told by their values.
func TestReadInputsCoordinates(t *testing.T) {
	p, g := onGrid(t, `name: heat
unknown: u
axes:
  t: {range: [0, 1], points: 5, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: periodic}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t - u_xx}
conditions:
  start: {at: {t: low}, expression: u - u0}
initial: {distribution: random-sines, low: -1, high: 1}
`)
	for name, c := range map[string]struct {
		x     func(i int) float64
		error string
		twice bool
	}{
		"its own":  {func(i int) float64 { return float64(i) / 8 }, "", false},
		"both":     {func(i int) float64 { return float64(i) / 7 }, "point 1 of axis x is at 0.142857", true},
		"reversed": {func(i int) float64 { return float64(7-i) / 8 }, "point 0 of axis x is at 0.875", false},
		"shifted":  {func(i int) float64 { return float64(i)/8 - 0.5 }, "point 0 of axis x is at -0.5", false},
	} {
		u, x := make([]float64, 8), make([]float64, 8)
		for i := range x {
			x[i] = c.x(i)
			u[i] = math.Sin(2*math.Pi*x[i]) + math.Cos(4*math.Pi*x[i])
		}
		path := filepath.Join(t.TempDir(), "u0.npz")
		if err := data.WriteNPZ(path, []data.Named{{Name: "u0", Array: data.NewArray([]int{8}, u)}, {Name: "x", Array: data.NewArray([]int{8}, x)}}); err != nil {
			t.Fatal(err)
		}
		_, err := ReadInputs(path, p, g)
		if c.error == "" && err != nil || c.error != "" && (err == nil || !strings.Contains(err.Error(), c.error)) {
			t.Errorf("%s: %v, want %q", name, err, c.error)
		}
		if got := endsTwice(p, g, [][]float64{u}); (got != "") != c.twice {
			t.Errorf("%s: %q", name, got)
		}
		if got := (&InvertOptions{Initial: "u0.npz"}).remarks(p, g, [][]float64{u}, nil); c.twice != (len(got) == 1 && strings.HasPrefix(got[0], "u0.npz: u0 has the same values")) {
			t.Errorf("%s: an inversion says %q", name, got)
		}
	}
	if got := endsTwice(p, g, [][]float64{make([]float64, 8)}); got != "" {
		t.Errorf("a constant: %q", got)
	}
	all := []float64{0, 0.25, 0.5, 0.75, 1}
	for _, c := range []struct {
		array string
		times []float64
		error string
	}{
		{"u", []float64{0}, ""},
		{"u", []float64{0.7}, "its values are at t = 0.7; an initial condition is at t = 0"},
		{"initial", []float64{0.7}, "its values are at t = 0.7"},
		{"u", all, "its values are at 5 points of t: a solution"},
		{"initial", all, ""}, // of five samples, beside the times of their solutions
		{"u", all[:3], ""},
	} {
		path := filepath.Join(t.TempDir(), "u0.npz")
		if err := data.WriteNPZ(path, []data.Named{
			{Name: c.array, Array: data.NewArray([]int{5, 8}, make([]float64, 40))}, {Name: "t", Array: data.NewArray([]int{len(c.times)}, c.times)},
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadInputs(path, p, g); c.error == "" && err != nil || c.error != "" && (err == nil || !strings.Contains(err.Error(), c.error)) {
			t.Errorf("%s at t = %v: %v, want %q", c.array, c.times, err, c.error)
		}
	}
}
