//go:build linux || darwin

// Package machine asks the system about memory, disk and processor time.
package machine

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// Memory is the memory of the machine, or of a control group around the process (a container, a job of Slurm, a unit of systemd)
// or of the process where those may have less, in bytes; 0 where the system does not tell.
func Memory() float64 {
	var total float64
	if runtime.GOOS == "darwin" {
		text, _ := exec.Command("sysctl", "-n", "hw.memsize").Output()
		fmt.Sscan(string(text), &total)
	} else {
		text, _ := os.ReadFile("/proc/meminfo")
		fmt.Sscanf(string(text), "MemTotal: %f kB", &total)
		total *= 1024
	}
	total = min(total, cgroupLimit(""))
	var address unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &address) == nil {
		total = min(total, float64(address.Cur))
	}
	return total
}

// DiskFree is the space left where a folder is, in bytes; 0 where unknown.
func DiskFree(dir string) float64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0
	}
	return float64(s.Bavail) * float64(s.Bsize)
}

// MaxRSS is the largest resident memory of the process so far, in MiB; 0 where
// the system does not tell.
func MaxRSS() float64 {
	if runtime.GOOS == "darwin" {
		return float64(usage().Maxrss) / (1 << 20) // bytes there, KiB elsewhere
	}
	return float64(usage().Maxrss) / (1 << 10)
}

// CPUSeconds is the processor time that the process has used, 0 where the system
// does not tell.
func CPUSeconds() float64 {
	u := usage()
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func usage() (u unix.Rusage) {
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return u
}
