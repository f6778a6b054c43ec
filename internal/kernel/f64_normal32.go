package kernel

// The least-squares kernels for rows kept as float32: every sum and product is
// float64, of the numbers as they are. Where no kernel reads float32 rows,
// blocks of them are widened first.

// NormalScratch32 returns the length of scratch that the kernels of float32 rows
// need for n columns.
func NormalScratch32(n int) int { return 2 * NormalScratch(n) }

// MatVecRows32 is MatVecRows for float32 rows. scratch holds NormalScratch32(n)
// values. Panics if a slice is too short.
func MatVecRows32(z []float64, n, m int, a []float32, w, scratch []float64) {
	if n < 1 || len(z) < m || len(a) < m*n || len(w) < n || len(scratch) < NormalScratch32(n) {
		panic("kernel: MatVecRows32: a slice is too short")
	}
	if matVecRowsWide(z, n, m, a, w) {
		return
	}
	rows := blockRows(n)
	for lo := 0; lo < m; lo += rows {
		k := min(rows, m-lo)
		Widen(scratch[:k*n], a[lo*n:(lo+k)*n])
		MatVecRows(z[lo:], n, k, scratch, w)
	}
}

// AccumulateNormal32 is AccumulateNormal for float32 rows and a scratch of
// NormalScratch32(n) values. A matrix whose factor is nil may be nil.
func AccumulateNormal32(gram, grad []float64, n, m int, f [][]float64, a [][]float32, r, scratch []float64) {
	checkNormal(gram, n, m, f, a, len(scratch) >= NormalScratch32(n))
	if len(grad) < n || len(r) < m || len(f) != len(a) {
		panic("kernel: AccumulateNormal32: grad, r or f has the wrong length")
	}
	rows := blockRows(n)
	for lo := 0; lo < m; lo += rows {
		k := min(rows, m-lo)
		j := scratch[:k*n]
		combineRows32(j, scratch[rows*n:], n, lo, f, a)
		gemmLower(gram, n, k, j, j)
		AccumulateTransposed(grad, n, k, j, r[lo:lo+k])
	}
}

// AccumulateCurvature32 adds G = Σ_j a[j]ᵀ (Σ_k<=j diag(s[j*J+k]) a[k]), J = len(a),
// to g (n, n). With s_jk = r F_jk for k < j and ½ r F_jj, G + Gᵀ is what the
// curvature of ½‖r‖² adds to its Hessian: for products of two terms half as many
// matrix products as [AccumulateHessian] takes. A nil entry of s stands for zeros, and
// those with k > j are not read. scratch holds NormalScratch32(n) values. Panics if a
// slice is too short.
func AccumulateCurvature32(g []float64, n, m int, s [][]float64, a [][]float32, scratch []float64) {
	checkNormal(g, n, m, s, a, len(scratch) >= NormalScratch32(n))
	if len(s) != len(a)*len(a) {
		panic("kernel: AccumulateCurvature32: s is not len(a) x len(a)")
	}
	rows := blockRows(n)
	for lo := 0; lo < m; lo += rows {
		k := min(rows, m-lo)
		b, wide := scratch[:k*n], scratch[rows*n:]
		for j := range a {
			if combineRows32(b, wide, n, lo, s[j*len(a):j*len(a)+j+1], a[:j+1]) {
				Widen(wide[:k*n], a[j][lo*n:(lo+k)*n])
				gemmAll(g, n, k, wide, b)
			}
		}
	}
}

// gemmAll adds aᵀb to g; a and b are (m, n).
func gemmAll(g []float64, n, m int, a, b []float64) {
	done := 0
	if width > 0 {
		done = gemm64(g, n, m, a, b, true)
	}
	for r := 0; r < m && done < n; r++ {
		x, y := a[r*n:(r+1)*n], b[r*n:(r+1)*n]
		for i, v := range x {
			from := 0
			if i < done {
				from = done
			}
			out := g[i*n : (i+1)*n]
			for k := from; k < n; k++ {
				out[k] += v * y[k]
			}
		}
	}
}

// combineRows32 is combineRows for float32 rows; wide holds as many values as dst.
func combineRows32(dst, wide []float64, n, lo int, f [][]float64, a [][]float32) bool {
	k, any := len(dst)/n, false
	for _, fj := range f {
		any = any || fj != nil
	}
	if !any {
		clear(dst)
		return false
	}
	if combineRowsWide(dst, n, lo, f, a) {
		return true
	}
	first := true
	for j, fj := range f {
		if fj != nil {
			Widen(wide[:k*n], a[j][lo*n:(lo+k)*n])
			scaleRows(dst, n, fj[lo:lo+k], wide, first)
			first = false
		}
	}
	return true
}
