package kernel

import (
	"unsafe"

	"pihc/compute"
)

// AddPairs adds the product p to C (m x n, element (i, j) at c[i*ldc+j]), pair after
// pair of its inner indices, each pair formed and rounded by itself before it is added:
//
//	c[i][j] += a[i][k]·b[k][j] + a[i][k+1]·b[k+1][j],   k = 0, 2, ...
//
// So the result is bitwise that of adding matrices formed by one call a pair, in their order.
// C must not overlap an operand. It panics if K is odd or a slice too short.
func AddPairs[T compute.Float](c []T, ldc, m, n int, p Product[T]) {
	if m <= 0 || n <= 0 {
		return
	}
	if p.K%2 != 0 || ldc < n || len(c) < (m-1)*ldc+n {
		panic("kernel: AddPairs: K is odd or C too short")
	}
	p.check(m, n)
	done := 0
	if width > 0 && p.K > 0 && unsafe.Sizeof(c[0]) == 4 {
		done = addPairs32(as32(c), ldc, m, n, p.as32())
	}
	for i := range m {
		row := c[i*ldc+done : i*ldc+n]
		for k := 0; k < p.K; k += 2 {
			a := p.A[i*p.RowStride+k*p.ColStride:]
			a0, a1 := a[0], a[p.ColStride]
			b0, b1 := p.B[k*p.BStride+done:][:len(row)], p.B[(k+1)*p.BStride+done:][:len(row)]
			for j := range row {
				row[j] += T(T(a0*b0[j]) + T(a1*b1[j])) // T(x*y) keeps a compiler from fusing
			}
		}
	}
}
