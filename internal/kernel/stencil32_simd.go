//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// gatherStencils32SIMD does whole groups of 32 columns (16 on 256-bit vectors) and
// returns how many columns that was. Points go in blocks as in gatherStencilsSIMD.
func gatherStencils32SIMD(dst, basis []float32, n int, points []int32, s *Stencils) int {
	width := 16
	if level >= AVX512 {
		width = 32
	}
	if len(points) == 0 || n < width {
		return 0
	}
	checkStencils(len(basis)/n, points, s)
	const block = 64
	in := unsafe.Pointer(unsafe.SliceData(basis))
	for lo := 0; lo < len(points); lo += block {
		some := points[lo:min(lo+block, len(points))]
		out := unsafe.Pointer(&dst[lo*n])
		for j := 0; j+width <= n; j += width {
			if width == 32 {
				gather32x8(out, in, n, j, some, s)
			} else {
				gather16x4(out, in, n, j, some, s)
			}
		}
	}
	archsimd.ClearAVXUpperBits()
	return n - n%width
}

// gather32x8 does columns j..j+31 in four vectors of eight float64.
func gather32x8(out, in unsafe.Pointer, n, j int, points []int32, s *Stencils) {
	for r, p := range points {
		k := s.Which[p]
		var a0, a1, a2, a3 archsimd.Float64x8
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			c := archsimd.BroadcastFloat64x8(s.Coef[e])
			q := unsafe.Add(in, 4*((int(p)+int(s.Offset[e]))*n+j))
			a0 = c.MulAdd(load8f(q).ConvertToFloat64(), a0)
			a1 = c.MulAdd(load8f(unsafe.Add(q, 32)).ConvertToFloat64(), a1)
			a2 = c.MulAdd(load8f(unsafe.Add(q, 64)).ConvertToFloat64(), a2)
			a3 = c.MulAdd(load8f(unsafe.Add(q, 96)).ConvertToFloat64(), a3)
		}
		o := unsafe.Add(out, 4*(r*n+j))
		a0.ConvertToFloat32().Store((*[8]float32)(o))
		a1.ConvertToFloat32().Store((*[8]float32)(unsafe.Add(o, 32)))
		a2.ConvertToFloat32().Store((*[8]float32)(unsafe.Add(o, 64)))
		a3.ConvertToFloat32().Store((*[8]float32)(unsafe.Add(o, 96)))
	}
}

// gather16x4 does columns j..j+15 in four vectors of four float64.
func gather16x4(out, in unsafe.Pointer, n, j int, points []int32, s *Stencils) {
	for r, p := range points {
		k := s.Which[p]
		var a0, a1, a2, a3 archsimd.Float64x4
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			c := archsimd.BroadcastFloat64x4(s.Coef[e])
			q := unsafe.Add(in, 4*((int(p)+int(s.Offset[e]))*n+j))
			a0 = c.MulAdd(load4d(q), a0)
			a1 = c.MulAdd(load4d(unsafe.Add(q, 16)), a1)
			a2 = c.MulAdd(load4d(unsafe.Add(q, 32)), a2)
			a3 = c.MulAdd(load4d(unsafe.Add(q, 48)), a3)
		}
		o := unsafe.Add(out, 4*(r*n+j))
		a0.ConvertToFloat32().Store((*[4]float32)(o))
		a1.ConvertToFloat32().Store((*[4]float32)(unsafe.Add(o, 16)))
		a2.ConvertToFloat32().Store((*[4]float32)(unsafe.Add(o, 32)))
		a3.ConvertToFloat32().Store((*[4]float32)(unsafe.Add(o, 48)))
	}
}
