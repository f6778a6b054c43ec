//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// gemmRows32 does the columns of whole blocks and returns how many: four rows at a
// time, the last four repeating a row.
func gemmRows32(c, a [][]float32, n int, accumulate bool, b []float32, stride, k int) int {
	if level < AVX2 || len(c) == 0 || k == 0 {
		return 0
	}
	width := 16
	if level >= AVX512 {
		width = 32
	}
	last := len(c) - 1
	for i := 0; i <= last; i += 4 {
		var t rowsBlock
		for r := range t.a {
			at := min(i+r, last)
			t.a[r], t.c[r] = unsafe.Pointer(&a[at][0]), unsafe.Pointer(&c[at][0])
		}
		for j := 0; j+width <= n; j += width {
			t.b = unsafe.Pointer(&b[j])
			if width == 32 {
				gemmRows4x2(&t, accumulate, 4*uintptr(stride), k)
			} else {
				gemmRows4x2y(&t, accumulate, 4*uintptr(stride), k)
			}
			for r := range t.c {
				t.c[r] = unsafe.Add(t.c[r], 4*width)
			}
		}
	}
	archsimd.ClearAVXUpperBits()
	return n - n%width
}

// rowsBlock are the rows of A and C of a block, and B at its first column.
type rowsBlock struct {
	a, c [4]unsafe.Pointer
	b    unsafe.Pointer
}

// gemmRows4x2 is 4 rows x 32 columns with AVX-512, unrolled as gemm4x2 is.
func gemmRows4x2(t *rowsBlock, accumulate bool, ldb uintptr, k int) {
	var c00, c01, c10, c11, c20, c21, c30, c31 archsimd.Float32x16
	if accumulate {
		c00, c01 = load16f(t.c[0]), load16f(unsafe.Add(t.c[0], 64))
		c10, c11 = load16f(t.c[1]), load16f(unsafe.Add(t.c[1], 64))
		c20, c21 = load16f(t.c[2]), load16f(unsafe.Add(t.c[2], 64))
		c30, c31 = load16f(t.c[3]), load16f(unsafe.Add(t.c[3], 64))
	}
	p0, p1, p2, p3, b := t.a[0], t.a[1], t.a[2], t.a[3], t.b
	for {
		b0a := archsimd.LoadFloat32x16((*[16]float32)(b))
		b1a := archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(b, 64)))
		x0a := archsimd.BroadcastFloat32x16(*(*float32)(p0))
		c00 = x0a.MulAdd(b0a, c00)
		c01 = x0a.MulAdd(b1a, c01)
		x1a := archsimd.BroadcastFloat32x16(*(*float32)(p1))
		c10 = x1a.MulAdd(b0a, c10)
		c11 = x1a.MulAdd(b1a, c11)
		x2a := archsimd.BroadcastFloat32x16(*(*float32)(p2))
		c20 = x2a.MulAdd(b0a, c20)
		c21 = x2a.MulAdd(b1a, c21)
		x3a := archsimd.BroadcastFloat32x16(*(*float32)(p3))
		c30 = x3a.MulAdd(b0a, c30)
		c31 = x3a.MulAdd(b1a, c31)
		if k--; k == 0 {
			break
		}
		p0, p1, p2, p3, b = unsafe.Add(p0, 4), unsafe.Add(p1, 4), unsafe.Add(p2, 4), unsafe.Add(p3, 4), unsafe.Add(b, ldb)

		b0b := archsimd.LoadFloat32x16((*[16]float32)(b))
		b1b := archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(b, 64)))
		x0b := archsimd.BroadcastFloat32x16(*(*float32)(p0))
		c00 = x0b.MulAdd(b0b, c00)
		c01 = x0b.MulAdd(b1b, c01)
		x1b := archsimd.BroadcastFloat32x16(*(*float32)(p1))
		c10 = x1b.MulAdd(b0b, c10)
		c11 = x1b.MulAdd(b1b, c11)
		x2b := archsimd.BroadcastFloat32x16(*(*float32)(p2))
		c20 = x2b.MulAdd(b0b, c20)
		c21 = x2b.MulAdd(b1b, c21)
		x3b := archsimd.BroadcastFloat32x16(*(*float32)(p3))
		c30 = x3b.MulAdd(b0b, c30)
		c31 = x3b.MulAdd(b1b, c31)
		if k--; k == 0 {
			break
		}
		p0, p1, p2, p3, b = unsafe.Add(p0, 4), unsafe.Add(p1, 4), unsafe.Add(p2, 4), unsafe.Add(p3, 4), unsafe.Add(b, ldb)

		b0c := archsimd.LoadFloat32x16((*[16]float32)(b))
		b1c := archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(b, 64)))
		x0c := archsimd.BroadcastFloat32x16(*(*float32)(p0))
		c00 = x0c.MulAdd(b0c, c00)
		c01 = x0c.MulAdd(b1c, c01)
		x1c := archsimd.BroadcastFloat32x16(*(*float32)(p1))
		c10 = x1c.MulAdd(b0c, c10)
		c11 = x1c.MulAdd(b1c, c11)
		x2c := archsimd.BroadcastFloat32x16(*(*float32)(p2))
		c20 = x2c.MulAdd(b0c, c20)
		c21 = x2c.MulAdd(b1c, c21)
		x3c := archsimd.BroadcastFloat32x16(*(*float32)(p3))
		c30 = x3c.MulAdd(b0c, c30)
		c31 = x3c.MulAdd(b1c, c31)
		if k--; k == 0 {
			break
		}
		p0, p1, p2, p3, b = unsafe.Add(p0, 4), unsafe.Add(p1, 4), unsafe.Add(p2, 4), unsafe.Add(p3, 4), unsafe.Add(b, ldb)

		b0d := archsimd.LoadFloat32x16((*[16]float32)(b))
		b1d := archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(b, 64)))
		x0d := archsimd.BroadcastFloat32x16(*(*float32)(p0))
		c00 = x0d.MulAdd(b0d, c00)
		c01 = x0d.MulAdd(b1d, c01)
		x1d := archsimd.BroadcastFloat32x16(*(*float32)(p1))
		c10 = x1d.MulAdd(b0d, c10)
		c11 = x1d.MulAdd(b1d, c11)
		x2d := archsimd.BroadcastFloat32x16(*(*float32)(p2))
		c20 = x2d.MulAdd(b0d, c20)
		c21 = x2d.MulAdd(b1d, c21)
		x3d := archsimd.BroadcastFloat32x16(*(*float32)(p3))
		c30 = x3d.MulAdd(b0d, c30)
		c31 = x3d.MulAdd(b1d, c31)
		if k--; k == 0 {
			break
		}
		p0, p1, p2, p3, b = unsafe.Add(p0, 4), unsafe.Add(p1, 4), unsafe.Add(p2, 4), unsafe.Add(p3, 4), unsafe.Add(b, ldb)
	}
	c00.Store((*[16]float32)(t.c[0]))
	c01.Store((*[16]float32)(unsafe.Add(t.c[0], 64)))
	c10.Store((*[16]float32)(t.c[1]))
	c11.Store((*[16]float32)(unsafe.Add(t.c[1], 64)))
	c20.Store((*[16]float32)(t.c[2]))
	c21.Store((*[16]float32)(unsafe.Add(t.c[2], 64)))
	c30.Store((*[16]float32)(t.c[3]))
	c31.Store((*[16]float32)(unsafe.Add(t.c[3], 64)))
}

// gemmRows4x2y is 4 rows x 16 columns with AVX2.
func gemmRows4x2y(t *rowsBlock, accumulate bool, ldb uintptr, k int) {
	var c00, c01, c10, c11, c20, c21, c30, c31 archsimd.Float32x8
	if accumulate {
		c00, c01 = load8f(t.c[0]), load8f(unsafe.Add(t.c[0], 32))
		c10, c11 = load8f(t.c[1]), load8f(unsafe.Add(t.c[1], 32))
		c20, c21 = load8f(t.c[2]), load8f(unsafe.Add(t.c[2], 32))
		c30, c31 = load8f(t.c[3]), load8f(unsafe.Add(t.c[3], 32))
	}
	p0, p1, p2, p3, b := t.a[0], t.a[1], t.a[2], t.a[3], t.b
	for {
		b0a := archsimd.LoadFloat32x8((*[8]float32)(b))
		b1a := archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(b, 32)))
		x0a := archsimd.BroadcastFloat32x8(*(*float32)(p0))
		c00 = x0a.MulAdd(b0a, c00)
		c01 = x0a.MulAdd(b1a, c01)
		x1a := archsimd.BroadcastFloat32x8(*(*float32)(p1))
		c10 = x1a.MulAdd(b0a, c10)
		c11 = x1a.MulAdd(b1a, c11)
		x2a := archsimd.BroadcastFloat32x8(*(*float32)(p2))
		c20 = x2a.MulAdd(b0a, c20)
		c21 = x2a.MulAdd(b1a, c21)
		x3a := archsimd.BroadcastFloat32x8(*(*float32)(p3))
		c30 = x3a.MulAdd(b0a, c30)
		c31 = x3a.MulAdd(b1a, c31)
		if k--; k == 0 {
			break
		}
		p0, p1, p2, p3, b = unsafe.Add(p0, 4), unsafe.Add(p1, 4), unsafe.Add(p2, 4), unsafe.Add(p3, 4), unsafe.Add(b, ldb)

		b0b := archsimd.LoadFloat32x8((*[8]float32)(b))
		b1b := archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(b, 32)))
		x0b := archsimd.BroadcastFloat32x8(*(*float32)(p0))
		c00 = x0b.MulAdd(b0b, c00)
		c01 = x0b.MulAdd(b1b, c01)
		x1b := archsimd.BroadcastFloat32x8(*(*float32)(p1))
		c10 = x1b.MulAdd(b0b, c10)
		c11 = x1b.MulAdd(b1b, c11)
		x2b := archsimd.BroadcastFloat32x8(*(*float32)(p2))
		c20 = x2b.MulAdd(b0b, c20)
		c21 = x2b.MulAdd(b1b, c21)
		x3b := archsimd.BroadcastFloat32x8(*(*float32)(p3))
		c30 = x3b.MulAdd(b0b, c30)
		c31 = x3b.MulAdd(b1b, c31)
		if k--; k == 0 {
			break
		}
		p0, p1, p2, p3, b = unsafe.Add(p0, 4), unsafe.Add(p1, 4), unsafe.Add(p2, 4), unsafe.Add(p3, 4), unsafe.Add(b, ldb)

		b0c := archsimd.LoadFloat32x8((*[8]float32)(b))
		b1c := archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(b, 32)))
		x0c := archsimd.BroadcastFloat32x8(*(*float32)(p0))
		c00 = x0c.MulAdd(b0c, c00)
		c01 = x0c.MulAdd(b1c, c01)
		x1c := archsimd.BroadcastFloat32x8(*(*float32)(p1))
		c10 = x1c.MulAdd(b0c, c10)
		c11 = x1c.MulAdd(b1c, c11)
		x2c := archsimd.BroadcastFloat32x8(*(*float32)(p2))
		c20 = x2c.MulAdd(b0c, c20)
		c21 = x2c.MulAdd(b1c, c21)
		x3c := archsimd.BroadcastFloat32x8(*(*float32)(p3))
		c30 = x3c.MulAdd(b0c, c30)
		c31 = x3c.MulAdd(b1c, c31)
		if k--; k == 0 {
			break
		}
		p0, p1, p2, p3, b = unsafe.Add(p0, 4), unsafe.Add(p1, 4), unsafe.Add(p2, 4), unsafe.Add(p3, 4), unsafe.Add(b, ldb)

		b0d := archsimd.LoadFloat32x8((*[8]float32)(b))
		b1d := archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(b, 32)))
		x0d := archsimd.BroadcastFloat32x8(*(*float32)(p0))
		c00 = x0d.MulAdd(b0d, c00)
		c01 = x0d.MulAdd(b1d, c01)
		x1d := archsimd.BroadcastFloat32x8(*(*float32)(p1))
		c10 = x1d.MulAdd(b0d, c10)
		c11 = x1d.MulAdd(b1d, c11)
		x2d := archsimd.BroadcastFloat32x8(*(*float32)(p2))
		c20 = x2d.MulAdd(b0d, c20)
		c21 = x2d.MulAdd(b1d, c21)
		x3d := archsimd.BroadcastFloat32x8(*(*float32)(p3))
		c30 = x3d.MulAdd(b0d, c30)
		c31 = x3d.MulAdd(b1d, c31)
		if k--; k == 0 {
			break
		}
		p0, p1, p2, p3, b = unsafe.Add(p0, 4), unsafe.Add(p1, 4), unsafe.Add(p2, 4), unsafe.Add(p3, 4), unsafe.Add(b, ldb)
	}
	c00.Store((*[8]float32)(t.c[0]))
	c01.Store((*[8]float32)(unsafe.Add(t.c[0], 32)))
	c10.Store((*[8]float32)(t.c[1]))
	c11.Store((*[8]float32)(unsafe.Add(t.c[1], 32)))
	c20.Store((*[8]float32)(t.c[2]))
	c21.Store((*[8]float32)(unsafe.Add(t.c[2], 32)))
	c30.Store((*[8]float32)(t.c[3]))
	c31.Store((*[8]float32)(unsafe.Add(t.c[3], 32)))
}
