package lm

import "math"

// finish applies the Newton correction and measures the final point. On entry
// a, g, cost and gradient belong to w.
func (s *Solver) finish() {
	n := s.n
	exact := false
	if so, ok := s.p.(SecondOrder); ok && s.opt.NewtonCorrection {
		exact = s.correct(so)
	}
	s.res.Cost, s.res.Gradient, s.res.Damping = s.cost, s.gradient, s.mu
	s.res.Rank = n
	s.chol.factor(s.a, n, 0, nil)
	s.res.SmallestPivot = s.chol.pivot
	if s.chol.pivot < qrPivot {
		s.res.Rank = s.rank()
		if s.res.Rank < n && !s.res.Status.Early() {
			s.res.Status = RankDeficient
		}
	}
	switch {
	case s.gradient == 0:
		s.res.Distance = 0
	case exact:
		s.adjoint.solve(s.tmp, s.g)
		s.res.Distance = norm(s.tmp[:n])
	case s.chol.pivot > 0:
		s.chol.solve(s.tmp, s.g)
		s.res.Distance = norm(s.tmp[:n])
	default:
		s.res.Distance = math.Inf(1)
	}
}

// correct takes one Newton step with the exact Hessian at w. It reports
// whether H is positive definite (its factor is then in s.adjoint).
func (s *Solver) correct(p SecondOrder) bool {
	n := s.n
	s.hasH = s.hessian(p, s.w, true)
	if !s.hasH || !s.adjoint.factor(s.h, n, 0, nil) || s.adjoint.pivot < hessianPivot {
		return false
	}
	negate(s.tmp[:n], s.g[:n])
	s.adjoint.solve(s.step, s.tmp)
	s.adjoint.refine(s.step, s.tmp, s.h, 0, nil, s.tmp2)
	for j, v := range s.w {
		s.trial[j] = v + s.step[j]
	}
	split, _ := s.p.(SplitHessian)
	var cost float64
	if split != nil {
		s.res.Evaluations++
		cost = split.HessianParts(s.aTrial[:n*n], s.hTrial[:n*n], s.gTrial[:n], s.trial[:n])
		cost += s.addRidge(s.aTrial, s.gTrial, s.trial[:n])
		axpy(s.hTrial[:n*n], 1, s.aTrial[:n*n])
	} else {
		cost = s.eval(s.aTrial, s.gTrial, s.trial[:n])
	}
	gradient := s.measure(s.aTrial, s.gTrial, cost)
	if !finite(cost) || !finite(gradient) {
		return true
	}
	// Within the rounding of the cost the gradient decides.
	rises := cost > s.cost
	if math.Abs(cost-s.cost) <= noise*s.cost {
		rises = gradient > s.gradient
	}
	if rises {
		return true
	}
	copy(s.w, s.trial[:n])
	s.a, s.aTrial = s.aTrial, s.a
	s.g, s.gTrial = s.gTrial, s.g
	s.h, s.hTrial = s.hTrial, s.h
	s.hasH = split != nil && allFinite(s.h[:n*n])
	s.cost, s.gradient = cost, gradient
	s.qr.valid, s.gaussNewtonValid = false, false
	s.res.Corrected = true
	return true
}

// hessian evaluates H + ε²I into s.h and reports whether it is finite. The
// gradient goes to tmp2. known says that a belongs to w.
func (s *Solver) hessian(p SecondOrder, w []float64, known bool) bool {
	n := s.n
	s.res.Evaluations++
	if split, ok := p.(SplitHessian); ok && known {
		cost := split.HessianParts(nil, s.h[:n*n], nil, w)
		axpy(s.h[:n*n], 1, s.a[:n*n])
		return finite(cost) && allFinite(s.h[:n*n])
	}
	cost := p.Hessian(s.h[:n*n], s.tmp2[:n], w) + s.addRidge(s.h, s.tmp2, w)
	return finite(cost) && allFinite(s.h[:n*n])
}

func allFinite(x []float64) bool {
	check := 0.0
	for _, v := range x {
		check += v * 0
	}
	return check == 0
}

// currentRank returns the rank of [J; εI] at w. Pivots that leave no doubt save
// the factorisation of the rows.
func (s *Solver) currentRank() int {
	s.chol.factor(s.a, s.n, 0, nil)
	if s.chol.pivot >= qrPivot {
		return s.n
	}
	return s.rank()
}

// rank returns the numerical rank of [J; εI] with columns scaled to unit
// length: from the rows by pivoted QR where they can be read, and otherwise
// by pivoted Cholesky of JᵀJ, which cannot see below about 1e-8.
func (s *Solver) rank() int {
	if s.rows != nil {
		s.factorRows()
		return s.qr.rank()
	}
	return pivotedCholeskyRank(s.hTrial, s.a, s.n)
}
