package pde

import (
	"fmt"
	"testing"
)

// The ansatz that meets conditions at the ends of the first axis, by their form.
func TestExactAnsatz(t *testing.T) {
	const file = `
name: a
unknown: u
axes:
  t: {range: %s, points: 9, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
constants: {c: 2}
expressions: {start: 0.5 + c*u0}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
  rate: {axis: t, edge: low, at: inner, derivative: 1, points: 3}
  last: {axis: t, edge: high, at: inner, points: 1}
  ghost: {axis: t, edge: high, points: 2}
residual: {expression: u_t + u}
conditions:
%s
`
	for _, test := range []struct{ name, span, conditions, offset, multiplier string }{
		{"initial", "[0, 1]", "  a: {at: {t: low}, expression: u - u0}", "u0", "t"},
		{"scaled, an expression, a range", "[1, 5]", "  a: {at: {t: low}, expression: 3*(start - u)}", "0.5 + 2*u0", "(-1 + t)/4"},
		{"at rest", "[0, 2]", "  a: {at: {t: low}, expression: u - u0}\n  b: {at: {t: low}, expression: 2*rate}", "u0", "(t/2)^2"},
		{"moving", "[0, 2]", "  a: {at: {t: low}, expression: u - u0}\n  b: {at: {t: low}, expression: rate - u0}", "u0", "t/2"},
		{"both ends", "[0, 1]", "  a: {at: {t: low}, expression: u - u0}\n  b: {at: {t: high}, expression: last - 2}", "u0*(1 - t) + 2*t", "t*(1 - t)"},
		{"another end", "[0, 1]", "  a: {at: {t: low}, expression: u - u0}\n  b: {at: {t: high}, expression: ghost}", "u0", "t"},
		{"non-linear", "[0, 1]", "  a: {at: {t: low}, expression: u^2 - u0}", "", ""},
		{"a wall alone", "[0, 1]", "  a: {at: {t: high}, expression: u - u0}", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := fmt.Sprintf(file, test.span, test.conditions)
			p, err := Load("a.yaml", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			offset, multiplier, ok := p.ExactAnsatz(0)
			if offset != test.offset || multiplier != test.multiplier || ok != (test.offset != "") {
				t.Fatalf("%q, %q, %v; want %q, %q", offset, multiplier, ok, test.offset, test.multiplier)
			}
			if !ok {
				return
			}
			again, err := Load("a.yaml", fmt.Appendf([]byte(src), "ansatz: {offset: %q, multiplier: %q}\n", offset, multiplier))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, ok := again.ExactAnsatz(0); ok {
				t.Error("an ansatz that is there is replaced")
			}
		})
	}
}
