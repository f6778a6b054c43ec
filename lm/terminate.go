package lm

import "math"

// converged applies the step tests to a trial about to be accepted, and
// returns StatusNotStarted if none is met.
func (s *Solver) converged(o outcome, predicted, size float64) Status {
	if ftol := s.opt.FTol * s.at.Cost; s.opt.FTol >= 0 && math.Abs(o.actual) <= ftol && predicted <= ftol && o.ratio <= 2 {
		return StatusConvergedCost
	}
	if s.opt.XTol >= 0 && size <= s.opt.XTol*s.at.Norm(s.at.W) {
		return StatusConvergedStep
	}
	return StatusNotStarted
}

// exhausted names the end of a run that no trial can improve further. After
// rejections that is a stall, unless the gradient test holds to half the
// digits: then the tolerances asked for more than the rounding of the cost
// allows.
func (s *Solver) exhausted(converged Status, rejections int) Status {
	if rejections > 0 && s.at.gradient > rootEpsilon {
		return StatusStalled
	}
	return converged
}

// creeping reports whether a run that may be restarted has used half of the
// iterations far from stationarity and lowered its cost by less than a factor of
// a hundred in the second quarter: the other half is worth more with another
// scaling.
func (s *Solver) creeping(past *history, iterations int) bool {
	limit := s.opt.MaxIterations
	switch {
	case !past.restartable:
		return false
	case iterations == limit/4:
		past.quarterCost = s.at.Cost
	case iterations == limit/2:
		return s.at.Cost > creepingCost*past.quarterCost && s.at.gradient > plateauGradient
	}
	return false
}

// plateau reports whether the run ended where the cost is flat without being
// stationary, or where a column of J has all but vanished against its largest
// size: Moré's D then holds that unknown in place. A cost that has fallen to
// rounding is no plateau.
func (s *Solver) plateau(past history, end Status) bool {
	if s.negligible(past) {
		return false
	}
	if end != StatusConvergedGradient && s.at.gradient > plateauGradient {
		return true
	}
	n := len(s.at.W)
	for j := range n {
		// D_j = 1 beside a zero column marks one that was never anything else.
		if v := math.Sqrt(s.at.A[j*n+j]); v < plateauCollapse*s.at.D[j] && !(v == 0 && s.at.D[j] == 1) {
			return true
		}
	}
	return false
}

// negligible reports whether the cost has fallen to rounding.
func (s *Solver) negligible(past history) bool { return s.at.Cost <= noise*noise*past.startCost }
