//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// The least-squares kernels on 512-bit vectors; the twin of the other width has
// the same text apart from the width. Loops keep one base pointer and an
// offset: a pointer that runs past the end of its slice must not be stored.

func loadRow8(p unsafe.Pointer, offset int) archsimd.Float64x8 {
	return archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(p, offset)))
}

func storeRow8(p unsafe.Pointer, offset int, v archsimd.Float64x8) {
	v.Store((*[8]float64)(unsafe.Add(p, offset)))
}

func splatRow8(p unsafe.Pointer, offset int) archsimd.Float64x8 {
	return archsimd.BroadcastFloat64x8(*(*float64)(unsafe.Add(p, offset)))
}

// gemmTiles8 does rows 0..n&^7-1 of gemmLower, or of all of aᵀb for n a multiple
// of 8, by tiles of four vectors of two rows of gram, or two or one of four.
func gemmTiles8(gram []float64, n, m int, a, b []float64, all bool) {
	for i := 0; i+8 <= n; i += 8 {
		c, end := 0, i+8
		if all {
			end = n
		}
		for ; c+32 <= end; c += 32 {
			for k := i; k < i+8; k += 2 {
				tileLong8(gram[k*n+c:], n, m, a[k:], b[c:])
			}
		}
		for ; c+16 <= end; c += 16 {
			for k := i; k < i+8; k += 4 {
				tileWide8(gram[k*n+c:], n, m, a[k:], b[c:])
			}
		}
		if c+8 <= end {
			for k := i; k < i+8; k += 4 {
				tile8(gram[k*n+c:], n, m, a[k:], b[c:])
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

// tileLong8 adds to g (2 rows, 32 columns, stride n) the products over m rows of
// columns 0..1 of a with columns 0..31 of b: half the broadcasts of tileWide8,
// which take instructions from the multiplications.
func tileLong8(g []float64, n, m int, a, b []float64) {
	p, q, out := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&g[0])
	_ = a[(m-1)*n+1]
	_ = b[(m-1)*n+31]
	_ = g[n+31]
	stride := n * 8
	c00, c01, c02, c03 := loadRow8(out, 0), loadRow8(out, 64), loadRow8(out, 128), loadRow8(out, 192)
	c10, c11, c12, c13 := loadRow8(out, stride), loadRow8(out, stride+64), loadRow8(out, stride+128), loadRow8(out, stride+192)
	for {
		u, v := archsimd.BroadcastFloat64x8(*(*float64)(p)), archsimd.BroadcastFloat64x8(*(*float64)(unsafe.Add(p, 8)))
		x := archsimd.LoadFloat64x8((*[8]float64)(q))
		c00 = x.MulAdd(u, c00)
		c10 = x.MulAdd(v, c10)
		x = archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(q, 64)))
		c01 = x.MulAdd(u, c01)
		c11 = x.MulAdd(v, c11)
		x = archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(q, 128)))
		c02 = x.MulAdd(u, c02)
		c12 = x.MulAdd(v, c12)
		x = archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(q, 192)))
		c03 = x.MulAdd(u, c03)
		c13 = x.MulAdd(v, c13)
		if m--; m == 0 { // before the pointers would leave their slices
			break
		}
		p, q = unsafe.Add(p, stride), unsafe.Add(q, stride)
	}
	storeRow8(out, 0, c00)
	storeRow8(out, 64, c01)
	storeRow8(out, 128, c02)
	storeRow8(out, 192, c03)
	storeRow8(out, stride, c10)
	storeRow8(out, stride+64, c11)
	storeRow8(out, stride+128, c12)
	storeRow8(out, stride+192, c13)
}

// tileWide8 adds to g (4 rows, 16 columns, stride n) the products over m rows
// of columns 0..3 of a with columns 0..15 of b: 8 accumulators, 2 operands and
// a broadcast stay in registers. The pointers walk, one row a turn: offsets from
// a fixed base cost two instructions a load, and more rows a turn are spilled.
func tileWide8(g []float64, n, m int, a, b []float64) {
	p, q, out := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&g[0])
	_ = a[(m-1)*n+3]
	_ = b[(m-1)*n+15]
	_ = g[3*n+15]
	stride := n * 8
	c00, c01 := loadRow8(out, 0), loadRow8(out, 64)
	c10, c11 := loadRow8(out, stride), loadRow8(out, stride+64)
	c20, c21 := loadRow8(out, 2*stride), loadRow8(out, 2*stride+64)
	c30, c31 := loadRow8(out, 3*stride), loadRow8(out, 3*stride+64)
	for {
		x, y := loadRow8(q, 0), loadRow8(q, 64)
		v := splatRow8(p, 0)
		c00 = v.MulAdd(x, c00)
		c01 = v.MulAdd(y, c01)
		v = splatRow8(p, 8)
		c10 = v.MulAdd(x, c10)
		c11 = v.MulAdd(y, c11)
		v = splatRow8(p, 16)
		c20 = v.MulAdd(x, c20)
		c21 = v.MulAdd(y, c21)
		v = splatRow8(p, 24)
		c30 = v.MulAdd(x, c30)
		c31 = v.MulAdd(y, c31)
		if m--; m == 0 { // before the pointers would leave their slices
			break
		}
		p, q = unsafe.Add(p, stride), unsafe.Add(q, stride)
	}
	storeRow8(out, 0, c00)
	storeRow8(out, 64, c01)
	storeRow8(out, stride, c10)
	storeRow8(out, stride+64, c11)
	storeRow8(out, 2*stride, c20)
	storeRow8(out, 2*stride+64, c21)
	storeRow8(out, 3*stride, c30)
	storeRow8(out, 3*stride+64, c31)
}

// tile8 is tileWide8 for 8 columns.
func tile8(g []float64, n, m int, a, b []float64) {
	p, q, out := unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), unsafe.Pointer(&g[0])
	_ = a[(m-1)*n+3]
	_ = b[(m-1)*n+7]
	_ = g[3*n+7]
	stride := n * 8
	c0, c1, c2, c3 := loadRow8(out, 0), loadRow8(out, stride), loadRow8(out, 2*stride), loadRow8(out, 3*stride)
	for {
		x := loadRow8(q, 0)
		c0 = splatRow8(p, 0).MulAdd(x, c0)
		c1 = splatRow8(p, 8).MulAdd(x, c1)
		c2 = splatRow8(p, 16).MulAdd(x, c2)
		c3 = splatRow8(p, 24).MulAdd(x, c3)
		if m--; m == 0 {
			break
		}
		p, q = unsafe.Add(p, stride), unsafe.Add(q, stride)
	}
	storeRow8(out, 0, c0)
	storeRow8(out, stride, c1)
	storeRow8(out, 2*stride, c2)
	storeRow8(out, 3*stride, c3)
}

// scaleRows8 does columns 0..n&^7-1 of scaleRows.
func scaleRows8(dst []float64, n int, c, a []float64, first bool) {
	if len(c) == 0 || n < 8 {
		return
	}
	out, p := unsafe.Pointer(&dst[0]), unsafe.Pointer(&a[0])
	_, _ = dst[len(c)*n-1], a[len(c)*n-1]
	width := n &^ 7 * 8
	for r, k := range c {
		v := archsimd.BroadcastFloat64x8(k)
		o, end := r*n*8, r*n*8+width
		if first {
			for ; o < end; o += 64 {
				storeRow8(out, o, v.Mul(loadRow8(p, o)))
			}
			continue
		}
		for ; o < end; o += 64 {
			storeRow8(out, o, v.MulAdd(loadRow8(p, o), loadRow8(out, o)))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// scaleThreeRows8 sets dst[r, :] = Σ_j cj[r]·aj[r, :], n a multiple of 8: what
// three calls of scaleRows8 do, with one store for three.
func scaleThreeRows8(dst []float64, n int, c0, c1, c2, a0, a1, a2 []float64) {
	if len(c0) == 0 {
		return
	}
	out, p0, p1, p2 := unsafe.Pointer(&dst[0]), unsafe.Pointer(&a0[0]), unsafe.Pointer(&a1[0]), unsafe.Pointer(&a2[0])
	last := len(c0)*n - 1
	_, _, _, _ = dst[last], a0[last], a1[last], a2[last]
	c1, c2 = c1[:len(c0)], c2[:len(c0)]
	o := 0
	for r := range c0 {
		u, v, w := archsimd.BroadcastFloat64x8(c0[r]), archsimd.BroadcastFloat64x8(c1[r]), archsimd.BroadcastFloat64x8(c2[r])
		for end := o + n*8; o < end; o += 64 {
			x := u.Mul(loadRow8(p0, o))
			x = v.MulAdd(loadRow8(p1, o), x)
			storeRow8(out, o, w.MulAdd(loadRow8(p2, o), x))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// gatherRows8 does columns 0..n&^7-1 of GatherAxpy.
func gatherRows8(dst []float64, n int, basis []float64, points []int32, offset int, coef float64, first bool) {
	v := archsimd.BroadcastFloat64x8(coef)
	width := n &^ 7
	for r, point := range points {
		i := (int(point) + offset) * n
		x, d := basis[i:i+n], dst[r*n:(r+1)*n]
		for k := 0; k < width; k += 8 {
			y := v.Mul(load8(x, k))
			if !first {
				y = v.MulAdd(load8(x, k), load8(d, k))
			}
			store8(d, k, y)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// matVecRows8 is MatVecRows without the last n%8 columns. Four rows go
// together; the last, incomplete four repeat a row.
func matVecRows8(z []float64, n, m int, a, w []float64) {
	p, q := unsafe.Pointer(&a[0]), unsafe.Pointer(&w[0])
	stride, width := n*8, n&^7*8
	for r := 0; r < m; r += 4 {
		o0 := r * stride
		o1, o2, o3 := min(r+1, m-1)*stride, min(r+2, m-1)*stride, min(r+3, m-1)*stride
		x := loadRow8(q, 0)
		s0, s1, s2, s3 := x.Mul(loadRow8(p, o0)), x.Mul(loadRow8(p, o1)), x.Mul(loadRow8(p, o2)), x.Mul(loadRow8(p, o3))
		for k := 64; k < width; k += 64 {
			x = loadRow8(q, k)
			s0 = x.MulAdd(loadRow8(p, o0+k), s0)
			s1 = x.MulAdd(loadRow8(p, o1+k), s1)
			s2 = x.MulAdd(loadRow8(p, o2+k), s2)
			s3 = x.MulAdd(loadRow8(p, o3+k), s3)
		}
		h01 := half8(s0).AddPairsGrouped(half8(s1))
		h23 := half8(s2).AddPairsGrouped(half8(s3))
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

// matVecEight8 is matVecRows8 for rows of eight vectors: w stays in registers
// and memory is read in its own order, which counts where the rows come from
// beyond the caches. (Read directly, not by loadRow8: an inlined call leaves an
// instruction behind, and there is one per load here.)
func matVecEight8(z []float64, m int, a, w []float64) {
	p, q := unsafe.Pointer(&a[0]), unsafe.Pointer(&w[0])
	_, _ = a[m*64-1], w[64-1]
	w0, w1, w2, w3 := loadRow8(q, 0), loadRow8(q, 64), loadRow8(q, 2*64), loadRow8(q, 3*64)
	w4, w5, w6, w7 := loadRow8(q, 4*64), loadRow8(q, 5*64), loadRow8(q, 6*64), loadRow8(q, 7*64)
	for r := 0; r < m; r += 4 {
		var h [4]archsimd.Float64x4
		for i := range h {
			row := unsafe.Add(p, min(r+i, m-1)*512)
			s := archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(row, 0))).Mul(w0)
			s = archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(row, 64))).MulAdd(w1, s)
			s = archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(row, 2*64))).MulAdd(w2, s)
			s = archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(row, 3*64))).MulAdd(w3, s)
			s = archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(row, 4*64))).MulAdd(w4, s)
			s = archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(row, 5*64))).MulAdd(w5, s)
			s = archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(row, 6*64))).MulAdd(w6, s)
			s = archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(row, 7*64))).MulAdd(w7, s)
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

// half8 adds the halves of v.
func half8(v archsimd.Float64x8) archsimd.Float64x4 { return v.GetLo().Add(v.GetHi()) }

// accumulateTransposed8 does columns 0..n&^7-1 of AccumulateTransposed, two
// vectors and two rows at once.
func accumulateTransposed8(g []float64, n, m int, a, s []float64) {
	if m == 0 {
		return
	}
	p, q, out := unsafe.Pointer(&a[0]), unsafe.Pointer(&s[0]), unsafe.Pointer(&g[0])
	stride, width := n*8, n&^7*8
	k := 0
	for ; k+128 <= width; k += 128 {
		c0, c1 := loadRow8(out, k), loadRow8(out, k+64)
		var d0, d1 archsimd.Float64x8
		r := 0
		for ; r+2 <= m; r += 2 {
			v, o := splatRow8(q, r*8), r*stride+k
			c0 = v.MulAdd(loadRow8(p, o), c0)
			c1 = v.MulAdd(loadRow8(p, o+64), c1)
			v, o = splatRow8(q, r*8+8), o+stride
			d0 = v.MulAdd(loadRow8(p, o), d0)
			d1 = v.MulAdd(loadRow8(p, o+64), d1)
		}
		if r < m {
			v, o := splatRow8(q, r*8), r*stride+k
			c0 = v.MulAdd(loadRow8(p, o), c0)
			c1 = v.MulAdd(loadRow8(p, o+64), c1)
		}
		storeRow8(out, k, c0.Add(d0))
		storeRow8(out, k+64, c1.Add(d1))
	}
	if k < width {
		c := loadRow8(out, k)
		for r := range m {
			c = splatRow8(q, r*8).MulAdd(loadRow8(p, r*stride+k), c)
		}
		storeRow8(out, k, c)
	}
	archsimd.ClearAVXUpperBits()
}

// dot8 returns Σ x[i]·y[i] over the first len(x)&^31 elements.
func dot8(x, y []float64) float64 {
	var s0, s1, s2, s3 archsimd.Float64x8
	for i := 0; i+32 <= len(x); i += 32 {
		s0 = load8(x, i).MulAdd(load8(y, i), s0)
		s1 = load8(x, i+8).MulAdd(load8(y, i+8), s1)
		s2 = load8(x, i+2*8).MulAdd(load8(y, i+2*8), s2)
		s3 = load8(x, i+3*8).MulAdd(load8(y, i+3*8), s3)
	}
	var v [8]float64
	s0.Add(s1).Add(s2.Add(s3)).Store(&v)
	archsimd.ClearAVXUpperBits()
	sum := 0.0
	for _, t := range v {
		sum += t
	}
	return sum
}

// axpy8 does the first len(x)&^7 elements of Axpy64.
func axpy8(dst []float64, alpha float64, x []float64) {
	v := archsimd.BroadcastFloat64x8(alpha)
	for i := 0; i+8 <= len(x); i += 8 {
		store8(dst, i, v.MulAdd(load8(x, i), load8(dst, i)))
	}
	archsimd.ClearAVXUpperBits()
}
