package lm

import "math"

// Scaling is the diagonal D of the damping term.
type Scaling int

const (
	ScalingMore     Scaling = iota // D_j is the largest ‖J_j‖ seen so far (Moré 1978)
	ScalingCurrent                 // D_j = ‖J_j‖ now (Marquardt 1963)
	ScalingIdentity                // D = I (Levenberg 1944)
	scalings                       // how many there are
)

// String returns "more", "current" or "identity".
func (s Scaling) String() string { return nameOf(s, "more", "current", "identity") }

// Options configures a [Solver]. The zero value is the recommended setting.
// A tolerance of zero means its default; a negative one disables the test.
type Options struct {
	Descent Descent // nil means LevenbergMarquardt{}
	Scaling Scaling

	// QR solves every system by a QR factorisation of the rows, where the problem is a
	// [RowReader]. Otherwise systems are solved by Cholesky factorisation of the normal
	// equations, scaled to unit diagonal, with one refinement pass, or QR of the rows,
	// where the smallest scaled pivot asks for it.
	QR bool

	// The tests of MINPACK's lmder, FTol and XTol on accepted steps only.
	GTol float64 // max_j |J_jᵀr|/(‖J_j‖‖r‖), default 1e-8
	FTol float64 // actual and predicted reduction relative to the cost, default 1e-8
	XTol float64 // ‖Dδ‖ relative to ‖Dw‖, default 1e-8

	MaxIterations int // trial steps, accepted or not, in all; default 100

	// Ridge is ε: the cost is ½‖r‖² + ½ε²‖w‖², and ε²w, ε²I enter every
	// gradient and matrix.
	Ridge float64

	// NewtonCorrection ends a solve with w ← w − H⁻¹g, H the exact Hessian at
	// w, if the problem is [SecondOrder], H is positive definite and the cost
	// does not rise. It squares the error of the implicit gradient.
	NewtonCorrection bool

	// NoRestart forbids the second run, from the same start with identity
	// scaling, after a run that ended on a plateau or where J has lost rank.
	NoRestart bool
}

// Constants of the method. docs/reference/least-squares.md gives their sources.
const (
	acceptRatio     = 1e-4  // MINPACK lmder: ρ from which a trial is accepted
	refinePivot     = 1e-9  // below it one refinement pass
	qrPivot         = 1e-12 // below it QR
	hessianPivot    = 1e-14 // below it H counts as not positive definite
	noise           = 1e-13 // relative cost change that is rounding
	softNoise       = 1e-10 // relative cost change that may be, in residuals that cancel
	maxAcceleration = 0.75  // GSL: largest ‖Da‖/‖Dv‖ of a usable acceleration
	accelerateAbove = 1e-8  // predicted relative reduction below which steps are not accelerated
	epsilon         = 0x1p-52
	rootEpsilon     = 0x1p-26
	plateauCollapse = 1e-3 // a column norm this much below its maximum is a plateau
	plateauGradient = 1e-5 // a scaled gradient above it at an ftol or xtol exit too
	creepingCost    = 0.01 // a quarter of the iterations should do better than this factor
)

func (o Options) withDefaults() Options {
	for _, v := range []*float64{&o.GTol, &o.FTol, &o.XTol} {
		if math.IsNaN(*v) {
			panic("lm: NaN tolerance")
		}
		if *v == 0 {
			*v = 1e-8
		}
	}
	if o.Scaling < 0 || o.Scaling >= scalings {
		panic("lm: there is no such Scaling")
	}
	if o.Descent == nil {
		o.Descent = LevenbergMarquardt{}
	}
	if d, ok := o.Descent.(LevenbergMarquardt); ok && !(d.InitialDamping >= 0) {
		panic("lm: InitialDamping must be positive")
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 100
	}
	if o.MaxIterations < 0 {
		panic("lm: negative MaxIterations")
	}
	if !(o.Ridge >= 0) || math.IsInf(o.Ridge, 0) {
		panic("lm: Ridge must be finite and not negative")
	}
	return o
}
