package main

import "golang.org/x/sys/unix"

// machineMemory is the memory of the machine in bytes; 0 where the system does
// not tell.
func machineMemory() float64 {
	total, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	if limit := addressLimit(); limit > 0 {
		return min(float64(total), limit)
	}
	return float64(total)
}

// diskFree is the space left where a folder is, in bytes; 0 where unknown.
func diskFree(dir string) float64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0
	}
	return float64(s.Bavail) * float64(s.Bsize)
}
