//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"unsafe"
)

// geluConstants are those of gelu32, each sixteen times over and on a cache line of its
// own. There are more than registers: reading one where it is used costs less than
// spilling vectors to the stack, where they cross lines.
var geluConstants = func() *[gCount][16]float32 {
	const line = 64
	memory := make([]byte, gCount*line+line)
	table := (*[gCount][16]float32)(unsafe.Pointer(&memory[-uintptr(unsafe.Pointer(&memory[0]))%line]))
	for i, v := range [gCount]float32{
		gOne: 1, gLow: -geluBound, gHigh: geluBound, gCubic2: geluCubic2, gLinear2: geluLinear2, gRound: 3 << 22,
		gExp0: exp2c0, gExp1: exp2c1, gExp2: exp2c2, gExp3: exp2c3, gExp4: exp2c4, gExp5: exp2c5,
		gCubic: 3 * geluCubic, gLinear: geluLinear,
	} {
		for j := range table[i] {
			table[i][j] = v
		}
	}
	return table
}()

const (
	gOne = iota
	gLow
	gHigh
	gCubic2
	gLinear2
	gRound // added, leaves the nearest whole number in the last bits
	gExp0
	gExp1
	gExp2
	gExp3
	gExp4
	gExp5
	gCubic
	gLinear
	gCount
)

// gelu32 does the first elements of GeluBackward, or of Gelu where g is nil, and
// returns their number.
func gelu32(v, g, x []float32) int {
	lanes := (simd.Float32s{}).Len()
	n := len(v) / lanes * lanes
	if n == 0 {
		return 0
	}
	d, q, p := unsafe.Pointer(&v[0]), unsafe.Pointer(unsafe.SliceData(g)), unsafe.Pointer(&x[0])
	size, c := 4*uintptr(lanes), geluConstants
	for i := uintptr(0); i < 4*uintptr(n); i += size {
		y := load32(unsafe.Add(p, i))
		z := y.Min(load32(unsafe.Pointer(&c[gHigh]))).Max(load32(unsafe.Pointer(&c[gLow])))
		square := z.Mul(z)
		t := square.MulAdd(load32(unsafe.Pointer(&c[gCubic2])), load32(unsafe.Pointer(&c[gLinear2]))).Mul(z)
		r := t.Add(load32(unsafe.Pointer(&c[gRound])))
		f := t.Sub(r.Sub(load32(unsafe.Pointer(&c[gRound]))))
		e := f.MulAdd(load32(unsafe.Pointer(&c[gExp5])), load32(unsafe.Pointer(&c[gExp4]))).MulAdd(f, load32(unsafe.Pointer(&c[gExp3])))
		e = e.MulAdd(f, load32(unsafe.Pointer(&c[gExp2]))).MulAdd(f, load32(unsafe.Pointer(&c[gExp1]))).MulAdd(f, load32(unsafe.Pointer(&c[gExp0])))
		e = e.ToBits().Add(r.ToBits().ShiftAllLeft(23)).BitsToFloat32() // e 2^r
		if q == nil {
			store32(unsafe.Add(d, i), y.Div(e.Add(load32(unsafe.Pointer(&c[gOne])))))
			continue
		}
		s := load32(unsafe.Pointer(&c[gOne])).Div(e.Add(load32(unsafe.Pointer(&c[gOne]))))
		value := y.Mul(s)
		store32(unsafe.Add(d, i), value)
		slope := e.Mul(s).Mul(value).MulAdd(square.MulAdd(load32(unsafe.Pointer(&c[gCubic])), load32(unsafe.Pointer(&c[gLinear]))), s)
		store32(unsafe.Add(q, i), slope.Mul(load32(unsafe.Add(q, i))))
	}
	clearUpper()
	return n
}

// gelu64 is gelu32 in float64. 2^f for |f| <= 1/2 is the polynomial through the twelve
// Chebyshev nodes, within 2e-17 relative; |t| stays below 643, so that e is normal.
func gelu64(v, g, x []float64) int {
	lanes := (simd.Float64s{}).Len()
	n := len(v) / lanes * lanes
	if n == 0 {
		return 0
	}
	d, q, p := unsafe.Pointer(&v[0]), unsafe.Pointer(unsafe.SliceData(g)), unsafe.Pointer(&x[0])
	size := 8 * uintptr(lanes)
	for i := uintptr(0); i < 8*uintptr(n); i += size {
		y := load64(unsafe.Add(p, i))
		z := y.Min(constant64(cGeluHigh)).Max(constant64(cGeluLow))
		square := z.Mul(z)
		t := square.MulAdd(constant64(cGeluCubic2), constant64(cGeluLinear2)).Mul(z)
		r := t.Add(constant64(cMagic))
		f := t.Sub(r.Sub(constant64(cMagic)))
		e := f.MulAdd(constant64(cGelu11), constant64(cGelu10)).MulAdd(f, constant64(cGelu9)).MulAdd(f, constant64(cGelu8))
		e = e.MulAdd(f, constant64(cGelu7)).MulAdd(f, constant64(cGelu6)).MulAdd(f, constant64(cGelu5)).MulAdd(f, constant64(cGelu4))
		e = e.MulAdd(f, constant64(cGelu3)).MulAdd(f, constant64(cGelu2)).MulAdd(f, constant64(cGelu1)).MulAdd(f, constant64(cOne))
		e = e.ToBits().Add(r.ToBits().ShiftAllLeft(52)).BitsToFloat64() // e 2^r
		if q == nil {
			store64(unsafe.Add(d, i), y.Div(e.Add(constant64(cOne))))
			continue
		}
		s := constant64(cOne).Div(e.Add(constant64(cOne)))
		value := y.Mul(s)
		store64(unsafe.Add(d, i), value)
		slope := e.Mul(s).Mul(value).MulAdd(square.MulAdd(constant64(cGeluSlope), constant64(cGeluLinear)), s)
		store64(unsafe.Add(q, i), slope.Mul(load64(unsafe.Add(q, i))))
	}
	clearUpper()
	return n
}
