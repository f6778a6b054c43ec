package check

import (
	"testing"

	"pihc/internal/kernel"
)

// Levels runs f as a subtest at every kernel level this build and machine have,
// lowest first, and reports those it lacks. f must not call t.Parallel.
func Levels(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	for l := kernel.Portable; l <= kernel.AVX512; l++ {
		if l > kernel.MachineLevel() {
			t.Logf("level %s: not available in this build or on this machine", l)
			continue
		}
		t.Run(l.String(), func(t *testing.T) {
			defer kernel.SetLevel(l)()
			f(t)
		})
	}
}
