//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"unsafe"

	"pihc/compute"
)

// edge does the last columns of a product, which fill no vector: by one vector that ends
// with them, or, where rows are shorter than a vector, by one of copies of them. It goes
// to rows of its own, of which the last columns alone are kept.
type edge[T compute.Float] struct {
	kind, lanes int
	first, n    int    // the columns, first to n-1
	b           block  // for the micro-kernel of the last of shapes
	c           [6][]T // rows of C, n long
	out, init   []T    // a vector a row: what is computed, and what it begins with where rows are short
}

// factor sets one of the products, of k rows of B. Short ones are copied to buffer, of
// which what is left is returned.
func (e *edge[T]) factor(l int, o operand, buffer []T) []T {
	f := &e.b.p[l]
	*f = factors{b: o.b, step: o.step, stride: o.stride, k: o.k}
	switch {
	case o.k == 0:
	case e.n >= e.lanes:
		f.b = unsafe.Add(o.b, (e.n-e.lanes)*int(unsafe.Sizeof(T(0))))
	default:
		for i := range o.k {
			copy(buffer[i*e.lanes:], unsafe.Slice((*T)(unsafe.Add(o.b, uintptr(i)*o.stride)), e.n))
		}
		f.b, f.stride = unsafe.Pointer(&buffer[0]), unsafe.Sizeof(T(0))*uintptr(e.lanes)
		buffer = buffer[o.k*e.lanes:]
	}
	return buffer
}

// run does the first count rows of c, which begin with their values if accumulate, else
// with bias or zero.
func (e *edge[T]) run(count int, accumulate bool, bias []T) {
	for r := range e.c {
		from := bias
		if accumulate {
			from = e.c[r]
		}
		switch {
		case from == nil:
			e.b.init[r] = nil
		case e.n >= e.lanes:
			e.b.init[r] = unsafe.Pointer(&from[e.n-e.lanes])
		default:
			copy(e.init[r*e.lanes:], from[:e.n])
			e.b.init[r] = unsafe.Pointer(&e.init[r*e.lanes])
		}
	}
	e.b.tile(e.kind, 1, 0)
	skip := e.first - max(0, e.n-e.lanes)
	for r := range count {
		copy(e.c[r][e.first:e.n], e.out[r*e.lanes+skip:])
	}
}

// edgeGemm does columns first to n-1 of Gemm, or of GemmRows with the rows given.
func edgeGemm[T compute.Float](c []T, ldc, m, n, first int, bias []T, accumulate bool, left [2]operand, rows, a [][]T) {
	whole := panels.Get().(*[panelBytes / 8]float64)
	defer panels.Put(whole)
	buffer := unsafe.Slice((*T)(unsafe.Pointer(whole)), panelBytes/int(unsafe.Sizeof(T(0))))
	e := edge[T]{first: first, n: n}
	e.kind, e.lanes = kindOf[T]()
	vectors := len(e.c) * e.lanes
	e.out, e.init, buffer = buffer[:vectors], buffer[vectors:2*vectors], buffer[2*vectors:]
	for r := range e.c {
		e.b.c[r] = unsafe.Pointer(&e.out[r*e.lanes])
	}
	panel := left[0].k + left[1].k
	if n < e.lanes {
		panel = len(buffer) / e.lanes
	}
	for done := 0; ; done += panel {
		p := left[0].take(panel)
		q := left[1].take(panel - p.k)
		e.factor(1, q, e.factor(0, p, buffer))
		for i := 0; i < m; i += len(e.c) {
			for r := range e.c {
				at := min(i+r, m-1)
				if rows != nil {
					e.c[r], e.b.p[0].a[r] = rows[at][:n], unsafe.Pointer(&a[at][done])
					continue
				}
				e.c[r] = c[at*ldc:][:n]
				e.b.p[0].a[r], e.b.p[1].a[r] = unsafe.Add(p.a, uintptr(at)*p.row), unsafe.Add(q.a, uintptr(at)*q.row)
			}
			e.run(min(len(e.c), m-i), accumulate || done > 0, bias)
		}
		if left[0].k+left[1].k == 0 {
			return
		}
	}
}
