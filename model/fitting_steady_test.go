package model

import (
	"fmt"
	"testing"

	"pihc/pde"
)

// smoothLengths are those of the first unknown of a PDE file.
func smoothLengths(t *testing.T, file string) string {
	t.Helper()
	p, err := pde.Load("a.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	lengths, err := SmoothLengths(p)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(lengths[0])
}

// Lengths of S of a steady problem are 0.4 over its lowest wave number, by the walls, drift and a reaction, in proportion to the root of the coefficient along
// each axis; there are none of solutions with kinks, and none along axes without a second derivative.
func TestSmoothLengthsSteady(t *testing.T) {
	const plate = `
name: plate
time: none
axes: {y: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 2], points: 9, boundary: nodes}}
inputs: {k: {distribution: random-series, series: free, %s}}
unknown: u
terms: {flow_x: {flux: k, axis: x}, flow_y: {flux: k, axis: y}, u_xx: {axis: x, derivative: 2}, u_yy: {axis: y, derivative: 2}, u_x: {axis: x, derivative: 1}, u_y: {axis: y, derivative: 1}}
residual: {expression: "%s + 1"}
conditions:
  west: {at: {x: low}, expression: %s}
  east: {at: {x: high}, expression: u_x}
  south: {at: {y: low}, expression: u_y}
  north: {at: {y: high}, expression: u_y}
`
	for _, test := range []struct{ input, residual, west, want string }{
		// k² = (π/(2·2))² by one end of x
		{"scale: 1", "u_xx + u_yy", "u", "map[x:0.51 y:0.51]"},
		{"scale: 1", "u_xx + 4*u_yy", "u", "map[x:0.51 y:1]"},
		// an end in air fixes half as much: π/(2·2)/2
		{"scale: 1", "u_xx + u_yy", "u_x - 0.5*u", "map[x:1 y:1]"},
		// one end of each axis, where none fixes values
		{"scale: 1", "u_xx + u_yy", "u_x", "map[x:0.23 y:0.23]"},
		// a reaction and a drift: 100 + 10²/4
		{"scale: 1", "u_xx + u_yy - 100*u + 10*u_x", "u", "map[x:0.036 y:0.036]"},
		{"offset: 2, scale: 0.01", "flow_x + flow_y", "u", "map[x:0.51 y:0.51]"},
		{"levels: [1, 3]", "flow_x + flow_y", "u", "map[]"},
		{"scale: 1", "u_xx + where(y > 0.5, 2, 1)*u_yy", "u", "map[]"},
		{"levels: [1, 3]", "u_xx + u_yy + k", "u", "map[x:0.51 y:0.51]"},
		{"scale: 1", "u_xx + u_y", "u", "map[x:0.51]"},
	} {
		if got := smoothLengths(t, fmt.Sprintf(plate, test.input, test.residual, test.west)); got != test.want {
			t.Errorf("%s of k with %s: %s, want %s", test.residual, test.input, got, test.want)
		}
	}
}
