//go:build goexperiment.simd && (amd64 || arm64)

// Code generated from gemm.go.tmpl by go generate; DO NOT EDIT.

package kernel

import (
	"simd"
	"unsafe"
)

// gemm2x4f32 does 2 rows x 4 vectors of float32.
func gemm2x4f32(t *block, j uintptr) {
	size := unsafe.Sizeof(simd.Float32s{})
	var (
		c00 simd.Float32s
		c01 simd.Float32s
		c02 simd.Float32s
		c03 simd.Float32s
		c10 simd.Float32s
		c11 simd.Float32s
		c12 simd.Float32s
		c13 simd.Float32s
	)
	if t.init[0] != nil {
		c00 = *(*simd.Float32s)(unsafe.Add(t.init[0], j+0*size))
		c01 = *(*simd.Float32s)(unsafe.Add(t.init[0], j+1*size))
		c02 = *(*simd.Float32s)(unsafe.Add(t.init[0], j+2*size))
		c03 = *(*simd.Float32s)(unsafe.Add(t.init[0], j+3*size))
		c10 = *(*simd.Float32s)(unsafe.Add(t.init[1], j+0*size))
		c11 = *(*simd.Float32s)(unsafe.Add(t.init[1], j+1*size))
		c12 = *(*simd.Float32s)(unsafe.Add(t.init[1], j+2*size))
		c13 = *(*simd.Float32s)(unsafe.Add(t.init[1], j+3*size))
	}
	for l := range t.p {
		p := &t.p[l]
		k, step, stride, b := p.k, p.step, p.stride, p.b
		if k == 0 {
			continue
		}
		b = unsafe.Add(b, j)
		a0 := p.a[0]
		a1 := p.a[1]
		for {
			{
				x0 := simd.BroadcastFloat32s(*(*float32)(a0))
				x1 := simd.BroadcastFloat32s(*(*float32)(a1))
				b0 := *(*simd.Float32s)(unsafe.Add(b, 0*size))
				c00 = b0.MulAdd(x0, c00)
				c10 = b0.MulAdd(x1, c10)
				b1 := *(*simd.Float32s)(unsafe.Add(b, 1*size))
				c01 = b1.MulAdd(x0, c01)
				c11 = b1.MulAdd(x1, c11)
				b2 := *(*simd.Float32s)(unsafe.Add(b, 2*size))
				c02 = b2.MulAdd(x0, c02)
				c12 = b2.MulAdd(x1, c12)
				b3 := *(*simd.Float32s)(unsafe.Add(b, 3*size))
				c03 = b3.MulAdd(x0, c03)
				c13 = b3.MulAdd(x1, c13)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat32s(*(*float32)(a0))
				x1 := simd.BroadcastFloat32s(*(*float32)(a1))
				b0 := *(*simd.Float32s)(unsafe.Add(b, 0*size))
				c00 = b0.MulAdd(x0, c00)
				c10 = b0.MulAdd(x1, c10)
				b1 := *(*simd.Float32s)(unsafe.Add(b, 1*size))
				c01 = b1.MulAdd(x0, c01)
				c11 = b1.MulAdd(x1, c11)
				b2 := *(*simd.Float32s)(unsafe.Add(b, 2*size))
				c02 = b2.MulAdd(x0, c02)
				c12 = b2.MulAdd(x1, c12)
				b3 := *(*simd.Float32s)(unsafe.Add(b, 3*size))
				c03 = b3.MulAdd(x0, c03)
				c13 = b3.MulAdd(x1, c13)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat32s(*(*float32)(a0))
				x1 := simd.BroadcastFloat32s(*(*float32)(a1))
				b0 := *(*simd.Float32s)(unsafe.Add(b, 0*size))
				c00 = b0.MulAdd(x0, c00)
				c10 = b0.MulAdd(x1, c10)
				b1 := *(*simd.Float32s)(unsafe.Add(b, 1*size))
				c01 = b1.MulAdd(x0, c01)
				c11 = b1.MulAdd(x1, c11)
				b2 := *(*simd.Float32s)(unsafe.Add(b, 2*size))
				c02 = b2.MulAdd(x0, c02)
				c12 = b2.MulAdd(x1, c12)
				b3 := *(*simd.Float32s)(unsafe.Add(b, 3*size))
				c03 = b3.MulAdd(x0, c03)
				c13 = b3.MulAdd(x1, c13)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat32s(*(*float32)(a0))
				x1 := simd.BroadcastFloat32s(*(*float32)(a1))
				b0 := *(*simd.Float32s)(unsafe.Add(b, 0*size))
				c00 = b0.MulAdd(x0, c00)
				c10 = b0.MulAdd(x1, c10)
				b1 := *(*simd.Float32s)(unsafe.Add(b, 1*size))
				c01 = b1.MulAdd(x0, c01)
				c11 = b1.MulAdd(x1, c11)
				b2 := *(*simd.Float32s)(unsafe.Add(b, 2*size))
				c02 = b2.MulAdd(x0, c02)
				c12 = b2.MulAdd(x1, c12)
				b3 := *(*simd.Float32s)(unsafe.Add(b, 3*size))
				c03 = b3.MulAdd(x0, c03)
				c13 = b3.MulAdd(x1, c13)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			b = unsafe.Add(b, stride)
		}
	}
	*(*simd.Float32s)(unsafe.Add(t.c[0], j+0*size)) = c00
	*(*simd.Float32s)(unsafe.Add(t.c[0], j+1*size)) = c01
	*(*simd.Float32s)(unsafe.Add(t.c[0], j+2*size)) = c02
	*(*simd.Float32s)(unsafe.Add(t.c[0], j+3*size)) = c03
	*(*simd.Float32s)(unsafe.Add(t.c[1], j+0*size)) = c10
	*(*simd.Float32s)(unsafe.Add(t.c[1], j+1*size)) = c11
	*(*simd.Float32s)(unsafe.Add(t.c[1], j+2*size)) = c12
	*(*simd.Float32s)(unsafe.Add(t.c[1], j+3*size)) = c13
}

// gemm4x2f32 does 4 rows x 2 vectors of float32.
func gemm4x2f32(t *block, j uintptr) {
	size := unsafe.Sizeof(simd.Float32s{})
	var (
		c00 simd.Float32s
		c01 simd.Float32s
		c10 simd.Float32s
		c11 simd.Float32s
		c20 simd.Float32s
		c21 simd.Float32s
		c30 simd.Float32s
		c31 simd.Float32s
	)
	if t.init[0] != nil {
		c00 = *(*simd.Float32s)(unsafe.Add(t.init[0], j+0*size))
		c01 = *(*simd.Float32s)(unsafe.Add(t.init[0], j+1*size))
		c10 = *(*simd.Float32s)(unsafe.Add(t.init[1], j+0*size))
		c11 = *(*simd.Float32s)(unsafe.Add(t.init[1], j+1*size))
		c20 = *(*simd.Float32s)(unsafe.Add(t.init[2], j+0*size))
		c21 = *(*simd.Float32s)(unsafe.Add(t.init[2], j+1*size))
		c30 = *(*simd.Float32s)(unsafe.Add(t.init[3], j+0*size))
		c31 = *(*simd.Float32s)(unsafe.Add(t.init[3], j+1*size))
	}
	for l := range t.p {
		p := &t.p[l]
		k, step, stride, b := p.k, p.step, p.stride, p.b
		if k == 0 {
			continue
		}
		b = unsafe.Add(b, j)
		a0 := p.a[0]
		a1 := p.a[1]
		a2 := p.a[2]
		a3 := p.a[3]
		for {
			{
				x0 := simd.BroadcastFloat32s(*(*float32)(a0))
				x1 := simd.BroadcastFloat32s(*(*float32)(a1))
				x2 := simd.BroadcastFloat32s(*(*float32)(a2))
				x3 := simd.BroadcastFloat32s(*(*float32)(a3))
				b0 := *(*simd.Float32s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				b1 := *(*simd.Float32s)(unsafe.Add(b, 1*size))
				c01 = x0.MulAdd(b1, c01)
				c11 = x1.MulAdd(b1, c11)
				c21 = x2.MulAdd(b1, c21)
				c31 = x3.MulAdd(b1, c31)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat32s(*(*float32)(a0))
				x1 := simd.BroadcastFloat32s(*(*float32)(a1))
				x2 := simd.BroadcastFloat32s(*(*float32)(a2))
				x3 := simd.BroadcastFloat32s(*(*float32)(a3))
				b0 := *(*simd.Float32s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				b1 := *(*simd.Float32s)(unsafe.Add(b, 1*size))
				c01 = x0.MulAdd(b1, c01)
				c11 = x1.MulAdd(b1, c11)
				c21 = x2.MulAdd(b1, c21)
				c31 = x3.MulAdd(b1, c31)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat32s(*(*float32)(a0))
				x1 := simd.BroadcastFloat32s(*(*float32)(a1))
				x2 := simd.BroadcastFloat32s(*(*float32)(a2))
				x3 := simd.BroadcastFloat32s(*(*float32)(a3))
				b0 := *(*simd.Float32s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				b1 := *(*simd.Float32s)(unsafe.Add(b, 1*size))
				c01 = x0.MulAdd(b1, c01)
				c11 = x1.MulAdd(b1, c11)
				c21 = x2.MulAdd(b1, c21)
				c31 = x3.MulAdd(b1, c31)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat32s(*(*float32)(a0))
				x1 := simd.BroadcastFloat32s(*(*float32)(a1))
				x2 := simd.BroadcastFloat32s(*(*float32)(a2))
				x3 := simd.BroadcastFloat32s(*(*float32)(a3))
				b0 := *(*simd.Float32s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				b1 := *(*simd.Float32s)(unsafe.Add(b, 1*size))
				c01 = x0.MulAdd(b1, c01)
				c11 = x1.MulAdd(b1, c11)
				c21 = x2.MulAdd(b1, c21)
				c31 = x3.MulAdd(b1, c31)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			b = unsafe.Add(b, stride)
		}
	}
	*(*simd.Float32s)(unsafe.Add(t.c[0], j+0*size)) = c00
	*(*simd.Float32s)(unsafe.Add(t.c[0], j+1*size)) = c01
	*(*simd.Float32s)(unsafe.Add(t.c[1], j+0*size)) = c10
	*(*simd.Float32s)(unsafe.Add(t.c[1], j+1*size)) = c11
	*(*simd.Float32s)(unsafe.Add(t.c[2], j+0*size)) = c20
	*(*simd.Float32s)(unsafe.Add(t.c[2], j+1*size)) = c21
	*(*simd.Float32s)(unsafe.Add(t.c[3], j+0*size)) = c30
	*(*simd.Float32s)(unsafe.Add(t.c[3], j+1*size)) = c31
}

// gemm6x1f32 does 6 rows x 1 vectors of float32.
func gemm6x1f32(t *block, j uintptr) {
	size := unsafe.Sizeof(simd.Float32s{})
	var (
		c00 simd.Float32s
		c10 simd.Float32s
		c20 simd.Float32s
		c30 simd.Float32s
		c40 simd.Float32s
		c50 simd.Float32s
	)
	if t.init[0] != nil {
		c00 = *(*simd.Float32s)(unsafe.Add(t.init[0], j+0*size))
		c10 = *(*simd.Float32s)(unsafe.Add(t.init[1], j+0*size))
		c20 = *(*simd.Float32s)(unsafe.Add(t.init[2], j+0*size))
		c30 = *(*simd.Float32s)(unsafe.Add(t.init[3], j+0*size))
		c40 = *(*simd.Float32s)(unsafe.Add(t.init[4], j+0*size))
		c50 = *(*simd.Float32s)(unsafe.Add(t.init[5], j+0*size))
	}
	for l := range t.p {
		p := &t.p[l]
		k, step, stride, b := p.k, p.step, p.stride, p.b
		if k == 0 {
			continue
		}
		b = unsafe.Add(b, j)
		a0 := p.a[0]
		a1 := p.a[1]
		a2 := p.a[2]
		a3 := p.a[3]
		a4 := p.a[4]
		a5 := p.a[5]
		for {
			{
				x0 := simd.BroadcastFloat32s(*(*float32)(a0))
				x1 := simd.BroadcastFloat32s(*(*float32)(a1))
				x2 := simd.BroadcastFloat32s(*(*float32)(a2))
				x3 := simd.BroadcastFloat32s(*(*float32)(a3))
				x4 := simd.BroadcastFloat32s(*(*float32)(a4))
				x5 := simd.BroadcastFloat32s(*(*float32)(a5))
				b0 := *(*simd.Float32s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				c40 = x4.MulAdd(b0, c40)
				c50 = x5.MulAdd(b0, c50)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			a4 = unsafe.Add(a4, step)
			a5 = unsafe.Add(a5, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat32s(*(*float32)(a0))
				x1 := simd.BroadcastFloat32s(*(*float32)(a1))
				x2 := simd.BroadcastFloat32s(*(*float32)(a2))
				x3 := simd.BroadcastFloat32s(*(*float32)(a3))
				x4 := simd.BroadcastFloat32s(*(*float32)(a4))
				x5 := simd.BroadcastFloat32s(*(*float32)(a5))
				b0 := *(*simd.Float32s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				c40 = x4.MulAdd(b0, c40)
				c50 = x5.MulAdd(b0, c50)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			a4 = unsafe.Add(a4, step)
			a5 = unsafe.Add(a5, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat32s(*(*float32)(a0))
				x1 := simd.BroadcastFloat32s(*(*float32)(a1))
				x2 := simd.BroadcastFloat32s(*(*float32)(a2))
				x3 := simd.BroadcastFloat32s(*(*float32)(a3))
				x4 := simd.BroadcastFloat32s(*(*float32)(a4))
				x5 := simd.BroadcastFloat32s(*(*float32)(a5))
				b0 := *(*simd.Float32s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				c40 = x4.MulAdd(b0, c40)
				c50 = x5.MulAdd(b0, c50)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			a4 = unsafe.Add(a4, step)
			a5 = unsafe.Add(a5, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat32s(*(*float32)(a0))
				x1 := simd.BroadcastFloat32s(*(*float32)(a1))
				x2 := simd.BroadcastFloat32s(*(*float32)(a2))
				x3 := simd.BroadcastFloat32s(*(*float32)(a3))
				x4 := simd.BroadcastFloat32s(*(*float32)(a4))
				x5 := simd.BroadcastFloat32s(*(*float32)(a5))
				b0 := *(*simd.Float32s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				c40 = x4.MulAdd(b0, c40)
				c50 = x5.MulAdd(b0, c50)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			a4 = unsafe.Add(a4, step)
			a5 = unsafe.Add(a5, step)
			b = unsafe.Add(b, stride)
		}
	}
	*(*simd.Float32s)(unsafe.Add(t.c[0], j+0*size)) = c00
	*(*simd.Float32s)(unsafe.Add(t.c[1], j+0*size)) = c10
	*(*simd.Float32s)(unsafe.Add(t.c[2], j+0*size)) = c20
	*(*simd.Float32s)(unsafe.Add(t.c[3], j+0*size)) = c30
	*(*simd.Float32s)(unsafe.Add(t.c[4], j+0*size)) = c40
	*(*simd.Float32s)(unsafe.Add(t.c[5], j+0*size)) = c50
}

// gemm2x4f64 does 2 rows x 4 vectors of float64.
func gemm2x4f64(t *block, j uintptr) {
	size := unsafe.Sizeof(simd.Float64s{})
	var (
		c00 simd.Float64s
		c01 simd.Float64s
		c02 simd.Float64s
		c03 simd.Float64s
		c10 simd.Float64s
		c11 simd.Float64s
		c12 simd.Float64s
		c13 simd.Float64s
	)
	if t.init[0] != nil {
		c00 = *(*simd.Float64s)(unsafe.Add(t.init[0], j+0*size))
		c01 = *(*simd.Float64s)(unsafe.Add(t.init[0], j+1*size))
		c02 = *(*simd.Float64s)(unsafe.Add(t.init[0], j+2*size))
		c03 = *(*simd.Float64s)(unsafe.Add(t.init[0], j+3*size))
		c10 = *(*simd.Float64s)(unsafe.Add(t.init[1], j+0*size))
		c11 = *(*simd.Float64s)(unsafe.Add(t.init[1], j+1*size))
		c12 = *(*simd.Float64s)(unsafe.Add(t.init[1], j+2*size))
		c13 = *(*simd.Float64s)(unsafe.Add(t.init[1], j+3*size))
	}
	for l := range t.p {
		p := &t.p[l]
		k, step, stride, b := p.k, p.step, p.stride, p.b
		if k == 0 {
			continue
		}
		b = unsafe.Add(b, j)
		a0 := p.a[0]
		a1 := p.a[1]
		for {
			{
				x0 := simd.BroadcastFloat64s(*(*float64)(a0))
				x1 := simd.BroadcastFloat64s(*(*float64)(a1))
				b0 := *(*simd.Float64s)(unsafe.Add(b, 0*size))
				c00 = b0.MulAdd(x0, c00)
				c10 = b0.MulAdd(x1, c10)
				b1 := *(*simd.Float64s)(unsafe.Add(b, 1*size))
				c01 = b1.MulAdd(x0, c01)
				c11 = b1.MulAdd(x1, c11)
				b2 := *(*simd.Float64s)(unsafe.Add(b, 2*size))
				c02 = b2.MulAdd(x0, c02)
				c12 = b2.MulAdd(x1, c12)
				b3 := *(*simd.Float64s)(unsafe.Add(b, 3*size))
				c03 = b3.MulAdd(x0, c03)
				c13 = b3.MulAdd(x1, c13)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat64s(*(*float64)(a0))
				x1 := simd.BroadcastFloat64s(*(*float64)(a1))
				b0 := *(*simd.Float64s)(unsafe.Add(b, 0*size))
				c00 = b0.MulAdd(x0, c00)
				c10 = b0.MulAdd(x1, c10)
				b1 := *(*simd.Float64s)(unsafe.Add(b, 1*size))
				c01 = b1.MulAdd(x0, c01)
				c11 = b1.MulAdd(x1, c11)
				b2 := *(*simd.Float64s)(unsafe.Add(b, 2*size))
				c02 = b2.MulAdd(x0, c02)
				c12 = b2.MulAdd(x1, c12)
				b3 := *(*simd.Float64s)(unsafe.Add(b, 3*size))
				c03 = b3.MulAdd(x0, c03)
				c13 = b3.MulAdd(x1, c13)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat64s(*(*float64)(a0))
				x1 := simd.BroadcastFloat64s(*(*float64)(a1))
				b0 := *(*simd.Float64s)(unsafe.Add(b, 0*size))
				c00 = b0.MulAdd(x0, c00)
				c10 = b0.MulAdd(x1, c10)
				b1 := *(*simd.Float64s)(unsafe.Add(b, 1*size))
				c01 = b1.MulAdd(x0, c01)
				c11 = b1.MulAdd(x1, c11)
				b2 := *(*simd.Float64s)(unsafe.Add(b, 2*size))
				c02 = b2.MulAdd(x0, c02)
				c12 = b2.MulAdd(x1, c12)
				b3 := *(*simd.Float64s)(unsafe.Add(b, 3*size))
				c03 = b3.MulAdd(x0, c03)
				c13 = b3.MulAdd(x1, c13)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat64s(*(*float64)(a0))
				x1 := simd.BroadcastFloat64s(*(*float64)(a1))
				b0 := *(*simd.Float64s)(unsafe.Add(b, 0*size))
				c00 = b0.MulAdd(x0, c00)
				c10 = b0.MulAdd(x1, c10)
				b1 := *(*simd.Float64s)(unsafe.Add(b, 1*size))
				c01 = b1.MulAdd(x0, c01)
				c11 = b1.MulAdd(x1, c11)
				b2 := *(*simd.Float64s)(unsafe.Add(b, 2*size))
				c02 = b2.MulAdd(x0, c02)
				c12 = b2.MulAdd(x1, c12)
				b3 := *(*simd.Float64s)(unsafe.Add(b, 3*size))
				c03 = b3.MulAdd(x0, c03)
				c13 = b3.MulAdd(x1, c13)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			b = unsafe.Add(b, stride)
		}
	}
	*(*simd.Float64s)(unsafe.Add(t.c[0], j+0*size)) = c00
	*(*simd.Float64s)(unsafe.Add(t.c[0], j+1*size)) = c01
	*(*simd.Float64s)(unsafe.Add(t.c[0], j+2*size)) = c02
	*(*simd.Float64s)(unsafe.Add(t.c[0], j+3*size)) = c03
	*(*simd.Float64s)(unsafe.Add(t.c[1], j+0*size)) = c10
	*(*simd.Float64s)(unsafe.Add(t.c[1], j+1*size)) = c11
	*(*simd.Float64s)(unsafe.Add(t.c[1], j+2*size)) = c12
	*(*simd.Float64s)(unsafe.Add(t.c[1], j+3*size)) = c13
}

// gemm4x2f64 does 4 rows x 2 vectors of float64.
func gemm4x2f64(t *block, j uintptr) {
	size := unsafe.Sizeof(simd.Float64s{})
	var (
		c00 simd.Float64s
		c01 simd.Float64s
		c10 simd.Float64s
		c11 simd.Float64s
		c20 simd.Float64s
		c21 simd.Float64s
		c30 simd.Float64s
		c31 simd.Float64s
	)
	if t.init[0] != nil {
		c00 = *(*simd.Float64s)(unsafe.Add(t.init[0], j+0*size))
		c01 = *(*simd.Float64s)(unsafe.Add(t.init[0], j+1*size))
		c10 = *(*simd.Float64s)(unsafe.Add(t.init[1], j+0*size))
		c11 = *(*simd.Float64s)(unsafe.Add(t.init[1], j+1*size))
		c20 = *(*simd.Float64s)(unsafe.Add(t.init[2], j+0*size))
		c21 = *(*simd.Float64s)(unsafe.Add(t.init[2], j+1*size))
		c30 = *(*simd.Float64s)(unsafe.Add(t.init[3], j+0*size))
		c31 = *(*simd.Float64s)(unsafe.Add(t.init[3], j+1*size))
	}
	for l := range t.p {
		p := &t.p[l]
		k, step, stride, b := p.k, p.step, p.stride, p.b
		if k == 0 {
			continue
		}
		b = unsafe.Add(b, j)
		a0 := p.a[0]
		a1 := p.a[1]
		a2 := p.a[2]
		a3 := p.a[3]
		for {
			{
				x0 := simd.BroadcastFloat64s(*(*float64)(a0))
				x1 := simd.BroadcastFloat64s(*(*float64)(a1))
				x2 := simd.BroadcastFloat64s(*(*float64)(a2))
				x3 := simd.BroadcastFloat64s(*(*float64)(a3))
				b0 := *(*simd.Float64s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				b1 := *(*simd.Float64s)(unsafe.Add(b, 1*size))
				c01 = x0.MulAdd(b1, c01)
				c11 = x1.MulAdd(b1, c11)
				c21 = x2.MulAdd(b1, c21)
				c31 = x3.MulAdd(b1, c31)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat64s(*(*float64)(a0))
				x1 := simd.BroadcastFloat64s(*(*float64)(a1))
				x2 := simd.BroadcastFloat64s(*(*float64)(a2))
				x3 := simd.BroadcastFloat64s(*(*float64)(a3))
				b0 := *(*simd.Float64s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				b1 := *(*simd.Float64s)(unsafe.Add(b, 1*size))
				c01 = x0.MulAdd(b1, c01)
				c11 = x1.MulAdd(b1, c11)
				c21 = x2.MulAdd(b1, c21)
				c31 = x3.MulAdd(b1, c31)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat64s(*(*float64)(a0))
				x1 := simd.BroadcastFloat64s(*(*float64)(a1))
				x2 := simd.BroadcastFloat64s(*(*float64)(a2))
				x3 := simd.BroadcastFloat64s(*(*float64)(a3))
				b0 := *(*simd.Float64s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				b1 := *(*simd.Float64s)(unsafe.Add(b, 1*size))
				c01 = x0.MulAdd(b1, c01)
				c11 = x1.MulAdd(b1, c11)
				c21 = x2.MulAdd(b1, c21)
				c31 = x3.MulAdd(b1, c31)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat64s(*(*float64)(a0))
				x1 := simd.BroadcastFloat64s(*(*float64)(a1))
				x2 := simd.BroadcastFloat64s(*(*float64)(a2))
				x3 := simd.BroadcastFloat64s(*(*float64)(a3))
				b0 := *(*simd.Float64s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				b1 := *(*simd.Float64s)(unsafe.Add(b, 1*size))
				c01 = x0.MulAdd(b1, c01)
				c11 = x1.MulAdd(b1, c11)
				c21 = x2.MulAdd(b1, c21)
				c31 = x3.MulAdd(b1, c31)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			b = unsafe.Add(b, stride)
		}
	}
	*(*simd.Float64s)(unsafe.Add(t.c[0], j+0*size)) = c00
	*(*simd.Float64s)(unsafe.Add(t.c[0], j+1*size)) = c01
	*(*simd.Float64s)(unsafe.Add(t.c[1], j+0*size)) = c10
	*(*simd.Float64s)(unsafe.Add(t.c[1], j+1*size)) = c11
	*(*simd.Float64s)(unsafe.Add(t.c[2], j+0*size)) = c20
	*(*simd.Float64s)(unsafe.Add(t.c[2], j+1*size)) = c21
	*(*simd.Float64s)(unsafe.Add(t.c[3], j+0*size)) = c30
	*(*simd.Float64s)(unsafe.Add(t.c[3], j+1*size)) = c31
}

// gemm6x1f64 does 6 rows x 1 vectors of float64.
func gemm6x1f64(t *block, j uintptr) {
	size := unsafe.Sizeof(simd.Float64s{})
	var (
		c00 simd.Float64s
		c10 simd.Float64s
		c20 simd.Float64s
		c30 simd.Float64s
		c40 simd.Float64s
		c50 simd.Float64s
	)
	if t.init[0] != nil {
		c00 = *(*simd.Float64s)(unsafe.Add(t.init[0], j+0*size))
		c10 = *(*simd.Float64s)(unsafe.Add(t.init[1], j+0*size))
		c20 = *(*simd.Float64s)(unsafe.Add(t.init[2], j+0*size))
		c30 = *(*simd.Float64s)(unsafe.Add(t.init[3], j+0*size))
		c40 = *(*simd.Float64s)(unsafe.Add(t.init[4], j+0*size))
		c50 = *(*simd.Float64s)(unsafe.Add(t.init[5], j+0*size))
	}
	for l := range t.p {
		p := &t.p[l]
		k, step, stride, b := p.k, p.step, p.stride, p.b
		if k == 0 {
			continue
		}
		b = unsafe.Add(b, j)
		a0 := p.a[0]
		a1 := p.a[1]
		a2 := p.a[2]
		a3 := p.a[3]
		a4 := p.a[4]
		a5 := p.a[5]
		for {
			{
				x0 := simd.BroadcastFloat64s(*(*float64)(a0))
				x1 := simd.BroadcastFloat64s(*(*float64)(a1))
				x2 := simd.BroadcastFloat64s(*(*float64)(a2))
				x3 := simd.BroadcastFloat64s(*(*float64)(a3))
				x4 := simd.BroadcastFloat64s(*(*float64)(a4))
				x5 := simd.BroadcastFloat64s(*(*float64)(a5))
				b0 := *(*simd.Float64s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				c40 = x4.MulAdd(b0, c40)
				c50 = x5.MulAdd(b0, c50)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			a4 = unsafe.Add(a4, step)
			a5 = unsafe.Add(a5, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat64s(*(*float64)(a0))
				x1 := simd.BroadcastFloat64s(*(*float64)(a1))
				x2 := simd.BroadcastFloat64s(*(*float64)(a2))
				x3 := simd.BroadcastFloat64s(*(*float64)(a3))
				x4 := simd.BroadcastFloat64s(*(*float64)(a4))
				x5 := simd.BroadcastFloat64s(*(*float64)(a5))
				b0 := *(*simd.Float64s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				c40 = x4.MulAdd(b0, c40)
				c50 = x5.MulAdd(b0, c50)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			a4 = unsafe.Add(a4, step)
			a5 = unsafe.Add(a5, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat64s(*(*float64)(a0))
				x1 := simd.BroadcastFloat64s(*(*float64)(a1))
				x2 := simd.BroadcastFloat64s(*(*float64)(a2))
				x3 := simd.BroadcastFloat64s(*(*float64)(a3))
				x4 := simd.BroadcastFloat64s(*(*float64)(a4))
				x5 := simd.BroadcastFloat64s(*(*float64)(a5))
				b0 := *(*simd.Float64s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				c40 = x4.MulAdd(b0, c40)
				c50 = x5.MulAdd(b0, c50)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			a4 = unsafe.Add(a4, step)
			a5 = unsafe.Add(a5, step)
			b = unsafe.Add(b, stride)
			{
				x0 := simd.BroadcastFloat64s(*(*float64)(a0))
				x1 := simd.BroadcastFloat64s(*(*float64)(a1))
				x2 := simd.BroadcastFloat64s(*(*float64)(a2))
				x3 := simd.BroadcastFloat64s(*(*float64)(a3))
				x4 := simd.BroadcastFloat64s(*(*float64)(a4))
				x5 := simd.BroadcastFloat64s(*(*float64)(a5))
				b0 := *(*simd.Float64s)(unsafe.Add(b, 0*size))
				c00 = x0.MulAdd(b0, c00)
				c10 = x1.MulAdd(b0, c10)
				c20 = x2.MulAdd(b0, c20)
				c30 = x3.MulAdd(b0, c30)
				c40 = x4.MulAdd(b0, c40)
				c50 = x5.MulAdd(b0, c50)
			}
			if k--; k == 0 {
				break
			}
			a0 = unsafe.Add(a0, step)
			a1 = unsafe.Add(a1, step)
			a2 = unsafe.Add(a2, step)
			a3 = unsafe.Add(a3, step)
			a4 = unsafe.Add(a4, step)
			a5 = unsafe.Add(a5, step)
			b = unsafe.Add(b, stride)
		}
	}
	*(*simd.Float64s)(unsafe.Add(t.c[0], j+0*size)) = c00
	*(*simd.Float64s)(unsafe.Add(t.c[1], j+0*size)) = c10
	*(*simd.Float64s)(unsafe.Add(t.c[2], j+0*size)) = c20
	*(*simd.Float64s)(unsafe.Add(t.c[3], j+0*size)) = c30
	*(*simd.Float64s)(unsafe.Add(t.c[4], j+0*size)) = c40
	*(*simd.Float64s)(unsafe.Add(t.c[5], j+0*size)) = c50
}

// tileSIMD calls the micro-kernel of a kind (see kindOf) and a number of vectors.
func (t *block) tileSIMD(kind, columns int, j uintptr) {
	switch kind {
	case 128, 256, 512:
		switch columns {
		case 4:
			gemm2x4f32(t, j)
		case 2:
			gemm4x2f32(t, j)
		case 1:
			gemm6x1f32(t, j)
		}
	case 129, 257, 513:
		switch columns {
		case 4:
			gemm2x4f64(t, j)
		case 2:
			gemm4x2f64(t, j)
		case 1:
			gemm6x1f64(t, j)
		}
	}
}
