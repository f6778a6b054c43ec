package lm

import (
	"math"
	"testing"
)

// scalar is r = f(w) with one unknown.
func scalar(f, df func(w float64) float64) *Dense {
	return NewDense(1, 1,
		func(r, w []float64) { r[0] = f(w[0]) },
		func(jac, w []float64) { jac[0] = df(w[0]) },
	)
}

func TestStatuses(t *testing.T) {
	one := func(float64) float64 { return 1 }
	zero := func(float64) float64 { return 0 }
	identity := func(w float64) float64 { return w }
	offset := NewDense(2, 1, // minimum at 2 with cost ½
		func(r, w []float64) { r[0], r[1] = math.Sin(w[0]-2), 1 },
		func(jac, w []float64) { jac[0], jac[1] = math.Cos(w[0]-2), 0 },
	)
	for _, c := range []struct {
		name  string
		p     Problem
		start float64
		o     Options
		want  Status
		early bool
	}{
		{"at the minimum", scalar(identity, one), 0, Options{}, StatusConvergedGradient, false},
		{"gradient", offset, 2.5, Options{FTol: -1, XTol: -1}, StatusConvergedGradient, false},
		{"cost", offset, 2.5, Options{GTol: -1, XTol: -1}, StatusConvergedCost, false},
		{"step", offset, 2.5, Options{GTol: -1, FTol: -1, XTol: 1e-2}, StatusConvergedStep, false},
		{"limit", offset, 2.5, Options{MaxIterations: 1}, StatusMaxIterations, true},
		{"constant", scalar(one, zero), 3, Options{}, StatusRankDeficient, false},
		{"wrong Jacobian", scalar(identity, func(float64) float64 { return -1 }), 3, Options{}, StatusStalled, true},
		{"NaN start", scalar(math.Log, func(w float64) float64 { return 1 / w }), -1, Options{}, StatusNonFiniteStart, true},
		{"Inf start", scalar(func(w float64) float64 { return 1 / w }, func(w float64) float64 { return -1 / (w * w) }), 0, Options{}, StatusNonFiniteStart, true},
		{"NaN Jacobian", scalar(identity, func(float64) float64 { return math.NaN() }), 1, Options{}, StatusNonFiniteStart, true},
	} {
		w := []float64{c.start}
		res := NewSolver(1, c.o).Solve(c.p, w)
		if res.Status != c.want || res.Status.Early() != c.early || (res.Status.Err() != nil) != c.early {
			t.Errorf("%s: %v (early %v, %v), want %v", c.name, res.Status, res.Status.Early(), res.Status.Err(), c.want)
		}
		if c.want == StatusNonFiniteStart && w[0] != c.start {
			t.Errorf("%s: w moved to %v", c.name, w)
		}
	}
}

// TestNonFiniteTrialIsRejected minimises log(w)² from a point whose first
// Gauss-Newton steps lead to negative w, where log is NaN.
func TestNonFiniteTrialIsRejected(t *testing.T) {
	nan := 0
	p := scalar(func(w float64) float64 {
		v := math.Log(w)
		if math.IsNaN(v) {
			nan++
		}
		return v
	}, func(w float64) float64 { return 1 / w })
	w := []float64{20}
	res := NewSolver(1, Options{Descent: LevenbergMarquardt{NoAcceleration: true}}).Solve(p, w)
	if res.Status.Err() != nil || math.Abs(w[0]-1) > 1e-7 || nan == 0 {
		t.Errorf("w = %v after %d NaN trials, %+v", w, nan, res)
	}
}

// TestNonFiniteDerivativesAreRejected has a finite cost everywhere but a NaN
// Jacobian beyond a wall: such a trial must not be accepted.
func TestNonFiniteDerivativesAreRejected(t *testing.T) {
	p := scalar(func(w float64) float64 { return w - 2 }, func(w float64) float64 {
		if w < 2.5 {
			return math.NaN()
		}
		return 1
	})
	w := []float64{4}
	res := NewSolver(1, Options{}).Solve(p, w)
	if !(w[0] >= 2.5) || !res.Status.Early() || !finite(res.Cost) || !finite(res.Gradient) {
		t.Errorf("w = %v, %+v", w, res)
	}
}

// TestDistanceEstimatesTheError compares the estimate with the true distance
// at points stopped early.
func TestDistanceEstimatesTheError(t *testing.T) {
	p := newTerms(200, 4, 3)
	best := make([]float64, 4)
	NewSolver(4, tight).Solve(p, best)
	for _, gtol := range []float64{1e-2, 1e-3, 1e-4} {
		w := make([]float64, 4)
		res := NewSolver(4, Options{GTol: gtol, FTol: -1, XTol: -1}).Solve(p, w)
		true2 := 0.0
		for j := range w {
			true2 += (w[j] - best[j]) * (w[j] - best[j])
		}
		if ratio := res.Distance / math.Sqrt(true2); ratio < 0.5 || ratio > 2 {
			t.Errorf("gtol %g: estimate %.2e, true distance %.2e", gtol, res.Distance, math.Sqrt(true2))
		}
	}
}

// TestRidge checks the ridge against rows added by hand.
func TestRidge(t *testing.T) {
	const ridge = 0.3
	p := newTerms(40, 3, 5)
	byHand := NewDense(43, 3,
		func(r, w []float64) {
			for i := range 40 {
				r[i], _, _, _, _ = p.row(i, w)
			}
			for j, v := range w {
				r[40+j] = ridge * v
			}
		},
		nil,
	)
	w, v := make([]float64, 3), make([]float64, 3)
	o := tight
	a := NewSolver(3, o).Solve(byHand, w)
	o.Ridge = ridge
	b := NewSolver(3, o).Solve(p, v)
	closeTo(t, "w", v, w, 1e-9)
	closeTo(t, "cost", []float64{b.Cost}, []float64{a.Cost}, 1e-12)
	o.QR = true
	u := make([]float64, 3)
	NewSolver(3, o).Solve(p.dense(), u)
	closeTo(t, "w by QR", u, w, 1e-9)
}

// TestRestart starts where the first column is enormous: Moré's D never
// forgets it. (With acceleration the first run finds its way.)
func TestRestart(t *testing.T) {
	p := NewDense(6, 2, // BoxBOD: b1(1 − exp(−b2 x))
		func(r, w []float64) {
			for i, x := range []float64{1, 2, 3, 5, 7, 10} {
				r[i] = []float64{109, 149, 149, 191, 213, 224}[i] - w[0]*(1-math.Exp(-w[1]*x))
			}
		},
		func(jac, w []float64) {
			for i, x := range []float64{1, 2, 3, 5, 7, 10} {
				e := math.Exp(-w[1] * x)
				jac[2*i], jac[2*i+1] = -(1 - e), -w[0]*x*e
			}
		},
	)
	for _, no := range []bool{false, true} {
		w := []float64{1, 1}
		res := NewSolver(2, Options{NoRestart: no, Descent: LevenbergMarquardt{NoAcceleration: true}, MaxIterations: 2000}).Solve(p, w)
		solved := math.Abs(w[1]-0.54723748542) < 1e-4
		if solved == no || res.Restarted == no {
			t.Errorf("NoRestart %v: w = %v, %+v", no, w, res)
		}
	}
}

// TestRestartAfterLostRank starts on a narrow peak. The first run makes it fit one
// datum alone: two of three columns vanish, and what it has found is no minimum of
// the problem.
func TestRestartAfterLostRank(t *testing.T) {
	for _, no := range []bool{false, true} {
		p := mghProblems(mghData(t))[9-1]
		w, o := p.startAt(100), suiteOptions(true)
		o.NoRestart = no
		res := NewSolver(p.n, o).Solve(dualProblem(p.m, p.n, p.f), w)
		_, solved := p.matches(2 * res.Cost)
		if solved == no || res.Restarted == no || (res.Rank < 3) != no {
			t.Errorf("NoRestart %v: w = %v, %+v", no, w, res)
		}
	}
}

func TestPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"no unknowns":    func() { NewSolver(0, Options{}) },
		"scaling":        func() { NewSolver(1, Options{Scaling: 9}) },
		"negative ridge": func() { NewSolver(1, Options{Ridge: -1}) },
		"negative μ":     func() { NewSolver(1, Options{Descent: LevenbergMarquardt{InitialDamping: -1}}) },
		"NaN tolerance":  func() { NewSolver(1, Options{GTol: math.NaN()}) },
		"large problem":  func() { NewSolver(1, Options{}).Solve(rosenbrock(), []float64{1, 1}) },
		"length of w":    func() { NewSolver(2, Options{}).Solve(rosenbrock(), []float64{1}) },
		"no factor":      func() { NewSolver(1, Options{}).SolveAdjoint([]float64{0}, []float64{0}) },
		"no residual":    func() { NewDense(1, 1, nil, nil) },
		"length of lambda": func() {
			s := NewSolver(2, Options{})
			s.FactorSolution(rosenbrock(), []float64{1, 1}, HessianExact)
			s.SolveAdjoint([]float64{0}, []float64{1, 1})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestNames(t *testing.T) {
	for m, want := range map[Hessian]string{HessianExact: "exact", HessianGaussNewton: "gauss-newton", HessianFailed: "failed"} {
		if m.String() != want {
			t.Errorf("%v, want %s", m, want)
		}
	}
	for s := StatusNotStarted; s <= StatusNonFiniteStart; s++ {
		if s.String() == "" || s.Early() != (s.Err() != nil) {
			t.Errorf("%d: %q, early %v, %v", s, s, s.Early(), s.Err())
		}
	}
}
