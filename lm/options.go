package lm

import "math"

// Descent is the way a step is computed from the quadratic model.
type Descent int

const (
	// LevenbergMarquardt solves (A + μD²)δ = −g.
	LevenbergMarquardt Descent = iota
	// GaussNewton solves Aδ = −g and halves the step until the cost falls.
	GaussNewton
	// Dogleg follows Powell's path from the Cauchy point to the Gauss-Newton
	// point inside the trust region ‖Dδ‖ <= Δ.
	Dogleg
)

// Damping is the rule that changes μ after a trial. Dogleg and GaussNewton
// have rules of their own.
type Damping int

const (
	// Nielsen is the rule of Madsen, Nielsen and Tingleff (2004), eq. 2.21:
	// μ·max(1/3, 1−(2ρ−1)³) after success, μ·ν and ν·2 after failure.
	Nielsen Damping = iota
	// Classical is the rule of Optimistix: 1/μ starts at 1, grows 3.5 times
	// when ρ >= 0.99 and shrinks to a quarter after a failure; a trial is
	// accepted from ρ >= 0.01.
	Classical
)

// Scaling is the diagonal D of the damping term.
type Scaling int

const (
	More     Scaling = iota // D_j is the largest ‖J_j‖ seen so far (Moré 1978)
	Current                 // D_j = ‖J_j‖ now (Marquardt 1963)
	Identity                // D = I (Levenberg 1944)
)

// LinearSolver says how the N x N systems are solved.
type LinearSolver int

const (
	// Automatic is Cholesky, with one refinement pass or QR when the smallest
	// scaled pivot asks for it (QR only for a [RowReader]).
	Automatic LinearSolver = iota
	// Cholesky uses the Jacobi-scaled normal equations always.
	Cholesky
	// QR streams the rows of every new Jacobian through a blocked QR
	// factorisation. It needs a [RowReader] and falls back to Cholesky.
	QR
)

// Termination is the family of convergence tests.
type Termination int

const (
	// MINPACK applies the tests gtol, ftol and xtol as lmder defines them,
	// ftol and xtol on accepted steps only.
	MINPACK Termination = iota
	// Cauchy applies the rule of Optimistix on accepted steps:
	// |Δw_i| < atol + rtol|w_i| for all i and |Δr_i| < atol + rtol|r_i| for
	// all rows (see [Residuals]); there is no gradient test.
	Cauchy
)

// Options configures a [Solver]. The zero value is the recommended setting.
// A tolerance of zero means its default; a negative one disables the test.
type Options struct {
	Descent     Descent
	Damping     Damping
	Scaling     Scaling
	Linear      LinearSolver
	Termination Termination

	GTol float64 // max_j |J_jᵀr|/(‖J_j‖‖r‖), default 1e-8
	FTol float64 // actual and predicted reduction relative to the cost, default 1e-8
	XTol float64 // ‖Dδ‖ relative to ‖Dw‖, default 1e-8
	RTol float64 // Cauchy only, default 1e-4
	ATol float64 // Cauchy only, default 1e-4

	MaxIterations int // trial steps, accepted or not, in all; default 100

	// Ridge is ε: the cost is ½‖r‖² + ½ε²‖w‖², and ε²w, ε²I enter every
	// gradient and matrix.
	Ridge float64

	// InitialDamping is μ at the start relative to max_j A_jj/D_j²;
	// default 1e-3 (GSL). Classical starts at μ = 1 whatever this says.
	InitialDamping float64

	// NewtonCorrection ends a solve with w ← w − H⁻¹g, H the exact Hessian at
	// w, if the problem is [SecondOrder], H is positive definite and the cost
	// does not rise. It squares the error of the implicit gradient.
	NewtonCorrection bool

	// NoAcceleration leaves out the geodesic acceleration of Transtrum and
	// Sethna (2012), which is part of each Levenberg-Marquardt step where the
	// problem is [Accelerated]. The acceleration costs a problem of callbacks
	// three evaluations of the residual a step, and brings more of the hard
	// starts to a minimum.
	NoAcceleration bool

	// NoRestart forbids the second run, from the same start with identity
	// scaling, after a run that ended on a plateau or where J has lost rank.
	NoRestart bool
}

// Constants of the method. docs/least-squares.md gives their sources.
const (
	acceptRatio      = 1e-4  // MINPACK lmder: ρ from which a trial is accepted
	classicalAccept  = 0.01  // Optimistix
	classicalGood    = 0.99  // Optimistix
	refinePivot      = 1e-9  // below it one refinement pass
	qrPivot          = 1e-12 // below it QR
	hessianPivot     = 1e-14 // below it H counts as not positive definite
	noise            = 1e-13 // relative cost change that is rounding
	softNoise        = 1e-10 // relative cost change that may be, in residuals that cancel
	maxAcceleration  = 0.75  // GSL: largest ‖Da‖/‖Dv‖ of a usable acceleration
	accelerateAbove  = 1e-8  // predicted relative reduction below which steps are not accelerated
	epsilon          = 0x1p-52
	rootEpsilon      = 0x1p-26
	plateauCollapse  = 1e-3 // a column norm this much below its maximum is a plateau
	plateauGradient  = 1e-5 // a scaled gradient above it at an ftol or xtol exit too
	creepingCost     = 0.01 // a quarter of the iterations should do better than this factor
	maxTrustRegion   = 1e150
	initialTrustSize = 100 // MINPACK factor: Δ = 100‖Dw‖
)

func (o Options) withDefaults() Options {
	tol := func(v *float64, d float64) {
		switch {
		case *v == 0:
			*v = d
		case *v < 0:
			*v = -1
		case math.IsNaN(*v):
			panic("lm: NaN tolerance")
		}
	}
	tol(&o.GTol, 1e-8)
	tol(&o.FTol, 1e-8)
	tol(&o.XTol, 1e-8)
	tol(&o.RTol, 1e-4)
	tol(&o.ATol, 1e-4)
	if o.MaxIterations == 0 {
		o.MaxIterations = 100
	}
	if o.InitialDamping == 0 {
		o.InitialDamping = 1e-3
	}
	if o.MaxIterations < 0 {
		panic("lm: negative MaxIterations")
	}
	if !(o.Ridge >= 0) || math.IsInf(o.Ridge, 0) {
		panic("lm: Ridge must be finite and not negative")
	}
	if !(o.InitialDamping > 0) {
		panic("lm: InitialDamping must be positive")
	}
	return o
}
