package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Stopwatch tells how long something would have taken if its threads had not waited for processors that others had.
type Stopwatch struct {
	begin       time.Time
	ran, waited float64
}

// Start starts a stopwatch.
func Start() Stopwatch { return Stopwatch{time.Now(), CPUSeconds(), waitSeconds()} }

// Seconds is the time since the start, less what threads waited over how many were ready in the mean; nothing less where the system does not tell how long they waited.
func (s Stopwatch) Seconds() float64 {
	wall, ran, waited := time.Since(s.begin).Seconds(), CPUSeconds()-s.ran, waitSeconds()-s.waited
	return wall - waited/max(1, (ran+waited)/wall)
}

// waitSeconds is how long the threads of the process have been ready and had no processor (proc(5), schedstat of Linux), 0 where the system does not tell.
func waitSeconds() (sum float64) {
	files, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, file := range files {
		text, _ := os.ReadFile(file) // of a thread that has ended since there is none
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			nanoseconds, _ := strconv.ParseFloat(fields[1], 64)
			sum += nanoseconds / 1e9
		}
	}
	return sum
}
