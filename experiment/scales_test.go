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

// Solutions near 20, where rows that are linear about zero are e^20 times as steep.
func TestLineariseAbout(t *testing.T) {
	const text = `name: electrode
unknown: u
time: none
axes:
  y: {range: [0, 1], points: 7, boundary: periodic}
  x: {range: [0, 1], points: 9, boundary: nodes}
inputs:
  f: {distribution: uniform, low: 0.9, high: 1.1}
terms:
  u_x: {axis: x, derivative: 1}
  u_xx: {axis: x, derivative: 2}
  u_yy: {axis: y, derivative: 2}
residual: {expression: u_xx + u_yy}
conditions:
  metal: {at: {x: low}, expression: u_x + exp(20 - u) - f}
  far: {at: {x: high}, expression: u_x}
reference: {solver: discrete}
ansatz: {duhamel: rows}
`
	for _, c := range []struct{ expression, want string }{
		{"u_x + exp(20 - u) - f", "{offset: 20, duhamel: rows}"},
		{"u_x - (u - 20) + f", "{duhamel: rows}"},           // linear
		{"u_x - (u + u^3) + 10*(f - 1)", "{duhamel: rows}"}, // about zero
	} {
		d := &draft{src: []byte(strings.Replace(text, "u_x + exp(20 - u) - f", c.expression, 1)), file: "electrode.yaml", added: []string{"added ansatz: {duhamel: rows}: meets far exactly"}}
		if d.p = loadSound(d.file, d.src); d.p == nil {
			t.Fatalf("%s does not load", c.expression)
		}
		if err := d.lineariseAbout(t.Context(), &SizeOptions{}); err != nil || !strings.Contains(string(d.src), "ansatz: "+c.want) || !strings.HasPrefix(d.added[0], "added ansatz: "+c.want) {
			t.Errorf("%s: %v, %q in\n%s", c.expression, err, d.added, d.src)
		}
	}
}
