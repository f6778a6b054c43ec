package lm

import "math"

// Solver minimises problems of at most a fixed number of unknowns. It owns
// every workspace: Solve, Factor and the solves with the factor allocate
// nothing. A Solver is for one goroutine at a time and keeps no state from
// one Solve to the next, so results do not depend on what it solved before.
type Solver struct {
	opt Options
	max int // capacity

	// The problem being solved.
	n    int
	p    Problem
	rows RowReader // nil if p has none
	w    []float64 // the caller's
	res  Result

	restartable            bool    // a plateau exit may run again
	startRank              int     // of J at the start, known where restartable
	startCost, quarterCost float64 // of this run: at its start, at a quarter of the limit

	// Quadratic model at w and at the trial point.
	cost, gradient float64
	a, g           []float64
	aTrial, gTrial []float64
	trial, step    []float64
	start, best    []float64
	d              []float64 // scaling, always positive
	tmp, tmp2      []float64
	acceleration   []float64

	damper
	chol cholesky
	qr   qrFactor

	// The Gauss-Newton step at w, for the descents that reuse it.
	gaussNewton      []float64
	gaussNewtonValid bool

	// Residuals at w and at the trial point, for the Cauchy rule only.
	r, rTrial []float64

	// Exact Hessian or JᵀJ of the correction and of the adjoint.
	h, hTrial []float64
	solved    []float64 // the solution of the last Solve
	hasSolved bool      // a, g and solved belong to it
	hasH      bool      // and so does h
	adjoint   cholesky
	adjointQ  bool    // the adjoint uses qr instead
	adjointN  int     // size of the factored problem; 0 failed, -1 none yet
	adjointT  float64 // regularisation τ

	// visit callbacks, built once so that passing them does not allocate.
	visitQR, visitRefine func(r, jac []float64)
}

// NewSolver returns a solver for problems of up to n unknowns.
// It panics if n < 1 or an option is out of range.
func NewSolver(n int, o Options) *Solver {
	if n < 1 {
		panic("lm: NewSolver needs at least one unknown")
	}
	vectors := make([]float64, 14*n)
	vector := func() []float64 {
		v := vectors[:n:n]
		vectors = vectors[n:]
		return v
	}
	s := &Solver{
		opt: o.withDefaults(), max: n,
		a: make([]float64, n*n), aTrial: make([]float64, n*n), h: make([]float64, n*n), hTrial: make([]float64, n*n),
		g: vector(), gTrial: vector(), trial: vector(), step: vector(), start: vector(), best: vector(),
		d: vector(), tmp: vector(), tmp2: vector(), acceleration: vector(), gaussNewton: vector(), solved: vector(),
		chol: newCholesky(n), adjoint: newCholesky(n), adjointN: -1, qr: newQR(n),
	}
	s.visitQR, s.visitRefine = s.qr.block, s.refineBlock
	return s
}

// Options returns the options with every default filled in.
func (s *Solver) Options() Options { return s.opt }

// bind points the solver at a problem and checks the caller's slices.
func (s *Solver) bind(p Problem, w []float64) {
	n := p.Dim()
	if n < 1 || n > s.max {
		panic("lm: problem has more unknowns than the solver was made for, or none")
	}
	if len(w) != n {
		panic("lm: len(w) is not Dim()")
	}
	s.p, s.n, s.w = p, n, w
	s.rows, _ = p.(RowReader)
	s.qr.valid, s.gaussNewtonValid = false, false
	s.hasSolved, s.hasH = false, false
}

// release drops the references to the caller's memory.
func (s *Solver) release() { s.p, s.rows, s.w = nil, nil, nil }

// Solve minimises ½‖r(w)‖² + ½ε²‖w‖² from w and leaves the best point found
// in w. It panics if len(w) != p.Dim() or p.Dim() exceeds the solver's size.
//
// After a run that ended on a plateau (the cost has stopped falling or creeps,
// and the gradient test fails, or a column of J has collapsed, or J has lost rank)
// it runs once more from the start with D = I and keeps the better of the two; see
// [Options.NoRestart].
func (s *Solver) Solve(p Problem, w []float64) Result {
	s.bind(p, w)
	defer s.release()
	s.res = Result{}
	n := s.n
	copy(s.start[:n], w)
	s.restartable = !s.opt.NoRestart && s.opt.Scaling != Identity
	s.run(s.opt.Scaling)
	if s.restartable && s.plateau() && s.res.Iterations < s.opt.MaxIterations {
		s.restart()
	}
	if s.res.Status == NonFiniteStart {
		return s.res
	}
	s.finish()
	// At a point where some direction has lost its influence other runs may do
	// better.
	if s.restartable && s.res.Rank < s.startRank && !s.negligible() && s.res.Iterations < s.opt.MaxIterations {
		s.restart()
		s.finish()
	}
	copy(s.solved[:n], w)
	s.hasSolved = true
	return s.res
}

// restart runs again from the start with identity scaling; on return w and
// res describe the better run, with the work of both.
func (s *Solver) restart() {
	n := s.n
	first, cost := s.res, s.cost
	copy(s.best[:n], s.w)
	copy(s.w, s.start[:n])
	s.restartable, s.res.Corrected = false, false
	s.run(Identity)
	if s.cost < cost {
		s.res.Restarted = true
		return
	}
	copy(s.w, s.best[:n])
	first.Iterations, first.Accepted, first.Evaluations = s.res.Iterations, s.res.Accepted, s.res.Evaluations
	s.res = first
	s.cost = s.eval(s.a, s.g, s.w)
	s.gradient = s.measure(s.a, s.g, s.cost)
}

// eval evaluates the problem and adds the ridge.
func (s *Solver) eval(a, g, w []float64) float64 {
	s.res.Evaluations++
	n := s.n
	if a == nil {
		return s.p.Normal(nil, nil, w) + s.ridgeCost(w)
	}
	cost := s.p.Normal(a[:n*n], g[:n], w)
	return cost + s.addRidge(a, g, w)
}

func (s *Solver) ridgeCost(w []float64) float64 {
	if s.opt.Ridge == 0 {
		return 0
	}
	return 0.5 * s.opt.Ridge * s.opt.Ridge * dot(w, w)
}

// addRidge adds the ridge to a matrix and a gradient and returns its cost.
func (s *Solver) addRidge(a, g, w []float64) float64 {
	if s.opt.Ridge == 0 {
		return 0
	}
	e2 := s.opt.Ridge * s.opt.Ridge
	for j, v := range w {
		g[j] += e2 * v
		a[j*s.n+j] += e2
	}
	return s.ridgeCost(w)
}

// measure returns MINPACK's scaled gradient max_j |g_j|/(‖J_j‖‖r‖), the
// largest cosine between the residual and a column, or NaN if a derivative is
// not finite (a NaN or Inf anywhere in J reaches the diagonal of JᵀJ).
func (s *Solver) measure(a, g []float64, cost float64) float64 {
	n, largest, check := s.n, 0.0, 0.0
	rnorm := math.Sqrt(2 * cost)
	for j := range n {
		check += g[j]*0 + a[j*n+j]*0
		if g[j] != 0 {
			largest = max(largest, math.Abs(g[j])/(math.Sqrt(a[j*n+j])*rnorm))
		}
	}
	return largest + check
}

// run iterates from w with the given scaling until a test is met, leaving the
// last accepted point in w and its model in a, g, cost, gradient.
func (s *Solver) run(scaling Scaling) {
	n := s.n
	s.qr.valid, s.gaussNewtonValid = false, false
	s.cost = s.eval(s.a, s.g, s.w)
	s.gradient = s.measure(s.a, s.g, s.cost)
	if !finite(s.cost) || !finite(s.gradient) {
		s.end(NonFiniteStart)
		if !finite(s.cost) {
			s.gradient = math.NaN() // the problem need not have written a and g
		}
		s.res.Cost, s.res.Gradient, s.res.Distance = s.cost, s.gradient, math.Inf(1)
		return
	}
	s.rescale(scaling, true)
	s.damper.init(s)
	s.startCauchy()
	s.startCost, s.quarterCost = s.cost, math.Inf(1)
	if s.restartable {
		s.startRank = s.currentRank()
	}
	gtol := max(s.opt.GTol, 0)
	if s.opt.Termination == Cauchy {
		gtol = 0
	}
	// Evaluating a trial in full costs little more than its cost alone when
	// the rows are memory-bound, and most trials are accepted: the derivatives
	// are left out only right after a rejection.
	speculate := true
	for {
		if s.gradient <= gtol {
			s.end(ConvergedGradient)
			return
		}
		if s.res.Iterations >= s.opt.MaxIterations || s.creeping() {
			s.end(MaxIterations)
			return
		}
		s.res.Iterations++
		predicted, ok := s.computeStep()
		size := scaledNorm(s.d[:n], s.step[:n])
		moved := false
		for j, v := range s.w {
			s.trial[j] = v + s.step[j]
			moved = moved || s.trial[j] != v
		}
		if ok && !moved {
			s.end(s.exhausted(ConvergedStep))
			return
		}
		var o outcome
		if ok && predicted > 0 {
			o = s.try(predicted, speculate)
		}
		if o.exhausted {
			s.end(s.exhausted(ConvergedCost))
			return
		}
		if !o.accepted {
			speculate = false
			if !s.damper.reject(s, size) {
				s.end(s.exhausted(ConvergedCost))
				return
			}
			continue
		}
		speculate = true
		test := s.converged(o, predicted, size)
		s.accept(o, scaling, size)
		if test != NotStarted {
			if s.gradient <= gtol {
				test = ConvergedGradient
			}
			s.end(test)
			return
		}
	}
}

func (s *Solver) end(status Status) { s.res.Status, s.res.Test = status, status }

// exhausted names the end of a run that no trial can improve further. After
// rejections that is a stall, unless the gradient test holds to half the
// digits: then the tolerances asked for more than the rounding of the cost
// allows.
func (s *Solver) exhausted(converged Status) Status {
	if s.rejections > 0 && s.gradient > rootEpsilon {
		return Stalled
	}
	return converged
}

// outcome is the judgement on one trial.
type outcome struct {
	accepted  bool
	exhausted bool // neither cost nor gradient can be improved in this precision
	cost      float64
	gradient  float64
	actual    float64 // cost reduction
	ratio     float64 // actual / predicted
}

// try evaluates the trial point and judges it.
//
// A cost is known to some relative error only, and the ratio of reductions
// below it means nothing. Where the model predicts no more than softNoise·cost,
// a trial that the ratio rejects is accepted if the cost is the same to that
// precision and the scaled gradient halves. Below noise·cost any fall of the
// gradient will do, and without one the iteration is over: neither cost nor
// gradient can be improved. That is worth two to three digits of w on problems
// with a large residual.
func (s *Solver) try(predicted float64, full bool) outcome {
	n := s.n
	small, minute := predicted <= softNoise*s.cost, predicted <= noise*s.cost
	full = full || small
	var o outcome
	if full {
		o.cost = s.eval(s.aTrial, s.gTrial, s.trial[:n])
	} else {
		o.cost = s.eval(nil, nil, s.trial[:n])
	}
	o.actual = s.cost - o.cost
	o.ratio = o.actual / predicted
	if !finite(o.cost) {
		return o
	}
	threshold := acceptRatio
	if s.opt.Damping == Classical {
		threshold = classicalAccept
	}
	o.accepted = o.ratio >= threshold
	if !o.accepted && !small {
		return o
	}
	if !full {
		o.cost = s.eval(s.aTrial, s.gTrial, s.trial[:n])
	}
	o.gradient = s.measure(s.aTrial, s.gTrial, o.cost)
	if minute && math.Abs(o.actual) <= noise*s.cost {
		o.ratio = 1
		o.accepted = o.gradient < s.gradient
		o.exhausted = !o.accepted
		return o
	}
	if !o.accepted && math.Abs(o.actual) <= softNoise*s.cost && o.gradient <= 0.5*s.gradient {
		o.ratio, o.accepted = 1, true
	}
	o.accepted = o.accepted && finite(o.cost) && finite(o.gradient)
	return o
}

// accept makes the trial the current point.
func (s *Solver) accept(o outcome, scaling Scaling, size float64) {
	s.res.Accepted++
	copy(s.w, s.trial[:s.n])
	s.a, s.aTrial = s.aTrial, s.a
	s.g, s.gTrial = s.gTrial, s.g
	s.r, s.rTrial = s.rTrial, s.r
	s.cost, s.gradient = o.cost, o.gradient
	s.qr.valid, s.gaussNewtonValid = false, false
	s.rescale(scaling, false)
	s.damper.accept(s, o.ratio, size)
}

// rescale updates D from the diagonal of a. A zero column gets D_j = 1.
func (s *Solver) rescale(scaling Scaling, first bool) {
	n := s.n
	for j := range n {
		v := math.Sqrt(s.a[j*n+j])
		switch {
		case scaling == Identity:
			v = 1
		case scaling == More && !first:
			v = max(v, s.d[j])
		}
		if v == 0 {
			v = 1
		}
		s.d[j] = v
	}
}
