//go:build !unix

package main

// maxRSS is the largest resident memory of the process so far, in MiB; 0 where
// the system does not tell.
func maxRSS() float64 { return 0 }

// cpuSeconds is the processor time that the process has used, 0 where the system
// does not tell.
func cpuSeconds() float64 { return 0 }
