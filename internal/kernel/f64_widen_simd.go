//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// vectorWiden does whole groups of 32 (16 on 256-bit vectors) elements and
// returns how many that is.
func vectorWiden(dst []float64, x []float32) int {
	i := 0
	switch {
	case level >= AVX512:
		for ; i+32 <= len(dst); i += 32 {
			p := unsafe.Pointer(&x[i])
			v0, v1 := load8f(p).ConvertToFloat64(), load8f(unsafe.Add(p, 32)).ConvertToFloat64()
			v2, v3 := load8f(unsafe.Add(p, 64)).ConvertToFloat64(), load8f(unsafe.Add(p, 96)).ConvertToFloat64()
			store8(dst, i, v0)
			store8(dst, i+8, v1)
			store8(dst, i+16, v2)
			store8(dst, i+24, v3)
		}
	case level >= AVX2:
		for ; i+16 <= len(dst); i += 16 {
			p := unsafe.Pointer(&x[i])
			v0, v1 := load4d(p), load4d(unsafe.Add(p, 16))
			v2, v3 := load4d(unsafe.Add(p, 32)), load4d(unsafe.Add(p, 48))
			store4(dst, i, v0)
			store4(dst, i+4, v1)
			store4(dst, i+8, v2)
			store4(dst, i+12, v3)
		}
	}
	if i > 0 {
		archsimd.ClearAVXUpperBits()
	}
	return i
}
