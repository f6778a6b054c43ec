//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Each of these does whole groups of 32 (16 on 256-bit vectors) elements and
// returns how many that is. Four sums stay in registers; a field is read once.

func vectorCombine32(dst []float32, coef []float64, fields [][]float64) int {
	i := 0
	switch {
	case level >= AVX512:
		for ; i+32 <= len(dst); i += 32 {
			s0, s1, s2, s3 := combine8(i, coef, fields)
			s0.ConvertToFloat32().Store((*[8]float32)(unsafe.Pointer(&dst[i])))
			s1.ConvertToFloat32().Store((*[8]float32)(unsafe.Pointer(&dst[i+8])))
			s2.ConvertToFloat32().Store((*[8]float32)(unsafe.Pointer(&dst[i+16])))
			s3.ConvertToFloat32().Store((*[8]float32)(unsafe.Pointer(&dst[i+24])))
		}
	case level >= AVX2:
		for ; i+16 <= len(dst); i += 16 {
			s0, s1, s2, s3 := combine4(i, coef, fields)
			s0.ConvertToFloat32().Store((*[4]float32)(unsafe.Pointer(&dst[i])))
			s1.ConvertToFloat32().Store((*[4]float32)(unsafe.Pointer(&dst[i+4])))
			s2.ConvertToFloat32().Store((*[4]float32)(unsafe.Pointer(&dst[i+8])))
			s3.ConvertToFloat32().Store((*[4]float32)(unsafe.Pointer(&dst[i+12])))
		}
	}
	if i > 0 {
		archsimd.ClearAVXUpperBits()
	}
	return i
}

func vectorCombine64(dst, coef []float64, fields [][]float64) int {
	i := 0
	switch {
	case level >= AVX512:
		for ; i+32 <= len(dst); i += 32 {
			s0, s1, s2, s3 := combine8(i, coef, fields)
			store8(dst, i, s0)
			store8(dst, i+8, s1)
			store8(dst, i+16, s2)
			store8(dst, i+24, s3)
		}
	case level >= AVX2:
		for ; i+16 <= len(dst); i += 16 {
			s0, s1, s2, s3 := combine4(i, coef, fields)
			store4(dst, i, s0)
			store4(dst, i+4, s1)
			store4(dst, i+8, s2)
			store4(dst, i+12, s3)
		}
	}
	if i > 0 {
		archsimd.ClearAVXUpperBits()
	}
	return i
}

func combine8(i int, coef []float64, fields [][]float64) (s0, s1, s2, s3 archsimd.Float64x8) {
	for f, x := range fields {
		c, p := archsimd.BroadcastFloat64x8(coef[f]), unsafe.Pointer(&x[i])
		s0 = c.MulAdd(loadRow8(p, 0), s0)
		s1 = c.MulAdd(loadRow8(p, 64), s1)
		s2 = c.MulAdd(loadRow8(p, 128), s2)
		s3 = c.MulAdd(loadRow8(p, 192), s3)
	}
	return
}

func combine4(i int, coef []float64, fields [][]float64) (s0, s1, s2, s3 archsimd.Float64x4) {
	for f, x := range fields {
		c, p := archsimd.BroadcastFloat64x4(coef[f]), unsafe.Pointer(&x[i])
		s0 = c.MulAdd(loadRow4(p, 0), s0)
		s1 = c.MulAdd(loadRow4(p, 32), s1)
		s2 = c.MulAdd(loadRow4(p, 64), s2)
		s3 = c.MulAdd(loadRow4(p, 96), s3)
	}
	return
}
