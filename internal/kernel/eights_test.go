package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Eight numbers at a time are those of plain loops, for whole vectors and what is left of them.
func TestEights(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 19 {
		x, v, at := make([]float64, 8*n), make([]float64, n), [8]float64{}
		for _, s := range [][]float64{x, v, at[:]} {
			for i := range s {
				s[i] = random.NormFloat64()
			}
		}
		outer, sum := append([]float64(nil), x...), at
		SubtractOuter8(outer, v, &at)
		SubtractSum8(&sum, v, x)
		want := at
		for i, by := range v {
			for j := range 8 {
				want[j] -= by * x[8*i+j]
				if w := x[8*i+j] - by*at[j]; math.Abs(outer[8*i+j]-w) > 1e-14 {
					t.Fatalf("%d rows: outer %g at %d, want %g", n, outer[8*i+j], 8*i+j, w)
				}
			}
		}
		for j, w := range want {
			if math.Abs(sum[j]-w) > 1e-13 {
				t.Fatalf("%d rows: sum %g at %d, want %g", n, sum[j], j, w)
			}
		}
	}
}
