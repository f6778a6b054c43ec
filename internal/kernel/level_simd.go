//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import "simd/archsimd"

func machineLevel() Level {
	switch {
	case archsimd.X86.AVX512():
		return AVX512
	case archsimd.X86.AVX2() && archsimd.X86.FMA():
		return AVX2
	}
	return Portable
}
