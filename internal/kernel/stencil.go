package kernel

// Stencils is a set of short weighted sums on a field, and for every point of the
// field the one that belongs to it. Stencil k at point p is
//
//	Σ_e Coef[e] u[p+Offset[e]],  Start[k] <= e < Start[k+1].
//
// A stencil without entries gives 0.
type Stencils struct {
	Start  []int32
	Offset []int32
	Coef   []float64
	Which  []uint16 // per point: its stencil
}

// stencilBlock is the number of points that vectors of stencils take at once.
const stencilBlock = 64

// GatherStencils applies the stencils of the given points to n fields at once:
// with basis (P, n) and dst (len(points), n), both row-major,
//
//	dst[r,:] = Σ_e Coef[e] basis[points[r]+Offset[e],:].
//
// It panics if a stencil reaches outside basis.
func GatherStencils(dst, basis []float64, n int, points []int32, s *Stencils) {
	if n < 1 || len(dst) != len(points)*n || len(basis) != len(s.Which)*n {
		panic("kernel: GatherStencils: want basis (P, n) and dst (len(points), n)")
	}
	done := 0
	if width > 0 && len(points) > 0 {
		checkStencils(len(basis)/n, points, s)
		done = gatherStencils64(dst, basis, n, points, s)
	}
	if done < n {
		gatherStencilsGo(dst, basis, n, done, points, s)
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

// gatherStencilsGo does the fields from column lo on.
func gatherStencilsGo(dst, basis []float64, n, lo int, points []int32, s *Stencils) {
	if n == 1 {
		for r, p := range points {
			k, sum := s.Which[p], 0.0
			for e := s.Start[k]; e < s.Start[k+1]; e++ {
				sum += s.Coef[e] * basis[p+s.Offset[e]]
			}
			dst[r] = sum
		}
		return
	}
	for r, p := range points {
		out := dst[r*n+lo : (r+1)*n]
		clear(out)
		k := s.Which[p]
		for e := s.Start[k]; e < s.Start[k+1]; e++ {
			c := s.Coef[e]
			q := int(p) + int(s.Offset[e])
			in := basis[q*n+lo : (q+1)*n]
			for j := range out {
				out[j] += c * in[j]
			}
		}
	}
}

// ApplyStencil sets dst[i] = Σ_e coef[e] u[first+offset[e]+i] for every i: one
// stencil along a stretch of points that starts at point first of u. dst and u
// must not overlap.
func ApplyStencil(dst, u []float64, first int, offset []int32, coef []float64) {
	n := len(dst)
	for _, o := range offset {
		if q := first + int(o); q < 0 || q+n > len(u) {
			panic("kernel: ApplyStencil: stencil reaches outside the field")
		}
	}
	clear(dst)
	for e, o := range offset {
		Axpy64(dst, coef[e], u[first+int(o):][:n])
	}
}
