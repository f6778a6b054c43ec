package lm

import "math"

// linear solves the damped systems at a point.
type linear struct {
	method       LinearSolver
	chol         cholesky
	qr           qrFactor // of the rows at the point, where valid
	rhs, scratch []float64
}

func newLinear(n int, method LinearSolver) linear {
	return linear{method: method, chol: newCholesky(n), qr: newQR(n), rhs: make([]float64, n), scratch: make([]float64, n)}
}

// solve solves (A + μD²) step = −g at x.
func (l *linear) solve(step []float64, p problem, x *point, mu float64, d []float64) bool {
	if l.method == LinearQR && p.rows != nil {
		return l.solveQR(step, p, x, mu, d)
	}
	ok := l.chol.factor(x.a, p.n, mu, d)
	if l.method == LinearAutomatic && l.chol.pivot < qrPivot && p.rows != nil {
		return l.solveQR(step, p, x, mu, d)
	}
	if !ok {
		return false
	}
	rhs := l.rhs[:p.n]
	negate(rhs, x.g)
	l.chol.solve(step, rhs)
	switch {
	case l.method == LinearCholesky || l.chol.pivot >= refinePivot:
	case p.rows != nil:
		l.refineRows(step, p, x, mu, d)
	default:
		l.chol.refine(step, rhs, x.a, mu, d, l.scratch)
	}
	return true
}

// refineRows improves step with the true rows: the residual of the normal
// equations is Jᵀ(r + Jδ) + ε²(w + δ) + μD²δ, which does not see the rounding
// of JᵀJ.
func (l *linear) refineRows(step []float64, p problem, x *point, mu float64, d []float64) {
	n, e2, residual := p.n, p.ridge*p.ridge, l.scratch[:p.n]
	for j := range residual {
		residual[j] = e2*(x.w[j]+step[j]) + mu*d[j]*d[j]*step[j]
	}
	p.rows.EachBlock(x.w, func(r, jac []float64) {
		for i, v := range r {
			row := jac[i*n : (i+1)*n]
			axpy(residual, v+dot(row, step), row)
		}
	})
	l.chol.solve(residual, residual)
	axpy(step, -1, residual)
}

// solveQR solves the damped problem from the rows by pivoted QR.
func (l *linear) solveQR(step []float64, p problem, x *point, mu float64, d []float64) bool {
	l.factorRows(p, x)
	return l.qr.solve(step, math.Sqrt(mu), d)
}

// factorRows makes qr hold the triangular factor of [J; εI] and the rotated
// right-hand side at x.
func (l *linear) factorRows(p problem, x *point) {
	if l.qr.valid {
		return
	}
	l.qr.reset(p.n)
	p.rows.EachBlock(x.w, l.qr.block)
	if p.ridge != 0 {
		l.qr.diagonal(p.ridge, x.w)
	}
	l.qr.valid = true
}

// rank returns the numerical rank of [J; εI] at x with columns scaled to unit
// length: n where the pivots of chol, the factor of a, leave no doubt; else by
// pivoted QR, of the rows where they can be read, and otherwise of a, which cannot
// see below about 1e-8.
func (l *linear) rank(p problem, x *point) int {
	switch {
	case l.chol.pivot >= qrPivot:
		return p.n
	case p.rows != nil:
		l.factorRows(p, x)
		return l.qr.rank()
	}
	return l.qr.rankOf(x.a, p.n)
}
