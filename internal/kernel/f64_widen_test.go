package kernel_test

import (
	"math"
	"testing"
	"time"

	"pihc/internal/check"
	"pihc/internal/kernel"
)

// Widening is exact: the reference is the conversion of the language. Every
// length around the vectors, unaligned, special values, guard bands.
func TestWiden(t *testing.T) {
	special := []float32{
		0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
		math.SmallestNonzeroFloat32, -math.MaxFloat32, 1e-40,
	}
	check.Widths(t, func(t *testing.T) {
		rng := check.Rand(15)
		for n := range 150 {
			x, dst := check.Guard[float32](n, n%8), check.Guard[float64](n, n/8%8)
			check.Normal(rng, x.Slice())
			for i := range x.Slice() {
				if rng.IntN(4) == 0 {
					x.Slice()[i] = special[rng.IntN(len(special))]
				}
			}
			kernel.Widen(dst.Slice(), x.Slice())
			dst.Verify(t)
			for i, v := range x.Slice() {
				got, want := dst.Slice()[i], float64(v)
				if math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
					t.Fatalf("element %d of %d: %g, want %g", i, n, got, want)
				}
			}
		}
	})
}

// So is rounding that of the language.
func TestNarrow(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.NaN(), 1e-40, 1e-300, 1e300, -math.MaxFloat32, 1 + 1.0/(1<<24)}
	check.Widths(t, func(t *testing.T) {
		rng := check.Rand(16)
		for n := range 150 {
			x, dst := check.Guard[float64](n, n%8), check.Guard[float32](n, n/8%8)
			check.Normal(rng, x.Slice())
			for i := range x.Slice() {
				if rng.IntN(4) == 0 {
					x.Slice()[i] = special[rng.IntN(len(special))]
				}
			}
			kernel.Narrow(dst.Slice(), x.Slice())
			dst.Verify(t)
			for i, v := range x.Slice() {
				got, want := dst.Slice()[i], float32(v)
				if math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
					t.Fatalf("element %d of %d: %g, want %g", i, n, got, want)
				}
			}
		}
	})
}

func TestWidenShortPanics(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("no panic for a short operand")
			}
		}()
		kernel.Widen(make([]float64, 64), make([]float32, 63))
	})
}

func BenchmarkWiden(b *testing.B) {
	x, dst := make([]float32, 2048), make([]float64, 2048)
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		for range 100 {
			kernel.Widen(dst, x)
		}
		best = min(best, time.Since(start)/100)
	}
	b.ReportMetric(float64(12*len(x))/best.Seconds()/1e9, "GB/s")
}
