package kernel

import "pihc/compute"

// The float64 kernels of one least-squares pass. Matrices are row-major with
// the points first: a (m, n) holds row r at a[r*n : (r+1)*n]. Every function
// accumulates rows in ascending order within fixed blocks, so a result depends
// on its arguments and the width alone.

// normalBlock is the size in float64 of the block of J that one sweep keeps in
// the first-level cache (16 KiB of 48), beside the accumulators' tile.
const normalBlock = 2048

// blockRows returns how many rows of n columns a sweep takes at once.
func blockRows(n int) int {
	return max(normalBlock/max(n, 1), 32)
}

// NormalScratch returns the length of scratch that AccumulateNormal and
// AccumulateHessian need for n columns, or fewer.
func NormalScratch(n int) int { return max(normalBlock, n*blockRows(n)) }

// AccumulateNormal adds one block of m rows to the normal equations of a
// residual whose Jacobian is J = Σ_j diag(f[j]) a[j]:
//
//	gram += JᵀJ    grad += Jᵀr
//
// gram is (n, n), of which the lower triangle is right and the rest is
// unspecified until Symmetrize; grad has n entries, f[j] and r have m, a[j] is
// (m, n). A nil f[j] stands for zeros. scratch holds NormalScratch(n) values.
// Panics if a slice is too short.
func AccumulateNormal(gram, grad []float64, n, m int, f, a [][]float64, r, scratch []float64) {
	checkNormal(gram, n, m, f, a, len(scratch) >= NormalScratch(n))
	if len(grad) < n || len(r) < m || len(f) != len(a) {
		panic("kernel: AccumulateNormal: grad, r or f has the wrong length")
	}
	rows := blockRows(n)
	for lo := 0; lo < m; lo += rows {
		k := min(rows, m-lo)
		j := scratch[:k*n]
		combineRows(j, n, lo, f, a)
		gemmLower(gram, n, k, j, j)
		AccumulateTransposed(grad, n, k, j, r[lo:lo+k])
	}
}

// AccumulateHessian adds Σ_jk a[j]ᵀ diag(s[j*J+k]) a[k], J = len(a), to the
// lower triangle of gram. s must be symmetric in j and k (the same values, not
// only the same sum); a nil entry stands for zeros. With
// s_jk = F_j F_k + r F_jk this is the exact Hessian of ½‖r‖² over those rows.
// Sizes, scratch and panics are those of AccumulateNormal.
func AccumulateHessian(gram []float64, n, m int, s, a [][]float64, scratch []float64) {
	checkNormal(gram, n, m, s, a, len(scratch) >= NormalScratch(n))
	if len(s) != len(a)*len(a) {
		panic("kernel: AccumulateHessian: s is not len(a) x len(a)")
	}
	rows := blockRows(n)
	for lo := 0; lo < m; lo += rows {
		k := min(rows, m-lo)
		b := scratch[:k*n]
		for j := range a {
			// The lower triangle of each A_jᵀB_j adds up to that of the symmetric sum.
			if combineRows(b, n, lo, s[j*len(a):(j+1)*len(a)], a) {
				gemmLower(gram, n, k, a[j][lo*n:(lo+k)*n], b)
			}
		}
	}
}

// checkNormal panics if what normal equations are made of is too short.
func checkNormal[T compute.Float](gram []float64, n, m int, f [][]float64, a [][]T, scratch bool) {
	if n < 1 || m < 0 || len(gram) < n*n {
		panic("kernel: normal equations: gram is smaller than n x n")
	}
	if !scratch {
		panic("kernel: normal equations: scratch is too short")
	}
	for _, aj := range a {
		if aj != nil && len(aj) < m*n {
			panic("kernel: normal equations: a matrix is smaller than m x n")
		}
	}
	for _, fj := range f {
		if fj != nil && len(fj) < m {
			panic("kernel: normal equations: a coefficient is shorter than the rows")
		}
	}
}

// CombineRows sets dst (m, n) to J = Σ_j diag(f[j]) a[j], the Jacobian that
// AccumulateNormal forms block by block. Sizes are those of AccumulateNormal.
// Panics if a slice is too short.
func CombineRows(dst []float64, n, m int, f, a [][]float64) {
	if n < 1 || m < 0 || len(dst) < m*n || len(f) != len(a) {
		panic("kernel: CombineRows: dst is smaller than m x n, or f and a differ in length")
	}
	for j, fj := range f {
		if fj != nil && (len(fj) < m || len(a[j]) < m*n) {
			panic("kernel: CombineRows: a coefficient or a matrix is shorter than the rows")
		}
	}
	if m > 0 {
		combineRows(dst[:m*n], n, 0, f, a)
	}
}

// combineRows sets dst (k, n), k = len(dst)/n, to Σ_j f[j][lo+r]·a[j][lo+r, :]
// and reports whether any f[j] was not nil; dst is zero if none was.
func combineRows(dst []float64, n, lo int, f, a [][]float64) bool {
	first := true
	k := len(dst) / n
	if width > 0 && len(f) == 3 && f[0] != nil && f[1] != nil && f[2] != nil &&
		scaleThreeRows64(dst, n, f[0][lo:lo+k], f[1][lo:lo+k], f[2][lo:lo+k], a[0][lo*n:(lo+k)*n], a[1][lo*n:(lo+k)*n], a[2][lo*n:(lo+k)*n]) {
		return true
	}
	for j, fj := range f {
		if fj == nil {
			continue
		}
		scaleRows(dst, n, fj[lo:lo+k], a[j][lo*n:(lo+k)*n], first)
		first = false
	}
	if first {
		clear(dst)
	}
	return !first
}

// AddScaledRows adds c[r]·a[r, :] to dst[r, :], rows of n columns. Panics if dst or
// a is shorter than the rows of c.
func AddScaledRows(dst []float64, n int, c, a []float64) {
	if n < 1 || len(dst) < len(c)*n || len(a) < len(c)*n {
		panic("kernel: AddScaledRows: a slice is too short")
	}
	scaleRows(dst, n, c, a, false)
}

// ScaleRows sets dst[r, :] = c[r]·a[r, :], rows of n columns. Panics if dst or a is too short.
func ScaleRows(dst []float64, n int, c, a []float64) {
	if n < 1 || len(dst) < len(c)*n || len(a) < len(c)*n {
		panic("kernel: ScaleRows: a slice is too short")
	}
	scaleRows(dst, n, c, a, true)
}

// scaleRows sets (first) or adds dst[r, :] = c[r]·a[r, :].
func scaleRows(dst []float64, n int, c, a []float64, first bool) {
	i0 := 0
	if width > 0 {
		i0 = scaleRows64(dst, n, c, a, first)
	}
	if i0 < n {
		scaleRowsGo(dst, n, i0, c, a, first)
	}
}

// scaleRowsGo does columns i0..n-1.
func scaleRowsGo(dst []float64, n, i0 int, c, a []float64, first bool) {
	for r, cr := range c {
		d, x := dst[r*n+i0:(r+1)*n], a[r*n+i0:(r+1)*n]
		if first {
			for i, v := range x {
				d[i] = cr * v
			}
			continue
		}
		for i, v := range x {
			d[i] += cr * v
		}
	}
}

// gemmLower adds the lower triangle of aᵀb to gram; a and b are (m, n).
func gemmLower(gram []float64, n, m int, a, b []float64) {
	i0 := 0
	if width > 0 {
		i0 = gemm64(gram, n, m, a, b, false)
	}
	if i0 < n {
		gemmLowerGo(gram, n, i0, m, a, b)
	}
}

// gemmLowerGo does rows i0..n-1 of gram.
func gemmLowerGo(gram []float64, n, i0, m int, a, b []float64) {
	for r := range m {
		x, y := a[r*n:(r+1)*n], b[r*n:(r+1)*n]
		for i := i0; i < n; i++ {
			v := x[i]
			g := gram[i*n : i*n+i+1]
			for k, w := range y[:i+1] {
				g[k] += v * w
			}
		}
	}
}

// MatVecRows sets z[r] = a[r, :]·w for m rows of n columns.
func MatVecRows(z []float64, n, m int, a, w []float64) {
	if n < 1 || len(z) < m || len(a) < m*n || len(w) < n {
		panic("kernel: MatVecRows: a slice is too short")
	}
	i0 := 0
	if width > 0 {
		i0 = matVecRows64(z, n, m, a, w)
	}
	if i0 == n {
		return
	}
	for r := range m {
		rest := dotGo(a[r*n+i0:(r+1)*n], w[i0:n])
		if i0 > 0 {
			rest += z[r]
		}
		z[r] = rest
	}
}

// AccumulateTransposed adds Σ_r s[r]·a[r, :] over m rows to g (n).
func AccumulateTransposed(g []float64, n, m int, a, s []float64) {
	if n < 1 || len(g) < n || len(a) < m*n || len(s) < m {
		panic("kernel: AccumulateTransposed: a slice is too short")
	}
	i0 := 0
	if width > 0 {
		i0 = accumulateTransposed64(g, n, m, a, s)
	}
	if i0 < n {
		accumulateTransposedGo(g, n, i0, m, a, s)
	}
}

// accumulateTransposedGo does columns i0..n-1.
func accumulateTransposedGo(g []float64, n, i0, m int, a, s []float64) {
	for r, v := range s[:m] {
		x := a[r*n : (r+1)*n]
		for i := i0; i < n; i++ {
			g[i] += v * x[i]
		}
	}
}

// Symmetrize copies the lower triangle of gram (n, n) to the upper one.
func Symmetrize(gram []float64, n int) {
	if len(gram) < n*n {
		panic("kernel: Symmetrize: gram is smaller than n x n")
	}
	for i := 1; i < n; i++ {
		for k := range i {
			gram[k*n+i] = gram[i*n+k]
		}
	}
}

// AddTranspose adds its transpose to g (n, n).
func AddTranspose(g []float64, n int) {
	if len(g) < n*n {
		panic("kernel: AddTranspose: g is smaller than n x n")
	}
	for i := range n {
		for k := range i + 1 {
			v := g[i*n+k] + g[k*n+i]
			g[i*n+k], g[k*n+i] = v, v
		}
	}
}

// Dot returns Σ x[i]·y[i]. It panics if y is shorter than x.
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	sum, i0 := 0.0, 0
	if width > 0 {
		sum, i0 = dot64(x, y)
	}
	return sum + dotGo(x[i0:], y[i0:])
}

// dotGo keeps four partial sums, added in a fixed order.
func dotGo(x, y []float64) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
		s2 += x[i+2] * y[i+2]
		s3 += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// SumSquares64 returns Σ x[i]².
func SumSquares64(x []float64) float64 { return Dot(x, x) }

// Axpy64 adds alpha·x to dst. It panics if dst is shorter than x.
func Axpy64(dst []float64, alpha float64, x []float64) {
	dst = dst[:len(x)]
	done := 0
	if width > 0 {
		done = axpy64(dst, alpha, x)
	}
	for i := done; i < len(x); i++ {
		dst[i] += alpha * x[i]
	}
}
