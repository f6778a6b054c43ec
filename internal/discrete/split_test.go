package discrete

import (
	"slices"
	"strings"
	"testing"

	"pihc/internal/check"
	"pihc/pde"
)

// fingers are two unknowns, one without a derivative in time; shaken is of second order in time; of stirred one unknown has two conditions at a wall, and the other none.
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
)

// bySplits starts a march of a file that takes steps by splits.
func bySplits(t *testing.T, p *pde.Problem) *walk {
	t.Helper()
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	solver, err := New(p, g, []int{1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	m := solver.march
	if !m.step.splits || m.step.direct {
		t.Fatal("another way than by a split")
	}
	w, err := m.initial(make([]float64, p.InputSize(g)), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.state.worthSplit = true
	return w
}

// Of rows that are linear with constants a split is the inverse of the matrix of a step, and it is kept for steps of the same length.
func TestSplit(t *testing.T) {
	for _, src := range []string{fingers, shaken, stirred} {
		w := bySplits(t, loadFile(t, src))
		h := w.times[1] - w.times[0]
		if err := w.advance(0, h, 0); err != nil {
			t.Fatal(err)
		}
		st, made := w.state, w.state.split.one
		if err := w.advance(h, h*(1+1e-14), 0); err != nil {
			t.Fatal(err)
		}
		if st.split.one != made {
			t.Error("factored again for a step that is as long")
		}
		want := check.Normal(check.Rand(1), make([]float64, st.values()))
		rows, product := make([]float64, st.count), make([]float64, st.values())
		st.times(rows, want)
		st.scatterRows(product, rows)
		st.split.apply(product, product)
		check.Close(t, product, want, 1e-8, 1e-8)
		if err := w.advance(2*h, h/2, 0); err != nil {
			t.Fatal(err)
		}
		if st.split.one == made {
			t.Error("kept for a step half as long")
		}
		made = st.split.one
		st.split.took(st.split.factorWork())
		if st.invert(); st.split.one == made {
			t.Error("kept though GMRES took more than another factorisation")
		}
	}
}

// Where an incomplete factorisation needs much work a split takes its place, and only there.
func TestSplitWorth(t *testing.T) {
	for much, want := range map[float64]bool{1: false, 1e6: true} {
		w := bySplits(t, loadFile(t, shaken))
		w.state.worthSplit = false
		costs := *w.state.system
		costs.costs.precondition *= much
		w.state.system = &costs
		if err := w.advance(0, w.times[1]-w.times[0], 0); err != nil {
			t.Fatal(err)
		}
		if w.state.worthSplit != want {
			t.Errorf("%g times the work: by a split %t, want %t", much, !want, want)
		}
	}
}

// What is not linear is marched to the same solution as by factoring all stages at once, also where an incomplete factorisation comes first.
func TestSplitMarch(t *testing.T) {
	for _, src := range []string{fingers, shaken, stirred} {
		p := loadFile(t, strings.Replace(src, "{by: 0}", "{by: 2}", 1))
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		var ends [][]float64
		for _, direct := range []bool{false, true} {
			solver, err := New(p, g, []int{1, 1, 1})
			if err != nil {
				t.Fatal(err)
			}
			if direct {
				solver.march.step.direct, solver.march.step.splits = true, false
			}
			var end []float64
			if _, err := solver.march.solve(make([]float64, p.InputSize(g)), nil, func(_ int, w *walk) { end = slices.Clone(w.u) }); err != nil {
				t.Fatal(err)
			}
			ends = append(ends, end)
		}
		check.Close(t, ends[0], ends[1], 1e-6, 1e-6)
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

// A march by splits, and by factoring all stages at once.
func BenchmarkMarch(b *testing.B) {
	p := loadFile(b, strings.Replace(fingers, "{by: 0}", "{by: 2}", 1))
	g, err := p.Grid(map[string]int{"z": 25, "x": 37})
	if err != nil {
		b.Fatal(err)
	}
	for _, direct := range []bool{false, true} {
		b.Run(map[bool]string{false: "split", true: "whole"}[direct], func(b *testing.B) {
			solver, err := New(p, g, []int{1, 1, 1})
			if err != nil {
				b.Fatal(err)
			}
			if direct {
				solver.march.step.direct, solver.march.step.splits = true, false
			}
			for b.Loop() {
				if _, err := solver.march.solve(make([]float64, p.InputSize(g)), nil, func(int, *walk) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
