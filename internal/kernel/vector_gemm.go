//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"sync"
	"unsafe"

	"pihc/compute"
)

// block is the operand list of a micro-kernel: the rows of C and their initial values
// (nil for zeros), then two products: the rows of A, which advance by step bytes, and
// B, whose rows are stride bytes apart. Rows may repeat one another.
type block struct {
	c, init [8]unsafe.Pointer
	p       [2]factors
}

type factors struct {
	a            [8]unsafe.Pointer
	b            unsafe.Pointer
	step, stride uintptr
	k            int
}

// shapes are the micro-kernels' numbers of rows and vectors: 8 sums each, which hides
// the latency of a multiply-add with two at once. The compiler keeps values across a
// loop in 15 registers only, a multiply-add overwrites its first factor, and an element
// of A takes a load and a broadcast, which competes with the multiply-adds for a port of
// Intel's processors: hence few rows and many columns where there are as many.
var shapes = [...]struct{ rows, columns int }{{2, 4}, {4, 2}, {6, 1}}

// kindOf numbers the micro-kernels of a type at the width in use, see tile.
func kindOf[T compute.Float]() (kind, lanes int) {
	size := int(unsafe.Sizeof(T(0)))
	if kind = width; size == 8 {
		kind++
	}
	return kind, width / 8 / size
}

// panelBytes is how much of B all rows of C pass over before the next part of it: it stays in
// the first-level cache beside rows of A and C.
const panelBytes = 32 << 10

// Rows of B a multiple of packStride bytes apart compete for the same places of that cache:
// where packRows rows of C or more share a panel, it is copied first, row to row.
const (
	packStride = 1 << 10
	packRows   = 8
)

// operand is a Product in bytes: its next row of B, the elements of A beside it, and how
// many rows are left.
type operand struct {
	a, b              unsafe.Pointer
	row, step, stride uintptr
	k                 int
}

// take returns the next rows of B, at most k of them, and moves past them.
func (o *operand) take(k int) operand {
	part := *o
	part.k = min(k, o.k)
	if o.k -= part.k; o.k > 0 {
		o.a, o.b = unsafe.Add(o.a, uintptr(part.k)*o.step), unsafe.Add(o.b, uintptr(part.k)*o.stride)
	}
	return part
}

// vectorGemm is Gemm with vectors.
func vectorGemm[T compute.Float](c []T, ldc, m, n int, bias []T, accumulate bool, p, q *Product[T]) {
	kind, lanes := kindOf[T]()
	size := unsafe.Sizeof(T(0))
	var products [2]operand
	pack := m >= packRows
	for l, f := range [2]*Product[T]{p, q} {
		if f.K > 0 {
			stride := size * uintptr(f.BStride)
			products[l] = operand{
				a: unsafe.Pointer(&f.A[0]), row: size * uintptr(f.RowStride), step: size * uintptr(f.ColStride),
				b: unsafe.Pointer(&f.B[0]), stride: stride, k: f.K,
			}
			pack = pack && stride%packStride == 0
		}
	}
	deep := p.K + q.K
	done := 0
	for _, s := range shapes {
		columns := s.columns * lanes
		end := done + (n-done)/columns*columns
		if end == done {
			continue
		}
		bytes := columns * int(size)
		panel := panelBytes / bytes // rows of B in one of as many columns
		wide := columns
		if !pack && deep > 0 {
			wide *= max(1, panel/deep)
		}
		for lo := done; lo < end; lo += wide {
			from := size * uintptr(lo)
			left := products
			for start := true; start || left[0].k+left[1].k > 0; start = false { // once also without a product
				var part [2]operand
				part[0] = left[0].take(panel)
				part[1] = left[1].take(panel - part[0].k)
				var init unsafe.Pointer
				var initStride uintptr
				switch {
				case accumulate || !start:
					init, initStride = unsafe.Pointer(&c[lo]), size*uintptr(ldc)
				case bias != nil:
					init = unsafe.Pointer(&bias[lo])
				}
				for l := range part {
					if part[l].k > 0 {
						part[l].b = unsafe.Add(part[l].b, from)
					}
				}
				t := tiles{
					kind: kind, rows: s.rows, columns: s.columns, m: m, blocks: min(wide, end-lo) / columns, bytes: uintptr(bytes),
					c: unsafe.Pointer(&c[lo]), stride: size * uintptr(ldc), init: init, initStride: initStride,
				}
				if pack {
					t.packed(part)
				} else {
					t.run(&part)
				}
			}
		}
		done = end
	}
	if done < n {
		edgeGemm(c, ldc, m, n, done, bias, accumulate, products, nil, nil)
	}
	clearUpper()
}

// tiles is a part of C, m rows of so many blocks of columns, and where they begin; rows and
// columns are those of the micro-kernel.
type tiles struct {
	kind, rows, columns, m, blocks int
	bytes                          uintptr // of a block's row
	c                              unsafe.Pointer
	stride                         uintptr
	init                           unsafe.Pointer // of the initial values: nil for zeros
	initStride                     uintptr
}

var panels = sync.Pool{New: func() any { return new([panelBytes / 8]float64) }}

// packed runs with rows of B copied one after the other; t has one block of columns.
func (t *tiles) packed(part [2]operand) {
	buffer := panels.Get().(*[panelBytes / 8]float64)
	defer panels.Put(buffer)
	to := 0
	for l := range part {
		p := &part[l]
		if p.k == 0 {
			continue
		}
		at := unsafe.Pointer(&buffer[to])
		copyRows(at, p.b, p.stride, t.bytes, p.k)
		p.b, p.stride = at, t.bytes
		to += p.k * int(t.bytes) / 8
	}
	t.run(&part)
}

// copyRows copies k rows of bytes, whole vectors, to one another's end.
func copyRows(dst, src unsafe.Pointer, stride, bytes uintptr, k int) {
	size := unsafe.Sizeof(simd.Float32s{})
	for {
		for at := uintptr(0); at < bytes; at += size {
			store32(unsafe.Add(dst, at), load32(unsafe.Add(src, at)))
		}
		if k--; k == 0 {
			break
		}
		dst, src = unsafe.Add(dst, bytes), unsafe.Add(src, stride)
	}
}

// run calls the micro-kernel for every block of every few rows.
func (t *tiles) run(part *[2]operand) {
	var b block
	for l := range part {
		p := &part[l]
		b.p[l] = factors{b: p.b, step: p.step, stride: p.stride, k: p.k}
	}
	rows, m, kind, columns, bytes, stride, initStride := t.rows, t.m, t.kind, t.columns, t.bytes, t.stride, t.initStride
	row0, row1 := part[0].row, part[1].row
	end := bytes * uintptr(t.blocks)
	for i := 0; i < m; i += rows {
		for r := range rows {
			at := uintptr(min(i+r, m-1))
			b.c[r], b.init[r] = unsafe.Add(t.c, at*stride), unsafe.Add(t.init, at*initStride)
			b.p[0].a[r], b.p[1].a[r] = unsafe.Add(part[0].a, at*row0), unsafe.Add(part[1].a, at*row1)
		}
		for j := uintptr(0); j < end; j += bytes {
			b.tile(kind, columns, j)
		}
	}
}

// vectorGemmRows is GemmRows with vectors.
func vectorGemmRows[T compute.Float](c, a [][]T, n int, accumulate bool, b []T, stride, k int) {
	kind, lanes := kindOf[T]()
	size := unsafe.Sizeof(T(0))
	var t block
	t.p[0] = factors{b: unsafe.Pointer(&b[0]), step: size, stride: size * uintptr(stride), k: k}
	done := 0
	for _, s := range shapes {
		columns := s.columns * lanes
		end := done + (n-done)/columns*columns
		if end == done {
			continue
		}
		for i := 0; i < len(c); i += s.rows {
			for r := range s.rows {
				at := min(i+r, len(c)-1)
				t.c[r], t.p[0].a[r] = unsafe.Pointer(&c[at][0]), unsafe.Pointer(&a[at][0])
				if accumulate {
					t.init[r] = t.c[r]
				}
			}
			for j := done; j < end; j += columns {
				t.tile(kind, s.columns, size*uintptr(j))
			}
		}
		done = end
	}
	if done < n {
		edgeGemm(nil, 0, len(c), n, done, nil, accumulate, [2]operand{{
			b: unsafe.Pointer(&b[0]), step: size, stride: size * uintptr(stride), k: k,
		}}, c, a)
	}
	clearUpper()
}
