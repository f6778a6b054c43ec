//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// transpose32 does the whole blocks of 8 x 8 elements of Transpose and returns how many rows and
// columns they have.
func transpose32(dst []float32, stride int, src []float32, rows, columns int) (r, c int) {
	r, c = rows/8*8, columns/8*8
	if width < 256 || r == 0 || c == 0 {
		return 0, 0
	}
	_, _ = dst[(c-1)*stride+r-1], src[(r-1)*columns+c-1]
	out, in := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	for i := 0; i < r; i += 8 {
		for j := 0; j < c; j += 8 {
			transpose8(unsafe.Add(out, 4*(j*stride+i)), 4*uintptr(stride), unsafe.Add(in, 4*(i*columns+j)), 4*uintptr(columns))
		}
	}
	archsimd.ClearAVXUpperBits()
	return r, c
}

// transpose8 transposes a block of 8 x 8 elements, rows being so many bytes apart: first in each half of
// pairs of rows, then of fours, then halves are exchanged.
func transpose8(out unsafe.Pointer, to uintptr, in unsafe.Pointer, from uintptr) {
	for half := uintptr(0); half < 2; half++ { // columns 0 to 3 and 4 to 7 of both halves of the rows
		p := unsafe.Add(in, 16*half)
		a0, a1 := pairs8(p, from, 0, 1)
		b0, b1 := pairs8(p, from, 2, 3)
		out := unsafe.Add(out, 4*half*to)
		storeWide(out, a0.InterleaveLoGrouped(b0))
		storeWide(unsafe.Add(out, to), a0.InterleaveHiGrouped(b0))
		storeWide(unsafe.Add(out, 2*to), a1.InterleaveLoGrouped(b1))
		storeWide(unsafe.Add(out, 3*to), a1.InterleaveHiGrouped(b1))
	}
}

// pairs8 loads four elements of rows i and i+4, and of k and k+4, and returns pairs of an element of the first
// and the second of them: those of the first two columns, and of the others.
func pairs8(p unsafe.Pointer, from uintptr, i, k uintptr) (lo, hi archsimd.Int64x4) {
	x, y := fours8(p, from, i), fours8(p, from, k)
	return x.InterleaveLoGrouped(y).AsInt64x4(), x.InterleaveHiGrouped(y).AsInt64x4()
}

// fours8 loads four elements of row i in the lower half and four of row i+4 in the upper.
func fours8(p unsafe.Pointer, from, i uintptr) archsimd.Int32x8 {
	lo := archsimd.LoadInt32x4Array((*[4]int32)(unsafe.Add(p, i*from)))
	hi := archsimd.LoadInt32x4Array((*[4]int32)(unsafe.Add(p, (i+4)*from)))
	var x archsimd.Int32x8
	return x.SetLo(lo).SetHi(hi)
}

func storeWide(p unsafe.Pointer, x archsimd.Int64x4) { x.StoreArray((*[4]int64)(p)) }
