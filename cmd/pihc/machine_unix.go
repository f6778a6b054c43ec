//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// machineMemory is the memory of the machine, or of the container or the process where
// those may have less, in bytes; 0 where the system does not tell.
func machineMemory() float64 {
	var total float64
	if runtime.GOOS == "darwin" {
		text, _ := exec.Command("sysctl", "-n", "hw.memsize").Output()
		fmt.Sscan(string(text), &total)
	} else {
		text, _ := os.ReadFile("/proc/meminfo")
		fmt.Sscanf(string(text), "MemTotal: %f kB", &total)
		total *= 1024
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		var limit float64
		text, _ := os.ReadFile(path)
		if fmt.Sscan(string(text), &limit); limit > 0 {
			total = min(total, limit)
		}
	}
	var address unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &address) == nil {
		total = min(total, float64(address.Cur))
	}
	return total
}

// diskFree is the space left where a folder is, in bytes; 0 where unknown.
func diskFree(dir string) float64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0
	}
	return float64(s.Bavail) * float64(s.Bsize)
}

// maxRSS is the largest resident memory of the process so far, in MiB; 0 where
// the system does not tell.
func maxRSS() float64 {
	if runtime.GOOS == "darwin" {
		return float64(usage().Maxrss) / (1 << 20) // bytes there, KiB elsewhere
	}
	return float64(usage().Maxrss) / (1 << 10)
}

// cpuSeconds is the processor time that the process has used, 0 where the system
// does not tell.
func cpuSeconds() float64 {
	u := usage()
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func usage() (u unix.Rusage) {
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return u
}
