//go:build unix

package stress

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// sample is what a process holds after a number of steps.
type sample struct {
	step, memory, files int // memory in KiB
}

// soak trains 10,000 steps, and records the memory and the open files of the process:
// a table, and a figure where -figure names a file. Neither may grow after the first
// fifth.
func (h *harness) soak() {
	h.load("data")
	ctx, cancel := context.WithTimeout(context.Background(), 6*patience)
	defer cancel()
	c, message, ended, err := h.start(ctx, nil, h.pihc, "-q", "train", "spec.yaml", "--data", "data", "--out", "run", "--workers", "1",
		"--set", "training={steps: 10000, batch: 2, average: 0.5, validate: 250, checkpoint: 250, log: 10}")
	check(err)
	samples := []sample{{}}
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-time.After(20 * time.Millisecond):
			s := sample{step: lastStep(h.path("run", "log.jsonl"))}
			if s.step >= samples[len(samples)-1].step+100 && s.measure(c.Process.Pid) {
				samples = append(samples, s)
			}
		}
	}
	samples = samples[1:]
	h.cases++
	if !c.ProcessState.Success() || len(samples) < 10 {
		check(fmt.Errorf("%d samples (this needs /proc); %s", len(samples), message))
	}
	var early, late sample // the most of each
	for i, s := range samples {
		at := &early
		if s.step > 2000 {
			at = &late
		}
		at.memory, at.files = max(at.memory, s.memory), max(at.files, s.files)
		if i%max(1, len(samples)/10) == 0 || i == len(samples)-1 {
			fmt.Printf("  step %5d  %6.1f MiB  %d files\n", s.step, float64(s.memory)/1024, s.files)
		}
	}
	fmt.Printf("  most up to step 2000: %.1f MiB, %d files; after: %.1f MiB, %d files\n",
		float64(early.memory)/1024, early.files, float64(late.memory)/1024, late.files)
	if float64(late.memory) > 1.1*float64(early.memory) || late.files > early.files {
		h.fail("10,000 steps: memory or open files grow")
	}
	if h.figure != "" {
		check(os.WriteFile(h.figure, figure(samples), 0o666))
	}
}

// measure reports whether it could read what a process holds.
func (s *sample) measure(process int) bool {
	proc := fmt.Sprintf("/proc/%d/", process)
	status, err := os.ReadFile(proc + "status")
	files, err2 := os.ReadDir(proc + "fd")
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	n, _ := fmt.Sscan(rest, &s.memory)
	s.files = len(files)
	return err == nil && err2 == nil && n == 1 // or it has just ended
}

// lastStep is the step of the last whole line of a log.
func lastStep(path string) int {
	text, _ := os.ReadFile(path)
	lines := bytes.Split(text, []byte("\n"))
	var r struct{ Step int }
	if len(lines) > 1 {
		_ = json.Unmarshal(lines[len(lines)-2], &r)
	}
	return r.Step
}

// figure draws memory over steps as SVG.
func figure(samples []sample) []byte {
	const width, height, left, bottom = 640, 240, 60, 30
	most := 0
	for _, s := range samples {
		most = max(most, s.memory)
	}
	top := float64(most) * 1.25
	var points, files strings.Builder
	at := func(step int, share float64) string {
		return fmt.Sprintf("%.1f,%.1f ", left+float64(step)/10000*(width-left-10), (height-bottom)*(1-share))
	}
	for _, s := range samples {
		points.WriteString(at(s.step, float64(s.memory)/top))
		files.WriteString(at(s.step, float64(s.files)/20))
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">
<rect width="100%%" height="100%%" fill="white"/>
<path d="M%d 0V%dH%d" fill="none" stroke="black"/>
<polyline points="%s" fill="none" stroke="#1f77b4" stroke-width="2"/>
<polyline points="%s" fill="none" stroke="#d62728"/>
<text x="4" y="14">%.0f MiB</text><text x="4" y="%d">0</text><text x="%d" y="%d">10,000 steps</text>
<text x="80" y="20" fill="#1f77b4">resident memory</text><text x="220" y="20" fill="#d62728">open files, of 20</text>
</svg>
`, width, height, left, height-bottom, width, strings.TrimSpace(points.String()), strings.TrimSpace(files.String()), top/1024, height-bottom, width-90, height-8)
}
