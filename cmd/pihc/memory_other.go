//go:build !linux && !darwin

package main

// machineMemory is 0: the system is not asked, and any size is tried.
func machineMemory() float64 { return 0 }

// diskFree is 0: unknown.
func diskFree(string) float64 { return 0 }
