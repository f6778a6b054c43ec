//go:build !(goexperiment.simd && amd64)

package kernel

// Vectors that cannot be widened leave float32 numbers to plain Go.

func widenWide(dst []float64, x []float32) int  { return 0 }
func narrowWide(dst []float32, x []float64) int { return 0 }

func matVecRowsWide(z []float64, n, m int, a []float32, w []float64) bool { return false }

func combineRowsWide(dst []float64, n, lo int, f [][]float64, a [][]float32) bool { return false }

func gatherStencilsWide(dst, basis []float32, n int, points []int32, s *Stencils) int { return 0 }

func addSquaresWide(sums *[16]float64, x []float32) bool { return false }

func transpose32(dst []float32, stride int, src []float32, rows, columns int) (r, c int) { return 0, 0 }
