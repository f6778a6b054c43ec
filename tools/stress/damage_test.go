//go:build unix

package stress

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// flips turns over a bit in every region of every file that a command reads: it ends
// with one clear line, or with the files that it would have written anyway.
func (h *harness) flips() {
	for _, of := range []struct{ scenario, state, files string }{ // files: how their paths begin
		{"eval", "trained", "run/"},
		{"resume", "begun", "run/"},
		{"report", "scored", "run/log.jsonl"},
		{"report", "scored", "run/metrics.json"},
		{"predict", "trained", "u0.npy"},
		{"train", "data", "data/"},
		{"eval", "trained", "data/"},
		{"generate", "data", "data/"},
	} {
		h.load(of.state)
		for _, name := range slices.Sorted(maps.Keys(must(h.snapshot()))) {
			if !strings.HasPrefix(name, of.files) {
				continue
			}
			regions := h.times(16, 1)
			for region := range regions {
				h.load(of.state)
				h.flip(scenarioNamed(of.scenario), name, region, regions)
			}
		}
	}
}

// flip turns over a random bit in one of the equal regions of a file.
func (h *harness) flip(s *scenario, name string, region, regions int) {
	content := must(os.ReadFile(h.path(name)))
	if len(content) == 0 {
		return
	}
	lo, hi := region*len(content)/regions, (region+1)*len(content)/regions
	at, bit := lo+h.rng.IntN(max(1, hi-lo)), h.rng.IntN(8)
	content[at] ^= 1 << bit
	check(os.WriteFile(h.path(name), content, 0o666))
	h.cases++
	what := fmt.Sprintf("%s: bit %d of byte %d of %s", s.name, bit, at, name)
	switch e := h.run("", s.args...); {
	case !h.clear(e, what):
	case e.status != 0:
		h.notes["refused"]++
	case strings.HasSuffix(name, ".npy"):
		h.notes["another input"]++ // NPY files have no checksum: any number is one
	default:
		h.notes["of no consequence"]++
		h.compare(s, what, name)
	}
}
