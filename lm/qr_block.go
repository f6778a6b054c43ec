package lm

import (
	"math"

	"pihc/internal/kernel"
)

// qrPanel is the number of reflections that are applied to the columns after
// them at once.
const qrPanel = 8

// qrColumns is a full block of waiting rows by columns, the right-hand side
// last: a reflection is then a contiguous vector, and the vector kernels do the
// work.
type qrColumns struct {
	b      []float64 // (n+1) x qrBlock: column c at b[c*qrBlock:]
	t      [qrPanel][qrPanel]float64
	tau    [qrPanel]float64
	w      [qrPanel]float64
	coef   [qrPanel + 1]float64
	fields [qrPanel + 1][]float64
}

func (c *qrColumns) column(j int) []float64 {
	return c.b[j*qrBlock : (j+1)*qrBlock : (j+1)*qrBlock]
}

// load transposes the waiting rows.
func (c *qrColumns) load(rows, rhs []float64, n int) {
	for lo := 0; lo < qrBlock; lo += 8 {
		for j := range n {
			dst, src := c.b[j*qrBlock+lo:j*qrBlock+lo+8], rows[lo*n+j:]
			for i := range dst {
				dst[i] = src[i*n]
			}
		}
	}
	copy(c.column(n), rhs)
}

// flushColumns is flush for a full block, with the reflections of a panel in
// the compact form I − V T Vᵀ of Schreiber and Van Loan (1989): the part of V in
// R is the identity, so that Vᵀv needs the block alone.
func (q *qrFactor) flushColumns() {
	n, c := q.n, &q.columns
	c.load(q.buffer, q.rhs, n)
	q.waiting = 0
	for lo := 0; lo < n; lo += qrPanel {
		hi := min(lo+qrPanel, n)
		p := hi - lo
		for j := lo; j < hi; j++ {
			q.reflectColumn(j, hi)
		}
		// T, column by column: T_jj = τ_j, T_:j = −τ_j T Vᵀv_j above it.
		panel := c.b[lo*qrBlock : hi*qrBlock]
		for j := range p {
			kernel.MatVecRows(c.w[:], qrBlock, p, panel, c.column(lo+j))
			tau := c.tau[j]
			for i := range j {
				s := 0.0
				for k := i; k < j; k++ {
					s += c.t[i][k] * c.w[k]
				}
				c.t[i][j] = -tau * s
			}
			c.t[j][j] = tau
		}
		for k := range p {
			c.fields[k] = c.column(lo + k)
		}
		c.coef[p] = 1
		for j := hi; j <= n; j++ {
			// w = Vᵀx, y = Tᵀw, x −= Vy, in R and in the block.
			x := c.column(j)
			kernel.MatVecRows(c.w[:], qrBlock, p, panel, x)
			for i := range p {
				c.w[i] += *q.top(lo+i, j)
			}
			for i := range p {
				y := 0.0
				for k := range i + 1 {
					y += c.t[k][i] * c.w[k]
				}
				*q.top(lo+i, j) -= y
				c.coef[i] = -y
			}
			c.fields[p] = x
			kernel.CombineFields(x, c.coef[:p+1], c.fields[:p+1])
		}
	}
}

// top returns the entry of [R z] at row i, column j; z is column n.
func (q *qrFactor) top(i, j int) *float64 {
	if j == q.n {
		return &q.z[i]
	}
	return &q.r[i*q.n+j]
}

// reflectColumn makes the reflection that clears column j of the block, leaves
// its vector there, and applies it to the columns before end.
func (q *qrFactor) reflectColumn(j, end int) {
	c, v := &q.columns, q.columns.column(j)
	below := math.Sqrt(kernel.SumSquares64(v))
	if below == 0 {
		c.tau[j%qrPanel] = 0
		clear(v) // what underflowed
		return
	}
	diagonal := &q.r[j*q.n+j]
	alpha := *diagonal
	beta := -math.Copysign(math.Hypot(alpha, below), alpha)
	tau := (beta - alpha) / beta
	c.tau[j%qrPanel] = tau
	kernel.MulScalar64(v, 1/(alpha-beta), v)
	*diagonal = beta
	for k := j + 1; k < end; k++ {
		x, top := c.column(k), &q.r[j*q.n+k]
		w := tau * (*top + kernel.Dot(v, x))
		*top -= w
		kernel.Axpy64(x, -w, v)
	}
}
