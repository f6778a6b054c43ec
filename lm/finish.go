package lm

import "math"

// finish applies the Newton correction to the current point and measures it.
func (s *Solver) finish(res *Result) {
	exact := s.opt.NewtonCorrection && s.correct(res)
	x, chol := s.at, &s.linear.chol
	n, newton := len(x.W), s.step[:len(x.W)]
	chol.factor(x.A, n, 0, nil)
	res.Cost, res.Gradient, res.SmallestPivot = x.Cost, x.gradient, chol.pivot
	res.setRank(s.linear.rank(x), n)
	if exact {
		chol = &s.adjoint.chol
	}
	switch {
	case x.gradient == 0:
		res.Distance = 0
	case chol.pivot > 0:
		chol.solve(newton, x.G)
		res.Distance = norm(newton)
	default:
		res.Distance = math.Inf(1)
	}
}

// correct takes one Newton step with the exact Hessian. It reports whether that
// is positive definite (its factor is then in s.adjoint).
func (s *Solver) correct(res *Result) bool {
	at, trial, f := s.at, s.trial, &s.adjoint
	p, ok := at.problem.(SecondOrder)
	if !ok {
		return false
	}
	res.Evaluations++
	at.evaluateHessian(p, false)
	if !f.factorExact(at) {
		return false
	}
	step := s.step[:len(at.W)]
	negate(step, at.G)
	f.solve(step, step)
	for j, v := range at.W {
		trial.W[j] = v + step[j]
	}
	res.Evaluations++
	trial.evaluateHessian(p, true)
	if !finite(trial.Cost) || !finite(trial.gradient) {
		return true
	}
	// Within the rounding of the cost the gradient decides.
	rises := trial.Cost > at.Cost
	if math.Abs(trial.Cost-at.Cost) <= noise*at.Cost {
		rises = trial.gradient > at.gradient
	}
	if !rises {
		s.at, s.trial = trial, at
		s.linear.qr.valid = false
		res.Corrected = true
	}
	return true
}
