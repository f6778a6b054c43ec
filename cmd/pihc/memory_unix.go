//go:build unix

package main

import "golang.org/x/sys/unix"

// addressLimit is the memory that the process may ask for; 0 for no limit.
func addressLimit() float64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur >= 1<<60 {
		return 0
	}
	return float64(limit.Cur)
}
