//go:build unix

package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// maxRSS is the largest resident memory of the process so far, in MiB; 0 where
// the system does not tell.
func maxRSS() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return float64(u.Maxrss) / (1 << 20) // bytes there, KiB elsewhere
	}
	return float64(u.Maxrss) / (1 << 10)
}

// cpuSeconds is the processor time that the process has used, 0 where the system
// does not tell.
func cpuSeconds() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
