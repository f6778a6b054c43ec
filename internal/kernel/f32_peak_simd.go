//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import "simd/archsimd"

// A burst runs ten chains of n multiply-adds, enough to hide their latency, and
// returns the operations done. Chains that start alike would be merged into one
// by the compiler, and the figure be wrong: each starts from its own element.

var peakStart = [16]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

func fmaBurst32(n int) float64 {
	switch {
	case level >= AVX512:
		return burst32x512(n)
	case level >= AVX2:
		return burst32x256(n)
	}
	return scalarBurst[float32](n)
}

func fmaBurst64(n int) float64 {
	switch {
	case level >= AVX512:
		return burst64x512(n)
	case level >= AVX2:
		return burst64x256(n)
	}
	return scalarBurst[float64](n)
}

func burst32x512(n int) float64 {
	x := archsimd.BroadcastFloat32x16(0.999)
	c0 := archsimd.BroadcastFloat32x16(float32(peakStart[0]))
	c1 := archsimd.BroadcastFloat32x16(float32(peakStart[1]))
	c2 := archsimd.BroadcastFloat32x16(float32(peakStart[2]))
	c3 := archsimd.BroadcastFloat32x16(float32(peakStart[3]))
	c4 := archsimd.BroadcastFloat32x16(float32(peakStart[4]))
	c5 := archsimd.BroadcastFloat32x16(float32(peakStart[5]))
	c6 := archsimd.BroadcastFloat32x16(float32(peakStart[6]))
	c7 := archsimd.BroadcastFloat32x16(float32(peakStart[7]))
	c8 := archsimd.BroadcastFloat32x16(float32(peakStart[8]))
	c9 := archsimd.BroadcastFloat32x16(float32(peakStart[9]))
	for range n {
		c0 = c0.MulAdd(x, x)
		c1 = c1.MulAdd(x, x)
		c2 = c2.MulAdd(x, x)
		c3 = c3.MulAdd(x, x)
		c4 = c4.MulAdd(x, x)
		c5 = c5.MulAdd(x, x)
		c6 = c6.MulAdd(x, x)
		c7 = c7.MulAdd(x, x)
		c8 = c8.MulAdd(x, x)
		c9 = c9.MulAdd(x, x)
	}
	c0 = c0.Add(c1).Add(c2).Add(c3).Add(c4).Add(c5).Add(c6).Add(c7).Add(c8).Add(c9)
	var out [16]float32
	c0.Store(&out)
	archsimd.ClearAVXUpperBits()
	keep(float64(out[0]))
	return 20 * 16 * float64(n)
}

func burst32x256(n int) float64 {
	x := archsimd.BroadcastFloat32x8(0.999)
	c0 := archsimd.BroadcastFloat32x8(float32(peakStart[0]))
	c1 := archsimd.BroadcastFloat32x8(float32(peakStart[1]))
	c2 := archsimd.BroadcastFloat32x8(float32(peakStart[2]))
	c3 := archsimd.BroadcastFloat32x8(float32(peakStart[3]))
	c4 := archsimd.BroadcastFloat32x8(float32(peakStart[4]))
	c5 := archsimd.BroadcastFloat32x8(float32(peakStart[5]))
	c6 := archsimd.BroadcastFloat32x8(float32(peakStart[6]))
	c7 := archsimd.BroadcastFloat32x8(float32(peakStart[7]))
	c8 := archsimd.BroadcastFloat32x8(float32(peakStart[8]))
	c9 := archsimd.BroadcastFloat32x8(float32(peakStart[9]))
	for range n {
		c0 = c0.MulAdd(x, x)
		c1 = c1.MulAdd(x, x)
		c2 = c2.MulAdd(x, x)
		c3 = c3.MulAdd(x, x)
		c4 = c4.MulAdd(x, x)
		c5 = c5.MulAdd(x, x)
		c6 = c6.MulAdd(x, x)
		c7 = c7.MulAdd(x, x)
		c8 = c8.MulAdd(x, x)
		c9 = c9.MulAdd(x, x)
	}
	c0 = c0.Add(c1).Add(c2).Add(c3).Add(c4).Add(c5).Add(c6).Add(c7).Add(c8).Add(c9)
	var out [8]float32
	c0.Store(&out)
	archsimd.ClearAVXUpperBits()
	keep(float64(out[0]))
	return 20 * 8 * float64(n)
}

func burst64x512(n int) float64 {
	x := archsimd.BroadcastFloat64x8(0.999)
	c0 := archsimd.BroadcastFloat64x8(float64(peakStart[0]))
	c1 := archsimd.BroadcastFloat64x8(float64(peakStart[1]))
	c2 := archsimd.BroadcastFloat64x8(float64(peakStart[2]))
	c3 := archsimd.BroadcastFloat64x8(float64(peakStart[3]))
	c4 := archsimd.BroadcastFloat64x8(float64(peakStart[4]))
	c5 := archsimd.BroadcastFloat64x8(float64(peakStart[5]))
	c6 := archsimd.BroadcastFloat64x8(float64(peakStart[6]))
	c7 := archsimd.BroadcastFloat64x8(float64(peakStart[7]))
	c8 := archsimd.BroadcastFloat64x8(float64(peakStart[8]))
	c9 := archsimd.BroadcastFloat64x8(float64(peakStart[9]))
	for range n {
		c0 = c0.MulAdd(x, x)
		c1 = c1.MulAdd(x, x)
		c2 = c2.MulAdd(x, x)
		c3 = c3.MulAdd(x, x)
		c4 = c4.MulAdd(x, x)
		c5 = c5.MulAdd(x, x)
		c6 = c6.MulAdd(x, x)
		c7 = c7.MulAdd(x, x)
		c8 = c8.MulAdd(x, x)
		c9 = c9.MulAdd(x, x)
	}
	c0 = c0.Add(c1).Add(c2).Add(c3).Add(c4).Add(c5).Add(c6).Add(c7).Add(c8).Add(c9)
	var out [8]float64
	c0.Store(&out)
	archsimd.ClearAVXUpperBits()
	keep(float64(out[0]))
	return 20 * 8 * float64(n)
}

func burst64x256(n int) float64 {
	x := archsimd.BroadcastFloat64x4(0.999)
	c0 := archsimd.BroadcastFloat64x4(float64(peakStart[0]))
	c1 := archsimd.BroadcastFloat64x4(float64(peakStart[1]))
	c2 := archsimd.BroadcastFloat64x4(float64(peakStart[2]))
	c3 := archsimd.BroadcastFloat64x4(float64(peakStart[3]))
	c4 := archsimd.BroadcastFloat64x4(float64(peakStart[4]))
	c5 := archsimd.BroadcastFloat64x4(float64(peakStart[5]))
	c6 := archsimd.BroadcastFloat64x4(float64(peakStart[6]))
	c7 := archsimd.BroadcastFloat64x4(float64(peakStart[7]))
	c8 := archsimd.BroadcastFloat64x4(float64(peakStart[8]))
	c9 := archsimd.BroadcastFloat64x4(float64(peakStart[9]))
	for range n {
		c0 = c0.MulAdd(x, x)
		c1 = c1.MulAdd(x, x)
		c2 = c2.MulAdd(x, x)
		c3 = c3.MulAdd(x, x)
		c4 = c4.MulAdd(x, x)
		c5 = c5.MulAdd(x, x)
		c6 = c6.MulAdd(x, x)
		c7 = c7.MulAdd(x, x)
		c8 = c8.MulAdd(x, x)
		c9 = c9.MulAdd(x, x)
	}
	c0 = c0.Add(c1).Add(c2).Add(c3).Add(c4).Add(c5).Add(c6).Add(c7).Add(c8).Add(c9)
	var out [4]float64
	c0.Store(&out)
	archsimd.ClearAVXUpperBits()
	keep(float64(out[0]))
	return 20 * 4 * float64(n)
}
