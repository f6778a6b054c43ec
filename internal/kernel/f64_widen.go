package kernel

// Widen sets dst = x, element by element: exact, and NaN stays NaN. It panics
// if x is shorter than dst.
func Widen(dst []float64, x []float32) {
	x = x[:len(dst)]
	for i := widenWide(dst, x); i < len(dst); i++ {
		dst[i] = float64(x[i])
	}
}

// Narrow sets dst = x, element by element, rounded. It panics if x is shorter than dst.
func Narrow(dst []float32, x []float64) {
	x = x[:len(dst)]
	for i := narrowWide(dst, x); i < len(dst); i++ {
		dst[i] = float32(x[i])
	}
}
