//go:build goexperiment.simd && amd64

// Code generated from wide.go.tmpl by go generate; DO NOT EDIT.

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Float32 numbers by 512-bit vectors of float64.

// widen512 does the first elements of Widen and returns their number.
func widen512(dst []float64, x []float32) int {
	n := len(dst) / 8 * 8
	if n == 0 {
		return 0
	}
	out, p := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0])
	for i := 0; i < n; i += 8 {
		archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 4*i))).ConvertToFloat64().StoreArray((*[8]float64)(unsafe.Add(out, 8*i)))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

// narrow512 rounds the first elements of x to dst and returns their number.
func narrow512(dst []float32, x []float64) int {
	n := len(dst) / 8 * 8
	if n == 0 {
		return 0
	}
	out, p := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0])
	for i := 0; i < n; i += 8 {
		archsimd.LoadFloat64x8Array((*[8]float64)(unsafe.Add(p, 8*i))).ConvertToFloat32().StoreArray((*[8]float32)(unsafe.Add(out, 4*i)))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

// addSquares512 adds the squares of x[i] to sums[i%16], for whole sixteens of x.
func addSquares512(sums *[16]float64, x []float32) {
	if len(x) < 16 {
		return
	}
	p := unsafe.Pointer(&x[0])
	s0 := archsimd.LoadFloat64x8Array((*[8]float64)(unsafe.Pointer(&sums[0])))
	s1 := archsimd.LoadFloat64x8Array((*[8]float64)(unsafe.Pointer(&sums[8])))
	for i := 0; i+16 <= len(x); i += 16 {
		x0 := archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 4*i+4*0))).ConvertToFloat64()
		s0 = x0.MulAdd(x0, s0)
		x1 := archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 4*i+4*8))).ConvertToFloat64()
		s1 = x1.MulAdd(x1, s1)
	}
	s0.StoreArray((*[8]float64)(sums[0:]))
	s1.StoreArray((*[8]float64)(sums[8:]))
	archsimd.ClearAVXUpperBits()
}

// matVec512 is MatVecRows32 for n a multiple of 8 and m > 0. It reads memory in
// its own order, row after row; four rows are summed up together, the last,
// incomplete four repeating a row.
func matVec512(z []float64, n, m int, a []float32, w []float64) {
	p, q := unsafe.Pointer(&a[0]), unsafe.Pointer(&w[0])
	switch n {
	case 16:
		matVecOf2x512(z, m, p, q)
		return
	case 24:
		matVecOf3x512(z, m, p, q)
		return
	}
	for r := 0; r < m; r += 4 {
		var h [4]archsimd.Float64x4
		for i := range h {
			row := unsafe.Add(p, min(r+i, m-1)*n*4)
			var s, t archsimd.Float64x8
			k := 0
			for ; k+32 <= n; k += 32 {
				x, y := unsafe.Add(row, 4*k), unsafe.Add(q, 8*k)
				s = archsimd.LoadFloat32x8Array((*[8]float32)(x)).ConvertToFloat64().MulAdd(archsimd.LoadFloat64x8Array((*[8]float64)(y)), s)
				t = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x, 32))).ConvertToFloat64().MulAdd(archsimd.LoadFloat64x8Array((*[8]float64)(unsafe.Add(y, 64))), t)
				s = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x, 64))).ConvertToFloat64().MulAdd(archsimd.LoadFloat64x8Array((*[8]float64)(unsafe.Add(y, 128))), s)
				t = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x, 96))).ConvertToFloat64().MulAdd(archsimd.LoadFloat64x8Array((*[8]float64)(unsafe.Add(y, 192))), t)
			}
			for ; k < n; k += 8 {
				s = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(row, 4*k))).ConvertToFloat64().MulAdd(archsimd.LoadFloat64x8Array((*[8]float64)(unsafe.Add(q, 8*k))), s)
			}
			s = s.Add(t)
			h[i] = s.GetLo().Add(s.GetHi())
		}
		sumFour(z[r:min(r+4, m)], h[0], h[1], h[2], h[3])
	}
	archsimd.ClearAVXUpperBits()
}

// matVecOf2x512 is matVec512 for n = 16, with w in registers.
func matVecOf2x512(z []float64, m int, p, q unsafe.Pointer) {
	w0 := archsimd.LoadFloat64x8Array((*[8]float64)(unsafe.Add(q, 0)))
	w1 := archsimd.LoadFloat64x8Array((*[8]float64)(unsafe.Add(q, 64)))
	for r := 0; r < m; r += 4 {
		x0 := unsafe.Add(p, min(r+0, m-1)*64)
		var s0 archsimd.Float64x8
		s0 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x0, 0))).ConvertToFloat64().MulAdd(w0, s0)
		s0 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x0, 32))).ConvertToFloat64().MulAdd(w1, s0)
		x1 := unsafe.Add(p, min(r+1, m-1)*64)
		var s1 archsimd.Float64x8
		s1 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x1, 0))).ConvertToFloat64().MulAdd(w0, s1)
		s1 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x1, 32))).ConvertToFloat64().MulAdd(w1, s1)
		x2 := unsafe.Add(p, min(r+2, m-1)*64)
		var s2 archsimd.Float64x8
		s2 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x2, 0))).ConvertToFloat64().MulAdd(w0, s2)
		s2 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x2, 32))).ConvertToFloat64().MulAdd(w1, s2)
		x3 := unsafe.Add(p, min(r+3, m-1)*64)
		var s3 archsimd.Float64x8
		s3 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x3, 0))).ConvertToFloat64().MulAdd(w0, s3)
		s3 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x3, 32))).ConvertToFloat64().MulAdd(w1, s3)
		sumFour(z[r:min(r+4, m)], s0.GetLo().Add(s0.GetHi()), s1.GetLo().Add(s1.GetHi()), s2.GetLo().Add(s2.GetHi()), s3.GetLo().Add(s3.GetHi()))
	}
	archsimd.ClearAVXUpperBits()
}

// matVecOf3x512 is matVec512 for n = 24, with w in registers.
func matVecOf3x512(z []float64, m int, p, q unsafe.Pointer) {
	w0 := archsimd.LoadFloat64x8Array((*[8]float64)(unsafe.Add(q, 0)))
	w1 := archsimd.LoadFloat64x8Array((*[8]float64)(unsafe.Add(q, 64)))
	w2 := archsimd.LoadFloat64x8Array((*[8]float64)(unsafe.Add(q, 128)))
	for r := 0; r < m; r += 4 {
		x0 := unsafe.Add(p, min(r+0, m-1)*96)
		var s0 archsimd.Float64x8
		s0 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x0, 0))).ConvertToFloat64().MulAdd(w0, s0)
		s0 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x0, 32))).ConvertToFloat64().MulAdd(w1, s0)
		s0 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x0, 64))).ConvertToFloat64().MulAdd(w2, s0)
		x1 := unsafe.Add(p, min(r+1, m-1)*96)
		var s1 archsimd.Float64x8
		s1 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x1, 0))).ConvertToFloat64().MulAdd(w0, s1)
		s1 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x1, 32))).ConvertToFloat64().MulAdd(w1, s1)
		s1 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x1, 64))).ConvertToFloat64().MulAdd(w2, s1)
		x2 := unsafe.Add(p, min(r+2, m-1)*96)
		var s2 archsimd.Float64x8
		s2 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x2, 0))).ConvertToFloat64().MulAdd(w0, s2)
		s2 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x2, 32))).ConvertToFloat64().MulAdd(w1, s2)
		s2 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x2, 64))).ConvertToFloat64().MulAdd(w2, s2)
		x3 := unsafe.Add(p, min(r+3, m-1)*96)
		var s3 archsimd.Float64x8
		s3 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x3, 0))).ConvertToFloat64().MulAdd(w0, s3)
		s3 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x3, 32))).ConvertToFloat64().MulAdd(w1, s3)
		s3 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(x3, 64))).ConvertToFloat64().MulAdd(w2, s3)
		sumFour(z[r:min(r+4, m)], s0.GetLo().Add(s0.GetHi()), s1.GetLo().Add(s1.GetHi()), s2.GetLo().Add(s2.GetHi()), s3.GetLo().Add(s3.GetHi()))
	}
	archsimd.ClearAVXUpperBits()
}

// combineRows512 is combineRows32 for n a multiple of 8.
func combineRows512(dst []float64, n, lo int, f [][]float64, a [][]float32) {
	type term struct{ f, a unsafe.Pointer }
	terms := make([]term, 0, 16)
	for j, fj := range f {
		if fj != nil {
			terms = append(terms, term{unsafe.Pointer(&fj[lo:][:len(dst)/n][0]), unsafe.Pointer(&a[j][lo*n:][:len(dst)][0])})
		}
	}
	out, end := unsafe.Pointer(&dst[0]), len(dst)
	for r, row := 0, 0; row < end; r, row = r+1, row+n {
		c := row
		for ; c+64 <= row+n; c += 64 {
			var c0, c1, c2, c3, c4, c5, c6, c7 archsimd.Float64x8
			for _, t := range terms {
				v, p := archsimd.BroadcastFloat64x8(*(*float64)(unsafe.Add(t.f, 8*r))), unsafe.Add(t.a, 4*c)
				c0 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 0))).ConvertToFloat64().MulAdd(v, c0)
				c1 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 32))).ConvertToFloat64().MulAdd(v, c1)
				c2 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 64))).ConvertToFloat64().MulAdd(v, c2)
				c3 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 96))).ConvertToFloat64().MulAdd(v, c3)
				c4 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 128))).ConvertToFloat64().MulAdd(v, c4)
				c5 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 160))).ConvertToFloat64().MulAdd(v, c5)
				c6 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 192))).ConvertToFloat64().MulAdd(v, c6)
				c7 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 224))).ConvertToFloat64().MulAdd(v, c7)
			}
			to := unsafe.Add(out, 8*c)
			c0.StoreArray((*[8]float64)(unsafe.Add(to, 0)))
			c1.StoreArray((*[8]float64)(unsafe.Add(to, 64)))
			c2.StoreArray((*[8]float64)(unsafe.Add(to, 128)))
			c3.StoreArray((*[8]float64)(unsafe.Add(to, 192)))
			c4.StoreArray((*[8]float64)(unsafe.Add(to, 256)))
			c5.StoreArray((*[8]float64)(unsafe.Add(to, 320)))
			c6.StoreArray((*[8]float64)(unsafe.Add(to, 384)))
			c7.StoreArray((*[8]float64)(unsafe.Add(to, 448)))
		}
		for ; c+24 <= row+n; c += 24 {
			var c0, c1, c2 archsimd.Float64x8
			for _, t := range terms {
				v, p := archsimd.BroadcastFloat64x8(*(*float64)(unsafe.Add(t.f, 8*r))), unsafe.Add(t.a, 4*c)
				c0 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 0))).ConvertToFloat64().MulAdd(v, c0)
				c1 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 32))).ConvertToFloat64().MulAdd(v, c1)
				c2 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 64))).ConvertToFloat64().MulAdd(v, c2)
			}
			to := unsafe.Add(out, 8*c)
			c0.StoreArray((*[8]float64)(unsafe.Add(to, 0)))
			c1.StoreArray((*[8]float64)(unsafe.Add(to, 64)))
			c2.StoreArray((*[8]float64)(unsafe.Add(to, 128)))
		}
		for ; c+16 <= row+n; c += 16 {
			var c0, c1 archsimd.Float64x8
			for _, t := range terms {
				v, p := archsimd.BroadcastFloat64x8(*(*float64)(unsafe.Add(t.f, 8*r))), unsafe.Add(t.a, 4*c)
				c0 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 0))).ConvertToFloat64().MulAdd(v, c0)
				c1 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 32))).ConvertToFloat64().MulAdd(v, c1)
			}
			to := unsafe.Add(out, 8*c)
			c0.StoreArray((*[8]float64)(unsafe.Add(to, 0)))
			c1.StoreArray((*[8]float64)(unsafe.Add(to, 64)))
		}
		for ; c+8 <= row+n; c += 8 {
			var c0 archsimd.Float64x8
			for _, t := range terms {
				v, p := archsimd.BroadcastFloat64x8(*(*float64)(unsafe.Add(t.f, 8*r))), unsafe.Add(t.a, 4*c)
				c0 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(p, 0))).ConvertToFloat64().MulAdd(v, c0)
			}
			to := unsafe.Add(out, 8*c)
			c0.StoreArray((*[8]float64)(unsafe.Add(to, 0)))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// gather512 is GatherStencils32 for some points, columns j..j+32-1.
func gather512(out, in unsafe.Pointer, n, j int, points []int32, s *Stencils) {
	for r, p := range points {
		k := s.Which[p]
		var a0, a1, a2, a3 archsimd.Float64x8
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			c := archsimd.BroadcastFloat64x8(s.Coef[e])
			q := unsafe.Add(in, 4*((int(p)+int(s.Offset[e]))*n+j))
			a0 = archsimd.LoadFloat32x8Array((*[8]float32)(q)).ConvertToFloat64().MulAdd(c, a0)
			a1 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(q, 32))).ConvertToFloat64().MulAdd(c, a1)
			a2 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(q, 64))).ConvertToFloat64().MulAdd(c, a2)
			a3 = archsimd.LoadFloat32x8Array((*[8]float32)(unsafe.Add(q, 96))).ConvertToFloat64().MulAdd(c, a3)
		}
		o := unsafe.Add(out, 4*(r*n+j))
		a0.ConvertToFloat32().StoreArray((*[8]float32)(o))
		a1.ConvertToFloat32().StoreArray((*[8]float32)(unsafe.Add(o, 32)))
		a2.ConvertToFloat32().StoreArray((*[8]float32)(unsafe.Add(o, 64)))
		a3.ConvertToFloat32().StoreArray((*[8]float32)(unsafe.Add(o, 96)))
	}
	archsimd.ClearAVXUpperBits()
}
