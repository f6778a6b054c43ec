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

// Vectors are loaded and stored through pointers to arrays of their length, which is
// a constant in each function the compiler makes: no check of bounds remains, and
// none of the race detector's (checkptr) fails. Loops walk pointers, and leave before
// they move one past its allocation.

func load32(p unsafe.Pointer) simd.Float32s {
	switch (simd.Float32s{}).Len() {
	case 16:
		return simd.LoadFloat32s((*[16]float32)(p)[:])
	case 8:
		return simd.LoadFloat32s((*[8]float32)(p)[:])
	}
	return simd.LoadFloat32s((*[4]float32)(p)[:])
}

func store32(p unsafe.Pointer, v simd.Float32s) {
	switch v.Len() {
	case 16:
		v.Store((*[16]float32)(p)[:])
	case 8:
		v.Store((*[8]float32)(p)[:])
	default:
		v.Store((*[4]float32)(p)[:])
	}
}

func load64(p unsafe.Pointer) simd.Float64s {
	switch (simd.Float64s{}).Len() {
	case 8:
		return simd.LoadFloat64s((*[8]float64)(p)[:])
	case 4:
		return simd.LoadFloat64s((*[4]float64)(p)[:])
	}
	return simd.LoadFloat64s((*[2]float64)(p)[:])
}

func store64(p unsafe.Pointer, v simd.Float64s) {
	switch v.Len() {
	case 8:
		v.Store((*[8]float64)(p)[:])
	case 4:
		v.Store((*[4]float64)(p)[:])
	default:
		v.Store((*[2]float64)(p)[:])
	}
}
