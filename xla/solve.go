package xla

import (
	"errors"
	"math"

	"pihc/constraint"
	"pihc/lm"
	"pihc/pde"
)

// point is where solves are, (K, ...), with what was evaluated there: cost, scaled
// gradient, Jᵀr, JᵀJ and, where asked for, the exact Hessian, with the ridge in all.
type point struct{ w, cost, gradient, g, a, h value }

// solver writes the Levenberg-Marquardt solves of K problems of n unknowns, step by
// step those of package lm, in one loop in which each has its own damping and status.
type solver struct {
	*terms
	k, n    int
	options lm.Options
	classic bool // damping by the rule of Optimistix
	initial float64
}

func newSolver(t *terms, k, n int, o lm.Options) *solver {
	lma := o.Descent.(lm.LevenbergMarquardt)
	s := &solver{terms: t, k: k, n: n, options: o, classic: lma.Classical, initial: 1e-3}
	if lma.InitialDamping != 0 {
		s.initial = lma.InitialDamping
	}
	return s
}

// checkSolver is an error for options that newSolver has nothing for.
func checkSolver(o lm.Options) error {
	if _, ok := o.Descent.(lm.LevenbergMarquardt); !ok {
		return errors.New("engine xla solves by Levenberg-Marquardt alone")
	}
	return nil
}

// Constants of package lm.
const (
	acceptRatio  = 1e-4
	hessianPivot = 1e-14
	gramPivot    = 1e-12
	noise        = 1e-13
	softNoise    = 1e-10
	epsilon      = 0x1p-52
	rootEpsilon  = 0x1p-26
)

func (s *solver) zeros(shape ...int) value { return s.full(0, f64, append([]int{s.k}, shape...)...) }

// outputs evaluates the rows of a set at w (K, n).
func (s *solver) outputs(r rowSet, w value) []value {
	var z []value
	for _, a := range r.terms {
		z = append(z, s.dot("kmn,kn->km", a, w))
	}
	out := s.terms.evaluate(r.set, z, r.constants, r.extras)
	if r.padding.exists() {
		for i, v := range out {
			out[i] = s.where(r.padding, s.full(0, f64, v.shape...), v)
		}
	}
	return out
}

// evaluate evaluates all rows at w.
func (s *solver) evaluate(sets []rowSet, w value, hessian bool) point {
	cost, g, a, c := s.zeros(), s.zeros(s.n), s.zeros(s.n, s.n), s.zeros(s.n, s.n)
	for _, r := range sets {
		out := s.outputs(r, w)
		terms := len(r.terms)
		weighted := s.mul(r.scale, out[0])
		cost = s.add(cost, s.sum(s.mul(weighted, out[0]), 1))
		shape := r.terms[0].shape
		var j value
		for i, m := range r.terms {
			j = s.total(j, s.mul(m, s.leading(out[1+i], shape)))
		}
		g = s.add(g, s.dot("kmn,km->kn", j, weighted))
		a = s.add(a, s.dot("kmi,kmj->kij", s.mul(j, s.leading(r.scale, shape)), j))
		for i := range terms {
			var rest value // Σ_l r F_il A_l
			for l := range terms {
				at := r.set.Pair(i, l)
				if at < 0 || !hessian {
					continue
				}
				rest = s.total(rest, s.mul(r.terms[l], s.leading(s.mul(weighted, out[at]), shape)))
			}
			if rest.exists() {
				c = s.add(c, s.dot("kmi,kmj->kij", r.terms[i], rest))
			}
		}
	}
	e2 := s.options.Ridge * s.options.Ridge
	p := point{w: w}
	p.cost = s.times(s.add(cost, s.times(s.inner(w, w), e2)), 0.5)
	p.g = s.add(g, s.times(w, e2))
	p.a = s.addDiagonal(a, s.full(e2, f64, s.k, s.n))
	if hessian {
		p.h = s.add(p.a, c)
	}
	// MINPACK's scaled gradient, NaN if a derivative is not finite.
	diagonal := s.diagonal(p.a)
	size := s.mul(s.sqrt(diagonal), s.leading(s.sqrt(s.times(p.cost, 2)), diagonal.shape))
	ratio := s.where(s.than("EQ", p.g, 0), s.zeros(s.n), s.div(s.abs(p.g), size))
	usable := s.all(s.and(s.finite(p.g), s.finite(diagonal)), 1)
	p.gradient = s.where(usable, s.largest(ratio, 1), s.full(math.NaN(), f64, s.k))
	return p
}

// pick takes x where chosen (K), otherwise y.
func (s *solver) pick(chosen value, x, y point) point {
	p := point{
		w: s.where(chosen, x.w, y.w), cost: s.where(chosen, x.cost, y.cost), gradient: s.where(chosen, x.gradient, y.gradient),
		g: s.where(chosen, x.g, y.g), a: s.where(chosen, x.a, y.a),
	}
	if x.h.exists() {
		p.h = s.where(chosen, x.h, y.h)
	}
	return p
}

// rescale updates the scaling d (K, n) from the diagonal of a; nothing: the first.
func (s *solver) rescale(a, d value) value {
	v := s.sqrt(s.diagonal(a))
	one := s.full(1, f64, s.k, s.n)
	switch {
	case s.options.Scaling == lm.ScalingIdentity:
		return one
	case s.options.Scaling == lm.ScalingMore && d.exists():
		v = s.max(v, d)
	}
	return s.where(s.than("EQ", v, 0), one, v)
}

// highest is max_j A_jj/D_j².
func (s *solver) highest(a, d value) value { return s.largest(s.div(s.diagonal(a), s.mul(d, d)), 1) }

// tolerance is an option of lm: 0 stands for the default, a negative one for none.
func tolerance(v float64) float64 {
	if v == 0 {
		return 1e-8
	}
	return v
}

// status is (K) of one status.
func (s *solver) status(v lm.Status) value { return s.full(float64(v), i32, s.k) }

// outcome tells how solves went: (K) each.
type outcome struct{ status, iterations, accepted, evaluations value }

// iterate runs from w until every solve has met a test.
func (s *solver) iterate(sets []rowSet, o lm.Options, w value) (point, outcome) {
	start := s.evaluate(sets, w, false)
	d := s.rescale(start.a, value{})
	mu := s.full(1, f64, s.k)
	if !s.classic {
		mu = s.times(s.highest(start.a, d), s.initial)
		mu = s.where(s.than("EQ", mu, 0), s.full(1, f64, s.k), mu)
	}
	count := s.full(0, i32, s.k)
	begun := s.and(s.finite(start.cost), s.finite(start.gradient))
	status := s.where(begun, s.status(lm.StatusNotStarted), s.status(lm.StatusNonFiniteStart))
	state := []value{start.w, start.cost, start.gradient, start.g, start.a, d, mu, count, status, count, count, s.full(1, i32, s.k)}
	state = s.loop(state, func(x []value) value {
		return s.any(s.than("EQ", x[8], float64(lm.StatusNotStarted)), 0)
	}, func(x []value) []value { return s.trial(sets, o, x) })
	return point{w: state[0], cost: state[1], gradient: state[2], g: state[3], a: state[4]}, outcome{state[8], state[9], state[10], state[11]}
}

// trial is one trial step of every solve that has not ended.
func (s *solver) trial(sets []rowSet, o lm.Options, x []value) []value {
	at := point{w: x[0], cost: x[1], gradient: x[2], g: x[3], a: x[4]}
	d, mu, rejections, status, iterations, accepted, evaluations := x[5], x[6], x[7], x[8], x[9], x[10], x[11]
	gtol := math.Max(tolerance(o.GTol), 0)
	one := func(mask value) value { return s.convert(mask, i32) }
	end := func(mask value, with value) { status = s.where(mask, with, status) }

	active := s.than("EQ", status, float64(lm.StatusNotStarted))
	flat := s.and(active, s.than("LE", at.gradient, gtol))
	spent := s.and(s.and(active, s.not(flat)), s.than("GE", iterations, float64(o.MaxIterations)))
	end(flat, s.status(lm.StatusConvergedGradient))
	end(spent, s.status(lm.StatusMaxIterations))
	active = s.and(active, s.not(s.or(flat, spent)))
	iterations = s.add(iterations, one(active))

	step := s.propose(at, d, mu)
	// exhausted names the end of a run that no trial can improve.
	exhausted := func(converged lm.Status, rejections value) value {
		stalled := s.and(s.than("GT", rejections, 0), s.than("GT", at.gradient, rootEpsilon))
		return s.where(stalled, s.status(lm.StatusStalled), s.status(converged))
	}
	stuck := s.and(active, s.and(step.solvable, s.not(step.moved)))
	end(stuck, exhausted(lm.StatusConvergedStep, rejections))
	active = s.and(active, s.not(stuck))

	trying := s.and(active, s.and(step.solvable, s.than("GT", step.predicted, 0)))
	to := s.evaluate(sets, step.w, false)
	actual := s.sub(at.cost, to.cost)
	change, ratio := s.abs(actual), s.div(actual, step.predicted)
	within := func(v value, k float64) value { return s.compare("LE", v, s.times(at.cost, k)) }
	acceptFrom := acceptRatio
	if s.classic {
		acceptFrom = 0.01
	}
	good, small := s.than("GE", ratio, acceptFrom), within(step.predicted, softNoise)
	minute := s.and(within(step.predicted, noise), within(change, noise))
	hopeless := s.or(s.not(s.finite(to.cost)), s.not(s.or(good, small)))
	compared := s.and(trying, s.not(hopeless))
	falls := s.compare("LT", to.gradient, at.gradient)
	halves := s.and(within(change, softNoise), s.compare("LE", to.gradient, s.times(at.gradient, 0.5)))
	usable := s.and(s.and(s.or(good, halves), s.finite(to.cost)), s.finite(to.gradient))
	take := s.and(compared, s.where(minute, falls, usable))
	over := s.and(compared, s.and(minute, s.not(falls)))
	ratio = s.where(s.and(good, s.not(minute)), ratio, s.full(1, f64, s.k))
	end(over, exhausted(lm.StatusConvergedCost, rejections))
	unevaluated := s.and(s.than("GT", rejections, 0), s.not(small))
	evaluations = s.add(evaluations, s.add(one(trying), one(s.and(compared, unevaluated))))

	reject := s.and(active, s.not(s.or(take, over)))
	rejections = s.add(rejections, one(reject))
	tighter := s.tighter(at, d, mu, rejections, step.solvable)
	again := s.and(s.than("LT", tighter, inf), s.or(s.not(step.solvable), s.compare("GT", step.size, s.times(step.length, epsilon))))
	end(s.and(reject, s.not(again)), exhausted(lm.StatusConvergedCost, rejections))

	met := s.compare("LE", step.size, s.times(step.length, tolerance(o.XTol)))
	test := s.where(met, s.status(lm.StatusConvergedStep), s.status(lm.StatusNotStarted))
	if ftol := tolerance(o.FTol); ftol >= 0 {
		met := s.and(s.and(within(change, ftol), within(step.predicted, ftol)), s.than("LE", ratio, 2))
		test = s.where(met, s.status(lm.StatusConvergedCost), test)
	}
	met = s.and(s.than("NE", test, float64(lm.StatusNotStarted)), s.than("LE", to.gradient, gtol))
	end(take, s.where(met, s.status(lm.StatusConvergedGradient), test))
	mu = s.where(take, s.looser(mu, ratio), s.where(reject, tighter, mu))
	next := s.pick(take, to, at)
	return []value{
		next.w, next.cost, next.gradient, next.g, next.a, s.where(take, s.rescale(to.a, d), d), mu,
		s.where(take, s.full(0, i32, s.k), rejections), status, iterations, s.add(accepted, one(take)), evaluations,
	}
}

// step is a step of every solve: where it leads, by how much the model says that the cost falls, the scaled lengths of
// the step and of the weights, whether there is one, and whether it changes the weights.
type step struct{ w, predicted, size, length, solvable, moved value }

// propose solves the damped normal equations; its result is zero where they are singular.
func (s *solver) propose(at point, d, mu value) (t step) {
	dd := s.mul(d, d)
	damped := s.addDiagonal(at.a, s.mul(dd, s.leading(mu, dd.shape)))
	inverse, pivot := s.inverse(damped)
	t.solvable = s.than("GT", pivot, 0)
	move := s.where(t.solvable, s.neg(s.solve(damped, inverse, at.g)), s.zeros(s.n))
	t.predicted = s.sub(s.neg(s.inner(at.g, move)), s.times(s.inner(move, s.apply(at.a, move)), 0.5))
	t.size, t.length = s.norm(s.mul(d, move)), s.norm(s.mul(d, at.w))
	t.w = s.add(at.w, move)
	t.moved = s.any(s.compare("NE", t.w, at.w), 1)
	return t
}

// tighter is the damping after so many rejections.
func (s *solver) tighter(at point, d, mu, rejections, solvable value) value {
	tighter := s.times(mu, 4)
	if !s.classic {
		tighter = s.mul(mu, s.binary("power", s.full(2, f64, s.k), s.convert(rejections, f64)))
	}
	return s.where(solvable, tighter, s.max(tighter, s.times(s.highest(at.a, d), float64(s.n)*epsilon)))
}

// looser is the damping after an accepted step with this ratio of the fall of the cost to what was predicted.
func (s *solver) looser(mu, ratio value) value {
	looser := s.where(s.than("GE", ratio, 0.99), s.times(mu, 1/3.5), mu)
	if !s.classic {
		u := s.plus(s.times(ratio, 2), -1)
		looser = s.mul(mu, s.max(s.full(1./3, f64, s.k), s.plus(s.neg(s.mul(u, s.mul(u, u))), 1)))
	}
	return looser
}

// solution is where solves ended, and how.
type solution struct {
	point // with the Hessian, as far as that is finite
	outcome
	pivot, distance, corrected value // (K)
	inverse, gramPivot         value // of a, and its smallest pivot
}

// finish applies the Newton correction and measures what came out.
func (s *solver) finish(sets []rowSet, p point, o outcome) solution {
	p = s.evaluate(sets, p.w, true)
	started := s.than("NE", o.status, float64(lm.StatusNonFiniteStart))
	r := solution{point: p, outcome: o, corrected: s.full(0, boolean, s.k)}
	var newton, definite value
	if s.options.NewtonCorrection {
		var pivot value
		newton, pivot = s.inverse(p.h)
		definite = s.and(s.and(started, s.usable(p.h)), s.than("GE", pivot, hessianPivot))
		w := s.sub(p.w, s.where(definite, s.solve(p.h, newton, p.g), s.zeros(s.n)))
		to := s.evaluate(sets, w, true)
		rises := s.compare("GT", to.cost, p.cost)
		same := s.compare("LE", s.abs(s.sub(to.cost, p.cost)), s.times(p.cost, noise))
		rises = s.where(same, s.compare("GT", to.gradient, p.gradient), rises)
		r.corrected = s.and(s.and(definite, s.not(rises)), s.and(s.finite(to.cost), s.finite(to.gradient)))
		r.point = s.pick(r.corrected, to, p)
		r.evaluations = s.add(r.evaluations, s.add(s.convert(started, i32), s.convert(definite, i32)))
	}
	r.inverse, r.gramPivot = s.inverse(r.a)
	r.pivot = s.where(started, r.gramPivot, s.zeros())
	r.distance = s.where(s.than("GT", r.pivot, 0), s.norm(s.apply(r.inverse, r.g)), s.full(inf, f64, s.k))
	if s.options.NewtonCorrection {
		r.distance = s.where(definite, s.norm(s.apply(newton, r.g)), r.distance)
	}
	r.distance = s.where(s.and(started, s.than("EQ", r.gradient, 0)), s.zeros(), r.distance)
	return r
}

// usable tells which matrices (K, n, n) are finite.
func (s *solver) usable(m value) value { return s.all(s.finite(m), 1, 2) }

// run solves from the start that the options of the constraint give.
func (s *solver) run(sets []rowSet, c *constraint.Constraint) solution {
	start := s.full(c.Options.Start, f64, s.k, s.n)
	w := start
	if coarse := s.coarse(sets, c); coarse != nil {
		p, o := s.iterate(coarse, c.CoarseOptions(), start)
		early := s.or(s.than("EQ", o.status, float64(lm.StatusMaxIterations)),
			s.or(s.than("EQ", o.status, float64(lm.StatusStalled)), s.than("EQ", o.status, float64(lm.StatusNonFiniteStart))))
		w = s.where(early, start, p.w)
	}
	p, o := s.iterate(sets, s.options, w)
	return s.finish(sets, p, o)
}

// coarse returns the rows that solves begin on, if those are fewer than all.
func (s *solver) coarse(sets []rowSet, c *constraint.Constraint) []rowSet {
	out, fewer := append([]rowSet(nil), sets...), false
	for i, r := range sets {
		if r.set.Kind != pde.ResidualRows {
			continue
		}
		if r.padding.exists() {
			return nil
		}
		chosen, times := c.CoarseRows(r.set, r.scale.shape[1])
		if chosen == nil {
			continue
		}
		fewer = true
		index := s.integers(chosen, len(chosen))
		some := func(v value) value { // (K, m, ...) of the chosen rows
			order := []int{1, 0}
			for a := 2; a < v.rank(); a++ {
				order = append(order, a)
			}
			return s.transpose(s.terms.builder.rows(s.transpose(v, order...), index), order...)
		}
		out[i] = rowSet{
			set: r.set, scale: s.times(some(r.scale), times),
			terms: mapped(r.terms, some), constants: mapped(r.constants, some), extras: mapped(r.extras, some),
		}
	}
	if !fewer {
		return nil
	}
	return out
}

// mapped are arrays each mapped by f; nothing stays nothing.
func mapped(all []value, f func(value) value) []value {
	out := make([]value, len(all))
	for i, v := range all {
		if v.exists() {
			out[i] = f(v)
		}
	}
	return out
}

// adjoint solves M λ = bar (K, n), M the matrix wanted or what can be used in its place,
// which status (K) names.
func (s *solver) adjoint(r solution, want lm.Hessian, bar value) (lambda, status value) {
	named := func(v lm.Hessian) value { return s.full(float64(v), i32, s.k) }
	matrix, inverse := r.a, r.inverse
	whole := s.and(s.finite(r.cost), s.usable(r.a))
	fine := s.and(whole, s.than("GE", r.gramPivot, gramPivot))
	status = s.where(fine, named(lm.HessianGaussNewton), s.where(whole, named(lm.HessianRegularised), named(lm.HessianFailed)))
	done := s.or(fine, s.not(whole))
	if want == lm.HessianExact {
		newton, pivot := s.inverse(r.h)
		exact := s.and(s.and(s.finite(r.cost), s.usable(r.h)), s.than("GE", pivot, hessianPivot))
		matrix, inverse = s.where(exact, r.h, matrix), s.where(exact, newton, inverse)
		status, done = s.where(exact, named(lm.HessianExact), status), s.or(done, exact)
	}
	d := s.diagonal(r.a)
	d = s.where(s.than("EQ", d, 0), s.full(1, f64, s.k, s.n), d)
	state := s.loop([]value{s.full(1e-12, f64, s.k), done, matrix, inverse, status}, func(x []value) value {
		return s.any(s.not(x[1]), 0)
	}, func(x []value) []value {
		tau, done, matrix, inverse, status := x[0], x[1], x[2], x[3], x[4]
		m := s.addDiagonal(r.a, s.mul(d, s.leading(tau, d.shape)))
		v, pivot := s.inverse(m)
		open := s.not(done)
		ok := s.and(open, s.compare("GE", pivot, s.times(tau, 0.1)))
		lost := s.and(s.and(open, s.not(ok)), s.than("GT", tau, 1))
		return []value{
			s.times(tau, 10), s.or(done, s.or(ok, lost)), s.where(ok, m, matrix), s.where(ok, v, inverse), s.where(lost, named(lm.HessianFailed), status),
		}
	})
	lambda = s.solve(state[2], state[3], bar)
	return s.where(s.than("EQ", state[4], float64(lm.HessianFailed)), s.zeros(s.n), lambda), state[4]
}

// pulled are the adjoint rows of a set: what its terms pull back to the grid, as s and q
// of every expert, (K, m) per term.
type pulled struct{ s, q []value }

// adjointRows forms s_j = −scale Σ_l (F_j F_l + r F_jl) A_l λ and q_j = −scale r F_j at w;
// of the paper's adjoint s_j = −scale F_j (Jλ) and q_j = 0.
func (s *solver) adjointRows(r rowSet, w, lambda value, paper bool) pulled {
	out := s.outputs(r, w)
	minus := s.neg(r.scale)
	var y []value
	var jl value
	for j, a := range r.terms {
		y = append(y, s.dot("kmn,kn->km", a, lambda))
		jl = s.total(jl, s.mul(out[1+j], y[j]))
	}
	var p pulled
	for j := range r.terms {
		sum, q := s.mul(out[1+j], jl), s.mul(out[0], out[1+j])
		for l := range r.terms {
			if at := r.set.Pair(j, l); at >= 0 && !paper {
				sum = s.add(sum, s.mul(s.mul(out[0], out[at]), y[l]))
			}
		}
		if paper {
			q = s.full(0, f64, q.shape...)
		}
		p.s, p.q = append(p.s, s.mul(minus, sum)), append(p.q, s.mul(minus, q))
	}
	return p
}
