//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"os"
	"runtime"
	"simd"
	"simd/archsimd"
	"strings"
	"unsafe"
)

// vectors tells whether the program was built with SIMD.
const vectors = true

// vectorWidth is 0 for processors without fused multiply-adds, where MulAdd would be
// an illegal instruction, and where package simd emulates, which is slower than plain Go.
func vectorWidth() int {
	if simd.Emulated() || !fused() {
		return 0
	}
	return simd.VectorBitSize()
}

func fused() bool {
	return runtime.GOARCH != "amd64" || archsimd.X86.AVX2() && archsimd.X86.FMA()
}

// machineWidth is the width of GODEBUG=simd=+, or that in use if GODEBUG chose it.
func machineWidth() int {
	switch {
	case !fused() || strings.Contains(os.Getenv("GODEBUG"), "simd="):
		return vectorWidth()
	case archsimd.X86.AVX512():
		return 512
	case archsimd.X86.AVX2():
		return 256
	}
	return 128
}

// A vector lies in memory as an array of its length does. These loads and stores
// compile to one instruction, of the width of the function they are in, and the race
// detector's checks of pointers see its true size. Loops walk pointers, and leave
// before they move one past its allocation. The compiler of Go 1.27.1 crashes on
// `for range n` in a function with vectors. A function called from outside ends with
// clearUpper.

func load32(p unsafe.Pointer) simd.Float32s     { return *(*simd.Float32s)(p) }
func store32(p unsafe.Pointer, v simd.Float32s) { *(*simd.Float32s)(p) = v }
func load64(p unsafe.Pointer) simd.Float64s     { return *(*simd.Float64s)(p) }
func store64(p unsafe.Pointer, v simd.Float64s) { *(*simd.Float64s)(p) = v }
