package lm

import "math"

// linear solves the damped systems at a point.
type linear struct {
	byQR         bool // where rows can be read
	chol         cholesky
	qr           qrFactor // of the rows at the point, where valid
	rhs, scratch []float64
}

func newLinear(n int, byQR bool) linear {
	return linear{byQR: byQR, chol: newCholesky(n), qr: newQR(n), rhs: make([]float64, n), scratch: make([]float64, n)}
}

// solve solves (A + μD²) step = −g at x, by pivoted QR of the rows where those are wanted or needed.
func (l *linear) solve(step []float64, x *Point, mu float64) bool {
	ok, byQR := false, x.rows != nil && l.byQR
	if !byQR {
		ok = l.chol.factor(x.A, len(x.W), mu, x.D)
		byQR = x.rows != nil && l.chol.pivot < qrPivot
	}
	switch {
	case byQR:
		l.factorRows(x)
		return l.qr.solve(step, math.Sqrt(mu), x.D)
	case !ok:
		return false
	}
	rhs := l.rhs[:len(x.W)]
	negate(rhs, x.G)
	l.chol.solve(step, rhs)
	switch {
	case l.chol.pivot >= refinePivot:
	case x.rows != nil:
		l.refineRows(step, x, mu)
	default:
		l.chol.refine(step, rhs, x.A, mu, x.D, l.scratch)
	}
	return true
}

// refineRows improves step with the true rows: the residual of the normal
// equations is Jᵀ(r + Jδ) + ε²(w + δ) + μD²δ, which does not see the rounding
// of JᵀJ.
func (l *linear) refineRows(step []float64, x *Point, mu float64) {
	n, e2, residual := len(x.W), x.ridge*x.ridge, l.scratch[:len(x.W)]
	for j, d := range x.D {
		residual[j] = e2*(x.W[j]+step[j]) + mu*d*d*step[j]
	}
	x.rows.EachBlock(x.W, func(r, jac []float64) {
		for i, v := range r {
			row := jac[i*n : (i+1)*n]
			axpy(residual, v+dot(row, step), row)
		}
	})
	l.chol.solve(residual, residual)
	axpy(step, -1, residual)
}

// accelerate adds half the geodesic acceleration (A + μD²)a = −Jᵀr_vv to the
// step v that solve has just found. It reports false, which rejects the trial, if
// a is not short against v. Steps that came from QR are left alone.
func (l *linear) accelerate(step []float64, p Accelerated, x *Point) bool {
	if l.chol.pivot == 0 || l.byQR {
		return true
	}
	a := l.scratch[:len(step)]
	p.Curvature(a, x.W, step)
	l.chol.solve(a, a)
	if !(x.Norm(a) <= maxAcceleration*x.Norm(step)) {
		return false
	}
	axpy(step, -0.5, a)
	return true
}

// factorRows makes qr hold the triangular factor of [J; εI] and the rotated
// right-hand side at x.
func (l *linear) factorRows(x *Point) {
	if l.qr.valid {
		return
	}
	l.qr.reset(len(x.W))
	x.rows.EachBlock(x.W, l.qr.add)
	if x.ridge != 0 {
		l.qr.addDiagonal(x.ridge, x.W)
	}
	l.qr.valid = true
}

// rank returns the numerical rank of [J; εI] at x with columns scaled to unit
// length: n where the pivots of chol, the factor of A, leave no doubt; else by
// pivoted QR, of the rows where they can be read, and otherwise of A, which cannot
// see below about 1e-8.
func (l *linear) rank(x *Point) int {
	switch {
	case l.chol.pivot >= qrPivot:
		return len(x.W)
	case x.rows != nil:
		return l.rankOfRows(x)
	}
	return l.qr.rankOf(x.A, len(x.W))
}

func (l *linear) rankOfRows(x *Point) int {
	l.factorRows(x)
	return l.qr.rank()
}
