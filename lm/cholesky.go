package lm

import (
	"math"
)

// cholesky factors a symmetric positive definite matrix scaled to unit
// diagonal, S M S = L Lᵀ with S = diag(M)^-1/2. Scaling first makes the
// pivots a measure of conditioning and, by van der Sluis (1969), comes within
// a factor n of the best diagonal scaling.
type cholesky struct {
	n     int
	l     []float64 // n x n row-major, lower triangle
	scale []float64 // n, diagonal of S
	pivot float64   // smallest pivot, in (0, 1]; 0 after a breakdown
}

func newCholesky(n int) cholesky {
	return cholesky{l: make([]float64, n*n), scale: make([]float64, n)}
}

// factor factors M = a + mu·diag(d)² (n x n, row-major; d nil means I if mu is
// not 0). It reports whether all pivots were positive. A zero diagonal entry
// has scale 1: with mu = 0 it breaks down at that column.
func (c *cholesky) factor(a []float64, n int, mu float64, d []float64) bool {
	c.n, c.pivot = n, 0
	l, scale := c.l, c.scale[:n]
	for j := range n {
		v := a[j*n+j] + damp(mu, d, j)
		switch {
		case v > 0 && !math.IsInf(v, 1):
			scale[j] = 1 / math.Sqrt(v)
		case v == 0:
			scale[j] = 1
		default: // negative, Inf or NaN
			return false
		}
	}
	for i := range n {
		si := scale[i]
		row, src := l[i*n:i*n+i+1], a[i*n:i*n+i+1]
		for j := range i {
			row[j] = src[j] * si * scale[j]
		}
		row[i] = (src[i] + damp(mu, d, i)) * si * si
	}
	return c.decompose()
}

func damp(mu float64, d []float64, j int) float64 {
	switch {
	case mu == 0:
		return 0
	case d == nil:
		return mu
	}
	return mu * d[j] * d[j]
}

// decompose runs the row-oriented factorisation on the lower triangle in l:
// all inner loops are dot products of contiguous rows, four at a time.
func (c *cholesky) decompose() bool {
	n, l := c.n, c.l
	smallest := math.Inf(1)
	for i := range n {
		row := l[i*n : i*n+i+1]
		j := 0
		for ; j+4 <= i; j += 4 {
			// The 4 x 4 triangle under the diagonal block needs the earlier
			// entries of this row, so only the first j terms are shared.
			s0, s1, s2, s3 := dot4(row[:j], l[j*n:], l[(j+1)*n:], l[(j+2)*n:], l[(j+3)*n:])
			r0 := (row[j] - s0) * l[j*n+j]
			q := l[(j+1)*n+j:]
			r1 := (row[j+1] - s1 - r0*q[0]) * q[1]
			q = l[(j+2)*n+j:]
			r2 := (row[j+2] - s2 - r0*q[0] - r1*q[1]) * q[2]
			q = l[(j+3)*n+j:]
			r3 := (row[j+3] - s3 - r0*q[0] - r1*q[1] - r2*q[2]) * q[3]
			row[j], row[j+1], row[j+2], row[j+3] = r0, r1, r2, r3
		}
		for ; j < i; j++ {
			row[j] = (row[j] - dot(row[:j], l[j*n:j*n+j])) * l[j*n+j]
		}
		p := row[i] - dot(row[:i], row[:i])
		if !(p > 0) {
			c.pivot = 0
			return false
		}
		smallest = min(smallest, p)
		row[i] = 1 / math.Sqrt(p) // the diagonal holds reciprocals
	}
	c.pivot = smallest
	return true
}

// solve overwrites x with M⁻¹b; x and b may be the same slice.
func (c *cholesky) solve(x, b []float64) {
	n, l, scale := c.n, c.l, c.scale[:c.n]
	x = x[:n]
	for i := range n {
		x[i] = (b[i]*scale[i] - dot(l[i*n:i*n+i], x[:i])) * l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		x[i] *= l[i*n+i]
		axpy(x[:i], -x[i], l[i*n:i*n+i])
	}
	for i := range x {
		x[i] *= scale[i]
	}
}

// refine improves x ≈ M⁻¹b, M = a + mu·d², by one step of iterative
// refinement; tmp (n) is scratch.
func (c *cholesky) refine(x, b, a []float64, mu float64, d, tmp []float64) {
	n := c.n
	for i := range n {
		tmp[i] = b[i] - dot(a[i*n:(i+1)*n], x[:n]) - damp(mu, d, i)*x[i]
	}
	c.solve(tmp, tmp)
	axpy(x[:n], 1, tmp[:n])
}
