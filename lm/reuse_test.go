package lm

import "testing"

// counted counts the evaluations of a problem by what they give.
type counted struct {
	*terms
	normal, curvature, both int
}

func (p *counted) Normal(a, g, w []float64) float64 {
	p.normal++
	return p.terms.Normal(a, g, w)
}

func (p *counted) HessianParts(a, c, g, w []float64) float64 {
	if g == nil {
		p.curvature++
	} else {
		p.both++
	}
	return p.terms.HessianParts(a, c, g, w)
}

// The factor of the solution is that of a fresh evaluation, with nothing
// evaluated again; at another point everything is.
func TestFactorSolution(t *testing.T) {
	const n = 6
	for _, correction := range []bool{true, false} {
		for _, mode := range []AdjointMode{AdjointExact, AdjointGaussNewton} {
			o := Options{Ridge: 1e-3, GTol: 1e-4, NewtonCorrection: correction}
			p := &counted{terms: newTerms(64, n, 2)}
			s, fresh := NewSolver(n, o), NewSolver(n, o)
			w, wbar := make([]float64, n), fill(n, func(i int) float64 { return float64(i) - 1.5 })
			res := s.Solve(p, w)
			if res.Corrected != correction || correction && (p.curvature != 1 || p.both != 1) {
				t.Fatalf("corrected %v with %d, %d Hessians", res.Corrected, p.curvature, p.both)
			}
			check := func(evaluations int) {
				t.Helper()
				*p = counted{terms: p.terms}
				got, want := make([]float64, n), make([]float64, n)
				status := s.FactorSolution(p, w, mode)
				if k := p.normal + p.curvature + p.both; k != evaluations {
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
			if mode == AdjointExact && !correction {
				first = 1 // the curvature alone
			}
			check(first)
			check(0)
			w[2] += 0.01
			check(1)
			check(0)
		}
	}
}
