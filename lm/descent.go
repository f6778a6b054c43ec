package lm

import "math"

// Descent is the way from the quadratic model of the cost to a trial step:
// [LevenbergMarquardt], or one of the caller's. It keeps no state, so that solvers
// can share it: the solver keeps one number t between trials, which is the damping
// of LevenbergMarquardt and may be the radius of a trust region or the length of a
// step of another.
type Descent interface {
	// Start returns t at the start of a run.
	Start(x *Point) (t float64)
	// Step writes the trial step from x and returns the reduction of the cost that
	// is predicted for it; one that is not positive rejects the trial. ok is false
	// where there is no step at this t.
	Step(step []float64, x *Point, t float64) (predicted float64, ok bool)
	// Accept returns t after an accepted trial; ratio is its actual over its
	// predicted reduction of the cost, size the ‖Dδ‖ of its step.
	Accept(t, ratio, size float64) float64
	// Reject returns t after the k-th rejected trial from x in a row, k = 1, 2, ...,
	// ok as Step gave it. The run ends if t is infinite or the step was too short to
	// change w.
	Reject(x *Point, t float64, k int, ok bool) float64
	// AcceptFrom returns the ratio from which a trial is accepted.
	AcceptFrom() float64
}

// LevenbergMarquardt solves (A + μD²)δ = −g. μ changes by the rule of Nielsen (Madsen,
// Nielsen and Tingleff 2004, eq. 2.21): μ·max(1/3, 1−(2ρ−1)³) after success, μ·ν and
// ν·2 after failure, ν = 2 at first. Trials are accepted from 1e-4, as in MINPACK.
type LevenbergMarquardt struct {
	// Classical is the rule of Optimistix: 1/μ starts at 1 whatever the initial
	// damping, grows 3.5 times when ρ >= 0.99 and shrinks to a quarter after a
	// failure; a trial is accepted from ρ >= 0.01.
	Classical bool

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

// Start implements [Descent].
func (o LevenbergMarquardt) Start(x *Point) float64 {
	if o.InitialDamping == 0 {
		o.InitialDamping = 1e-3
	}
	if mu := o.InitialDamping * x.largest(); mu != 0 && !o.Classical {
		return mu
	}
	return 1
}

// Step implements [Descent].
func (o LevenbergMarquardt) Step(step []float64, x *Point, mu float64) (predicted float64, ok bool) {
	if !x.Solve(step, mu) {
		clear(step)
		return 0, false
	}
	predicted = x.Reduction(step)
	// Near the end the second difference along a short step is mostly rounding.
	p, ok := x.problem.(Accelerated)
	if ok && !o.NoAcceleration && predicted > accelerateAbove*x.Cost && !x.linear.accelerate(step, p, x) {
		return 0, true
	}
	return predicted, true
}

// Accept implements [Descent].
func (o LevenbergMarquardt) Accept(mu, ratio, _ float64) float64 {
	switch u := 2*ratio - 1; {
	case !o.Classical:
		return mu * max(1./3, 1-u*u*u)
	case ratio >= 0.99:
		return mu / 3.5
	}
	return mu
}

// Reject implements [Descent].
func (o LevenbergMarquardt) Reject(x *Point, mu float64, k int, ok bool) float64 {
	if o.Classical {
		k = 2
	}
	mu *= math.Ldexp(1, k)
	if !ok {
		// The system broke down: below this μ no Cholesky can succeed.
		mu = max(mu, float64(len(x.D))*epsilon*x.largest())
	}
	return mu
}

// AcceptFrom implements [Descent].
func (o LevenbergMarquardt) AcceptFrom() float64 {
	if o.Classical {
		return 0.01
	}
	return acceptRatio
}
