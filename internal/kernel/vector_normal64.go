//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"unsafe"
)

// The least-squares kernels of f64_normal.go by vectors. Inner loops dereference
// vectors: each inlined call, load64 too, leaves an instruction behind.

// gemm64 adds rows 0..done-1 of the lower triangle of aᵀb to gram, or of all of
// aᵀb, and returns done, the rows in whole blocks as high as a vector is long.
func gemm64(gram []float64, n, m int, a, b []float64, all bool) (done int) {
	lanes := (simd.Float64s{}).Len()
	block := max(lanes, 4)
	if done = n / block * block; done == 0 || m == 0 {
		return done
	}
	for i := 0; i < done; i += block {
		end := i + block
		if all {
			end = done
		}
		for c := 0; c < end; {
			vectors, rows := 1, 4
			switch {
			case c+4*lanes <= end:
				vectors, rows = 4, 2
			case c+2*lanes <= end:
				vectors = 2
			}
			for k := i; k < i+block; k += rows {
				out, p, q := unsafe.Pointer(&gram[k*n+c]), unsafe.Pointer(&a[k]), unsafe.Pointer(&b[c])
				switch vectors {
				case 4:
					tile2x4(out, p, q, 8*uintptr(n), m)
				case 2:
					tile4x2(out, p, q, 8*uintptr(n), m)
				default:
					tile4x1(out, p, q, 8*uintptr(n), m)
				}
			}
			c += vectors * lanes
		}
	}
	clearUpper()
	return done
}

// tile2x4 adds to 2 rows of 4 vectors at out the products over m rows of 2 columns
// at p with 4 vectors of columns at q. It takes half the broadcasts of tile4x2, which
// take instructions from the multiplications.
func tile2x4(out, p, q unsafe.Pointer, stride uintptr, m int) {
	w := 8 * uintptr((simd.Float64s{}).Len())
	row := unsafe.Add(out, stride)
	c00, c01, c02, c03 := load64(out), load64(unsafe.Add(out, w)), load64(unsafe.Add(out, 2*w)), load64(unsafe.Add(out, 3*w))
	c10, c11, c12, c13 := load64(row), load64(unsafe.Add(row, w)), load64(unsafe.Add(row, 2*w)), load64(unsafe.Add(row, 3*w))
	for {
		u, v := simd.BroadcastFloat64s(*(*float64)(p)), simd.BroadcastFloat64s(*(*float64)(unsafe.Add(p, 8)))
		x := *(*simd.Float64s)(q)
		c00 = x.MulAdd(u, c00)
		c10 = x.MulAdd(v, c10)
		x = *(*simd.Float64s)(unsafe.Add(q, w))
		c01 = x.MulAdd(u, c01)
		c11 = x.MulAdd(v, c11)
		x = *(*simd.Float64s)(unsafe.Add(q, 2*w))
		c02 = x.MulAdd(u, c02)
		c12 = x.MulAdd(v, c12)
		x = *(*simd.Float64s)(unsafe.Add(q, 3*w))
		c03 = x.MulAdd(u, c03)
		c13 = x.MulAdd(v, c13)
		if m--; m == 0 { // before the pointers would leave their slices
			break
		}
		p, q = unsafe.Add(p, stride), unsafe.Add(q, stride)
	}
	store64(out, c00)
	store64(unsafe.Add(out, w), c01)
	store64(unsafe.Add(out, 2*w), c02)
	store64(unsafe.Add(out, 3*w), c03)
	store64(row, c10)
	store64(unsafe.Add(row, w), c11)
	store64(unsafe.Add(row, 2*w), c12)
	store64(unsafe.Add(row, 3*w), c13)
}

// tile4x2 is tile2x4 for 4 rows of 2 vectors.
func tile4x2(out, p, q unsafe.Pointer, stride uintptr, m int) {
	w := 8 * uintptr((simd.Float64s{}).Len())
	row1, row2, row3 := unsafe.Add(out, stride), unsafe.Add(out, 2*stride), unsafe.Add(out, 3*stride)
	c00, c01, c10, c11 := load64(out), load64(unsafe.Add(out, w)), load64(row1), load64(unsafe.Add(row1, w))
	c20, c21, c30, c31 := load64(row2), load64(unsafe.Add(row2, w)), load64(row3), load64(unsafe.Add(row3, w))
	for {
		x, y := *(*simd.Float64s)(q), *(*simd.Float64s)(unsafe.Add(q, w))
		v := simd.BroadcastFloat64s(*(*float64)(p))
		c00 = v.MulAdd(x, c00)
		c01 = v.MulAdd(y, c01)
		v = simd.BroadcastFloat64s(*(*float64)(unsafe.Add(p, 8)))
		c10 = v.MulAdd(x, c10)
		c11 = v.MulAdd(y, c11)
		v = simd.BroadcastFloat64s(*(*float64)(unsafe.Add(p, 16)))
		c20 = v.MulAdd(x, c20)
		c21 = v.MulAdd(y, c21)
		v = simd.BroadcastFloat64s(*(*float64)(unsafe.Add(p, 24)))
		c30 = v.MulAdd(x, c30)
		c31 = v.MulAdd(y, c31)
		if m--; m == 0 {
			break
		}
		p, q = unsafe.Add(p, stride), unsafe.Add(q, stride)
	}
	store64(out, c00)
	store64(unsafe.Add(out, w), c01)
	store64(row1, c10)
	store64(unsafe.Add(row1, w), c11)
	store64(row2, c20)
	store64(unsafe.Add(row2, w), c21)
	store64(row3, c30)
	store64(unsafe.Add(row3, w), c31)
}

// tile4x1 is tile2x4 for 4 rows of 1 vector.
func tile4x1(out, p, q unsafe.Pointer, stride uintptr, m int) {
	row1, row2, row3 := unsafe.Add(out, stride), unsafe.Add(out, 2*stride), unsafe.Add(out, 3*stride)
	c0, c1, c2, c3 := load64(out), load64(row1), load64(row2), load64(row3)
	for {
		x := *(*simd.Float64s)(q)
		c0 = simd.BroadcastFloat64s(*(*float64)(p)).MulAdd(x, c0)
		c1 = simd.BroadcastFloat64s(*(*float64)(unsafe.Add(p, 8))).MulAdd(x, c1)
		c2 = simd.BroadcastFloat64s(*(*float64)(unsafe.Add(p, 16))).MulAdd(x, c2)
		c3 = simd.BroadcastFloat64s(*(*float64)(unsafe.Add(p, 24))).MulAdd(x, c3)
		if m--; m == 0 {
			break
		}
		p, q = unsafe.Add(p, stride), unsafe.Add(q, stride)
	}
	store64(out, c0)
	store64(row1, c1)
	store64(row2, c2)
	store64(row3, c3)
}

// scaleRows64 does the first columns of scaleRows and returns their number.
func scaleRows64(dst []float64, n int, c, a []float64, first bool) int {
	lanes := (simd.Float64s{}).Len()
	done := n / lanes * lanes
	if len(c) == 0 || done == 0 {
		return done
	}
	out, p := unsafe.Pointer(&dst[0]), unsafe.Pointer(&a[0])
	w := 8 * uintptr(lanes)
	for r, k := range c {
		v := simd.BroadcastFloat64s(k)
		o := 8 * uintptr(r*n)
		end := o + 8*uintptr(done)
		if first {
			for ; o < end; o += w {
				*(*simd.Float64s)(unsafe.Add(out, o)) = v.Mul(*(*simd.Float64s)(unsafe.Add(p, o)))
			}
			continue
		}
		for ; o < end; o += w {
			*(*simd.Float64s)(unsafe.Add(out, o)) = v.MulAdd(*(*simd.Float64s)(unsafe.Add(p, o)), *(*simd.Float64s)(unsafe.Add(out, o)))
		}
	}
	clearUpper()
	return done
}

// scaleThreeRows64 sets dst[r, :] = Σ_j cj[r]·aj[r, :]: what three calls of
// scaleRows64 do, with one store for three. It reports whether it did: n must be a
// multiple of the vectors' length.
func scaleThreeRows64(dst []float64, n int, c0, c1, c2, a0, a1, a2 []float64) bool {
	lanes := (simd.Float64s{}).Len()
	if n%lanes != 0 {
		return false
	}
	if len(c0) == 0 {
		return true
	}
	out, p0, p1, p2 := unsafe.Pointer(&dst[0]), unsafe.Pointer(&a0[0]), unsafe.Pointer(&a1[0]), unsafe.Pointer(&a2[0])
	c1, c2 = c1[:len(c0)], c2[:len(c0)]
	o, w := uintptr(0), 8*uintptr(lanes)
	for r := range c0 {
		u, v, t := simd.BroadcastFloat64s(c0[r]), simd.BroadcastFloat64s(c1[r]), simd.BroadcastFloat64s(c2[r])
		end := o + 8*uintptr(n)
		for ; o+2*w <= end; o += 2 * w {
			q0, q1, q2, d := unsafe.Add(p0, o), unsafe.Add(p1, o), unsafe.Add(p2, o), unsafe.Add(out, o)
			x, y := (*(*simd.Float64s)(q0)).Mul(u), (*(*simd.Float64s)(unsafe.Add(q0, w))).Mul(u)
			x, y = (*(*simd.Float64s)(q1)).MulAdd(v, x), (*(*simd.Float64s)(unsafe.Add(q1, w))).MulAdd(v, y)
			x, y = (*(*simd.Float64s)(q2)).MulAdd(t, x), (*(*simd.Float64s)(unsafe.Add(q2, w))).MulAdd(t, y)
			*(*simd.Float64s)(d) = x
			*(*simd.Float64s)(unsafe.Add(d, w)) = y
		}
		if o < end {
			x := (*(*simd.Float64s)(unsafe.Add(p0, o))).Mul(u)
			x = (*(*simd.Float64s)(unsafe.Add(p1, o))).MulAdd(v, x)
			*(*simd.Float64s)(unsafe.Add(out, o)) = (*(*simd.Float64s)(unsafe.Add(p2, o))).MulAdd(t, x)
			o = end
		}
	}
	clearUpper()
	return true
}

// matVecRows64 does the first columns of MatVecRows and returns their number. It
// keeps what vectors have summed for some rows, and adds up their elements then.
func matVecRows64(z []float64, n, m int, a, x []float64) int {
	lanes := (simd.Float64s{}).Len()
	done := n / lanes * lanes
	if done == 0 || m == 0 {
		return done
	}
	const rows = 64
	var sums [rows * 8]float64
	p, q, s := unsafe.Pointer(&a[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&sums)
	for lo := 0; lo < m; lo += rows {
		some := min(rows, m-lo)
		switch n {
		case 8 * lanes:
			dots8(s, unsafe.Add(p, 8*lo*n), q, some)
		case 2 * lanes:
			dots2(s, unsafe.Add(p, 8*lo*n), q, some)
		default:
			dots(s, unsafe.Add(p, 8*lo*n), q, some, 8*uintptr(n))
		}
		clearUpper()
		sumRows(z[lo:lo+some], sums[:], lanes)
	}
	return done
}

// sumRowsGo sets z[r] to the sum of row r of s, which has 2, 4 or 8 columns.
func sumRowsGo(z, s []float64, columns int) {
	for r := range z {
		switch columns {
		case 8:
			v := (*[8]float64)(s[8*r:])
			z[r] = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]))
		case 4:
			v := (*[4]float64)(s[4*r:])
			z[r] = (v[0] + v[1]) + (v[2] + v[3])
		default:
			z[r] = s[2*r] + s[2*r+1]
		}
	}
}

// dots stores for each of m rows at p, stride bytes apart, the sum of the vectors of
// its products with the row at q. Four rows go together; the last, incomplete four
// repeat a row.
func dots(sums, p, q unsafe.Pointer, m int, stride uintptr) {
	w := 8 * uintptr((simd.Float64s{}).Len())
	width := stride / w * w
	for r := 0; r < m; r += 4 {
		p0, p1 := unsafe.Add(p, uintptr(r)*stride), unsafe.Add(p, uintptr(min(r+1, m-1))*stride)
		p2, p3 := unsafe.Add(p, uintptr(min(r+2, m-1))*stride), unsafe.Add(p, uintptr(min(r+3, m-1))*stride)
		var s0, s1, s2, s3 simd.Float64s
		for k := uintptr(0); k < width; k += w {
			x := *(*simd.Float64s)(unsafe.Add(q, k))
			s0 = (*(*simd.Float64s)(unsafe.Add(p0, k))).MulAdd(x, s0)
			s1 = (*(*simd.Float64s)(unsafe.Add(p1, k))).MulAdd(x, s1)
			s2 = (*(*simd.Float64s)(unsafe.Add(p2, k))).MulAdd(x, s2)
			s3 = (*(*simd.Float64s)(unsafe.Add(p3, k))).MulAdd(x, s3)
		}
		store64(sums, s0) // past the last row there is room
		store64(unsafe.Add(sums, w), s1)
		store64(unsafe.Add(sums, 2*w), s2)
		store64(unsafe.Add(sums, 3*w), s3)
		if r+4 < m {
			sums = unsafe.Add(sums, 4*w)
		}
	}
}

// dots8 is dots for rows of eight vectors: q stays in registers and memory is read in
// its own order, which counts where the rows come from beyond the caches.
func dots8(sums, p, q unsafe.Pointer, m int) {
	w := 8 * uintptr((simd.Float64s{}).Len())
	x0, x1, x2, x3 := load64(q), load64(unsafe.Add(q, w)), load64(unsafe.Add(q, 2*w)), load64(unsafe.Add(q, 3*w))
	x4, x5, x6, x7 := load64(unsafe.Add(q, 4*w)), load64(unsafe.Add(q, 5*w)), load64(unsafe.Add(q, 6*w)), load64(unsafe.Add(q, 7*w))
	for r := range uintptr(m) {
		row := unsafe.Add(p, r*8*w)
		s := (*(*simd.Float64s)(row)).Mul(x0)
		t := (*(*simd.Float64s)(unsafe.Add(row, w))).Mul(x1)
		s = (*(*simd.Float64s)(unsafe.Add(row, 2*w))).MulAdd(x2, s)
		t = (*(*simd.Float64s)(unsafe.Add(row, 3*w))).MulAdd(x3, t)
		s = (*(*simd.Float64s)(unsafe.Add(row, 4*w))).MulAdd(x4, s)
		t = (*(*simd.Float64s)(unsafe.Add(row, 5*w))).MulAdd(x5, t)
		s = (*(*simd.Float64s)(unsafe.Add(row, 6*w))).MulAdd(x6, s)
		t = (*(*simd.Float64s)(unsafe.Add(row, 7*w))).MulAdd(x7, t)
		store64(unsafe.Add(sums, r*w), s.Add(t))
	}
}

// dots2 is dots for rows of two vectors.
func dots2(sums, p, q unsafe.Pointer, m int) {
	w := 8 * uintptr((simd.Float64s{}).Len())
	x0, x1 := load64(q), load64(unsafe.Add(q, w))
	for r := range uintptr(m) {
		row := unsafe.Add(p, r*2*w)
		s := (*(*simd.Float64s)(row)).Mul(x0)
		*(*simd.Float64s)(unsafe.Add(sums, r*w)) = (*(*simd.Float64s)(unsafe.Add(row, w))).MulAdd(x1, s)
	}
}

// accumulateTransposed64 does the first columns of AccumulateTransposed and returns
// their number, two vectors and two rows at once.
func accumulateTransposed64(g []float64, n, m int, a, s []float64) int {
	lanes := (simd.Float64s{}).Len()
	done := n / lanes * lanes
	if done == 0 || m == 0 {
		return done
	}
	out, a0, s0 := unsafe.Pointer(&g[0]), unsafe.Pointer(&a[0]), unsafe.Pointer(&s[0])
	stride, w := 8*uintptr(n), 8*uintptr(lanes)
	k, end := uintptr(0), 8*uintptr(done)
	for ; k+2*w <= end; k += 2 * w {
		c0, c1 := load64(unsafe.Add(out, k)), load64(unsafe.Add(out, k+w))
		var d0, d1 simd.Float64s
		r := 0
		for ; r+2 <= m; r += 2 {
			p, q := unsafe.Add(a0, uintptr(r)*stride+k), unsafe.Add(s0, 8*r)
			v := simd.BroadcastFloat64s(*(*float64)(q))
			c0 = (*(*simd.Float64s)(p)).MulAdd(v, c0)
			c1 = (*(*simd.Float64s)(unsafe.Add(p, w))).MulAdd(v, c1)
			v, p = simd.BroadcastFloat64s(*(*float64)(unsafe.Add(q, 8))), unsafe.Add(p, stride)
			d0 = (*(*simd.Float64s)(p)).MulAdd(v, d0)
			d1 = (*(*simd.Float64s)(unsafe.Add(p, w))).MulAdd(v, d1)
		}
		if r < m {
			p, v := unsafe.Add(a0, uintptr(r)*stride+k), simd.BroadcastFloat64s(s[r])
			c0 = load64(p).MulAdd(v, c0)
			c1 = load64(unsafe.Add(p, w)).MulAdd(v, c1)
		}
		store64(unsafe.Add(out, k), c0.Add(d0))
		store64(unsafe.Add(out, k+w), c1.Add(d1))
	}
	if k < end {
		c := load64(unsafe.Add(out, k))
		for r := range m {
			c = simd.BroadcastFloat64s(s[r]).MulAdd(*(*simd.Float64s)(unsafe.Add(a0, uintptr(r)*stride+k)), c)
		}
		store64(unsafe.Add(out, k), c)
	}
	clearUpper()
	return done
}
