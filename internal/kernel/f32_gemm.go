package kernel

import (
	"unsafe"

	"pihc/compute"
)

// Product is one term A·B of a Gemm. A is M x K with element (i, k) at
// A[i*RowStride+k*ColStride], so a transposed operand costs nothing; B is K x N
// with element (k, j) at B[k*BStride+j]. K = 0 means no term.
type Product[T compute.Float] struct {
	A                    []T
	RowStride, ColStride int
	B                    []T
	BStride              int
	K                    int
}

// Gemm computes C = init + p.A·p.B + q.A·q.B for C of m x n, element (i, j) at
// c[i*ldc+j]. init is C itself if accumulate, else bias[j] in every row, else
// (nil bias) 0. Two products in one call are how a Fourier layer adds its
// pointwise part and its inverse transform in one pass. C must not overlap an
// operand.
//
// Each element is summed over k in increasing order, p before q, so a caller may
// cut C into rows or columns freely: the result is bitwise the same. Vectors fuse
// multiplication and addition; the reference rounds twice.
// Gemm panics if a slice is too short.
func Gemm[T compute.Float](c []T, ldc, m, n int, bias []T, accumulate bool, p, q Product[T]) {
	if m <= 0 || n <= 0 {
		return
	}
	if ldc < n || len(c) < (m-1)*ldc+n || (!accumulate && bias != nil && len(bias) < n) {
		panic("kernel: Gemm: C or bias too short")
	}
	p.check(m, n)
	q.check(m, n)
	if width > 0 {
		vectorGemm(c, ldc, m, n, bias, accumulate, &p, &q)
		return
	}
	for i := range m {
		row := c[i*ldc:][:n]
		switch {
		case accumulate:
		case bias != nil:
			copy(row, bias)
		default:
			clear(row)
		}
		gemmRow(row, i, &p)
		gemmRow(row, i, &q)
	}
}

func (p *Product[T]) check(m, n int) {
	if p.K == 0 {
		return
	}
	if p.K < 0 || p.RowStride < 0 || p.ColStride < 0 || p.BStride < 0 ||
		len(p.A) < (m-1)*p.RowStride+(p.K-1)*p.ColStride+1 || len(p.B) < (p.K-1)*p.BStride+n {
		panic("kernel: Gemm: operand too short")
	}
}

// gemmRow adds row i of a product to row. It streams rows of B, four at a time so that
// an element of C is loaded and stored once per four products.
func gemmRow[T compute.Float](row []T, i int, p *Product[T]) {
	n, k := len(row), 0
	a := i * p.RowStride
	for ; k+4 <= p.K; k += 4 {
		a0, a1, a2, a3 := p.A[a], p.A[a+p.ColStride], p.A[a+2*p.ColStride], p.A[a+3*p.ColStride]
		a += 4 * p.ColStride
		b0 := p.B[k*p.BStride:][:n]
		b1 := p.B[(k+1)*p.BStride:][:n]
		b2 := p.B[(k+2)*p.BStride:][:n]
		b3 := p.B[(k+3)*p.BStride:][:n]
		for l, x := range row {
			x += a0 * b0[l]
			x += a1 * b1[l]
			x += a2 * b2[l]
			x += a3 * b3[l]
			row[l] = x
		}
	}
	for ; k < p.K; k++ {
		x := p.A[a]
		a += p.ColStride
		for l, y := range p.B[k*p.BStride:][:n] {
			row[l] += x * y
		}
	}
}

// as32 reinterprets a slice of a 4-byte float type.
func as32[T compute.Float](s []T) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

func (p *Product[T]) as32() Product[float32] {
	return Product[float32]{as32(p.A), p.RowStride, p.ColStride, as32(p.B), p.BStride, p.K}
}

// as64 reinterprets a slice of an 8-byte float type.
func as64[T compute.Float](s []T) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}
