//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import "simd/archsimd"

// Element-wise arithmetic on 256-bit vectors, at both SIMD levels: it waits for
// the cache, and for the divider, which 512 bits do not make faster. Each
// function does the whole vectors and returns how many elements that is.

func vectorAdd(dst, x, y []float64) int {
	if level < AVX2 {
		return 0
	}
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		v := load4(y, i)
		store4(dst, i, u.Add(v))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorSub(dst, x, y []float64) int {
	if level < AVX2 {
		return 0
	}
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		v := load4(y, i)
		store4(dst, i, u.Sub(v))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorMul(dst, x, y []float64) int {
	if level < AVX2 {
		return 0
	}
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		v := load4(y, i)
		store4(dst, i, u.Mul(v))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorDiv(dst, x, y []float64) int {
	if level < AVX2 {
		return 0
	}
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		v := load4(y, i)
		store4(dst, i, u.Div(v))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorMin(dst, x, y []float64) int {
	if level < AVX2 {
		return 0
	}
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		v := load4(y, i)
		// Which operand Min returns for NaN depends on how it is compiled.
		ordered := u.Equal(u).And(v.Equal(v))
		store4(dst, i, u.Min(v).Merge(u.Add(v), ordered))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorMax(dst, x, y []float64) int {
	if level < AVX2 {
		return 0
	}
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		v := load4(y, i)
		// Which operand Max returns for NaN depends on how it is compiled.
		ordered := u.Equal(u).And(v.Equal(v))
		store4(dst, i, u.Max(v).Merge(u.Add(v), ordered))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorLess(dst, x, y []float64) int {
	if level < AVX2 {
		return 0
	}
	one := constant4(cOne)
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		v := load4(y, i)
		store4(dst, i, one.Masked(u.Less(v)))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorLessEqual(dst, x, y []float64) int {
	if level < AVX2 {
		return 0
	}
	one := constant4(cOne)
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		v := load4(y, i)
		store4(dst, i, one.Masked(u.LessEqual(v)))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorEqual(dst, x, y []float64) int {
	if level < AVX2 {
		return 0
	}
	one := constant4(cOne)
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		v := load4(y, i)
		store4(dst, i, one.Masked(u.Equal(v)))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorNotEqual(dst, x, y []float64) int {
	if level < AVX2 {
		return 0
	}
	one := constant4(cOne)
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		v := load4(y, i)
		store4(dst, i, one.Masked(u.NotEqual(v)))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorAbs(dst, x []float64) int {
	if level < AVX2 {
		return 0
	}
	sign := constant4(cSign).AsInt64x4()
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		store4(dst, i, sign.Not().And(u.AsInt64x4()).AsFloat64x4())
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorSqrt(dst, x []float64) int {
	if level < AVX2 {
		return 0
	}
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		store4(dst, i, u.Sqrt())
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorAddScalar(dst, x []float64, k float64) int {
	if level < AVX2 {
		return 0
	}
	v := archsimd.BroadcastFloat64x4(k)
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		store4(dst, i, u.Add(v))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorDivScalar(dst, x []float64, k float64) int {
	if level < AVX2 {
		return 0
	}
	v := archsimd.BroadcastFloat64x4(k)
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		store4(dst, i, u.Div(v))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorSubFromScalar(dst []float64, k float64, x []float64) int {
	if level < AVX2 {
		return 0
	}
	v := archsimd.BroadcastFloat64x4(k)
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		store4(dst, i, v.Sub(u))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorMulScalar(dst []float64, k float64, x []float64) int {
	if level < AVX2 {
		return 0
	}
	v := archsimd.BroadcastFloat64x4(k)
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		store4(dst, i, v.Mul(u))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorDivIntoScalar(dst []float64, k float64, x []float64) int {
	if level < AVX2 {
		return 0
	}
	v := archsimd.BroadcastFloat64x4(k)
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		u := load4(x, i)
		store4(dst, i, v.Div(u))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func vectorSelect(dst, c, x, y []float64) int {
	if level < AVX2 {
		return 0
	}
	var zero archsimd.Float64x4
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		t := load4(c, i)
		u := load4(x, i)
		v := load4(y, i)
		store4(dst, i, u.Merge(v, t.NotEqual(zero)))
	}
	archsimd.ClearAVXUpperBits()
	return n
}
