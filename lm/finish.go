package lm

import "math"

// finish applies the Newton correction to the current point and measures it.
func (s *Solver) finish(p problem, res *Result) {
	exact := s.opt.NewtonCorrection && s.correct(p, res)
	x, v := s.at, s.step[:p.n]
	chol := &s.linear.chol
	chol.factor(x.a, p.n, 0, nil)
	res.Cost, res.Gradient, res.SmallestPivot = x.cost, x.gradient, chol.pivot
	switch {
	case x.gradient == 0:
		res.Distance = 0
	case exact:
		s.adjoint.chol.solve(v, x.g)
		res.Distance = norm(v)
	case chol.pivot > 0:
		chol.solve(v, x.g)
		res.Distance = norm(v)
	default:
		res.Distance = math.Inf(1)
	}
	res.Rank = s.linear.rank(p, x)
	if res.Rank < p.n && !res.Status.Early() {
		res.Status = StatusRankDeficient
	}
}

// correct takes one Newton step with the exact Hessian. It reports whether that
// is positive definite (its factor is then in s.adjoint).
func (s *Solver) correct(p problem, res *Result) bool {
	second, ok := p.Problem.(SecondOrder)
	if !ok {
		return false
	}
	at, trial, f := s.at, s.trial, &s.adjoint
	res.Evaluations++
	p.hessian(at, second, false)
	if !f.factorExact(at) {
		return false
	}
	step := s.step[:p.n]
	negate(step, at.g)
	f.solve(step, step)
	for j, v := range at.w {
		trial.w[j] = v + step[j]
	}
	res.Evaluations++
	p.hessian(trial, second, true)
	if !finite(trial.cost) || !finite(trial.gradient) {
		return true
	}
	// Within the rounding of the cost the gradient decides.
	rises := trial.cost > at.cost
	if math.Abs(trial.cost-at.cost) <= noise*at.cost {
		rises = trial.gradient > at.gradient
	}
	if !rises {
		s.at, s.trial = trial, at
		s.linear.qr.valid = false
		res.Corrected = true
	}
	return true
}
