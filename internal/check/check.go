// Package check holds what tests share: comparisons of slices, the two checks of
// a gradient (adjoint identity, central differences), guard bands around
// buffers, golden files, and running a test with the kernels' references and with
// vectors. Only tests import it.
package check

import (
	"math"
	"testing"
)

// Float is any of the two element types.
type Float interface{ ~float32 | ~float64 }

// Close fails the test unless |got[i]-want[i]| <= abs + rel·max|want| for every i.
// The scale is that of the whole slice, because kernels that sum in another order
// differ by rounding of the largest terms, not of each result. NaN matches NaN
// and an infinity matches itself. It reports the worst element.
func Close[T Float](t testing.TB, got, want []T, rel, abs float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("length %d, want %d", len(got), len(want))
	}
	limit := abs + rel*largest(want)
	worst, at, bad := -1.0, -1, 0
	for i := range got {
		d := distance(float64(got[i]), float64(want[i]))
		if !(d <= limit) {
			bad++
			if !(d <= worst) {
				worst, at = d, i
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d elements differ by more than %.3g; worst at %d: got %v, want %v (off by %.3g)",
			bad, len(got), limit, at, got[at], want[at], worst)
	}
}

// distance is |a-b|, 0 for equal infinities and two NaNs, +Inf for one NaN.
func distance(a, b float64) float64 {
	switch {
	case a == b, math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a) || math.IsNaN(b):
		return math.Inf(1)
	}
	return math.Abs(a - b)
}

// largest returns the largest finite magnitude.
func largest[T Float](x []T) float64 {
	m := 0.0
	for _, v := range x {
		if a := math.Abs(float64(v)); a > m && !math.IsInf(a, 0) {
			m = a
		}
	}
	return m
}

// MaxRel returns max|got-want| / max|want|: 0 if all are equal, +Inf if want is
// zero and got is not or the lengths differ.
func MaxRel[T Float](got, want []T) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	worst := 0.0
	for i := range got {
		worst = max(worst, distance(float64(got[i]), float64(want[i])))
	}
	if worst == 0 {
		return 0
	}
	return worst / largest(want)
}

// RelativeL2 returns ‖got-want‖₂ / ‖want‖₂.
func RelativeL2[T Float](got, want []T) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	num, den := 0.0, 0.0
	for i := range got {
		d := float64(got[i]) - float64(want[i])
		num += d * d
		den += float64(want[i]) * float64(want[i])
	}
	if num == 0 {
		return 0
	}
	return math.Sqrt(num / den)
}

// Equal fails the test unless the slices are bitwise equal.
func Equal[T Float](t testing.TB, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("length %d, want %d", len(got), len(want))
	}
	for i := range got {
		// float32 to float64 is exact, so this compares either type.
		if math.Float64bits(float64(got[i])) != math.Float64bits(float64(want[i])) {
			t.Fatalf("element %d: got %v, want bitwise %v", i, got[i], want[i])
		}
	}
}
