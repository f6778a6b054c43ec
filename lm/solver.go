package lm

import "math"

// Solver minimises problems of at most a fixed number of unknowns and holds
// every workspace that this takes. A Solver is for one goroutine at a time;
// results do not depend on what it solved before.
type Solver struct {
	opt Options

	at, trial *Point    // where the run is, and where it may go
	step      []float64 // from at to trial
	best      []float64 // the w of a first run while the second is under way
	state     float64   // the number that the Descent keeps between trials
	linear    linear
	adjoint   factored
}

// NewSolver returns a solver for problems of up to n unknowns.
// It panics if n < 1 or an option is out of range.
func NewSolver(n int, o Options) *Solver {
	if n < 1 {
		panic("lm: NewSolver needs at least one unknown")
	}
	o = o.withDefaults()
	s := &Solver{
		opt: o, step: make([]float64, n), best: make([]float64, n),
		linear: newLinear(n, o.QR), adjoint: newFactored(n),
	}
	d := make([]float64, n)
	s.at, s.trial = newPoint(n, d, o.Ridge, &s.linear), newPoint(n, d, o.Ridge, &s.linear)
	return s
}

// bind checks the caller's problem and slice and takes the problem.
func (s *Solver) bind(p Problem, w []float64) {
	n := p.Dim()
	if n < 1 || n > len(s.step) {
		panic("lm: problem has more unknowns than the solver was made for, or none")
	}
	if len(w) != n {
		panic("lm: len(w) is not Dim()")
	}
	rows, _ := p.(RowReader)
	s.at.problem, s.at.rows = p, rows
	s.trial.problem, s.trial.rows = p, rows
}

// moveTo moves to w, where nothing is known.
func (s *Solver) moveTo(w []float64) {
	s.linear.qr.valid, s.adjoint.n = false, -1
	s.at.moveTo(w)
	s.trial.moveTo(w)
}

// Solve minimises ½‖r(w)‖² + ½ε²‖w‖² from w and leaves the best point found
// in w. It panics if len(w) != p.Dim() or p.Dim() exceeds the solver's size.
//
// After a run that ended on a plateau (the cost has stopped falling or creeps,
// and the gradient test fails, or a column of J has collapsed, or J has lost rank)
// it runs once more from the start with D = I and keeps the better of the two; see
// [Options.NoRestart].
func (s *Solver) Solve(p Problem, w []float64) Result {
	s.bind(p, w)
	s.moveTo(w)
	var res Result
	first := history{restartable: !s.opt.NoRestart && s.opt.Scaling != ScalingIdentity}
	res.Status = s.run(s.opt.Scaling, &first, &res)
	if res.Status == StatusNonFiniteStart {
		return res
	}
	again := first.restartable && s.plateau(first, res.Status) && res.Iterations < s.opt.MaxIterations
	if again {
		s.restart(w, &res)
	}
	s.finish(&res)
	// At a point where some direction has lost its influence other runs may do
	// better.
	if first.restartable && !again && res.Rank < first.startRank && !s.negligible(first) && res.Iterations < s.opt.MaxIterations {
		s.restart(w, &res)
		s.finish(&res)
	}
	copy(w, s.at.W)
	s.adjoint.n = -1 // the correction has overwritten the factor
	return res
}

// restart runs again from the start with identity scaling; on return the
// current point and res are those of the better run, with the work of both.
func (s *Solver) restart(start []float64, res *Result) {
	first, cost := *res, s.at.Cost
	best := s.best[:len(start)]
	copy(best, s.at.W)
	s.moveTo(start)
	res.Corrected = false
	res.Status = s.run(ScalingIdentity, &history{}, res)
	if s.at.Cost < cost {
		res.Restarted = true
		return
	}
	first.Iterations, first.Accepted, first.Evaluations = res.Iterations, res.Accepted, res.Evaluations
	*res = first
	s.moveTo(best)
	s.evaluate(s.at, true, res)
}

func (s *Solver) evaluate(x *Point, derivatives bool, res *Result) {
	res.Evaluations++
	x.evaluate(derivatives)
}

// history is the part of a run that later decisions need.
type history struct {
	restartable            bool    // a plateau exit may run again
	startRank              int     // of J at the start, known where restartable
	startCost, quarterCost float64 // at the start, at a quarter of the limit
}

// start evaluates the start of a run and reports whether it is finite.
func (s *Solver) start(scaling Scaling, past *history, res *Result) bool {
	x := s.at
	s.evaluate(x, true, res)
	if !finite(x.Cost) || !finite(x.gradient) {
		x.known = false // the problem need not have written a and g
		if !finite(x.Cost) {
			x.gradient = math.NaN()
		}
		res.Cost, res.Gradient, res.Distance = x.Cost, x.gradient, math.Inf(1)
		return false
	}
	x.updateScaling(x.D, scaling, true)
	s.state = s.opt.Descent.Start(x)
	past.startCost, past.quarterCost = x.Cost, math.Inf(1)
	if past.restartable {
		s.linear.chol.factor(x.A, len(x.W), 0, nil)
		past.startRank = s.linear.rank(x)
	}
	return true
}

// run iterates until a test is met and returns how it ended, leaving the last
// accepted point and its model in at.
func (s *Solver) run(scaling Scaling, past *history, res *Result) Status {
	if !s.start(scaling, past, res) {
		return StatusNonFiniteStart
	}
	step := s.step[:len(s.at.W)]
	gtol := max(s.opt.GTol, 0)
	// Evaluating a trial in full costs little more than its cost alone when
	// the rows are memory-bound, and most trials are accepted: the derivatives
	// are left out only right after a rejection.
	for rejections := 0; ; {
		if s.at.gradient <= gtol {
			return StatusConvergedGradient
		}
		if res.Iterations >= s.opt.MaxIterations || s.creeping(past, res.Iterations) {
			return StatusMaxIterations
		}
		res.Iterations++
		predicted, ok := s.opt.Descent.Step(step, s.at, s.state)
		size := s.at.Norm(step)
		moved := false
		for j, v := range s.at.W {
			s.trial.W[j] = v + step[j]
			moved = moved || s.trial.W[j] != v
		}
		if ok && !moved {
			return s.exhausted(StatusConvergedStep, rejections)
		}
		var o outcome
		if ok && predicted > 0 {
			o = s.try(predicted, rejections == 0, res)
		}
		if o.exhausted {
			return s.exhausted(StatusConvergedCost, rejections)
		}
		if !o.accepted {
			rejections++
			s.state = s.opt.Descent.Reject(s.at, s.state, rejections, ok)
			if ok && !(size > epsilon*s.at.Norm(s.at.W)) || math.IsInf(s.state, 1) {
				return s.exhausted(StatusConvergedCost, rejections)
			}
			continue
		}
		rejections = 0
		test := s.converged(o, predicted, size)
		res.Accepted++
		s.at, s.trial = s.trial, s.at
		s.linear.qr.valid = false
		s.at.updateScaling(s.at.D, scaling, false)
		s.state = s.opt.Descent.Accept(s.state, o.ratio, size)
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
func (s *Solver) try(predicted float64, derivatives bool, res *Result) outcome {
	at, trial := s.at, s.trial
	small, minute := predicted <= softNoise*at.Cost, predicted <= noise*at.Cost
	derivatives = derivatives || small
	s.evaluate(trial, derivatives, res)
	o := outcome{actual: at.Cost - trial.Cost}
	o.ratio = o.actual / predicted
	if !finite(trial.Cost) {
		return o
	}
	o.accepted = o.ratio >= s.opt.Descent.AcceptFrom()
	if !o.accepted && !small {
		return o
	}
	if !derivatives {
		s.evaluate(trial, true, res)
	}
	if minute && math.Abs(o.actual) <= noise*at.Cost {
		o.ratio = 1
		o.accepted = trial.gradient < at.gradient
		o.exhausted = !o.accepted
		return o
	}
	if !o.accepted && math.Abs(o.actual) <= softNoise*at.Cost && trial.gradient <= 0.5*at.gradient {
		o.ratio, o.accepted = 1, true
	}
	o.accepted = o.accepted && finite(trial.Cost) && finite(trial.gradient)
	return o
}
