package kernel

import (
	"math"
	"unsafe"

	"pihc/compute"
)

// The tanh form of GELU (Hendrycks and Gimpel, arXiv:1606.08415, equation 2):
//
//	gelu(x) = x/2 (1 + tanh(c (x + 0.044715 x^3))) = x s,  s = 1/(1 + exp(-u))
//	u = 2c (x + 0.044715 x^3),  c = sqrt(2/pi)
//	gelu'(x) = s + x s (1-s) u',  u' = 2c (1 + 3*0.044715 x^2)
const (
	geluLinear = 1.5957691216057307117597842397375 // 2 sqrt(2/pi)
	geluCubic  = geluLinear * 0.044715
)

// In base 2, for vectors: s = 1/(1 + e), e = 2^t, t = x (geluLinear2 + geluCubic2 x^2),
// with x clamped to 10 in magnitude there, where |t| = 126 and s is 1 or below 2e-38, so
// that e stays finite and normal. 2^f for |f| <= 1/2 is the polynomial through
// the six Chebyshev nodes, within 1.1e-7 relative; gelu and gelu' are within 4e-7
// of the larger of 1 and their size.
const (
	geluLinear2 = -2.302208198144325  // -geluLinear log2(e)
	geluCubic2  = -0.1029432395800235 // -geluCubic log2(e)
	exp2c0      = 1.0000000754548972
	exp2c1      = 0.6931471880262287
	exp2c2      = 0.24022107485308244
	exp2c3      = 0.05550357114219222
	exp2c4      = 0.00967603191832527
	exp2c5      = 0.0013390863364611582
	geluBound   = 10
)

// Gelu sets dst = gelu(x). dst may be x. It panics if x is shorter than dst.
func Gelu[T compute.Float](dst, x []T) {
	x = x[:len(dst)]
	i := vectorGelu(dst, nil, x)
	for ; i < len(dst); i++ {
		dst[i] = x[i] * sigmoid(x[i])
	}
}

// GeluBackward sets v = gelu(x) and g *= gelu'(x), both from one exponential. v
// may be x. It panics if v or x is shorter than g.
func GeluBackward[T compute.Float](v, g, x []T) {
	x, v = x[:len(g)], v[:len(g)]
	i := vectorGelu(v, g, x)
	for ; i < len(g); i++ {
		y := clampGelu(float64(x[i]))
		e := math.Exp(-y * (geluLinear + geluCubic*y*y))
		s := 1 / (1 + e)
		value := float64(x[i]) * s
		v[i] = T(value)
		// 1-s as e·s: no cancellation where s is near 1.
		g[i] *= T(s + value*(e*s)*(geluLinear+3*geluCubic*y*y))
	}
}

// vectorGelu does the first elements of GeluBackward, or of Gelu where g is nil, and
// returns their number.
func vectorGelu[T compute.Float](v, g, x []T) int {
	switch {
	case width == 0 || len(x) == 0:
		return 0
	case unsafe.Sizeof(x[0]) == 4:
		return gelu32(as32(v), as32(g), as32(x))
	}
	return gelu64(as64(v), as64(g), as64(x))
}

// sigmoid is s of the formulas above.
func sigmoid[T compute.Float](x T) T {
	y := clampGelu(float64(x))
	return T(1 / (1 + math.Exp(-y*(geluLinear+geluCubic*y*y))))
}

// clampGelu bounds the argument of s where s is 0 or 1 to every digit, so that
// exp stays finite. NaN stays NaN.
func clampGelu(x float64) float64 { return max(-18, min(18, x)) }
