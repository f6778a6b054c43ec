//go:build goexperiment.simd && amd64

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

//go:generate go run ./gen

// Package simd has no conversions between vectors of float32 and of float64: these
// kernels are made for each width by go generate. They do the first elements, and
// return their number, or report whether they did anything.

func widenWide(dst []float64, x []float32) int {
	switch width {
	case 512:
		return widen512(dst, x)
	case 256:
		return widen256(dst, x)
	}
	return 0
}

// narrowWide sets dst to the first elements of x.
func narrowWide(dst []float32, x []float64) int {
	switch width {
	case 512:
		return narrow512(dst, x)
	case 256:
		return narrow256(dst, x)
	}
	return 0
}

// addSquaresWide adds the squares of whole sixteens of x to sums, and reports whether
// it did.
func addSquaresWide(sums *[16]float64, x []float32) bool {
	switch width {
	case 512:
		addSquares512(sums, x)
	case 256:
		addSquares256(sums, x)
	default:
		return false
	}
	return true
}

func matVecRowsWide(z []float64, n, m int, a []float32, w []float64) bool {
	switch {
	case m == 0:
	case width == 512 && n%8 == 0:
		matVec512(z, n, m, a, w)
	case width == 256 && n%4 == 0:
		matVec256(z, n, m, a, w)
	default:
		return false
	}
	return true
}

func combineRowsWide(dst []float64, n, lo int, f [][]float64, a [][]float32) bool {
	switch {
	case width == 512 && n%8 == 0:
		combineRows512(dst, n, lo, f, a)
	case width == 256 && n%4 == 0:
		combineRows256(dst, n, lo, f, a)
	default:
		return false
	}
	return true
}

// gatherStencilsWide does GatherStencils32 for sixteen columns or more and returns their
// number, or 0. Points go in blocks as in gatherStencils64.
func gatherStencilsWide(dst, basis []float32, n int, points []int32, s *Stencils) int {
	if len(points) == 0 || n < 16 || width < 256 {
		return 0
	}
	checkStencils(len(basis)/n, points, s)
	in := unsafe.Pointer(unsafe.SliceData(basis))
	for lo := 0; lo < len(points); lo += stencilBlock {
		some := points[lo:min(lo+stencilBlock, len(points))]
		out, j := unsafe.Pointer(&dst[lo*n]), 0
		for ; width == 512 && j+32 <= n; j += 32 {
			gather512(out, in, n, j, some, s)
		}
		for ; j+16 <= n; j += 16 {
			gather256(out, in, n, j, some, s)
		}
		if j < n { // columns before the last sixteen that are whole get once more what they have
			gather256(out, in, n, n-16, some, s)
		}
	}
	return n
}

// sumFour sets z, of up to four, to the sums of the vectors' elements.
func sumFour(z []float64, a, b, c, d archsimd.Float64x4) {
	ab, cd := a.ConcatAddPairsGrouped(b), c.ConcatAddPairsGrouped(d)
	sum := ab.ConcatPermute128Scalars(0, 2, cd).Add(ab.ConcatPermute128Scalars(1, 3, cd))
	if len(z) == 4 {
		sum.StoreArray((*[4]float64)(z))
		return
	}
	sum.StorePart(z)
}
