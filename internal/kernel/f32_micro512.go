//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// The micro-kernels: C block = init + first product + second product, one sum per
// element, k increasing. Every sum has a name of its own (an array would live in
// memory). Loops are unrolled with an exit after every step: without the exits the
// compiler would hoist the loads of all steps to the top, and spill them.

// gemm4x2 is 4 rows x 32 columns with AVX-512.
func gemm4x2(t *block) {
	c, d := t.c, t.init
	c00 := load16f(d)
	c01 := load16f(unsafe.Add(d, 64))
	d = unsafe.Add(d, t.ldi)
	c10 := load16f(d)
	c11 := load16f(unsafe.Add(d, 64))
	d = unsafe.Add(d, t.ldi)
	c20 := load16f(d)
	c21 := load16f(unsafe.Add(d, 64))
	d = unsafe.Add(d, t.ldi)
	c30 := load16f(d)
	c31 := load16f(unsafe.Add(d, 64))
	{
		p0, b, acs, ldb := t.a, t.b, t.acs, t.ldb
		p1 := unsafe.Add(p0, t.ars)
		p2 := unsafe.Add(p1, t.ars)
		p3 := unsafe.Add(p2, t.ars)
		for k := t.k; k > 0; {
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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			k--
		}
	}
	{
		p0, b, acs, ldb := t.a2, t.b2, t.acs2, t.ld2
		p1 := unsafe.Add(p0, t.ars2)
		p2 := unsafe.Add(p1, t.ars2)
		p3 := unsafe.Add(p2, t.ars2)
		for k := t.k2; k > 0; {
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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			k--
		}
	}
	c00.Store((*[16]float32)(c))
	c01.Store((*[16]float32)(unsafe.Add(c, 64)))
	c = unsafe.Add(c, t.ldc)
	c10.Store((*[16]float32)(c))
	c11.Store((*[16]float32)(unsafe.Add(c, 64)))
	c = unsafe.Add(c, t.ldc)
	c20.Store((*[16]float32)(c))
	c21.Store((*[16]float32)(unsafe.Add(c, 64)))
	c = unsafe.Add(c, t.ldc)
	c30.Store((*[16]float32)(c))
	c31.Store((*[16]float32)(unsafe.Add(c, 64)))
}

// gemm6x1 is 6 rows x 16 columns with AVX-512.
func gemm6x1(t *block) {
	c, d := t.c, t.init
	c00 := load16f(d)
	d = unsafe.Add(d, t.ldi)
	c10 := load16f(d)
	d = unsafe.Add(d, t.ldi)
	c20 := load16f(d)
	d = unsafe.Add(d, t.ldi)
	c30 := load16f(d)
	d = unsafe.Add(d, t.ldi)
	c40 := load16f(d)
	d = unsafe.Add(d, t.ldi)
	c50 := load16f(d)
	{
		p0, b, acs, ldb := t.a, t.b, t.acs, t.ldb
		p1 := unsafe.Add(p0, t.ars)
		p2 := unsafe.Add(p1, t.ars)
		p3 := unsafe.Add(p2, t.ars)
		p4 := unsafe.Add(p3, t.ars)
		p5 := unsafe.Add(p4, t.ars)
		for k := t.k; k > 0; {
			b0a := archsimd.LoadFloat32x16((*[16]float32)(b))
			x0a := archsimd.BroadcastFloat32x16(*(*float32)(p0))
			c00 = x0a.MulAdd(b0a, c00)
			x1a := archsimd.BroadcastFloat32x16(*(*float32)(p1))
			c10 = x1a.MulAdd(b0a, c10)
			x2a := archsimd.BroadcastFloat32x16(*(*float32)(p2))
			c20 = x2a.MulAdd(b0a, c20)
			x3a := archsimd.BroadcastFloat32x16(*(*float32)(p3))
			c30 = x3a.MulAdd(b0a, c30)
			x4a := archsimd.BroadcastFloat32x16(*(*float32)(p4))
			c40 = x4a.MulAdd(b0a, c40)
			x5a := archsimd.BroadcastFloat32x16(*(*float32)(p5))
			c50 = x5a.MulAdd(b0a, c50)
			p0, p1, p2, p3, p4, p5, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(p4, acs), unsafe.Add(p5, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

			b0b := archsimd.LoadFloat32x16((*[16]float32)(b))
			x0b := archsimd.BroadcastFloat32x16(*(*float32)(p0))
			c00 = x0b.MulAdd(b0b, c00)
			x1b := archsimd.BroadcastFloat32x16(*(*float32)(p1))
			c10 = x1b.MulAdd(b0b, c10)
			x2b := archsimd.BroadcastFloat32x16(*(*float32)(p2))
			c20 = x2b.MulAdd(b0b, c20)
			x3b := archsimd.BroadcastFloat32x16(*(*float32)(p3))
			c30 = x3b.MulAdd(b0b, c30)
			x4b := archsimd.BroadcastFloat32x16(*(*float32)(p4))
			c40 = x4b.MulAdd(b0b, c40)
			x5b := archsimd.BroadcastFloat32x16(*(*float32)(p5))
			c50 = x5b.MulAdd(b0b, c50)
			p0, p1, p2, p3, p4, p5, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(p4, acs), unsafe.Add(p5, acs), unsafe.Add(b, ldb)
			k--
		}
	}
	{
		p0, b, acs, ldb := t.a2, t.b2, t.acs2, t.ld2
		p1 := unsafe.Add(p0, t.ars2)
		p2 := unsafe.Add(p1, t.ars2)
		p3 := unsafe.Add(p2, t.ars2)
		p4 := unsafe.Add(p3, t.ars2)
		p5 := unsafe.Add(p4, t.ars2)
		for k := t.k2; k > 0; {
			b0a := archsimd.LoadFloat32x16((*[16]float32)(b))
			x0a := archsimd.BroadcastFloat32x16(*(*float32)(p0))
			c00 = x0a.MulAdd(b0a, c00)
			x1a := archsimd.BroadcastFloat32x16(*(*float32)(p1))
			c10 = x1a.MulAdd(b0a, c10)
			x2a := archsimd.BroadcastFloat32x16(*(*float32)(p2))
			c20 = x2a.MulAdd(b0a, c20)
			x3a := archsimd.BroadcastFloat32x16(*(*float32)(p3))
			c30 = x3a.MulAdd(b0a, c30)
			x4a := archsimd.BroadcastFloat32x16(*(*float32)(p4))
			c40 = x4a.MulAdd(b0a, c40)
			x5a := archsimd.BroadcastFloat32x16(*(*float32)(p5))
			c50 = x5a.MulAdd(b0a, c50)
			p0, p1, p2, p3, p4, p5, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(p4, acs), unsafe.Add(p5, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

			b0b := archsimd.LoadFloat32x16((*[16]float32)(b))
			x0b := archsimd.BroadcastFloat32x16(*(*float32)(p0))
			c00 = x0b.MulAdd(b0b, c00)
			x1b := archsimd.BroadcastFloat32x16(*(*float32)(p1))
			c10 = x1b.MulAdd(b0b, c10)
			x2b := archsimd.BroadcastFloat32x16(*(*float32)(p2))
			c20 = x2b.MulAdd(b0b, c20)
			x3b := archsimd.BroadcastFloat32x16(*(*float32)(p3))
			c30 = x3b.MulAdd(b0b, c30)
			x4b := archsimd.BroadcastFloat32x16(*(*float32)(p4))
			c40 = x4b.MulAdd(b0b, c40)
			x5b := archsimd.BroadcastFloat32x16(*(*float32)(p5))
			c50 = x5b.MulAdd(b0b, c50)
			p0, p1, p2, p3, p4, p5, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(p4, acs), unsafe.Add(p5, acs), unsafe.Add(b, ldb)
			k--
		}
	}
	c00.Store((*[16]float32)(c))
	c = unsafe.Add(c, t.ldc)
	c10.Store((*[16]float32)(c))
	c = unsafe.Add(c, t.ldc)
	c20.Store((*[16]float32)(c))
	c = unsafe.Add(c, t.ldc)
	c30.Store((*[16]float32)(c))
	c = unsafe.Add(c, t.ldc)
	c40.Store((*[16]float32)(c))
	c = unsafe.Add(c, t.ldc)
	c50.Store((*[16]float32)(c))
}

// gemm4x1 is 4 rows x 16 columns with AVX-512.
func gemm4x1(t *block) {
	c, d := t.c, t.init
	c00 := load16f(d)
	d = unsafe.Add(d, t.ldi)
	c10 := load16f(d)
	d = unsafe.Add(d, t.ldi)
	c20 := load16f(d)
	d = unsafe.Add(d, t.ldi)
	c30 := load16f(d)
	{
		p0, b, acs, ldb := t.a, t.b, t.acs, t.ldb
		p1 := unsafe.Add(p0, t.ars)
		p2 := unsafe.Add(p1, t.ars)
		p3 := unsafe.Add(p2, t.ars)
		for k := t.k; k > 0; {
			b0a := archsimd.LoadFloat32x16((*[16]float32)(b))
			x0a := archsimd.BroadcastFloat32x16(*(*float32)(p0))
			c00 = x0a.MulAdd(b0a, c00)
			x1a := archsimd.BroadcastFloat32x16(*(*float32)(p1))
			c10 = x1a.MulAdd(b0a, c10)
			x2a := archsimd.BroadcastFloat32x16(*(*float32)(p2))
			c20 = x2a.MulAdd(b0a, c20)
			x3a := archsimd.BroadcastFloat32x16(*(*float32)(p3))
			c30 = x3a.MulAdd(b0a, c30)
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			k--
		}
	}
	{
		p0, b, acs, ldb := t.a2, t.b2, t.acs2, t.ld2
		p1 := unsafe.Add(p0, t.ars2)
		p2 := unsafe.Add(p1, t.ars2)
		p3 := unsafe.Add(p2, t.ars2)
		for k := t.k2; k > 0; {
			b0a := archsimd.LoadFloat32x16((*[16]float32)(b))
			x0a := archsimd.BroadcastFloat32x16(*(*float32)(p0))
			c00 = x0a.MulAdd(b0a, c00)
			x1a := archsimd.BroadcastFloat32x16(*(*float32)(p1))
			c10 = x1a.MulAdd(b0a, c10)
			x2a := archsimd.BroadcastFloat32x16(*(*float32)(p2))
			c20 = x2a.MulAdd(b0a, c20)
			x3a := archsimd.BroadcastFloat32x16(*(*float32)(p3))
			c30 = x3a.MulAdd(b0a, c30)
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			k--
		}
	}
	c00.Store((*[16]float32)(c))
	c = unsafe.Add(c, t.ldc)
	c10.Store((*[16]float32)(c))
	c = unsafe.Add(c, t.ldc)
	c20.Store((*[16]float32)(c))
	c = unsafe.Add(c, t.ldc)
	c30.Store((*[16]float32)(c))
}

// gemm1x4 is 1 row x 64 columns with AVX-512.
func gemm1x4(t *block) {
	c, d := t.c, t.init
	c00 := load16f(d)
	c01 := load16f(unsafe.Add(d, 64))
	c02 := load16f(unsafe.Add(d, 128))
	c03 := load16f(unsafe.Add(d, 192))
	{
		p0, b, acs, ldb := t.a, t.b, t.acs, t.ldb
		for k := t.k; k > 0; {
			b0a := archsimd.LoadFloat32x16((*[16]float32)(b))
			b1a := archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(b, 64)))
			b2a := archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(b, 128)))
			b3a := archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(b, 192)))
			x0a := archsimd.BroadcastFloat32x16(*(*float32)(p0))
			c00 = x0a.MulAdd(b0a, c00)
			c01 = x0a.MulAdd(b1a, c01)
			c02 = x0a.MulAdd(b2a, c02)
			c03 = x0a.MulAdd(b3a, c03)
			p0, b = unsafe.Add(p0, acs), unsafe.Add(b, ldb)
			k--
		}
	}
	{
		p0, b, acs, ldb := t.a2, t.b2, t.acs2, t.ld2
		for k := t.k2; k > 0; {
			b0a := archsimd.LoadFloat32x16((*[16]float32)(b))
			b1a := archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(b, 64)))
			b2a := archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(b, 128)))
			b3a := archsimd.LoadFloat32x16((*[16]float32)(unsafe.Add(b, 192)))
			x0a := archsimd.BroadcastFloat32x16(*(*float32)(p0))
			c00 = x0a.MulAdd(b0a, c00)
			c01 = x0a.MulAdd(b1a, c01)
			c02 = x0a.MulAdd(b2a, c02)
			c03 = x0a.MulAdd(b3a, c03)
			p0, b = unsafe.Add(p0, acs), unsafe.Add(b, ldb)
			k--
		}
	}
	c00.Store((*[16]float32)(c))
	c01.Store((*[16]float32)(unsafe.Add(c, 64)))
	c02.Store((*[16]float32)(unsafe.Add(c, 128)))
	c03.Store((*[16]float32)(unsafe.Add(c, 192)))
}

// gemm1x1 is 1 row x 16 columns with AVX-512.
func gemm1x1(t *block) {
	c, d := t.c, t.init
	c00 := load16f(d)
	{
		p0, b, acs, ldb := t.a, t.b, t.acs, t.ldb
		for k := t.k; k > 0; {
			b0a := archsimd.LoadFloat32x16((*[16]float32)(b))
			x0a := archsimd.BroadcastFloat32x16(*(*float32)(p0))
			c00 = x0a.MulAdd(b0a, c00)
			p0, b = unsafe.Add(p0, acs), unsafe.Add(b, ldb)
			k--
		}
	}
	{
		p0, b, acs, ldb := t.a2, t.b2, t.acs2, t.ld2
		for k := t.k2; k > 0; {
			b0a := archsimd.LoadFloat32x16((*[16]float32)(b))
			x0a := archsimd.BroadcastFloat32x16(*(*float32)(p0))
			c00 = x0a.MulAdd(b0a, c00)
			p0, b = unsafe.Add(p0, acs), unsafe.Add(b, ldb)
			k--
		}
	}
	c00.Store((*[16]float32)(c))
}
