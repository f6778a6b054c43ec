package check

import (
	"testing"

	"pihc/internal/kernel"
)

// Widths runs f as a subtest with the kernels' references and then with the vectors
// in use, where there are any. A process has one width: `make widths` repeats the
// tests with each. f must not call t.Parallel.
func Widths(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Run("reference", func(t *testing.T) {
		defer kernel.UseReference()()
		f(t)
	})
	if kernel.Width() == 0 {
		t.Log("no vectors in this build or on this machine")
		return
	}
	t.Run(kernel.Description(), f)
}
