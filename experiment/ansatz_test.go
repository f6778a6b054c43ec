package experiment

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pihc/model"
	"pihc/pde"
)

// The ansatz that init writes for walls of many kinds, what it says of conditions that stay rows, and that the minimiser
// of the rows is as near to solutions as without it.
func TestInitAnsatz(t *testing.T) {
	const plane = `
name: plane
unknown: u
time: none
axes:
  y: {range: [0, 1], points: 13, boundary: nodes}
  x: {range: [0, 1], points: 13, boundary: nodes}
inputs:
  f: {distribution: random-series, series: %s, axes: [x], parameters: {modes: 2}}
  q: {distribution: uniform, low: 1, high: 5}
terms:
  u_xx: {axis: x, derivative: 2}
  u_yy: {axis: y, derivative: 2}
  flux: {axis: x, edge: high, at: wall, derivative: 1, points: 3}
residual: {expression: u_xx + u_yy + q + f, rows: {y: [1, 1], x: [1, 1]}}
conditions:
  south: {at: {y: low}, expression: %s}
  north: {at: {y: high}, expression: %s}
  west: {at: {x: low}, rows: {y: [1, 1]}, expression: %s}
  east: {at: {x: high}, rows: {y: [1, 1]}, expression: %s}
reference: {solver: discrete}
`
	const rod = `
name: rod
unknown: u
axes:
  t: {range: [0, 1], points: 13, boundary: nodes}
  x: {range: [0, 1], points: 17, boundary: %s}
terms:
  u_t: {axis: t, derivative: 1}
  u_xx: {axis: x, derivative: 2}
  wall: {axis: x, edge: low, at: wall, points: 3}
  flux: {axis: x, edge: high, at: wall, derivative: 1, points: 3}
residual: {expression: u_t - 0.1*u_xx, rows: {t: [1, 0], x: [1, 1]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - %s}
  left: {at: {x: low}, rows: {t: [1, 0]}, expression: %s}
  right: {at: {x: high}, rows: {t: [1, 0]}, expression: %s}
initial: {distribution: random-series, series: sine, parameters: {modes: 2}}
reference: {solver: discrete}
`
	const ring = `
name: ring
unknown: u
axes:
  t: {range: [0, 1], points: 33, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
terms:
  u_t: {axis: t, derivative: 1}
  u_tt: {axis: t, derivative: 2}
  u_x: {axis: x, derivative: 1}
  u_xx: {axis: x, derivative: 2}
  u_xxx: {axis: x, derivative: 3}
  rate: {axis: t, edge: low, at: inner, derivative: 1, points: 3}
residual: {expression: "%s"}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
%sinitial: {distribution: random-series, series: periodic, parameters: {modes: 1}}
reference: {solver: discrete}
`
	const reaction = `
name: reaction
unknown: [u, v]
axes:
  t: {range: [0, 1], points: 33, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  v_t: {of: v, axis: t, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2}
residual:
  first: {expression: "u_t - 0.01*u_xx + u - %g*v + u^3"}
  second: {expression: "v_t + v - %[1]g*u"}
conditions:
  start_u: {at: {t: low}, expression: u - u0}
  start_v: {at: {t: low}, expression: v - v0}
initial: {distribution: random-series, series: periodic, parameters: {modes: 1}, scale: 0.1}
reference: {solver: discrete}
`
	const rest = "  rest: {kind: initial, at: {t: low}, expression: rate}\n"
	const beam = `
name: beam
unknown: u
axes:
  t: {range: [0, 0.1], points: 13, boundary: nodes}
  x: {range: [0, 1], points: 25, boundary: nodes}
terms:
  u_tt: {axis: t, derivative: 2}
  u_xxxx: {axis: x, derivative: 4}
  rate: {axis: t, edge: low, at: inner, derivative: 1, points: 3}
  left%[1]d: {axis: x, edge: low, at: wall, derivative: %[1]d, points: 5}
  right%[1]d: {axis: x, edge: high, at: wall, derivative: %[1]d, points: 5}
  shear: {axis: x, edge: high, at: wall, derivative: 3, points: 6}
residual: {expression: u_tt + u_xxxx, rows: {x: [2, 2]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - %[2]s*u0}
  rest: {kind: initial, at: {t: low}, expression: rate}
  left: {at: {x: low}, expression: u}
  right: {at: {x: high}, expression: u}
  lower: {at: {x: low}, expression: left%[1]d}
  upper: {at: {x: high}, expression: right%[1]d}
initial: {distribution: random-series, series: sine, parameters: {modes: 2}}
reference: {solver: discrete}
`
	// Rows more than values leave other ansatzes than that by rows.
	moreRod, moreBeam := strings.Replace(rod, "x: [1, 1]}", "x: [1, 0]}", 1), strings.Replace(beam, "x: [2, 2]", "x: [2, 1]", 1)
	for _, offset := range []string{"u0", "u0 + 0.2*t*x", "u0 + t*x^2*(1 - x)"} { // of simply supported ends
		p, err := pde.Load("a.yaml", fmt.Appendf(nil, beam+"ansatz: {offset: %[3]q, multiplier: t^2, smooth: {x: 0.15}}\n", 2, "1", offset))
		if err != nil {
			t.Fatal(err)
		}
		x, err := examine(p)
		if missed := len(x.Faults) == 1 && strings.Contains(x.Faults[0], "the offset of the ansatz of u misses left, lower, right, upper"); err != nil || missed != (offset != "u0") {
			t.Errorf("%s: %+v, %v", offset, x, err)
		}
	}
	for smooth, notes := range map[string]int{"": 1, ", smooth: {x: 0.1}": 0} {
		p, err := pde.Load("a.yaml", fmt.Appendf(nil, beam+"ansatz: {offset: u0, multiplier: t^2%[3]s}\n", 2, "1", smooth))
		if err != nil {
			t.Fatal(err)
		}
		if got := roughNotes(p); len(got) != notes {
			t.Errorf("%q: notes %q", smooth, got)
		}
	}
	for offset, added := range map[string]bool{"u0": true, "u0 + 0.2*t*x": false} { // an ansatz of the file, with and without an offset that S goes with
		d := &draft{src: fmt.Appendf(nil, beam+"ansatz: {offset: %[3]q, multiplier: 4*x*(1 - x)*t^2}\n", 2, "1", offset)}
		if err := d.complete("a.yaml"); err != nil {
			t.Fatal(err)
		}
		smooth, text := d.p.Unknowns[0].Ansatz.Smooth["x"] > 0, strings.Join(d.added, "\n")
		if smooth != added || strings.Contains(text, "added smooth: {x: 0.15} to the ansatz of u, which meets left, lower, right, upper exactly") != added || strings.Contains(text, "note: the ansatz of u is not smooth along x") == added {
			t.Errorf("%s: smooth %t, said %s", offset, smooth, text)
		}
	}
	for _, test := range []struct{ src, want string }{
		{fmt.Sprintf(moreBeam, 1, "1"), "initial conditions miss those of the walls by"},
		{strings.Replace(fmt.Sprintf(moreBeam, 2, "1"), "expression: right2}", "expression: right2 + u^3}", 1), "u_xxxx wants 2 linear conditions on the whole of each end, and there are 2 at the low and 1 at the high one"},
	} {
		err := (&draft{src: []byte(test.src)}).complete("a.yaml")
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "fourth order along x") {
			t.Errorf("%v; want an error that says %q", err, test.want)
		}
	}
	for _, test := range []struct{ name, src, ansatz, rows string }{
		{"four walls", fmt.Sprintf(plane, "sine", "u", "u", "u", "u"), `{smooth: {x: 0.09, y: 0.09}}: meets west, east, south, north exactly`, ""},
		{"drawn along one", fmt.Sprintf(plane, "sine", "u - f", "u", "u", "u"), `{offset: "f*(1 - y)", smooth: {x: 0.09, y: 0.09}}: meets west, east, south, north exactly`, ""},
		{"corners that disagree", fmt.Sprintf(plane, "cosine", "u - f", "u", "u", "u"), `{duhamel: rows}: meets south, north, west, east exactly`, ""},
		{"the same, and more rows than values", strings.Replace(fmt.Sprintf(plane, "cosine", "u - f", "u", "u", "u"), "rows: {y: [1, 1], x: [1, 1]}", "rows: {y: [1, 0], x: [1, 1]}", 1), `{smooth: {x: 0.09, y: 0.09}, leaves: [south]}: meets west, east, north exactly`, "south (which disagree with others where they meet)"},
		{"a flux", fmt.Sprintf(plane, "sine", "u - f", "u", "u", "flux"), `{duhamel: rows}: meets south, north, west, east exactly`, ""},
		{"a wall of its own kind", fmt.Sprintf(plane, "sine", "u", "u", "u", "flux + u^4"), `{duhamel: rows}: meets south, north, west exactly`, "east (not linear"},
		{"walls of cells", strings.NewReplacer("nodes", "cells", "  flux:", "  wall: {axis: x, edge: low, at: wall, points: 3}\n  foot: {axis: y, edge: low, at: wall, points: 3}\n  head: {axis: y, edge: high, at: wall, derivative: 1, points: 3}\n  flux:").Replace(fmt.Sprintf(plane, "sine", "foot - q", "head", "wall - q", "flux")), `{offset: "q", smooth: {x: 0.18, y: 0.18}}: meets west, east, south, north exactly`, ""},
		{"start and walls", fmt.Sprintf(moreRod, "nodes", "u0", "u", "u"), `{offset: "u0", multiplier: "4*(t*x*(1 - x))"}`, ""},
		{"walls that move", fmt.Sprintf(moreRod, "nodes", "u0", "u - sin(t)", "u"), `{offset: "sin(t)*(1 - x) + u0", multiplier: "4*(t*x*(1 - x))"}`, ""},
		{"start and walls, by rows", fmt.Sprintf(rod, "nodes", "u0", "u", "u"), `{offset: "u0", duhamel: rows}: meets start, left, right exactly`, ""},
		{"clamped, by rows", fmt.Sprintf(beam, 1, "x*(1 - x)"), `{offset: "x*(1 - x)*u0", duhamel: rows}: meets start, rest, left, right, lower, upper exactly`, ""},
		{"walls that disagree with the start", fmt.Sprintf(rod, "nodes", "u0", "u - 1", "u"), `{offset: "u0", duhamel: rows}: meets start, left, right exactly, at walls after the first t, where initial conditions miss those by `, ""},
		{"a slope that disagrees with the start", fmt.Sprintf(rod, "nodes", "u0", "u", "u + flux"), `{offset: "u0", duhamel: rows}: meets start, left, right exactly`, ""},
		{"a slope that is not linear and disagrees with the start", fmt.Sprintf(rod, "nodes", "u0", "u", "u^3 + flux"), `{offset: "u0", duhamel: rows}: meets start, left exactly`, "right (not linear"},
		{"linear waves of varying speed", fmt.Sprintf(ring, "u_tt - 0.1*(1 + 0.1*sin(6.28*x))*u_xx", rest), `{offset: "u0", duhamel: rows}: meets start, rest exactly`, ""},
		{"waves of varying speed between walls", strings.NewReplacer("points: 16, boundary: periodic}", "points: 17, boundary: nodes}", "series: periodic", "series: sine").Replace(fmt.Sprintf(ring, "u_tt - 0.1*(1 + x)*u_xx", rest+"  left: {at: {x: low}, expression: u}\n  right: {at: {x: high}, expression: u}\n")), `{offset: "u0", duhamel: rows}: meets start, rest, left, right exactly`, ""},
		{"cells, and a flux", fmt.Sprintf(rod, "cells", "(1 + x*(2 - x)*u0*(1 - x))", "wall - 1", "flux"), `{offset: "1 + x*(2 - x)*u0*(1 - x)", duhamel: rows}: meets start, left, right exactly`, ""},
		{"two unknowns on a ring", fmt.Sprintf(reaction, 0.5), `{u: {offset: "u0", duhamel: rows}, v: {offset: "v0", duhamel: rows}}: meets start_u, start_v exactly`, ""},
		{"that grow", fmt.Sprintf(reaction, 5.), `{u: {offset: "u0", multiplier: "t"}, v: {offset: "v0", multiplier: "t"}}: meets start_u, start_v exactly`, ""},
		{"a semilinear wave", fmt.Sprintf(ring, "u_tt - 0.1*u_xx + u^3", rest), `{offset: "u0", duhamel: true}: meets start, rest exactly`, ""},
		{"whose speed varies", fmt.Sprintf(ring, "u_tt - 0.1*(1 + 0.1*sin(6.28*x))*u_xx + u^3", rest), `{offset: "u0", duhamel: true}: meets start, rest exactly`, ""},
		{"that begins with a rate of its own", fmt.Sprintf(ring, "u_tt - 0.1*u_xx + u", strings.Replace(rest, "rate", "rate + u_x", 1)), `{offset: "u0", multiplier: "t"}`, "rest (no multiplier"},
		{"dispersion", fmt.Sprintf(ring, "u_t + 0.01*u_xxx + 0.1*sin(u)", ""), `{offset: "u0", duhamel: true}`, ""},
		{"diffusion", fmt.Sprintf(ring, "u_t - 0.01*u_xx + u^3", ""), `{offset: "u0", multiplier: "t"}`, ""},
		{"advection of itself", fmt.Sprintf(ring, "u_t + 0.01*u_xxx + 0.1*u*u_x", ""), `{offset: "u0", duhamel: true, projection: remove-mean}: meets start exactly, and keeps the mean over space of u`, ""},
		{"without dispersion", fmt.Sprintf(ring, "u_t + 0.1*u_x + 0.02*u*u_x", ""), `{offset: "u0", multiplier: "t", projection: remove-mean}: meets start exactly`, ""},
		{"a slope that agrees with the start", fmt.Sprintf(moreRod, "nodes", "u0*x*(1 - x)^2", "u", "flux"), `{offset: "u0*x*(1 - x)^2", multiplier: "t", smooth: {x: 0.12}}: meets start, left, right exactly`, ""},
		{"a wall that radiates", fmt.Sprintf(moreRod, "nodes", "(2 - x + u0*(1 - x)^2)", "u - 2", "flux + u"), `{offset: "2 - x + u0*(1 - x)^2", multiplier: "t", smooth: {x: 0.12}}: meets start, left, right exactly`, ""},
		{"one that moves", fmt.Sprintf(moreRod, "nodes", "u0*(1 - x)^2", "u - t", "flux + u - 3*t"), `{offset: "t*(1 - 0.5*x) + 1.5*(t*x) + u0*(1 - x)^2", multiplier: "t", smooth: {x: 0.12}}: meets start, left, right exactly`, ""},
		{"walls that radiate, along an axis whose ends disagree with those of another", strings.Replace(fmt.Sprintf(plane, "sine", "foot - u", "head + u", "u - q", "flux + 2*u"), "  flux:", "  foot: {axis: y, edge: low, at: wall, derivative: 1, points: 3}\n  head: {axis: y, edge: high, at: wall, derivative: 1, points: 3}\n  flux:", 1), `{duhamel: rows}: meets south, north, west, east exactly`, ""},
		{"clamped", fmt.Sprintf(moreBeam, 1, "x*(1 - x)"), `{offset: "x*(1 - x)*u0", multiplier: "(t/0.1)^2", smooth: {x: 0.15}}: meets start, rest, left, lower, right, upper exactly`, ""},
		{"simply supported", fmt.Sprintf(beam, 2, "1"), `{offset: "u0", duhamel: true}: meets start, rest, left, right, lower, upper exactly`, ""},
		{"a free end", strings.NewReplacer("high}, expression: u}", "high}, expression: 3*shear}", "u_tt + u_xxxx", "u_tt + u_xxxx - 100*u0").Replace(fmt.Sprintf(moreBeam, 2, "0")), `{multiplier: "(t/0.1)^2", smooth: {x: 0.15}}: meets start, rest, left, lower, right, upper exactly`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := []byte(test.src)
			d := &draft{src: src}
			if err := d.complete("a.yaml"); err != nil {
				t.Fatal(err)
			}
			said := strings.Join(d.added, "\n") + "\n"
			if test.ansatz == "" == strings.Contains(said, "added ansatz") || !strings.Contains(said, test.ansatz) {
				t.Errorf("%s; want %s", said, test.ansatz)
			}
			if test.rows == "" == strings.Contains(said, "left to rows") || !strings.Contains(said, test.rows) {
				t.Errorf("%s; want %s", said, test.rows)
			}
			floor := func(src []byte) float64 {
				p, err := pde.Load("a.yaml", bytes.Replace(src, []byte("x: [2, 1]"), []byte("x: [2, 2]"), 1)) // solved by as many rows as values
				if err != nil {
					t.Fatal(err)
				}
				s, err := model.LoadSpec("spec.yaml", (&sizes{width: 8, layers: 1, steps: 20, batch: 1, tests: 3}).spec(p), "method="+model.Hard)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Fit(p); err != nil {
					t.Fatal(err)
				}
				v, err := (&draft{sizes: &sizes{fitted: s}}).floorOf(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			if before, after := floor(src), floor(d.src); !(after <= 1.05*before) {
				t.Errorf("floor %.3g, without the ansatz %.3g", after, before)
			} else {
				t.Logf("floor %.3g, without the ansatz %.3g", after, before)
			}
		})
	}
}

// Rows without a derivative in time keep the first time, which the others leave out, and walls of what moves where the file does not say.
func TestWithFirstRows(t *testing.T) {
	src := []byte(`
name: pair
unknown: [u, w]
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 9, boundary: nodes}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  w_x: {of: w, axis: x, derivative: 1}
  u_x: {of: u, axis: x, derivative: 1}
residual:
  moves: {expression: u_t + w_x}
  flux: {expression: w - u_x}
conditions:
  start: {at: {t: low}, expression: u - u0}
  warm: {at: {x: low}, expression: u + u_x}
  closed: {at: {x: high}, expression: w}
initial:
  u: {distribution: random-series, series: sine, parameters: {modes: 2}}
`)
	p, err := pde.Load("a.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	text, err := withFirstRows(src, p, 1)
	if err != nil {
		t.Fatal(err)
	}
	q, err := pde.Load("a.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if moves, flux := q.Residuals[0].Skip["t"], q.Residuals[1].Skip["t"]; moves[0] != 1 || flux[0] != 0 {
		t.Errorf("leaves out %v and %v", moves, flux)
	}
	if warm, closed := q.Conditions[1].Skip["t"], q.Conditions[2].Skip["t"]; warm[0] != 1 || closed[0] != 0 {
		t.Errorf("walls leave out %v and %v", warm, closed)
	}
}
