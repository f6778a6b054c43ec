// Package kernel holds the arithmetic that pihc spends its time in: flat-slice
// float32 and float64 kernels and the worker pool they run on. A kernel has a
// reference in plain Go, which is its specification, and where it pays one text
// for vectors, in package simd, which the compiler turns into one function for
// each width of vectors.
//
// The width is chosen once at start, from the processor; GODEBUG=simd=+256,
// simd=+128 or simd=0 forces a narrower one or the reference. No kernel allocates.
package kernel

import (
	"fmt"
	"os"
	"runtime"
)

// width is the length in bits of the vectors in use. Every kernel that has vectors
// tests it: `if width > 0 { ... }`. It is 0 where the references run: without the
// experiment, on other processors, and where package simd only emulates.
var width = initialWidth()

func initialWidth() int {
	w := vectorWidth()
	if v := os.Getenv("PIHC_KERNEL"); v != "" {
		fmt.Fprintf(os.Stderr, "pihc: PIHC_KERNEL=%s has no effect any more: GODEBUG=simd=+512, simd=+256, simd=+128 or simd=0 chooses the width of vectors; using %s\n", v, describe(w))
	}
	return w
}

// Width returns the length in bits of the vectors in use: 512, 256, 128, or 0 where
// the references in plain Go run.
func Width() int { return width }

// Description names the width in use, as in "512-bit vectors".
func Description() string { return describe(width) }

func describe(width int) string {
	if width == 0 {
		return "no vectors"
	}
	return fmt.Sprintf("%d-bit vectors", width)
}

// Machine is the number of cores and the width of the vectors.
func Machine() string {
	cores := runtime.GOMAXPROCS(0)
	plural := "s"
	if cores == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d core%s, %s", cores, plural, Description())
}

// UseReference makes all kernels run their references and returns a function that
// ends that. It is for tests and benchmarks, and must not be called while kernels run.
func UseReference() (restore func()) {
	old := width
	width = 0
	return func() { width = old }
}

// Advice tells a user whose machine has wider vectors than the program uses, and who
// did not ask for that by GODEBUG, what to do about it. It is empty otherwise.
func Advice() string {
	best := machineWidth()
	switch {
	case width >= best:
		return ""
	case !vectors:
		return fmt.Sprintf("built without SIMD, many times slower than with this machine's %s: build with `make build`, or with Go 1.27 and GOEXPERIMENT=simd", describe(best))
	}
	return fmt.Sprintf("running with %s on a machine that has %s: build with `make build`, or set GODEBUG=simd=+", describe(width), describe(best))
}
