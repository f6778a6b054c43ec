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
		want       bool
	}{
		{"Korteweg-de Vries", first + `residual: {expression: u_t + 6*u*u_x + u_xxx}
ansatz: {offset: u0, multiplier: t}`, true},
		{"the same, by Duhamel's formula", first + `residual: {expression: u_t + 6*u*u_x + u_xxx}
ansatz: {offset: u0, duhamel: true}`, true},
		{"advection, which Duhamel's formula solves", first + `residual: {expression: u_t + u_x}
ansatz: {offset: u0, duhamel: true}`, false},
		{"Fisher", first + `residual: {expression: u_t - u_xx - u*(1 - u)}
ansatz: {offset: u0, multiplier: t}`, false},
		{"a flux with a drawn coefficient", first + `residual: {expression: 3*u_t - v}
ansatz: {offset: u0, multiplier: t}`, true},
		{"speed that depends on place", second + `residual: {expression: u_tt - (1 + 0.5*sin(pi*x))*u_xx}
ansatz: {offset: "u0 + 0.1*t", multiplier: "t^2"}`, false},
		{"waves", second + `residual: {expression: u_tt - u_xx}
ansatz: {offset: "u0 + 0.1*t", multiplier: "t^2"}`, true},
		{"waves whose rate at the start is a row", second + `residual: {expression: u_tt - u_xx}
ansatz: {offset: u0, multiplier: t}`, false},
		{"waves by Duhamel's formula", second + `residual: {expression: u_tt - u_xx + u_x*u_xx}
ansatz: {offset: "u0 + 0.1*t", duhamel: true}`, true},
		{"an offset that goes elsewhere", second + `residual: {expression: u_tt - u_xx}
ansatz: {offset: "u0 + 0.1*t^2", multiplier: "t^2"}`, false},
		{"damped waves", second + `residual: {expression: u_tt + u_t - u_xx}
ansatz: {offset: "u0 + 0.1*t", multiplier: "t^2"}`, false},
		{"a start that is a row", first + `residual: {expression: u_t - u_xx}`, false},
		{"a weight", first + `residual: {expression: u_t - u_xx}
residual_weight: "1 + t"
ansatz: {offset: u0, multiplier: t}`, false},
	} {
		p, err := Load("means.yaml", []byte(begin+x.rest))
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		if got, err := p.KeepsMean(0); got != x.want || err != nil {
			t.Errorf("%s: %v, %v; want %v", x.name, got, err, x.want)
		}
	}
}
