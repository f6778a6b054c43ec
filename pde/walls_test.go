package pde

import (
	"reflect"
	"strings"
	"testing"
)

// A residual leaves the ends of axes to the conditions of its own unknown, one point for each, where it does not say itself which rows it has.
func TestRowsAtWalls(t *testing.T) {
	type skip = map[string][2]int
	const line = "axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 12, boundary: nodes}}\n"
	const plate = "time: none\naxes: {y: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 12, boundary: nodes}}\ninputs: {f: {distribution: random-series, series: sine}}\n"
	const initial = "initial: {distribution: random-sines, low: 0, high: 1}\n"
	const heat = "unknown: u\nterms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}, r: {axis: x, edge: high, derivative: 1, at: wall, points: 3}}\n"
	const start = "a: {kind: initial, at: {t: low}, expression: u - u0}"
	for _, c := range []struct {
		name, src string
		want      []skip
	}{
		{"two walls", line + heat + "residual: {expression: u_t - u_xx}\nconditions: {" + start + ", b: {at: {x: low}, expression: u - t}, c: {at: {x: high}, expression: r + u}}\n" + initial, []skip{{"x": {1, 1}}}},
		{"the same on cells", strings.Replace(line, "points: 12, boundary: nodes", "points: 12, boundary: cells", 1) + heat + "residual: {expression: u_t - u_xx, rows: {t: [1, 0]}}\nconditions: {" + start + ", c: {at: {x: high}, expression: r + u}}\n" + initial, []skip{{"t": {1, 0}, "x": {0, 1}}}},
		{"stated", line + heat + "residual: {expression: u_t - u_xx, rows: {x: [0, 0]}}\nconditions: {" + start + ", b: {at: {x: low}, expression: u - t}}\n" + initial, []skip{{"x": {0, 0}}}},
		{"one condition, already room for it", line + strings.Replace(heat, "u_xx: {axis: x, derivative: 2}", "u_xx: {axis: x, derivative: 2, closure: undefined}", 1) + "residual: {expression: u_t - u_xx, rows: {x: [1, 1]}}\nconditions: {" + start + ", b: {at: {x: low}, expression: u - t}}\n" + initial, []skip{{"x": {1, 1}}}},
		{"a wall at a corner alone", line + heat + "residual: {expression: u_t - u_xx}\nconditions: {" + start + ", b: {at: {t: low, x: low}, expression: u}}\n" + initial, []skip{{}}},
		{"a beam", line + "unknown: u\nterms: {u_tt: {axis: t, derivative: 2}, u_4: {axis: x, derivative: 4}, l: {axis: x, edge: low, derivative: 2, at: wall, points: 5}, r: {axis: x, edge: high, derivative: 2, at: wall, points: 5}}\n" +
			"residual: {expression: u_tt + u_4}\nconditions: {" + start + ", b: {at: {x: low}, expression: u}, c: {at: {x: high}, expression: u}, d: {at: {x: low}, expression: l}, e: {at: {x: high}, expression: r}}\n" + initial, []skip{{"x": {2, 2}}}},
		{"two unknowns", line + "unknown: [p, v]\nterms: {p_t: {of: p, axis: t, derivative: 1}, v_t: {of: v, axis: t, derivative: 1}, p_x: {of: p, axis: x, derivative: 1}, v_x: {of: v, axis: x, derivative: 1}}\n" +
			"residual: {mass: {expression: p_t + v_x}, momentum: {expression: v_t + p_x}}\nconditions: {a: {kind: initial, at: {t: low}, expression: p - p0}, b: {kind: initial, at: {t: low}, expression: v - v0}, c: {at: {x: low}, expression: v}, d: {at: {x: high}, expression: p}}\n" +
			"initial: {p: {distribution: random-sines, low: 0, high: 1}, v: {distribution: random-sines, low: 0, high: 1}}\n", []skip{{"x": {0, 1}}, {"x": {1, 0}}}},
		{"a condition of two unknowns", line + "unknown: [p, v]\nterms: {p_t: {of: p, axis: t, derivative: 1}, v_t: {of: v, axis: t, derivative: 1}, p_x: {of: p, axis: x, derivative: 1}, v_x: {of: v, axis: x, derivative: 1}}\n" +
			"residual: {mass: {expression: p_t + v_x}, momentum: {expression: v_t + p_x}}\nconditions: {a: {kind: initial, at: {t: low}, expression: p - p0}, b: {kind: initial, at: {t: low}, expression: v - v0}, c: {at: {x: low}, expression: v + p}}\n" +
			"initial: {p: {distribution: random-sines, low: 0, high: 1}, v: {distribution: random-sines, low: 0, high: 1}}\n", []skip{{"x": {1, 0}}, {}}},
		{"an unknown that begins and one that ends", strings.Replace(line, "points: 12, boundary: nodes", "points: 12, boundary: periodic", 1) + "unknown: [n, u]\nterms: {n_t: {of: n, axis: t, derivative: 1}, u_t: {of: u, axis: t, derivative: 1}, n_xx: {of: n, axis: x, derivative: 2}, u_xx: {of: u, axis: x, derivative: 2}}\n" +
			"residual: {density: {expression: n_t - n_xx - u_xx}, value: {expression: -u_t - u_xx - n}}\nconditions: {a: {kind: initial, at: {t: low}, expression: n - n0}, b: {at: {t: high}, expression: u}}\n" +
			"initial: {n: {distribution: random-series, series: periodic}}\n", []skip{{"t": {1, 0}}, {"t": {0, 1}}}},
		{"four walls of a plate", plate + "unknown: u\nterms: {u_yy: {axis: y, derivative: 2}, u_xx: {axis: x, derivative: 2}}\nresidual: {expression: u_xx + u_yy - f}\n" +
			"conditions: {a: {at: {y: low}, expression: u}, b: {at: {y: high}, expression: u}, c: {at: {x: low}, expression: u}, d: {at: {x: high}, expression: u}}\n", []skip{{"x": {1, 1}, "y": {1, 1}}}},
		{"a potential beside its charge", line + "unknown: [n, f]\nterms: {n_t: {of: n, axis: t, derivative: 1}, n_xx: {of: n, axis: x, derivative: 2}, f_xx: {of: f, axis: x, derivative: 2}}\n" +
			"residual: {transport: {expression: n_t - n_xx + n*f}, poisson: {expression: f_xx + n}}\nconditions: {a: {kind: initial, at: {t: low}, expression: n - n0}, b: {at: {x: low}, expression: f}, c: {at: {x: high}, expression: f}, d: {at: {x: low}, expression: n}, e: {at: {x: high}, expression: n}}\n" +
			"initial: {n: {distribution: random-sines, low: 0, high: 1}}\n", []skip{{"x": {1, 1}}, {"x": {1, 1}}}},
		{"orders in time that differ, and a rate of another unknown", line + "unknown: [u, s]\nterms: {u_tt: {of: u, axis: t, derivative: 2}, u_xx: {of: u, axis: x, derivative: 2}, u_xt: {of: u, factors: [{axis: x, derivative: 1}, {axis: t, derivative: 1}]}, s_t: {of: s, axis: t, derivative: 1}, s_xx: {of: s, axis: x, derivative: 2}}\n" +
			"residual: {heat: {expression: s_t - s_xx + u_xt}, motion: {expression: u_tt - u_xx + s}}\nconditions: {a: {kind: initial, at: {t: low}, expression: u - u0}, b: {kind: initial, at: {t: low}, expression: s - s0}, c: {at: {x: low}, expression: u}, d: {at: {x: high}, expression: u}, e: {at: {x: low}, expression: s}}\n" +
			"initial: {u: {distribution: random-sines, low: 0, high: 1}, s: {distribution: random-sines, low: 0, high: 1}}\n", []skip{{"x": {1, 0}}, {"x": {1, 1}}}},
		{"a velocity that is named, without conditions of its own", line + "unknown: [u, v]\nterms: {u_t: {of: u, axis: t, derivative: 1}, v_t: {of: v, axis: t, derivative: 1}, u_xx: {of: u, axis: x, derivative: 2}}\n" +
			"residual: {rate: {expression: u_t - v}, motion: {expression: v_t - u_xx}}\nconditions: {a: {kind: initial, at: {t: low}, expression: u - u0}, b: {kind: initial, at: {t: low}, expression: v}, c: {at: {x: low}, expression: u}, d: {at: {x: high}, expression: u}}\n" +
			"initial: {u: {distribution: random-sines, low: 0, high: 1}}\n", []skip{{}, {"x": {1, 1}}}},
		{"a velocity with conditions", line + "unknown: [u, v]\nterms: {u_t: {of: u, axis: t, derivative: 1}, v_t: {of: v, axis: t, derivative: 1}, u_xx: {of: u, axis: x, derivative: 2}}\n" +
			"residual: {rate: {expression: u_t - v}, motion: {expression: v_t - u_xx}}\nconditions: {a: {kind: initial, at: {t: low}, expression: u - u0}, b: {kind: initial, at: {t: low}, expression: v}, c: {at: {x: low}, expression: u}, d: {at: {x: high}, expression: u}, e: {at: {x: low}, expression: v}}\n" +
			"initial: {u: {distribution: random-sines, low: 0, high: 1}}\n", []skip{{"x": {1, 0}}, {"x": {1, 1}}}},
		{"rates of both, of which one choice is left", line + "unknown: [u, s]\nterms: {u_t: {of: u, axis: t, derivative: 1}, s_t: {of: s, axis: t, derivative: 1}, s_xx: {of: s, axis: x, derivative: 2}, u_xx: {of: u, axis: x, derivative: 2}}\n" +
			"residual: {both: {expression: s_t + u_t - s_xx}, one: {expression: u_t - u_xx}}\nconditions: {a: {kind: initial, at: {t: low}, expression: u - u0}, b: {kind: initial, at: {t: low}, expression: s - s0}, c: {at: {x: low}, expression: u}, e: {at: {x: high}, expression: s}}\n" +
			"initial: {u: {distribution: random-sines, low: 0, high: 1}, s: {distribution: random-sines, low: 0, high: 1}}\n", []skip{{"x": {0, 1}}, {"x": {1, 0}}}},
		{"a flux with its own equation", line + "unknown: [h, q]\nterms: {h_t: {of: h, axis: t, derivative: 1}, h_x: {of: h, axis: x, derivative: 1}, q_x: {of: q, axis: x, derivative: 1}}\n" +
			"residual: {mass: {expression: h_t + q_x}, flux: {expression: q + h^3*h_x}}\nconditions: {" + strings.ReplaceAll(start, "u", "h") + ", b: {at: {x: low}, expression: q}, c: {at: {x: high}, expression: h}}\ninitial: {h: {distribution: random-sines, low: 1, high: 2}}\n", []skip{{"x": {0, 1}}, {"x": {1, 0}}}},
		{"births that lag", line + "unknown: [n, q, b]\nterms: {n_t: {of: n, axis: t, derivative: 1}, n_x: {of: n, axis: x, derivative: 1}, q_x: {of: q, axis: x, derivative: 1}, b_x: {of: b, axis: x, derivative: 1}, b_t: {of: b, axis: t, derivative: 1}}\n" +
			"residual: {aging: {expression: n_t + n_x}, births: {expression: q_x - n}, same: {expression: b_x}}\nconditions: {a: {kind: initial, at: {t: low}, expression: n - n0}, e: {kind: initial, at: {t: low}, expression: b}, newborn: {at: {x: low}, expression: n - b}, none: {at: {x: low}, expression: q}, lag: {at: {x: high}, expression: b_t + b - q}}\n" +
			"initial: {n: {distribution: random-sines, low: 0, high: 1}}\n", []skip{{"x": {1, 0}}, {"x": {1, 0}}, {"x": {0, 1}}}},
		{"plane stress", plate + "unknown: [u, v]\nterms: {u_yy: {of: u, axis: y, derivative: 2}, u_xx: {of: u, axis: x, derivative: 2}, v_yy: {of: v, axis: y, derivative: 2}, v_xx: {of: v, axis: x, derivative: 2}, u_x: {of: u, axis: x, derivative: 1}, v_y: {of: v, axis: y, derivative: 1}," +
			"u_xy: {of: u, factors: [{axis: x, derivative: 1}, {axis: y, derivative: 1}]}, v_xy: {of: v, factors: [{axis: x, derivative: 1}, {axis: y, derivative: 1}]}}\nresidual: {across: {expression: u_xx + 0.35*u_yy + 0.65*v_xy}, up: {expression: v_yy + 0.35*v_xx + 0.65*u_xy - f}}\n" +
			"conditions: {a: {at: {y: low}, expression: u}, b: {at: {y: low}, expression: v}, c: {at: {x: low}, expression: u}, d: {at: {x: high}, expression: u_x + 0.3*v_y}}\n", []skip{{"x": {1, 1}, "y": {1, 0}}, {"y": {1, 0}}}},
		{"a stream function, whose slope at a wall holds the vorticity", line + "unknown: [w, f]\nterms: {w_t: {of: w, axis: t, derivative: 1}, w_xx: {of: w, axis: x, derivative: 2}, f_x: {of: f, axis: x, derivative: 1}, f_xx: {of: f, axis: x, derivative: 2}}\n" +
			"residual: {spin: {expression: w_t - w_xx}, stream: {expression: f_xx + w}}\nconditions: {a: {kind: initial, at: {t: low}, expression: w - w0}, b: {at: {x: low}, expression: f_x - t}, c: {at: {x: low}, expression: f}, d: {at: {x: high}, expression: f}, e: {at: {x: high}, expression: w}}\n" +
			"initial: {w: {distribution: random-sines, low: 0, high: 1}}\n", []skip{{"x": {1, 1}}, {"x": {1, 1}}}},
		{"a clamped beam beside its moment", line + "unknown: [u, m]\nterms: {u_tt: {of: u, axis: t, derivative: 2}, u_x: {of: u, axis: x, derivative: 1}, u_xx: {of: u, axis: x, derivative: 2}, m_xx: {of: m, axis: x, derivative: 2}}\n" +
			"residual: {motion: {expression: u_tt + m_xx}, moment: {expression: m - u_xx}}\nconditions: {" + start + ", b: {at: {x: low}, expression: u}, c: {at: {x: high}, expression: u}, d: {at: {x: low}, expression: u_x}, e: {at: {x: high}, expression: u_x}}\n" +
			"initial: {u: {distribution: random-sines, low: 0, high: 1}}\n", []skip{{"x": {2, 2}}, {}}},
		{"rates of both in both", line + "unknown: [u, s]\nterms: {u_t: {of: u, axis: t, derivative: 1}, s_t: {of: s, axis: t, derivative: 1}, s_xx: {of: s, axis: x, derivative: 2}, u_xx: {of: u, axis: x, derivative: 2}}\n" +
			"residual: {both: {expression: s_t + u_t - s_xx}, too: {expression: u_t - 2*s_t - u_xx}}\nconditions: {a: {kind: initial, at: {t: low}, expression: u - u0}, b: {kind: initial, at: {t: low}, expression: s - s0}, c: {at: {x: low}, expression: u}, e: {at: {x: high}, expression: s}}\n" +
			"initial: {u: {distribution: random-sines, low: 0, high: 1}, s: {distribution: random-sines, low: 0, high: 1}}\n", []skip{{"x": {0, 1}}, {"x": {1, 0}}}},
	} {
		p, err := Load("walls.yaml", []byte("name: walls\n"+c.src))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []skip
		for _, r := range p.Residuals {
			got = append(got, r.Skip)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v; want %v", c.name, got, c.want)
		}
	}
}

// Of two conditions at every side of a plate those of the later axis leave as many points as hold at the earlier one's ends, where they do
// not say themselves which rows they have; single conditions stay.
func TestRowsAtCorners(t *testing.T) {
	const plate = "name: plate\ntime: none\naxes: {y: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 12, boundary: nodes}}\ninputs: {f: {distribution: random-series, series: sine}}\n" +
		"unknown: u\nterms: {u_yy: {axis: y, derivative: 2}, u_xx: {axis: x, derivative: 2}, u_4y: {axis: y, derivative: 4}, u_4x: {axis: x, derivative: 4}}\n"
	const values = "a: {at: {y: low}, expression: u}, b: {at: {y: high}, expression: u}, c: {at: {x: low}, expression: u}, d: {at: {x: high}, expression: u}"
	const moments = ", e: {at: {y: low}, expression: u_yy}, f: {at: {y: high}, expression: u_yy}, g: {at: {x: low}, expression: u_xx}, h: {at: {x: high}, rows: {y: [1, 1]}, expression: u_xx}"
	for _, c := range []struct {
		name, src string
		want      map[string][2]int // of y in conditions at ends of x
		surplus   int
	}{
		{"moments", "residual: {expression: u_4x + u_4y - f}\nconditions: {" + values + moments + "}\n", map[string][2]int{"c": {2, 2}, "d": {2, 2}, "g": {2, 2}, "h": {1, 1}}, 2},
		{"values", "residual: {expression: u_xx + u_yy - f}\nconditions: {" + values + "}\n", map[string][2]int{"c": {1, 1}, "d": {1, 1}}, 0},
	} {
		p, err := Load("plate.yaml", []byte(plate+c.src))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, r := range p.Conditions {
			if want := c.want[r.Name]; r.Skip["y"] != want || r.Skip["x"] != [2]int{} {
				t.Errorf("%s: condition %s leaves out %v, want %v of y", c.name, r.Name, r.Skip, want)
			}
		}
		if c.name == "moments" { // no axis of a steady problem is time
			a, met := p.ExactAnsatz(0, map[string]float64{"x": 0.2, "y": 0.3}, nil)
			if len(met) != len(p.Conditions) || a.Smooth["y"] != 0.3 || !equals(a.Multiplier, 1) {
				t.Errorf("an ansatz of %s, smooth along %v, meets %v; want all conditions", a.Multiplier, a.Smooth, met)
			}
		}
		if n := p.surplus(); n != c.surplus {
			t.Errorf("%s: %d rows more than values, want %d", c.name, n, c.surplus)
		}
	}
}
