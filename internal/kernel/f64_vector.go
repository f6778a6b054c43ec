package kernel

import "math"

// Element-wise float64 arithmetic for compiled expressions. dst and the
// operands have the length of dst at least; dst may be an operand itself, but
// must not overlap one otherwise. Every element is computed alone, so results
// do not depend on where a slice starts or how work is cut; arithmetic is
// correctly rounded with vectors and without, and NaN operands give NaN.

// BlockSize is how many points a compiled expression takes through all its operations at
// once: 2 KiB a value, so that some twenty stay in a first-level cache.
const BlockSize = 256

// arithmetic is an operation that arith64 does by vectors.
type arithmetic int

const (
	opAdd arithmetic = iota
	opSub
	opMul
	opDiv
	opMin
	opMax
	opAbs
	opSqrt
	opLess
	opLessEqual
	opEqual
	opNotEqual
)

// arith does the first elements by vectors and returns their number. A nil operand
// stands for k in every element.
func arith(op arithmetic, dst, x, y []float64, k float64) int {
	if width == 0 {
		return 0
	}
	return arith64(op, dst, x, y, k)
}

// Add64 sets dst = x + y.
func Add64(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := arith(opAdd, dst, x, y, 0); i < len(dst); i++ {
		dst[i] = x[i] + y[i]
	}
}

// Sub64 sets dst = x - y.
func Sub64(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := arith(opSub, dst, x, y, 0); i < len(dst); i++ {
		dst[i] = x[i] - y[i]
	}
}

// Mul64 sets dst = x·y.
func Mul64(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := arith(opMul, dst, x, y, 0); i < len(dst); i++ {
		dst[i] = x[i] * y[i]
	}
}

// Div64 sets dst = x/y.
func Div64(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := arith(opDiv, dst, x, y, 0); i < len(dst); i++ {
		dst[i] = x[i] / y[i]
	}
}

// Min64 sets dst to the smaller of x and y; either of two zeros.
func Min64(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := arith(opMin, dst, x, y, 0); i < len(dst); i++ {
		dst[i] = min(x[i], y[i])
	}
}

// Max64 sets dst to the larger of x and y; either of two zeros.
func Max64(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := arith(opMax, dst, x, y, 0); i < len(dst); i++ {
		dst[i] = max(x[i], y[i])
	}
}

// Abs64 sets dst = |x|.
func Abs64(dst, x []float64) {
	x = x[:len(dst)]
	for i := arith(opAbs, dst, x, nil, 0); i < len(dst); i++ {
		dst[i] = math.Abs(x[i])
	}
}

// Sqrt64 sets dst = √x.
func Sqrt64(dst, x []float64) {
	x = x[:len(dst)]
	for i := arith(opSqrt, dst, x, nil, 0); i < len(dst); i++ {
		dst[i] = math.Sqrt(x[i])
	}
}

// AddScalar64 sets dst = x + k.
func AddScalar64(dst, x []float64, k float64) {
	x = x[:len(dst)]
	for i := arith(opAdd, dst, x, nil, k); i < len(dst); i++ {
		dst[i] = x[i] + k
	}
}

// SubFromScalar64 sets dst = k - x.
func SubFromScalar64(dst []float64, k float64, x []float64) {
	x = x[:len(dst)]
	for i := arith(opSub, dst, nil, x, k); i < len(dst); i++ {
		dst[i] = k - x[i]
	}
}

// MulScalar64 sets dst = k·x.
func MulScalar64(dst []float64, k float64, x []float64) {
	x = x[:len(dst)]
	for i := arith(opMul, dst, nil, x, k); i < len(dst); i++ {
		dst[i] = k * x[i]
	}
}

// DivScalar64 sets dst = x/k.
func DivScalar64(dst, x []float64, k float64) {
	x = x[:len(dst)]
	for i := arith(opDiv, dst, x, nil, k); i < len(dst); i++ {
		dst[i] = x[i] / k
	}
}

// DivIntoScalar64 sets dst = k/x.
func DivIntoScalar64(dst []float64, k float64, x []float64) {
	x = x[:len(dst)]
	for i := arith(opDiv, dst, nil, x, k); i < len(dst); i++ {
		dst[i] = k / x[i]
	}
}

// Less64 sets dst to 1 where x < y, else 0.
func Less64(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := arith(opLess, dst, x, y, 0); i < len(dst); i++ {
		dst[i] = truth(x[i] < y[i])
	}
}

// LessEqual64 sets dst to 1 where x <= y, else 0.
func LessEqual64(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := arith(opLessEqual, dst, x, y, 0); i < len(dst); i++ {
		dst[i] = truth(x[i] <= y[i])
	}
}

// Equal64 sets dst to 1 where x == y, else 0.
func Equal64(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := arith(opEqual, dst, x, y, 0); i < len(dst); i++ {
		dst[i] = truth(x[i] == y[i])
	}
}

// NotEqual64 sets dst to 1 where x != y, else 0; NaN differs from everything.
func NotEqual64(dst, x, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := arith(opNotEqual, dst, x, y, 0); i < len(dst); i++ {
		dst[i] = truth(x[i] != y[i])
	}
}

// Select64 sets dst to x where c is not 0 (NaN is not), to y where it is. The
// value not selected is never read into the result.
func Select64(dst, c, x, y []float64) {
	c, x, y = c[:len(dst)], x[:len(dst)], y[:len(dst)]
	done := 0
	if width > 0 {
		done = select64(dst, c, x, y)
	}
	for i := done; i < len(dst); i++ {
		if c[i] != 0 {
			dst[i] = x[i]
		} else {
			dst[i] = y[i]
		}
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
