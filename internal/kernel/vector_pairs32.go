//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"unsafe"
)

// addPairs32 does the first columns of AddPairs and returns their number. Blocks are 2
// rows x 2 vectors, which stay in registers from pair to pair: C, which may be larger
// than any cache, is read and written once. An odd last row is done twice.
func addPairs32(c []float32, ldc, m, n int, p Product[float32]) int {
	lanes := (simd.Float32s{}).Len()
	n -= n % lanes
	if n == 0 {
		return 0
	}
	size := 4 * uintptr(lanes)
	step, stride := 4*uintptr(p.ColStride), 4*uintptr(p.BStride)
	for i := 0; i < m; i += 2 {
		last := min(i+1, m-1)
		first, second := unsafe.Pointer(&p.A[i*p.RowStride]), unsafe.Pointer(&p.A[last*p.RowStride])
		j := 0
		for ; j+2*lanes <= n; j += 2 * lanes {
			r0, r1, a0, a1, b := unsafe.Pointer(&c[i*ldc+j]), unsafe.Pointer(&c[last*ldc+j]), first, second, unsafe.Pointer(&p.B[j])
			c00, c01 := load32(r0), load32(unsafe.Add(r0, size))
			c10, c11 := load32(r1), load32(unsafe.Add(r1, size))
			for k := p.K; ; {
				next := unsafe.Add(b, stride)
				b00, b01 := load32(b), load32(unsafe.Add(b, size))
				b10, b11 := load32(next), load32(unsafe.Add(next, size))
				x, y := simd.BroadcastFloat32s(*(*float32)(a0)), simd.BroadcastFloat32s(*(*float32)(unsafe.Add(a0, step)))
				c00, c01 = c00.Add(y.MulAdd(b10, x.Mul(b00))), c01.Add(y.MulAdd(b11, x.Mul(b01)))
				x, y = simd.BroadcastFloat32s(*(*float32)(a1)), simd.BroadcastFloat32s(*(*float32)(unsafe.Add(a1, step)))
				c10, c11 = c10.Add(y.MulAdd(b10, x.Mul(b00))), c11.Add(y.MulAdd(b11, x.Mul(b01)))
				if k -= 2; k == 0 {
					break
				}
				a0, a1, b = unsafe.Add(a0, 2*step), unsafe.Add(a1, 2*step), unsafe.Add(next, stride)
			}
			store32(r0, c00)
			store32(unsafe.Add(r0, size), c01)
			store32(r1, c10)
			store32(unsafe.Add(r1, size), c11)
		}
		if j < n {
			r0, r1, a0, a1, b := unsafe.Pointer(&c[i*ldc+j]), unsafe.Pointer(&c[last*ldc+j]), first, second, unsafe.Pointer(&p.B[j])
			c0, c1 := load32(r0), load32(r1)
			for k := p.K; ; {
				next := unsafe.Add(b, stride)
				b0, b1 := load32(b), load32(next)
				x, y := simd.BroadcastFloat32s(*(*float32)(a0)), simd.BroadcastFloat32s(*(*float32)(unsafe.Add(a0, step)))
				c0 = c0.Add(y.MulAdd(b1, x.Mul(b0)))
				x, y = simd.BroadcastFloat32s(*(*float32)(a1)), simd.BroadcastFloat32s(*(*float32)(unsafe.Add(a1, step)))
				c1 = c1.Add(y.MulAdd(b1, x.Mul(b0)))
				if k -= 2; k == 0 {
					break
				}
				a0, a1, b = unsafe.Add(a0, 2*step), unsafe.Add(a1, 2*step), unsafe.Add(next, stride)
			}
			store32(r0, c0)
			store32(r1, c1)
		}
	}
	clearUpper()
	return n
}
