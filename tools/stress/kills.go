//go:build unix

package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
)

// places are the operations of a scenario at which something happens: all, or some,
// spread evenly.
func (h *harness) places(s *scenario, short int) []int {
	n := len(s.operations)
	if !h.short {
		short = h.most
	}
	var at []int
	for i := range min(n, short) {
		at = append(at, 1+(i*n+h.rng.IntN(n))/min(n, short)%n)
	}
	return at
}

// operations kills every command before each of its operations on files, in the
// middle of each write, and as a power cut that loses what was not synchronised.
func (h *harness) operations() error {
	for _, s := range h.chosen {
		for j, at := range h.places(s, 4) {
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
				if err := h.load(s.state); err != nil {
					return err
				}
				e, err := h.pihcWith(fault, s.args...)
				if err != nil {
					return err
				}
				if e.status == 0 {
					h.notes["ended before"]++
				}
				if err := h.finish(s, fmt.Sprintf("%s: %s: %s", s.name, fault, operation)); err != nil {
					return err
				}
			}
		}
		h.notes[s.name] = len(s.operations)
		h.done(s)
	}
	return nil
}

// moments kills every command at random moments, now and then twice.
func (h *harness) moments() error {
	for _, s := range h.chosen {
		kills := 0
		for kills < h.times(30, 2) {
			if err := h.load(s.state); err != nil {
				return err
			}
			var after []string
			for range 1 + h.rng.IntN(2) {
				delay := time.Duration(h.rng.Float64() * s.seconds * float64(time.Second))
				killed, seconds, err := h.killAfter(delay, append([]string{"-q"}, s.args...)...)
				if err != nil {
					return err
				}
				if killed {
					kills++
					after = append(after, delay.Round(time.Millisecond).String())
				} else {
					s.seconds = min(s.seconds, seconds)
				}
			}
			if len(after) == 0 {
				continue
			}
			if err := h.finish(s, fmt.Sprintf("%s: killed after %s", s.name, strings.Join(after, ", "))); err != nil {
				return err
			}
		}
		h.notes[s.name] = kills
		h.done(s)
	}
	return nil
}

// killAfter runs pihc and kills it after a delay, unless it ends before, and says after
// how many seconds.
func (h *harness) killAfter(delay time.Duration, args ...string) (killed bool, seconds float64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), delay)
	defer cancel()
	begin := time.Now()
	c, _, _, err := h.start(ctx, nil, h.pihc, args...)
	if err != nil {
		if ctx.Err() != nil {
			err = nil // not even begun
		}
		return false, math.Inf(1), err
	}
	_ = c.Wait()
	return c.ProcessState.ExitCode() < 0, time.Since(begin).Seconds(), nil
}

// failures lets one operation after the other fail, as on a full and a broken disk:
// one clear line, or none where it does not matter, and the same files afterwards.
func (h *harness) failures() error {
	for _, s := range h.chosen {
		for j, at := range h.places(s, 4) {
			for k, kind := range []string{"full", "io"} {
				if h.short && j%2 != k {
					continue
				}
				if err := h.load(s.state); err != nil {
					return err
				}
				e, err := h.pihcWith(fmt.Sprint(kind, " ", at), s.args...)
				if err != nil {
					return err
				}
				what := fmt.Sprintf("%s: %s at %s", s.name, kind, s.operations[at-1])
				if problem := e.clear(); problem != nil {
					h.fail("%s: %v", what, problem)
				}
				if e.status == 0 {
					h.notes["of no consequence"]++
				}
				// What could not be removed is removed by the next process.
				if e.status == 0 && !strings.Contains(s.operations[at-1], "remove ") {
					h.cases++
					if err := h.compare(s, what); err != nil {
						return err
					}
					continue
				}
				if err := h.finish(s, what); err != nil {
					return err
				}
			}
		}
		h.done(s)
	}
	return nil
}
