//go:build !(goexperiment.simd && amd64 && go1.26 && !go1.27)

package kernel

// Without SIMD the level is Portable and none of these is called.

func fftPassSIMD(_, _ Lanes, _ []float64, _, _, _ int) bool { return false }
func fftTwistSIMD(_, _ Lanes, _ []float64, _ int)           {}
func fftSplitSIMD(_, _, _ Lanes, _ int)                     {}
func fftMergeSIMD(_, _, _ Lanes, _ int)                     {}
