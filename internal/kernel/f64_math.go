package kernel

import "math"

// Element-wise functions for compiled expressions; dst and x as in Add64. The
// portable level calls package math. Special values (NaN, infinities, zeros,
// negative arguments) are those of package math at every level.

// Exp64 sets dst = e^x.
func Exp64(dst, x []float64) {
	x = x[:len(dst)]
	for i := vectorExp(dst, x); i < len(dst); i++ {
		dst[i] = math.Exp(x[i])
	}
}

// Log64 sets dst = log x.
func Log64(dst, x []float64) {
	x = x[:len(dst)]
	for i := vectorLog(dst, x); i < len(dst); i++ {
		dst[i] = math.Log(x[i])
	}
}

// Pow64 sets dst = x^y.
func Pow64(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := vectorPow(dst, x, y); i < len(dst); i++ {
		dst[i] = math.Pow(x[i], y[i])
	}
}

// PowScalar64 sets dst = x^k.
func PowScalar64(dst, x []float64, k float64) {
	x = x[:len(dst)]
	for i := vectorPowScalar(dst, x, k); i < len(dst); i++ {
		dst[i] = math.Pow(x[i], k)
	}
}

// Sin64 sets dst = sin x.
func Sin64(dst, x []float64) {
	x = x[:len(dst)]
	for i := vectorSin(dst, x); i < len(dst); i++ {
		dst[i] = math.Sin(x[i])
	}
}

// Cos64 sets dst = cos x.
func Cos64(dst, x []float64) {
	x = x[:len(dst)]
	for i := vectorCos(dst, x); i < len(dst); i++ {
		dst[i] = math.Cos(x[i])
	}
}

// Tanh64 sets dst = tanh x.
func Tanh64(dst, x []float64) {
	x = x[:len(dst)]
	for i := vectorTanh(dst, x); i < len(dst); i++ {
		dst[i] = math.Tanh(x[i])
	}
}
