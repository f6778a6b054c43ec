package sim

import (
	"errors"
	"math"
	"testing"
)

// kaps is Kaps' problem, u = (exp(-2t), exp(-t)) for every ε; it becomes an
// index-1 differential-algebraic equation as ε goes to 0 (Hairer and Wanner
// II, chapter VI.1).
type kaps struct {
	epsilon float64
	j       [2][2]float64
	m       [2][2]float64
}

func (k *kaps) derivative(du, u []float64) {
	du[0] = -(1/k.epsilon+2)*u[0] + u[1]*u[1]/k.epsilon
	du[1] = u[0] - u[1] - u[1]*u[1]
}

func (k *kaps) linearize(du, u []float64) {
	k.derivative(du, u)
	k.j = [2][2]float64{{-(1/k.epsilon + 2), 2 * u[1] / k.epsilon}, {1, -1 - 2*u[1]}}
}

func (k *kaps) factor(s float64) {
	k.m = [2][2]float64{{s - k.j[0][0], -k.j[0][1]}, {-k.j[1][0], s - k.j[1][1]}}
}

func (k *kaps) solve(x []float64) {
	m := k.m
	d := m[0][0]*m[1][1] - m[0][1]*m[1][0]
	x[0], x[1] = (x[0]*m[1][1]-m[0][1]*x[1])/d, (m[0][0]*x[1]-m[1][0]*x[0])/d
}

func kapsExact(t float64) [2]float64 { return [2]float64{math.Exp(-2 * t), math.Exp(-t)} }

// kapsErrors takes n equal steps over [0, 1] and returns the largest error at
// the ends of the steps, in their middles, and of the embedded estimate.
func kapsErrors(epsilon float64, n int) (ends, middles, estimate float64) {
	k := &kaps{epsilon: epsilon}
	r := newRosenbrock(2, 0, 1)
	h := 1 / float64(n)
	copy(r.u, []float64{1, 1})
	middle := make([]float64, 2)
	for i := range n {
		estimate = max(estimate, r.step(k, h))
		r.interpolate(middle, 0.5)
		t := float64(i) * h
		a, b := kapsExact(t+0.5*h), kapsExact(t+h)
		for c := range 2 {
			middles = max(middles, math.Abs(middle[c]-a[c]))
			ends = max(ends, math.Abs(r.next[c]-b[c]))
		}
		r.u, r.next = r.next, r.u
		r.ready = false
	}
	return ends, middles, estimate
}

// The solution has order 5 and its dense output order 4; the estimate, the
// difference to a solution of order 4, falls with the fifth power of the step.
// Each is measured on a nonstiff and on a very stiff problem.
func TestRosenbrockOrder(t *testing.T) {
	for _, epsilon := range []float64{1, 1e-9} {
		e1, m1, s1 := kapsErrors(epsilon, 10)
		e2, m2, s2 := kapsErrors(epsilon, 20)
		for _, c := range []struct {
			what   string
			coarse float64
			fine   float64
			want   float64
		}{
			{"solution", e1, e2, 5},
			{"dense output", m1, m2, 4},
			{"error estimate", s1, s2, 5},
		} {
			order := math.Log2(c.coarse / c.fine)
			t.Logf("ε = %g: %s: %.2e -> %.2e, order %.2f", epsilon, c.what, c.coarse, c.fine, order)
			if order < c.want-0.4 {
				t.Errorf("ε = %g: %s converges with order %.2f, want %.0f", epsilon, c.what, order, c.want)
			}
		}
	}
}

// The integrator meets its tolerance, at the output times it was asked for.
func TestRosenbrockTolerance(t *testing.T) {
	for _, tolerance := range []float64{1e-4, 1e-7, 1e-10} {
		const outputs = 37
		dst := make([]float64, outputs*2)
		r := newRosenbrock(2, tolerance, tolerance)
		stats, err := r.integrate(&kaps{epsilon: 1e-6}, dst, []float64{1, 1}, 3, outputs)
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i := range outputs {
			want := kapsExact(3 * float64(i) / (outputs - 1))
			worst = max(worst, math.Abs(dst[2*i]-want[0]), math.Abs(dst[2*i+1]-want[1]))
		}
		t.Logf("tolerance %g: error %.1e, %+v", tolerance, worst, stats)
		if worst > 10*tolerance {
			t.Errorf("tolerance %g: error %g", tolerance, worst)
		}
		if stats.Steps == 0 || stats.Derivatives < 8*stats.Steps {
			t.Errorf("tolerance %g: implausible %+v", tolerance, stats)
		}
	}
}

// blowup is u' = u², infinite at t = 1 from u = 1.
type blowup struct{ j, s float64 }

func (b *blowup) derivative(du, u []float64) { du[0] = u[0] * u[0] }
func (b *blowup) linearize(du, u []float64)  { b.derivative(du, u); b.j = 2 * u[0] }
func (b *blowup) factor(s float64)           { b.s = s - b.j }
func (b *blowup) solve(x []float64)          { x[0] /= b.s }

func TestRosenbrockGivesUp(t *testing.T) {
	r := newRosenbrock(1, 1e-6, 1e-6)
	_, err := r.integrate(&blowup{}, make([]float64, 5), []float64{1}, 2, 5)
	if !errors.Is(err, errStepSize) {
		t.Errorf("solution that ceases to exist at t = 1: error %v, want ErrStepSize", err)
	}
}

func TestCombine(t *testing.T) {
	const n = 5
	var k [][]float64
	for j := range 8 {
		k = append(k, make([]float64, n))
		for i := range n {
			k[j][i] = float64(j*n + i + 1)
		}
	}
	for terms := range 9 {
		if terms == 0 {
			continue // callers always have a term
		}
		c := make([]float64, terms)
		base, want := make([]float64, n), make([]float64, n)
		for i := range n {
			base[i] = 0.5 * float64(i)
			want[i] = base[i]
			for j := range c {
				c[j] = float64(j) - 2.5
				want[i] += c[j] * k[j][i]
			}
		}
		for _, dst := range [][]float64{make([]float64, n), base} {
			combine(dst, base, c, k[:terms])
			for i := range n {
				if dst[i] != want[i] {
					t.Fatalf("%d terms: %v, want %v", terms, dst, want)
				}
			}
		}
	}
}
