package kernel

// GemmRows sets, or adds to, rows that lie anywhere: c[i][j] = Σ_k a[i][k]·b[k*stride+j]
// for j < n and k < K. Rows of C must overlap neither each other nor an operand. An
// element is summed over k in increasing order, and a row does not depend on the
// others. Panics if a slice is too short.
func GemmRows(c, a [][]float32, n int, accumulate bool, b []float32, stride, k int) {
	if n < 1 || k < 1 || stride < 0 || len(a) != len(c) || len(b) < (k-1)*stride+n {
		panic("kernel: GemmRows: operand too short")
	}
	for i := range c {
		if len(c[i]) < n || len(a[i]) < k {
			panic("kernel: GemmRows: row too short")
		}
	}
	if width > 0 {
		vectorGemmRows(c, a, n, accumulate, b, stride, k)
		return
	}
	for i := range c {
		row := c[i][:n]
		if !accumulate {
			clear(row)
		}
		gemmRow(row, 0, &Product[float32]{A: a[i], ColStride: 1, B: b, BStride: stride, K: k})
	}
}
