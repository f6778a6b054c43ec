package lm

import "math"

// converged applies the step tests to a trial about to be accepted, and
// returns NotStarted if none is met.
func (s *Solver) converged(o outcome, predicted, size float64) Status {
	if !o.accepted {
		return NotStarted
	}
	if s.opt.Termination == Cauchy {
		if s.cauchy() {
			return ConvergedStep
		}
		return NotStarted
	}
	if s.opt.FTol >= 0 && math.Abs(o.actual) <= s.opt.FTol*s.cost &&
		predicted <= s.opt.FTol*s.cost && o.ratio <= 2 {
		return ConvergedCost
	}
	if s.opt.XTol >= 0 && size <= s.opt.XTol*scaledNorm(s.d[:s.n], s.w) {
		return ConvergedStep
	}
	return NotStarted
}

// startCauchy evaluates the residuals at the start if the rule needs them,
// growing the two buffers the first time a problem is that long.
func (s *Solver) startCauchy() {
	p, ok := s.p.(Residuals)
	if s.opt.Termination != Cauchy || !ok {
		s.r, s.rTrial = s.r[:0], s.rTrial[:0]
		return
	}
	m := p.Rows()
	if cap(s.r) < m {
		s.r = make([]float64, m)
	}
	if cap(s.rTrial) < m {
		s.rTrial = make([]float64, m)
	}
	s.r, s.rTrial = s.r[:m], s.rTrial[:m]
	p.Residual(s.r, s.w)
}

// cauchy is optimistix._misc.cauchy_termination with the max norm.
func (s *Solver) cauchy() bool {
	below := func(diff, value float64) bool {
		return math.Abs(diff) < s.opt.ATol+s.opt.RTol*math.Abs(value)
	}
	if p, ok := s.p.(Residuals); ok {
		p.Residual(s.rTrial, s.trial[:s.n])
	} else {
		before, after := math.Sqrt(2*s.cost), math.Sqrt(2*s.p.Normal(nil, nil, s.trial[:s.n]))
		if !below(before-after, before) {
			return false
		}
	}
	for j, v := range s.w {
		if !below(s.step[j], v) {
			return false
		}
	}
	for i, v := range s.r {
		if !below(s.rTrial[i]-v, v) {
			return false
		}
	}
	return true
}

// creeping reports whether a run that may be restarted has used half of the
// iterations far from stationarity and lowered its cost by less than a factor of
// a hundred in the second quarter: the other half is worth more with another
// scaling.
func (s *Solver) creeping() bool {
	limit := s.opt.MaxIterations
	switch {
	case !s.restartable:
		return false
	case s.res.Iterations == limit/4:
		s.quarterCost = s.cost
	case s.res.Iterations == limit/2:
		return s.cost > creepingCost*s.quarterCost && s.gradient > plateauGradient
	}
	return false
}

// plateau reports whether the run ended where the cost is flat without being
// stationary, or where a column of J has all but vanished against its largest
// size: Moré's D then holds that unknown in place. A cost that has fallen to
// rounding is no plateau.
func (s *Solver) plateau() bool {
	if s.res.Status == NonFiniteStart || s.negligible() {
		return false
	}
	if s.res.Status != ConvergedGradient && s.gradient > plateauGradient {
		return true
	}
	n := s.n
	for j := range n {
		// D_j = 1 beside a zero column marks one that was never anything else.
		if v := math.Sqrt(s.a[j*n+j]); v < plateauCollapse*s.d[j] && !(v == 0 && s.d[j] == 1) {
			return true
		}
	}
	return false
}

// negligible reports whether the cost has fallen to rounding.
func (s *Solver) negligible() bool { return s.cost <= noise*noise*s.startCost }
