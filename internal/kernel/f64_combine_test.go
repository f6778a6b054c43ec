package kernel_test

import (
	"testing"

	"pihc/compute"
	"pihc/internal/check"
	"pihc/internal/kernel"
)

func TestCombineFields(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		testCombine[float32](t, 1e-7)
		testCombine[float64](t, 1e-15)
	})
}

func testCombine[T compute.Float](t *testing.T, tolerance float64) {
	rng := check.Rand(14)
	for _, count := range []int{0, 1, 3, 8} {
		for n := range 70 {
			coef := check.Normal(rng, make([]float64, count))
			var fields [][]float64
			sum, size := make([]float64, n), make([]float64, n)
			for f := range coef {
				x := check.Guard[float64](n, f)
				check.Normal(rng, x.Slice())
				fields = append(fields, x.Slice())
				for i, v := range x.Slice() {
					sum[i] += coef[f] * v
					size[i] += max(coef[f]*v, -coef[f]*v)
				}
			}
			got := check.Guard[T](n, n%8)
			kernel.CombineFields(got.Slice(), coef, fields)
			got.Verify(t)
			for i, v := range got.Slice() {
				if d := float64(v) - sum[i]; !(max(d, -d) <= 2*tolerance*size[i]) {
					t.Fatalf("%d fields, element %d of %d: %g, want %g", count, i, n, v, sum[i])
				}
			}
		}
	}
}

// A field may be the destination: the sum reads it before it is written.
func TestCombineFieldsInPlace(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		rng := check.Rand(16)
		for n := range 70 {
			x, y := check.Normal(rng, make([]float64, n)), check.Normal(rng, make([]float64, n))
			coef, want := []float64{1, -0.5}, make([]float64, n)
			kernel.CombineFields(want, coef, [][]float64{x, y})
			kernel.CombineFields(x, coef, [][]float64{x, y})
			check.Equal(t, x, want)
		}
	})
}
