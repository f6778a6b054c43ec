//go:build goexperiment.simd && amd64

// Code generated from wide.go.tmpl by go generate; DO NOT EDIT.

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// Float32 numbers by 256-bit vectors of float64.

// widen256 does the first elements of Widen and returns their number.
func widen256(dst []float64, x []float32) int {
	n := len(dst) / 4 * 4
	if n == 0 {
		return 0
	}
	out, p := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0])
	for i := 0; i < n; i += 4 {
		archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 4*i))).ConvertToFloat64().StoreArray((*[4]float64)(unsafe.Add(out, 8*i)))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

// narrow256 rounds the first elements of x to dst and returns their number.
func narrow256(dst []float32, x []float64) int {
	n := len(dst) / 4 * 4
	if n == 0 {
		return 0
	}
	out, p := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0])
	for i := 0; i < n; i += 4 {
		archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Add(p, 8*i))).ConvertToFloat32().StoreArray((*[4]float32)(unsafe.Add(out, 4*i)))
	}
	archsimd.ClearAVXUpperBits()
	return n
}

// addSquares256 adds the squares of x[i] to sums[i%16], for whole sixteens of x.
func addSquares256(sums *[16]float64, x []float32) {
	if len(x) < 16 {
		return
	}
	p := unsafe.Pointer(&x[0])
	s0 := archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Pointer(&sums[0])))
	s1 := archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Pointer(&sums[4])))
	s2 := archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Pointer(&sums[8])))
	s3 := archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Pointer(&sums[12])))
	for i := 0; i+16 <= len(x); i += 16 {
		x0 := archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 4*i+4*0))).ConvertToFloat64()
		s0 = x0.MulAdd(x0, s0)
		x1 := archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 4*i+4*4))).ConvertToFloat64()
		s1 = x1.MulAdd(x1, s1)
		x2 := archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 4*i+4*8))).ConvertToFloat64()
		s2 = x2.MulAdd(x2, s2)
		x3 := archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 4*i+4*12))).ConvertToFloat64()
		s3 = x3.MulAdd(x3, s3)
	}
	s0.StoreArray((*[4]float64)(sums[0:]))
	s1.StoreArray((*[4]float64)(sums[4:]))
	s2.StoreArray((*[4]float64)(sums[8:]))
	s3.StoreArray((*[4]float64)(sums[12:]))
	archsimd.ClearAVXUpperBits()
}

// matVec256 is MatVecRows32 for n a multiple of 4 and m > 0. It reads memory in
// its own order, row after row; four rows are summed up together, the last,
// incomplete four repeating a row.
func matVec256(z []float64, n, m int, a []float32, w []float64) {
	p, q := unsafe.Pointer(&a[0]), unsafe.Pointer(&w[0])
	switch n {
	case 8:
		matVecOf2x256(z, m, p, q)
		return
	case 12:
		matVecOf3x256(z, m, p, q)
		return
	}
	for r := 0; r < m; r += 4 {
		var h [4]archsimd.Float64x4
		for i := range h {
			row := unsafe.Add(p, min(r+i, m-1)*n*4)
			var s, t archsimd.Float64x4
			k := 0
			for ; k+16 <= n; k += 16 {
				x, y := unsafe.Add(row, 4*k), unsafe.Add(q, 8*k)
				s = archsimd.LoadFloat32x4Array((*[4]float32)(x)).ConvertToFloat64().MulAdd(archsimd.LoadFloat64x4Array((*[4]float64)(y)), s)
				t = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x, 16))).ConvertToFloat64().MulAdd(archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Add(y, 32))), t)
				s = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x, 32))).ConvertToFloat64().MulAdd(archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Add(y, 64))), s)
				t = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x, 48))).ConvertToFloat64().MulAdd(archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Add(y, 96))), t)
			}
			for ; k < n; k += 4 {
				s = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(row, 4*k))).ConvertToFloat64().MulAdd(archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Add(q, 8*k))), s)
			}
			s = s.Add(t)
			h[i] = s
		}
		sumFour(z[r:min(r+4, m)], h[0], h[1], h[2], h[3])
	}
	archsimd.ClearAVXUpperBits()
}

// matVecOf2x256 is matVec256 for n = 8, with w in registers.
func matVecOf2x256(z []float64, m int, p, q unsafe.Pointer) {
	w0 := archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Add(q, 0)))
	w1 := archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Add(q, 32)))
	for r := 0; r < m; r += 4 {
		x0 := unsafe.Add(p, min(r+0, m-1)*32)
		var s0 archsimd.Float64x4
		s0 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x0, 0))).ConvertToFloat64().MulAdd(w0, s0)
		s0 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x0, 16))).ConvertToFloat64().MulAdd(w1, s0)
		x1 := unsafe.Add(p, min(r+1, m-1)*32)
		var s1 archsimd.Float64x4
		s1 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x1, 0))).ConvertToFloat64().MulAdd(w0, s1)
		s1 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x1, 16))).ConvertToFloat64().MulAdd(w1, s1)
		x2 := unsafe.Add(p, min(r+2, m-1)*32)
		var s2 archsimd.Float64x4
		s2 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x2, 0))).ConvertToFloat64().MulAdd(w0, s2)
		s2 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x2, 16))).ConvertToFloat64().MulAdd(w1, s2)
		x3 := unsafe.Add(p, min(r+3, m-1)*32)
		var s3 archsimd.Float64x4
		s3 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x3, 0))).ConvertToFloat64().MulAdd(w0, s3)
		s3 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x3, 16))).ConvertToFloat64().MulAdd(w1, s3)
		sumFour(z[r:min(r+4, m)], s0, s1, s2, s3)
	}
	archsimd.ClearAVXUpperBits()
}

// matVecOf3x256 is matVec256 for n = 12, with w in registers.
func matVecOf3x256(z []float64, m int, p, q unsafe.Pointer) {
	w0 := archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Add(q, 0)))
	w1 := archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Add(q, 32)))
	w2 := archsimd.LoadFloat64x4Array((*[4]float64)(unsafe.Add(q, 64)))
	for r := 0; r < m; r += 4 {
		x0 := unsafe.Add(p, min(r+0, m-1)*48)
		var s0 archsimd.Float64x4
		s0 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x0, 0))).ConvertToFloat64().MulAdd(w0, s0)
		s0 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x0, 16))).ConvertToFloat64().MulAdd(w1, s0)
		s0 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x0, 32))).ConvertToFloat64().MulAdd(w2, s0)
		x1 := unsafe.Add(p, min(r+1, m-1)*48)
		var s1 archsimd.Float64x4
		s1 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x1, 0))).ConvertToFloat64().MulAdd(w0, s1)
		s1 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x1, 16))).ConvertToFloat64().MulAdd(w1, s1)
		s1 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x1, 32))).ConvertToFloat64().MulAdd(w2, s1)
		x2 := unsafe.Add(p, min(r+2, m-1)*48)
		var s2 archsimd.Float64x4
		s2 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x2, 0))).ConvertToFloat64().MulAdd(w0, s2)
		s2 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x2, 16))).ConvertToFloat64().MulAdd(w1, s2)
		s2 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x2, 32))).ConvertToFloat64().MulAdd(w2, s2)
		x3 := unsafe.Add(p, min(r+3, m-1)*48)
		var s3 archsimd.Float64x4
		s3 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x3, 0))).ConvertToFloat64().MulAdd(w0, s3)
		s3 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x3, 16))).ConvertToFloat64().MulAdd(w1, s3)
		s3 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x3, 32))).ConvertToFloat64().MulAdd(w2, s3)
		sumFour(z[r:min(r+4, m)], s0, s1, s2, s3)
	}
	archsimd.ClearAVXUpperBits()
}

// combineRows256 is combineRows32 for n a multiple of 4.
func combineRows256(dst []float64, n, lo int, f [][]float64, a [][]float32) {
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
		for ; c+32 <= row+n; c += 32 {
			var c0, c1, c2, c3, c4, c5, c6, c7 archsimd.Float64x4
			for _, t := range terms {
				v, p := archsimd.BroadcastFloat64x4(*(*float64)(unsafe.Add(t.f, 8*r))), unsafe.Add(t.a, 4*c)
				c0 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 0))).ConvertToFloat64().MulAdd(v, c0)
				c1 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 16))).ConvertToFloat64().MulAdd(v, c1)
				c2 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 32))).ConvertToFloat64().MulAdd(v, c2)
				c3 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 48))).ConvertToFloat64().MulAdd(v, c3)
				c4 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 64))).ConvertToFloat64().MulAdd(v, c4)
				c5 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 80))).ConvertToFloat64().MulAdd(v, c5)
				c6 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 96))).ConvertToFloat64().MulAdd(v, c6)
				c7 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 112))).ConvertToFloat64().MulAdd(v, c7)
			}
			to := unsafe.Add(out, 8*c)
			c0.StoreArray((*[4]float64)(unsafe.Add(to, 0)))
			c1.StoreArray((*[4]float64)(unsafe.Add(to, 32)))
			c2.StoreArray((*[4]float64)(unsafe.Add(to, 64)))
			c3.StoreArray((*[4]float64)(unsafe.Add(to, 96)))
			c4.StoreArray((*[4]float64)(unsafe.Add(to, 128)))
			c5.StoreArray((*[4]float64)(unsafe.Add(to, 160)))
			c6.StoreArray((*[4]float64)(unsafe.Add(to, 192)))
			c7.StoreArray((*[4]float64)(unsafe.Add(to, 224)))
		}
		for ; c+12 <= row+n; c += 12 {
			var c0, c1, c2 archsimd.Float64x4
			for _, t := range terms {
				v, p := archsimd.BroadcastFloat64x4(*(*float64)(unsafe.Add(t.f, 8*r))), unsafe.Add(t.a, 4*c)
				c0 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 0))).ConvertToFloat64().MulAdd(v, c0)
				c1 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 16))).ConvertToFloat64().MulAdd(v, c1)
				c2 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 32))).ConvertToFloat64().MulAdd(v, c2)
			}
			to := unsafe.Add(out, 8*c)
			c0.StoreArray((*[4]float64)(unsafe.Add(to, 0)))
			c1.StoreArray((*[4]float64)(unsafe.Add(to, 32)))
			c2.StoreArray((*[4]float64)(unsafe.Add(to, 64)))
		}
		for ; c+8 <= row+n; c += 8 {
			var c0, c1 archsimd.Float64x4
			for _, t := range terms {
				v, p := archsimd.BroadcastFloat64x4(*(*float64)(unsafe.Add(t.f, 8*r))), unsafe.Add(t.a, 4*c)
				c0 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 0))).ConvertToFloat64().MulAdd(v, c0)
				c1 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 16))).ConvertToFloat64().MulAdd(v, c1)
			}
			to := unsafe.Add(out, 8*c)
			c0.StoreArray((*[4]float64)(unsafe.Add(to, 0)))
			c1.StoreArray((*[4]float64)(unsafe.Add(to, 32)))
		}
		for ; c+4 <= row+n; c += 4 {
			var c0 archsimd.Float64x4
			for _, t := range terms {
				v, p := archsimd.BroadcastFloat64x4(*(*float64)(unsafe.Add(t.f, 8*r))), unsafe.Add(t.a, 4*c)
				c0 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, 0))).ConvertToFloat64().MulAdd(v, c0)
			}
			to := unsafe.Add(out, 8*c)
			c0.StoreArray((*[4]float64)(unsafe.Add(to, 0)))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// gather256 is GatherStencils32 for some points, columns j..j+16-1.
func gather256(out, in unsafe.Pointer, n, j int, points []int32, s *Stencils) {
	for r, p := range points {
		k := s.Which[p]
		var a0, a1, a2, a3 archsimd.Float64x4
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			c := archsimd.BroadcastFloat64x4(s.Coef[e])
			q := unsafe.Add(in, 4*((int(p)+int(s.Offset[e]))*n+j))
			a0 = archsimd.LoadFloat32x4Array((*[4]float32)(q)).ConvertToFloat64().MulAdd(c, a0)
			a1 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(q, 16))).ConvertToFloat64().MulAdd(c, a1)
			a2 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(q, 32))).ConvertToFloat64().MulAdd(c, a2)
			a3 = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(q, 48))).ConvertToFloat64().MulAdd(c, a3)
		}
		o := unsafe.Add(out, 4*(r*n+j))
		a0.ConvertToFloat32().StoreArray((*[4]float32)(o))
		a1.ConvertToFloat32().StoreArray((*[4]float32)(unsafe.Add(o, 16)))
		a2.ConvertToFloat32().StoreArray((*[4]float32)(unsafe.Add(o, 32)))
		a3.ConvertToFloat32().StoreArray((*[4]float32)(unsafe.Add(o, 48)))
	}
	archsimd.ClearAVXUpperBits()
}
