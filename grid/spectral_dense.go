package grid

import "pihc/internal/kernel"

// dense evaluates rows of spectral operators on float32 bases by products with dense
// matrices instead of Fourier transforms. On small slices (denseReach) that is faster:
// the products run near the peak of the machine, and the last products are formed for
// the rows alone. Results have the rounding errors of float32.
type dense struct {
	*denseTables
	gatherer *Gatherer
	ops      []int // positions in the gatherer

	workspaces freeList[denseWorkspace]
}

// denseFields is the most fields worked on at a time. Fewer would keep a slice of
// 64 x 64 points nearer to a core, but rows of the result are written in one piece
// (64: 109 ms of one core for 64 x 64 x 64 points and 64 fields, 32: 142, 16: 183).
const denseFields = 64

type denseWorkspace struct {
	column []float32    // (nx, fields): a column of the slice
	hat    []float32    // (rows of the transform, ny, fields), each row with a gap
	conv   []float32    // (ny, parts, rows of the transform, fields), the same
	c, a   [][]float32  // rows of results, and of the matrices that give them
	dst    [][]float32  // (lists, operators): the rows written
	whole  [][]float32  // per operator: those of all points of the slice
	turned [2][]float32 // (ny, nx, fields)

	found, columns, rows []denseRow // of the slice: as listed, by column, by row
	column0, row0        []int32    // where each column and row begins, and the end
}

// denseRow is a row that is wanted: position at of a list, point of the slice.
type denseRow struct{ list, at, point int32 }

// denseRows is the most rows formed by one product.
const denseRows = 128

// newDense prepares the spectral operators of a gatherer that act on one field.
func (g *Gatherer) newDense(field int) *dense {
	d := &dense{gatherer: g}
	var ops []denseOperator
	for o, op := range g.ops {
		if op.spectral != nil && op.field == field {
			d.ops = append(d.ops, o)
			ops = append(ops, denseOperator{op.spectral, op.to >= 0, op.factor})
		}
	}
	if len(ops) > 0 {
		d.denseTables = newDenseTables(g.space.shape, ops)
	}
	return d
}

func (t *denseTables) newWorkspace(fields int) *denseWorkspace {
	return &denseWorkspace{
		column: make([]float32, t.nx*fields), hat: make([]float32, t.nx*t.hatRow(fields)),
		conv: make([]float32, t.ny*t.convRow(fields)),
		c:    make([][]float32, 0, denseRows), a: make([][]float32, 0, denseRows),
		turned:  [2][]float32{make([]float32, t.nx*t.ny*fields), make([]float32, t.nx*t.ny*fields)},
		column0: make([]int32, t.ny+1), row0: make([]int32, t.nx+1),
	}
}

// hatRow and convRow are the lengths of a row of hat and conv, with a gap: rows
// apart by a large power of two would compete for the same places of a cache.
func (t *denseTables) hatRow(fields int) int  { return t.ny*fields + 16 }
func (t *denseTables) convRow(fields int) int { return len(t.parts)*t.nx*fields + 16 }

// gather forms the rows of all lists that lie in one slice; basis is that slice alone,
// (points of the slice, n). Rows to which others are added must be there.
func (d *dense) gather(slice int, basis []float32, n int, lists []Rows[float32]) {
	if len(d.ops) == 0 {
		return
	}
	fields := min(n, denseFields)
	w := d.workspaces.take(fields, d.newWorkspace)
	switch first := slice * d.gatherer.width; {
	case n <= denseFields && w.complete(d, lists, first, n):
		g := denseGather{d.denseTables, w, len(d.ops), basis, n, 0, n}
		g.slice()
	case w.sort(d, lists, first):
		for lo := 0; lo < n; lo += denseFields {
			g := denseGather{d.denseTables, w, len(d.ops), basis[lo:], n, lo, min(n-lo, denseFields)}
			g.columns()
			g.convolve()
			g.back()
			g.rows()
		}
	}
	d.workspaces.give(fields, w)
}

// sort finds the rows that lie in the slice and puts them in the order of columns,
// and of rows. It returns false if there are none.
func (w *denseWorkspace) sort(d *dense, lists []Rows[float32], first int) bool {
	ny, count := int32(d.ny), 0
	w.dst = w.dst[:0]
	for i := range lists {
		for _, o := range d.ops {
			w.dst = append(w.dst, values(d.gatherer, &lists[i], o))
		}
		lo, hi := within(lists[i].Points, first, first+d.gatherer.width)
		count += hi - lo
	}
	if count > cap(w.found) {
		most := count + count/2 // samples vary
		w.found, w.columns, w.rows = make([]denseRow, 0, most), make([]denseRow, 0, most), make([]denseRow, 0, most)
	}
	w.found = w.found[:0]
	for i := range lists {
		lo, hi := within(lists[i].Points, first, first+d.gatherer.width)
		for at := lo; at < hi; at++ {
			w.found = append(w.found, denseRow{int32(i), int32(at), lists[i].Points[at] - int32(first)})
		}
	}
	w.columns = sorted(w.columns, w.column0, w.found, func(r denseRow) int32 { return r.point % ny })
	w.rows = sorted(w.rows, w.row0, w.found, func(r denseRow) int32 { return r.point / ny })
	return len(w.found) > 0
}

// sorted returns rows in the order of their keys, in the memory of dst; rows of key k
// start at start[k].
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
	ops      int
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

// row asks for these fields of the row of an operator: they are set to, or a row of a
// matrix times b is added to them.
func (g *denseGather) row(p denseRow, operator int, add bool, a, b []float32, stride int) {
	w := g.w
	dst := w.dst[int(p.list)*g.ops+operator]
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
