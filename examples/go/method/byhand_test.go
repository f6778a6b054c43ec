package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// byHand is the solve that docs/guide/method.md does by hand: u_t + u² = 0, u(0) = 1, with the basis functions 1 and t
// and rows at t = 0 (the condition), 1/2 and 1 (the equation). last is the value of the second function at t = 1.
type byHand struct {
	last float64
	w    [2]float64
	u, r [3]float64
	j    [3][2]float64
	b    [3][2]float64
}

func (s *byHand) evaluate() {
	s.b = [3][2]float64{{1, 0}, {1, 0.5}, {1, s.last}}
	for i, b := range s.b {
		s.u[i] = dot(b[:], s.w[:])
		s.r[i], s.j[i] = s.w[1]+s.u[i]*s.u[i], [2]float64{2 * s.u[i] * b[0], 1 + 2*s.u[i]*b[1]}
		if i == 0 {
			s.r[i], s.j[i] = s.u[i]-1, b
		}
	}
}

// matrices returns A = JᵀJ, g = Jᵀr and H = A + Σ r ∇²r, in which ∇²r = 2 b bᵀ.
func (s *byHand) matrices() (a, h [][]float64, g []float64) {
	a, h, g = fields[float64](2, 2), fields[float64](2, 2), make([]float64, 2)
	for i, row := range s.j {
		axpy(g, s.r[i], row[:])
		for k := range 2 {
			axpy(a[k], row[k], row[:])
			axpy(h[k], row[k], row[:])
			if i > 0 {
				axpy(h[k], 2*s.r[i]*s.b[i][k], s.b[i][:])
			}
		}
	}
	return a, h, g
}

// step is a step of Gauss and Newton, or of Newton.
func (s *byHand) step(newton bool) {
	a, h, g := s.matrices()
	if newton {
		a = h
	}
	axpy(s.w[:], -1, solveSymmetric(a, g))
	s.evaluate()
}

// line is what the table has of a step.
func (s *byHand) line(step string) string {
	return fmt.Sprintf("| %s | %.4f | %.4f | %.4f | %.4f | %.4f | %.5f |", step, s.w[0], s.w[1], s.r[0], s.r[1], s.r[2], dot(s.r[:], s.r[:])/2)
}

// minimum is the end of the solve.
func minimum(last float64) *byHand {
	s := &byHand{last: last, w: [2]float64{1, 0}}
	s.evaluate()
	for range 20 {
		s.step(false)
	}
	for range 3 {
		s.step(true)
	}
	return s
}

// TestByHand computes the numbers of docs/guide/method.md, and requires that it has them.
func TestByHand(t *testing.T) {
	text, err := os.ReadFile("../../../docs/guide/method.md")
	if err != nil {
		t.Fatal(err)
	}
	has := func(format string, values ...any) {
		t.Helper()
		want := fmt.Sprintf(format, values...)
		t.Log(want)
		if !strings.Contains(string(text), strings.ReplaceAll(want, "-", "−")) {
			t.Errorf("docs/guide/method.md has no %q", want)
		}
	}
	s := &byHand{last: 1, w: [2]float64{1, 0}}
	s.evaluate()
	a, _, g := s.matrices()
	has("A = (%g %g; %g %g), g = (%g, %g)", a[0][0], a[0][1], a[1][0], a[1][1], g[0], g[1])
	has("%s", s.line("0"))
	for i := range 3 {
		s.step(false)
		has("%s", s.line(fmt.Sprint(i+1)))
	}
	s = minimum(1)
	has("%s", s.line("∞"))

	// Of the value at t = 1, u = ω_1 + ω_2 last: its derivative by last, directly and through the solve.
	_, h, _ := s.matrices()
	lambda := solveSymmetric(h, s.b[2][:])
	has("H = (%.4f %.4f; %.4f %.4f)", h[0][0], h[0][1], h[1][0], h[1][1])
	has("λ = (%.4f, %.4f)", lambda[0], lambda[1])
	along := dot(s.j[2][:], lambda)
	p, q := 2*s.u[2]*along+2*s.r[2]*dot(s.b[2][:], lambda), 2*s.u[2]*s.r[2]
	has("s = %.4f", p)
	has("q = %.4f", q)
	through := -(p*s.w[1] + q*lambda[1])
	has("%.4f + %.4f = %.4f", s.w[1], through, s.w[1]+through)
	const step = 1e-3
	up, down := minimum(1+step), minimum(1-step)
	difference := (up.u[2] - down.u[2]) / (2 * step)
	if !(math.Abs(difference-(s.w[1]+through)) < 1e-5) {
		t.Errorf("%.6f by differences", difference)
	}
	up = minimum(1.01)
	has("from %.5f to %.5f", s.u[2], up.u[2])
	has("%.4f a unit", (up.u[2]-s.u[2])/0.01)
}
