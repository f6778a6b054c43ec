//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// at8 and at4 return the address of x[i]; the caller has checked the range.
func at8(x unsafe.Pointer, i int) *[8]float64 { return (*[8]float64)(unsafe.Add(x, i*8)) }
func at4(x unsafe.Pointer, i int) *[4]float64 { return (*[4]float64)(unsafe.Add(x, i*8)) }

// gatherStencilsSIMD does whole vectors of columns and returns how many columns
// that was. Points go in blocks, so that the rows of one block stay in the cache
// while the strips of columns pass over them.
func gatherStencilsSIMD(dst, basis []float64, n int, points []int32, s *Stencils) int {
	width := 4
	if level >= AVX512 {
		width = 8
	}
	if len(points) == 0 || n < width {
		return 0
	}
	checkStencils(len(basis)/n, points, s)
	const block = 64
	for lo := 0; lo < len(points); lo += block {
		some := points[lo:min(lo+block, len(points))]
		gatherBlock(unsafe.Pointer(&dst[lo*n]), unsafe.Pointer(unsafe.SliceData(basis)), n, width, some, s)
	}
	archsimd.ClearAVXUpperBits()
	return n - n%width
}

// gatherBlock does strips of 4, then 2, then 1 vector of columns.
func gatherBlock(out, in unsafe.Pointer, n, width int, points []int32, s *Stencils) {
	j := 0
	for ; j+4*width <= n; j += 4 * width {
		if width == 8 {
			gather8x4(out, in, n, j, points, s)
		} else {
			gather4x4(out, in, n, j, points, s)
		}
	}
	for ; j+2*width <= n; j += 2 * width {
		if width == 8 {
			gather8x2(out, in, n, j, points, s)
		} else {
			gather4x2(out, in, n, j, points, s)
		}
	}
	for ; j+width <= n; j += width {
		if width == 8 {
			gather8(out, in, n, j, points, s)
		} else {
			gather4(out, in, n, j, points, s)
		}
	}
}

// checkStencils panics if a stencil of a point reaches outside a basis of that many
// rows.
func checkStencils(rows int, points []int32, s *Stencils) {
	// Most points are far from the ends: one test for all of them.
	low, high := int32(0), int32(0)
	for _, o := range s.Offset {
		low, high = min(low, o), max(high, o)
	}
	first, last := points[0], points[0]
	for _, p := range points {
		first, last = min(first, p), max(last, p)
	}
	if int(first)+int(low) >= 0 && int(last)+int(high) < rows {
		return
	}
	for _, p := range points {
		k := s.Which[p]
		lo, hi := s.Start[k], s.Start[k+1]
		for _, o := range s.Offset[lo:hi] {
			if q := int(p) + int(o); uint(q) >= uint(rows) {
				panic("kernel: GatherStencils: stencil reaches outside the basis")
			}
		}
	}
}

func gather8x4(out, in unsafe.Pointer, n, j int, points []int32, s *Stencils) {
	for r, p := range points {
		k := s.Which[p]
		var a0, a1, a2, a3 archsimd.Float64x8
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			c := archsimd.BroadcastFloat64x8(s.Coef[e])
			q := (int(p)+int(s.Offset[e]))*n + j
			a0 = c.MulAdd(archsimd.LoadFloat64x8(at8(in, q)), a0)
			a1 = c.MulAdd(archsimd.LoadFloat64x8(at8(in, q+8)), a1)
			a2 = c.MulAdd(archsimd.LoadFloat64x8(at8(in, q+16)), a2)
			a3 = c.MulAdd(archsimd.LoadFloat64x8(at8(in, q+24)), a3)
		}
		o := r*n + j
		a0.Store(at8(out, o))
		a1.Store(at8(out, o+8))
		a2.Store(at8(out, o+16))
		a3.Store(at8(out, o+24))
	}
}

func gather8x2(out, in unsafe.Pointer, n, j int, points []int32, s *Stencils) {
	for r, p := range points {
		k := s.Which[p]
		var a0, a1 archsimd.Float64x8
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			c := archsimd.BroadcastFloat64x8(s.Coef[e])
			q := (int(p)+int(s.Offset[e]))*n + j
			a0 = c.MulAdd(archsimd.LoadFloat64x8(at8(in, q)), a0)
			a1 = c.MulAdd(archsimd.LoadFloat64x8(at8(in, q+8)), a1)
		}
		o := r*n + j
		a0.Store(at8(out, o))
		a1.Store(at8(out, o+8))
	}
}

func gather8(out, in unsafe.Pointer, n, j int, points []int32, s *Stencils) {
	for r, p := range points {
		k := s.Which[p]
		var a archsimd.Float64x8
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			c := archsimd.BroadcastFloat64x8(s.Coef[e])
			a = c.MulAdd(archsimd.LoadFloat64x8(at8(in, (int(p)+int(s.Offset[e]))*n+j)), a)
		}
		a.Store(at8(out, r*n+j))
	}
}

func gather4x4(out, in unsafe.Pointer, n, j int, points []int32, s *Stencils) {
	for r, p := range points {
		k := s.Which[p]
		var a0, a1, a2, a3 archsimd.Float64x4
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			c := archsimd.BroadcastFloat64x4(s.Coef[e])
			q := (int(p)+int(s.Offset[e]))*n + j
			a0 = c.MulAdd(archsimd.LoadFloat64x4(at4(in, q)), a0)
			a1 = c.MulAdd(archsimd.LoadFloat64x4(at4(in, q+4)), a1)
			a2 = c.MulAdd(archsimd.LoadFloat64x4(at4(in, q+8)), a2)
			a3 = c.MulAdd(archsimd.LoadFloat64x4(at4(in, q+12)), a3)
		}
		o := r*n + j
		a0.Store(at4(out, o))
		a1.Store(at4(out, o+4))
		a2.Store(at4(out, o+8))
		a3.Store(at4(out, o+12))
	}
}

func gather4x2(out, in unsafe.Pointer, n, j int, points []int32, s *Stencils) {
	for r, p := range points {
		k := s.Which[p]
		var a0, a1 archsimd.Float64x4
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			c := archsimd.BroadcastFloat64x4(s.Coef[e])
			q := (int(p)+int(s.Offset[e]))*n + j
			a0 = c.MulAdd(archsimd.LoadFloat64x4(at4(in, q)), a0)
			a1 = c.MulAdd(archsimd.LoadFloat64x4(at4(in, q+4)), a1)
		}
		o := r*n + j
		a0.Store(at4(out, o))
		a1.Store(at4(out, o+4))
	}
}

func gather4(out, in unsafe.Pointer, n, j int, points []int32, s *Stencils) {
	for r, p := range points {
		k := s.Which[p]
		var a archsimd.Float64x4
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			c := archsimd.BroadcastFloat64x4(s.Coef[e])
			a = c.MulAdd(archsimd.LoadFloat64x4(at4(in, (int(p)+int(s.Offset[e]))*n+j)), a)
		}
		a.Store(at4(out, r*n+j))
	}
}

// applyStencilSIMD does whole vectors and returns how many points that was. The
// caller has checked every range.
func applyStencilSIMD(dst, u []float64, first int, offset []int32, coef []float64) int {
	out, in := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(u))
	i, n := 0, len(dst)
	if level >= AVX512 {
		for ; i+16 <= n; i += 16 {
			var a0, a1 archsimd.Float64x8
			for e, c := range coef {
				v := archsimd.BroadcastFloat64x8(c)
				q := first + int(offset[e]) + i
				a0 = v.MulAdd(archsimd.LoadFloat64x8(at8(in, q)), a0)
				a1 = v.MulAdd(archsimd.LoadFloat64x8(at8(in, q+8)), a1)
			}
			a0.Store(at8(out, i))
			a1.Store(at8(out, i+8))
		}
	} else {
		for ; i+8 <= n; i += 8 {
			var a0, a1 archsimd.Float64x4
			for e, c := range coef {
				v := archsimd.BroadcastFloat64x4(c)
				q := first + int(offset[e]) + i
				a0 = v.MulAdd(archsimd.LoadFloat64x4(at4(in, q)), a0)
				a1 = v.MulAdd(archsimd.LoadFloat64x4(at4(in, q+4)), a1)
			}
			a0.Store(at4(out, i))
			a1.Store(at4(out, i+4))
		}
	}
	if i > 0 {
		archsimd.ClearAVXUpperBits()
	}
	return i
}

// addScaledSIMD does dst += c x for whole vectors and returns how many elements
// that was. dst and x have the same length.
func addScaledSIMD(dst []float64, c float64, x []float64) int {
	out, in := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(x))
	i, n := 0, len(dst)
	if level >= AVX512 {
		v := archsimd.BroadcastFloat64x8(c)
		for ; i+16 <= n; i += 16 {
			a := v.MulAdd(archsimd.LoadFloat64x8(at8(in, i)), archsimd.LoadFloat64x8(at8(out, i)))
			b := v.MulAdd(archsimd.LoadFloat64x8(at8(in, i+8)), archsimd.LoadFloat64x8(at8(out, i+8)))
			a.Store(at8(out, i))
			b.Store(at8(out, i+8))
		}
	} else {
		v := archsimd.BroadcastFloat64x4(c)
		for ; i+8 <= n; i += 8 {
			a := v.MulAdd(archsimd.LoadFloat64x4(at4(in, i)), archsimd.LoadFloat64x4(at4(out, i)))
			b := v.MulAdd(archsimd.LoadFloat64x4(at4(in, i+4)), archsimd.LoadFloat64x4(at4(out, i+4)))
			a.Store(at4(out, i))
			b.Store(at4(out, i+4))
		}
	}
	if i > 0 {
		archsimd.ClearAVXUpperBits()
	}
	return i
}
