package lm

import "math"

// Descent is the way from the quadratic model of the cost to a trial step:
// [LevenbergMarquardt], [GaussNewton] or [Dogleg].
type Descent interface {
	// descent returns the state of the descent in a solver of up to n unknowns.
	descent(n int) descent
}

// descent is a Descent at work. A point x, the scaling d and a step have the
// size of the problem p.
type descent interface {
	// start begins a run at x.
	start(x *point, d []float64)
	// step writes the trial step from x and returns the reduction of the cost
	// that the model predicts for it. ok is false where no usable step exists
	// at the present damping.
	step(step []float64, p problem, x *point, d []float64, l *linear) (predicted float64, ok bool)
	// accept loosens after a trial of ratio ρ and length ‖Dδ‖ = size.
	accept(ratio, size float64)
	// reject tightens after the k-th rejected trial from x in a row and reports
	// whether going on makes sense: false once trials are too short to change w.
	reject(k int, size float64, x *point, d []float64) bool
	// acceptFrom is the ratio ρ from which a trial is accepted.
	acceptFrom() float64
}

// LevenbergMarquardt solves (A + μD²)δ = −g.
type LevenbergMarquardt struct {
	Damping Damping // nil means Nielsen{}

	// InitialDamping is μ at the start relative to max_j A_jj/D_j²;
	// default 1e-3 (GSL).
	InitialDamping float64

	// NoAcceleration leaves out the geodesic acceleration of Transtrum and
	// Sethna (2012), which is part of each step where the problem is
	// [Accelerated]. The acceleration costs a problem of callbacks three
	// evaluations of the residual a step, and brings more of the hard starts to
	// a minimum.
	NoAcceleration bool
}

func (o LevenbergMarquardt) descent(n int) descent {
	if o.Damping == nil {
		o.Damping = Nielsen{}
	}
	if o.InitialDamping == 0 {
		o.InitialDamping = 1e-3
	}
	if !(o.InitialDamping > 0) {
		panic("lm: InitialDamping must be positive")
	}
	return &levenbergMarquardt{LevenbergMarquardt: o, acceleration: make([]float64, n)}
}

type levenbergMarquardt struct {
	LevenbergMarquardt
	mu           float64
	solvable     bool // the last damped system could be factored
	acceleration []float64
}

func (t *levenbergMarquardt) start(x *point, d []float64) {
	t.mu = t.Damping.Start(t.InitialDamping * x.largest(d))
	if t.mu == 0 {
		t.mu = 1
	}
}

func (t *levenbergMarquardt) step(step []float64, p problem, x *point, d []float64, l *linear) (predicted float64, ok bool) {
	t.solvable = l.solve(step, p, x, t.mu, d)
	if !t.solvable {
		clear(step)
		return 0, false
	}
	predicted = x.reduction(step)
	// Near the end the second difference along a short step is mostly rounding.
	if a, ok := p.Problem.(Accelerated); ok && !t.NoAcceleration && predicted > accelerateAbove*x.cost {
		return predicted, t.accelerate(step, a, x, d, l)
	}
	return predicted, true
}

// accelerate adds half the geodesic acceleration (A + μD²)a = −Jᵀr_vv to the
// step v. It reports false, which rejects the trial, if a is not short
// against v. Steps that came from QR are left alone.
func (t *levenbergMarquardt) accelerate(step []float64, p Accelerated, x *point, d []float64, l *linear) bool {
	if l.chol.pivot == 0 || l.method == LinearQR {
		return true
	}
	acc := t.acceleration[:len(step)]
	p.Curvature(acc, x.w, step)
	l.chol.solve(acc, acc)
	if !(scaledNorm(d, acc) <= maxAcceleration*scaledNorm(d, step)) {
		return false
	}
	axpy(step, -0.5, acc)
	return true
}

func (t *levenbergMarquardt) accept(ratio, _ float64) { t.mu = t.Damping.Accept(t.mu, ratio) }

func (t *levenbergMarquardt) reject(k int, size float64, x *point, d []float64) bool {
	t.mu = t.Damping.Reject(t.mu, k)
	if !t.solvable {
		// The system broke down: below this μ no Cholesky can succeed.
		t.mu = max(t.mu, float64(len(d))*epsilon*x.largest(d))
		return !math.IsInf(t.mu, 1)
	}
	return size > epsilon*scaledNorm(d, x.w) && !math.IsInf(t.mu, 1)
}

func (t *levenbergMarquardt) acceptFrom() float64 { return t.Damping.AcceptFrom() }

// newtonStep is −A⁻¹g at a point, kept while trials from there are rejected: the
// common part of Gauss-Newton and dogleg.
type newtonStep struct {
	v     []float64
	valid bool
}

// at returns the step at x. A singular A gets the smallest damping, in powers of
// ten from n·eps, that makes it solvable.
func (t *newtonStep) at(p problem, x *point, d []float64, l *linear) (v []float64, ok bool) {
	v = t.v[:p.n]
	floor, mu := x.largest(d), 0.0
	for tries := 0; !t.valid && tries < 16; tries++ {
		t.valid = l.solve(v, p, x, mu, d) && allFinite(v)
		mu = max(10*mu, float64(p.n)*epsilon*floor)
	}
	if !t.valid {
		clear(v)
	}
	return v, t.valid
}

func (t *newtonStep) acceptFrom() float64 { return acceptRatio }

// GaussNewton solves Aδ = −g and halves the step until the cost falls.
type GaussNewton struct{}

func (GaussNewton) descent(n int) descent {
	return &gaussNewton{newtonStep: newtonStep{v: make([]float64, n)}}
}

type gaussNewton struct {
	newtonStep
	length float64 // of the next step, in Gauss-Newton steps
}

func (t *gaussNewton) start(*point, []float64) { t.length, t.valid = 1, false }

func (t *gaussNewton) step(step []float64, p problem, x *point, d []float64, l *linear) (predicted float64, ok bool) {
	v, ok := t.at(p, x, d, l)
	for j := range step {
		step[j] = t.length * v[j]
	}
	return x.reduction(step), ok
}

func (t *gaussNewton) accept(_, _ float64) {
	t.valid, t.length = false, min(1, 2*t.length)
}

func (t *gaussNewton) reject(int, float64, *point, []float64) bool {
	t.length *= 0.5
	return t.length > epsilon
}

// Dogleg follows Powell's path from the Cauchy point to the Gauss-Newton
// point inside the trust region ‖Dδ‖ <= Δ, with the radius rules of Ceres.
type Dogleg struct{}

func (Dogleg) descent(n int) descent {
	return &dogleg{newtonStep: newtonStep{v: make([]float64, n)}, steepest: make([]float64, n)}
}

type dogleg struct {
	newtonStep
	radius   float64
	steepest []float64
}

func (t *dogleg) start(x *point, d []float64) {
	t.valid = false
	t.radius = initialTrustSize * scaledNorm(d, x.w)
	if t.radius == 0 {
		t.radius = initialTrustSize
	}
}

func (t *dogleg) step(step []float64, p problem, x *point, d []float64, l *linear) (predicted float64, ok bool) {
	v, ok := t.at(p, x, d, l)
	switch {
	case !ok:
		clear(step)
		return 0, false
	case scaledNorm(d, v) <= t.radius:
		copy(step, v)
	default:
		t.path(step, v, x, d)
	}
	return x.reduction(step), true
}

// path writes the point of the path at distance Δ, in the variables Dw; newton
// is its end.
func (t *dogleg) path(step, newton []float64, x *point, d []float64) {
	n := len(step)
	// Steepest descent in scaled variables: p = −D⁻²g, ‖Dp‖ = ‖D⁻¹g‖.
	steepest, gnorm2, curvature := t.steepest[:n], 0.0, 0.0
	for j := range n {
		steepest[j] = -x.g[j] / (d[j] * d[j])
		gnorm2 += (x.g[j] / d[j]) * (x.g[j] / d[j])
	}
	for j := range n {
		curvature += steepest[j] * dot(x.a[j*n:(j+1)*n], steepest)
	}
	to := t.radius / math.Sqrt(gnorm2)
	if curvature > 0 {
		to = min(to, gnorm2/curvature)
	}
	cauchy := to * math.Sqrt(gnorm2)
	for j := range step {
		step[j] = to * steepest[j]
	}
	if cauchy >= t.radius*(1-epsilon) {
		return
	}
	// ‖D(c + β(newton − c))‖ = Δ, the positive root.
	var aa, bb float64
	for j := range n {
		diff := d[j] * (newton[j] - step[j])
		aa += diff * diff
		bb += diff * d[j] * step[j]
	}
	cc := cauchy*cauchy - t.radius*t.radius
	beta := math.Sqrt(bb*bb - aa*cc)
	if bb > 0 {
		beta = -cc / (bb + beta)
	} else {
		beta = (beta - bb) / aa
	}
	for j := range step {
		step[j] += beta * (newton[j] - step[j])
	}
}

func (t *dogleg) accept(ratio, size float64) {
	t.valid = false
	if ratio < 0.25 {
		t.radius *= 0.5
	} else if ratio > 0.75 {
		t.radius = min(max(t.radius, 3*size), maxTrustRegion)
	}
}

func (t *dogleg) reject(_ int, size float64, x *point, d []float64) bool {
	t.radius = 0.5 * min(t.radius, max(size, 0.5*t.radius))
	return t.radius > epsilon*scaledNorm(d, x.w) && t.radius > 0
}
