package constraint

import (
	"testing"

	"pihc/internal/check"
	"pihc/lm"
)

// The parts of the Hessian add up to it, and it is the derivative of the
// gradient.
func TestHessianParts(t *testing.T) {
	const n = 5
	sys, basis, initial := toy(t, "diffusion-sorption", map[string]int{"t": 13, "x": 24}, n)
	c, err := New(sys, n, Options{Mean: true, Start: 0.3, Solver: lm.Options{Ridge: 1e-4, MaxIterations: 3}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := c.NewSample()
	Load(s, basis, initial)
	s.Solve(Seed{})
	e := s.experts[0]
	w := append([]float64(nil), e.w...)
	h, a, both, curv := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	g, up, down := make([]float64, n), make([]float64, n), make([]float64, n)
	cost := e.Normal(a, g, w)
	if got := e.HessianParts(h, both, up, w); got != cost {
		t.Errorf("cost %g, want %g", got, cost)
	}
	check.Close(t, up, g, 1e-14, 0)
	check.Close(t, h, a, 1e-14, 0)
	e.HessianParts(nil, curv, nil, w)
	check.Close(t, curv, both, 1e-14, 0)
	for i := range h {
		h[i] += curv[i]
	}
	for k := range n {
		const step = 1e-6
		w[k] += step
		e.Normal(a, up, w)
		w[k] -= 2 * step
		e.Normal(a, down, w)
		w[k] += step
		for j := range n {
			g[j] = (up[j] - down[j]) / (2 * step)
		}
		check.Close(t, g, h[k*n:(k+1)*n], 0, 1e-6*h[k*n+k])
	}
}
