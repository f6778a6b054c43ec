package check

import "runtime"

// Bytes returns how much memory f allocates, the least of several runs: other
// goroutines may allocate too.
func Bytes(runs int, f func()) uint64 {
	least := ^uint64(0)
	var before, after runtime.MemStats
	for range runs {
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
