package machine

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// Threads that share processors have their part of the time; what sleeps has all of it.
func TestStopwatch(t *testing.T) {
	asleep := Start()
	time.Sleep(50 * time.Millisecond)
	if s := asleep.Seconds(); s < 0.045 {
		t.Errorf("asleep for 0.05 s: %g", s)
	}
	if waitSeconds() == 0 {
		t.Skip("the system does not tell how long threads wait")
	}
	const share = 4 // threads for each processor
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(share * runtime.NumCPU()))
	watch, begin := Start(), time.Now()
	var group sync.WaitGroup
	for range share * runtime.NumCPU() {
		group.Go(func() {
			for time.Since(begin) < 400*time.Millisecond {
			}
		})
	}
	group.Wait()
	seconds, wall := watch.Seconds(), time.Since(begin).Seconds()
	if seconds > 0.6*wall {
		t.Errorf("%d threads a processor took %g s, of which each had a part: %g", share, wall, seconds)
	}
}
