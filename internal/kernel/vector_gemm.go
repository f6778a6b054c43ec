//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import "unsafe"

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
func kindOf[T Float]() (kind, lanes int) {
	size := int(unsafe.Sizeof(T(0)))
	if kind = width; size == 8 {
		kind++
	}
	return kind, width / 8 / size
}

// vectorGemm does the first columns of Gemm and returns their number.
func vectorGemm[T Float](c []T, ldc, m, n int, bias []T, accumulate bool, p, q *Product[T]) int {
	kind, lanes := kindOf[T]()
	size := unsafe.Sizeof(T(0))
	if n < lanes {
		return 0
	}
	var t block
	var rowA [2]struct {
		first  unsafe.Pointer
		stride uintptr
	}
	for l, f := range [2]*Product[T]{p, q} {
		if f.K > 0 {
			t.p[l] = factors{b: unsafe.Pointer(&f.B[0]), step: size * uintptr(f.ColStride), stride: size * uintptr(f.BStride), k: f.K}
			rowA[l].first, rowA[l].stride = unsafe.Pointer(&f.A[0]), size*uintptr(f.RowStride)
		}
	}
	first, stride := unsafe.Pointer(&c[0]), size*uintptr(ldc)
	var init unsafe.Pointer
	var initStride uintptr
	switch {
	case accumulate:
		init, initStride = first, stride
	case bias != nil:
		init = unsafe.Pointer(&bias[0])
	}
	done := 0
	for _, s := range shapes {
		columns := s.columns * lanes
		end := done + (n-done)/columns*columns
		if end == done {
			continue
		}
		for i := 0; i < m; i += s.rows {
			for r := range s.rows {
				at := uintptr(min(i+r, m-1))
				t.c[r], t.init[r] = unsafe.Add(first, at*stride), unsafe.Add(init, at*initStride)
				t.p[0].a[r] = unsafe.Add(rowA[0].first, at*rowA[0].stride)
				t.p[1].a[r] = unsafe.Add(rowA[1].first, at*rowA[1].stride)
			}
			for j := done; j < end; j += columns {
				t.tile(kind, s.columns, size*uintptr(j))
			}
		}
		done = end
	}
	clearUpper()
	return done
}

// vectorGemmRows does the first columns of GemmRows and returns their number.
func vectorGemmRows[T Float](c, a [][]T, n int, accumulate bool, b []T, stride, k int) int {
	kind, lanes := kindOf[T]()
	size := unsafe.Sizeof(T(0))
	if n < lanes || len(c) == 0 {
		return 0
	}
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
	clearUpper()
	return done
}
