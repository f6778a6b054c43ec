package lm

import "slices"

// Hessian names the matrix of the implicit derivative.
type Hessian int

const (
	// HessianExact is H = JᵀJ + Σ r_i∇²r_i + ε²I, the derivative of the
	// stationarity condition g(w, θ) = 0 that the solution satisfies.
	HessianExact Hessian = iota
	// HessianGaussNewton is JᵀJ + ε²I, asked for or because H is not positive
	// definite: right where the residual is small.
	HessianGaussNewton
	HessianRegularised // JᵀJ + ε²I + τ·diag(JᵀJ), because that is singular
	HessianFailed      // not finite: SolveAdjoint gives zeros
)

// String returns "exact", "gauss-newton", "regularised" or "failed".
func (h Hessian) String() string { return nameOf(h, "exact", "gauss-newton", "regularised", "failed") }

// factored is the matrix M of the implicit derivative, factored.
type factored struct {
	n            int       // its size; 0 after HessianFailed, -1 before any FactorSolution
	m            []float64 // the matrix without its regularisation, at a point
	tau          float64   // the regularisation is τ·diag(d)²
	d            []float64
	chol         cholesky
	qr           *qrFactor // used instead of chol where not nil
	rhs, scratch []float64
}

func newFactored(n int) factored {
	return factored{n: -1, d: make([]float64, n), chol: newCholesky(n), rhs: make([]float64, n), scratch: make([]float64, n)}
}

// factorExact factors the exact Hessian at x, where there is one and it is
// positive definite.
func (f *factored) factorExact(x *Point) bool {
	f.n, f.m, f.tau, f.qr = len(x.W), x.h, 0, nil
	return x.hasH && f.chol.factor(x.h, f.n, 0, nil) && f.chol.pivot >= hessianPivot
}

// factorGaussNewton factors A at x, by QR of the rows where it is too nearly
// singular for Cholesky, with a regularisation where it is singular.
func (f *factored) factorGaussNewton(x *Point) Hessian {
	f.n, f.m, f.tau, f.qr = len(x.W), x.A, 0, nil
	if finite(x.Cost) && allFinite(x.A) {
		ok := f.chol.factor(x.A, f.n, 0, nil)
		switch {
		case ok && f.chol.pivot >= refinePivot, ok && f.chol.pivot >= qrPivot && x.rows == nil:
			return HessianGaussNewton
		case x.rows != nil && x.linear.rankOfRows(x) == f.n:
			f.qr = &x.linear.qr
			return HessianGaussNewton
		}
		x.updateScaling(f.d, ScalingCurrent, true)
		for f.tau = 1e-12; f.tau <= 10; f.tau *= 10 {
			if f.chol.factor(x.A, f.n, f.tau, f.d) && f.chol.pivot >= 0.1*f.tau {
				return HessianRegularised
			}
		}
	}
	f.n = 0
	return HessianFailed
}

// solve overwrites x with M⁻¹b; the two may be the same.
func (f *factored) solve(x, b []float64) {
	if f.qr != nil {
		f.qr.solveNormal(x, b)
		return
	}
	rhs := f.rhs[:f.n]
	copy(rhs, b)
	f.chol.solve(x, rhs)
	f.chol.refine(x, rhs, f.m, f.tau, f.d, f.scratch)
}

// FactorSolution factors the matrix of the implicit derivative at w for
// SolveAdjoint:
//
//	HessianExact        H = JᵀJ + Σ r_i∇²r_i + ε²I   if positive definite, else
//	HessianGaussNewton  A = JᵀJ + ε²I                if numerically so, by Cholesky
//	                                                 or by QR of the rows, else
//	                    A + τ·diag(A), τ = 1e-12, 1e-11, ...
//
// It returns the matrix that was used. A problem that is not [SecondOrder] has no
// exact one.
//
// What the last Solve or FactorSolution of this solver has evaluated at the same
// w is not evaluated again: the problem must be that of the last call and give the
// same rows. At another w everything is evaluated.
func (s *Solver) FactorSolution(p Problem, w []float64, want Hessian) Hessian {
	s.bind(p, w)
	if !slices.Equal(w, s.at.W) {
		s.moveTo(w)
	}
	if p, ok := p.(SecondOrder); ok && want == HessianExact {
		if !s.at.hasH {
			s.at.evaluateHessian(p, !s.at.known)
		}
		if s.adjoint.factorExact(s.at) {
			return HessianExact
		}
	}
	if !s.at.known {
		s.at.evaluate(true)
	}
	return s.adjoint.factorGaussNewton(s.at)
}

// SolveAdjoint overwrites lambda with M⁻¹wbar, M the matrix of the last
// FactorSolution; the two slices may be the same. With wbar = ∂L/∂w the gradient
// of a loss through the solution is
//
//	∂L/∂θ = −(∂g/∂θ)ᵀλ,  g = Jᵀr.
//
// After HessianFailed,
// lambda is zero. The factor lasts until the next Solve or FactorSolution. It
// panics if FactorSolution was never called.
func (s *Solver) SolveAdjoint(lambda, wbar []float64) {
	switch n := s.adjoint.n; {
	case n < 0:
		panic("lm: SolveAdjoint before FactorSolution")
	case n == 0:
		clear(lambda)
	case len(lambda) != n || len(wbar) != n:
		panic("lm: SolveAdjoint wants vectors of the factored problem's size")
	default:
		s.adjoint.solve(lambda, wbar)
	}
}
