//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

// Each of these does the columns that fill whole vectors and returns how many.

func vectorScaleRows(dst []float64, n int, c, a []float64, first bool) int {
	switch {
	case level >= AVX512 && n >= 8:
		scaleRows8(dst, n, c, a, first)
		return n &^ 7
	case level >= AVX2 && n >= 4:
		scaleRows4(dst, n, c, a, first)
		return n &^ 3
	}
	return 0
}

// vectorScaleRows3 sets dst[r, :] = Σ_j cj[r]·aj[r, :] for n a multiple of 8 and
// reports whether it did.
func vectorScaleRows3(dst []float64, n int, c0, c1, c2, a0, a1, a2 []float64) bool {
	switch {
	case level >= AVX512:
		scaleThreeRows8(dst, n, c0, c1, c2, a0, a1, a2)
		return true
	case level >= AVX2:
		scaleThreeRows4(dst, n, c0, c1, c2, a0, a1, a2)
		return true
	}
	return false
}

func vectorGemmLower(gram []float64, n, m int, a, b []float64) int {
	if m == 0 {
		return n
	}
	switch {
	case level >= AVX512 && n >= 8:
		gemmTiles8(gram, n, m, a, b, false)
		return n &^ 7
	case level >= AVX2 && n >= 4:
		gemmTiles4(gram, n, m, a, b, false)
		return n &^ 3
	}
	return 0
}

// vectorGemmAll adds all of aᵀb to gram and reports whether it did.
func vectorGemmAll(gram []float64, n, m int, a, b []float64) bool {
	switch {
	case m == 0:
	case level >= AVX512 && n%8 == 0:
		gemmTiles8(gram, n, m, a, b, true)
	case level >= AVX2 && n%4 == 0:
		gemmTiles4(gram, n, m, a, b, true)
	default:
		return false
	}
	return true
}

func vectorMatVecRows(z []float64, n, m int, a, w []float64) int {
	if m == 0 {
		return n
	}
	switch {
	case level >= AVX512 && n == 64:
		matVecEight8(z, m, a, w)
		return n
	case level >= AVX512 && n >= 8:
		matVecRows8(z, n, m, a, w)
		return n &^ 7
	case level >= AVX2 && n == 32:
		matVecEight4(z, m, a, w)
		return n
	case level >= AVX2 && n >= 4:
		matVecRows4(z, n, m, a, w)
		return n &^ 3
	}
	return 0
}

func vectorAccumulateTransposed(g []float64, n, m int, a, s []float64) int {
	switch {
	case level >= AVX512 && n >= 8:
		accumulateTransposed8(g, n, m, a, s)
		return n &^ 7
	case level >= AVX2 && n >= 4:
		accumulateTransposed4(g, n, m, a, s)
		return n &^ 3
	}
	return 0
}

func vectorGatherAxpy(dst []float64, n int, basis []float64, points []int32, offset int, coef float64, first bool) int {
	switch {
	case level >= AVX512 && n >= 8:
		gatherRows8(dst, n, basis, points, offset, coef, first)
		return n &^ 7
	case level >= AVX2 && n >= 4:
		gatherRows4(dst, n, basis, points, offset, coef, first)
		return n &^ 3
	}
	return 0
}

func vectorDot(x, y []float64) (sum float64, done int) {
	switch {
	case level >= AVX512 && len(x) >= 32:
		return dot8(x, y), len(x) &^ 31
	case level >= AVX2 && len(x) >= 16:
		return dot4(x, y), len(x) &^ 15
	}
	return 0, 0
}

func vectorAxpy(dst []float64, alpha float64, x []float64) int {
	switch {
	case level >= AVX512 && len(x) >= 8:
		axpy8(dst, alpha, x)
		return len(x) &^ 7
	case level >= AVX2 && len(x) >= 4:
		axpy4(dst, alpha, x)
		return len(x) &^ 3
	}
	return 0
}
