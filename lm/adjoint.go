package lm

import (
	"fmt"
	"math"
)

// AdjointMode chooses the matrix of the implicit derivative.
type AdjointMode int

const (
	// Exact uses H = JᵀJ + Σ r_i∇²r_i + ε²I, the derivative of the
	// stationarity condition g(w, θ) = 0 that the solution satisfies.
	Exact AdjointMode = iota
	// GaussNewtonAdjoint uses JᵀJ + ε²I and the full right-hand side: right
	// where the residual is small.
	GaussNewtonAdjoint
	// Paper differentiates the residual equation r(w, θ) = 0, as the text of
	// Chalapathi et al. (2024) does: JᵀJ + ε²I and a right-hand side without
	// the derivative of J. It is right only for consistent systems.
	Paper
)

var adjointModeNames = [...]string{Exact: "exact", GaussNewtonAdjoint: "gauss-newton", Paper: "paper"}

// String returns "exact", "gauss-newton" or "paper".
func (m AdjointMode) String() string {
	if m < 0 || int(m) >= len(adjointModeNames) {
		return fmt.Sprintf("lm.AdjointMode(%d)", int(m))
	}
	return adjointModeNames[m]
}

// ParseAdjointMode is the inverse of String.
func ParseAdjointMode(name string) (AdjointMode, error) {
	for m, s := range adjointModeNames {
		if s == name {
			return AdjointMode(m), nil
		}
	}
	return 0, fmt.Errorf("lm: adjoint %q: want exact, gauss-newton or paper", name)
}

// AdjointStatus says which matrix Factor could use.
type AdjointStatus int

const (
	AdjointExact       AdjointStatus = iota // the exact Hessian
	AdjointGaussNewton                      // JᵀJ + ε²I, asked for or because H is not positive definite
	AdjointRegularised                      // JᵀJ + ε²I + τ·diag(JᵀJ), because that is singular
	AdjointFailed                           // not finite: SolveAdjoint gives zeros
)

var adjointStatusNames = [...]string{
	AdjointExact: "exact", AdjointGaussNewton: "gauss-newton",
	AdjointRegularised: "regularised", AdjointFailed: "failed",
}

// String returns a short lower-case name.
func (s AdjointStatus) String() string {
	if s < 0 || int(s) >= len(adjointStatusNames) {
		return fmt.Sprintf("lm.AdjointStatus(%d)", int(s))
	}
	return adjointStatusNames[s]
}

// Factor evaluates the matrix of the implicit derivative at w, afresh, and
// factors it for SolveAdjoint and SolveTangent:
//
//	Exact               H = JᵀJ + Σ r_i∇²r_i + ε²I   if positive definite, else
//	GaussNewtonAdjoint  A = JᵀJ + ε²I                if numerically so, by Cholesky
//	  and Paper                                      or by QR of the rows, else
//	                    A + τ·diag(A), τ = 1e-12, 1e-11, ...
//
// The status names the matrix that was used. A problem that is not
// [SecondOrder] has no exact mode and reports AdjointGaussNewton.
func (s *Solver) Factor(p Problem, w []float64, mode AdjointMode) AdjointStatus {
	s.bind(p, w)
	defer s.release()
	return s.factor(mode)
}

// FactorSolution is Factor at the solution of the last Solve, without evaluating
// what that has evaluated already: the problem and w must be those of that call,
// and neither may have changed. Where anything is missing it evaluates it.
func (s *Solver) FactorSolution(p Problem, w []float64, mode AdjointMode) AdjointStatus {
	hasSolved, hasH := s.hasSolved, s.hasH
	s.bind(p, w)
	defer s.release()
	for j, v := range w {
		hasSolved = hasSolved && v == s.solved[j]
	}
	s.hasSolved, s.hasH = hasSolved, hasSolved && hasH
	return s.factor(mode)
}

// factor is Factor for the bound problem; it takes h, and a and g, as they are
// where they are known to belong to w, and leaves them alone.
func (s *Solver) factor(mode AdjointMode) AdjointStatus {
	p, w, n := s.p, s.w, s.n
	s.adjointN, s.adjointQ, s.adjointT = n, false, 0
	if so, ok := p.(SecondOrder); ok && mode == Exact {
		s.hasH = s.hasH || s.hessian(so, w, s.hasSolved)
		if s.hasH && s.adjoint.factor(s.h, n, 0, nil) && s.adjoint.pivot >= hessianPivot {
			return AdjointExact
		}
	}
	s.hasH = false
	var cost float64
	if s.hasSolved {
		copy(s.h[:n*n], s.a[:n*n])
	} else {
		cost = s.eval(s.h, s.g, w)
	}
	if !finite(cost) || !allFinite(s.h[:n*n]) {
		s.adjointN = 0
		return AdjointFailed
	}
	ok := s.adjoint.factor(s.h, n, 0, nil)
	if ok && s.adjoint.pivot >= refinePivot {
		return AdjointGaussNewton
	}
	if s.rows != nil {
		s.factorRows()
		if s.qr.rank() == n {
			s.adjointQ = true
			return AdjointGaussNewton
		}
	} else if ok && s.adjoint.pivot >= qrPivot {
		return AdjointGaussNewton
	}
	for j := range n {
		s.d[j] = math.Sqrt(s.h[j*n+j])
		if s.d[j] == 0 {
			s.d[j] = 1
		}
	}
	for tau := 1e-12; ; tau *= 10 {
		if s.adjoint.factor(s.h, n, tau, s.d) && s.adjoint.pivot >= 0.1*tau {
			s.adjointT = tau
			return AdjointRegularised
		}
		if tau > 1 {
			s.adjointN = 0
			return AdjointFailed
		}
	}
}

// SolveAdjoint overwrites lambda with M⁻¹wbar, M the matrix of the last
// Factor; the two slices may be the same. With
// wbar = ∂L/∂w the gradient of a loss through the solution is
//
//	∂L/∂θ = −(∂g/∂θ)ᵀλ,  g = Jᵀr.
//
// After AdjointFailed, lambda is zero. The factor lasts until the next Solve or
// Factor. It panics if Factor was never called.
func (s *Solver) SolveAdjoint(lambda, wbar []float64) {
	n := s.adjointN
	if n < 0 {
		panic("lm: SolveAdjoint before Factor")
	}
	if n == 0 {
		clear(lambda)
		return
	}
	if len(lambda) != n || len(wbar) != n {
		panic("lm: SolveAdjoint wants vectors of the factored problem's size")
	}
	if s.adjointQ {
		s.qr.solveNormal(lambda, wbar)
		return
	}
	copy(s.tmp[:n], wbar)
	s.adjoint.solve(lambda, s.tmp)
	s.adjoint.refine(lambda, s.tmp, s.h, s.adjointT, s.d, s.tmp2)
}

// SolveTangent overwrites wdot with −M⁻¹gdot, the forward-mode derivative of
// the solution: gdot = (∂g/∂θ)·θdot is the change of g = Jᵀr at fixed w. The
// two slices may be the same.
func (s *Solver) SolveTangent(wdot, gdot []float64) {
	s.SolveAdjoint(wdot, gdot)
	negate(wdot, wdot)
}

// VJP pulls wbar = ∂L/∂w at the solution w back to the parameters:
// thetaBar = −(∂g/∂θ)ᵀM⁻¹wbar. It calls Factor. In Paper mode the derivative
// of J is left out of ∂g/∂θ.
func (s *Solver) VJP(p Parametric, w, wbar, thetaBar []float64, mode AdjointMode) AdjointStatus {
	if len(thetaBar) != p.Params() {
		panic("lm: len(thetaBar) is not Params()")
	}
	status := s.Factor(p, w, mode)
	lambda := s.acceleration[:len(w)]
	s.SolveAdjoint(lambda, wbar)
	p.PullGradient(thetaBar, w, lambda, mode == Paper)
	negate(thetaBar, thetaBar)
	return status
}

// JVP pushes a change thetaDot of the parameters forward to the solution:
// wdot = −M⁻¹(∂g/∂θ)thetaDot. It calls Factor.
func (s *Solver) JVP(p Parametric, w, thetaDot, wdot []float64, mode AdjointMode) AdjointStatus {
	if len(thetaDot) != p.Params() {
		panic("lm: len(thetaDot) is not Params()")
	}
	status := s.Factor(p, w, mode)
	p.PushGradient(wdot, w, thetaDot, mode == Paper)
	s.SolveTangent(wdot, wdot)
	return status
}
