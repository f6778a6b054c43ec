//go:build unix

package stress

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
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
func (h *harness) prepare() {
	check(os.MkdirAll(h.path(), 0o777))
	check(os.WriteFile(h.path("spec.yaml"), []byte(spec), 0o666))
	var initial []float64
	for _, v := range []float64{0.02, 0.1, 0.18} {
		initial = append(initial, slices.Repeat([]float64{v}, 24)...)
	}
	dict := "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 24)}"
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(dict)), 0)
	file, err := binary.Append(append(file, dict...), binary.LittleEndian, initial)
	check(err)
	check(os.WriteFile(h.path("u0.npy"), file, 0o666))
	h.save("empty")
	for _, s := range []struct {
		state string
		args  []string
	}{
		{"data", []string{"generate", "spec.yaml", "--out", "data"}},
		{"trained", []string{"train", "spec.yaml", "--data", "data", "--out", "run"}},
		{"scored", []string{"eval", "run"}},
		{"predicted", []string{"predict", "run", "--initial", "u0.npy", "--out", "u.npz"}},
	} {
		h.undisturbed(nil, s.args...)
		h.save(s.state)
	}
	for i := range scenarios {
		s := &scenarios[i]
		if s.state == "begun" { // a training that was killed three quarters through
			h.load("data")
			train := scenarioNamed("train")
			h.run(fmt.Sprintf("kill %d", len(train.operations)*3/4), train.args...)
			h.save(s.state)
		}
		h.load(s.state)
		file := filepath.Join(h.work, "trace-"+s.name)
		s.seconds = h.undisturbed([]string{"PIHC_FAULT_TRACE=" + file}, s.args...).seconds
		trace, err := os.ReadFile(file)
		if err != nil {
			check(fmt.Errorf("the program was not built with -tags faults: %w", err))
		}
		s.operations = strings.Split(strings.TrimSpace(string(trace)), "\n")
		s.want = must(h.snapshot())
	}
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
	return &scenarios[slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })]
}

// refusals are what a message says that names another command.
var refusals = []string{"begin again with", "not a run folder", "want more than that"}

// finish does what a user does after a disturbance, and compares.
func (h *harness) finish(s *scenario, what string) {
	h.cases++
	_, missing := os.Stat(h.path(s.out))
	commands := [][]string{s.args}
	switch {
	case strings.HasSuffix(s.out, ".npz") && missing == nil:
		commands = nil // whole, or it would not be there
	case s.name == "extend":
		commands = [][]string{s.args, s.again}
	case s.again != nil && missing == nil:
		commands = [][]string{s.again, s.args}
	}
	for i, args := range commands {
		then := fmt.Sprintf("%s, then pihc %s", what, strings.Join(args, " "))
		e := h.run("", args...)
		if !h.clear(e, then) {
			return
		}
		if e.status == 0 {
			break
		}
		if i+1 < len(commands) && slices.ContainsFunc(refusals, func(say string) bool { return strings.Contains(e.err, say) }) {
			continue // as the message says
		}
		h.fail("%s: %s", then, e.err)
		return
	}
	h.compare(s, what)
}

// compare fails a case whose files, apart from some, are not those of an undisturbed run.
func (h *harness) compare(s *scenario, what string, apart ...string) {
	if got, err := h.snapshot(); err != nil {
		h.fail("%s: %v", what, err)
	} else if d := got.difference(s.want, apart...); d != "" {
		h.fail("%s: %s", what, d)
	}
}
