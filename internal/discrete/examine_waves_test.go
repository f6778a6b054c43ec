package discrete

import (
	"fmt"
	"strings"
	"testing"
)

// Where waves come in is known of acoustics in a flow: they run at the flow's speed plus and minus that of sound, which is 1.
func TestExamineWaves(t *testing.T) {
	const src = `unknown: [p, v]
axes: {t: {range: [0, 0.5], points: 9, boundary: nodes}, x: {range: [0, 1], points: 17, boundary: nodes}}
terms: {p_t: {of: p, axis: t, derivative: 1}, v_t: {of: v, axis: t, derivative: 1}, p_x: {of: p, axis: x, derivative: 1}, v_x: {of: v, axis: x, derivative: 1}}
residual: {one: {expression: "p_t + %[1]s*p_x + v_x"}, other: {expression: "v_t + %[1]s*v_x + p_x"}}
conditions: {a: {at: {t: low}, expression: p - p0}, b: {at: {t: low}, expression: v - v0}%[2]s}
initial: {p: {distribution: random-sines, low: 0, high: 1}, v: {distribution: random-sines, low: 0, high: 1}}
`
	const low, high, both, slope = ", c: {at: {x: low}, expression: p}", ", d: {at: {x: high}, expression: v}", ", c: {at: {x: low}, expression: p}, d: {at: {x: low}, expression: v}", ", e: {at: {x: high}, expression: p_x}"
	for _, c := range []struct {
		speed, conditions string
		want              []string
	}{
		{"0", low + high, nil},
		{"0.5", low + high, nil},
		{"0", both, []string{"2 conditions hold at x low, where 1 wave comes in", "no condition holds at x high, where 1 wave comes in"}},
		{"2", both, nil},
		{"2", low + high, []string{"1 condition holds at x low, where 2 waves come in", "1 condition holds at x high, where no wave comes in"}},
		{"2", both + slope, nil}, // a slope may stand for what leaves
		{"-2", both, []string{"2 conditions hold at x low, where no wave comes in", "no condition holds at x high, where 2 waves come in"}},
		{"1", low, nil}, // one stays where it is, the other wants its condition
	} {
		x := examine(t, loadSystem(t, fmt.Sprintf(src, c.speed, c.conditions)))
		said := strings.Join(x.Faults, "; ")
		if len(c.want) == 0 && strings.Contains(said, "wave") {
			t.Errorf("speed %s, %s: %q", c.speed, c.conditions, said)
		}
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("speed %s, %s: %q, want %q", c.speed, c.conditions, said, want)
			}
		}
	}
}

// A second derivative in time without a rate at the beginning is named, also where other rows make up for it in number.
func TestExamineRateForgotten(t *testing.T) {
	const src = `unknown: u
axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 9, boundary: nodes}}
terms: {u_tt: {axis: t, derivative: 2}, u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_tt - u_xx}
conditions: {a: {kind: initial, at: {t: low}, expression: u - u0}%s, l: {at: {x: low}, expression: u}, r: {at: {x: high}, expression: u}}
initial: {distribution: random-sines, low: 0, high: 1}
`
	for rate, want := range map[string]bool{"": true, ", b: {kind: initial, at: {t: low}, expression: u_t}": false} {
		x := examine(t, loadSystem(t, fmt.Sprintf(src, rate)))
		if got := strings.Contains(strings.Join(x.Faults, "; "), "u_tt needs two conditions at t low"); got != want {
			t.Errorf("%q: %q", rate, x.Faults)
		}
	}
	const other = `unknown: [u, v]
axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 9, boundary: nodes}}
terms: {u_tt: {of: u, axis: t, derivative: 2}, u_t: {of: u, axis: t, derivative: 1}, u_xx: {of: u, axis: x, derivative: 2}}
residual: {one: {expression: u_tt - u_xx}, two: {expression: v - u_t}}
conditions: {a: {kind: initial, at: {t: low}, expression: u - u0}, b: {kind: initial, at: {t: low}, expression: v - v0}, l: {at: {x: low}, expression: u}, r: {at: {x: high}, expression: u}}
initial: {u: {distribution: random-sines, low: 0, high: 1}, v: {distribution: random-sines, low: 0, high: 1}}
`
	if x := examine(t, loadSystem(t, other)); strings.Contains(strings.Join(x.Faults, "; "), "u_tt needs") {
		t.Errorf("with the rate as an unknown: %q", x.Faults)
	}
}
