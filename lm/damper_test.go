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
	s := NewSolver(2, Options{})
	s.n, s.w, s.solvable = 2, []float64{1, 1}, true
	s.d[0], s.d[1] = 1, 1
	for ratio, factor := range map[float64]float64{1e-3: 1 + math.Pow(1-2e-3, 3), 0.25: 1.125, 0.5: 1, 0.75: 0.875, 0.9: 1 - 0.8*0.8*0.8, 1: 1. / 3, 2: 1. / 3} {
		s.mu, s.nu = 6, 16
		s.damper.accept(s, ratio, 1)
		near("accepted", s.mu, 6*factor)
		near("ν after success", s.nu, 2)
	}
	s.mu, s.nu = 3, 2
	for _, want := range []float64{6, 24, 192, 3072} {
		if !s.damper.reject(s, 1) {
			t.Fatal("gives up")
		}
		near("rejected", s.mu, want)
	}

	s.opt.Damping = Classical
	s.mu = 7
	s.damper.accept(s, 0.98, 1)
	near("accepted below 0.99", s.mu, 7)
	s.damper.accept(s, 0.99, 1)
	near("accepted from 0.99", s.mu, 2)
	s.damper.reject(s, 1)
	near("rejected", s.mu, 8)
}
