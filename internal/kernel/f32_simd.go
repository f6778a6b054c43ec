//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Gelu in base 2: s = 1/(1 + e), e = 2^t, t = x (geluLinear2 + geluCubic2 x^2), with
// x clamped to 10 in magnitude there, where |t| = 126 and s is 1 or below 2e-38, so
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

func gelu32(dst, x []float32) int {
	n := len(dst) &^ 15
	if n == 0 {
		return 0
	}
	d, p := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0])
	if level >= AVX512 {
		one, low, high := archsimd.BroadcastFloat32x16(1), archsimd.BroadcastFloat32x16(-geluBound), archsimd.BroadcastFloat32x16(geluBound)
		for i := 0; i < n; i += 16 {
			v := load16f(p)
			v.Div(expGelu512(v.Min(high).Max(low)).Add(one)).Store((*[16]float32)(d))
			d, p = unsafe.Add(d, 64), unsafe.Add(p, 64)
		}
	} else {
		one, low, high := archsimd.BroadcastFloat32x8(1), archsimd.BroadcastFloat32x8(-geluBound), archsimd.BroadcastFloat32x8(geluBound)
		for i := 0; i < n; i += 8 {
			v := load8f(p)
			v.Div(expGelu256(v.Min(high).Max(low)).Add(one)).Store((*[8]float32)(d))
			d, p = unsafe.Add(d, 32), unsafe.Add(p, 32)
		}
	}
	archsimd.ClearAVXUpperBits()
	return n
}

func geluBackward32(v, g, x []float32) int {
	n := len(g) &^ 15
	if n == 0 {
		return 0
	}
	d, q, p := unsafe.Pointer(&v[0]), unsafe.Pointer(&g[0]), unsafe.Pointer(&x[0])
	if level >= AVX512 {
		one, low, high := archsimd.BroadcastFloat32x16(1), archsimd.BroadcastFloat32x16(-geluBound), archsimd.BroadcastFloat32x16(geluBound)
		linear, cubic := archsimd.BroadcastFloat32x16(geluLinear), archsimd.BroadcastFloat32x16(3*geluCubic)
		for i := 0; i < n; i += 16 {
			y := load16f(p)
			z := y.Min(high).Max(low)
			e := expGelu512(z)
			s := one.Div(e.Add(one))
			value := y.Mul(s)
			value.Store((*[16]float32)(d))
			slope := e.Mul(s).Mul(value).MulAdd(cubic.MulAdd(z.Mul(z), linear), s)
			slope.Mul(load16f(q)).Store((*[16]float32)(q))
			d, q, p = unsafe.Add(d, 64), unsafe.Add(q, 64), unsafe.Add(p, 64)
		}
	} else {
		one, low, high := archsimd.BroadcastFloat32x8(1), archsimd.BroadcastFloat32x8(-geluBound), archsimd.BroadcastFloat32x8(geluBound)
		linear, cubic := archsimd.BroadcastFloat32x8(geluLinear), archsimd.BroadcastFloat32x8(3*geluCubic)
		for i := 0; i < n; i += 8 {
			y := load8f(p)
			z := y.Min(high).Max(low)
			e := expGelu256(z)
			s := one.Div(e.Add(one))
			value := y.Mul(s)
			value.Store((*[8]float32)(d))
			slope := e.Mul(s).Mul(value).MulAdd(cubic.MulAdd(z.Mul(z), linear), s)
			slope.Mul(load8f(q)).Store((*[8]float32)(q))
			d, q, p = unsafe.Add(d, 32), unsafe.Add(q, 32), unsafe.Add(p, 32)
		}
	}
	archsimd.ClearAVXUpperBits()
	return n
}

// expGelu512 returns e for |x| <= geluBound.
func expGelu512(x archsimd.Float32x16) archsimd.Float32x16 {
	t := x.Mul(x).MulAdd(archsimd.BroadcastFloat32x16(geluCubic2), archsimd.BroadcastFloat32x16(geluLinear2)).Mul(x)
	n := t.RoundToEvenScaled(0)
	f := t.Sub(n)
	p := archsimd.BroadcastFloat32x16(exp2c5).MulAdd(f, archsimd.BroadcastFloat32x16(exp2c4))
	p = p.MulAdd(f, archsimd.BroadcastFloat32x16(exp2c3))
	p = p.MulAdd(f, archsimd.BroadcastFloat32x16(exp2c2))
	p = p.MulAdd(f, archsimd.BroadcastFloat32x16(exp2c1))
	p = p.MulAdd(f, archsimd.BroadcastFloat32x16(exp2c0))
	return p.Scale(n)
}

// expGelu256 is expGelu512 on 256-bit vectors, with 2^n put together from its
// bits.
func expGelu256(x archsimd.Float32x8) archsimd.Float32x8 {
	t := x.Mul(x).MulAdd(archsimd.BroadcastFloat32x8(geluCubic2), archsimd.BroadcastFloat32x8(geluLinear2)).Mul(x)
	n := t.RoundToEven()
	f := t.Sub(n)
	p := archsimd.BroadcastFloat32x8(exp2c5).MulAdd(f, archsimd.BroadcastFloat32x8(exp2c4))
	p = p.MulAdd(f, archsimd.BroadcastFloat32x8(exp2c3))
	p = p.MulAdd(f, archsimd.BroadcastFloat32x8(exp2c2))
	p = p.MulAdd(f, archsimd.BroadcastFloat32x8(exp2c1))
	p = p.MulAdd(f, archsimd.BroadcastFloat32x8(exp2c0))
	return p.Mul(n.ConvertToInt32().Add(archsimd.BroadcastInt32x8(127)).ShiftAllLeft(23).AsFloat32x8())
}
