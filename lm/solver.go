package lm

import "math"

// Solver minimises problems of at most a fixed number of unknowns and owns
// every workspace that this takes. A Solver is for one goroutine at a time;
// results do not depend on what it solved before.
type Solver struct {
	opt Options
	max int // unknowns

	at, trial *point    // where the run is, and where it may go
	d, step   []float64 // scaling, always positive; from at to trial
	best      []float64 // the w of a first run while the second is under way
	descent   descent
	linear    linear

	known   bool // the model at at is that of the last Solve or Factor
	adjoint factored
}

// NewSolver returns a solver for problems of up to n unknowns.
// It panics if n < 1 or an option is out of range.
func NewSolver(n int, o Options) *Solver {
	if n < 1 {
		panic("lm: NewSolver needs at least one unknown")
	}
	o = o.withDefaults()
	return &Solver{
		opt: o, max: n,
		at: newPoint(n), trial: newPoint(n),
		d: make([]float64, n), step: make([]float64, n), best: make([]float64, n),
		descent: o.Descent.descent(n), linear: newLinear(n, o.Linear), adjoint: newFactored(n),
	}
}

// bind checks the caller's problem and slice.
func (s *Solver) bind(p Problem, w []float64) problem {
	n := p.Dim()
	if n < 1 || n > s.max {
		panic("lm: problem has more unknowns than the solver was made for, or none")
	}
	if len(w) != n {
		panic("lm: len(w) is not Dim()")
	}
	rows, _ := p.(RowReader)
	return problem{p, n, s.opt.Ridge, rows}
}

// begin moves to w, where nothing is known.
func (s *Solver) begin(w []float64) {
	s.known, s.linear.qr.valid, s.adjoint.n = false, false, -1
	s.at.place(w)
	s.trial.place(w)
}

// Solve minimises ½‖r(w)‖² + ½ε²‖w‖² from w and leaves the best point found
// in w. It panics if len(w) != p.Dim() or p.Dim() exceeds the solver's size.
//
// After a run that ended on a plateau (the cost has stopped falling or creeps,
// and the gradient test fails, or a column of J has collapsed, or J has lost rank)
// it runs once more from the start with D = I and keeps the better of the two; see
// [Options.NoRestart].
func (s *Solver) Solve(p Problem, w []float64) Result {
	q := s.bind(p, w)
	s.begin(w)
	var res Result
	first := run{restartable: !s.opt.NoRestart && s.opt.Scaling != ScalingIdentity}
	res.Status = s.run(q, s.opt.Scaling, &first, &res)
	if res.Status == StatusNonFiniteStart {
		return res
	}
	again := first.restartable && s.plateau(first, res.Status) && res.Iterations < s.opt.MaxIterations
	if again {
		s.restart(q, w, &res)
	}
	s.finish(q, &res)
	// At a point where some direction has lost its influence other runs may do
	// better.
	if first.restartable && !again && res.Rank < first.startRank && !s.negligible(first) && res.Iterations < s.opt.MaxIterations {
		s.restart(q, w, &res)
		s.finish(q, &res)
	}
	copy(w, s.at.w)
	s.known, s.adjoint.n = true, -1 // the correction has overwritten the factor
	return res
}

// restart runs again from the start with identity scaling; on return the
// current point and res are those of the better run, with the work of both.
func (s *Solver) restart(p problem, start []float64, res *Result) {
	first, cost := *res, s.at.cost
	copy(s.best, s.at.w)
	s.begin(start)
	res.Corrected = false
	res.Status = s.run(p, ScalingIdentity, &run{}, res)
	if s.at.cost < cost {
		res.Restarted = true
		return
	}
	first.Iterations, first.Accepted, first.Evaluations = res.Iterations, res.Accepted, res.Evaluations
	*res = first
	s.begin(s.best[:p.n])
	s.evaluate(p, s.at, true, res)
}

func (s *Solver) evaluate(p problem, x *point, derivatives bool, res *Result) {
	res.Evaluations++
	p.evaluate(x, derivatives)
}

// run is what one run remembers.
type run struct {
	restartable            bool    // a plateau exit may run again
	startRank              int     // of J at the start, known where restartable
	startCost, quarterCost float64 // at the start, at a quarter of the limit
}

// run iterates until a test is met and returns how it ended, leaving the last
// accepted point and its model in at.
func (s *Solver) run(p problem, scaling Scaling, r *run, res *Result) Status {
	s.evaluate(p, s.at, true, res)
	if !finite(s.at.cost) || !finite(s.at.gradient) {
		if !finite(s.at.cost) {
			s.at.gradient = math.NaN() // the problem need not have written a and g
		}
		res.Cost, res.Gradient, res.Distance = s.at.cost, s.at.gradient, math.Inf(1)
		return StatusNonFiniteStart
	}
	d, step := s.d[:p.n], s.step[:p.n]
	s.at.rescale(d, scaling, true)
	s.descent.start(s.at, d)
	r.startCost, r.quarterCost = s.at.cost, math.Inf(1)
	if r.restartable {
		s.linear.chol.factor(s.at.a, p.n, 0, nil)
		r.startRank = s.linear.rank(p, s.at)
	}
	gtol := max(s.opt.GTol, 0)
	// Evaluating a trial in full costs little more than its cost alone when
	// the rows are memory-bound, and most trials are accepted: the derivatives
	// are left out only right after a rejection.
	for rejections := 0; ; {
		if s.at.gradient <= gtol {
			return StatusConvergedGradient
		}
		if res.Iterations >= s.opt.MaxIterations || s.creeping(r, res.Iterations) {
			return StatusMaxIterations
		}
		res.Iterations++
		predicted, ok := s.descent.step(step, p, s.at, d, &s.linear)
		size := scaledNorm(d, step)
		moved := false
		for j, v := range s.at.w {
			s.trial.w[j] = v + step[j]
			moved = moved || s.trial.w[j] != v
		}
		if ok && !moved {
			return s.exhausted(StatusConvergedStep, rejections)
		}
		var o outcome
		if ok && predicted > 0 {
			o = s.try(p, predicted, rejections == 0, res)
		}
		if o.exhausted {
			return s.exhausted(StatusConvergedCost, rejections)
		}
		if !o.accepted {
			rejections++
			if !s.descent.reject(rejections, size, s.at, d) {
				return s.exhausted(StatusConvergedCost, rejections)
			}
			continue
		}
		rejections = 0
		test := s.converged(o, predicted, size)
		res.Accepted++
		s.at, s.trial = s.trial, s.at
		s.linear.qr.valid = false
		s.at.rescale(d, scaling, false)
		s.descent.accept(o.ratio, size)
		if test != StatusNotStarted {
			if s.at.gradient <= gtol {
				test = StatusConvergedGradient
			}
			return test
		}
	}
}

// outcome is the judgement on one trial.
type outcome struct {
	accepted  bool
	exhausted bool    // neither cost nor gradient can be improved in this precision
	actual    float64 // cost reduction
	ratio     float64 // actual / predicted
}

// try evaluates the trial point and judges it. Without derivatives it evaluates
// them only if the cost alone does not reject the trial.
//
// A cost is known to some relative error only, and the ratio of reductions
// below it means nothing. Where the model predicts no more than softNoise·cost,
// a trial that the ratio rejects is accepted if the cost is the same to that
// precision and the scaled gradient halves. Below noise·cost any fall of the
// gradient will do, and without one the iteration is over: neither cost nor
// gradient can be improved. That is worth two to three digits of w on problems
// with a large residual.
func (s *Solver) try(p problem, predicted float64, derivatives bool, res *Result) outcome {
	at, trial := s.at, s.trial
	small, minute := predicted <= softNoise*at.cost, predicted <= noise*at.cost
	derivatives = derivatives || small
	s.evaluate(p, trial, derivatives, res)
	o := outcome{actual: at.cost - trial.cost}
	o.ratio = o.actual / predicted
	if !finite(trial.cost) {
		return o
	}
	o.accepted = o.ratio >= s.descent.acceptFrom()
	if !o.accepted && !small {
		return o
	}
	if !derivatives {
		s.evaluate(p, trial, true, res)
	}
	if minute && math.Abs(o.actual) <= noise*at.cost {
		o.ratio = 1
		o.accepted = trial.gradient < at.gradient
		o.exhausted = !o.accepted
		return o
	}
	if !o.accepted && math.Abs(o.actual) <= softNoise*at.cost && trial.gradient <= 0.5*at.gradient {
		o.ratio, o.accepted = 1, true
	}
	o.accepted = o.accepted && finite(trial.cost) && finite(trial.gradient)
	return o
}
