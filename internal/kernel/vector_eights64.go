//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"unsafe"
)

// subtractOuter8 is SubtractOuter8.
func subtractOuter8(x, v []float64, at *[8]float64) {
	lanes := (simd.Float64s{}).Len()
	p := unsafe.Pointer(unsafe.SliceData(x))
	for j := 0; j < 8; j += lanes {
		var zero simd.Float64s
		a, q := zero.Sub(load64(unsafe.Pointer(&at[j]))), unsafe.Add(p, 8*j)
		for _, by := range v {
			store64(q, simd.BroadcastFloat64s(by).MulAdd(a, load64(q)))
			q = unsafe.Add(q, 64)
		}
	}
	clearUpper()
}

// subtractSum8 is SubtractSum8.
func subtractSum8(at *[8]float64, v, x []float64) {
	lanes := (simd.Float64s{}).Len()
	p := unsafe.Pointer(unsafe.SliceData(x))
	for j := 0; j < 8; j += lanes {
		var s0, s1, s2, s3 simd.Float64s
		q, i := unsafe.Add(p, 8*j), 0
		for ; i+4 <= len(v); i += 4 {
			s0 = simd.BroadcastFloat64s(v[i]).MulAdd(load64(q), s0)
			s1 = simd.BroadcastFloat64s(v[i+1]).MulAdd(load64(unsafe.Add(q, 64)), s1)
			s2 = simd.BroadcastFloat64s(v[i+2]).MulAdd(load64(unsafe.Add(q, 128)), s2)
			s3 = simd.BroadcastFloat64s(v[i+3]).MulAdd(load64(unsafe.Add(q, 192)), s3)
			q = unsafe.Add(q, 256)
		}
		for ; i < len(v); i++ {
			s0 = simd.BroadcastFloat64s(v[i]).MulAdd(load64(q), s0)
			q = unsafe.Add(q, 64)
		}
		to := unsafe.Pointer(&at[j])
		store64(to, load64(to).Sub(s0.Add(s1).Add(s2.Add(s3))))
	}
	clearUpper()
}
