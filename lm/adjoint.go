package lm

import "slices"

// AdjointMode chooses the matrix of the implicit derivative.
type AdjointMode int

const (
	// AdjointExact uses H = JᵀJ + Σ r_i∇²r_i + ε²I, the derivative of the
	// stationarity condition g(w, θ) = 0 that the solution satisfies.
	AdjointExact AdjointMode = iota
	// AdjointGaussNewton uses JᵀJ + ε²I and the full right-hand side: right
	// where the residual is small.
	AdjointGaussNewton
	// AdjointPaper differentiates the residual equation r(w, θ) = 0, as the text
	// of Chalapathi et al. (2024) does: JᵀJ + ε²I and a right-hand side without
	// the derivative of J. It is right only for consistent systems.
	AdjointPaper
)

var adjointModes = enum[AdjointMode]{"adjoint", []string{"exact", "gauss-newton", "paper"}}

// String returns "exact", "gauss-newton" or "paper".
func (m AdjointMode) String() string { return adjointModes.print(m) }

// FactorStatus says which matrix Factor could use.
type FactorStatus int

const (
	FactorExact       FactorStatus = iota // the exact Hessian
	FactorGaussNewton                     // JᵀJ + ε²I, asked for or because H is not positive definite
	FactorRegularised                     // JᵀJ + ε²I + τ·diag(JᵀJ), because that is singular
	FactorFailed                          // not finite: SolveAdjoint gives zeros
)

var factorStatuses = enum[FactorStatus]{"factor status", []string{"exact", "gauss-newton", "regularised", "failed"}}

// String returns a short lower-case name.
func (s FactorStatus) String() string { return factorStatuses.print(s) }

// factored is the matrix M of the implicit derivative, factored.
type factored struct {
	n            int       // its size; 0 after FactorFailed, -1 before any Factor
	m            []float64 // the matrix without its regularisation, at a point
	tau          float64   // the regularisation is τ·diag(d)²
	d            []float64
	chol         cholesky
	qr           *qrFactor // used instead of chol where not nil
	rhs, scratch []float64
	lambda       []float64 // of VJP
}

func newFactored(n int) factored {
	return factored{
		n: -1, d: make([]float64, n), chol: newCholesky(n),
		rhs: make([]float64, n), scratch: make([]float64, n), lambda: make([]float64, n),
	}
}

// factorExact factors the exact Hessian at x, where there is one and it is
// positive definite.
func (f *factored) factorExact(x *Point) bool {
	f.n, f.m, f.tau, f.qr = len(x.W), x.h, 0, nil
	return x.hasH && f.chol.factor(x.h, f.n, 0, nil) && f.chol.pivot >= hessianPivot
}

// factorGaussNewton factors a at x, from the rows by QR where it is too nearly
// singular for Cholesky, with a regularisation where it is singular.
func (f *factored) factorGaussNewton(x *Point, l *linear) FactorStatus {
	n := len(x.W)
	f.n, f.m, f.tau, f.qr = n, x.A, 0, nil
	if !finite(x.Cost) || !allFinite(x.A) {
		f.n = 0
		return FactorFailed
	}
	ok := f.chol.factor(x.A, n, 0, nil)
	switch {
	case ok && f.chol.pivot >= refinePivot:
		return FactorGaussNewton
	case x.rows != nil:
		l.factorRows(x)
		if l.qr.rank() == n {
			f.qr = &l.qr
			return FactorGaussNewton
		}
	case ok && f.chol.pivot >= qrPivot:
		return FactorGaussNewton
	}
	x.scale(f.d, ScalingCurrent, true)
	for f.tau = 1e-12; ; f.tau *= 10 {
		if f.chol.factor(x.A, n, f.tau, f.d) && f.chol.pivot >= 0.1*f.tau {
			return FactorRegularised
		}
		if f.tau > 1 {
			f.n = 0
			return FactorFailed
		}
	}
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

// Factor evaluates the matrix of the implicit derivative at w, afresh, and
// factors it for SolveAdjoint:
//
//	AdjointExact        H = JᵀJ + Σ r_i∇²r_i + ε²I   if positive definite, else
//	AdjointGaussNewton  A = JᵀJ + ε²I                if numerically so, by Cholesky
//	  and AdjointPaper                               or by QR of the rows, else
//	                    A + τ·diag(A), τ = 1e-12, 1e-11, ...
//
// The status names the matrix that was used. A problem that is not
// [SecondOrder] has no exact mode and reports FactorGaussNewton.
func (s *Solver) Factor(p Problem, w []float64, mode AdjointMode) FactorStatus {
	s.bind(p, w)
	s.moveTo(w)
	return s.factor(mode)
}

// FactorSolution is Factor without evaluating again what the last Solve, Factor
// or FactorSolution of this solver has evaluated at the same w. The problem must
// be that of the last call and give the same rows; at another w everything is
// evaluated.
func (s *Solver) FactorSolution(p Problem, w []float64, mode AdjointMode) FactorStatus {
	s.bind(p, w)
	if !slices.Equal(w, s.at.W) {
		s.moveTo(w)
	}
	return s.factor(mode)
}

// factor factors at the current point and evaluates what is not known there.
func (s *Solver) factor(mode AdjointMode) FactorStatus {
	if p, ok := s.at.problem.(SecondOrder); ok && mode == AdjointExact {
		if !s.at.hasH {
			s.at.evaluateHessian(p, !s.known)
			s.known = true
		}
		if s.adjoint.factorExact(s.at) {
			return FactorExact
		}
	}
	if !s.known {
		s.at.evaluate(true)
		s.known = true
	}
	return s.adjoint.factorGaussNewton(s.at, &s.linear)
}

// SolveAdjoint overwrites lambda with M⁻¹wbar, M the matrix of the last
// Factor; the two slices may be the same. With wbar = ∂L/∂w the gradient of a
// loss through the solution is
//
//	∂L/∂θ = −(∂g/∂θ)ᵀλ,  g = Jᵀr.
//
// After FactorFailed, lambda is zero. The factor lasts until the next Solve or
// Factor. It panics if Factor was never called.
func (s *Solver) SolveAdjoint(lambda, wbar []float64) {
	switch n := s.adjoint.n; {
	case n < 0:
		panic("lm: SolveAdjoint before Factor")
	case n == 0:
		clear(lambda)
	case len(lambda) != n || len(wbar) != n:
		panic("lm: SolveAdjoint wants vectors of the factored problem's size")
	default:
		s.adjoint.solve(lambda, wbar)
	}
}

// VJP pulls wbar = ∂L/∂w at the solution w back to the parameters:
// thetaBar = −(∂g/∂θ)ᵀM⁻¹wbar. It calls Factor. In AdjointPaper mode the
// derivative of J is left out of ∂g/∂θ.
func (s *Solver) VJP(p Parametric, w, wbar, thetaBar []float64, mode AdjointMode) FactorStatus {
	if len(thetaBar) != p.Params() {
		panic("lm: len(thetaBar) is not Params()")
	}
	status := s.Factor(p, w, mode)
	lambda := s.adjoint.lambda[:len(w)]
	s.SolveAdjoint(lambda, wbar)
	p.PullGradient(thetaBar, w, lambda, mode == AdjointPaper)
	negate(thetaBar, thetaBar)
	return status
}
