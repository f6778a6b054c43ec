package experiment

import (
	"strings"
	"testing"

	"pihc/pde"
)

// Solutions u = f t that begin with zero, of stated samples with f = 1.5.
func TestMeasuredScales(t *testing.T) {
	const text = `name: growing
unknown: u
axes:
  t: {range: [0, 4], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
inputs:
  f: {distribution: uniform, low: 1, high: 2}
terms:
  u_t: {axis: t, derivative: 1}
residual: {expression: u_t - f}
conditions:
  start: {kind: initial, at: {t: low}, expression: u}
reference: {solver: discrete}
`
	const steady = `name: warm
unknown: u
time: none
axes:
  y: {range: [0, 1], points: 16, boundary: periodic}
  x: {range: [0, 1], points: 17, boundary: nodes}
inputs:
  f: {distribution: uniform, low: 1.4999, high: 1.5001}
terms:
  u_yy: {axis: y, derivative: 2}
  u_xx: {axis: x, derivative: 2}
residual: {expression: u_xx + u_yy + f}
conditions:
  west: {at: {x: low}, expression: u - 300}
  east: {at: {x: high}, expression: u - 300}
reference: {solver: discrete}
`
	near := strings.Replace(text, "expression: u}", "expression: u - u0}", 1) + "initial: {distribution: uniform-constant, low: LOW, high: HIGH}\n"
	for from, want := range map[string]string{
		steady: "initial_scale: 0.063, centers: {u: 300}", // 300 + f x (1 - x)/2
		text:   "initial_scale: 3.5",                      // the mean square of the times is 5.5
		strings.NewReplacer("LOW", "-1", "HIGH", "2").Replace(near):            "",                                      // drawn
		strings.NewReplacer("LOW", "299.999", "HIGH", "300.001").Replace(near): "initial_scale: 1.9, centers: {u: 303}", // about their mean
		strings.Replace(text, "expression: u}", "expression: u - 300}", 1):     "initial_scale: 1.9, centers: {u: 303}",
	} {
		p, err := pde.Load("growing.yaml", []byte(from))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := measuredScales(t.Context(), p, nil, &SizeOptions{}); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
}
