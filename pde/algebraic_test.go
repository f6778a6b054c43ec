package pde

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pihc/internal/check"
)

const standing = `
name: standing
unknown: [u, lambda]
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 9, boundary: nodes}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2}
  lambda_x: {of: lambda, axis: x, derivative: 1}
residual:
  heat: {expression: "(%s)*(u_t - u_xx) - 1"}
  constant: {expression: lambda_x, rows: {x: [1, 0]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u}
  left: {at: {x: low}, expression: u}
  right: {at: {x: high}, expression: u}
  of: {at: {x: low}, expression: "%s"}
ansatz: {u: {duhamel: rows}, lambda: {duhamel: rows}}
`

// An equation that is multiplied by what begins with zero has no linear part there that moves: it is no Radau step's, and said so. What no condition gives the beginning of
// begins with what solves its own rows, where Newton's method finds that from zero.
func TestSteppedStanding(t *testing.T) {
	const stands = "heat: where fields begin, its linear part has no derivative in time"
	for _, c := range []struct{ factor, wall, want string }{
		{"1 + lambda", "lambda - 2", ""},
		{"lambda^2", "lambda - 2", ""},
		{"lambda^2", "lambda^3 + lambda - 10", ""},
		{"lambda^2", "lambda^2 - 4", stands},
		{"u^2*lambda", "lambda - 2", stands},
	} {
		s, rows := stepped(t, fmt.Sprintf(standing, c.factor, c.wall))
		want := c.want
		if _, err := rows.For(make([]float64, s.InputSize())); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s, %s: %v, want %q", c.factor, c.wall, err, want)
		}
		if want == "" {
			check.Close(t, rows.base[s.Grid.Size():], slices.Repeat([]float64{2}, s.Grid.Size()), 1e-12, 0)
		}
	}
}

// What is zero at a wall, but for rounding, does not keep Newton's method from its end: the integral of a thermistor's heating, and all of it, which divides.
func TestSteppedIntegral(t *testing.T) {
	s, rows := stepped(t, `
name: thermistor
unknown: [u, Q, J]
axes:
  t: {range: [0, 0.5], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 41, boundary: nodes}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2}
  Q_x: {of: Q, axis: x, derivative: 1}
  J_x: {of: J, axis: x, derivative: 1}
residual:
  heat: {expression: "J^2*(u_t - u_xx) - exp(-u)"}
  integral: {expression: Q_x - exp(-u), rows: {x: [1, 0]}}
  constant: {expression: J_x, rows: {x: [1, 0]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
  left: {at: {x: low}, expression: u}
  right: {at: {x: high}, expression: u}
  from: {at: {x: low}, expression: Q}
  all: {at: {x: high}, expression: Q - J}
ansatz: {u: {offset: u0, duhamel: rows}, Q: {duhamel: rows}, J: {duhamel: rows}}
`)
	sample := slices.Repeat([]float64{3}, s.InputSize())
	if _, err := rows.For(sample); err != nil {
		t.Fatal(err)
	}
	n := s.Grid.Size()
	check.Close(t, rows.base[2*n:], slices.Repeat([]float64{math.Exp(-3)}, n), 1e-10, 0)
	check.Close(t, rows.base[n+40:n+41], []float64{math.Exp(-3)}, 1e-10, 0)
}
