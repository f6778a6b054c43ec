//go:build !goexperiment.simd || !(amd64 || arm64)

package kernel

// Without SIMD the width is 0 and none of these is called.

const unreachable = "kernel: vectors in a build without them"

func gemm32([]float32, int, int, int, []float32, bool, Product[float32], Product[float32]) int {
	panic(unreachable)
}

func gemmRows32(_, _ [][]float32, _ int, _ bool, _ []float32, _, _ int) int { panic(unreachable) }

func gelu32(dst, x []float32) int { panic(unreachable) }

func geluBackward32(v, g, x []float32) int { panic(unreachable) }

func adam32(params, first, second, grad []float32, s AdamStep) int { panic(unreachable) }

func burst32(n int) float64 { panic(unreachable) }

func burst64(n int) float64 { panic(unreachable) }
