//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import "math"

// The functions of f64_math.go by vectors: whole vectors in place, the elements
// past them in a padded copy, so that all elements are computed in one way.
// Each returns how many it did: all or, without SIMD, none.

// tail holds the elements past the last multiple of 8.
type tail struct{ dst, x, y [8]float64 }

func (t *tail) load(x, y []float64) {
	copy(t.x[:], x)
	copy(t.y[:], y)
}

func vectorExp(dst, x []float64) int {
	if level < AVX2 {
		return 0
	}
	n := len(dst) &^ 7
	expWide(dst[:n], x)
	if n < len(dst) {
		var t tail
		t.load(x[n:], nil)
		expWide(t.dst[:], t.x[:])
		copy(dst[n:], t.dst[:])
	}
	return len(dst)
}

func expWide(dst, x []float64) {
	if level >= AVX512 {
		expLoop8(dst, x)
		return
	}
	expLoop4(dst, x)
}

func vectorLog(dst, x []float64) int {
	if level < AVX2 {
		return 0
	}
	n := len(dst) &^ 7
	logWide(dst[:n], x)
	if n < len(dst) {
		var t tail
		t.load(x[n:], nil)
		logWide(t.dst[:], t.x[:])
		copy(dst[n:], t.dst[:])
	}
	return len(dst)
}

func logWide(dst, x []float64) {
	if level >= AVX512 {
		logLoop8(dst, x)
		return
	}
	logLoop4(dst, x)
}

func vectorTanh(dst, x []float64) int {
	if level < AVX2 {
		return 0
	}
	n := len(dst) &^ 7
	tanhWide(dst[:n], x)
	if n < len(dst) {
		var t tail
		t.load(x[n:], nil)
		tanhWide(t.dst[:], t.x[:])
		copy(dst[n:], t.dst[:])
	}
	return len(dst)
}

func tanhWide(dst, x []float64) {
	if level >= AVX512 {
		tanhLoop8(dst, x)
		return
	}
	tanhLoop4(dst, x)
}

func vectorSin(dst, x []float64) int { return vectorSinCos(dst, x, false) }

func vectorCos(dst, x []float64) int { return vectorSinCos(dst, x, true) }

func vectorSinCos(dst, x []float64, cosine bool) int {
	if level < AVX2 {
		return 0
	}
	n := len(dst) &^ 7
	sinWide(dst[:n], x, cosine)
	if n < len(dst) {
		var t tail
		t.load(x[n:], nil)
		sinWide(t.dst[:], t.x[:], cosine)
		copy(dst[n:], t.dst[:])
	}
	return len(dst)
}

func sinWide(dst, x []float64, cosine bool) {
	if level >= AVX512 {
		sinLoop8(dst, x, cosine)
		return
	}
	sinLoop4(dst, x, cosine)
}

func vectorPow(dst, x, y []float64) int {
	if level < AVX2 {
		return 0
	}
	n := len(dst) &^ 7
	powWide(dst[:n], x, y)
	if n < len(dst) {
		var t tail
		t.load(x[n:], y[n:])
		powWide(t.dst[:], t.x[:], t.y[:])
		copy(dst[n:], t.dst[:])
	}
	return len(dst)
}

func powWide(dst, x, y []float64) {
	if level >= AVX512 {
		powLoop8(dst, x, y)
		return
	}
	powLoop4(dst, x, y)
}

// powSpecial holds what powers with a fixed exponent are outside the positive
// numbers: at +0, at +Inf, and negative as powScalarLoop8 explains.
type powSpecial struct{ zero, inf, negative float64 }

func vectorPowScalar(dst, x []float64, k float64) int {
	if level < AVX2 || k == 0 || math.IsNaN(k) || math.IsInf(k, 0) {
		return 0
	}
	special := powSpecial{math.Pow(0, k), math.Pow(math.Inf(1), k), math.NaN()}
	if k == math.Trunc(k) {
		special.negative = math.Copysign(0, math.Pow(-1, k))
	}
	n := len(dst) &^ 7
	powScalarWide(dst[:n], x, k, special)
	if n < len(dst) {
		var t tail
		t.load(x[n:], nil)
		powScalarWide(t.dst[:], t.x[:], k, special)
		copy(dst[n:], t.dst[:])
	}
	return len(dst)
}

func powScalarWide(dst, x []float64, k float64, special powSpecial) {
	if level >= AVX512 {
		powScalarLoop8(dst, x, k, special)
		return
	}
	powScalarLoop4(dst, x, k, special)
}
