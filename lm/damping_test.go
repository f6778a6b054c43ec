package lm

import (
	"math"
	"testing"
)

// The damping rules by their published constants: Nielsen's (Madsen, Nielsen and
// Tingleff 2004, eq. 2.21) and Optimistix's.
func TestDampingRules(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-14*want {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	x := &Point{W: []float64{1}, A: []float64{5}, D: []float64{1}}
	nielsen := LevenbergMarquardt{InitialDamping: 1}
	for ratio, factor := range map[float64]float64{1e-3: 1 + math.Pow(1-2e-3, 3), 0.25: 1.125, 0.5: 1, 0.75: 0.875, 0.9: 1 - 0.8*0.8*0.8, 1: 1. / 3, 2: 1. / 3} {
		near("accepted", nielsen.Accept(6, ratio, 0), 6*factor)
	}
	mu := 3.
	for k, want := range []float64{6, 24, 192, 3072} {
		mu = nielsen.Reject(x, mu, k+1, true)
		near("rejected", mu, want)
	}
	near("start", nielsen.Start(x), 5)

	classical := LevenbergMarquardt{Classical: true}
	near("accepted below 0.99", classical.Accept(7, 0.98, 0), 7)
	near("accepted from 0.99", classical.Accept(7, 0.99, 0), 2)
	near("rejected", classical.Reject(x, 2, 3, true), 8)
	near("start", classical.Start(x), 1)
}
