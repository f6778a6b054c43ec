//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// vectorMatVecRows32 does rows of whole vectors of eight columns and reports
// whether it did.
func vectorMatVecRows32(z []float64, n, m int, a []float32, w []float64) bool {
	if level < AVX512 || n%8 != 0 {
		return false
	}
	switch {
	case m == 0:
	case n == 64:
		matVecEight32x8(z, m, a, w)
	default:
		matVecRows32x8(z, n, m, a, w)
	}
	return true
}

// vectorCombineRows32 does rows of whole vectors of eight columns and reports
// whether it did.
func vectorCombineRows32(dst []float64, n, lo int, f [][]float64, a [][]float32) bool {
	if level < AVX512 || n%8 != 0 {
		return false
	}
	for r := range len(dst) / n {
		c := 0
		for ; c+64 <= n; c += 64 {
			combine32x8(dst[r*n+c:], lo+r, (lo+r)*n+c, f, a)
		}
		for ; c < n; c += 8 {
			combine32x1(dst[r*n+c:], lo+r, (lo+r)*n+c, f, a)
		}
	}
	archsimd.ClearAVXUpperBits()
	return true
}

// wide8 reads eight float32 numbers as float64.
func wide8(p unsafe.Pointer) archsimd.Float64x8 {
	return archsimd.LoadFloat32x8((*[8]float32)(p)).ConvertToFloat64()
}

// matVecRows32x8 reads memory in its own order, row after row; four rows are summed
// up together, the last, incomplete four repeating a row.
func matVecRows32x8(z []float64, n, m int, a []float32, w []float64) {
	p, q := unsafe.Pointer(&a[0]), unsafe.Pointer(&w[0])
	_, _ = a[m*n-1], w[n-1]
	for r := 0; r < m; r += 4 {
		var h [4]archsimd.Float64x4
		for i := range h {
			row := unsafe.Add(p, min(r+i, m-1)*n*4)
			var s, t archsimd.Float64x8
			k := 0
			for ; k+32 <= n; k += 32 {
				x, y := unsafe.Add(row, k*4), unsafe.Add(q, k*8)
				s = wide8(x).MulAdd(archsimd.LoadFloat64x8((*[8]float64)(y)), s)
				t = wide8(unsafe.Add(x, 32)).MulAdd(archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(y, 64))), t)
				s = wide8(unsafe.Add(x, 64)).MulAdd(archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(y, 128))), s)
				t = wide8(unsafe.Add(x, 96)).MulAdd(archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(y, 192))), t)
			}
			for ; k < n; k += 8 {
				s = wide8(unsafe.Add(row, k*4)).MulAdd(loadRow8(q, k*8), s)
			}
			h[i] = half8(s.Add(t))
		}
		h01, h23 := h[0].AddPairsGrouped(h[1]), h[2].AddPairsGrouped(h[3])
		sum := h01.Select128FromPair(0, 2, h23).Add(h01.Select128FromPair(1, 3, h23))
		if r+4 <= m {
			store4(z, r, sum)
			continue
		}
		var rest [4]float64
		sum.Store(&rest)
		copy(z[r:m], rest[:])
	}
	archsimd.ClearAVXUpperBits()
}

// matVecEight32x8 is matVecRows32x8 for rows of eight vectors, w in registers.
func matVecEight32x8(z []float64, m int, a []float32, w []float64) {
	p, q := unsafe.Pointer(&a[0]), unsafe.Pointer(&w[0])
	_, _ = a[m*64-1], w[64-1]
	w0, w1, w2, w3 := loadRow8(q, 0), loadRow8(q, 64), loadRow8(q, 2*64), loadRow8(q, 3*64)
	w4, w5, w6, w7 := loadRow8(q, 4*64), loadRow8(q, 5*64), loadRow8(q, 6*64), loadRow8(q, 7*64)
	for r := 0; r < m; r += 4 {
		var h [4]archsimd.Float64x4
		for i := range h {
			row := unsafe.Add(p, min(r+i, m-1)*256)
			s := archsimd.LoadFloat32x8((*[8]float32)(row)).ConvertToFloat64().Mul(w0)
			s = archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(row, 1*32))).ConvertToFloat64().MulAdd(w1, s)
			s = archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(row, 2*32))).ConvertToFloat64().MulAdd(w2, s)
			s = archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(row, 3*32))).ConvertToFloat64().MulAdd(w3, s)
			s = archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(row, 4*32))).ConvertToFloat64().MulAdd(w4, s)
			s = archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(row, 5*32))).ConvertToFloat64().MulAdd(w5, s)
			s = archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(row, 6*32))).ConvertToFloat64().MulAdd(w6, s)
			s = archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(row, 7*32))).ConvertToFloat64().MulAdd(w7, s)
			h[i] = half8(s)
		}
		h01, h23 := h[0].AddPairsGrouped(h[1]), h[2].AddPairsGrouped(h[3])
		sum := h01.Select128FromPair(0, 2, h23).Add(h01.Select128FromPair(1, 3, h23))
		if r+4 <= m {
			store4(z, r, sum)
			continue
		}
		var rest [4]float64
		sum.Store(&rest)
		copy(z[r:m], rest[:])
	}
	archsimd.ClearAVXUpperBits()
}

// combine32x8 sets dst[0..63] = Σ_j f[j][row]·a[j][at..at+63].
func combine32x8(dst []float64, row, at int, f [][]float64, a [][]float32) {
	var c0, c1, c2, c3, c4, c5, c6, c7 archsimd.Float64x8
	a = a[:len(f)]
	for j, fj := range f {
		if fj == nil {
			continue
		}
		v, p := archsimd.BroadcastFloat64x8(fj[row]), unsafe.Pointer(&a[j][at : at+64][0])
		c0 = wide8(p).MulAdd(v, c0)
		c1 = wide8(unsafe.Add(p, 32)).MulAdd(v, c1)
		c2 = wide8(unsafe.Add(p, 64)).MulAdd(v, c2)
		c3 = wide8(unsafe.Add(p, 96)).MulAdd(v, c3)
		c4 = wide8(unsafe.Add(p, 128)).MulAdd(v, c4)
		c5 = wide8(unsafe.Add(p, 160)).MulAdd(v, c5)
		c6 = wide8(unsafe.Add(p, 192)).MulAdd(v, c6)
		c7 = wide8(unsafe.Add(p, 224)).MulAdd(v, c7)
	}
	out := unsafe.Pointer(&dst[:64][0])
	storeRow8(out, 0, c0)
	storeRow8(out, 64, c1)
	storeRow8(out, 128, c2)
	storeRow8(out, 192, c3)
	storeRow8(out, 256, c4)
	storeRow8(out, 320, c5)
	storeRow8(out, 384, c6)
	storeRow8(out, 448, c7)
}

// combine32x1 is combine32x8 for eight columns.
func combine32x1(dst []float64, row, at int, f [][]float64, a [][]float32) {
	var c archsimd.Float64x8
	a = a[:len(f)]
	for j, fj := range f {
		if fj != nil {
			c = wide8(unsafe.Pointer(&a[j][at : at+8][0])).MulAdd(archsimd.BroadcastFloat64x8(fj[row]), c)
		}
	}
	storeRow8(unsafe.Pointer(&dst[:8][0]), 0, c)
}
