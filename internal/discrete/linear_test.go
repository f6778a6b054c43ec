package discrete

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/pde"
)

// The circulant preconditioner of a linear system with constants is the inverse of its matrix, for coupled fields, mixed kinds of
// terms and odd numbers of points; where coefficients vary solutions are those of GMRES without it.
func TestCirculant(t *testing.T) {
	const src = `
unknown: [e, p]
axes:
  t: {range: [0, 1], points: 5, boundary: nodes}
  x: {range: [0, 1], points: 9, boundary: periodic}
  y: {range: [0, 2], points: 12, boundary: periodic}
terms:
  e_t: {of: e, axis: t, derivative: 1}
  p_t: {of: p, axis: t, derivative: 1}
  e_x: {of: e, axis: x, derivative: 1}
  p_x: {of: p, axis: x, derivative: 1}
  p_yy: {of: p, spectral: derivative, axis: y, derivative: 2}
residual:
  first: {expression: p_t + 0.7*e_x - 0.01*p_yy + 2*e}
  second: {expression: COEFFICIENT*e_t + p_x}
conditions:
  start_e: {at: {t: low}, expression: e - e0}
  start_p: {at: {t: low}, expression: p - p0}
`
	for _, coefficient := range []string{"2", "(1 + 0.5*sin(2*pi*x) + 0.1*e)"} {
		p := loadSystem(t, strings.ReplaceAll(src, "COEFFICIENT", coefficient))
		g, _ := p.Grid(nil)
		with, without := iterative(t, p, g), iterative(t, p, g)
		if with.march.step.circulant == nil {
			t.Fatal("no preconditioner of a periodic system")
		}
		without.march.step.circulant = nil
		sample := sampleOf(p, g, []func(x []float64) float64{
			func(x []float64) float64 { return math.Sin(2*pi*x[0]) * math.Cos(pi*x[1]) },
			func(x []float64) float64 { return math.Cos(2 * pi * x[0]) },
		})
		var all [2][]float64
		for i, s := range []*Solver{with, without} {
			all[i] = make([]float64, 2*g.Size())
			if _, err := s.Solve(all[i], sample); err != nil {
				t.Fatal(err)
			}
		}
		if d := grid.RelativeL2(all[0], all[1], 2); !(d < 1e-8) {
			t.Errorf("coefficient %s: solutions are %g from those without a preconditioner", coefficient, d)
		}
		zero := make([]float64, len(sample))
		if _, err := with.Solve(all[0], zero); err != nil || grid.Norm(all[0]) != 0 {
			t.Errorf("coefficient %s: from zero to %g, %v", coefficient, grid.Norm(all[0]), err)
		}
		if coefficient != "2" {
			continue
		}
		st := with.march.step.newState(sample)
		st.rate[1] = []float64{5, 1, -1, 2, 4, 1, -2, 3, 6}
		st.setTimes([]float64{0.1, 0.2, 0.3})
		r := rand.New(rand.NewPCG(3, 4))
		v, rows, product := make([]float64, st.values()), make([]float64, st.count), make([]float64, st.values())
		for i := range v {
			v[i] = r.NormFloat64()
		}
		st.evaluate(v)
		if st.invert(); st.near == nil {
			t.Fatal("the circulant matrix has no inverse")
		}
		st.times(rows, v)
		st.scatterRows(product, rows)
		st.near.apply(product, product)
		if d := grid.Distance(product, v); !(d < 1e-11*grid.Norm(v)) {
			t.Errorf("the inverse of the matrix times a vector is %g from that", d/grid.Norm(v))
		}
	}
}

// iterative is a solver by GMRES.
func iterative(t *testing.T, p *pde.Problem, g *grid.Grid) *Solver {
	s, err := New(p, g, []int{1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	s.march.step.direct = false
	if err := s.march.step.checkIterative(); err != nil {
		t.Fatal(err)
	}
	return s
}
