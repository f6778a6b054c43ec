//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"unsafe"
)

// gatherStencils64 does the first columns of GatherStencils and returns their number.
// The caller has checked every stencil. Points go in blocks, so that the rows of one
// block stay in the cache while the strips of 4, 2 and 1 vectors of columns pass over
// them.
func gatherStencils64(dst, basis []float64, n int, points []int32, s *Stencils) int {
	lanes := (simd.Float64s{}).Len()
	done := n / lanes * lanes
	if done == 0 {
		return 0
	}
	in := unsafe.Pointer(unsafe.SliceData(basis))
	for lo := 0; lo < len(points); lo += stencilBlock {
		some := points[lo:min(lo+stencilBlock, len(points))]
		out, j := unsafe.Pointer(&dst[lo*n]), 0
		for ; j+4*lanes <= n; j += 4 * lanes {
			gather4(out, in, n, j, some, s)
		}
		if j+2*lanes <= n {
			gather2(out, in, n, j, some, s)
			j += 2 * lanes
		}
		if j < done {
			gather1(out, in, n, j, some, s)
		}
	}
	clearUpper()
	return done
}

// gather4 does four vectors of columns from column j on.
func gather4(out, in unsafe.Pointer, n, j int, points []int32, s *Stencils) {
	w := 8 * uintptr((simd.Float64s{}).Len())
	for r, p := range points {
		k := s.Which[p]
		var a0, a1, a2, a3 simd.Float64s
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			c, q := simd.BroadcastFloat64s(s.Coef[e]), unsafe.Add(in, 8*((int(p)+int(s.Offset[e]))*n+j))
			a0 = (*(*simd.Float64s)(q)).MulAdd(c, a0)
			a1 = (*(*simd.Float64s)(unsafe.Add(q, w))).MulAdd(c, a1)
			a2 = (*(*simd.Float64s)(unsafe.Add(q, 2*w))).MulAdd(c, a2)
			a3 = (*(*simd.Float64s)(unsafe.Add(q, 3*w))).MulAdd(c, a3)
		}
		o := unsafe.Add(out, 8*(r*n+j))
		store64(o, a0)
		store64(unsafe.Add(o, w), a1)
		store64(unsafe.Add(o, 2*w), a2)
		store64(unsafe.Add(o, 3*w), a3)
	}
}

// gather2 does two.
func gather2(out, in unsafe.Pointer, n, j int, points []int32, s *Stencils) {
	w := 8 * uintptr((simd.Float64s{}).Len())
	for r, p := range points {
		k := s.Which[p]
		var a0, a1 simd.Float64s
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			c, q := simd.BroadcastFloat64s(s.Coef[e]), unsafe.Add(in, 8*((int(p)+int(s.Offset[e]))*n+j))
			a0 = (*(*simd.Float64s)(q)).MulAdd(c, a0)
			a1 = (*(*simd.Float64s)(unsafe.Add(q, w))).MulAdd(c, a1)
		}
		o := unsafe.Add(out, 8*(r*n+j))
		store64(o, a0)
		store64(unsafe.Add(o, w), a1)
	}
}

// gather1 does one.
func gather1(out, in unsafe.Pointer, n, j int, points []int32, s *Stencils) {
	for r, p := range points {
		k := s.Which[p]
		var a simd.Float64s
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			q := unsafe.Add(in, 8*((int(p)+int(s.Offset[e]))*n+j))
			a = (*(*simd.Float64s)(q)).MulAdd(simd.BroadcastFloat64s(s.Coef[e]), a)
		}
		store64(unsafe.Add(out, 8*(r*n+j)), a)
	}
}
