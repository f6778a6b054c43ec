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
		for _, mode := range []Hessian{HessianExact, HessianGaussNewton} {
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
				if other := factorAfresh(fresh, p, w, mode); status != other {
					t.Errorf("%v: %v, fresh %v", mode, status, other)
				}
				fresh.SolveAdjoint(want, wbar)
				if d := relative(got, want); !(d < 1e-10) {
					t.Errorf("%v: adjoint off by %.1e", mode, d)
				}
			}
			first := 0
			if mode == HessianExact && !correction {
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

// Nothing is taken for known that the solver has not evaluated at that very
// point: not the zeros of a new solver, not a start that was not finite, and not
// the solution of a larger problem that begins like w.
func TestFactorSolutionOfUnknownPoint(t *testing.T) {
	const n = 4
	p, wbar := &counted{terms: newTerms(30, n, 3)}, []float64{1, -2, 3, 0.5}
	check := func(what string, s *Solver, w []float64) {
		t.Helper()
		*p = counted{terms: p.terms}
		got, want := make([]float64, n), make([]float64, n)
		for _, mode := range []Hessian{HessianExact, HessianGaussNewton} {
			status := s.FactorSolution(p, w, mode)
			s.SolveAdjoint(got, wbar)
			fresh := NewSolver(n, s.opt)
			if other := factorAfresh(fresh, p.terms, w, mode); status != other {
				t.Errorf("%s, %v: %v, fresh %v", what, mode, status, other)
			}
			fresh.SolveAdjoint(want, wbar)
			closeTo(t, what, got, want, 1e-12)
		}
		if p.both != 1 || p.normal+p.curvature != 0 {
			t.Errorf("%s: %d, %d, %d evaluations, want one of all parts", what, p.normal, p.curvature, p.both)
		}
	}
	check("new solver", NewSolver(n, Options{}), make([]float64, n))

	s := NewSolver(n, Options{})
	bad := *p.terms
	bad.bad = true
	start := []float64{0.1, 0.2, 0.3, 0.4}
	if res := s.Solve(&bad, start); res.Status != StatusNonFiniteStart {
		t.Fatal(res.Status)
	}
	check("after a start that is not finite", s, start)

	s = NewSolver(n+2, Options{})
	w := make([]float64, n+2)
	s.Solve(newTerms(30, n+2, 4), w)
	check("after a larger problem", s, w[:n])
}

// The matrix of one mode is not taken for that of another.
func TestFactorSolutionByEveryMode(t *testing.T) {
	const n = 5
	p, wbar := newTerms(40, n, 7), fill(n, func(i int) float64 { return float64(i) - 2 })
	s, fresh := NewSolver(n, Options{Ridge: 1e-2}), NewSolver(n, Options{Ridge: 1e-2})
	w, got, want := make([]float64, n), make([]float64, n), make([]float64, n)
	s.Solve(p, w)
	for _, mode := range []Hessian{HessianGaussNewton, HessianExact, HessianGaussNewton, HessianExact, HessianExact} {
		s.FactorSolution(p, w, mode)
		s.SolveAdjoint(got, wbar)
		factorAfresh(fresh, p, w, mode)
		fresh.SolveAdjoint(want, wbar)
		closeTo(t, mode.String(), got, want, 1e-12)
	}
}

// A factor leaves nothing behind for the next, whichever matrix each of them used.
func TestFactorAfterAnother(t *testing.T) {
	byQR, _ := collinear(1e-5)
	plain, _ := collinear(1)
	singular := given3{1, 1, 1, 1, 1, 1, 1, 1, 1}
	s, wbar := NewSolver(3, Options{}), []float64{1, -0.3, 0.5}
	w, got, want := []float64{1, 2, 3}, make([]float64, 3), make([]float64, 3)
	problems := []struct {
		p    Problem
		mode Hessian
	}{{byQR, HessianGaussNewton}, {plain, HessianExact}, {singular, HessianGaussNewton}, {plain, HessianGaussNewton}}
	for i, first := range problems {
		for j, second := range problems {
			factorAfresh(s, first.p, w, first.mode)
			status := factorAfresh(s, second.p, w, second.mode)
			s.SolveAdjoint(got, wbar)
			fresh := NewSolver(3, Options{})
			if other := factorAfresh(fresh, second.p, w, second.mode); status != other {
				t.Errorf("%d after %d: %v, fresh %v", j, i, status, other)
			}
			fresh.SolveAdjoint(want, wbar)
			closeTo(t, "λ", got, want, 0)
		}
	}
}

// given3 is a problem of three unknowns with that JᵀJ and no gradient.
type given3 [9]float64

func (given3) Dim() int { return 3 }

func (p given3) Normal(a, g, _ []float64) float64 {
	if g != nil {
		copy(a, p[:])
		clear(g)
	}
	return 1
}
