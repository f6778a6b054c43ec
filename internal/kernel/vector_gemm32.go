//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"unsafe"
)

// block32 is the operand list of a micro-kernel: the rows of C and their initial
// values, then two products: the rows of A, which advance by step bytes, and B,
// whose rows are stride bytes apart. Rows may repeat one another.
type block32 struct {
	c, init [8]unsafe.Pointer
	p       [2]factors32
}

type factors32 struct {
	a            [8]unsafe.Pointer
	b            unsafe.Pointer
	step, stride uintptr
	k            int
}

// gemm32 covers C by micro-kernel blocks and returns the number of columns it did, a
// multiple of the vectors' length.
//
// Blocks are 4 rows x 2 vectors, and 8 x 1 for a last vector: 8 sums, more than the
// latency of two multiply-adds at once, while a load feeds 4/3 of them (8/9 in the
// latter); the compiler keeps values across a loop in 15 registers only.
func gemm32(c []float32, ldc, m, n int, bias []float32, accumulate bool, p, q Product[float32]) int {
	lanes := (simd.Float32s{}).Len()
	n -= n % lanes
	if n == 0 {
		return 0
	}
	var t block32
	for l, f := range []*Product[float32]{&p, &q} {
		if f.K > 0 {
			t.p[l].step, t.p[l].stride, t.p[l].k = 4*uintptr(f.ColStride), 4*uintptr(f.BStride), f.K
		}
	}
	wide := n - n%(2*lanes)
	for i := 0; i < m; i += 4 {
		t.rows(i, 4, m, c, ldc, bias, accumulate, &p, &q)
		for j := 0; j < wide; j += 2 * lanes {
			t.columns(j, &p, &q)
			gemm4x2x32(&t, 4*uintptr(j))
		}
	}
	if wide < n {
		for i := 0; i < m; i += 8 {
			t.rows(i, 8, m, c, ldc, bias, accumulate, &p, &q)
			t.columns(wide, &p, &q)
			gemm8x1x32(&t, 4*uintptr(wide))
		}
	}
	clearUpper()
	return n
}

// rows sets the operands to count rows from row i on; rows that C lacks repeat its last.
func (t *block32) rows(i, count, m int, c []float32, ldc int, bias []float32, accumulate bool, p, q *Product[float32]) {
	for r := range count {
		at := min(i+r, m-1)
		t.c[r] = unsafe.Pointer(&c[at*ldc])
		switch {
		case accumulate:
			t.init[r] = t.c[r]
		case bias != nil:
			t.init[r] = unsafe.Pointer(&bias[0])
		}
		if p.K > 0 {
			t.p[0].a[r] = unsafe.Pointer(&p.A[at*p.RowStride])
		}
		if q.K > 0 {
			t.p[1].a[r] = unsafe.Pointer(&q.A[at*q.RowStride])
		}
	}
}

// columns sets the operands to column j and those that follow.
func (t *block32) columns(j int, p, q *Product[float32]) {
	if p.K > 0 {
		t.p[0].b = unsafe.Pointer(&p.B[j])
	}
	if q.K > 0 {
		t.p[1].b = unsafe.Pointer(&q.B[j])
	}
}

// gemmRows32 does the first columns of GemmRows and returns their number.
func gemmRows32(c, a [][]float32, n int, accumulate bool, b []float32, stride, k int) int {
	lanes := (simd.Float32s{}).Len()
	n -= n % lanes
	if n == 0 || len(c) == 0 {
		return 0
	}
	var t block32
	t.p[0].step, t.p[0].stride, t.p[0].k = 4, 4*uintptr(stride), k
	wide := n - n%(2*lanes)
	for i := 0; i < len(c); i += 4 {
		for r := range 4 {
			at := min(i+r, len(c)-1)
			t.c[r], t.p[0].a[r] = unsafe.Pointer(&c[at][0]), unsafe.Pointer(&a[at][0])
			if accumulate {
				t.init[r] = t.c[r]
			}
		}
		for j := 0; j < wide; j += 2 * lanes {
			t.p[0].b = unsafe.Pointer(&b[j])
			gemm4x2x32(&t, 4*uintptr(j))
		}
		if wide < n {
			t.p[0].b = unsafe.Pointer(&b[wide])
			for r := range 4 {
				t.c[4+r], t.init[4+r], t.p[0].a[4+r] = t.c[r], t.init[r], t.p[0].a[r]
			}
			gemm8x1x32(&t, 4*uintptr(wide))
		}
	}
	clearUpper()
	return n
}

// gemm4x2x32 does 4 rows x 2 vectors from byte j of the rows of C. Every sum has a name
// of its own (an array would live in memory). The loop is unrolled with an exit after
// every step: without the exits the compiler would hoist the loads of all steps to
// the top, and spill them.
func gemm4x2x32(t *block32, j uintptr) {
	size := 4 * uintptr((simd.Float32s{}).Len())
	var c00, c01, c10, c11, c20, c21, c30, c31 simd.Float32s
	if t.init[0] != nil {
		c00, c01 = load32(unsafe.Add(t.init[0], j)), load32(unsafe.Add(t.init[0], j+size))
		c10, c11 = load32(unsafe.Add(t.init[1], j)), load32(unsafe.Add(t.init[1], j+size))
		c20, c21 = load32(unsafe.Add(t.init[2], j)), load32(unsafe.Add(t.init[2], j+size))
		c30, c31 = load32(unsafe.Add(t.init[3], j)), load32(unsafe.Add(t.init[3], j+size))
	}
	for l := range t.p {
		p := &t.p[l]
		k := p.k
		if k == 0 {
			continue
		}
		p0, p1, p2, p3, b, step, stride := p.a[0], p.a[1], p.a[2], p.a[3], p.b, p.step, p.stride
		for {
			b0, b1 := load32(b), load32(unsafe.Add(b, size))
			x := simd.BroadcastFloat32s(*(*float32)(p0))
			c00, c01 = x.MulAdd(b0, c00), x.MulAdd(b1, c01)
			x = simd.BroadcastFloat32s(*(*float32)(p1))
			c10, c11 = x.MulAdd(b0, c10), x.MulAdd(b1, c11)
			x = simd.BroadcastFloat32s(*(*float32)(p2))
			c20, c21 = x.MulAdd(b0, c20), x.MulAdd(b1, c21)
			x = simd.BroadcastFloat32s(*(*float32)(p3))
			c30, c31 = x.MulAdd(b0, c30), x.MulAdd(b1, c31)
			if k--; k == 0 {
				break
			}
			p0, p1, p2, p3, b = unsafe.Add(p0, step), unsafe.Add(p1, step), unsafe.Add(p2, step), unsafe.Add(p3, step), unsafe.Add(b, stride)

			b0, b1 = load32(b), load32(unsafe.Add(b, size))
			x = simd.BroadcastFloat32s(*(*float32)(p0))
			c00, c01 = x.MulAdd(b0, c00), x.MulAdd(b1, c01)
			x = simd.BroadcastFloat32s(*(*float32)(p1))
			c10, c11 = x.MulAdd(b0, c10), x.MulAdd(b1, c11)
			x = simd.BroadcastFloat32s(*(*float32)(p2))
			c20, c21 = x.MulAdd(b0, c20), x.MulAdd(b1, c21)
			x = simd.BroadcastFloat32s(*(*float32)(p3))
			c30, c31 = x.MulAdd(b0, c30), x.MulAdd(b1, c31)
			if k--; k == 0 {
				break
			}
			p0, p1, p2, p3, b = unsafe.Add(p0, step), unsafe.Add(p1, step), unsafe.Add(p2, step), unsafe.Add(p3, step), unsafe.Add(b, stride)

			b0, b1 = load32(b), load32(unsafe.Add(b, size))
			x = simd.BroadcastFloat32s(*(*float32)(p0))
			c00, c01 = x.MulAdd(b0, c00), x.MulAdd(b1, c01)
			x = simd.BroadcastFloat32s(*(*float32)(p1))
			c10, c11 = x.MulAdd(b0, c10), x.MulAdd(b1, c11)
			x = simd.BroadcastFloat32s(*(*float32)(p2))
			c20, c21 = x.MulAdd(b0, c20), x.MulAdd(b1, c21)
			x = simd.BroadcastFloat32s(*(*float32)(p3))
			c30, c31 = x.MulAdd(b0, c30), x.MulAdd(b1, c31)
			if k--; k == 0 {
				break
			}
			p0, p1, p2, p3, b = unsafe.Add(p0, step), unsafe.Add(p1, step), unsafe.Add(p2, step), unsafe.Add(p3, step), unsafe.Add(b, stride)

			b0, b1 = load32(b), load32(unsafe.Add(b, size))
			x = simd.BroadcastFloat32s(*(*float32)(p0))
			c00, c01 = x.MulAdd(b0, c00), x.MulAdd(b1, c01)
			x = simd.BroadcastFloat32s(*(*float32)(p1))
			c10, c11 = x.MulAdd(b0, c10), x.MulAdd(b1, c11)
			x = simd.BroadcastFloat32s(*(*float32)(p2))
			c20, c21 = x.MulAdd(b0, c20), x.MulAdd(b1, c21)
			x = simd.BroadcastFloat32s(*(*float32)(p3))
			c30, c31 = x.MulAdd(b0, c30), x.MulAdd(b1, c31)
			if k--; k == 0 {
				break
			}
			p0, p1, p2, p3, b = unsafe.Add(p0, step), unsafe.Add(p1, step), unsafe.Add(p2, step), unsafe.Add(p3, step), unsafe.Add(b, stride)
		}
	}
	store32(unsafe.Add(t.c[0], j), c00)
	store32(unsafe.Add(t.c[0], j+size), c01)
	store32(unsafe.Add(t.c[1], j), c10)
	store32(unsafe.Add(t.c[1], j+size), c11)
	store32(unsafe.Add(t.c[2], j), c20)
	store32(unsafe.Add(t.c[2], j+size), c21)
	store32(unsafe.Add(t.c[3], j), c30)
	store32(unsafe.Add(t.c[3], j+size), c31)
}

// gemm8x1x32 does 8 rows x 1 vector from byte j of the rows of C.
func gemm8x1x32(t *block32, j uintptr) {
	var c0, c1, c2, c3, c4, c5, c6, c7 simd.Float32s
	if t.init[0] != nil {
		c0, c1 = load32(unsafe.Add(t.init[0], j)), load32(unsafe.Add(t.init[1], j))
		c2, c3 = load32(unsafe.Add(t.init[2], j)), load32(unsafe.Add(t.init[3], j))
		c4, c5 = load32(unsafe.Add(t.init[4], j)), load32(unsafe.Add(t.init[5], j))
		c6, c7 = load32(unsafe.Add(t.init[6], j)), load32(unsafe.Add(t.init[7], j))
	}
	for l := range t.p {
		p := &t.p[l]
		k := p.k
		if k == 0 {
			continue
		}
		p0, p1, p2, p3, p4, p5, p6, p7 := p.a[0], p.a[1], p.a[2], p.a[3], p.a[4], p.a[5], p.a[6], p.a[7]
		b, step, stride := p.b, p.step, p.stride
		at := uintptr(0)
		for {
			v := load32(b)
			c0 = simd.BroadcastFloat32s(*(*float32)(unsafe.Add(p0, at))).MulAdd(v, c0)
			c1 = simd.BroadcastFloat32s(*(*float32)(unsafe.Add(p1, at))).MulAdd(v, c1)
			c2 = simd.BroadcastFloat32s(*(*float32)(unsafe.Add(p2, at))).MulAdd(v, c2)
			c3 = simd.BroadcastFloat32s(*(*float32)(unsafe.Add(p3, at))).MulAdd(v, c3)
			c4 = simd.BroadcastFloat32s(*(*float32)(unsafe.Add(p4, at))).MulAdd(v, c4)
			c5 = simd.BroadcastFloat32s(*(*float32)(unsafe.Add(p5, at))).MulAdd(v, c5)
			c6 = simd.BroadcastFloat32s(*(*float32)(unsafe.Add(p6, at))).MulAdd(v, c6)
			c7 = simd.BroadcastFloat32s(*(*float32)(unsafe.Add(p7, at))).MulAdd(v, c7)
			if k--; k == 0 {
				break
			}
			at += step
			b = unsafe.Add(b, stride)
		}
	}
	store32(unsafe.Add(t.c[0], j), c0)
	store32(unsafe.Add(t.c[1], j), c1)
	store32(unsafe.Add(t.c[2], j), c2)
	store32(unsafe.Add(t.c[3], j), c3)
	store32(unsafe.Add(t.c[4], j), c4)
	store32(unsafe.Add(t.c[5], j), c5)
	store32(unsafe.Add(t.c[6], j), c6)
	store32(unsafe.Add(t.c[7], j), c7)
}
