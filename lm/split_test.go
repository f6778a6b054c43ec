package lm

import "testing"

// split adds HessianParts to a problem and counts what is evaluated.
type split struct {
	*terms
	normals, hessians, parts, both int
}

func (p *split) Normal(a, g, w []float64) float64 {
	p.normals++
	return p.terms.Normal(a, g, w)
}

func (p *split) Hessian(h, g, w []float64) float64 {
	p.hessians++
	return p.terms.Hessian(h, g, w)
}

func (p *split) HessianParts(a, c, g, w []float64) float64 {
	n := p.Dim()
	if g == nil {
		p.parts++
		a, g = make([]float64, n*n), make([]float64, n)
	} else {
		p.both++
	}
	cost := p.terms.Normal(a, g, w)
	p.terms.Hessian(c, make([]float64, n), w)
	axpy(c, -1, a)
	return cost
}

// The factor of the solution is that of a fresh evaluation, with nothing
// evaluated again; at another point everything is.
func TestFactorSolution(t *testing.T) {
	const n = 6
	for _, correction := range []bool{true, false} {
		for _, mode := range []AdjointMode{Exact, GaussNewtonAdjoint} {
			o := Options{Ridge: 1e-3, GTol: 1e-4, NewtonCorrection: correction}
			p := &split{terms: newTerms(64, n, 2)}
			s, fresh := NewSolver(n, o), NewSolver(n, o)
			w, wbar := make([]float64, n), fill(n, func(i int) float64 { return float64(i) - 1.5 })
			res := s.Solve(p, w)
			if res.Corrected != correction || correction && (p.hessians != 0 || p.parts != 1 || p.both != 1) {
				t.Fatalf("corrected %v with %d, %d, %d Hessians", res.Corrected, p.hessians, p.parts, p.both)
			}
			check := func(evaluations int) {
				t.Helper()
				*p = split{terms: p.terms}
				got, want := make([]float64, n), make([]float64, n)
				status := s.FactorSolution(p, w, mode)
				if k := p.normals + p.hessians + p.parts + p.both; k != evaluations {
					t.Errorf("%v, correction %v: %d evaluations, want %d", mode, correction, k, evaluations)
				}
				s.SolveAdjoint(got, wbar)
				if other := fresh.Factor(p, w, mode); status != other {
					t.Errorf("%v: %v, fresh %v", mode, status, other)
				}
				fresh.SolveAdjoint(want, wbar)
				if d := relative(got, want); !(d < 1e-10) {
					t.Errorf("%v: adjoint off by %.1e", mode, d)
				}
			}
			first := 0
			if mode == Exact && !correction {
				first = 1 // the curvature alone
			}
			check(first)
			check(0)
			w[2] += 0.01
			check(1)
		}
	}
}
