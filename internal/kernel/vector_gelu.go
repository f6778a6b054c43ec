//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"unsafe"
)

// gelu32 does the first elements of GeluBackward, or of Gelu where g is nil, and
// returns their number. Constants have names outside of the loop: reloading one that
// found no register is cheaper than a broadcast.
func gelu32(v, g, x []float32) int {
	lanes := (simd.Float32s{}).Len()
	n := len(v) / lanes * lanes
	if n == 0 {
		return 0
	}
	d, q, p := unsafe.Pointer(&v[0]), unsafe.Pointer(unsafe.SliceData(g)), unsafe.Pointer(&x[0])
	one, low, high := simd.BroadcastFloat32s(1), simd.BroadcastFloat32s(-geluBound), simd.BroadcastFloat32s(geluBound)
	linear, cubic := simd.BroadcastFloat32s(geluLinear), simd.BroadcastFloat32s(3*geluCubic)
	linear2, cubic2 := simd.BroadcastFloat32s(geluLinear2), simd.BroadcastFloat32s(geluCubic2)
	c0, c1, c2 := simd.BroadcastFloat32s(exp2c0), simd.BroadcastFloat32s(exp2c1), simd.BroadcastFloat32s(exp2c2)
	c3, c4, c5 := simd.BroadcastFloat32s(exp2c3), simd.BroadcastFloat32s(exp2c4), simd.BroadcastFloat32s(exp2c5)
	round := simd.BroadcastFloat32s(3 << 22) // added, leaves the nearest whole number in the last bits
	size := 4 * uintptr(lanes)
	for i := uintptr(0); i < 4*uintptr(n); i += size {
		y := *(*simd.Float32s)(unsafe.Add(p, i))
		z := y.Min(high).Max(low)
		square := z.Mul(z)
		t := square.MulAdd(cubic2, linear2).Mul(z)
		r := t.Add(round)
		f := t.Sub(r.Sub(round))
		e := f.MulAdd(c5, c4).MulAdd(f, c3).MulAdd(f, c2).MulAdd(f, c1).MulAdd(f, c0)
		e = e.ToBits().Add(r.ToBits().ShiftAllLeft(23)).BitsToFloat32() // e 2^r
		if q == nil {
			*(*simd.Float32s)(unsafe.Add(d, i)) = y.Div(e.Add(one))
			continue
		}
		s := one.Div(e.Add(one))
		value := y.Mul(s)
		*(*simd.Float32s)(unsafe.Add(d, i)) = value
		slope := e.Mul(s).Mul(value).MulAdd(square.MulAdd(cubic, linear), s)
		at := (*simd.Float32s)(unsafe.Add(q, i))
		*at = slope.Mul(*at)
	}
	clearUpper()
	return n
}

// gelu64 is gelu32 in float64.
func gelu64(v, g, x []float64) int {
	lanes := (simd.Float64s{}).Len()
	n := len(v) / lanes * lanes
	if n == 0 {
		return 0
	}
	d, q, p := unsafe.Pointer(&v[0]), unsafe.Pointer(unsafe.SliceData(g)), unsafe.Pointer(&x[0])
	one, low, high := simd.BroadcastFloat64s(1), simd.BroadcastFloat64s(-18), simd.BroadcastFloat64s(18)
	linear, cubic := simd.BroadcastFloat64s(geluLinear), simd.BroadcastFloat64s(geluCubic)
	slopeCubic := simd.BroadcastFloat64s(3 * geluCubic)
	size := 8 * uintptr(lanes)
	for i := uintptr(0); i < 8*uintptr(n); i += size {
		y := load64(unsafe.Add(p, i))
		z := y.Min(high).Max(low)
		square := z.Mul(z)
		e := expSum64(square.MulAdd(cubic, linear).Mul(z).Neg(), simd.Float64s{})
		if q == nil {
			store64(unsafe.Add(d, i), y.Div(e.Add(one)))
			continue
		}
		s := one.Div(e.Add(one))
		value := y.Mul(s)
		store64(unsafe.Add(d, i), value)
		slope := e.Mul(s).Mul(value).MulAdd(square.MulAdd(slopeCubic, linear), s)
		store64(unsafe.Add(q, i), slope.Mul(load64(unsafe.Add(q, i))))
	}
	clearUpper()
	return n
}
