package pde

import "testing"

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
