package sparse

import (
	"math"
	"slices"

	"pihc/internal/kernel"
)

// A Matrix is square, of so many rows and columns for each point of a tree, one after another. It is factored by Gaussian elimination of dense
// fronts, one for each node of the tree (I. S. Duff and J. K. Reid, ACM Trans. Math. Softw. 9, 1983), with pivots that are sought among all rows
// and columns of the points eliminated there; what has no pivot large enough is left to the parent.
type Matrix struct {
	tree     *Tree
	unknowns int
	entries  [][]entry // per node
	fronts   []front   // likewise
	rows     []float64 // what each row is multiplied by
	columns  []float64

	rowAt, columnAt []int32   // places in a front
	dense           []float64 // a front
	panel           []float64 // columns of it
	found, local    []float64 // of Solve
}

type entry struct {
	row, column int32
	value       float64
}

// front is what is kept of a node.
type front struct {
	rows, columns []int32   // of the matrix: of the pivots, then all others
	pivots        int       // their number
	upper         []float64 // (pivots, columns): rows of the upper factor, and left of the diagonal of the lower
	lower         []float64 // (other rows, pivots)
	rest          []float64 // (other rows, other columns), for the parent
}

// New returns zero.
func New(t *Tree, unknowns int) *Matrix {
	n := len(t.owner) * unknowns
	return &Matrix{
		tree: t, unknowns: unknowns, entries: make([][]entry, len(t.nodes)), fronts: make([]front, len(t.nodes)),
		rows: make([]float64, n), columns: make([]float64, n), rowAt: make([]int32, n), columnAt: make([]int32, n), found: make([]float64, n), local: make([]float64, n),
	}
}

// Clear sets all to zero.
func (m *Matrix) Clear() {
	for k := range m.entries {
		m.entries[k] = m.entries[k][:0]
	}
}

// Add adds v to an entry, whose points must be near each other in the graph of the tree.
func (m *Matrix) Add(i, j int, v float64) {
	if v == 0 {
		return
	}
	k := min(m.tree.owner[i/m.unknowns], m.tree.owner[j/m.unknowns])
	m.entries[k] = append(m.entries[k], entry{int32(i), int32(j), v})
}

// Factor factors the matrix, and returns false if it has no inverse.
func (m *Matrix) Factor() bool {
	m.scale()
	for k := range m.fronts {
		f := &m.fronts[k]
		size, own := m.assemble(k)
		pivots := m.eliminate(f, size, own)
		if pivots < own && len(m.tree.nodes[k].boundary) == 0 {
			return false
		}
		f.keep(m.dense, size, pivots)
	}
	return true
}

// scale balances the matrix, so that the largest numbers of rows and columns are near 1 (D. Ruiz, A scaling algorithm to equilibrate both rows
// and columns norms in matrices, RAL-TR-2001-034): pivots are compared with the numbers of other rows.
func (m *Matrix) scale() {
	const rounds = 4
	for i := range m.rows {
		m.rows[i], m.columns[i] = 1, 1
	}
	inRow, inColumn := m.found, m.local
	for range rounds {
		clear(inRow)
		clear(inColumn)
		for _, list := range m.entries {
			for _, e := range list {
				v := math.Abs(e.value) * m.rows[e.row] * m.columns[e.column]
				inRow[e.row], inColumn[e.column] = max(inRow[e.row], v), max(inColumn[e.column], v)
			}
		}
		for i := range inRow {
			if v := inRow[i]; v > 0 && !math.IsInf(v, 0) {
				m.rows[i] /= math.Sqrt(v)
			}
			if v := inColumn[i]; v > 0 && !math.IsInf(v, 0) {
				m.columns[i] /= math.Sqrt(v)
			}
		}
	}
}

// assemble sets the rows and columns of a front, and dense to its numbers; of these the first own may be eliminated.
func (m *Matrix) assemble(k int) (size, own int) {
	n, f := &m.tree.nodes[k], &m.fronts[k]
	f.rows, f.columns = f.rows[:0], f.columns[:0]
	add := func(points []int32) {
		for _, p := range points {
			for i := range m.unknowns {
				at := p*int32(m.unknowns) + int32(i)
				f.rows, f.columns = append(f.rows, at), append(f.columns, at)
			}
		}
	}
	add(n.points)
	for _, c := range n.children {
		child := &m.fronts[c]
		left := len(child.rows) - m.unknowns*len(m.tree.nodes[c].boundary)
		f.rows, f.columns = append(f.rows, child.rows[child.pivots:left]...), append(f.columns, child.columns[child.pivots:left]...)
	}
	own = len(f.rows)
	add(n.boundary)
	size = len(f.rows)
	for i := range size {
		m.rowAt[f.rows[i]], m.columnAt[f.columns[i]] = int32(i), int32(i)
	}
	m.dense = slices.Grow(m.dense[:0], size*size)[:size*size]
	clear(m.dense)
	for _, e := range m.entries[k] {
		m.dense[int(m.rowAt[e.row])*size+int(m.columnAt[e.column])] += e.value * m.rows[e.row] * m.columns[e.column]
	}
	for _, c := range n.children {
		child := &m.fronts[c]
		rest := len(child.rows) - child.pivots
		for i, r := range child.rows[child.pivots:] {
			to, from := m.dense[int(m.rowAt[r])*size:][:size], child.rest[i*rest:][:rest]
			for j, q := range child.columns[child.pivots:] {
				to[m.columnAt[q]] += from[j]
			}
		}
		child.rest = nil
	}
	return size, own
}

const (
	// block is how many columns are eliminated before what remains of the rows is.
	block = 48
	// threshold is what a pivot is at least, as a part of the largest number of its column.
	threshold = 0.01
)

// eliminate factors dense as far as the first own rows and columns have pivots, moves these to the front, and returns their number.
func (m *Matrix) eliminate(f *front, size, own int) int {
	a := m.dense
	m.panel = slices.Grow(m.panel[:0], block*size)[:block*size]
	first, end, tried := 0, own, -1 // columns from end on have no pivot now; tried is first when all had been tried
	for first < own {
		if first == end {
			if first == tried {
				break
			}
			tried, end = first, own
		}
		high := size - first
		n := 0
		for n < block && first+n < end {
			c := first + n
			column := m.panel[n*high:][:high]
			for i := range column {
				column[i] = a[(first+i)*size+c]
			}
			for k := range n {
				if v := column[k]; v != 0 {
					kernel.Axpy64(column[k+1:], -v, m.panel[k*high+k+1:][:high-k-1])
				}
			}
			p, best, most := n, 0.0, 0.0
			for i, v := range column[n:] {
				if v = math.Abs(v); v > most {
					most = v
				}
				if v > best && first+n+i < own {
					p, best = n+i, v
				}
			}
			if !(best > 0 && best >= threshold*most) || math.IsInf(best, 0) {
				end--
				f.columns[c], f.columns[end] = f.columns[end], f.columns[c]
				for i := range size {
					a[i*size+c], a[i*size+end] = a[i*size+end], a[i*size+c]
				}
				continue
			}
			if p != n {
				f.rows[c], f.rows[first+p] = f.rows[first+p], f.rows[c]
				swap(a[c*size:][:size], a[(first+p)*size:])
				for k := range n + 1 {
					m.panel[k*high+n], m.panel[k*high+p] = m.panel[k*high+p], m.panel[k*high+n]
				}
			}
			kernel.MulScalar64(column[n+1:], 1/column[n], column[n+1:])
			n++
		}
		if n == 0 {
			continue
		}
		for i := range high {
			row := a[(first+i)*size+first:][:n]
			for k := range row {
				row[k] = m.panel[k*high+i]
			}
		}
		next := first + n
		if next == size {
			return size
		}
		for k := range n {
			row := a[(first+k)*size+next:][:size-next]
			for l := range k {
				if v := m.panel[l*high+k]; v != 0 {
					kernel.Axpy64(row, -v, a[(first+l)*size+next:][:size-next])
				}
			}
		}
		for k := range n {
			below := m.panel[k*high+n:][:high-n]
			kernel.MulScalar64(below, -1, below)
		}
		kernel.Gemm(a[next*size+next:], size, size-next, size-next, nil, true, kernel.Product[float64]{
			A: m.panel[n:], RowStride: 1, ColStride: high, B: a[first*size+next:], BStride: size, K: n,
		}, kernel.Product[float64]{})
		first = next
	}
	return first
}

// keep copies the factors, and what is left for the parent.
func (f *front) keep(dense []float64, size, pivots int) {
	f.pivots = pivots
	rest := size - pivots
	f.upper, f.lower = append(f.upper[:0], dense[:pivots*size]...), slices.Grow(f.lower[:0], rest*pivots)[:rest*pivots]
	f.rest = make([]float64, rest*rest)
	for i := range rest {
		row := dense[(pivots+i)*size:][:size]
		copy(f.lower[i*pivots:][:pivots], row)
		copy(f.rest[i*rest:][:rest], row[pivots:])
	}
}

// Solve replaces x by A⁻¹x, once factored.
func (m *Matrix) Solve(x []float64) {
	for i, by := range m.rows {
		x[i] *= by
	}
	at := 0
	for k := range m.fronts {
		f := &m.fronts[k]
		size, y := len(f.rows), m.found[at:][:f.pivots]
		for i := range y {
			y[i] = x[f.rows[i]] - kernel.Dot(f.upper[i*size:][:i], y[:i])
		}
		for i, r := range f.rows[f.pivots:] {
			x[r] -= kernel.Dot(f.lower[i*f.pivots:][:f.pivots], y)
		}
		at += f.pivots
	}
	for k := len(m.fronts) - 1; k >= 0; k-- {
		f := &m.fronts[k]
		size := len(f.columns)
		at -= f.pivots
		y := m.local[:size]
		for i, c := range f.columns[f.pivots:] {
			y[f.pivots+i] = x[c]
		}
		for i := f.pivots - 1; i >= 0; i-- {
			row := f.upper[i*size:][:size]
			y[i] = (m.found[at+i] - kernel.Dot(row[i+1:], y[i+1:])) / row[i]
		}
		for i, v := range y[:f.pivots] {
			x[f.columns[i]] = v
		}
	}
	for i, by := range m.columns {
		x[i] *= by
	}
}

func swap(a, b []float64) {
	for i, v := range a {
		a[i], b[i] = b[i], v
	}
}
