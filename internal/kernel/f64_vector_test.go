package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pihc/internal/check"
	"pihc/internal/kernel"
)

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// vectorCases gives each element-wise kernel and its meaning for one element of
// three operands; k of the scalar forms is z[0].
var vectorCases = []struct {
	name string
	run  func(dst, x, y, z []float64)
	want func(x, y, z, k float64) float64
}{
	{"Add", func(d, x, y, _ []float64) { kernel.Add64(d, x, y) }, func(x, y, _, _ float64) float64 { return x + y }},
	{"Sub", func(d, x, y, _ []float64) { kernel.Sub64(d, x, y) }, func(x, y, _, _ float64) float64 { return x - y }},
	{"Mul", func(d, x, y, _ []float64) { kernel.Mul64(d, x, y) }, func(x, y, _, _ float64) float64 { return x * y }},
	{"Div", func(d, x, y, _ []float64) { kernel.Div64(d, x, y) }, func(x, y, _, _ float64) float64 { return x / y }},
	{"Min", func(d, x, y, _ []float64) { kernel.Min64(d, x, y) }, func(x, y, _, _ float64) float64 { return min(x, y) }},
	{"Max", func(d, x, y, _ []float64) { kernel.Max64(d, x, y) }, func(x, y, _, _ float64) float64 { return max(x, y) }},
	{"Abs", func(d, x, _, _ []float64) { kernel.Abs64(d, x) }, func(x, _, _, _ float64) float64 { return math.Abs(x) }},
	{"Sqrt", func(d, x, _, _ []float64) { kernel.Sqrt64(d, x) }, func(x, _, _, _ float64) float64 { return math.Sqrt(x) }},
	{"Less", func(d, x, y, _ []float64) { kernel.Less64(d, x, y) }, func(x, y, _, _ float64) float64 { return one(x < y) }},
	{"LessEqual", func(d, x, y, _ []float64) { kernel.LessEqual64(d, x, y) }, func(x, y, _, _ float64) float64 { return one(x <= y) }},
	{"Equal", func(d, x, y, _ []float64) { kernel.Equal64(d, x, y) }, func(x, y, _, _ float64) float64 { return one(x == y) }},
	{"NotEqual", func(d, x, y, _ []float64) { kernel.NotEqual64(d, x, y) }, func(x, y, _, _ float64) float64 { return one(x != y) }},
	{"Select", func(d, x, y, z []float64) { kernel.Select64(d, x, y, z) }, func(x, y, z, _ float64) float64 {
		if x != 0 {
			return y
		}
		return z
	}},
	{"AddScalar", func(d, x, _, z []float64) { kernel.AddScalar64(d, x, first(z)) }, func(x, _, _, k float64) float64 { return x + k }},
	{"SubFromScalar", func(d, x, _, z []float64) { kernel.SubFromScalar64(d, first(z), x) }, func(x, _, _, k float64) float64 { return k - x }},
	{"MulScalar", func(d, x, _, z []float64) { kernel.MulScalar64(d, first(z), x) }, func(x, _, _, k float64) float64 { return k * x }},
	{"DivScalar", func(d, x, _, z []float64) { kernel.DivScalar64(d, x, first(z)) }, func(x, _, _, k float64) float64 { return x / k }},
	{"DivIntoScalar", func(d, x, _, z []float64) { kernel.DivIntoScalar64(d, first(z), x) }, func(x, _, _, k float64) float64 { return k / x }},
}

func first(z []float64) float64 {
	if len(z) == 0 {
		return 0
	}
	return z[0]
}

// Arithmetic is exact at every width, special values included, for every
// length around the vectors, unaligned, in place and beside guard bands.
func TestVectorArithmetic(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		draw := func(x []float64) {
			for i := range x {
				x[i] = rng.NormFloat64()
				if rng.IntN(4) == 0 {
					x[i] = specials[rng.IntN(len(specials))]
				}
			}
		}
		for _, c := range vectorCases {
			for n := range 70 {
				x, y, z := check.Guard[float64](n, n%8), check.Guard[float64](n, n/8), check.Guard[float64](n, 5)
				dst := check.Guard[float64](n, (n+3)%8)
				draw(x.Slice())
				draw(y.Slice())
				draw(z.Slice())
				if n > 3 {
					y.Slice()[1] = x.Slice()[1] // equal, if not NaN
					x.Slice()[2], x.Slice()[3] = 0, math.Copysign(0, -1)
				}
				want := make([]float64, n)
				k := first(z.Slice())
				for i := range want {
					want[i] = c.want(x.Slice()[i], y.Slice()[i], z.Slice()[i], k)
				}
				same := func(got []float64) {
					for i := range want {
						// Zeros of either sign are the same to Min and Max.
						if !(got[i] == want[i] || math.IsNaN(got[i]) && math.IsNaN(want[i])) {
							t.Fatalf("%s, element %d of %d: %v of %v, %v, %v; want %v", c.name, i, n, got[i], x.Slice()[i], y.Slice()[i], z.Slice()[i], want[i])
						}
					}
				}
				c.run(dst.Slice(), x.Slice(), y.Slice(), z.Slice())
				same(dst.Slice())
				dst.Verify(t)
				copy(dst.Slice(), x.Slice())
				c.run(dst.Slice(), dst.Slice(), y.Slice(), z.Slice())
				same(dst.Slice())
			}
		}
	})
}

func TestVectorShortOperandPanics(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		for _, c := range append(vectorCases[:6:6], vectorCases[8:13]...) {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic for a short operand", c.name)
					}
				}()
				long, short := make([]float64, 16), make([]float64, 15)
				c.run(long, long, short[:15:15], long)
			}()
		}
	})
}
