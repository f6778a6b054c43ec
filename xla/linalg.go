package xla

import (
	"math"
	"strings"
)

// unrolled is the size up to which the elimination of inverse is written out: a GPU then starts it at once with
// what is before and after, where a loop is four kernels a column.
const unrolled = 32

// inverse inverts symmetric positive definite matrices (K, n, n) by Gauss-Jordan
// elimination in place, without pivoting, each scaled to unit diagonal. The smallest
// pivot (K) is that of package lm's Cholesky factorisation: 0 where it breaks down, and
// the inverse there is of no use, but no other matrix notices.
func (b *builder) inverse(m value) (inverse, pivot value) {
	k, n := m.shape[0], m.shape[1]
	diagonal := b.diagonal(m)
	positive := b.and(b.than("GT", diagonal, 0), b.finite(diagonal))
	usable := b.all(b.or(positive, b.than("EQ", diagonal, 0)), 1)
	one := b.full(1, f64, k, n)
	scale := b.where(positive, b.div(one, b.sqrt(diagonal)), one)
	scales := b.mul(b.spread(scale, m.shape, 0, 1), b.spread(scale, m.shape, 0, 2))
	counter := b.iota(i32, n)
	// sweep is the elimination of row and column j from a, beside the smallest pivot so far.
	sweep := func(j, a, least value) (value, value) {
		zero := b.scalar(0, i32)
		column := b.part(a, []value{zero, zero, j}, k, n, 1)
		row := b.part(a, []value{zero, j, zero}, k, 1, n)
		p := b.part(column, []value{zero, j, zero}, k, 1, 1)
		here := b.compare("EQ", counter, j)
		unit := b.convert(here, f64)
		// A sweep: column j makes room for that of the inverse.
		row = b.div(b.where(b.trailing(here, []int{k, 1, n}), b.full(1, f64, k, 1, n), row), b.spread(p, row.shape, 0, 1, 2))
		column = b.sub(column, b.spread(unit, column.shape, 1))
		rest := b.where(b.trailing(here, a.shape), b.spread(unit, a.shape, 1), a)
		a = b.sub(rest, b.mul(b.spread(column, a.shape, 0, 1, 2), b.spread(row, a.shape, 0, 1, 2)))
		flat := b.reshape(p, k)
		flat = b.where(b.than("GT", flat, 0), flat, b.full(0, f64, k)) // also for NaN
		return a, b.binary("minimum", least, flat)
	}
	a, least := b.mul(m, scales), b.full(1, f64, k)
	if n <= unrolled {
		for j := range n {
			a, least = sweep(b.scalar(float64(j), i32), a, least)
		}
	} else {
		s := b.loop([]value{b.scalar(0, i32), a, least}, func(s []value) value {
			return b.than("LT", s[0], float64(n))
		}, func(s []value) []value {
			a, least := sweep(s[0], s[1], s[2])
			return []value{b.plus(s[0], 1), a, least}
		})
		a, least = s[1], s[2]
	}
	return b.mul(a, scales), b.where(usable, least, b.full(0, f64, k))
}

// part is the array of the given shape that begins at the indices, scalars.
func (b *builder) part(x value, start []value, shape ...int) value {
	v := x
	v.shape = shape
	if x.samples > 0 {
		start = append([]value{b.scalar(0, i32)}, start...)
	}
	return b.call(shape, x.dtype, "stablehlo.dynamic_slice %s"+strings.Repeat(", %s", len(start))+", sizes = "+list(v.whole().shape), append([]value{x}, start...)...)
}

// diagonal is (K, n) of matrices (K, n, n).
func (b *builder) diagonal(m value) value {
	n := m.shape[2]
	eye := b.identity(n)
	return b.sum(b.where(b.trailing(eye, m.shape), m, b.full(0, m.dtype, m.shape...)), 2)
}

// identity tells where a matrix (n, n) has its diagonal.
func (b *builder) identity(n int) value {
	column := b.iota(i32, n)
	return b.compare("EQ", b.spread(column, []int{n, n}, 0), b.spread(column, []int{n, n}, 1))
}

// addDiagonal adds d (K, n) to the diagonals of m (K, n, n).
func (b *builder) addDiagonal(m, d value) value {
	zero := b.full(0, f64, m.shape...)
	return b.add(m, b.where(b.trailing(b.identity(m.shape[2]), m.shape), b.spread(d, m.shape, 0, 1), zero))
}

// times matrices: m (K, n, n) v (K, n).
func (b *builder) apply(m, v value) value { return b.dot("kij,kj->ki", m, v) }

// solve is m⁻¹ v with one step of iterative refinement.
func (b *builder) solve(m, inverse, v value) value {
	x := b.apply(inverse, v)
	return b.add(x, b.apply(inverse, b.sub(v, b.apply(m, x))))
}

// inner is the inner product of rows: (K) of (K, n).
func (b *builder) inner(x, y value) value { return b.sum(b.mul(x, y), 1) }

// norm is that of rows.
func (b *builder) norm(x value) value { return b.sqrt(b.inner(x, x)) }

var inf = math.Inf(1)
