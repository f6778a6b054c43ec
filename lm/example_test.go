package lm_test

import (
	"fmt"
	"math"

	"pihc/lm"
)

// Fit b1·(1 − exp(−b2·x)) to the six points of NIST's BoxBOD, from the start
// that NIST calls hard.
func Example_curveFitting() {
	x := []float64{1, 2, 3, 5, 7, 10}
	y := []float64{109, 149, 149, 191, 213, 224}
	p := lm.NewDense(len(x), 2,
		func(r, b []float64) {
			for i := range r {
				r[i] = y[i] - b[0]*(1-math.Exp(-b[1]*x[i]))
			}
		},
		// Without a Jacobian, central differences are used.
		nil,
	)
	b := []float64{1, 1}
	result := lm.NewSolver(2, lm.Options{NewtonCorrection: true}).Solve(p, b)
	if err := result.Status.Err(); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("b1 = %.4f, b2 = %.6f, sum of squares %.3f\n", b[0], b[1], 2*result.Cost)
	// Output: b1 = 213.8094, b2 = 0.547237, sum of squares 1168.009
}

// Differentiate the solution of a fit by a parameter of the model: the rate of an
// exponential decay by the background that was assumed. ∂r/∂θ is 1 in every row and
// J does not depend on θ, so that (∂g/∂θ)ᵀλ is the sum of Jλ.
func ExampleSolver_SolveAdjoint() {
	times := []float64{0, 1, 2, 3, 4}
	counts := []float64{10.5, 6.6, 4.2, 2.7, 1.9}
	background := 0.3
	p := lm.NewDense(len(times), 2,
		func(r, w []float64) {
			for i, t := range times {
				r[i] = w[0]*math.Exp(-w[1]*t) + background - counts[i]
			}
		},
		nil,
	)
	s := lm.NewSolver(2, lm.Options{NewtonCorrection: true})
	w, lambda := []float64{10, 1}, make([]float64, 2)
	s.Solve(p, w)
	status := s.FactorSolution(p, w, lm.HessianExact)
	s.SolveAdjoint(lambda, []float64{0, 1}) // L = the rate
	gradient := 0.0
	for _, t := range times {
		gradient -= math.Exp(-w[1]*t) * (lambda[0] - w[0]*t*lambda[1])
	}
	fmt.Printf("rate %.4f, changes by %.4f per unit of background (%v Hessian)\n", w[1], gradient, status)

	background += 0.01 // the witness
	v := append([]float64(nil), w...)
	s.Solve(p, v)
	fmt.Printf("solved again with 0.01 more: %.4f per unit\n", (v[1]-w[1])/0.01)
	// Output:
	// rate 0.4772, changes by 0.0996 per unit of background (exact Hessian)
	// solved again with 0.01 more: 0.0998 per unit
}

// Rosenbrock's function by Levenberg-Marquardt with each damping, with a damping of
// the caller's, and by another descent of the caller's.
func ExampleDescent() {
	for _, descent := range []lm.Descent{
		lm.LevenbergMarquardt{},
		lm.LevenbergMarquardt{Classical: true, NoAcceleration: true},
		cautious{lm.LevenbergMarquardt{InitialDamping: 1e-2}},
		gaussNewton{},
	} {
		p := lm.NewDense(2, 2,
			func(r, w []float64) { r[0], r[1] = 10*(w[1]-w[0]*w[0]), 1-w[0] },
			nil,
		)
		w := []float64{-1.2, 1}
		result := lm.NewSolver(2, lm.Options{Descent: descent, Scaling: lm.ScalingIdentity}).Solve(p, w)
		fmt.Printf("%T: %.4f, %v\n", descent, w, result.Status.Err())
	}
	// Output:
	// lm.LevenbergMarquardt: [1.0000 1.0000], <nil>
	// lm.LevenbergMarquardt: [1.0000 1.0000], <nil>
	// lm_test.cautious: [1.0000 1.0000], <nil>
	// lm_test.gaussNewton: [1.0000 1.0000], <nil>
}

// cautious is Nielsen's rule, but μ falls by no more than a half at a time.
type cautious struct{ lm.LevenbergMarquardt }

func (c cautious) Accept(mu, ratio, size float64) float64 {
	return max(mu/2, c.LevenbergMarquardt.Accept(mu, ratio, size))
}

// gaussNewton solves Aδ = −g and halves the step until the cost falls.
type gaussNewton struct{}

func (gaussNewton) Start(*lm.Point) float64 { return 1 }

func (gaussNewton) Step(step []float64, x *lm.Point, length float64) (predicted float64, ok bool) {
	ok = x.Solve(step, 0)
	for j := range step {
		step[j] *= length
	}
	return x.Reduction(step), ok
}

func (gaussNewton) Accept(length, _, _ float64) float64 { return min(1, 2*length) }

func (gaussNewton) Reject(_ *lm.Point, length float64, _ int, _ bool) float64 { return length / 2 }

func (gaussNewton) AcceptFrom() float64 { return 1e-4 }
