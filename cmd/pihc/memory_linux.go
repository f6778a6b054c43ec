package main

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machineMemory is the memory of the machine, or of the container if that has
// less, in bytes; 0 where the system does not tell.
func machineMemory() float64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	total := float64(info.Totalram) * float64(info.Unit)
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(path); err == nil {
			if limit, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err == nil && limit > 0 {
				total = min(total, limit)
			}
		}
	}
	if limit := addressLimit(); limit > 0 {
		total = min(total, limit)
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
