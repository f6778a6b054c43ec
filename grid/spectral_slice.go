package grid

import "pihc/internal/kernel"

// complete reports whether the lists want every point of the slice or none of it, and sets whole to
// the rows (points of the slice, n) that each operator writes, nil where none are wanted.
func (w *denseWorkspace) complete(d *dense, lists []Rows[float32], first, n int) bool {
	w.whole = w.whole[:0]
	for range d.ops {
		w.whole = append(w.whole, nil)
	}
	width := d.gatherer.width
	for i := range lists {
		points := lists[i].Points
		lo, hi := within(points, first, first+width)
		if lo == hi {
			continue
		}
		for o := range d.ops {
			dst := values(d.gatherer, &lists[i], d.ops[o])
			if dst == nil {
				continue
			}
			if hi-lo != width || w.whole[o] != nil {
				return false
			}
			w.whole[o] = dst[lo*n : hi*n]
		}
		for at, p := range points[lo:hi] {
			if hi-lo == width && int(p) != first+at { // some repeat, others are missing
				return false
			}
		}
	}
	return true
}

// slice forms all rows of the slice: what columns, convolve, back and rows do for some, in the same order of
// sums. Products along x are of (nx, nx) with (nx, ny n), those along y of (ny, ny) with (ny, nx n), where the
// slice is turned: matrices of n columns alone would not fill the vectors of a product.
func (g *denseGather) slice() {
	w, row, turned := g.w, g.ny*g.n, g.nx*g.n
	if len(g.parts) > 0 {
		g.velocities()
	}
	for axis, n := range [2]int{g.nx, g.ny} {
		b, columns := g.basis, row
		if axis == 1 && len(g.along[1]) > 0 {
			b, columns = w.turned[0], turned
			turn(b, g.basis, g.nx, g.ny, g.n, turned, row)
		}
		for _, add := range [2]bool{false, true} {
			for i, a := range g.along[axis] {
				dst := w.whole[a.operator]
				if dst == nil || a.add != add {
					continue
				}
				to := dst
				if axis == 1 {
					if to = w.turned[1]; add {
						turn(to, dst, g.nx, g.ny, g.n, turned, row)
					}
				}
				gemm(to, columns, n, columns, add, g.wide[axis][i*n:], len(g.along[axis])*n, b, columns)
				if axis == 1 {
					turn(dst, to, g.ny, g.nx, g.n, row, turned)
				}
			}
		}
	}
}

// velocities does the parts of operators that vanish off neither axis.
func (g *denseGather) velocities() {
	w, row, gap, turned := g.w, g.ny*g.n, g.hatRow(g.n), g.nx*g.n
	gemm(w.hat, gap, g.nx, row, false, g.forward, g.nx, g.basis, row)
	turn(w.turned[0], w.hat, g.nx, g.ny, g.n, turned, gap)
	for _, part := range g.parts {
		dst := w.whole[part.operator]
		if dst == nil {
			continue
		}
		for r, next := 0, 0; r < g.nx; r = next { // both rows of a mode at once
			for next = r + 1; next < g.nx && g.mode[next] == g.mode[r]; next++ {
			}
			h, columns := part.hankel[g.mode[r]*(2*g.ny-1):], (next-r)*g.n
			for y := range g.ny {
				w.c, w.a = append(w.c, w.turned[1][y*turned+r*g.n:][:columns]), append(w.a, h[g.ny-1-y:][:g.ny])
			}
			kernel.GemmRows(w.c, w.a, columns, false, w.turned[0][r*g.n:], turned, g.ny)
			w.c, w.a = w.c[:0], w.a[:0]
		}
		turn(w.hat, w.turned[1], g.ny, g.nx, g.n, gap, turned)
		gemm(dst, row, g.nx, row, part.add, part.inverse, g.nx, w.hat, gap)
	}
}

// gemm sets c (m, n), or adds to it, to a (m, m) times b (m, n), rows being so far apart.
func gemm(c []float32, ldc, m, n int, add bool, a []float32, lda int, b []float32, ldb int) {
	kernel.Gemm(c, ldc, m, n, nil, add, kernel.Product[float32]{A: a, RowStride: lda, ColStride: 1, B: b, BStride: ldb, K: m}, noProduct)
}

// turn copies src (rows, columns, n) to dst (columns, rows, n), rows being so far apart.
func turn(dst, src []float32, rows, columns, n, to, from int) {
	for c := range columns {
		for r := range rows {
			copy(dst[c*to+r*n:][:n], src[r*from+c*n:])
		}
	}
}
