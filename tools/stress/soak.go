//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
func (h *harness) soak() error {
	if err := h.load("data"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 6*patience)
	defer cancel()
	c, _, message, err := h.start(ctx, nil, h.pihc, "-q", "train", "spec.yaml", "--data", "data", "--out", "run", "--workers", "1",
		"--set", "training={steps: 10000, batch: 2, average: 0.5, validate: 250, checkpoint: 250, log: 10}")
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { _ = c.Wait(); close(ended) }()
	var samples []sample
	proc := fmt.Sprintf("/proc/%d/", c.Process.Pid)
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-time.After(20 * time.Millisecond):
			step := lastStep(h.path("run", "log.jsonl"))
			if len(samples) > 0 && step < samples[len(samples)-1].step+100 || step == 0 {
				continue
			}
			status, err := os.ReadFile(proc + "status")
			files, err2 := os.ReadDir(proc + "fd")
			if err != nil || err2 != nil {
				continue // it has just ended
			}
			_, rest, _ := strings.Cut(string(status), "VmRSS:")
			memory, err := strconv.Atoi(strings.Fields(rest + " 0")[0])
			if err == nil {
				samples = append(samples, sample{step, memory, len(files)})
			}
		}
	}
	h.cases++
	if !c.ProcessState.Success() || len(samples) < 10 {
		return fmt.Errorf("%d samples (this needs /proc); %s", len(samples), message)
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
		return os.WriteFile(h.figure, figure(samples), 0o666)
	}
	return nil
}

// lastStep is the step of the last whole line of a log.
func lastStep(path string) int {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return 0
	}
	defer f.Close()
	tail := make([]byte, 4096)
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	n, _ := f.ReadAt(tail, max(0, info.Size()-int64(len(tail))))
	lines := strings.Split(string(tail[:n]), "\n")
	if len(lines) < 2 {
		return 0
	}
	var r struct{ Step int }
	_ = json.Unmarshal([]byte(lines[len(lines)-2]), &r)
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
