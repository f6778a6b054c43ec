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

// sumRows sets z[r] to the sum of row r of s, which has 2, 4 or 8 columns and room for
// a multiple of four rows. (Package simd has no sum over a vector.)
func sumRows(z, s []float64, columns int) {
	if columns == 2 {
		sumRowsGo(z, s, columns)
		return
	}
	p := unsafe.Pointer(unsafe.SliceData(s))
	for r := 0; columns == 8 && r < len(z); r += 4 {
		q := unsafe.Add(p, 64*r)
		sumFour(z[r:min(r+4, len(z))], halves(q), halves(unsafe.Add(q, 64)), halves(unsafe.Add(q, 128)), halves(unsafe.Add(q, 192)))
	}
	for r := 0; columns == 4 && r < len(z); r += 4 {
		q := (*[16]float64)(unsafe.Add(p, 32*r))
		sumFour(z[r:min(r+4, len(z))], archsimd.LoadFloat64x4(q[:4]), archsimd.LoadFloat64x4(q[4:8]), archsimd.LoadFloat64x4(q[8:12]), archsimd.LoadFloat64x4(q[12:]))
	}
	archsimd.ClearAVXUpperBits()
}

// halves adds the first four of eight numbers to the others.
func halves(p unsafe.Pointer) archsimd.Float64x4 {
	return archsimd.LoadFloat64x4Array((*[4]float64)(p)).Add(archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Add(p, 32))))
}
