//go:build !(goexperiment.simd && amd64 && go1.26 && !go1.27)

package kernel

// Without SIMD no column is done by vectors: each of these returns 0, and the
// portable loop of its caller does all.

func vectorScaleRows(dst []float64, n int, c, a []float64, first bool) int { return 0 }

func vectorScaleRows3(dst []float64, n int, c0, c1, c2, a0, a1, a2 []float64) bool { return false }

func vectorGemmLower(gram []float64, n, m int, a, b []float64) int { return 0 }

func vectorGemmAll(gram []float64, n, m int, a, b []float64) bool { return false }

func vectorMatVecRows(z []float64, n, m int, a, w []float64) int { return 0 }

func vectorAccumulateTransposed(g []float64, n, m int, a, s []float64) int { return 0 }

func vectorGatherAxpy(dst []float64, n int, basis []float64, points []int32, offset int, coef float64, first bool) int {
	return 0
}

func vectorDot(x, y []float64) (sum float64, done int) { return 0, 0 }

func vectorAxpy(dst []float64, alpha float64, x []float64) int { return 0 }
