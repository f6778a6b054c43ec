package discrete

import (
	"testing"

	"pihc/internal/check"
	"pihc/pde"
)

// Along one axis elimination fills nothing in, so that an incomplete factorisation is the matrix.
func TestIncompleteOfOneAxis(t *testing.T) {
	p, err := pde.Load("p.yaml", []byte(`
name: pair
unknown: [u, v]
time: none
axes:
  y: {range: [0, 1], points: 8, boundary: periodic}
  x: {range: [0, 1], points: 17, boundary: nodes}
terms:
  u_xx: {of: u, axis: x, derivative: 2, order: 2}
  u_x: {of: u, axis: x, derivative: 1, order: 2}
  v_x: {of: v, axis: x, derivative: 1, order: 2}
  v_xx: {of: v, axis: x, derivative: 2, order: 2}
residual:
  a: {expression: u_xx + (1 + u)*v_x - u}
  b: {expression: 1e3*(v_xx - u_x*v)}
conditions:
  c: {at: {x: low}, expression: u - 1}
  d: {at: {x: high}, expression: u_x + u}
  e: {at: {x: low}, expression: 1e-3*(v_x - u^3)}
  f: {at: {x: high}, expression: v - 2}
`))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	sys, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSystem(sys, make([]int, len(sys.Terms)), effort{tolerance: 1e-9, direct: 1}) // y as if it were time
	if err != nil || s.direct {
		t.Fatal(err, "want GMRES")
	}
	random := check.Rand(1)
	st := s.newState(nil)
	st.evaluate(check.Normal(random, make([]float64, s.values())))
	st.invert()
	if st.near == nil {
		t.Fatal("no factorisation")
	}
	want := check.Normal(random, make([]float64, s.values()))
	rows, product := make([]float64, s.count), make([]float64, s.values())
	st.times(rows, want)
	st.scatterRows(product, rows)
	st.near.apply(product, product)
	check.Close(t, product, want, 1e-9, 1e-9)
}
