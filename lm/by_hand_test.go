package lm

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// byHand is the solve that docs/guide/method.md does by hand: u_t + u² = 0, u(0) = 1, with the basis functions 1 and t
// and rows at t = 0 (the condition), 1/2 and 1 (the equation). last is the value of the second function at t = 1.
func byHand(last float64) (p *Dense, residual, jacobian func(out, w []float64)) {
	at := [3]float64{0, 0.5, last}
	residual = func(r, w []float64) {
		for i, b := range at {
			u := w[0] + w[1]*b
			r[i] = w[1] + u*u
		}
		r[0] = w[0] - 1
	}
	jacobian = func(j, w []float64) {
		for i, b := range at {
			u := w[0] + w[1]*b
			j[2*i], j[2*i+1] = 2*u, 1+2*u*b
		}
		j[0], j[1] = 1, 0
	}
	return NewDense(3, 2, residual, jacobian), residual, jacobian
}

// TestByHand computes the numbers of docs/guide/method.md, steps and gradient as it has them and the minimum and λ by
// the solver, and requires that it has them.
func TestByHand(t *testing.T) {
	text, err := os.ReadFile("../docs/guide/method.md")
	if err != nil {
		t.Fatal(err)
	}
	has := func(format string, values ...any) {
		t.Helper()
		if want := strings.ReplaceAll(fmt.Sprintf(format, values...), "-", "−"); !strings.Contains(string(text), want) {
			t.Errorf("docs/guide/method.md has no %q", want)
		}
	}
	p, residual, jacobian := byHand(1)
	w, r, j, a, g := []float64{1, 0}, make([]float64, 3), make([]float64, 6), make([]float64, 4), make([]float64, 2)
	row := func(step string) {
		t.Helper()
		residual(r, w)
		has("| %s | %.4f | %.4f | %.4f | %.4f | %.4f | %.5f |", step, w[0], w[1], r[0], r[1], r[2], dot(r, r)/2)
	}
	row("0")
	for k := range 3 { // steps of Gauss and Newton, by Cramer's rule
		jacobian(j, w)
		clear(a)
		clear(g)
		for i, v := range r {
			x, y := j[2*i], j[2*i+1]
			a[0], a[1], a[2], a[3], g[0], g[1] = a[0]+x*x, a[1]+x*y, a[2]+y*x, a[3]+y*y, g[0]+x*v, g[1]+y*v
		}
		if k == 0 {
			has("A = (%g %g; %g %g), g = (%g, %g)", a[0], a[1], a[2], a[3], g[0], g[1])
		}
		d := a[0]*a[3] - a[1]*a[2]
		w[0], w[1] = w[0]-(a[3]*g[0]-a[1]*g[1])/d, w[1]-(a[0]*g[1]-a[2]*g[0])/d
		row(fmt.Sprint(k + 1))
	}

	s := NewSolver(2, Options{GTol: 1e-12, NewtonCorrection: true})
	minimum := func(last float64) float64 {
		p, _, _ := byHand(last)
		w := []float64{1, 0}
		if err := s.Solve(p, w).Status.Err(); err != nil {
			t.Fatal(err)
		}
		return w[0] + w[1]*last
	}
	s.Solve(p, w)
	row("∞")
	jacobian(j, w)
	h := make([]float64, 4)
	for i, v := range r { // ∇²r = 2 b bᵀ
		x, y, b := j[2*i], j[2*i+1], float64(i)/2
		if i == 0 {
			v = 0
		}
		h[0], h[1], h[3] = h[0]+x*x+2*v, h[1]+x*y+2*v*b, h[3]+y*y+2*v*b*b
	}
	has("H = (%.4f %.4f; %.4f %.4f)", h[0], h[1], h[1], h[3])
	lambda := []float64{1, 1}
	if got := s.FactorSolution(p, w, HessianExact); got != HessianExact {
		t.Fatal(got)
	}
	s.SolveAdjoint(lambda, lambda)
	has("λ = (%.4f, %.4f)", lambda[0], lambda[1])
	u := w[0] + w[1]
	along, q := 2*u*dot(j[4:], lambda)+2*r[2]*(lambda[0]+lambda[1]), 2*u*r[2]
	has("s = %.4f", along)
	has("q = %.4f", q)
	through := -(along*w[1] + q*lambda[1])
	has("u = %.4f", u)
	has("%.4f + %.4f = %.4f", w[1], through, w[1]+through)
	if difference := (minimum(1.001) - minimum(0.999)) / 0.002; !(math.Abs(difference-(w[1]+through)) < 1e-5) {
		t.Errorf("the gradient is %.6f, and %.6f by differences", w[1]+through, difference)
	}
	has("from %.5f to %.5f", u, minimum(1.01))
	has("%.3f a unit", (minimum(1.01)-u)/0.01)
}
