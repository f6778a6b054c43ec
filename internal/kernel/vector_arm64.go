//go:build goexperiment.simd && arm64

package kernel

func clearUpper() {}
