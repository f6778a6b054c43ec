//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// adam32 does the first elements of Adam, a multiple of 16, without fused
// operations, and returns their number.
func adam32(params, first, second, grad []float32, s AdamStep) int {
	n := len(params) &^ 15
	if n == 0 {
		return 0
	}
	p, m := unsafe.Pointer(&params[0]), unsafe.Pointer(&first[0])
	v, g := unsafe.Pointer(&second[0]), unsafe.Pointer(&grad[0])
	b1, b2 := float32(s.Beta1), float32(s.Beta2)
	if level >= AVX512 {
		beta1, rest1 := archsimd.BroadcastFloat32x16(b1), archsimd.BroadcastFloat32x16(1-b1)
		beta2, rest2 := archsimd.BroadcastFloat32x16(b2), archsimd.BroadcastFloat32x16(1-b2)
		size, root := archsimd.BroadcastFloat32x16(float32(s.Size)), archsimd.BroadcastFloat32x16(float32(s.Root))
		epsilon, scale := archsimd.BroadcastFloat32x16(float32(s.Epsilon)), archsimd.BroadcastFloat32x16(float32(s.Scale))
		for i := 0; i < n; i += 16 {
			x := scale.Mul(load16f(g))
			y := beta1.Mul(load16f(m)).Add(rest1.Mul(x))
			z := beta2.Mul(load16f(v)).Add(rest2.Mul(x.Mul(x)))
			y.Store((*[16]float32)(m))
			z.Store((*[16]float32)(v))
			step := size.Mul(y).Div(root.Mul(z.Sqrt()).Add(epsilon))
			load16f(p).Sub(step).Store((*[16]float32)(p))
			p, m, v, g = unsafe.Add(p, 64), unsafe.Add(m, 64), unsafe.Add(v, 64), unsafe.Add(g, 64)
		}
	} else {
		beta1, rest1 := archsimd.BroadcastFloat32x8(b1), archsimd.BroadcastFloat32x8(1-b1)
		beta2, rest2 := archsimd.BroadcastFloat32x8(b2), archsimd.BroadcastFloat32x8(1-b2)
		size, root := archsimd.BroadcastFloat32x8(float32(s.Size)), archsimd.BroadcastFloat32x8(float32(s.Root))
		epsilon, scale := archsimd.BroadcastFloat32x8(float32(s.Epsilon)), archsimd.BroadcastFloat32x8(float32(s.Scale))
		for i := 0; i < n; i += 8 {
			x := scale.Mul(load8f(g))
			y := beta1.Mul(load8f(m)).Add(rest1.Mul(x))
			z := beta2.Mul(load8f(v)).Add(rest2.Mul(x.Mul(x)))
			y.Store((*[8]float32)(m))
			z.Store((*[8]float32)(v))
			step := size.Mul(y).Div(root.Mul(z.Sqrt()).Add(epsilon))
			load8f(p).Sub(step).Store((*[8]float32)(p))
			p, m, v, g = unsafe.Add(p, 32), unsafe.Add(m, 32), unsafe.Add(v, 32), unsafe.Add(g, 32)
		}
	}
	archsimd.ClearAVXUpperBits()
	return n
}

// sumSquares32 adds to sums[j] the squares of x[j], x[j+16], ...; len(x) is a
// positive multiple of 16.
func sumSquares32(sums *[16]float64, x []float32) {
	p := unsafe.Pointer(&x[0])
	if level >= AVX512 {
		var a, b archsimd.Float64x8
		for i := 0; i < len(x); i += 16 {
			y, z := load8f(p).ConvertToFloat64(), load8f(unsafe.Add(p, 32)).ConvertToFloat64()
			a, b = y.MulAdd(y, a), z.MulAdd(z, b)
			p = unsafe.Add(p, 64)
		}
		a.Store((*[8]float64)(sums[:8]))
		b.Store((*[8]float64)(sums[8:]))
	} else {
		var a, b, c, d archsimd.Float64x4
		for i := 0; i < len(x); i += 16 {
			y, z := load4d(p), load4d(unsafe.Add(p, 16))
			a, b = y.MulAdd(y, a), z.MulAdd(z, b)
			y, z = load4d(unsafe.Add(p, 32)), load4d(unsafe.Add(p, 48))
			c, d = y.MulAdd(y, c), z.MulAdd(z, d)
			p = unsafe.Add(p, 64)
		}
		a.Store((*[4]float64)(sums[:4]))
		b.Store((*[4]float64)(sums[4:8]))
		c.Store((*[4]float64)(sums[8:12]))
		d.Store((*[4]float64)(sums[12:]))
	}
	archsimd.ClearAVXUpperBits()
}

// load4d reads four float32 numbers as float64.
func load4d(p unsafe.Pointer) archsimd.Float64x4 {
	return archsimd.LoadFloat32x4((*[4]float32)(p)).ConvertToFloat64()
}
