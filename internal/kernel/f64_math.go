package kernel

import "math"

// Element-wise functions for compiled expressions; dst and x as in Add64.
// Special values (NaN, infinities, zeros, negative arguments) are those of
// package math at every level. The portable level calls package math; the SIMD
// levels, which agree with each other bit for bit, are within these bounds of
// the true value, in units of the last place (tests compare with math/big):
//
//	exp, log, sin, cos, pow   1.1, for all finite arguments
//	tanh                      2.5
//
// sin and cos of |x| >= 2^30 are those of package math.

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
		dst[i] = log(x[i])
	}
}

// log is math.Log, which on amd64 is wrong for subnormal arguments (Go 1.26).
func log(x float64) float64 {
	if 0 < x && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// Pow64 sets dst = x^y.
func Pow64(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := vectorPow(dst, x, y); i < len(dst); i++ {
		dst[i] = pow(x[i], y[i])
	}
}

// PowScalar64 sets dst = x^k.
func PowScalar64(dst, x []float64, k float64) {
	x = x[:len(dst)]
	for i := vectorPowScalar(dst, x, k); i < len(dst); i++ {
		dst[i] = pow(x[i], k)
	}
}

// pow is math.Pow with log for the arguments that log mends.
func pow(x, y float64) float64 {
	if 0 < x && x < 0x1p-1022 {
		return math.Pow(x*0x1p54, y) * math.Exp2(-54*y)
	}
	return math.Pow(x, y)
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
