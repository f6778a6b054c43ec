//go:build !(goexperiment.simd && amd64 && go1.26 && !go1.27)

package kernel

// Without SIMD the level is always Portable and none of these is reached.

func gemm32(c []float32, ldc, m, n int, bias []float32, accumulate bool, p, q Product[float32]) {
	gemmPortable(c, ldc, m, n, bias, accumulate, p, q)
}

func gelu32(dst, x []float32) int { return 0 }

func geluBackward32(v, g, x []float32) int { return 0 }

func fmaBurst32(n int) float64 { return scalarBurst[float32](n) }

func fmaBurst64(n int) float64 { return scalarBurst[float64](n) }

func adam32(params, first, second, grad []float32, s AdamStep) int { return 0 }

func sumSquares32(sums *[16]float64, x []float32) {
	panic("kernel: SIMD kernel called in a portable build")
}

func gemmRows32(_, _ [][]float32, _ int, _ bool, _ []float32, _, _ int) int { return 0 }
