package pde

import (
	"math"
	"strings"
	"testing"
)

// A mean that solutions keep is told from one that they do not, and only where the ansatz keeps it too.
func TestKeepsMean(t *testing.T) {
	const begin = `name: means
unknown: u
axes: {t: {range: [0, 1], points: 17, boundary: nodes}, x: {range: [0, 2], points: 32, boundary: periodic}}
terms:
  u_t: {axis: t, derivative: 1}
  u_tt: {axis: t, derivative: 2}
  u_x: {axis: x, derivative: 1, order: 4}
  u_xx: {axis: x, derivative: 2}
  u_xxx: {spectral: derivative, axis: x, derivative: 3}
  v: {flux: "2 + sin(u0)", axis: x}
constants: {pi: 3.141592653589793}
`
	const first = `conditions: {start: {kind: initial, at: {t: low}, expression: u - u0}}
initial: {distribution: random-sines, low: -1, high: 1}
`
	const second = `conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
  rate: {kind: initial, at: {t: low}, expression: u_t - 0.1}
initial: {distribution: random-sines, low: -1, high: 1}
`
	for _, x := range []struct {
		name, rest string
		want       string // the weight, 1 of alike ones, nothing where no mean is kept
	}{
		{"Korteweg-de Vries", first + `residual: {expression: u_t + 6*u*u_x + u_xxx}
ansatz: {offset: u0, multiplier: t}`, "1"},
		{"the same, by Duhamel's formula", first + `residual: {expression: u_t + 6*u*u_x + u_xxx}
ansatz: {offset: u0, duhamel: true}`, "1"},
		{"advection, which Duhamel's formula solves", first + `residual: {expression: u_t + u_x}
ansatz: {offset: u0, duhamel: true}`, ""},
		{"Fisher", first + `residual: {expression: u_t - u_xx - u*(1 - u)}
ansatz: {offset: u0, multiplier: t}`, ""},
		{"a flux with a drawn coefficient", first + `residual: {expression: 3*u_t - v}
ansatz: {offset: u0, multiplier: t}`, "1"},
		{"speed that depends on place", second + `residual: {expression: u_tt - (1 + 0.5*sin(pi*x))*u_xx}
ansatz: {offset: "u0 + 0.1*t", multiplier: "t^2"}`, "1/(1 + 0.5*sin(3.141592653589793*x))"},
		{"the same by Duhamel's formula", second + `residual: {expression: u_tt - (1 + 0.5*sin(pi*x))*u_xx}
ansatz: {offset: "u0 + 0.1*t", duhamel: true}`, "1/(1 + 0.5*sin(3.141592653589793*x))"},
		{"capacity that depends on place", first + `residual: {expression: (2 + sin(pi*x))*u_t - v}
ansatz: {offset: u0, multiplier: t}`, "2 + sin(3.141592653589793*x)"},
		{"speed that changes its sign", first + `residual: {expression: u_t - sin(pi*x)*u_x}
ansatz: {offset: u0, multiplier: t}`, ""},
		{"waves", second + `residual: {expression: u_tt - u_xx}
ansatz: {offset: "u0 + 0.1*t", multiplier: "t^2"}`, "1"},
		{"waves whose rate at the start is a row", second + `residual: {expression: u_tt - u_xx}
ansatz: {offset: u0, multiplier: t}`, ""},
		{"waves by Duhamel's formula", second + `residual: {expression: u_tt - u_xx + u_x*u_xx}
ansatz: {offset: "u0 + 0.1*t", duhamel: true}`, "1"},
		{"an offset that goes elsewhere", second + `residual: {expression: u_tt - u_xx}
ansatz: {offset: "u0 + 0.1*t^2", multiplier: "t^2"}`, ""},
		{"damped waves", second + `residual: {expression: u_tt + u_t - u_xx}
ansatz: {offset: "u0 + 0.1*t", multiplier: "t^2"}`, ""},
		{"a start that is a row", first + `residual: {expression: u_t - u_xx}`, ""},
		{"a weight", first + `residual: {expression: u_t - u_xx}
residual_weight: "1 + t"
ansatz: {offset: u0, multiplier: t}`, ""},
	} {
		p, err := Load("means.yaml", []byte(begin+x.rest))
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		weight, keeps, err := p.KeepsMean(0)
		got := ""
		switch {
		case keeps && weight != nil:
			got = weight.String()
		case keeps:
			got = "1"
		}
		if got != x.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", x.name, got, err, x.want)
		}
	}
}

// The offset by Duhamel's formula keeps the weighted mean that it begins with, and goes on at its rate; HoldMeans leaves nothing that changes it.
func TestMeanWeights(t *testing.T) {
	const waves = `name: waves
unknown: [u, v]
axes: {t: {range: [1, 3], points: 9, boundary: nodes}, x: {range: [0, 2], points: 16, boundary: periodic}}
constants: {pi: 3.141592653589793}
terms:
  u_tt: {of: u, axis: t, derivative: 2}
  u_xx: {of: u, axis: x, derivative: 2}
  v_t: {of: v, axis: t, derivative: 1}
  v_xx: {of: v, axis: x, derivative: 2}
residual:
  waves: {expression: u_tt - (1 + 0.5*sin(pi*x))*u_xx}
  heat: {expression: v_t - 0.1*v_xx}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
  begin: {kind: initial, at: {t: low}, expression: v - v0}
initial:
  u: {distribution: random-sines, low: -1, high: 1}
  v: {distribution: random-sines, low: -1, high: 1}
`
	const weight = "1/(1 + 0.5*sin(3.141592653589793*x))"
	p, err := Load("waves.yaml", []byte(waves+"ansatz: {u: {offset: u0 + (0.3 + u0)*(t - 1), duhamel: true, projection: remove-mean, mean_weight: "+weight+"}, v: {offset: v0, duhamel: true}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := discretize(t, p, nil)
	n, times := s.SliceSize(), s.Grid.Axes[0].Points
	inputs, w, sum := make([]float64, s.InputSize()), make([]float64, n), 0.0
	for q := range inputs {
		inputs[q] = math.Cos(float64(3 + q*q))
	}
	for q := range w {
		w[q] = 1 / (1 + 0.5*math.Sin(math.Pi*s.Grid.Axes[1].Coordinate(q)))
		sum += w[q]
	}
	mean := func(slice []float64) (m float64) {
		for q, v := range slice {
			m += w[q] * v / sum
		}
		return m
	}
	field := make([]float64, s.FieldSize())
	s.Offset(field, inputs)
	begin := mean(inputs[:n])
	for i := range times {
		since := s.Grid.Axes[0].Coordinate(i) - 1
		if got, want := mean(field[i*n:(i+1)*n]), begin+(0.3+begin)*since; math.Abs(got-want) > 1e-12 {
			t.Errorf("time %d: mean %g, want %g", i, got, want)
		}
	}
	first := field[:n]
	if math.Abs(first[3]-inputs[3]) > 1e-12 {
		t.Errorf("it begins with %g, want %g", first[3], inputs[3])
	}
	for q := range field {
		field[q] = math.Sin(float64(q * q))
	}
	other := append([]float64(nil), field[times*n:]...)
	s.HoldMeans(field)
	for i := range times {
		if got := mean(field[i*n : (i+1)*n]); math.Abs(got) > 1e-12 {
			t.Errorf("time %d: HoldMeans leaves %g", i, got)
		}
	}
	for q, v := range other {
		if field[times*n+q] != v {
			t.Fatalf("HoldMeans changes v")
		}
	}
	for _, x := range []struct{ ansatz, want string }{
		{"{offset: u0, multiplier: (t - 1)^2, mean_weight: 1 + x}", "mean_weight: want projection: remove-mean"},
		{"{offset: u0, multiplier: (t - 1)^2, projection: remove-mean, mean_weight: 1 + t}", "mean_weight: contains t"},
	} {
		if _, err := Load("waves.yaml", []byte(waves+"ansatz: {u: "+x.ansatz+"}\n")); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v; want %q", x.ansatz, err, x.want)
		}
	}
	p, err = Load("waves.yaml", []byte(waves+"ansatz: {u: {offset: u0, multiplier: (t - 1)^2, projection: remove-mean, mean_weight: x - 1}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Discretize(g); err == nil || !strings.Contains(err.Error(), "mean_weight of u: -1 at x = 0: want a positive number") {
		t.Error(err)
	}
}
