package inverse

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

func TestStatistics(t *testing.T) {
	for _, degrees := range []int{1, 2, 3, 10, 47, 500, 20000} {
		for _, of := range []float64{0, 0.01, 0.3, 0.9, 1, 1.1, 1.5, 4} {
			x := of * float64(degrees)
			want := distuv.ChiSquared{K: float64(degrees)}.Survival(x)
			if got := chiSquaredTail(x, float64(degrees)); math.Abs(got-want) > 1e-10 {
				t.Errorf("tail of chi-squared beyond %g of %d degrees is %g, want %g", x, degrees, got, want)
			}
		}
	}
	if want := chiSquaredTail(Quantile, 1); math.Abs(want-0.05) > 1e-12 {
		t.Errorf("beyond the quantile are %g", want)
	}
	for _, p := range []float64{1e-6, 0.2, 0.5, 0.975, 1 - 1e-9} {
		if got, want := normalQuantile(p), distuv.UnitNormal.Quantile(p); math.Abs(got-want) > 1e-6 {
			t.Errorf("normal quantile of %g is %g, want %g", p, got, want)
		}
	}
}

// TestInformation compares with the eigenvalues and the inverse of gonum, also where two columns are in proportion.
func TestInformation(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const rows, n = 30, 5
	jac := make([]float64, rows*n)
	for i := range jac {
		jac[i] = rng.NormFloat64() * math.Pow(10, float64(3*(i%n)-6))
	}
	full := mat.NewDense(rows, n, jac)
	var normal, inverse mat.Dense
	normal.Mul(full.T(), full)
	if err := inverse.Inverse(&normal); err != nil {
		t.Log(err) // of the condition
	}
	x := newInformation(jac, n)
	c := x.covariance()
	scaled := mat.NewSymDense(n, nil)
	for j := range n {
		for k := range n {
			scaled.SetSym(j, k, normal.At(j, k)/math.Sqrt(normal.At(j, j)*normal.At(k, k)))
			if want := inverse.At(j, k); math.Abs(c[j*n+k]-want) > 1e-6*math.Sqrt(inverse.At(j, j)*inverse.At(k, k)) {
				t.Errorf("covariance (%d, %d) is %g, want %g", j, k, c[j*n+k], want)
			}
		}
	}
	var eigen mat.EigenSym
	eigen.Factorize(scaled, false)
	for _, want := range eigen.Values(nil) {
		nearest := math.Inf(1)
		for _, v := range x.values {
			nearest = min(nearest, math.Abs(v-want))
		}
		if nearest > 1e-12 {
			t.Errorf("no eigenvalue is %g: %v", want, x.values)
		}
	}
	for i := range rows { // the data see a sum of two alone
		jac[i*n+3] = -2e3 * jac[i*n+1]
	}
	x = newInformation(jac, n)
	for j := range n {
		if x.unseen(j) != (j == 1 || j == 3) {
			t.Errorf("unseen(%d) is %v", j, x.unseen(j))
		}
	}
	if x.rank() != n-1 {
		t.Errorf("rank %d, want %d", x.rank(), n-1)
	}
}

// TestRejects requires that what the next grids may still take from chi-squared is not held against the fit.
func TestRejects(t *testing.T) {
	// Of 10 degrees 29.6 is exceeded with the probability 0.001.
	for _, c := range []struct {
		chi, moved float64
		want       bool
	}{{29.5, 0, false}, {29.7, 0, true}, {40, 1, true}, {40, 5, false}, {400, 5, true}} {
		if got := Rejects(c.chi, c.moved, 10); got != c.want {
			t.Errorf("%g that moves by %g: rejected %v", c.chi, c.moved, got)
		}
	}
}
