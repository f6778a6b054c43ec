package kernel_test

import (
	"testing"

	"pihc/internal/check"
	"pihc/internal/kernel"
)

// TestPeak asks only for a plausible figure, and that wider vectors are not
// slower than scalars by far.
func TestPeak(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		a, b := kernel.PeakGFLOPS32(1), kernel.PeakGFLOPS64(1)
		t.Logf("float32 %.1f, float64 %.1f GFLOP/s", a, b)
		if !(a > 0.05 && b > 0.05 && a < 1e4 && b < 1e4) {
			t.Errorf("float32 %g, float64 %g GFLOP/s", a, b)
		}
	})
}
