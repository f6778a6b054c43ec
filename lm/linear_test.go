package lm

import (
	"math"
	"math/rand/v2"
	"testing"

	"pihc/internal/kernel"
)

func randomRows(m, n int, seed uint64) (x, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for range m * n {
		x = append(x, rng.NormFloat64())
	}
	for range m {
		y = append(y, rng.NormFloat64())
	}
	return x, y
}

// TestCholesky checks M x = b for sizes around the blocking, with columns
// scaled over twelve orders of magnitude.
func TestCholesky(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 64, 100} {
		x, _ := randomRows(2*n+3, n, uint64(n))
		for i := range x {
			x[i] *= math.Pow(10, float64(i%n%7)-3)
		}
		m := make([]float64, n*n)
		for i := range n {
			for j := range n {
				for k := range 2*n + 3 {
					m[i*n+j] += x[k*n+i] * x[k*n+j]
				}
			}
		}
		d := fill(n, func(i int) float64 { return math.Sqrt(m[(i-1)*n+i-1]) })
		want, b, got := fill(n, func(i int) float64 { return float64(i) }), make([]float64, n), make([]float64, n)
		for j := range want {
			want[j] /= d[j]
		}
		for i := range n {
			b[i] = dot(m[i*n:(i+1)*n], want) + 0.1*d[i]*d[i]*want[i]
		}
		c := newCholesky(n + 2) // larger than needed
		if !c.factor(m, n, 0.1, d) || !(c.pivot > 0) || c.pivot > 1+epsilon {
			t.Fatalf("n = %d: pivot %g", n, c.pivot)
		}
		c.solve(got, b)
		c.refine(got, b, m, 0.1, d, make([]float64, n))
		for j := range got {
			if math.Abs(got[j]-want[j])*d[j] > 1e-12*float64(n) {
				t.Errorf("n = %d: x[%d] = %g, want %g", n, j, got[j], want[j])
			}
		}
	}
}

func TestCholeskyRefusesIndefinite(t *testing.T) {
	c := newCholesky(2)
	for _, m := range [][]float64{{1, 2, 2, 1}, {0, 0, 0, 1}, {-1, 0, 0, 1}, {math.NaN(), 0, 0, 1}, {math.Inf(1), 0, 0, 1}} {
		if c.factor(m, 2, 0, nil) || c.pivot != 0 {
			t.Errorf("%v: factored with pivot %g", m, c.pivot)
		}
	}
}

// TestQRMatchesNormalEquations compares the sequential QR, at the boundaries of
// its blocks and with damping, with a Cholesky solution of a well-conditioned
// problem.
func TestQRMatchesNormalEquations(t *testing.T) {
	for _, n := range []int{1, 5, 7, 8, 9, 16, 37, 64} {
		for _, m := range []int{n + 1, 127, 128, 129, 500} {
			for _, mu := range []float64{0, 0.5} {
				testQR(t, m, n, mu)
			}
		}
	}
}

func testQR(t *testing.T, m, n int, mu float64) {
	x, y := randomRows(m, n, uint64(m))
	d, v := fill(n, func(i int) float64 { return float64(i%5) + 1 }), fill(n, func(i int) float64 { return float64(i) })
	q := newQR(n + 1) // larger than needed
	q.reset(n)
	for lo := 0; lo < m; lo += 150 { // not the blocks of the factorisation
		hi := min(lo+150, m)
		q.add(y[lo:hi], x[lo*n:hi*n])
	}
	got, want := make([]float64, n), make([]float64, n)
	q.solve(got, math.Sqrt(mu), d)
	a, g := make([]float64, n*n), make([]float64, n)
	accumulate(a, g, x, y, n)
	kernel.Symmetrize(a, n)
	c := newCholesky(n)
	c.factor(a, n, mu, d)
	negate(g, g)
	c.solve(want, g)
	tolerance := 1e-13 / c.pivot // the normal equations square the condition
	closeTo(t, "x", got, want, tolerance)
	if q.found != n {
		t.Errorf("%d x %d: rank %d", m, n, q.found)
	}
	if mu == 0 {
		q.solveNormal(got, v)
		c.solve(want, v)
		closeTo(t, "normal", got, want, 10*tolerance)
	}
}

// TestRank builds rows of every rank, fewer and more than a block, with columns of unlike size,
// and asks the QR of the rows and that of JᵀJ.
func TestRank(t *testing.T) {
	for _, size := range [][2]int{{50, 6}, {300, 12}} {
		testRank(t, size[0], size[1])
	}
}

func testRank(t *testing.T, m, n int) {
	for rank := range n + 1 {
		left, _ := randomRows(m, n, 1)
		right, y := randomRows(m, n, 2)
		x := make([]float64, m*n)
		for i := range m {
			for j := range n {
				for k := range rank {
					x[i*n+j] += left[i*n+k] * right[k*n+j] * math.Pow(10, float64(j%6))
				}
			}
		}
		q := newQR(n)
		q.reset(n)
		q.add(y, x)
		a, g := make([]float64, n*n), make([]float64, n)
		accumulate(a, g, x, y, n)
		kernel.Symmetrize(a, n)
		if got := q.rank(); got != rank {
			t.Errorf("%d x %d of rank %d: QR finds %d", m, n, rank, got)
		}
		if got := q.rankOf(a, n); got != rank {
			t.Errorf("%d x %d of rank %d: QR of JᵀJ finds %d", m, n, rank, got)
		}
	}
}

// TestIllConditionedLeastSquares checks the choice between Cholesky,
// refinement and QR on linear problems: by condition number, the error of each
// against LAPACK's QR. QR must stay near eps·cond, the automatic choice within
// eps/refinePivot.
func TestIllConditionedLeastSquares(t *testing.T) {
	undamped := LevenbergMarquardt{InitialDamping: 1e-300, NoAcceleration: true}
	for _, delta := range []float64{1e-2, 1e-4, 1e-5, 1e-6, 1e-7} {
		p, truth := collinear(delta)
		errors := map[bool]float64{}
		for _, qr := range []bool{false, true} {
			w := make([]float64, 3)
			NewSolver(3, Options{Descent: undamped, QR: qr, MaxIterations: 1, GTol: -1, FTol: -1, XTol: -1}).Solve(p, w)
			errors[qr] = relative(w, truth)
		}
		t.Logf("columns %.0e apart: one Gauss-Newton step is off by %.1e (automatic), %.1e (QR)", delta, errors[false], errors[true])
		bound := 1e-14 / delta
		if errors[true] > bound || errors[false] > 1e-7 {
			t.Errorf("columns %.0e apart: errors %v, want at most %.0e by QR and 1e-7 automatically", delta, errors, bound)
		}
	}
}

func closeTo(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	scale := 0.0
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*scale) {
			t.Errorf("%s[%d] = %.17g, want %.17g", what, i, got[i], want[i])
			return
		}
	}
}
