//go:build !goexperiment.simd || !(amd64 || arm64)

package kernel

import (
	"runtime"

	"golang.org/x/sys/cpu"
)

// vectors tells whether the program was built with SIMD.
const vectors = false

func vectorWidth() int { return 0 }

// machineWidth is the width a build with SIMD would use.
func machineWidth() int {
	switch {
	case runtime.GOARCH == "arm64":
		return 128
	case !cpu.X86.HasFMA || !cpu.X86.HasAVX2:
		return 0
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512CD && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL:
		return 512
	}
	return 256
}
