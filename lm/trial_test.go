package lm

import (
	"math"
	"testing"
)

// TestTrial judges trials from a point of cost 1 and scaled gradient 0.2/√2 that
// lead to a given cost and gradient: by the ratio of the reductions, and where that
// is rounding by the gradient.
func TestTrial(t *testing.T) {
	unit, g := []float64{1, 0, 0, 1}, []float64{0.1, 0.2}
	scaled := func(f float64) []float64 { return []float64{f * g[0], f * g[1]} }
	const rejected, accepted, exhausted = 0, 1, 2
	for _, c := range []struct {
		name      string
		predicted float64
		to        given
		classical bool
		want      int
		ratio     float64
		full      int // evaluations with derivatives where the trial is tried by its cost first
	}{
		{"as predicted", 0.1, given{cost: 0.9, a: unit, g: g}, false, accepted, 1, 1},
		{"ratio 2e-4", 0.1, given{cost: 1 - 2e-5, a: unit, g: g}, false, accepted, 2e-4, 1},
		{"ratio 5e-5", 0.1, given{cost: 1 - 5e-6, a: unit, g: g}, false, rejected, 5e-5, 0},
		{"ratio 0.02, classical", 0.1, given{cost: 1 - 2e-3, a: unit, g: g}, true, accepted, 0.02, 1},
		{"ratio 0.005, classical", 0.1, given{cost: 1 - 5e-4, a: unit, g: g}, true, rejected, 0.005, 0},
		{"rise", 0.1, given{cost: 1.1, a: unit, g: scaled(0.1)}, false, rejected, -1, 0},
		{"cost NaN", 0.1, given{cost: math.NaN(), a: unit, g: g}, false, rejected, math.NaN(), 0},
		{"cost -Inf", 0.1, given{cost: math.Inf(-1), a: unit, g: g}, false, rejected, math.Inf(1), 0},
		{"gradient NaN", 0.1, given{cost: 0.9, a: unit, g: scaled(math.NaN())}, false, rejected, 1, 1},
		{"JᵀJ NaN", 0.1, given{cost: 0.9, a: []float64{1, 0, 0, math.NaN()}, g: g}, false, rejected, 1, 1},
		{"same cost by a long step", 0.1, given{cost: 1 + 1e-14, a: unit, g: scaled(0.1)}, false, rejected, -1e-13, 0},
		{"soft: gradient halves", 1e-11, given{cost: 1 + 1e-11, a: unit, g: scaled(0.49)}, false, accepted, 1, 1},
		{"soft: gradient does not", 1e-11, given{cost: 1 + 1e-11, a: unit, g: scaled(0.51)}, false, rejected, -1, 1},
		{"soft: cost rises more", 1e-11, given{cost: 1 + 1e-9, a: unit, g: scaled(0.1)}, false, rejected, -100, 1},
		{"soft: ratio alone", 1e-11, given{cost: 1 - 1e-11, a: unit, g: scaled(2)}, false, accepted, 1, 1},
		{"noise: gradient falls", 1e-14, given{cost: 1 + 2e-14, a: unit, g: scaled(0.99)}, false, accepted, 1, 1},
		{"noise: gradient is the same", 1e-14, given{cost: 1, a: unit, g: g}, false, exhausted, 1, 1},
		{"noise: gradient rises", 1e-14, given{cost: 1 - 1e-14, a: unit, g: scaled(1.01)}, false, exhausted, 1, 1},
		{"noise: cost rises", 1e-14, given{cost: 1 + 1e-6, a: unit, g: scaled(0.1)}, false, rejected, -1e8, 1},
	} {
		for _, derivatives := range []bool{true, false} {
			counter := &counts{twoPoints: twoPoints{given{cost: 1, a: unit, g: g}, c.to}}
			s := NewSolver(2, Options{Descent: LevenbergMarquardt{Classical: c.classical}})
			s.bind(counter, []float64{1, 2})
			s.moveTo([]float64{1, 2})
			s.at.evaluate(true)
			s.trial.W[0], counter.full, counter.cost = 3, 0, 0
			var res Result
			o := s.try(c.predicted, derivatives, &res)
			if o.accepted != (c.want == accepted) || o.exhausted != (c.want == exhausted) {
				t.Errorf("%s: %+v", c.name, o)
			}
			if math.Abs(o.ratio-c.ratio) > 1e-2*math.Abs(c.ratio) {
				t.Errorf("%s: ratio %g, want %g", c.name, o.ratio, c.ratio)
			}
			if small := c.predicted <= softNoise; derivatives || small {
				if counter.full != 1 || counter.cost != 0 {
					t.Errorf("%s: %d evaluations with, %d without derivatives", c.name, counter.full, counter.cost)
				}
			} else if counter.full != c.full || counter.cost != 1 {
				t.Errorf("%s: %d evaluations with, %d without derivatives, want %d and 1", c.name, counter.full, counter.cost, c.full)
			}
		}
	}
}

// counts counts evaluations with and without derivatives.
type counts struct {
	twoPoints
	full, cost int
}

func (p *counts) Normal(a, g, w []float64) float64 {
	if g != nil {
		p.full++
	} else {
		p.cost++
	}
	return p.twoPoints.Normal(a, g, w)
}

// TestStepTests holds ftol and xtol to the definitions of lmder, at cost 2, w =
// (3, 4) and D = I.
func TestStepTests(t *testing.T) {
	for _, c := range []struct {
		ftol, xtol                     float64
		actual, predicted, ratio, size float64
		want                           Status
	}{
		{1e-3, 1e-3, 1.9e-3, 1.9e-3, 1, 1, StatusConvergedCost},
		{1e-3, 1e-3, -1.9e-3, 1.9e-3, 1, 1, StatusConvergedCost},
		{1e-3, 1e-3, 2.1e-3, 1.9e-3, 1, 1, StatusNotStarted},
		{1e-3, 1e-3, 1.9e-3, 2.1e-3, 1, 1, StatusNotStarted},
		{1e-3, 1e-3, 1.9e-3, 0.9e-3, 2.1, 1, StatusNotStarted},
		{1e-3, 1e-3, 1, 1, 1, 4.9e-3, StatusConvergedStep},
		{1e-3, 1e-3, 1, 1, 1, 5.1e-3, StatusNotStarted},
		{-1, -1, 0, 0, 1, 0, StatusNotStarted},
	} {
		s := NewSolver(2, Options{FTol: c.ftol, XTol: c.xtol})
		s.moveTo([]float64{3, 4})
		s.at.Cost, s.at.D[0], s.at.D[1] = 2, 1, 1
		if got := s.converged(outcome{actual: c.actual, ratio: c.ratio}, c.predicted, c.size); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestPlateau: what counts as a plateau, as creeping and as exhausted.
func TestPlateau(t *testing.T) {
	s := NewSolver(2, Options{MaxIterations: 100})
	s.moveTo([]float64{1, 2})
	state := func(cost, gradient, a00, d0 float64) {
		s.at.Cost, s.at.gradient, s.at.A[0], s.at.A[3], s.at.D[0], s.at.D[1] = cost, gradient, a00, 1, d0, 1
	}
	r := history{restartable: true, startCost: 1, quarterCost: math.Inf(1)}
	for _, c := range []struct {
		cost, gradient, a00, d0 float64
		end                     Status
		want                    bool
	}{
		{0.1, 1e-4, 1, 1, StatusConvergedCost, true},
		{0.1, 1e-6, 1, 1, StatusConvergedCost, false},
		{0.1, 1e-4, 1, 1, StatusConvergedGradient, false},
		{1e-27, 1e-4, 1, 1, StatusConvergedCost, false}, // negligible
		{0.1, 1e-6, 1, 900, StatusConvergedGradient, false},
		{0.1, 1e-6, 1, 1100, StatusConvergedGradient, true}, // collapsed
		{0.1, 1e-6, 0, 2, StatusConvergedGradient, true},
		{0.1, 1e-6, 0, 1, StatusConvergedGradient, false}, // never was anything else
	} {
		state(c.cost, c.gradient, c.a00, c.d0)
		if got := s.plateau(r, c.end); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	for _, c := range []struct {
		restartable         bool
		quarter, half, grad float64
		want                bool
	}{
		{true, 0.5, 0.1, 1e-4, true},
		{true, 0.5, 0.1, 1e-6, false},
		{true, 0.5, 0.004, 1e-4, false},
		{false, 0.5, 0.1, 1e-4, false},
	} {
		r := history{restartable: c.restartable, startCost: 1, quarterCost: math.Inf(1)}
		state(c.quarter, c.grad, 1, 1)
		if s.creeping(&r, 24) || s.creeping(&r, 25) {
			t.Errorf("%+v: creeping at a quarter", c)
		}
		state(c.half, c.grad, 1, 1)
		if got := s.creeping(&r, 50); got != c.want || s.creeping(&r, 51) {
			t.Errorf("%+v: %v", c, got)
		}
	}
	for _, c := range []struct {
		rejections int
		gradient   float64
		want       Status
	}{{0, 1, StatusConvergedCost}, {1, 1, StatusStalled}, {1, 1e-8, StatusConvergedCost}} {
		s.at.gradient = c.gradient
		if got := s.exhausted(StatusConvergedCost, c.rejections); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestRestartKeepsTheBetterRun: here the second run ends higher than the first
// (problem 2 by QR), or nowhere better (a limit that is used up, J of rank one
// everywhere); the result is the first, with its own rank.
func TestRestartKeepsTheBetterRun(t *testing.T) {
	problems := mghProblems(mghData(t))
	for _, number := range []int{2, 12, 26} {
		for _, factor := range []float64{1, 10, 100} {
			p, o := problems[number-1], suiteOptions(true)
			o.QR = true
			res := NewSolver(p.n, o).Solve(dualProblem(p.m, p.n, p.f), p.startAt(factor))
			o.NoRestart = true
			alone := NewSolver(p.n, o).Solve(dualProblem(p.m, p.n, p.f), p.startAt(factor))
			if !(res.Cost <= alone.Cost) || res.Iterations < alone.Iterations || res.Evaluations < alone.Evaluations {
				t.Errorf("%d from %gx0: %+v, without restart %+v", number, factor, res, alone)
			}
			if res.Status == StatusRankDeficient && res.Rank == p.n {
				t.Errorf("%d from %gx0: %+v", number, factor, res)
			}
		}
	}
	one := func(scale float64) *Dense {
		return NewDense(2, 2,
			func(r, w []float64) { v := w[0] + w[1]; r[0], r[1] = math.Exp(scale*v)-2, 2*v-3 },
			func(jac, w []float64) {
				e := scale * math.Exp(scale*(w[0]+w[1]))
				jac[0], jac[1], jac[2], jac[3] = e, e, 2, 2
			},
		)
	}
	for _, c := range []struct {
		name string
		o    Options
		want Status
	}{
		{"rank one everywhere", Options{}, StatusRankDeficient},
		{"limit", Options{MaxIterations: 1}, StatusMaxIterations},
	} {
		res := NewSolver(2, c.o).Solve(one(1), []float64{1, 2})
		c.o.NoRestart = true
		alone := NewSolver(2, c.o).Solve(one(1), []float64{1, 2})
		if res != alone || res.Status != c.want || res.Rank != 1 {
			t.Errorf("%s: %+v, without restart %+v", c.name, res, alone)
		}
	}
}
