//go:build !goexperiment.simd || !(amd64 || arm64)

package kernel

import "pihc/compute"

// Without SIMD the width is 0 and none of these is called.

const unreachable = "kernel: vectors in a build without them"

func vectorGemm[T compute.Float](_ []T, _, _, _ int, _ []T, _ bool, _, _ *Product[T]) {
	panic(unreachable)
}

func vectorGemmRows[T compute.Float](_, _ [][]T, _ int, _ bool, _ []T, _, _ int) { panic(unreachable) }

func addPairs32([]float32, int, int, int, Product[float32]) int { panic(unreachable) }

func gelu32(v, g, x []float32) int { panic(unreachable) }

func gelu64(v, g, x []float64) int { panic(unreachable) }

func adam32(params, first, second, grad []float32, s AdamStep) int { panic(unreachable) }

func burst32(n int) float64 { panic(unreachable) }

func burst64(n int) float64 { panic(unreachable) }

func arith64(op arithmetic, dst, x, y []float64, k float64) int { panic(unreachable) }

func select64(dst, c, x, y []float64) int { panic(unreachable) }

func axpy64(dst []float64, alpha float64, x []float64) int { panic(unreachable) }

func dot64(x, y []float64) (float64, int) { panic(unreachable) }

func math64(f function, dst, x []float64) bool { panic(unreachable) }

func pow64(dst, x, y []float64) { panic(unreachable) }

func powScalar64(dst, x []float64, k float64, special powSpecial) { panic(unreachable) }

func gemm64(gram []float64, n, m int, a, b []float64, all bool) int { panic(unreachable) }

func scaleRows64(dst []float64, n int, c, a []float64, first bool) int { panic(unreachable) }

func scaleThreeRows64(dst []float64, n int, c0, c1, c2, a0, a1, a2 []float64) bool {
	panic(unreachable)
}

func matVecRows64(z []float64, n, m int, a, x []float64) int           { panic(unreachable) }
func accumulateTransposed64(g []float64, n, m int, a, s []float64) int { panic(unreachable) }
func subtractOuter8(x, v []float64, at *[8]float64)                    { panic(unreachable) }
func subtractSum8(at *[8]float64, v, x []float64)                      { panic(unreachable) }
func gatherStencils64(dst, basis []float64, n int, points []int32, s *Stencils) int {
	panic(unreachable)
}

func fftPass64(dst, src Lanes, twiddle []float64, r, m, s int) { panic(unreachable) }
func fftTwist64(dst, src Lanes, factor []float64, n int)       { panic(unreachable) }
func fftSplit64(a, b, z Lanes, n int)                          { panic(unreachable) }
func fftMerge64(z, a, b Lanes, n int)                          { panic(unreachable) }
