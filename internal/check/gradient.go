package check

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Normal fills x with standard normal numbers and returns it.
func Normal[T Float](rng *rand.Rand, x []T) []T {
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

// Rand returns the generator tests use, seeded by one number.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) }

// Dot returns Σ a b, accumulated in float64.
func Dot[T Float](a, b []T) float64 {
	s := 0.0
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

// AdjointIdentity fails the test unless ⟨A x, y⟩ = ⟨x, Aᵀ y⟩ for random x (n) and
// y (m), relative to ‖A x‖‖y‖ + ‖x‖‖Aᵀ y‖. apply sets y = A x, transpose ADDS Aᵀ y to
// x, which starts at zero.
func AdjointIdentity[T Float](t testing.TB, rng *rand.Rand, n, m int, apply func(y, x []T), transpose func(x, y []T), tolerance float64) {
	t.Helper()
	for range 3 {
		x, y := Normal(rng, make([]T, n)), Normal(rng, make([]T, m))
		ax, aty := make([]T, m), make([]T, n)
		apply(ax, x)
		transpose(aty, y)
		left, right := Dot(ax, y), Dot(x, aty)
		scale := norm(ax)*norm(y) + norm(x)*norm(aty)
		if !(math.Abs(left-right) <= tolerance*scale) {
			t.Errorf("<Ax,y> = %.12g, <x,A'y> = %.12g: relative difference %.3g, want at most %.3g",
				left, right, math.Abs(left-right)/scale, tolerance)
		}
	}
}

func norm[T Float](x []T) float64 { return math.Sqrt(Dot(x, x)) }

// CentralDifference returns the directional derivative of f at x along d by
// central differences, Richardson-extrapolated from steps 2h and h (fourth
// order), and an estimate of its error. x is restored before it returns.
func CentralDifference(f func(x []float64) float64, x, d []float64, h float64) (slope, uncertainty float64) {
	saved := append([]float64(nil), x...)
	at := func(s float64) float64 {
		for i := range x {
			x[i] = saved[i] + s*d[i]
		}
		v := f(x)
		copy(x, saved)
		return v
	}
	fine := (at(h) - at(-h)) / (2 * h)
	coarse := (at(2*h) - at(-2*h)) / (4 * h)
	return (4*fine - coarse) / 3, math.Abs(fine-coarse) / 3
}

// Gradient fails the test unless ⟨gradient, d⟩ equals the central difference of f
// at x along each of the given number of random unit directions d, relative to
// the larger of |⟨gradient, d⟩| and ‖gradient‖/√n (the size to be expected of it).
// It returns the worst relative difference.
func Gradient(t testing.TB, rng *rand.Rand, f func(x []float64) float64, x, gradient []float64, directions int, h, tolerance float64) float64 {
	t.Helper()
	worst := 0.0
	for range directions {
		d := Normal(rng, make([]float64, len(x)))
		length := norm(d)
		for i := range d {
			d[i] /= length
		}
		want, _ := CentralDifference(f, x, d, h)
		got := Dot(gradient, d)
		scale := max(math.Abs(got), math.Abs(want), norm(gradient)/math.Sqrt(float64(len(x))))
		relative := 0.0
		if got != want {
			relative = math.Abs(got-want) / scale
		}
		if !(relative <= tolerance) {
			t.Errorf("gradient along a random direction: %.12g, central difference %.12g: relative difference %.3g, want at most %.3g",
				got, want, relative, tolerance)
		}
		worst = max(worst, relative)
	}
	return worst
}
