package pde

import (
	"fmt"
	"strings"
	"testing"
)

// The ansatz that meets conditions at the ends of axes, by their form.
func TestExactAnsatz(t *testing.T) {
	const time = `
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
	const walls = `
name: a
unknown: [u, v]
time: none
axes:
  y: {range: %s, points: 9, boundary: nodes}
  x: {range: [0, 1], points: 12, boundary: nodes}
  z: {range: [0, 1], points: 12, boundary: cells}
inputs:
  f: {distribution: random-series, series: sine, axes: [x]}
  g: {distribution: random-series, series: sine, axes: [y]}
  q: {distribution: uniform, low: 1, high: 2}
terms:
  u_x: {of: u, axis: x, derivative: 1}
  u_y: {of: u, axis: y, derivative: 1}
  west1: {of: u, axis: x, edge: low, at: wall, derivative: 1, points: 3}
  east1: {of: u, axis: x, edge: high, at: inner, derivative: 1, points: 3}
  west2: {of: u, axis: x, edge: low, at: wall, derivative: 2, points: 4}
  far: {of: u, axis: z, edge: high, at: wall, points: 3}
  near: {of: u, axis: z, edge: low, at: ghost, points: 3}
residual: {r: {expression: u_x + u - q}, s: {expression: v + u}}
conditions:
%s
`
	at := func(conditions ...string) string {
		out := ""
		for i, c := range conditions {
			where, e := c[:strings.LastIndex(c, ": ")], c[strings.LastIndex(c, ": ")+2:]
			axis, end, _ := strings.Cut(where, " ")
			end, rest, _ := strings.Cut(end, ", ")
			if rest != "" {
				rest = ", " + rest
			}
			out += fmt.Sprintf("  %c: {at: {%s: %s}%s, expression: %s}\n", 'A'+i, axis, end, rest, e)
		}
		return out
	}
	const unit = "[0, 1]"
	for _, test := range []struct{ name, file, span, conditions, offset, multiplier, met string }{
		{"initial", time, unit, at("t low: u - u0"), "u0", "t", "A"},
		{"scaled, an expression, a range", time, "[1, 5]", at("t low: 3*(start - u)"), "0.5 + 2*u0", "(-1 + t)/4", "A"},
		{"at rest", time, "[0, 2]", at("t low: u - u0", "t low: 2*rate"), "u0", "(t/2)^2", "A B"},
		{"moving", time, "[0, 2]", at("t low: u - u0", "t low: rate - u0"), "u0 + u0*t", "(t/2)^2", "A B"},
		{"moving, on a range", time, "[1, 3]", at("t low: u - u0", "t low: 2*u_t + 4*x"), "u0 + -2*(x*(-1 + t))", "((-1 + t)/2)^2", "A B"},
		{"rates that follow from another term", time, unit, at("t low: u - u0", "t low: rate - ghost"), "u0", "t", "A"},
		{"rates that follow from the field", time, unit, at("t low: u - u0", "t low: rate - u"), "u0", "t", "A"},
		{"both ends", time, unit, at("t low: u - u0", "t high: last - 2"), "u0*(1 - t) + 2*t", "4*(t*(1 - t))", "A B"},
		{"another end", time, unit, at("t low: u - u0", "t high: ghost"), "u0", "t", "A"},
		{"not linear", time, unit, at("t low: u^2 - u0"), "", "", ""},
		{"the last time alone", time, unit, at("t high: u - u0"), "u0", "1 - t", "A"},
		{"the last time, where the first is another", time, unit, at("t high: u - u0", "t low: u^2 - u0"), "", "", ""},

		{"four walls", walls, unit, at("y low: u", "y high: u", "x low: u", "x high: u"), "0", "16*(y*(1 - y)*x*(1 - x))", "A B C D"},
		{"one", walls, "[1, 3]", at("y high: u - q"), "q", "(3 - y)/2", "A"},
		{"sides that differ", walls, unit, at("x low: u", "x high: u_x"), "0", "x", "A"},
		{"equal values", walls, unit, at("x low: u - 1", "x high: 2 - 2*u", "y low: u - 1"), "1", "4*(y*x*(1 - x))", "C A B"},
		{"of the coordinates", walls, unit, at("y low: u - x", "y high: u - x", "x low: u", "x high: u - 1"), "x", "16*(y*(1 - y)*x*(1 - x))", "A B C D"},
		{"drawn along a wall", walls, unit, at("y low: u - f", "x low: u"), "f", "y*x", "A B"},
		{"drawn along both", walls, unit, at("y low: u - f", "x low: u - g"), "f + g", "y*x", "A B"},
		{"clamped", walls, unit, at("x low: u", "x low: west1", "x high: east1", "x high: u"), "0", "16*(x^2*(1 - x)^2)", "A B D C"},
		{"clamped and held", walls, unit, at("x low: u", "x low: west1", "x high: u"), "0", "6.75*(x^2*(1 - x))", "A B C"},
		{"a slope", walls, unit, at("x low: u - 1", "x low: west1 - q"), "1 + q*x", "x^2", "A B"},
		{"simply supported", walls, unit, at("x low: u", "x low: west2", "x high: u"), "0", "4*(x*(1 - x))", "A C"},
		{"three derivatives", walls, unit, at("x low: u", "x low: west2", "x low: west1"), "0", "x^3", "A C B"},
		{"without flux", walls, unit, at("x low: west1"), "", "", ""},
		{"a slope and a value", walls, unit, at("x low: u + west1"), "", "", ""},
		{"the slope along a wall", walls, unit, at("x low: u_y"), "", "", ""},
		{"two unknowns at once", walls, unit, at("x low: u - v"), "", "", ""},
		{"another unknown", walls, unit, at("x low: v"), "", "", ""},
		{"a part of a wall", walls, unit, at("x low, rows: {y: [4, 0]}: u", "x high, rows: {y: [1, 1]}: u"), "0", "1 - x", "B"},
		{"a weight that jumps", walls, unit, at("x low, weight: y > 0.5: u"), "", "", ""},
		{"centres of cells", walls, unit, at("z low: u"), "", "", ""},
		{"walls of cells", walls, unit, at("z high: far", "z low: near"), "0", "1 - z", "A"},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := fmt.Sprintf(test.file, test.span, test.conditions)
			p, err := Load("a.yaml", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			a, met := p.ExactAnsatz(0, nil, nil)
			offset, multiplier := "", ""
			if len(met) > 0 {
				offset, multiplier = a.Offset.String(), a.Multiplier.String()
			}
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
			if _, met := again.ExactAnsatz(0, nil, nil); len(met) > 0 {
				t.Error("an ansatz that is there is replaced")
			}
		})
	}
}

// Of several choices the one with the most conditions that holds.
func TestExactAnsatzChoices(t *testing.T) {
	p, err := Load("a.yaml", []byte(`
name: a
unknown: u
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 12, boundary: nodes}
terms:
  u_t: {axis: t, derivative: 1}
  u_x: {axis: x, derivative: 1}
residual: {expression: u_t - u_x}
conditions:
  start: {at: {t: low}, expression: u - u0}
  left: {at: {x: low}, expression: u - t}
  slope: {at: {x: low}, expression: u_x}
  right: {at: {x: high}, expression: u}
`))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	if _, met := p.ExactAnsatz(0, nil, func(a Ansatz, met []string) bool {
		seen = append(seen, strings.Join(met, " "))
		return false
	}); met != nil {
		t.Error("met", met)
	}
	const want = "start left slope right|start left slope|start left right|start left|start right|start"
	if got := strings.Join(seen, "|"); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// Along time S takes the place of the multiplier where conditions give the value and the rate, and nothing where they give less.
func TestExactAnsatzIntegrated(t *testing.T) {
	for _, test := range []struct{ velocity, want string }{
		{"  velocity: {at: {t: low}, expression: rate - w0}\n", `u0 + w0*(-0.5 + t) | 4*(x*(1 - x)) | map[t:1.5] | initial velocity left right`},
		{"", `u0 | 4*((-0.5 + t)/1.5*x*(1 - x)) | map[] | initial left right`},
	} {
		p, err := Load("a.yaml", []byte(`
name: a
unknown: u
axes:
  t: {range: [0.5, 2], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 12, boundary: nodes}
inputs: {w0: {distribution: random-sines, low: -1, high: 1}}
terms:
  u_tt: {axis: t, derivative: 2}
  rate: {axis: t, edge: low, at: inner, derivative: 1, points: 3}
  u_xx: {axis: x, derivative: 2}
residual: {expression: u_tt - u_xx + w0}
conditions:
  initial: {at: {t: low}, expression: u - u0}
`+test.velocity+`  left: {at: {x: low}, expression: u}
  right: {at: {x: high}, expression: u}
`))
		if err != nil {
			t.Fatal(err)
		}
		a, met := p.ExactAnsatz(0, map[string]float64{"t": 1.5}, nil)
		if got := fmt.Sprint(a.Offset, " | ", a.Multiplier, " | ", a.Smooth, " | ", strings.Join(met, " ")); got != test.want {
			t.Errorf("%s; want %s", got, test.want)
		}
	}
}
