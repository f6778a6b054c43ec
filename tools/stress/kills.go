//go:build unix

package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// places are the operations of a scenario at which something happens: all, or a few.
func (h *harness) places(s *scenario, short int) []int {
	n := len(s.operations)
	if !h.short {
		short = n
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
	for i := range scenarios {
		s := &scenarios[i]
		for j, at := range h.places(s, 4) {
			operation := s.operations[at-1]
			kinds := []string{"kill", "power"}
			if strings.Contains(operation, " write ") {
				kinds = append(kinds, "torn")
			}
			if h.short {
				kinds = kinds[j%len(kinds):][:1]
			}
			for _, kind := range kinds {
				if err := h.load(s.state); err != nil {
					return err
				}
				e, err := h.pihcWith(fmt.Sprint(kind, " ", at), s.args...)
				if err != nil {
					return err
				}
				if e.status == 0 {
					h.notes["ended before"]++
				}
				if err := h.finish(s, fmt.Sprintf("%s: %s at %s", s.name, kind, operation)); err != nil {
					return err
				}
			}
		}
		h.notes[s.name] = len(s.operations)
	}
	return nil
}

// moments kills every command at random moments, now and then twice.
func (h *harness) moments() error {
	for i := range scenarios {
		s := &scenarios[i]
		for range h.times(30, 2) {
			if err := h.load(s.state); err != nil {
				return err
			}
			var after []string
			for range 1 + h.rng.IntN(2) {
				delay := time.Duration(h.rng.Float64() * 1.1 * s.seconds * float64(time.Second))
				ctx, cancel := context.WithTimeout(context.Background(), delay)
				c, _, _, err := h.start(ctx, nil, h.pihc, append([]string{"-q"}, s.args...)...)
				if err == nil {
					_ = c.Wait()
				}
				cancel()
				if err != nil && ctx.Err() == nil {
					return err
				}
				if err == nil && c.ProcessState.Success() {
					h.notes["ended before"]++
				}
				after = append(after, delay.Round(time.Millisecond).String())
			}
			if err := h.finish(s, fmt.Sprintf("%s: killed after %s", s.name, strings.Join(after, ", "))); err != nil {
				return err
			}
		}
	}
	return nil
}

// failures lets one operation after the other fail, as on a full and a broken disk:
// one clear line, or none where it does not matter, and the same files afterwards.
func (h *harness) failures() error {
	for i := range scenarios {
		s := &scenarios[i]
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
	}
	return nil
}
