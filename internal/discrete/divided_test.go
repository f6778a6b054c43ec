package discrete

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
	"pihc/pde"
)

// fingers are two unknowns, one without a derivative in time; shaken is of second order in time; of stirred one unknown has two conditions at a wall,
// and the other none; a plate has two at every wall, of which some belong to points further in; of a bar there are more rows than values.
const (
	fingers = `
unknown: [psi, c]
axes:
  t: {range: [0, 0.02], points: 9, boundary: nodes}
  z: {range: [0, 1], points: 17, boundary: nodes}
  x: {range: [0, 2], points: 19, boundary: nodes}
terms:
  c_t: {of: c, axis: t, derivative: 1}
  c_x: {of: c, axis: x, derivative: 1}
  c_z: {of: c, axis: z, derivative: 1}
  c_xx: {of: c, axis: x, derivative: 2}
  c_zz: {of: c, axis: z, derivative: 2}
  psi_x: {of: psi, axis: x, derivative: 1}
  psi_z: {of: psi, axis: z, derivative: 1}
  psi_xx: {of: psi, axis: x, derivative: 2}
  psi_zz: {of: psi, axis: z, derivative: 2}
residual:
  salt: {expression: "c_t + by*(psi_z*c_x - psi_x*c_z) - c_xx - c_zz"}
  darcy: {expression: "1e-4*(psi_xx + psi_zz - 50*c_x)"}
constants: {by: 0}
conditions:
  start: {kind: initial, at: {t: low}, expression: "c"}
  c_bottom: {at: {z: low}, expression: "c"}
  c_top: {at: {z: high}, expression: "c - (1 + 0.4*cos(pi*x/2))*(1 - exp(-t/0.005))"}
  c_west: {at: {x: low}, expression: "c_x"}
  c_east: {at: {x: high}, expression: "c_x"}
  psi_bottom: {at: {z: low}, expression: "psi"}
  psi_top: {at: {z: high}, expression: "psi"}
  psi_west: {at: {x: low}, expression: "psi"}
  psi_east: {at: {x: high}, expression: "psi"}
`
	shaken = `
unknown: u
axes:
  t: {range: [0, 0.2], points: 5, boundary: nodes}
  y: {range: [0, 1], points: 31, boundary: nodes}
  x: {range: [0, 1], points: 31, boundary: nodes}
terms:
  u_tt: {axis: t, derivative: 2}
  u_t: {axis: t, derivative: 1}
  u_xx: {axis: x, derivative: 2}
  u_yy: {axis: y, derivative: 2}
  u_x: {axis: x, derivative: 1}
residual: {expression: "u_tt + 3*u_t - u_xx - (1 + by*u^2)*u_yy"}
constants: {by: 0}
conditions:
  start: {kind: initial, at: {t: low}, expression: "u - 16*x*(1 - x)*y*(1 - y)"}
  rest: {kind: initial, at: {t: low}, expression: "u_t"}
  a: {at: {x: low}, expression: "u"}
  b: {at: {x: high}, expression: "u_x + u"}
  c: {at: {y: low}, expression: "u"}
  d: {at: {y: high}, expression: "u"}
`
	stirred = `
unknown: [psi, w]
axes:
  t: {range: [0, 0.2], points: 5, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
  y: {range: [0, 1], points: 17, boundary: nodes}
terms:
  psi_xx: {of: psi, axis: x, derivative: 2}
  psi_yy: {of: psi, axis: y, derivative: 2}
  psi_y: {of: psi, axis: y, derivative: 1}
  psi_x: {of: psi, axis: x, derivative: 1}
  w_t: {of: w, axis: t, derivative: 1}
  w_x: {of: w, axis: x, derivative: 1}
  w_y: {of: w, axis: y, derivative: 1}
  w_xx: {of: w, axis: x, derivative: 2}
  w_yy: {of: w, axis: y, derivative: 2}
residual:
  stream: {expression: "psi_xx + psi_yy + w"}
  vorticity: {expression: "w_t + by*(psi_y*w_x - psi_x*w_y) - w_xx - w_yy"}
constants: {by: 0}
conditions:
  start: {kind: initial, at: {t: low}, expression: "w - 40*sin(2*pi*x)*y*(1 - y)"}
  bottom: {at: {y: low}, expression: "psi"}
  bottom_slip: {at: {y: low}, expression: "psi_y"}
  top: {at: {y: high}, expression: "psi"}
  top_slip: {at: {y: high}, expression: "psi_y - sin(2*pi*x)"}
`
	plate = `
unknown: w
time: none
axes:
  y: {range: [0, 1], points: 25, boundary: nodes}
  x: {range: [0, 1.5], points: 31, boundary: nodes}
terms:
  w_xx: {axis: x, derivative: 2}
  w_yy: {axis: y, derivative: 2}
  w_xxxx: {axis: x, derivative: 4}
  w_yyyy: {axis: y, derivative: 4}
  w_xxyy: {factors: [{axis: x, derivative: 2}, {axis: y, derivative: 2}]}
residual: {expression: "w_xxxx + 2*w_xxyy + w_yyyy + by*w^3 - 100", rows: {x: [2, 2], y: [2, 2]}}
constants: {by: 0}
conditions:
  west: {at: {x: low}, expression: w}
  west_moment: {at: {x: low}, expression: w_xx, rows: {y: [1, 1]}}
  east: {at: {x: high}, expression: w}
  east_moment: {at: {x: high}, expression: w_xx, rows: {y: [1, 1]}}
  south: {at: {y: low}, expression: w, rows: {x: [1, 1]}}
  south_moment: {at: {y: low}, expression: w_yy, rows: {x: [2, 2]}}
  north: {at: {y: high}, expression: w, rows: {x: [1, 1]}}
  north_moment: {at: {y: high}, expression: w_yy, rows: {x: [2, 2]}}
`
	bar = `
unknown: u
time: none
axes:
  y: {range: [0, 1], points: 80, boundary: periodic}
  x: {range: [0, 1], points: 91, boundary: nodes}
terms:
  u_xx: {axis: x, derivative: 2}
  u_yy: {axis: y, derivative: 2}
residual: {expression: "u - 0.01*(u_xx + u_yy) + by*u^3 - sin(2*pi*y)", rows: {x: [1, 1]}}
constants: {by: 0}
conditions:
  a: {at: {x: low}, expression: u}
  b: {at: {x: high}, expression: u}
  c: {at: {x: high}, expression: u + 0.01*u_yy}
`
)

// A divided matrix gives what a band does, of steps in time and of what is solved at once.
func TestDivided(t *testing.T) {
	for name, src := range map[string]string{"fingers": fingers, "shaken": shaken, "stirred": stirred, "plate": plate, "bar": bar} {
		t.Run(name, func(t *testing.T) {
			p := loadFile(t, strings.Replace(src, "{by: 0}", "{by: 2}", 1))
			g, err := p.Grid(nil)
			if err != nil {
				t.Fatal(err)
			}
			var ends [][]float64
			for _, divided := range []bool{true, false} {
				solver, err := New(p, g, slices.Repeat([]int{1}, len(g.Axes)))
				if err != nil {
					t.Fatal(err)
				}
				s := solver.whole
				if s == nil {
					s = solver.march.step
				}
				if !s.direct || s.tree == nil {
					t.Fatal("a band")
				}
				if !divided {
					s.tree = nil
					s.arrange(true)
				}
				end := make([]float64, solver.fields*g.Size())
				if _, err := solver.Solve(end, make([]float64, p.InputSize(g))); err != nil {
					t.Fatal(err)
				}
				ends = append(ends, end)
			}
			if grid.Norm(ends[0]) == 0 {
				t.Error("zero")
			}
			check.Close(t, ends[0], ends[1], 1e-6, 1e-6)
		})
	}
}

// Two conditions of one unknown at a wall and none of another are no rows for GMRES.
func TestOwnersOfWalls(t *testing.T) {
	p := loadFile(t, stirred)
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	small := thorough
	small.direct = 1
	if _, err := newSolver(p, g, []int{1, 1, 1}, small); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "not two conditions for one and none for another at a wall") {
		t.Error(err)
	}
}

func loadFile(t testing.TB, src string) *pde.Problem {
	t.Helper()
	p, err := pde.Load("p.yaml", []byte("name: p\n"+src))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// GMRES is tried first, and a matrix is factored once that takes less work; both ways lead to the same.
func TestTries(t *testing.T) {
	p := loadFile(t, strings.Replace(shaken, "{by: 0}", "{by: 2}", 1))
	g, err := p.Grid(map[string]int{"y": 37, "x": 41})
	if err != nil {
		t.Fatal(err)
	}
	var ends [][]float64
	for work, want := range map[float64]bool{0: true, 1e30: false} {
		solver, err := New(p, g, []int{1, 1, 1})
		if err != nil {
			t.Fatal(err)
		}
		s := solver.march.step
		if !s.tries {
			t.Fatal("not tried")
		}
		s.costs.factor, s.costs.solve = work, 0
		var factors []bool
		end := make([]float64, g.Size())
		if _, err := solver.march.solve(nil, nil, func(k int, w *walk) {
			factors = append(factors, w.state.factors)
			copy(end[k*len(w.u):], w.u)
		}); err != nil {
			t.Fatal(err)
		}
		if last := len(factors) - 1; factors[0] || factors[last] != want {
			t.Errorf("work of %g: factored at last: %t", work, factors[last])
		}
		ends = append(ends, end)
	}
	check.Close(t, ends[0], ends[1], 1e-6, 1e-6)
}

// What GMRES has no preconditioner for is solved by a matrix, however much work that takes.
func TestTriesWithoutPreconditioner(t *testing.T) {
	p := loadFile(t, strings.Replace(fingers, "{by: 0}", "{by: 2}", 1))
	g, err := p.Grid(map[string]int{"z": 25, "x": 27})
	if err != nil {
		t.Fatal(err)
	}
	var ends [][]float64
	for _, none := range []bool{false, true} {
		solver, err := New(p, g, []int{1, 1, 1})
		if err != nil {
			t.Fatal(err)
		}
		s := solver.march.step
		if !s.tries {
			t.Fatal("not tried")
		}
		s.costs.factor, s.whole = 1e30, none // of what is solved at once no incomplete factorisation is made
		var factors bool
		var end []float64
		if _, err := solver.march.solve(make([]float64, p.InputSize(g)), nil, func(_ int, w *walk) { factors, end = w.state.factors, slices.Clone(w.u) }); err != nil {
			t.Fatal(err)
		}
		if factors != none {
			t.Errorf("no preconditioner %t: factored %t", none, factors)
		}
		ends = append(ends, end)
	}
	check.Close(t, ends[1], ends[0], 1e-6, 1e-6)
}

// Factorisations of the rows of all unknowns of a square at once, divided and as a band.
func BenchmarkDivided(b *testing.B) {
	const one = `
unknown: u
time: none
axes: {y: {range: [0, 1], points: 33, boundary: nodes}, x: {range: [0, 1], points: 33, boundary: nodes}}
terms: {u_xx: {axis: x, derivative: 2}, u_yy: {axis: y, derivative: 2}}
residual: {expression: u_xx + u_yy - u^2 - 1}
conditions: {a: {at: {x: low}, expression: u}, b: {at: {x: high}, expression: u}, c: {at: {y: low}, expression: u}, d: {at: {y: high}, expression: u}}
`
	const three = `
unknown: [u, v, p]
time: none
axes: {y: {range: [0, 1], points: 33, boundary: nodes}, x: {range: [0, 1], points: 33, boundary: periodic}}
terms:
  u_xx: {of: u, axis: x, derivative: 2}
  u_yy: {of: u, axis: y, derivative: 2}
  v_xx: {of: v, axis: x, derivative: 2}
  v_yy: {of: v, axis: y, derivative: 2}
  p_xx: {of: p, axis: x, derivative: 2}
  p_yy: {of: p, axis: y, derivative: 2}
residual: {one: {expression: u_xx + u_yy - v - 1}, two: {expression: v_xx + v_yy - p}, three: {expression: p_xx + p_yy - u^2}}
conditions:
  a: {at: {y: low}, expression: u}
  b: {at: {y: high}, expression: u}
  c: {at: {y: low}, expression: v}
  d: {at: {y: high}, expression: v}
  e: {at: {y: low}, expression: p}
  f: {at: {y: high}, expression: p}
`
	for _, c := range []struct {
		src    string
		points int
	}{{one, 33}, {one, 65}, {one, 129}, {one, 257}, {three, 33}, {three, 65}, {three, 129}} {
		p := loadFile(b, c.src)
		g, err := p.Grid(map[string]int{"x": c.points, "y": c.points})
		if err != nil {
			b.Fatal(err)
		}
		sys, err := p.Discretize(g)
		if err != nil {
			b.Fatal(err)
		}
		s, err := newSystem(sys, nil, thorough)
		if err != nil {
			b.Fatal(err)
		}
		for _, way := range []string{"divided", "band"} {
			if way == "band" {
				s.tree = nil
				s.arrange(true)
			}
			st := s.newState(nil)
			st.evaluate(make([]float64, s.values()))
			b.Run(fmt.Sprintf("%dx%d/%d/%s", c.points, c.points, s.fields, way), func(b *testing.B) {
				for b.Loop() {
					if !st.factor() {
						b.Fatal("no factor")
					}
				}
			})
		}
	}
}
