package kernel

import (
	"sync"
	"time"
	"unsafe"

	"pihc/compute"
)

// PeakGFLOPS32 measures the float32 fused multiply-add peak of the width in use
// with the given number of goroutines working at once, in 1e9 operations per
// second (a multiply-add counts two). It takes about 50 ms and adds up the best
// burst of each goroutine, so that other load on the machine does not pass for a
// slow one. The reference counts scalar multiply-adds.
func PeakGFLOPS32(workers int) float64 {
	return peak(workers, burst[float32])
}

// PeakGFLOPS64 is PeakGFLOPS32 for float64.
func PeakGFLOPS64(workers int) float64 {
	return peak(workers, burst[float64])
}

// peak runs bursts of about 50 us, far shorter than a time slice, on every
// worker. burst(n) returns the operations it did.
func peak(workers int, burst func(n int) float64) float64 {
	const total, short = 50 * time.Millisecond, 50 * time.Microsecond
	best := make([]float64, max(workers, 1))
	var wait sync.WaitGroup
	for w := range best {
		wait.Go(func() {
			n := 100
			for begin := time.Now(); time.Since(begin) < total; {
				start := time.Now()
				operations := burst(n)
				elapsed := time.Since(start)
				if elapsed < short {
					n *= 2
					continue
				}
				best[w] = max(best[w], operations/elapsed.Seconds()/1e9)
			}
		})
	}
	wait.Wait()
	sum := 0.0
	for _, b := range best {
		sum += b
	}
	return sum
}

// peakSink keeps the sums of a burst alive.
var peakSink struct {
	sync.Mutex
	value float64
}

func keep(v float64) {
	peakSink.Lock()
	peakSink.value = v
	peakSink.Unlock()
}

// burst does a multiple of n multiply-adds and returns the operations done.
func burst[T compute.Float](n int) float64 {
	if width > 0 {
		if unsafe.Sizeof(T(0)) == 4 {
			return burst32(n)
		}
		return burst64(n)
	}
	const x = 0.999
	a, b, c, d, e, f, g, h := T(1), T(2), T(3), T(4), T(5), T(6), T(7), T(8) // unlike, or they are merged
	for range n {
		a, b, c, d = a*x+x, b*x+x, c*x+x, d*x+x
		e, f, g, h = e*x+x, f*x+x, g*x+x, h*x+x
	}
	keep(float64(a + b + c + d + e + f + g + h))
	return 16 * float64(n)
}
