//go:build unix

package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// A scenario is a command, the state it starts from, and the files that it leaves
// undisturbed.
type scenario struct {
	name, state string
	args        []string
	out         string   // what it writes
	again       []string // what continues it; nil: the same
	want        snapshot
	operations  []string // on files, in their order
	seconds     float64
}

// spec is an experiment that takes a fraction of a second and has more than one
// checkpoint, best checkpoint and shard.
const spec = `defaults: paper
problem: diffusion-sorption
grid: {t: 13, x: 24}
network: {width: 8, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 6, initial_scale: 0.2}
constraint: {experts: {x: 2}, points: 60}
training: {steps: 14, batch: 2, average: 0.5, validate: 4, validate_count: 2, checkpoint: 4, log: 1}
data:
  train: {count: 16, seed: 1}
  validation: {count: 3, seed: 2}
  test: {count: 4, seed: 3}
`

// prepare makes the states that scenarios start from, and runs each undisturbed.
func (h *harness) prepare() error {
	if err := os.MkdirAll(h.path(), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(h.path("spec.yaml"), []byte(spec), 0o666); err != nil {
		return err
	}
	if err := os.WriteFile(h.path("u0.npy"), npy(0.02, 0.1, 0.18), 0o666); err != nil {
		return err
	}
	for _, s := range []struct {
		state, fault string
		args         []string
	}{
		{"empty", "", nil},
		{"data", "", []string{"generate", "spec.yaml", "--out", "data"}},
		{"trained", "", []string{"train", "spec.yaml", "--data", "data", "--out", "run"}},
		{"scored", "", []string{"eval", "run"}},
		{"predicted", "", []string{"predict", "run", "--initial", "u0.npy", "--out", "u.npz"}},
	} {
		if s.args != nil {
			if e, err := h.pihcWith("", s.args...); err != nil || e.status != 0 {
				return fmt.Errorf("pihc %s: %v %s", strings.Join(s.args, " "), err, e.err)
			}
		}
		if err := h.save(s.state); err != nil {
			return err
		}
	}
	for i := range scenarios {
		s := &scenarios[i]
		if s.state == "begun" {
			if err := h.begin(); err != nil {
				return err
			}
		}
		if err := h.load(s.state); err != nil {
			return err
		}
		e, err := h.exec([]string{"PIHC_FAULT_TRACE=" + h.work + "/trace-" + s.name}, h.pihc, append([]string{"-q"}, s.args...)...)
		if err != nil || e.status != 0 {
			return fmt.Errorf("pihc %s: %v %s", strings.Join(s.args, " "), err, e.err)
		}
		trace, err := os.ReadFile(h.work + "/trace-" + s.name)
		if err != nil {
			return fmt.Errorf("the program was not built with -tags faults: %w", err)
		}
		s.operations, s.seconds = strings.Split(strings.TrimSpace(string(trace)), "\n"), e.seconds
		if s.want, err = h.snapshot(); err != nil {
			return err
		}
	}
	return nil
}

// begin makes the state of a training that was killed three quarters through.
func (h *harness) begin() error {
	if err := h.load("data"); err != nil {
		return err
	}
	train := scenarioNamed("train")
	if _, err := h.pihcWith(fmt.Sprintf("kill %d", len(train.operations)*3/4), train.args...); err != nil {
		return err
	}
	return h.save("begun")
}

var scenarios = []scenario{
	{name: "generate", state: "empty", out: "data", args: []string{"generate", "spec.yaml", "--out", "data"}},
	{name: "train", state: "data", out: "run", args: []string{"train", "spec.yaml", "--data", "data", "--out", "run"}, again: []string{"train", "--resume", "run"}},
	{name: "resume", state: "begun", out: "run", args: []string{"train", "--resume", "run"}},
	{name: "extend", state: "trained", out: "run", args: []string{"train", "--resume", "run", "--set", "training.steps=20"}, again: []string{"train", "--resume", "run"}},
	{name: "from", state: "trained", out: "next", args: []string{"train", "spec.yaml", "--data", "data", "--out", "next", "--from", "run"}, again: []string{"train", "--resume", "next"}},
	{name: "eval", state: "trained", out: "run", args: []string{"eval", "run"}},
	{name: "predict", state: "trained", out: "u.npz", args: []string{"predict", "run", "--initial", "u0.npy", "--out", "u.npz"}},
	{name: "import", state: "predicted", out: "own.npz", args: []string{"import", "u.npz", "--solution", "u", "--out", "own.npz"}},
	{name: "report", state: "trained", out: "page.html", args: []string{"report", "run", "--out", "page.html"}},
	{name: "reproduce", state: "empty", out: "page", args: []string{
		"reproduce", "diffusion-sorption", "--scale", "demo", "--out", "page", "--set", "grid={t: 13, x: 24}",
		"--set", "network={width: 8, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 6}", "--set", "constraint={experts: {x: 2}, points: 60}",
		"--set", "training={steps: 6, batch: 2, validate: 3, checkpoint: 3, log: 1}",
		"--set", "data={train: {count: 8, seed: 1}, validation: {count: 2, seed: 2}, test: {count: 2, seed: 3}}",
	}},
}

func scenarioNamed(name string) *scenario {
	for i := range scenarios {
		if scenarios[i].name == name {
			return &scenarios[i]
		}
	}
	panic("stress: no such scenario")
}

// finish does what a user does after a disturbance, and compares.
func (h *harness) finish(s *scenario, what string, apart ...string) error {
	h.cases++
	_, missing := os.Stat(h.path(s.out))
	if strings.HasSuffix(s.out, ".npz") && missing == nil {
		return h.compare(s, what, apart...) // whole, or it would not be there
	}
	commands := [][]string{s.args}
	switch {
	case s.name == "extend":
		commands = [][]string{s.args, s.again}
	case s.again != nil && missing == nil:
		commands = [][]string{s.again, s.args}
	}
	var e ending
	for i, args := range commands {
		var err error
		if e, err = h.pihcWith("", args...); err != nil {
			return err
		}
		if problem := e.clear(); problem != nil {
			h.fail("%s, then pihc %s: %v", what, strings.Join(args, " "), problem)
			return nil
		}
		if e.status == 0 {
			break
		}
		otherwise := slices.ContainsFunc([]string{"begin again with", "not a run folder", "want more than that"}, func(say string) bool { return strings.Contains(e.err, say) })
		if i+1 < len(commands) && otherwise {
			continue // as the message says
		}
		h.fail("%s, then pihc %s: %s", what, strings.Join(args, " "), e.err)
		return nil
	}
	return h.compare(s, what, apart...)
}

func (h *harness) compare(s *scenario, what string, apart ...string) error {
	got, err := h.snapshot()
	if err != nil {
		h.fail("%s: %v", what, err)
		return nil
	}
	if d := got.difference(s.want, apart...); d != "" {
		h.fail("%s: %s", what, d)
	}
	return nil
}

// npy is a file of initial conditions that are constant on 24 points.
func npy(values ...float64) []byte {
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 24), }", len(values))
	header += strings.Repeat(" ", 118-len(header)-1) + "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	out = append(out, header...)
	for _, v := range values {
		for range 24 {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
	}
	return out
}
