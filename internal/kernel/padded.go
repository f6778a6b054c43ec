package kernel

import (
	"unsafe"

	"pihc/compute"
)

// Lane is the number of channels that networks pad a point's to a multiple of: with
// Aligned, no vector of a row crosses a cache line.
const Lane = 16

// Pad rounds n up to a multiple of Lane.
func Pad(n int) int { return (n + Lane - 1) / Lane * Lane }

// Aligned returns n zeros that start on a cache line. (Huge pages were tried: no gain.)
func Aligned[T compute.Float](n int) []T {
	var zero T
	bytes := int(unsafe.Sizeof(zero))
	s := make([]T, n+64/bytes)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(s)))%64) / bytes
	return s[skip : skip+n : skip+n]
}

// CopyPadded copies a rows x columns matrix into one of row length stride.
func CopyPadded[T compute.Float](dst []T, stride int, src []T, rows, columns int) {
	for i := range rows {
		copy(dst[i*stride:i*stride+columns], src[i*columns:])
	}
}

// Transpose copies the transpose of a rows x columns matrix into one of row length stride.
func Transpose[T compute.Float](dst []T, stride int, src []T, rows, columns int) {
	r, c := 0, 0
	if src, single := any(src).([]float32); single && width > 0 {
		r, c = transpose32(as32(dst), stride, src, rows, columns)
	}
	for i := range rows {
		j := 0
		if i < r {
			j = c
		}
		for ; j < columns; j++ {
			dst[j*stride+i] = src[i*columns+j]
		}
	}
}
