//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// clearUpper ends a kernel. The compiler leaves the upper halves of the vector
// registers as they are, and Go's scalar arithmetic, which is SSE, then waits tens of
// nanoseconds for each instruction.
func clearUpper() { archsimd.ClearAVXUpperBits() }

// sumRows sets z[r] to the sum of row r of s, which has 2, 4 or 8 columns. (Package
// simd has no sum over a vector.)
func sumRows(z, s []float64, columns int) {
	done := 0
	p := unsafe.Pointer(unsafe.SliceData(s))
	for ; columns == 8 && done+4 <= len(z); done += 4 {
		q := unsafe.Add(p, 64*done)
		sumFour(z[done:done+4], halves(q), halves(unsafe.Add(q, 64)), halves(unsafe.Add(q, 128)), halves(unsafe.Add(q, 192)))
	}
	for ; columns == 4 && done+4 <= len(z); done += 4 {
		q := (*[16]float64)(unsafe.Add(p, 32*done))
		sumFour(z[done:done+4], archsimd.LoadFloat64x4(q[:4]), archsimd.LoadFloat64x4(q[4:8]), archsimd.LoadFloat64x4(q[8:12]), archsimd.LoadFloat64x4(q[12:]))
	}
	archsimd.ClearAVXUpperBits()
	sumRowsGo(z[done:], s[columns*done:], columns)
}

// halves adds the first four of eight numbers to the others.
func halves(p unsafe.Pointer) archsimd.Float64x4 {
	return archsimd.LoadFloat64x4Array((*[4]float64)(p)).Add(archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Add(p, 32))))
}
