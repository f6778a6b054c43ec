package discrete

import (
	"math"
	"math/cmplx"
)

// zeros is a matrix of complex numbers, by rows, as the functions below take them.
func zeros(rows, columns int) [][]complex128 {
	m := make([][]complex128, rows)
	for i := range m {
		m[i] = make([]complex128, columns)
	}
	return m
}

func norm(m [][]complex128) float64 {
	sum := 0.0
	for _, row := range m {
		for _, v := range row {
			sum += real(v)*real(v) + imag(v)*imag(v)
		}
	}
	return math.Sqrt(sum)
}

// solveComplex sets b to the solution of a x = b by elimination with pivots, false where a has no inverse.
func solveComplex(a, b [][]complex128) bool {
	size := norm(a)
	for c := range a {
		best := c
		for r := c; r < len(a); r++ {
			if cmplx.Abs(a[r][c]) > cmplx.Abs(a[best][c]) {
				best = r
			}
		}
		if !(cmplx.Abs(a[best][c]) > 1e-12*size) {
			return false
		}
		a[c], a[best], b[c], b[best] = a[best], a[c], b[best], b[c]
		for r := range a {
			f := a[r][c] / a[c][c]
			if r == c || f == 0 {
				continue
			}
			for j := range a {
				a[r][j] -= f * a[c][j]
			}
			for j := range b[r] {
				b[r][j] -= f * b[c][j]
			}
		}
	}
	for r := range a {
		for j := range b[r] {
			b[r][j] /= a[r][r]
		}
	}
	return true
}

// balance scales a matrix by powers of two, without changing eigenvalues, until rows and columns are about equally large (Osborne).
func balance(m [][]complex128) {
	for range 20 {
		for i := range m {
			row, column := 0.0, 0.0
			for j := range m {
				if j != i {
					row, column = row+cmplx.Abs(m[i][j]), column+cmplx.Abs(m[j][i])
				}
			}
			if row == 0 || column == 0 {
				continue
			}
			f := complex(math.Exp2(math.Round(math.Log2(row/column)/2)), 0)
			for j := range m {
				m[i][j] /= f
				m[j][i] *= f
			}
		}
	}
}

// abscissa is the largest real part of an eigenvalue of m, to about 1e-10 of its norm: how fast the norm of exp(tm) grows for large t, by
// squaring.
func abscissa(m [][]complex128) float64 {
	const squarings = 40
	size := norm(m)
	if size == 0 {
		return 0
	}
	n := len(m)
	e, power := zeros(n, n), zeros(n, n)
	for i := range n {
		e[i][i], power[i][i] = 1, 1
	}
	step := 0.5 / size
	for k := 1; k <= 20; k++ { // Taylor
		power = product(power, m, complex(step/float64(k), 0))
		for i := range n {
			for j := range n {
				e[i][j] += power[i][j]
			}
		}
	}
	log := 0.0
	for range squarings {
		by := norm(e)
		e = product(e, e, complex(1/(by*by), 0))
		log = 2 * (log + math.Log(by))
	}
	return (log + math.Log(norm(e))) / (step * math.Exp2(squarings))
}

func product(a, b [][]complex128, scale complex128) [][]complex128 {
	out := zeros(len(a), len(a))
	for i := range a {
		for k, v := range a[i] {
			for j := range b[k] {
				out[i][j] += v * b[k][j] * scale
			}
		}
	}
	return out
}
