package grid

import (
	"sync"

	"pihc/internal/kernel"
)

// Dense evaluates rows of several operators of one Spectral on float32 bases, by
// products with dense matrices instead of Fourier transforms. On slices of up to a
// few hundred points an axis that is faster: the products run near the peak of the
// machine, and what follows the last transform is done for the rows alone. Results
// have the rounding errors of float32.
type Dense struct {
	space  *Spectral
	tables *denseTables
	ops    int

	mu   sync.Mutex
	free map[int]*denseWorkspace // by number of fields
}

// DenseRows are rows that are wanted of every operator of a Dense: row r of
// Dst[o] (len(Points), n) belongs to Points[r] and operator o; a nil Dst[o] is not
// wanted. Points ascend. Rows that grow must be set before.
type DenseRows struct {
	Points []int32
	Dst    [][]float32
}

// denseFields is the most fields worked on at a time. Fewer would keep a slice of
// 64 x 64 points nearer to a core, but rows of the result are written in one piece
// (64: 109 ms of one core for 64 x 64 x 64 points and 64 fields, 32: 142, 16: 183).
const denseFields = 64

type denseWorkspace struct {
	next   *denseWorkspace
	column []float32   // (nx, fields): a column of the slice
	hat    []float32   // (rows of the transform, ny, fields), each row with a gap
	conv   []float32   // (ny, parts, rows of the transform, fields), the same
	c, a   [][]float32 // rows of results, and of the matrices that give them

	found, columns, rows []denseRow // of the slice: as listed, by column, by row
	column0, row0        []int32    // where each column and row begins, and the end
}

// denseRow is a row that is wanted: position at of a list, point of the slice.
type denseRow struct{ list, at, point int32 }

// denseRows is the most rows formed by one product.
const denseRows = 128

// DenseOperator is an operator of a Dense. Its rows are set to what it gives, or
// grow by Factor times that.
type DenseOperator struct {
	Operator
	Add    bool
	Factor float64 // where Add
}

// NewDense prepares the operators, which must be made by s. It returns nil where
// slices have more than two axes.
func (s *Spectral) NewDense(ops []DenseOperator) *Dense {
	if len(s.shape) > 2 {
		return nil
	}
	var own []*multiplier
	for _, op := range ops {
		own = append(own, s.own(&SpectralRows{Operator: op.Operator}))
	}
	return &Dense{space: s, tables: newDenseTables(s.shape, own, ops), ops: len(ops), free: map[int]*denseWorkspace{}}
}

func (d *Dense) take(fields int) *denseWorkspace {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.free[fields]; w != nil {
		d.free[fields] = w.next
		return w
	}
	t := d.tables
	return &denseWorkspace{
		column: make([]float32, t.nx*fields), hat: make([]float32, t.nx*t.hatRow(fields)),
		conv: make([]float32, t.ny*t.convRow(fields)),
		c:    make([][]float32, 0, denseRows), a: make([][]float32, 0, denseRows),
		column0: make([]int32, t.ny+1), row0: make([]int32, t.nx+1),
	}
}

// hatRow and convRow are the lengths of a row of hat and conv, with a gap: rows
// apart by a large power of two would compete for the same places of a cache.
func (t *denseTables) hatRow(fields int) int  { return t.ny*fields + 16 }
func (t *denseTables) convRow(fields int) int { return len(t.parts)*t.nx*fields + 16 }

func (d *Dense) give(fields int, w *denseWorkspace) {
	d.mu.Lock()
	w.next = d.free[fields]
	d.free[fields] = w
	d.mu.Unlock()
}

// GatherSlice sets those rows of every list that lie in one slice. basis is that
// slice alone, (points of the slice, n). Slices may be done by different
// goroutines at once; a row does not depend on which others are asked for.
func (d *Dense) GatherSlice(slice int, basis []float32, n int, lists []DenseRows) {
	if n < 1 || len(basis) != d.space.width*n {
		panic("grid: Dense: want a slice of the basis, (points, n)")
	}
	fields := min(n, denseFields)
	w := d.take(fields)
	first := slice * d.space.width
	if w.sort(d, lists, first) {
		for lo := 0; lo < n; lo += denseFields {
			g := denseGather{d.tables, w, lists, basis[lo:], n, lo, min(n-lo, denseFields)}
			g.columns()
			g.convolve()
			g.back()
			g.rows()
		}
	}
	d.give(fields, w)
}

// sort finds the rows that lie in the slice and puts them in the order of columns,
// and of rows. It returns false if there are none.
func (w *denseWorkspace) sort(d *Dense, lists []DenseRows, first int) bool {
	ny, count := int32(d.tables.ny), 0
	for i := range lists {
		if len(lists[i].Dst) != d.ops {
			panic("grid: Dense: want a Dst for every operator")
		}
		lo, hi := lists[i].within(first, first+d.space.width)
		count += hi - lo
	}
	if count > cap(w.found) {
		most := count + count/2 // samples vary
		w.found, w.columns, w.rows = make([]denseRow, 0, most), make([]denseRow, 0, most), make([]denseRow, 0, most)
	}
	w.found = w.found[:0]
	for i := range lists {
		r := &lists[i]
		lo, hi := r.within(first, first+d.space.width)
		for at := lo; at < hi; at++ {
			w.found = append(w.found, denseRow{int32(i), int32(at), r.Points[at] - int32(first)})
		}
	}
	w.columns = sorted(w.columns, w.column0, w.found, func(r denseRow) int32 { return r.point % ny })
	w.rows = sorted(w.rows, w.row0, w.found, func(r denseRow) int32 { return r.point / ny })
	return len(w.found) > 0
}

func (l *DenseRows) within(first, end int) (lo, hi int) {
	r := SpectralRows{Points: l.Points}
	return r.within(first, end)
}

// sorted returns rows in the order of their keys, in place of dst; those of key k
// begin at start[k].
func sorted(dst []denseRow, start []int32, rows []denseRow, key func(denseRow) int32) []denseRow {
	clear(start)
	for _, r := range rows {
		start[key(r)]++
	}
	for k, end := 0, int32(0); k < len(start); k++ {
		end += start[k]
		start[k] = end
	}
	dst = append(dst[:0], rows...)
	for i := len(rows) - 1; i >= 0; i-- {
		k := key(rows[i])
		start[k]--
		dst[start[k]] = rows[i]
	}
	return dst
}

// denseGather is the work on some fields of one slice.
type denseGather struct {
	*denseTables
	w        *denseWorkspace
	lists    []DenseRows
	basis    []float32 // (nx, ny, n) from the first of the fields on
	n        int       // fields of the basis
	at, some int       // the first, and the number of these
}

var noProduct kernel.Product[float32]

// columns transforms every column along x, and does the convolutions along x at
// its points.
func (g *denseGather) columns() {
	w, k := g.w, g.some
	for y := range g.ny {
		for x := range g.nx {
			copy(w.column[x*k:(x+1)*k], g.basis[(x*g.ny+y)*g.n:])
		}
		if len(g.parts) > 0 {
			kernel.Gemm(w.hat[y*k:], g.hatRow(k), g.nx, k, nil, false, kernel.Product[float32]{
				A: g.forward, RowStride: g.nx, ColStride: 1, B: w.column, BStride: k, K: g.nx,
			}, noProduct)
		}
		g.convolveAlong(0, w.columns[w.column0[y]:w.column0[y+1]], w.column, k)
	}
}

// convolveAlong does the convolutions along one axis at points that share their
// place on the other, b being the basis along the axis.
func (g *denseGather) convolveAlong(axis int, points []denseRow, b []float32, stride int) {
	n, convolutions := [2]int{g.nx, g.ny}[axis], g.along[axis]
	for _, add := range [2]bool{false, true} {
		for o, a := range convolutions {
			if a.add != add {
				continue
			}
			for _, p := range points {
				at := int(p.point) / g.ny
				if axis == 1 {
					at = int(p.point) % g.ny
				}
				g.row(p, a.operator, add, g.wide[axis][(at*len(convolutions)+o)*n:][:n], b, stride)
			}
		}
		g.product(add, b, stride)
	}
}

// row says that these fields of the row of an operator are, or grow by, a row of a
// matrix times b.
func (g *denseGather) row(p denseRow, operator int, add bool, a, b []float32, stride int) {
	dst, w := g.lists[p.list].Dst[operator], g.w
	if dst == nil {
		return
	}
	if len(w.c) == denseRows {
		g.product(add, b, stride)
	}
	w.c, w.a = append(w.c, dst[int(p.at)*g.n+g.at:][:g.some]), append(w.a, a)
}

// product does the rows asked for since the last call.
func (g *denseGather) product(add bool, b []float32, stride int) {
	w := g.w
	if len(w.c) > 0 {
		kernel.GemmRows(w.c, w.a, g.some, add, b, stride, len(w.a[0]))
	}
	w.c, w.a = w.c[:0], w.a[:0]
}

// convolve does the convolutions along y of every row of the transform.
func (g *denseGather) convolve() {
	w, k := g.w, g.some
	stride := g.convRow(k) // from point to point, the last first
	for r, mode := range g.mode {
		if len(g.parts) == 0 {
			return
		}
		for p, part := range g.parts {
			kernel.Gemm(w.conv[(p*g.nx+r)*k:], stride, g.ny, k, nil, false, kernel.Product[float32]{
				A: part.hankel[mode*(2*g.ny-1):], RowStride: 1, ColStride: 1, B: w.hat[r*g.hatRow(k):], BStride: k, K: g.ny,
			}, noProduct)
		}
	}
}

// back transforms along x at the points.
func (g *denseGather) back() {
	w, k := g.w, g.some
	for y := range g.ny {
		for p, part := range g.parts {
			b := w.conv[(g.ny-1-y)*g.convRow(k)+p*g.nx*k:]
			for _, q := range w.columns[w.column0[y]:w.column0[y+1]] {
				g.row(q, part.operator, part.add, part.inverse[int(q.point)/g.ny*g.nx:][:g.nx], b, k)
			}
			g.product(part.add, b, k)
		}
	}
}

// rows does the convolutions along y at the points.
func (g *denseGather) rows() {
	w := g.w
	for x := range g.nx {
		g.convolveAlong(1, w.rows[w.row0[x]:w.row0[x+1]], g.basis[x*g.ny*g.n:], g.n)
	}
}
