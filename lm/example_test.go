package lm_test

import (
	"fmt"
	"math"

	"pihc/compute"
	"pihc/lm"
)

// Fit b1·(1 − exp(−b2·x)) to the six points of NIST's BoxBOD, from the start
// that NIST calls hard.
func Example_curveFitting() {
	x := []float64{1, 2, 3, 5, 7, 10}
	y := []float64{109, 149, 149, 191, 213, 224}
	p := lm.NewDense(lm.Func{
		Rows: len(x), Dim: 2,
		Residual: func(r, b []float64) {
			for i := range r {
				r[i] = y[i] - b[0]*(1-math.Exp(-b[1]*x[i]))
			}
		},
		// Without a Jacobian, central differences are used.
	})
	b := []float64{1, 1}
	result := lm.NewSolver(2, lm.Options{NewtonCorrection: true}).Solve(p, b)
	if err := result.Status.Err(); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("b1 = %.4f, b2 = %.6f, sum of squares %.3f\n", b[0], b[1], 2*result.Cost)
	// Output: b1 = 213.8094, b2 = 0.547237, sum of squares 1168.009
}

// Solve four problems at once, one of which has no finite start: it is
// reported and its neighbours do not notice.
func ExampleBatch() {
	tasks := make([]lm.Task, 4)
	for i := range tasks {
		target := float64(i + 1)
		tasks[i] = lm.Task{
			W: []float64{2},
			Problem: lm.NewDense(lm.Func{
				Rows: 1, Dim: 1,
				Residual: func(r, w []float64) { r[0] = math.Sqrt(w[0]) - target },
				Jacobian: func(jac, w []float64) { jac[0] = 0.5 / math.Sqrt(w[0]) },
			}),
		}
	}
	tasks[2].W[0] = -1
	pool := compute.NewPool(2)
	defer pool.Close()
	lm.NewBatch(1, lm.Options{NewtonCorrection: true}, pool).Solve(tasks)
	for _, t := range tasks {
		fmt.Printf("w = %.4f: %v\n", t.W[0], t.Result.Status.Err())
	}
	// Output:
	// w = 1.0000: <nil>
	// w = 4.0000: <nil>
	// w = -1.0000: lm: cost or derivatives are not finite at the start
	// w = 16.0000: <nil>
}

// Differentiate the solution of a fit by a parameter of the model: the rate
// of an exponential decay by the background that was assumed. No derivative
// beyond the residual is written here; both are available as callbacks.
func ExampleSolver_VJP() {
	times := []float64{0, 1, 2, 3, 4}
	counts := []float64{10.5, 6.6, 4.2, 2.7, 1.9}
	background := []float64{0.3}
	p := lm.NewDense(lm.Func{
		Rows: len(times), Dim: 2,
		Residual: func(r, w []float64) {
			for i, t := range times {
				r[i] = w[0]*math.Exp(-w[1]*t) + background[0] - counts[i]
			}
		},
		Params: 1, Theta: background,
	})
	s := lm.NewSolver(2, lm.Options{NewtonCorrection: true})
	w := []float64{10, 1}
	s.Solve(p, w)

	gradient := make([]float64, 1)
	status := s.VJP(p, w, []float64{0, 1}, gradient, lm.AdjointExact) // L = the rate
	fmt.Printf("rate %.4f, changes by %.4f per unit of background (%v Hessian)\n", w[1], gradient[0], status)

	background[0] += 0.01 // the witness
	v := append([]float64(nil), w...)
	s.Solve(p, v)
	fmt.Printf("solved again with 0.01 more: %.4f per unit\n", (v[1]-w[1])/0.01)
	// Output:
	// rate 0.4772, changes by 0.0996 per unit of background (exact Hessian)
	// solved again with 0.01 more: 0.0998 per unit
}

// Descents and dampings compose: Rosenbrock's function by each of them, and by a
// damping of the caller's own, which needs nothing but four rules.
func ExampleDescent() {
	for _, descent := range []lm.Descent{
		lm.LevenbergMarquardt{},
		lm.LevenbergMarquardt{Damping: lm.Classical{}, NoAcceleration: true},
		lm.LevenbergMarquardt{Damping: cautious{}, InitialDamping: 1e-2},
		lm.GaussNewton{},
		lm.Dogleg{},
	} {
		p := lm.NewDense(lm.Func{
			Rows: 2, Dim: 2,
			Residual: func(r, w []float64) { r[0], r[1] = 10*(w[1]-w[0]*w[0]), 1-w[0] },
		})
		w := []float64{-1.2, 1}
		result := lm.NewSolver(2, lm.Options{Descent: descent, Scaling: lm.ScalingIdentity}).Solve(p, w)
		fmt.Printf("%T: %.4f, %v\n", descent, w, result.Status.Err())
	}
	// Output:
	// lm.LevenbergMarquardt: [1.0000 1.0000], <nil>
	// lm.LevenbergMarquardt: [1.0000 1.0000], <nil>
	// lm.LevenbergMarquardt: [1.0000 1.0000], <nil>
	// lm.GaussNewton: [1.0000 1.0000], <nil>
	// lm.Dogleg: [1.0000 1.0000], <nil>
}

// cautious is Nielsen's rule, but μ falls by no more than a half at a time.
type cautious struct{ lm.Nielsen }

func (c cautious) Accept(mu, ratio float64) float64 { return max(mu/2, c.Nielsen.Accept(mu, ratio)) }

// decay is ten thousand rows w0·exp(−w1·t) − y(t), which are never stored, with
// their second derivatives.
type decay struct{}

func (decay) Dim() int  { return 2 }
func (decay) Rows() int { return 10_000 }

func (d decay) Block(r, jac, w []float64, lo, hi int) {
	for i := range hi - lo {
		t := float64(lo+i) / float64(d.Rows())
		e := math.Exp(-w[1] * t)
		r[i] = w[0]*e - 1/(1+t)
		if jac != nil {
			jac[2*i], jac[2*i+1] = e, -w[0]*t*e
		}
	}
}

func (d decay) AddCurvature(h, r, w []float64, lo, hi int) {
	for i := range hi - lo {
		t := float64(lo+i) / float64(d.Rows())
		e := math.Exp(-w[1] * t)
		h[2] -= r[i] * t * e // the lower triangle
		h[3] += r[i] * w[0] * t * t * e
	}
}

// Fit rows that come in blocks, on two workers, and pull a derivative by the
// solution back through the fit.
func ExampleStreamedSecondOrder() {
	pool := compute.NewPool(2)
	defer pool.Close()
	p := lm.NewStreamedSecondOrder(decay{}, pool)
	s := lm.NewSolver(2, lm.Options{NewtonCorrection: true})
	w, lambda := []float64{1, 1}, make([]float64, 2)
	result := s.Solve(p, w)
	status := s.FactorSolution(p, w, lm.AdjointExact) // what Solve knows is not evaluated again
	s.SolveAdjoint(lambda, []float64{0, 1})
	fmt.Printf("%v: rate %.4f, by the %v Hessian λ = %.2e\n", result.Status, w[1], status, lambda)
	// Output:
	// converged (cost): rate 0.7046, by the exact Hessian λ = [1.00e-03 2.69e-03]
}
