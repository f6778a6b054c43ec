//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"unsafe"
)

// gelu32 does the first elements of Gelu and returns their number.
func gelu32(dst, x []float32) int {
	lanes := (simd.Float32s{}).Len()
	n := len(dst) / lanes * lanes
	if n == 0 {
		return 0
	}
	d, p := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0])
	one, low, high := simd.BroadcastFloat32s(1), simd.BroadcastFloat32s(-geluBound), simd.BroadcastFloat32s(geluBound)
	for i := uintptr(0); i < 4*uintptr(n); i += 4 * uintptr(lanes) {
		v := load32(unsafe.Add(p, i))
		store32(unsafe.Add(d, i), v.Div(expGelu32(v.Min(high).Max(low)).Add(one)))
	}
	clearUpper()
	return n
}

// geluBackward32 does the first elements of GeluBackward and returns their number.
func geluBackward32(v, g, x []float32) int {
	lanes := (simd.Float32s{}).Len()
	n := len(g) / lanes * lanes
	if n == 0 {
		return 0
	}
	d, q, p := unsafe.Pointer(&v[0]), unsafe.Pointer(&g[0]), unsafe.Pointer(&x[0])
	one, low, high := simd.BroadcastFloat32s(1), simd.BroadcastFloat32s(-geluBound), simd.BroadcastFloat32s(geluBound)
	linear, cubic := simd.BroadcastFloat32s(geluLinear), simd.BroadcastFloat32s(3*geluCubic)
	for i := uintptr(0); i < 4*uintptr(n); i += 4 * uintptr(lanes) {
		y := load32(unsafe.Add(p, i))
		z := y.Min(high).Max(low)
		e := expGelu32(z)
		s := one.Div(e.Add(one))
		value := y.Mul(s)
		store32(unsafe.Add(d, i), value)
		slope := e.Mul(s).Mul(value).MulAdd(cubic.MulAdd(z.Mul(z), linear), s)
		store32(unsafe.Add(q, i), slope.Mul(load32(unsafe.Add(q, i))))
	}
	clearUpper()
	return n
}

// expGelu32 returns e for |x| <= geluBound. Adding 3*2^22 leaves the nearest whole
// number in a float32's last bits.
func expGelu32(x simd.Float32s) simd.Float32s {
	const round = 3 << 22
	t := x.Mul(x).MulAdd(simd.BroadcastFloat32s(geluCubic2), simd.BroadcastFloat32s(geluLinear2)).Mul(x)
	r := t.Add(simd.BroadcastFloat32s(round))
	f := t.Sub(r.Sub(simd.BroadcastFloat32s(round)))
	p := simd.BroadcastFloat32s(exp2c5).MulAdd(f, simd.BroadcastFloat32s(exp2c4))
	p = p.MulAdd(f, simd.BroadcastFloat32s(exp2c3))
	p = p.MulAdd(f, simd.BroadcastFloat32s(exp2c2))
	p = p.MulAdd(f, simd.BroadcastFloat32s(exp2c1))
	p = p.MulAdd(f, simd.BroadcastFloat32s(exp2c0))
	return p.ToBits().Add(r.ToBits().ShiftAllLeft(23)).BitsToFloat32()
}
