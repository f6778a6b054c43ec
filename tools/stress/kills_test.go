//go:build unix

package stress

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
)

// places are the operations of a scenario at which something happens: all, or some,
// spread evenly.
func (h *harness) places(s *scenario) []int {
	n := len(s.operations)
	count := min(n, h.times(h.most, 4))
	var at []int
	for i := range count {
		at = append(at, 1+(i*n+h.rng.IntN(n))/count%n)
	}
	return at
}

// operations kills every command before each of its operations on files, in the
// middle of each write, and as a power cut that loses what was not synchronised.
func (h *harness) operations() {
	for _, s := range h.chosen {
		for j, at := range h.places(s) {
			operation := s.operations[at-1]
			// A power cut takes all that was not synchronised, or some of it.
			faults := []string{fmt.Sprint("kill ", at), fmt.Sprint("power ", at), fmt.Sprint("power ", at, " ", 1+h.rng.IntN(1000))}
			if strings.Contains(operation, " write ") {
				faults = append(faults, fmt.Sprint("torn ", at))
			}
			if h.short {
				faults = faults[j%len(faults):][:1]
			}
			for _, fault := range faults {
				h.load(s.state)
				if h.run(fault, s.args...).status == 0 {
					h.notes["ended before"]++
				}
				h.finish(s, fmt.Sprintf("%s: %s: %s", s.name, fault, operation))
			}
		}
		h.notes[s.name] = len(s.operations)
		h.done(s)
	}
}

// moments kills every command at random moments, now and then twice.
func (h *harness) moments() {
	for _, s := range h.chosen {
		kills := 0
		for kills < h.times(30, 2) {
			h.load(s.state)
			var after []string
			for range 1 + h.rng.IntN(2) {
				delay := time.Duration(h.rng.Float64() * s.seconds * float64(time.Second))
				killed, seconds := h.killAfter(delay, append([]string{"-q"}, s.args...)...)
				if killed {
					kills++
					after = append(after, delay.Round(time.Millisecond).String())
				} else {
					s.seconds = min(s.seconds, seconds)
				}
			}
			if len(after) > 0 {
				h.finish(s, fmt.Sprintf("%s: killed after %s", s.name, strings.Join(after, ", ")))
			}
		}
		h.notes[s.name] = kills
		h.done(s)
	}
}

// killAfter runs pihc and kills it after a delay, unless it ends before, and says after
// how many seconds.
func (h *harness) killAfter(delay time.Duration, args ...string) (killed bool, seconds float64) {
	ctx, cancel := context.WithTimeout(context.Background(), delay)
	defer cancel()
	begin := time.Now()
	c, _, ended, err := h.start(ctx, nil, h.pihc, args...)
	if ctx.Err() != nil && err != nil {
		return false, math.Inf(1) // not even begun
	}
	check(err)
	<-ended
	return c.ProcessState.ExitCode() < 0, time.Since(begin).Seconds()
}

// failures lets one operation after the other fail, as on a full and a broken disk:
// one clear line, or none where it does not matter, and the same files afterwards.
func (h *harness) failures() {
	for _, s := range h.chosen {
		for j, at := range h.places(s) {
			for k, kind := range []string{"full", "io"} {
				if h.short && j%2 != k {
					continue
				}
				h.load(s.state)
				e, operation := h.run(fmt.Sprint(kind, " ", at), s.args...), s.operations[at-1]
				what := fmt.Sprintf("%s: %s at %s", s.name, kind, operation)
				h.clear(e, what)
				if e.status == 0 {
					h.notes["of no consequence"]++
				}
				// What could not be removed is removed by the next process.
				if e.status != 0 || strings.Contains(operation, "remove ") {
					h.finish(s, what)
					continue
				}
				h.cases++
				h.compare(s, what)
			}
		}
		h.done(s)
	}
}
