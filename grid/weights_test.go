package grid

import (
	"math"
	"testing"

	"pihc/internal/check"
)

// Fornberg (1988), Table 1 (centred) and Table 3 (one-sided), integer nodes.
var fornbergTables = []struct {
	derivative int
	x0         float64
	first      int
	want       []float64
}{
	{1, 0, -1, []float64{-1. / 2, 0, 1. / 2}},
	{1, 0, -2, []float64{1. / 12, -2. / 3, 0, 2. / 3, -1. / 12}},
	{1, 0, -3, []float64{-1. / 60, 3. / 20, -3. / 4, 0, 3. / 4, -3. / 20, 1. / 60}},
	{2, 0, -1, []float64{1, -2, 1}},
	{2, 0, -2, []float64{-1. / 12, 4. / 3, -5. / 2, 4. / 3, -1. / 12}},
	{2, 0, -3, []float64{1. / 90, -3. / 20, 3. / 2, -49. / 18, 3. / 2, -3. / 20, 1. / 90}},
	{3, 0, -2, []float64{-1. / 2, 1, 0, -1, 1. / 2}},
	{3, 0, -3, []float64{1. / 8, -1, 13. / 8, 0, -13. / 8, 1, -1. / 8}},
	{4, 0, -2, []float64{1, -4, 6, -4, 1}},
	{4, 0, -3, []float64{-1. / 6, 2, -13. / 2, 28. / 3, -13. / 2, 2, -1. / 6}},
	{1, 0, 0, []float64{-1, 1}},
	{1, 0, 0, []float64{-3. / 2, 2, -1. / 2}},
	{1, 0, 0, []float64{-11. / 6, 3, -3. / 2, 1. / 3}},
	{2, 0, 0, []float64{1, -2, 1}},
	{2, 0, 0, []float64{2, -5, 4, -1}},
	{2, 0, 0, []float64{35. / 12, -26. / 3, 19. / 2, -14. / 3, 11. / 12}},
	{3, 0, 0, []float64{-5. / 2, 9, -12, 7, -3. / 2}},
	{4, 0, 0, []float64{3, -14, 26, -24, 11, -2}},
	// Backward differentiation formulas of order 1 to 3 (Curtiss and
	// Hirschfelder 1952), and the polynomial extrapolation of a ghost value.
	{1, 0, -1, []float64{-1, 1}},
	{1, 0, -2, []float64{1. / 2, -2, 3. / 2}},
	{1, 0, -3, []float64{-1. / 3, 3. / 2, -3, 11. / 6}},
	{0, -1, 0, []float64{3, -3, 1}},
	{0, -1, 0, []float64{4, -6, 4, -1}},
	{0, -0.5, 0, []float64{15. / 8, -5. / 4, 3. / 8}},
}

func TestFornbergTables(t *testing.T) {
	for _, test := range fornbergTables {
		xs := make([]float64, len(test.want))
		for k := range xs {
			xs[k] = float64(test.first + k)
		}
		check.Close(t, Fornberg(test.derivative, test.x0, xs), test.want, 1e-14, 0)
		got := unitWeights(test.derivative, test.x0, test.first, len(xs))
		check.Close(t, got, test.want, 1e-14, 0)
		for k, w := range got {
			if (w == 0) != (test.want[k] == 0) {
				t.Errorf("derivative %d from %d: weight %d is %g", test.derivative, test.first, k, w)
			}
		}
	}
}

// On any distinct nodes the formula is exact for every polynomial the nodes determine.
func TestFornbergUnevenNodes(t *testing.T) {
	rng := check.Rand(1)
	for n := 1; n <= 8; n++ {
		for d := range n {
			xs := make([]float64, n)
			for k := range xs {
				xs[k] = float64(k) + 0.6*(rng.Float64()-0.5)
			}
			rng.Shuffle(n, func(i, j int) { xs[i], xs[j] = xs[j], xs[i] })
			x0 := float64(n) * rng.Float64()
			w := Fornberg(d, x0, xs)
			for degree := range n {
				got, size := 0.0, 0.0
				for k, x := range xs {
					got += w[k] * math.Pow(x, float64(degree))
					size += math.Abs(w[k] * math.Pow(x, float64(degree)))
				}
				if want := monomial(degree, d, x0); math.Abs(got-want) > 1e-12*size {
					t.Errorf("%d nodes, derivative %d of x^%d: got %g, want %g", n, d, degree, got, want)
				}
			}
		}
	}
}

// monomial is the d-th derivative of x^degree at x.
func monomial(degree, d int, x float64) float64 {
	c := 1.0
	for k := range d {
		c *= float64(degree - k)
	}
	if c == 0 {
		return 0
	}
	return c * math.Pow(x, float64(degree-d))
}

func TestFornbergPanics(t *testing.T) {
	for _, f := range []func(){
		func() { Fornberg(2, 0, []float64{0, 1}) },
		func() { Fornberg(-1, 0, []float64{0, 1}) },
		func() { Fornberg(1, 0, []float64{0, 1, 1}) },
	} {
		mustPanic(t, f)
	}
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}
