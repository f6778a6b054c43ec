package discrete

import (
	"math"

	"pihc/internal/kernel"
)

// choleskyBlock is the most columns that are eliminated at a time, by products of matrices.
const choleskyBlock = 64

// normalBand is a symmetric positive definite matrix near its diagonal, factored in place (Cholesky).
type normalBand struct {
	n, band int
	// a holds columns i-band..i of every row i, one row after another: a matrix of any shape with band numbers from
	// row to row, of which the elements away from the diagonal are not there.
	a []float64

	diagonal, panel, negative []float64 // of a block, and of the rows below it, (columns, rows)
}

// at is the place of an element near the diagonal, j <= i.
func (b *normalBand) at(i, j int) int { return i*b.band + j + b.band }

func (b *normalBand) add(i, j int, v float64) {
	if j <= i {
		b.a[b.at(i, j)] += v
	}
}

// row returns what is stored of row i, and the first of its columns.
func (b *normalBand) row(i int) (row []float64, first int) {
	first = max(0, i-b.band)
	return b.a[b.at(i, first) : b.at(i, i)+1], first
}

// equilibrate multiplies rows and columns by units that make the diagonal 1 where it is not zero, and returns them: unknowns may be of very different sizes.
func (b *normalBand) equilibrate() []float64 {
	units := make([]float64, b.n)
	for i := range units {
		if units[i] = 1; b.a[b.at(i, i)] > 0 {
			units[i] = 1 / math.Sqrt(b.a[b.at(i, i)])
		}
	}
	for i, unit := range units {
		row, first := b.row(i)
		for j := range row {
			row[j] *= unit * units[first+j]
		}
	}
	return units
}

// factor returns false if the matrix, with its diagonal times 1 + damping and a bit of the largest
// element there, is not positive definite. Blocks of columns are eliminated one after another: the one on the diagonal, those below it, and
// their products from what remains (Golub & Van Loan, Matrix Computations, section 4.2.9).
func (b *normalBand) factor(damping float64) bool {
	largest := 0.0
	for i := range b.n {
		largest = max(largest, b.a[b.at(i, i)])
	}
	for i := range b.n {
		v := &b.a[b.at(i, i)]
		*v += damping**v + 1e-15*largest
	}
	block := max(1, min(choleskyBlock, b.band))
	if b.diagonal == nil {
		b.diagonal, b.panel, b.negative = make([]float64, block*block), make([]float64, block*b.band), make([]float64, block*b.band)
	}
	for lo := 0; lo < b.n; lo += block {
		hi := min(lo+block, b.n)
		if !b.factorDiagonal(lo, hi) {
			return false
		}
		if rows := min(b.n-hi, b.band); rows > 0 {
			b.eliminate(lo, hi, rows)
			b.update(hi, hi-lo, rows)
		}
	}
	return true
}

// factorDiagonal factors the block of rows and columns lo to hi, and sets diagonal to what is below its diagonal, times -1.
func (b *normalBand) factorDiagonal(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		row := b.a[b.at(i, lo) : b.at(i, i)+1]
		for j := range row {
			other := b.a[b.at(lo+j, lo):][:j+1]
			sum := row[j] - kernel.Dot(row[:j], other[:j])
			if lo+j < i {
				row[j] = sum / other[j]
				b.diagonal[(i-lo)*(hi-lo)+j] = -row[j]
				continue
			}
			if !(sum > 0) {
				return false
			}
			row[j] = math.Sqrt(sum)
		}
	}
	return true
}

// eliminate solves for the rows below a block, in the matrix and, transposed, in panel and, times -1, in negative.
func (b *normalBand) eliminate(lo, hi, rows int) {
	columns := hi - lo
	clear(b.panel[:columns*rows])
	for r := range rows {
		row, first := b.row(hi + r)
		for j := max(first, lo); j < hi; j++ {
			b.panel[(j-lo)*rows+r] = row[j-first]
		}
	}
	const few = 8
	for j := 0; j < columns; j += few {
		some := min(few, columns-j)
		kernel.Gemm(b.panel[j*rows:], rows, some, rows, nil, true, kernel.Product[float64]{
			A: b.diagonal[j*columns:], RowStride: columns, ColStride: 1, B: b.panel, BStride: rows, K: j,
		}, kernel.Product[float64]{})
		for k := j; k < j+some; k++ {
			row := b.panel[k*rows:][:rows]
			for l := j; l < k; l++ {
				kernel.Axpy64(row, b.diagonal[k*columns+l], b.panel[l*rows:][:rows])
			}
			pivot := 1 / b.a[b.at(lo+k, lo+k)]
			for r, v := range row {
				row[r] = v * pivot
			}
		}
	}
	for r := range rows {
		row, first := b.row(hi + r)
		for j := max(first, lo); j < hi; j++ {
			row[j-first] = b.panel[(j-lo)*rows+r]
		}
	}
	for i, v := range b.panel[:columns*rows] {
		b.negative[i] = -v
	}
}

// update subtracts the products of the rows below a block of so many columns from what remains of those rows, from first on.
func (b *normalBand) update(first, columns, rows int) {
	block := max(1, min(choleskyBlock, b.band))
	for lo := 0; lo < rows; lo += block {
		own := min(block, rows-lo)
		product := kernel.Product[float64]{A: b.negative[lo:], RowStride: 1, ColStride: rows, B: b.panel, BStride: rows, K: columns}
		kernel.Gemm(b.a[b.at(first+lo, first):], b.band, own, lo, nil, true, product, kernel.Product[float64]{})
		// Right of the diagonal are elements of the next rows.
		product.B = b.panel[lo:]
		kernel.Gemm(b.diagonal, own, own, own, nil, false, product, kernel.Product[float64]{})
		for i := range own {
			kernel.Axpy64(b.a[b.at(first+lo+i, first+lo):][:i+1], 1, b.diagonal[i*own:][:i+1])
		}
	}
}

// solve replaces x by A⁻¹x.
func (b *normalBand) solve(x []float64) {
	for i := range b.n {
		row, first := b.row(i)
		x[i] = (x[i] - kernel.Dot(row[:i-first], x[first:i])) / row[i-first]
	}
	for i := b.n - 1; i >= 0; i-- {
		row, first := b.row(i)
		x[i] /= row[i-first]
		kernel.Axpy64(x[first:i], -x[i], row[:i-first])
	}
}
