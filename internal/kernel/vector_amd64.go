//go:build goexperiment.simd && amd64

package kernel

import "simd/archsimd"

// clearUpper ends a kernel. The compiler leaves the upper halves of the vector
// registers as they are, and Go's scalar arithmetic, which is SSE, then waits tens of
// nanoseconds for each instruction.
func clearUpper() { archsimd.ClearAVXUpperBits() }
