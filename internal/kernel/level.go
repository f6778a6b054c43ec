// Package kernel holds the arithmetic that pihc spends its time in: flat-slice
// float32 and float64 kernels, each in up to three versions (a reference that
// is the written specification, a portable one, and SIMD ones), and the worker
// pool they run on.
//
// Dispatch is a static test of one package variable, the level, chosen once at
// start from the processor and the environment variable PIHC_KERNEL
// (portable, avx2 or avx512). No kernel allocates.
package kernel

import (
	"fmt"
	"os"
)

// Level names a set of instructions. Higher levels include the lower ones.
type Level int

const (
	Portable Level = iota // plain Go, every platform
	AVX2                  // 256-bit vectors with FMA
	AVX512                // 512-bit vectors (F, DQ, BW, VL)
)

// String returns the name PIHC_KERNEL uses.
func (l Level) String() string {
	switch l {
	case AVX512:
		return "avx512"
	case AVX2:
		return "avx2"
	}
	return "portable"
}

// level is read by every dispatching kernel: `if level >= AVX512 { ... }`.
var level = initialLevel()

func initialLevel() Level {
	best := machineLevel()
	switch name := os.Getenv("PIHC_KERNEL"); name {
	case "":
		return best
	case "portable", "avx2", "avx512":
		for _, l := range []Level{Portable, AVX2, AVX512} {
			if l.String() == name && l <= best {
				return l
			}
		}
		fmt.Fprintf(os.Stderr, "pihc: PIHC_KERNEL=%s: not available here, using %s\n", name, best)
	default:
		fmt.Fprintf(os.Stderr, "pihc: PIHC_KERNEL=%s: want portable, avx2 or avx512; using %s\n", name, best)
	}
	return best
}

// CurrentLevel returns the level in use.
func CurrentLevel() Level { return level }

// MachineLevel returns the highest level this build and processor support.
func MachineLevel() Level { return machineLevel() }

// SetLevel forces a level no higher than MachineLevel and returns a function
// that restores the old one. It is for tests and benchmarks, and must not be
// called while kernels run. It panics if the machine lacks the level.
func SetLevel(l Level) (restore func()) {
	if l > machineLevel() {
		panic("kernel: level not supported by this machine or build")
	}
	old := level
	level = l
	return func() { level = old }
}
