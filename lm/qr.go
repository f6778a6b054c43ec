package lm

import "math"

// qrBlock is the number of rows reduced at a time.
const qrBlock = 128

// qrFactor is a sequential QR factorisation of [J r]: only the triangle R,
// the rotated right-hand side z = Qᵀr and one block of rows are kept, so
// memory is O(n² + n·qrBlock) for any number of rows. Its work is 2mn².
type qrFactor struct {
	n, rows int
	valid   bool
	r       []float64 // n x n upper triangle, row-major
	z       []float64 // n
	block   []float64 // qrBlock x n rows at work
	rhs     []float64 // qrBlock

	// The pivoted finish: [R S; √μ D S] with S the inverse column norms.
	m     []float64 // 2n x n, row-major
	b     []float64 // 2n
	scale []float64
	perm  []int
	norms []float64
	x     []float64
	found int // rank of the last finish
}

func newQR(n int) qrFactor {
	return qrFactor{
		r: make([]float64, n*n), z: make([]float64, n),
		block: make([]float64, qrBlock*n), rhs: make([]float64, qrBlock),
		m: make([]float64, 2*n*n), b: make([]float64, 2*n),
		scale: make([]float64, n), perm: make([]int, n), norms: make([]float64, n), x: make([]float64, n),
	}
}

func (q *qrFactor) reset(n int) {
	q.n, q.rows, q.valid = n, 0, false
	clear(q.r[:n*n])
	clear(q.z[:n])
}

// add eliminates rows against R by Householder reflections; it is a visit function
// of EachBlock. The reflection of column j touches row j of R and the rows only.
func (q *qrFactor) add(r, jac []float64) {
	n := q.n
	q.rows += len(r)
	for len(r) > 0 {
		k := min(qrBlock, len(r))
		block, rhs := q.block[:k*n], q.rhs[:k]
		copy(block, jac)
		copy(rhs, r)
		for j := range n {
			reflect(q.r[j*n:(j+1)*n], block, q.z[j:], rhs, j, q.x)
		}
		r, jac = r[k:], jac[k*n:]
	}
}

// addDiagonal adds the n rows ε·e_j with residuals ε·w_j.
func (q *qrFactor) addDiagonal(ridge float64, w []float64) {
	row := q.norms[:q.n]
	for j, v := range w {
		clear(row)
		row[j] = ridge
		q.add([]float64{ridge * v}, row)
	}
}

// reflect applies the Householder reflection that clears column j of block
// (len(rhs) x len(row)) against entry j of row, to the columns from j on and to
// the right-hand sides z[0] of row and rhs of block. It leaves its vector in
// column j of block; w is scratch.
func reflect(row, block, z, rhs []float64, j int, w []float64) {
	n := len(row)
	below := 0.0
	for i := range rhs {
		below += block[i*n+j] * block[i*n+j]
	}
	below = math.Sqrt(below)
	if below == 0 {
		return
	}
	alpha := row[j]
	beta := -math.Copysign(math.Hypot(alpha, below), alpha)
	// H = I − τ v vᵀ, v = (1, x/(α−β)), τ = (β−α)/β.
	tau, inv := (beta-alpha)/beta, 1/(alpha-beta)
	row[j] = beta
	row, w = row[j+1:], w[j+1:n]
	copy(w, row)
	wz := z[0]
	for i := range rhs {
		v := block[i*n+j] * inv
		block[i*n+j] = v
		if v != 0 {
			axpy(w, v, block[i*n+j+1:(i+1)*n])
			wz += v * rhs[i]
		}
	}
	axpy(row, -tau, w)
	z[0] -= tau * wz
	for i := range rhs {
		if v := tau * block[i*n+j]; v != 0 {
			axpy(block[i*n+j+1:(i+1)*n], -v, w)
			rhs[i] -= v * wz
		}
	}
}

// solve overwrites x with the minimiser of ‖Rx + z‖² + μ‖Dx‖², √μ = root, by
// QR with column pivoting on unit columns. Columns beyond the numerical rank
// get 0 (a basic solution). It reports false if the result is not finite.
func (q *qrFactor) solve(x []float64, root float64, d []float64) bool {
	q.finish(root, d)
	y := q.x[:q.n]
	clear(y)
	negate(y, q.b[:q.found])
	q.back(x, y)
	return allFinite(x)
}

// back overwrites y with R⁻¹y, R the triangle of the last finish, and x with the
// same in the order and scale of the unknowns. Beyond the rank y must be zero.
func (q *qrFactor) back(x, y []float64) {
	n, m, rank := q.n, q.m, q.found
	for i := rank - 1; i >= 0; i-- {
		y[i] = (y[i] - dot(m[i*n+i+1:i*n+rank], y[i+1:rank])) / m[i*n+i]
	}
	for i, j := range q.perm[:n] {
		x[j] = y[i] * q.scale[j]
	}
}

// rank returns the numerical rank of the rows.
func (q *qrFactor) rank() int { return q.finish(0, nil) }

// rankOf returns the numerical rank of a symmetric positive semi-definite a
// (n x n) scaled to unit diagonal. It overwrites the factor of the rows.
func (q *qrFactor) rankOf(a []float64, n int) int {
	q.reset(n)
	q.rows = 10 * n
	for i := range n {
		for j := range n {
			if s := math.Sqrt(a[i*n+i]) * math.Sqrt(a[j*n+j]); s > 0 {
				q.r[i*n+j] = a[i*n+j] / s
			}
		}
	}
	return q.rank()
}

// finish factors [R; root·D] with column pivoting into the permuted triangle m and
// the rotated right-hand side b. It returns the rank.
func (q *qrFactor) finish(root float64, d []float64) int {
	n := q.n
	rows := n
	copy(q.m, q.r[:n*n])
	copy(q.b, q.z[:n])
	if root != 0 {
		rows = 2 * n
		clear(q.m[n*n : 2*n*n])
		clear(q.b[n : 2*n])
		for j := range n {
			q.m[(n+j)*n+j] = root * d[j]
		}
	}
	m := q.m[:rows*n]
	for j := range n {
		s := columnNorm(m[j:], n)
		q.scale[j] = 1
		if s > 0 {
			q.scale[j] = 1 / s
		}
		q.perm[j] = j
		for i := range rows {
			m[i*n+j] *= q.scale[j]
		}
	}
	// Rounding of the sequential stage grows at most with the rows seen.
	tolerance := min(1e-10, float64(max(q.rows, n))*epsilon)
	q.found = n
	for j := range n {
		// Column norms are recomputed: n is small and downdating loses them
		// exactly where the rank is decided.
		norms := q.norms[j:n]
		clear(norms)
		for i := j; i < rows; i++ {
			for c, v := range m[i*n+j : (i+1)*n] {
				norms[c] += v * v
			}
		}
		best, largest := j, -1.0
		for c, s := range norms {
			if s > largest {
				best, largest = j+c, s
			}
		}
		if math.Sqrt(largest) <= tolerance {
			q.found = j
			break
		}
		if best != j {
			for i := range rows {
				m[i*n+j], m[i*n+best] = m[i*n+best], m[i*n+j]
			}
			q.perm[j], q.perm[best] = q.perm[best], q.perm[j]
		}
		reflect(m[j*n:(j+1)*n], m[(j+1)*n:], q.b[j:], q.b[j+1:rows], j, q.norms)
	}
	return q.found
}

// columnNorm returns the norm of m[0], m[n], m[2n], ..., without overflow.
func columnNorm(m []float64, n int) float64 {
	s := 0.0
	for i := 0; i < len(m); i += n {
		s += m[i] * m[i]
	}
	if s > 1e-200 && s < 1e200 {
		return math.Sqrt(s)
	}
	s = 0
	for i := 0; i < len(m); i += n {
		s = math.Hypot(s, m[i])
	}
	return s
}

// solveNormal overwrites x with (RᵀR)⁻¹b from the last finish, which must
// have found full rank: two triangular solves that never form RᵀR.
func (q *qrFactor) solveNormal(x, b []float64) {
	n, m, y := q.n, q.m, q.x[:q.n]
	for i, j := range q.perm[:n] {
		y[i] = b[j] * q.scale[j]
	}
	for i := range n {
		y[i] /= m[i*n+i]
		axpy(y[i+1:], -y[i], m[i*n+i+1:(i+1)*n])
	}
	q.back(x, y)
}
