package machine

import (
	"fmt"
	"os"
	"strings"
)

// perValue is what a value of an array from outside takes: it is read in its own type and used as float64, and there is a
// copy at times.
const perValue = 16

// addresses is more memory than any process has.
const addresses = 1 << 47

// CheckValues is an error for arrays of so many values that do not fit the memory there is.
func CheckValues(count float64) error {
	have := Available()
	if have <= 0 { // not known
		have = addresses
	}
	if perValue*count > have {
		return fmt.Errorf("%.3g values take about %.3g GB of memory; this machine has %.3g GB left", count, perValue*count/1e9, have/1e9)
	}
	return nil
}

// Available is Memory less what other processes use, where the system tells.
func Available() float64 {
	have, free := Memory(), 0.0
	text, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(text)) {
		if fmt.Sscanf(line, "MemAvailable: %f kB", &free); free > 0 {
			return min(have, 1024*free)
		}
	}
	return have
}
