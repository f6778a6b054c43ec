//go:build !(goexperiment.simd && amd64 && go1.26 && !go1.27)

package kernel

func vectorMatVecRows32(_ []float64, _, _ int, _ []float32, _ []float64) bool { return false }

func vectorCombineRows32(_ []float64, _, _ int, _ [][]float64, _ [][]float32) bool { return false }
