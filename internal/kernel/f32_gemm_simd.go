//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// block is the operand list of a micro-kernel: C and its initial value, then two
// products, as pointers and byte strides. It lives on the driver's stack; the
// driver moves the pointers from block to block.
type block struct {
	c, init         unsafe.Pointer
	ldc, ldi        uintptr
	a, b            unsafe.Pointer // first product
	ars, acs, ldb   uintptr
	a2, b2          unsafe.Pointer // second product
	ars2, acs2, ld2 uintptr
	k, k2           int
}

var zeros32 [64]float32 // as long as the widest block's row

// gemm32 covers C by micro-kernel blocks and leaves a last n%16 columns to the
// portable loop.
//
// Why blocks of 4 rows x 2 vectors: Go 1.26 keeps values across a loop in 15
// vector registers only, and its fused multiply-add overwrites a factor instead
// of the sum, so each also needs a copy; 8 sums, 2 vectors of B and the
// broadcast of A's elements are what fits. Measured on one core of an AMD EPYC
// (Zen 5, FMA peak 271 GFLOP/s) with operands in L1, in GFLOP/s: 4x2 210, 2x4
// 210, 3x3 205, 5x2 190, 4x4 and 3x4 55-70 (spills); 4x2 unrolled without the
// exits (see gemm4x2) 130. For 16 columns 6x1 160, 8x1 65 (spills).
func gemm32(c []float32, ldc, m, n int, bias []float32, accumulate bool, p, q Product[float32]) {
	width := n &^ 15
	if width > 0 {
		t := block{
			c: unsafe.Pointer(&c[0]), ldc: 4 * uintptr(ldc), k: p.K, k2: q.K,
			ars: 4 * uintptr(p.RowStride), acs: 4 * uintptr(p.ColStride), ldb: 4 * uintptr(p.BStride),
			ars2: 4 * uintptr(q.RowStride), acs2: 4 * uintptr(q.ColStride), ld2: 4 * uintptr(q.BStride),
		}
		if p.K > 0 {
			t.a, t.b = unsafe.Pointer(&p.A[0]), unsafe.Pointer(&p.B[0])
		}
		if q.K > 0 {
			t.a2, t.b2 = unsafe.Pointer(&q.A[0]), unsafe.Pointer(&q.B[0])
		}
		step := uintptr(0)
		switch {
		case accumulate:
			t.init, t.ldi, step = t.c, t.ldc, 4
		case bias != nil:
			t.init, step = unsafe.Pointer(&bias[0]), 4
		default:
			t.init = unsafe.Pointer(&zeros32)
		}
		if level >= AVX512 {
			gemmBlocks512(&t, m, width, step)
		} else {
			gemmBlocks256(&t, m, width, step)
		}
		archsimd.ClearAVXUpperBits()
	}
	if width == n {
		return
	}
	if bias != nil {
		bias = bias[width:]
	}
	if p.K > 0 {
		p.B = p.B[width:]
	}
	if q.K > 0 {
		q.B = q.B[width:]
	}
	gemmPortable(c[width:], ldc, m, n-width, bias, accumulate, p, q)
}

// move sets the operands to block (i, j) of origin.
func (t *block) move(origin *block, i, j, step uintptr) {
	t.c = unsafe.Add(origin.c, i*t.ldc+4*j)
	t.init = unsafe.Add(origin.init, i*t.ldi+step*j)
	t.a = unsafe.Add(origin.a, i*t.ars)
	t.a2 = unsafe.Add(origin.a2, i*t.ars2)
	t.b = unsafe.Add(origin.b, 4*j)
	t.b2 = unsafe.Add(origin.b2, 4*j)
}

// gemmBlocks512 runs blocks of 4 x 32, 6 x 16 for a last 16 columns, and single
// rows below.
func gemmBlocks512(origin *block, m, n int, step uintptr) {
	t := *origin
	wide := n &^ 31
	i := 0
	for ; i+4 <= m; i += 4 {
		for j := 0; j < wide; j += 32 {
			t.move(origin, uintptr(i), uintptr(j), step)
			gemm4x2(&t)
		}
	}
	for ; i < m; i++ {
		j := 0
		for ; j+64 <= wide; j += 64 {
			t.move(origin, uintptr(i), uintptr(j), step)
			gemm1x4(&t)
		}
		for ; j < wide; j += 16 {
			t.move(origin, uintptr(i), uintptr(j), step)
			gemm1x1(&t)
		}
	}
	if wide == n {
		return
	}
	for i = 0; i+6 <= m; i += 6 {
		t.move(origin, uintptr(i), uintptr(wide), step)
		gemm6x1(&t)
	}
	if i+4 <= m {
		t.move(origin, uintptr(i), uintptr(wide), step)
		gemm4x1(&t)
		i += 4
	}
	for ; i < m; i++ {
		t.move(origin, uintptr(i), uintptr(wide), step)
		gemm1x1(&t)
	}
}

// gemmBlocks256 runs blocks of 4 x 16 and single rows below.
func gemmBlocks256(origin *block, m, n int, step uintptr) {
	t := *origin
	for j := 0; j < n; j += 16 {
		i := 0
		for ; i+4 <= m; i += 4 {
			t.move(origin, uintptr(i), uintptr(j), step)
			gemm4x2y(&t)
		}
		for ; i < m; i++ {
			t.move(origin, uintptr(i), uintptr(j), step)
			gemm1x2y(&t)
		}
	}
}

func load16f(p unsafe.Pointer) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16((*[16]float32)(p))
}

func load8f(p unsafe.Pointer) archsimd.Float32x8 {
	return archsimd.LoadFloat32x8((*[8]float32)(p))
}
