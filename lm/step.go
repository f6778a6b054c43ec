package lm

import "math"

// computeStep writes the trial step and returns the cost reduction that the
// quadratic model predicts for it. ok is false where no usable step exists at
// the present damping.
func (s *Solver) computeStep() (predicted float64, ok bool) {
	n := s.n
	step := s.step[:n]
	switch s.opt.Descent {
	case GaussNewton:
		ok = s.gaussNewtonStep()
		for j := range step {
			step[j] = s.length * s.gaussNewton[j]
		}
		return s.reduction(step), ok
	case Dogleg:
		ok = s.doglegStep()
		return s.reduction(step), ok
	}
	s.solvable = s.solveDamped(step, s.mu)
	if !s.solvable {
		clear(step)
		return 0, false
	}
	predicted = s.reduction(step)
	// Near the end the second difference along a short step is mostly rounding.
	if !s.opt.NoAcceleration && predicted > accelerateAbove*s.cost {
		ok = s.accelerate()
		return predicted, ok
	}
	return predicted, true
}

// reduction returns −gᵀδ − ½δᵀAδ. The second term is at most half the first
// for every step computed here, so nothing cancels.
func (s *Solver) reduction(step []float64) float64 {
	n := s.n
	quadratic := 0.0
	for i, v := range step {
		quadratic += v * dot(s.a[i*n:(i+1)*n], step)
	}
	return -dot(s.g[:n], step) - 0.5*quadratic
}

// solveDamped solves (A + μD²) step = −g.
func (s *Solver) solveDamped(step []float64, mu float64) bool {
	n := s.n
	d := s.d[:n]
	if s.opt.Linear == QR && s.rows != nil {
		return s.solveQR(step, mu)
	}
	ok := s.chol.factor(s.a, n, mu, d)
	if s.opt.Linear == Automatic && s.chol.pivot < qrPivot && s.rows != nil {
		return s.solveQR(step, mu)
	}
	if !ok {
		return false
	}
	negate(s.tmp[:n], s.g[:n])
	s.chol.solve(step, s.tmp)
	if s.opt.Linear == Cholesky || s.chol.pivot >= refinePivot {
		return true
	}
	if s.rows != nil {
		s.refineRows(step, mu)
	} else {
		s.chol.refine(step, s.tmp, s.a, mu, d, s.tmp2)
	}
	return true
}

func negate(dst, x []float64) {
	for i, v := range x {
		dst[i] = -v
	}
}

// refineRows improves step with the true rows: the residual of the normal
// equations is Jᵀ(r + Jδ) + ε²(w + δ) + μD²δ, which does not see the rounding
// of JᵀJ.
func (s *Solver) refineRows(step []float64, mu float64) {
	n := s.n
	e2 := s.opt.Ridge * s.opt.Ridge
	for j := range n {
		s.tmp2[j] = e2*(s.w[j]+step[j]) + mu*s.d[j]*s.d[j]*step[j]
	}
	s.rows.EachBlock(s.w, s.visitRefine)
	s.chol.solve(s.tmp2, s.tmp2)
	axpy(step, -1, s.tmp2[:n])
}

func (s *Solver) refineBlock(r, jac []float64) {
	n := s.n
	for i, v := range r {
		row := jac[i*n : (i+1)*n]
		axpy(s.tmp2[:n], v+dot(row, s.step[:n]), row)
	}
}

// solveQR solves the damped problem from the rows by pivoted QR.
func (s *Solver) solveQR(step []float64, mu float64) bool {
	s.factorRows()
	return s.qr.solve(step, math.Sqrt(mu), s.d[:s.n])
}

// factorRows makes qr hold the triangular factor of [J; εI] and the rotated
// right-hand side at w.
func (s *Solver) factorRows() {
	if s.qr.valid {
		return
	}
	s.qr.reset(s.n)
	s.rows.EachBlock(s.w, s.visitQR)
	if s.opt.Ridge != 0 {
		s.qr.diagonal(s.opt.Ridge, s.w)
	}
	s.qr.valid = true
}

// gaussNewtonStep computes −A⁻¹g once per point. A singular A gets the
// smallest damping, in powers of ten from n·eps, that makes it solvable.
func (s *Solver) gaussNewtonStep() bool {
	if s.gaussNewtonValid {
		return true
	}
	n := s.n
	floor := 0.0
	for j := range n {
		floor = max(floor, s.a[j*n+j]/(s.d[j]*s.d[j]))
	}
	mu := 0.0
	for range 16 {
		if s.solveInto(s.gaussNewton[:n], mu) {
			s.gaussNewtonValid = true
			return true
		}
		mu = max(10*mu, float64(n)*epsilon*floor)
	}
	clear(s.step[:n])
	return false
}

// solveInto is solveDamped into another vector than step, which refineBlock
// reads.
func (s *Solver) solveInto(dst []float64, mu float64) bool {
	ok := s.solveDamped(s.step[:s.n], mu)
	copy(dst, s.step[:s.n])
	for _, v := range dst {
		if !finite(v) {
			return false
		}
	}
	return ok
}

// doglegStep follows Powell's path in the variables Dw.
func (s *Solver) doglegStep() bool {
	n := s.n
	if !s.gaussNewtonStep() {
		return false
	}
	step, d, gn := s.step[:n], s.d[:n], s.gaussNewton[:n]
	length := scaledNorm(d, gn)
	if length <= s.radius {
		copy(step, gn)
		return true
	}
	// Steepest descent in scaled variables: p = −D⁻²g, ‖Dp‖ = ‖D⁻¹g‖.
	gnorm2, curvature := 0.0, 0.0
	for j := range n {
		s.tmp[j] = -s.g[j] / (d[j] * d[j])
		gnorm2 += (s.g[j] / d[j]) * (s.g[j] / d[j])
	}
	for j := range n {
		curvature += s.tmp[j] * dot(s.a[j*n:(j+1)*n], s.tmp[:n])
	}
	t := s.radius / math.Sqrt(gnorm2)
	if curvature > 0 {
		t = min(t, gnorm2/curvature)
	}
	cauchy := t * math.Sqrt(gnorm2)
	for j := range step {
		step[j] = t * s.tmp[j]
	}
	if cauchy >= s.radius*(1-epsilon) {
		return true
	}
	// ‖D(c + β(gn − c))‖ = Δ, the positive root.
	var aa, bb float64
	for j := range n {
		diff := d[j] * (gn[j] - step[j])
		aa += diff * diff
		bb += diff * d[j] * step[j]
	}
	cc := cauchy*cauchy - s.radius*s.radius
	beta := math.Sqrt(bb*bb - aa*cc)
	if bb > 0 {
		beta = -cc / (bb + beta)
	} else {
		beta = (beta - bb) / aa
	}
	for j := range step {
		step[j] += beta * (gn[j] - step[j])
	}
	return true
}

// accelerate adds half the geodesic acceleration (A + μD²)a = −Jᵀr_vv to the
// step v. It reports false, which rejects the trial, if a is not short
// against v. Steps that came from QR are left alone.
func (s *Solver) accelerate() bool {
	p, ok := s.p.(Accelerated)
	if !ok || s.chol.pivot == 0 || s.opt.Linear == QR {
		return true
	}
	n := s.n
	acc := s.acceleration[:n]
	p.Curvature(acc, s.w, s.step[:n])
	s.chol.solve(acc, acc)
	if !(scaledNorm(s.d[:n], acc) <= maxAcceleration*scaledNorm(s.d[:n], s.step[:n])) {
		return false
	}
	axpy(s.step[:n], -0.5, acc)
	return true
}
