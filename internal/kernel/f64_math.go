package kernel

import "math"

// Element-wise functions for compiled expressions; dst and x as in Add64.
// Special values (NaN, infinities, zeros, negative arguments) are those of
// package math. The reference calls package math; vectors, of all widths with the
// same bits, are within these bounds of the true value, in units of the last place
// (tests compare with math/big):
//
//	exp, log, sin, cos, pow   1.1, for all finite arguments
//	tanh                      2.5
//
// sin and cos of |x| >= 2^30 are those of package math.

// function is one that math64 does by vectors.
type function int

const (
	fExp function = iota
	fLog
	fTanh
	fSin
	fCos
)

// elementwise sets dst = f(x), which is plain by package math.
func elementwise(f function, plain func(float64) float64, dst, x []float64) {
	x = x[:len(dst)]
	if width == 0 {
		for i := range dst {
			dst[i] = plain(x[i])
		}
		return
	}
	if math64(f, dst, x) {
		for i, v := range dst {
			if !(math.Abs(v) < trigMax) {
				dst[i] = plain(v)
			}
		}
	}
}

// Exp64 sets dst = e^x.
func Exp64(dst, x []float64) { elementwise(fExp, math.Exp, dst, x) }

// Log64 sets dst = log x.
func Log64(dst, x []float64) { elementwise(fLog, log, dst, x) }

// Sin64 sets dst = sin x.
func Sin64(dst, x []float64) { elementwise(fSin, math.Sin, dst, x) }

// Cos64 sets dst = cos x.
func Cos64(dst, x []float64) { elementwise(fCos, math.Cos, dst, x) }

// Tanh64 sets dst = tanh x.
func Tanh64(dst, x []float64) { elementwise(fTanh, math.Tanh, dst, x) }

// log is math.Log, which on amd64 is wrong for subnormal arguments (Go 1.26, 1.27).
func log(x float64) float64 {
	if 0 < x && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// Pow64 sets dst = x^y.
func Pow64(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	if width > 0 {
		var base, power [64]float64 // dst may be x or y
		for len(dst) > 0 {
			n := min(len(dst), len(base))
			copy(base[:], x[:n])
			copy(power[:], y[:n])
			pow64(dst[:n], base[:n], power[:n])
			for i, v := range base[:n] {
				if k := power[i]; !(v > 0 && v <= math.MaxFloat64 && math.Abs(k) <= math.MaxFloat64) {
					dst[i] = math.Pow(v, k)
				}
			}
			dst, x, y = dst[n:], x[n:], y[n:]
		}
		return
	}
	for i := range dst {
		dst[i] = pow(x[i], y[i])
	}
}

// PowScalar64 sets dst = x^k.
func PowScalar64(dst, x []float64, k float64) {
	x = x[:len(dst)]
	if width > 0 && k != 0 && !math.IsNaN(k) && !math.IsInf(k, 0) {
		special := powSpecial{math.Pow(0, k), math.Pow(math.Inf(1), k), math.NaN()}
		if k == math.Trunc(k) {
			special.negative = math.Copysign(0, math.Pow(-1, k))
		}
		powScalar64(dst, x, k, special)
		return
	}
	for i := range dst {
		dst[i] = pow(x[i], k)
	}
}

// powSpecial holds what powers with a fixed exponent are outside the positive
// numbers: at +0, at +Inf, and negative as powScalar64 explains.
type powSpecial struct{ zero, inf, negative float64 }

// pow is math.Pow with log for the arguments that log mends.
func pow(x, y float64) float64 {
	if 0 < x && x < 0x1p-1022 {
		return math.Pow(x*0x1p54, y) * math.Exp2(-54*y)
	}
	return math.Pow(x, y)
}
