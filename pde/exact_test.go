package pde

import (
	"fmt"
	"strings"
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
	for _, test := range []struct{ name, span, conditions, offset, multiplier, met string }{
		{"initial", "[0, 1]", "  a: {at: {t: low}, expression: u - u0}", "u0", "t", "a"},
		{"scaled, an expression, a range", "[1, 5]", "  a: {at: {t: low}, expression: 3*(start - u)}", "0.5 + 2*u0", "(-1 + t)/4", "a"},
		{"at rest", "[0, 2]", "  a: {at: {t: low}, expression: u - u0}\n  b: {at: {t: low}, expression: 2*rate}", "u0", "(t/2)^2", "a b"},
		{"moving", "[0, 2]", "  a: {at: {t: low}, expression: u - u0}\n  b: {at: {t: low}, expression: rate - u0}", "u0 + u0*t", "(t/2)^2", "a b"},
		{"moving, on a range", "[1, 3]", "  a: {at: {t: low}, expression: u - u0}\n  b: {at: {t: low}, expression: 2*u_t + 4*x}", "u0 + -2*(x*(-1 + t))", "((-1 + t)/2)^2", "a b"},
		{"rates that follow from another term", "[0, 1]", "  a: {at: {t: low}, expression: u - u0}\n  b: {at: {t: low}, expression: rate - ghost}", "u0", "t", "a"},
		{"rates that follow from the field", "[0, 1]", "  a: {at: {t: low}, expression: u - u0}\n  b: {at: {t: low}, expression: rate - u}", "u0", "t", "a"},
		{"both ends", "[0, 1]", "  a: {at: {t: low}, expression: u - u0}\n  b: {at: {t: high}, expression: last - 2}", "u0*(1 - t) + 2*t", "t*(1 - t)", "a b"},
		{"another end", "[0, 1]", "  a: {at: {t: low}, expression: u - u0}\n  b: {at: {t: high}, expression: ghost}", "u0", "t", "a"},
		{"non-linear", "[0, 1]", "  a: {at: {t: low}, expression: u^2 - u0}", "", "", ""},
		{"a wall alone", "[0, 1]", "  a: {at: {t: high}, expression: u - u0}", "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := fmt.Sprintf(file, test.span, test.conditions)
			p, err := Load("a.yaml", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			offset, multiplier, met := p.ExactAnsatz(0)
			if offset != test.offset || multiplier != test.multiplier || strings.Join(met, " ") != test.met {
				t.Fatalf("%q, %q, %v; want %q, %q, %s", offset, multiplier, met, test.offset, test.multiplier, test.met)
			}
			if len(met) == 0 {
				return
			}
			again, err := Load("a.yaml", fmt.Appendf([]byte(src), "ansatz: {offset: %q, multiplier: %q}\n", offset, multiplier))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, met := again.ExactAnsatz(0); len(met) > 0 {
				t.Error("an ansatz that is there is replaced")
			}
		})
	}
}
