package lm

import (
	"math"
	"testing"
)

// twoPoints is one given problem at the start, (1, 2), and another elsewhere.
type twoPoints struct{ start, elsewhere given }

func (twoPoints) Dim() int { return 2 }

func (p twoPoints) at(w []float64) given {
	if w[0] == 1 && w[1] == 2 {
		return p.start
	}
	return p.elsewhere
}

func (p twoPoints) Normal(a, g, w []float64) float64 { return p.at(w).Normal(a, g, w) }
func (p twoPoints) HessianParts(a, c, g, w []float64) float64 {
	return p.at(w).HessianParts(a, c, g, w)
}

// TestNewtonCorrection is the correction alone: the start meets the gradient test.
// It steps by −H⁻¹g where H is positive definite and the point it leads to is finite
// and no worse, by the cost, or by the gradient where the costs are the same to
// rounding.
func TestNewtonCorrection(t *testing.T) {
	nan, unit, zero := math.NaN(), []float64{1, 0, 0, 1}, []float64{0, 0, 0, 0}
	tiny := math.Sqrt(1 - 2e-15)
	g, less, more := []float64{0.1, 0.2}, []float64{0, 0.1}, []float64{0.3, 0.3}
	start := given{1, unit, unit, g} // H = 2
	for _, c := range []struct {
		name string
		p    twoPoints
		want bool
	}{
		{"lower cost", twoPoints{start, given{0.9, unit, zero, less}}, true},
		{"lower cost, larger gradient", twoPoints{start, given{0.9, unit, zero, more}}, true},
		{"higher cost", twoPoints{start, given{1 + 1e-6, unit, zero, less}}, false},
		{"same cost, smaller gradient", twoPoints{start, given{1 + 1e-14, unit, zero, less}}, true},
		{"same cost, larger gradient", twoPoints{start, given{1 - 1e-14, unit, zero, more}}, false},
		{"cost NaN", twoPoints{start, given{nan, unit, zero, less}}, false},
		{"cost NaN, gradient zero", twoPoints{start, given{nan, unit, zero, zero[:2]}}, false},
		{"cost -Inf", twoPoints{start, given{math.Inf(-1), unit, zero, less}}, false},
		{"gradient NaN", twoPoints{start, given{0.9, unit, zero, []float64{nan, 0}}}, false},
		{"JᵀJ NaN", twoPoints{start, given{0.9, []float64{nan, 0, 0, 1}, zero, less}}, false},
		{"curvature NaN at the new point", twoPoints{start, given{0.9, unit, []float64{nan, 0, 0, 1}, less}}, true},
		{"curvature NaN", twoPoints{given{1, unit, []float64{nan, 0, 0, 1}, g}, given{0.9, unit, zero, less}}, false},
		{"H indefinite", twoPoints{given{1, unit, []float64{-2, 0, 0, 1}, g}, given{0.9, unit, zero, less}}, false},
		{"H nearly singular", twoPoints{given{1, unit, []float64{0, tiny, tiny, 0}, g}, given{0.9, unit, zero, less}}, false},
	} {
		w := []float64{1, 2}
		res := NewSolver(2, Options{GTol: 1, NewtonCorrection: true}).Solve(c.p, w)
		want, at := []float64{1, 2}, c.p.start
		if c.want {
			want, at = []float64{1 - 0.05, 2 - 0.1}, c.p.elsewhere
		}
		if res.Corrected != c.want || res.Cost != at.cost {
			t.Errorf("%s: %+v, want corrected %v", c.name, res, c.want)
		}
		closeTo(t, c.name, w, want, 1e-14)
	}
	w := []float64{1, 2}
	if res := NewSolver(2, Options{GTol: 1}).Solve(twoPoints{start, given{0.9, unit, zero, less}}, w); res.Corrected || res.Evaluations != 1 {
		t.Errorf("not asked for: %+v", res)
	}
}

// TestDistanceUsesTheExactHessian: with r = (w, w²/2 − 0.9) H is a tenth of JᵀJ at
// the minimum, 0, and so is the distance by JᵀJ of the true one.
func TestDistanceUsesTheExactHessian(t *testing.T) {
	p := NewDense(2, 1,
		func(r, w []float64) { r[0], r[1] = w[0], 0.5*w[0]*w[0]-0.9 },
		func(jac, w []float64) { jac[0], jac[1] = 1, w[0] },
	)
	w := []float64{0.01}
	res := NewSolver(1, Options{GTol: 1, NewtonCorrection: true}).Solve(p, w)
	if ratio := res.Distance / math.Abs(w[0]); !res.Corrected || ratio < 0.8 || ratio > 1.25 {
		t.Errorf("estimate %.3g, true distance %.3g, %+v", res.Distance, w[0], res)
	}
}
