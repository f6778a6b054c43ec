//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"unsafe"
)

// burst32 runs ten chains of n multiply-adds, enough to hide their latency, and
// returns the operations done. Chains that start alike would be merged into one by
// the compiler, and the figure be wrong: each starts from its own element.
func burst32(n int) float64 {
	x := simd.BroadcastFloat32s(0.999)
	start := [10]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	c0, c1 := simd.BroadcastFloat32s(start[0]), simd.BroadcastFloat32s(start[1])
	c2, c3 := simd.BroadcastFloat32s(start[2]), simd.BroadcastFloat32s(start[3])
	c4, c5 := simd.BroadcastFloat32s(start[4]), simd.BroadcastFloat32s(start[5])
	c6, c7 := simd.BroadcastFloat32s(start[6]), simd.BroadcastFloat32s(start[7])
	c8, c9 := simd.BroadcastFloat32s(start[8]), simd.BroadcastFloat32s(start[9])
	for i := 0; i < n; i++ {
		c0, c1, c2, c3, c4 = c0.MulAdd(x, x), c1.MulAdd(x, x), c2.MulAdd(x, x), c3.MulAdd(x, x), c4.MulAdd(x, x)
		c5, c6, c7, c8, c9 = c5.MulAdd(x, x), c6.MulAdd(x, x), c7.MulAdd(x, x), c8.MulAdd(x, x), c9.MulAdd(x, x)
	}
	c0 = c0.Add(c1).Add(c2).Add(c3).Add(c4).Add(c5).Add(c6).Add(c7).Add(c8).Add(c9)
	var out [16]float32
	store32(unsafe.Pointer(&out), c0)
	clearUpper()
	keep(float64(out[0]))
	return 20 * float64(x.Len()) * float64(n)
}

// burst64 is burst32 in float64.
func burst64(n int) float64 {
	x := simd.BroadcastFloat64s(0.999)
	start := [10]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	c0, c1 := simd.BroadcastFloat64s(start[0]), simd.BroadcastFloat64s(start[1])
	c2, c3 := simd.BroadcastFloat64s(start[2]), simd.BroadcastFloat64s(start[3])
	c4, c5 := simd.BroadcastFloat64s(start[4]), simd.BroadcastFloat64s(start[5])
	c6, c7 := simd.BroadcastFloat64s(start[6]), simd.BroadcastFloat64s(start[7])
	c8, c9 := simd.BroadcastFloat64s(start[8]), simd.BroadcastFloat64s(start[9])
	for i := 0; i < n; i++ {
		c0, c1, c2, c3, c4 = c0.MulAdd(x, x), c1.MulAdd(x, x), c2.MulAdd(x, x), c3.MulAdd(x, x), c4.MulAdd(x, x)
		c5, c6, c7, c8, c9 = c5.MulAdd(x, x), c6.MulAdd(x, x), c7.MulAdd(x, x), c8.MulAdd(x, x), c9.MulAdd(x, x)
	}
	c0 = c0.Add(c1).Add(c2).Add(c3).Add(c4).Add(c5).Add(c6).Add(c7).Add(c8).Add(c9)
	var out [8]float64
	store64(unsafe.Pointer(&out), c0)
	clearUpper()
	keep(float64(out[0]))
	return 20 * float64(x.Len()) * float64(n)
}
