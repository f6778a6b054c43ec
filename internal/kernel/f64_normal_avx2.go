//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// The least-squares kernels on 256-bit vectors; the twin of the other width has
// the same text apart from the width. Loops keep one base pointer and an
// offset: a pointer that runs past the end of its slice must not be stored.

func loadRow4(p unsafe.Pointer, offset int) archsimd.Float64x4 {
	return archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(p, offset)))
}

func storeRow4(p unsafe.Pointer, offset int, v archsimd.Float64x4) {
	v.Store((*[4]float64)(unsafe.Add(p, offset)))
}

func splatRow4(p unsafe.Pointer, offset int) archsimd.Float64x4 {
	return archsimd.BroadcastFloat64x4(*(*float64)(unsafe.Add(p, offset)))
}

// gemmTiles4 does rows 0..n&^3-1 of gemmLower, or of all of aᵀb for n a multiple
// of 4, by tiles of four vectors of two rows of gram, or two or one of four.
func gemmTiles4(gram []float64, n, m int, a, b []float64, all bool) {
	for i := 0; i+4 <= n; i += 4 {
		c, end := 0, i+4
		if all {
			end = n
		}
		for ; c+16 <= end; c += 16 {
			for k := i; k < i+4; k += 2 {
				tileLong4(gram[k*n+c:], n, m, a[k:], b[c:])
			}
		}
		for ; c+8 <= end; c += 8 {
			for k := i; k < i+4; k += 4 {
				tileWide4(gram[k*n+c:], n, m, a[k:], b[c:])
			}
		}
		if c+4 <= end {
			for k := i; k < i+4; k += 4 {
				tile4(gram[k*n+c:], n, m, a[k:], b[c:])
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

// tileLong4 adds to g (2 rows, 16 columns, stride n) the products over m rows of
// columns 0..1 of a with columns 0..15 of b: half the broadcasts of tileWide4,
// which take instructions from the multiplications.
func tileLong4(g []float64, n, m int, a, b []float64) {
	p, q, out := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&g[0])
	_ = a[(m-1)*n+1]
	_ = b[(m-1)*n+15]
	_ = g[n+15]
	stride := n * 8
	c00, c01, c02, c03 := loadRow4(out, 0), loadRow4(out, 32), loadRow4(out, 64), loadRow4(out, 96)
	c10, c11, c12, c13 := loadRow4(out, stride), loadRow4(out, stride+32), loadRow4(out, stride+64), loadRow4(out, stride+96)
	for {
		u, v := archsimd.BroadcastFloat64x4(*(*float64)(p)), archsimd.BroadcastFloat64x4(*(*float64)(unsafe.Add(p, 8)))
		x := archsimd.LoadFloat64x4((*[4]float64)(q))
		c00 = x.MulAdd(u, c00)
		c10 = x.MulAdd(v, c10)
		x = archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(q, 32)))
		c01 = x.MulAdd(u, c01)
		c11 = x.MulAdd(v, c11)
		x = archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(q, 64)))
		c02 = x.MulAdd(u, c02)
		c12 = x.MulAdd(v, c12)
		x = archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(q, 96)))
		c03 = x.MulAdd(u, c03)
		c13 = x.MulAdd(v, c13)
		if m--; m == 0 { // before the pointers would leave their slices
			break
		}
		p, q = unsafe.Add(p, stride), unsafe.Add(q, stride)
	}
	storeRow4(out, 0, c00)
	storeRow4(out, 32, c01)
	storeRow4(out, 64, c02)
	storeRow4(out, 96, c03)
	storeRow4(out, stride, c10)
	storeRow4(out, stride+32, c11)
	storeRow4(out, stride+64, c12)
	storeRow4(out, stride+96, c13)
}

// tileWide4 adds to g (4 rows, 8 columns, stride n) the products over m rows
// of columns 0..3 of a with columns 0..7 of b: 8 accumulators, 2 operands and
// a broadcast stay in registers. The pointers walk, one row a turn: offsets from
// a fixed base cost two instructions a load, and more rows a turn are spilled.
func tileWide4(g []float64, n, m int, a, b []float64) {
	p, q, out := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&g[0])
	_ = a[(m-1)*n+3]
	_ = b[(m-1)*n+7]
	_ = g[3*n+7]
	stride := n * 8
	c00, c01 := loadRow4(out, 0), loadRow4(out, 32)
	c10, c11 := loadRow4(out, stride), loadRow4(out, stride+32)
	c20, c21 := loadRow4(out, 2*stride), loadRow4(out, 2*stride+32)
	c30, c31 := loadRow4(out, 3*stride), loadRow4(out, 3*stride+32)
	for {
		x, y := loadRow4(q, 0), loadRow4(q, 32)
		v := splatRow4(p, 0)
		c00 = v.MulAdd(x, c00)
		c01 = v.MulAdd(y, c01)
		v = splatRow4(p, 8)
		c10 = v.MulAdd(x, c10)
		c11 = v.MulAdd(y, c11)
		v = splatRow4(p, 16)
		c20 = v.MulAdd(x, c20)
		c21 = v.MulAdd(y, c21)
		v = splatRow4(p, 24)
		c30 = v.MulAdd(x, c30)
		c31 = v.MulAdd(y, c31)
		if m--; m == 0 { // before the pointers would leave their slices
			break
		}
		p, q = unsafe.Add(p, stride), unsafe.Add(q, stride)
	}
	storeRow4(out, 0, c00)
	storeRow4(out, 32, c01)
	storeRow4(out, stride, c10)
	storeRow4(out, stride+32, c11)
	storeRow4(out, 2*stride, c20)
	storeRow4(out, 2*stride+32, c21)
	storeRow4(out, 3*stride, c30)
	storeRow4(out, 3*stride+32, c31)
}

// tile4 is tileWide4 for 4 columns.
func tile4(g []float64, n, m int, a, b []float64) {
	p, q, out := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&g[0])
	_ = a[(m-1)*n+3]
	_ = b[(m-1)*n+3]
	_ = g[3*n+3]
	stride := n * 8
	c0, c1, c2, c3 := loadRow4(out, 0), loadRow4(out, stride), loadRow4(out, 2*stride), loadRow4(out, 3*stride)
	for {
		x := loadRow4(q, 0)
		c0 = splatRow4(p, 0).MulAdd(x, c0)
		c1 = splatRow4(p, 8).MulAdd(x, c1)
		c2 = splatRow4(p, 16).MulAdd(x, c2)
		c3 = splatRow4(p, 24).MulAdd(x, c3)
		if m--; m == 0 {
			break
		}
		p, q = unsafe.Add(p, stride), unsafe.Add(q, stride)
	}
	storeRow4(out, 0, c0)
	storeRow4(out, stride, c1)
	storeRow4(out, 2*stride, c2)
	storeRow4(out, 3*stride, c3)
}

// scaleRows4 does columns 0..n&^3-1 of scaleRows.
func scaleRows4(dst []float64, n int, c, a []float64, first bool) {
	if len(c) == 0 || n < 4 {
		return
	}
	out, p := unsafe.Pointer(&dst[0]), unsafe.Pointer(&a[0])
	_, _ = dst[len(c)*n-1], a[len(c)*n-1]
	width := n &^ 3 * 8
	for r, k := range c {
		v := archsimd.BroadcastFloat64x4(k)
		o, end := r*n*8, r*n*8+width
		if first {
			for ; o < end; o += 32 {
				storeRow4(out, o, v.Mul(loadRow4(p, o)))
			}
			continue
		}
		for ; o < end; o += 32 {
			storeRow4(out, o, v.MulAdd(loadRow4(p, o), loadRow4(out, o)))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// scaleThreeRows4 sets dst[r, :] = Σ_j cj[r]·aj[r, :], n a multiple of 4: what
// three calls of scaleRows4 do, with one store for three.
func scaleThreeRows4(dst []float64, n int, c0, c1, c2, a0, a1, a2 []float64) {
	if len(c0) == 0 {
		return
	}
	out, p0, p1, p2 := unsafe.Pointer(&dst[0]), unsafe.Pointer(&a0[0]), unsafe.Pointer(&a1[0]), unsafe.Pointer(&a2[0])
	last := len(c0)*n - 1
	_, _, _, _ = dst[last], a0[last], a1[last], a2[last]
	c1, c2 = c1[:len(c0)], c2[:len(c0)]
	o := 0
	for r := range c0 {
		u, v, w := archsimd.BroadcastFloat64x4(c0[r]), archsimd.BroadcastFloat64x4(c1[r]), archsimd.BroadcastFloat64x4(c2[r])
		for end := o + n*8; o < end; o += 32 {
			x := u.Mul(loadRow4(p0, o))
			x = v.MulAdd(loadRow4(p1, o), x)
			storeRow4(out, o, w.MulAdd(loadRow4(p2, o), x))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// gatherRows4 does columns 0..n&^3-1 of GatherAxpy.
func gatherRows4(dst []float64, n int, basis []float64, points []int32, offset int, coef float64, first bool) {
	v := archsimd.BroadcastFloat64x4(coef)
	width := n &^ 3
	for r, point := range points {
		i := (int(point) + offset) * n
		x, d := basis[i:i+n], dst[r*n:(r+1)*n]
		for k := 0; k < width; k += 4 {
			y := v.Mul(load4(x, k))
			if !first {
				y = v.MulAdd(load4(x, k), load4(d, k))
			}
			store4(d, k, y)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// matVecRows4 is MatVecRows without the last n%4 columns. Four rows go
// together; the last, incomplete four repeat a row.
func matVecRows4(z []float64, n, m int, a, w []float64) {
	p, q := unsafe.Pointer(&a[0]), unsafe.Pointer(&w[0])
	stride, width := n*8, n&^3*8
	for r := 0; r < m; r += 4 {
		o0 := r * stride
		o1, o2, o3 := min(r+1, m-1)*stride, min(r+2, m-1)*stride, min(r+3, m-1)*stride
		x := loadRow4(q, 0)
		s0, s1, s2, s3 := x.Mul(loadRow4(p, o0)), x.Mul(loadRow4(p, o1)), x.Mul(loadRow4(p, o2)), x.Mul(loadRow4(p, o3))
		for k := 32; k < width; k += 32 {
			x = loadRow4(q, k)
			s0 = x.MulAdd(loadRow4(p, o0+k), s0)
			s1 = x.MulAdd(loadRow4(p, o1+k), s1)
			s2 = x.MulAdd(loadRow4(p, o2+k), s2)
			s3 = x.MulAdd(loadRow4(p, o3+k), s3)
		}
		h01 := half4(s0).AddPairsGrouped(half4(s1))
		h23 := half4(s2).AddPairsGrouped(half4(s3))
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

// matVecEight4 is matVecRows4 for rows of eight vectors: w stays in registers
// and memory is read in its own order, which counts where the rows come from
// beyond the caches. (Read directly, not by loadRow4: an inlined call leaves an
// instruction behind, and there is one per load here.)
func matVecEight4(z []float64, m int, a, w []float64) {
	p, q := unsafe.Pointer(&a[0]), unsafe.Pointer(&w[0])
	_, _ = a[m*32-1], w[32-1]
	w0, w1, w2, w3 := loadRow4(q, 0), loadRow4(q, 32), loadRow4(q, 2*32), loadRow4(q, 3*32)
	w4, w5, w6, w7 := loadRow4(q, 4*32), loadRow4(q, 5*32), loadRow4(q, 6*32), loadRow4(q, 7*32)
	for r := 0; r < m; r += 4 {
		var h [4]archsimd.Float64x4
		for i := range h {
			row := unsafe.Add(p, min(r+i, m-1)*256)
			s := archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(row, 0))).Mul(w0)
			s = archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(row, 32))).MulAdd(w1, s)
			s = archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(row, 2*32))).MulAdd(w2, s)
			s = archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(row, 3*32))).MulAdd(w3, s)
			s = archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(row, 4*32))).MulAdd(w4, s)
			s = archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(row, 5*32))).MulAdd(w5, s)
			s = archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(row, 6*32))).MulAdd(w6, s)
			s = archsimd.LoadFloat64x4((*[4]float64)(unsafe.Add(row, 7*32))).MulAdd(w7, s)
			h[i] = half4(s)
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

// half4 is what half8 is there: here there is nothing to add.
func half4(v archsimd.Float64x4) archsimd.Float64x4 { return v }

// accumulateTransposed4 does columns 0..n&^3-1 of AccumulateTransposed, two
// vectors and two rows at once.
func accumulateTransposed4(g []float64, n, m int, a, s []float64) {
	if m == 0 {
		return
	}
	p, q, out := unsafe.Pointer(&a[0]), unsafe.Pointer(&s[0]), unsafe.Pointer(&g[0])
	stride, width := n*8, n&^3*8
	k := 0
	for ; k+64 <= width; k += 64 {
		c0, c1 := loadRow4(out, k), loadRow4(out, k+32)
		var d0, d1 archsimd.Float64x4
		r := 0
		for ; r+2 <= m; r += 2 {
			v, o := splatRow4(q, r*8), r*stride+k
			c0 = v.MulAdd(loadRow4(p, o), c0)
			c1 = v.MulAdd(loadRow4(p, o+32), c1)
			v, o = splatRow4(q, r*8+8), o+stride
			d0 = v.MulAdd(loadRow4(p, o), d0)
			d1 = v.MulAdd(loadRow4(p, o+32), d1)
		}
		if r < m {
			v, o := splatRow4(q, r*8), r*stride+k
			c0 = v.MulAdd(loadRow4(p, o), c0)
			c1 = v.MulAdd(loadRow4(p, o+32), c1)
		}
		storeRow4(out, k, c0.Add(d0))
		storeRow4(out, k+32, c1.Add(d1))
	}
	if k < width {
		c := loadRow4(out, k)
		for r := range m {
			c = splatRow4(q, r*8).MulAdd(loadRow4(p, r*stride+k), c)
		}
		storeRow4(out, k, c)
	}
	archsimd.ClearAVXUpperBits()
}

// dot4 returns Σ x[i]·y[i] over the first len(x)&^15 elements.
func dot4(x, y []float64) float64 {
	var s0, s1, s2, s3 archsimd.Float64x4
	for i := 0; i+16 <= len(x); i += 16 {
		s0 = load4(x, i).MulAdd(load4(y, i), s0)
		s1 = load4(x, i+4).MulAdd(load4(y, i+4), s1)
		s2 = load4(x, i+2*4).MulAdd(load4(y, i+2*4), s2)
		s3 = load4(x, i+3*4).MulAdd(load4(y, i+3*4), s3)
	}
	var v [4]float64
	s0.Add(s1).Add(s2.Add(s3)).Store(&v)
	archsimd.ClearAVXUpperBits()
	sum := 0.0
	for _, t := range v {
		sum += t
	}
	return sum
}

// axpy4 does the first len(x)&^3 elements of Axpy64.
func axpy4(dst []float64, alpha float64, x []float64) {
	v := archsimd.BroadcastFloat64x4(alpha)
	for i := 0; i+4 <= len(x); i += 4 {
		store4(dst, i, v.MulAdd(load4(x, i), load4(dst, i)))
	}
	archsimd.ClearAVXUpperBits()
}
