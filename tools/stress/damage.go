//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// flips turns over a bit in every region of every file that a command reads: it ends
// with one clear line, or with the files that it would have written anyway.
func (h *harness) flips() error {
	for _, of := range []struct {
		scenario, state string
		files           func(name string) bool
	}{
		{"eval", "trained", func(name string) bool { return strings.HasPrefix(name, "run/") }},
		{"resume", "begun", func(name string) bool { return strings.HasPrefix(name, "run/") }},
		{"report", "scored", func(name string) bool { return name == "run/metrics.json" || name == "run/log.jsonl" }},
		{"predict", "trained", func(name string) bool { return name == "u0.npy" }},
		{"train", "data", func(name string) bool { return strings.HasPrefix(name, "data/") }},
		{"eval", "trained", func(name string) bool { return strings.HasPrefix(name, "data/") }},
		{"generate", "data", func(name string) bool { return strings.HasPrefix(name, "data/") }},
	} {
		s := scenarioNamed(of.scenario)
		if err := h.load(of.state); err != nil {
			return err
		}
		all, err := h.snapshot()
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if !of.files(name) {
				continue
			}
			regions := h.times(16, 1)
			for region := range regions {
				if err := h.load(of.state); err != nil {
					return err
				}
				if err := h.flip(s, name, region, regions); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// flip turns over a random bit in one of the equal regions of a file.
func (h *harness) flip(s *scenario, name string, region, regions int) error {
	content, err := os.ReadFile(h.path(name))
	if err != nil || len(content) == 0 {
		return err
	}
	lo, hi := region*len(content)/regions, (region+1)*len(content)/regions
	at, bit := lo+h.rng.IntN(max(1, hi-lo)), h.rng.IntN(8)
	content[at] ^= 1 << bit
	if err := os.WriteFile(h.path(name), content, 0o666); err != nil {
		return err
	}
	h.cases++
	what := fmt.Sprintf("%s: bit %d of byte %d of %s", s.name, bit, at, name)
	e, err := h.pihcWith("", s.args...)
	if err != nil {
		return err
	}
	switch problem := e.clear(); {
	case problem != nil:
		h.fail("%s: %v", what, problem)
	case e.status != 0:
		h.notes["refused"]++
	case strings.HasSuffix(name, ".npy"):
		h.notes["another input"]++ // NPY files have no checksum: any number is one
	default:
		h.notes["of no consequence"]++
		return h.compare(s, what, name)
	}
	return nil
}
