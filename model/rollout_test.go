package model

import (
	"fmt"
	"strings"
	"testing"

	"pihc/pde"
)

// How many segments init chooses: by the steps of the grid, with several passes alone, and of second order in time where the basis is
// integrated along it.
func TestFittingSegments(t *testing.T) {
	const file = `
name: transport
unknown: u
axes:
  t: {range: [0, 1], points: %d, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
terms:
  rate: {axis: t, derivative: %d, order: 2}
  start: {axis: t, edge: low, at: inner, derivative: 1, points: 3}
  u_x: {axis: x, derivative: %[2]d, order: 2}
residual: {expression: rate - u_x}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
  %s
initial: {distribution: random-sines, low: -1, high: 1}
`
	for _, test := range []struct {
		points, order, passes, want int
		basis                       string
	}{
		{41, -2, 4, 4, "smooth: {t: 1}"},
		{41, -2, 4, 4, "duhamel: true"},
		{33, 1, 4, 4, ""},
		{41, 1, 2, 4, ""},
		{51, 1, 4, 5, ""},
		{28, 1, 4, 3, ""},
		{19, 1, 4, 2, ""},
		{17, 1, 4, 2, ""},
		{16, 1, 4, 1, ""},
		{32, 1, 4, 1, ""},
		{41, 1, 1, 1, ""},
		{41, 2, 4, 1, ""},
	} {
		velocity := ""
		if test.order < 0 {
			velocity, test.order = "rest: {kind: initial, at: {t: low}, expression: start}\nansatz: {offset: u0, "+test.basis+"}", -test.order
		} else if test.order == 2 {
			velocity = "rest: {kind: initial, at: {t: low}, expression: start}"
		}
		p, err := pde.Load("a.yaml", fmt.Appendf(nil, file, test.points, test.order, velocity))
		if err != nil {
			t.Fatal(err)
		}
		s, err := LoadSpec("s.yaml", []byte("problem: a.yaml\n"), fmt.Sprintf("network.passes=%d", test.passes))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.FittingSegments(p); got != test.want {
			t.Errorf("%+v: %d segments", test, got)
		}
	}
}

// The basis of an unknown of second order in time is integrated along it where segments fit, and not beside an axis of space that is to
// be smooth.
func TestSmoothLengths(t *testing.T) {
	const file = `
name: string
unknown: u
axes:
  t: {range: [0.5, 2], points: %d, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: nodes}
terms:
  rate: {axis: t, derivative: %d, order: 2}
  start: {axis: t, edge: low, at: inner, derivative: 1, points: 3}
  stiff: {axis: x, derivative: %d, order: 2}
  u_xx: {axis: x, derivative: 2, order: 2}
residual: {expression: rate + stiff, rows: {x: [2, 2]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
  left: {at: {x: low}, expression: u}
  right: {at: {x: high}, expression: u}
  bent: {at: {x: low}, expression: u_xx}
  bent_right: {at: {x: high}, expression: u_xx}
initial: {distribution: random-sines, low: -1, high: 1}
`
	for _, test := range []struct {
		points, order, stiff int
		want                 string
	}{
		{41, 2, 2, "map[t:1.5]"},
		{42, 2, 2, "map[]"},
		{41, 1, 2, "map[]"},
		{41, 2, 4, "map[x:"},
	} {
		if got := smoothLengths(t, fmt.Sprintf(file, test.points, test.order, test.stiff)); !strings.HasPrefix(got, test.want) || strings.Contains(got, "t:") != strings.Contains(test.want, "t:") {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
