//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// The micro-kernels of f32_micro512.go on 256-bit vectors.

// gemm4x2y is 4 rows x 16 columns with AVX2 and FMA.
func gemm4x2y(t *block) {
	c, d := t.c, t.init
	c00 := load8f(d)
	c01 := load8f(unsafe.Add(d, 32))
	d = unsafe.Add(d, t.ldi)
	c10 := load8f(d)
	c11 := load8f(unsafe.Add(d, 32))
	d = unsafe.Add(d, t.ldi)
	c20 := load8f(d)
	c21 := load8f(unsafe.Add(d, 32))
	d = unsafe.Add(d, t.ldi)
	c30 := load8f(d)
	c31 := load8f(unsafe.Add(d, 32))
	{
		p0, b, acs, ldb := t.a, t.b, t.acs, t.ldb
		p1 := unsafe.Add(p0, t.ars)
		p2 := unsafe.Add(p1, t.ars)
		p3 := unsafe.Add(p2, t.ars)
		for k := t.k; k > 0; {
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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			if k--; k == 0 {
				break
			}

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
			p0, p1, p2, p3, b = unsafe.Add(p0, acs), unsafe.Add(p1, acs), unsafe.Add(p2, acs), unsafe.Add(p3, acs), unsafe.Add(b, ldb)
			k--
		}
	}
	c00.Store((*[8]float32)(c))
	c01.Store((*[8]float32)(unsafe.Add(c, 32)))
	c = unsafe.Add(c, t.ldc)
	c10.Store((*[8]float32)(c))
	c11.Store((*[8]float32)(unsafe.Add(c, 32)))
	c = unsafe.Add(c, t.ldc)
	c20.Store((*[8]float32)(c))
	c21.Store((*[8]float32)(unsafe.Add(c, 32)))
	c = unsafe.Add(c, t.ldc)
	c30.Store((*[8]float32)(c))
	c31.Store((*[8]float32)(unsafe.Add(c, 32)))
}

// gemm1x2y is 1 row x 16 columns with AVX2 and FMA.
func gemm1x2y(t *block) {
	c, d := t.c, t.init
	c00 := load8f(d)
	c01 := load8f(unsafe.Add(d, 32))
	{
		p0, b, acs, ldb := t.a, t.b, t.acs, t.ldb
		for k := t.k; k > 0; {
			b0a := archsimd.LoadFloat32x8((*[8]float32)(b))
			b1a := archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(b, 32)))
			x0a := archsimd.BroadcastFloat32x8(*(*float32)(p0))
			c00 = x0a.MulAdd(b0a, c00)
			c01 = x0a.MulAdd(b1a, c01)
			p0, b = unsafe.Add(p0, acs), unsafe.Add(b, ldb)
			k--
		}
	}
	{
		p0, b, acs, ldb := t.a2, t.b2, t.acs2, t.ld2
		for k := t.k2; k > 0; {
			b0a := archsimd.LoadFloat32x8((*[8]float32)(b))
			b1a := archsimd.LoadFloat32x8((*[8]float32)(unsafe.Add(b, 32)))
			x0a := archsimd.BroadcastFloat32x8(*(*float32)(p0))
			c00 = x0a.MulAdd(b0a, c00)
			c01 = x0a.MulAdd(b1a, c01)
			p0, b = unsafe.Add(p0, acs), unsafe.Add(b, ldb)
			k--
		}
	}
	c00.Store((*[8]float32)(c))
	c01.Store((*[8]float32)(unsafe.Add(c, 32)))
}
