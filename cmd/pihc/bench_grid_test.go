package main

import (
	"math"
	"testing"

	"pihc/compute"
	"pihc/internal/check"
)

// The synthetic problem is consistent: its gradient is that of its cost, and its
// rows give the same normal equations as the fused pass, repeated rows included.
func TestSyntheticRows(t *testing.T) {
	testSyntheticRows[float32](t)
	testSyntheticRows[float64](t)
}

func testSyntheticRows[T compute.Float](t *testing.T) {
	const m, n = 700, 16
	p := newSyntheticRows[T](m, n, 2*rowsBlock*3*n*8, 1) // rows repeat
	a, g, w := make([]float64, n*n), make([]float64, n), make([]float64, n)
	for i := range w {
		w[i] = 0.1 * float64(i-5)
	}
	cost := p.Normal(a, g, w)
	again, sum, gradient := make([]float64, n*n), 0.0, make([]float64, n)
	p.EachBlock(w, func(r, jac []float64) {
		for i, v := range r {
			sum += 0.5 * v * v
			row := jac[i*n : (i+1)*n]
			for j, x := range row {
				gradient[j] += v * x
				for k, y := range row {
					again[j*n+k] += x * y
				}
			}
		}
	})
	check.Close(t, []float64{cost}, []float64{sum}, 1e-13, 0)
	check.Close(t, g, gradient, 1e-12, 1e-12)
	check.Close(t, a, again, 1e-12, 1e-12)
	for j := range w {
		const h = 1e-5
		v := w[j]
		w[j] = v + h
		up := p.Normal(nil, nil, w)
		w[j] = v - h
		down := p.Normal(nil, nil, w)
		w[j] = v
		if d := (up - down) / (2 * h); math.Abs(d-g[j]) > 1e-6*math.Abs(cost) {
			t.Errorf("g[%d] = %g, difference of the cost %g", j, g[j], d)
		}
	}
}

func TestShort(t *testing.T) {
	for seconds, want := range map[float64]string{1.23456e-5: "12.3µs", 0.9876543: "988ms", 2.5: "2.5s", 12.345: "12.3s", 3e-9: "3ns", 0: "0s"} {
		if got := short(seconds); got != want {
			t.Errorf("%g s is %s, want %s", seconds, got, want)
		}
	}
}
