// Package band solves systems of linear equations by banded matrices.
package band

import (
	"math"

	"pihc/internal/kernel"
)

// A Matrix is a square matrix with lower and upper bandwidths, factored in place by
// Gaussian elimination with partial pivoting.
type Matrix struct {
	n, lower, upper int
	width           int       // of a stored row: lower + upper, and lower more for fill
	a               []float64 // row i holds columns i-lower .. i+upper+lower
	l               []float64 // column k of the factor below the diagonal, lower numbers, as it was eliminated
	pivot           []int
}

// New returns zero, of n rows, with that many diagonals below and above the main one.
func New(n, lower, upper int) *Matrix {
	lower, upper = min(lower, n-1), min(upper, n-1)
	width := 2*lower + upper + 1
	return &Matrix{n: n, lower: lower, upper: upper, width: width, a: make([]float64, n*width), l: make([]float64, n*lower), pivot: make([]int, n)}
}

// Clear sets all to zero, to be factored again.
func (b *Matrix) Clear() {
	clear(b.a)
	clear(b.l)
}

// Add adds v to an entry.
func (b *Matrix) Add(i, j int, v float64) { b.a[i*b.width+j-i+b.lower] += v }

// Factor factors the matrix, and returns false if a pivot vanishes.
func (b *Matrix) Factor() bool {
	if b.lower >= leastBlocked {
		return b.factorBlocks()
	}
	return b.factorRows()
}

// factorRows is Factor by a column at a time.
func (b *Matrix) factorRows() bool {
	w := b.width
	for k := range b.n {
		last := min(b.n-1, k+b.lower)
		p, best := k, math.Abs(b.a[k*w+b.lower])
		for i := k + 1; i <= last; i++ {
			if v := math.Abs(b.a[i*w+k-i+b.lower]); v > best {
				p, best = i, v
			}
		}
		b.pivot[k] = p
		if !(best > 0) || math.IsInf(best, 0) {
			return false
		}
		right := min(b.n-1, k+b.upper+b.lower)
		top := b.a[k*w+b.lower : k*w+b.lower+right-k+1]
		if p != k {
			swap(top, b.a[p*w+k-p+b.lower:])
		}
		for i := k + 1; i <= last; i++ {
			row := b.a[i*w+k-i+b.lower : i*w+k-i+b.lower+right-k+1]
			if row[0] == 0 {
				continue
			}
			f := row[0] / top[0]
			b.l[k*b.lower+i-k-1] = f
			kernel.Axpy64(row[1:], -f, top[1:])
		}
	}
	return true
}

const (
	// block is how many columns are eliminated before what remains of their rows is.
	block = 48
	// leastBlocked is the lower bandwidth from which that is the faster way; a block is no wider.
	leastBlocked = 64
)

// factorBlocks is Factor by blocks of columns (J. Du Croz, P. Mayes and G. Radicati, Factorizations of band matrices using level 3 BLAS, LAPACK
// working note 21, 1990): each is eliminated apart, and what remains of the rows changed by a product of matrices.
func (b *Matrix) factorBlocks() bool {
	stride := b.width - 1 // element (i, j) is a[at(i, j)]: a column further on is one, and a row as many less
	at := func(i, j int) int { return i*stride + j + b.lower }
	reach := b.lower + b.upper // of a row of the upper factor
	high := block + b.lower
	panel := make([]float64, block*high)
	top := make([]float64, block*(reach+1)) // rows of a block, right of it
	for first := 0; first < b.n; first += block {
		columns := min(block, b.n-first)
		rows, next := min(b.n-first, columns+b.lower), first+columns
		// The panel holds the block's columns, one after another, of all rows that have any, with zeros for what is not stored.
		clear(panel)
		for i := range rows {
			if lo := max(0, i-b.lower); lo < columns {
				for j, v := range b.a[at(first+i, first+lo):at(first+i, next)] {
					panel[(lo+j)*high+i] = v
				}
			}
		}
		for k := range columns {
			last := min(rows-1, k+b.lower)
			column := panel[k*high:][:last+1]
			p, best := k, math.Abs(column[k])
			for i, v := range column[k+1:] {
				if v = math.Abs(v); v > best {
					p, best = k+1+i, v
				}
			}
			b.pivot[first+k] = first + p
			if !(best > 0) || math.IsInf(best, 0) {
				return false
			}
			if p != k {
				for j := range columns {
					own := panel[j*high:]
					own[k], own[p] = own[p], own[k]
				}
				if right := min(b.n-1, first+k+reach); right >= next {
					swap(b.a[at(first+k, next):at(first+k, right)+1], b.a[at(first+p, next):])
				}
			}
			below := column[k+1:]
			kernel.MulScalar64(below, 1/column[k], below)
			copy(b.l[(first+k)*b.lower:], below)
			for j := k + 1; j < columns; j++ {
				own := panel[j*high:]
				if f := own[k]; f != 0 {
					kernel.Axpy64(own[k+1:][:len(below)], -f, below)
				}
			}
		}
		for k := range columns {
			row := b.a[at(first+k, first+k):at(first+k, next)]
			for j := range row {
				row[j] = panel[(k+j)*high+k]
			}
		}
		width := min(b.n-1, next-1+reach) - next + 1
		if width <= 0 {
			continue
		}
		// The block's rows right of it: what is beyond their reach is zero, and not stored.
		for k := range columns {
			row := top[k*width:][:width]
			stored := b.a[at(first+k, next):min(at(first+k, next)+width, at(first+k, first+k+reach)+1)]
			clear(row[copy(row, stored):])
			for l := range k {
				if f := panel[l*high+k]; f != 0 {
					kernel.Axpy64(row, -f, top[l*width:][:width])
				}
			}
			copy(stored, row)
		}
		if rows == columns {
			continue
		}
		for k := range columns {
			below := panel[k*high+columns:][:rows-columns]
			kernel.MulScalar64(below, -1, below)
		}
		kernel.Gemm(b.a[at(next, next):], stride, rows-columns, width, nil, true, kernel.Product[float64]{
			A: panel[columns:], RowStride: 1, ColStride: high, B: top, BStride: width, K: columns,
		}, kernel.Product[float64]{})
	}
	return true
}

// swap exchanges the elements of a with the first of b.
func swap(a, b []float64) {
	for i, v := range a {
		a[i], b[i] = b[i], v
	}
}

// Solve replaces x by A⁻¹x, once factored.
func (b *Matrix) Solve(x []float64) {
	w := b.width
	for k := range b.n {
		p := b.pivot[k]
		x[k], x[p] = x[p], x[k]
		to, by := x[k+1:min(b.n, k+b.lower+1)], x[k]
		for i, v := range b.l[k*b.lower:][:len(to)] {
			to[i] -= v * by
		}
	}
	for k := b.n - 1; k >= 0; k-- {
		last := min(b.n-1, k+b.upper+b.lower)
		x[k] = (x[k] - kernel.Dot(b.a[k*w+1+b.lower:k*w+last-k+b.lower+1], x[k+1:last+1])) / b.a[k*w+b.lower]
	}
}

// FactorWork is about the number of products of a factorisation.
func FactorWork(n, lower, upper int) (sum float64) {
	for k := range n {
		sum += float64(min(lower, n-1-k)) * float64(min(lower+upper, n-1-k))
	}
	return sum
}

// Work is about the number of products of a solve.
func (b *Matrix) Work() float64 {
	return float64(b.n) * float64(min(b.n/2, b.lower)+min(b.n/2, b.lower+b.upper))
}

// Many is how many right-hand sides SolveMany takes at once.
const Many = 8

// SolveMany is Solve for as many right-hand sides (n, Many).
func (b *Matrix) SolveMany(x []float64) {
	w := b.width
	for k := range b.n {
		at := row(x, k)
		if p := b.pivot[k]; p != k {
			*at, *row(x, p) = *row(x, p), *at
		}
		last := min(b.n-1, k+b.lower)
		kernel.SubtractOuter8(x[(k+1)*Many:(last+1)*Many], b.l[k*b.lower:][:last-k], at)
	}
	for k := b.n - 1; k >= 0; k-- {
		at, last := row(x, k), min(b.n-1, k+b.upper+b.lower)
		kernel.SubtractSum8(at, b.a[k*w+1+b.lower:k*w+last-k+b.lower+1], x[(k+1)*Many:(last+1)*Many])
		scale(at, 1/b.a[k*w+b.lower])
	}
}

// SolveTransposedMany is SolveMany for the transpose of the matrix.
func (b *Matrix) SolveTransposedMany(x []float64) {
	w := b.width
	for k := range b.n {
		at, last := row(x, k), min(b.n-1, k+b.upper+b.lower)
		scale(at, 1/b.a[k*w+b.lower])
		kernel.SubtractOuter8(x[(k+1)*Many:(last+1)*Many], b.a[k*w+1+b.lower:k*w+last-k+b.lower+1], at)
	}
	for k := b.n - 1; k >= 0; k-- {
		at, last := row(x, k), min(b.n-1, k+b.lower)
		kernel.SubtractSum8(at, b.l[k*b.lower:][:last-k], x[(k+1)*Many:(last+1)*Many])
		if p := b.pivot[k]; p != k {
			*at, *row(x, p) = *row(x, p), *at
		}
	}
}

func row(x []float64, k int) *[Many]float64 { return (*[Many]float64)(x[k*Many:]) }

func scale(x *[Many]float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}
