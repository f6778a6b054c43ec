package model

import (
	"strings"
	"testing"

	"pihc/fno"
	"pihc/pde"
)

// What a spec has for one method alone is laid over the rest where that method is the
// one, and --set goes over both; what is wrong for another method is wrong.
func TestMethodsOfASpec(t *testing.T) {
	src := []byte(`
defaults: paper
problem: diffusion-sorption
method: hard
grid: {t: 9, x: 24}
network: {width: 8, modes: {t: 3, x: 3}}
training: {steps: 10}
methods:
  hard: {constraint: {repeat_initial: 9}, network: {modes: {x: 5}}}
  soft: {training: {steps: 20}, network: {width: 16}}
`)
	for _, tt := range []struct {
		set                          []string
		repeat, width, modes, t, all int
	}{
		{nil, 9, 8, 5, 3, 10},
		{[]string{"method=soft"}, 0, 16, 3, 3, 20},
		{[]string{"method=moe"}, 0, 8, 3, 3, 10},
		{[]string{"constraint.repeat_initial=4", "network.modes.x=2"}, 4, 8, 2, 3, 10},
		{[]string{"training.steps=30", "method=soft", "network={width: 4, modes: {t: 2, x: 2}}"}, 0, 4, 2, 2, 30},
	} {
		s, err := LoadSpec("a.yaml", src, tt.set...)
		if err != nil {
			t.Fatal(tt.set, err)
		}
		k := s.Network.Keys.(keysOf[fno.Keys]).Spec
		if s.Constraint.RepeatInitial != tt.repeat || k.Width != tt.width || k.Modes["x"] != tt.modes || k.Modes["t"] != tt.t || s.Training.Steps != tt.all {
			t.Errorf("%v: repeat_initial %d, width %d, modes %v, steps %d, want %+v", tt.set, s.Constraint.RepeatInitial, k.Width, k.Modes, s.Training.Steps, tt)
		}
		text, err := s.Encode()
		if err != nil || strings.Contains(string(text), "methods:") {
			t.Errorf("%v: %v\n%s", tt.set, err, text)
		}
		again, err := LoadSpec("again.yaml", text)
		if err != nil || again.Constraint.RepeatInitial != tt.repeat || again.Training.Steps != tt.all {
			t.Errorf("%v: read again: %v", tt.set, err)
		}
	}
	for _, tt := range []struct{ old, new, want string }{
		{"  soft: {training: {steps: 20}", "  soft: {training: {stepz: 20}", `unknown key "stepz"`},
		{"  soft: {training: {steps: 20}", "  soft: {training: {steps: -1}", "training.steps"},
		{"  soft: {training", "  sotf: {training", "methods.sotf: want soft, hard, moe"},
		{"  hard: {constraint: {repeat_initial: 9}, network: {modes: {x: 5}}}", "  hard: 3", "methods.hard: want soft, hard, moe"},
		{"  soft: {training", "  soft: {method: hard, training", "methods.soft.method"},
		{"methods:\n", "methods: 3\nx:\n", "methods: want soft, hard, moe"},
		{"  soft: {training", "  soft: {data: {test: {seed: 7}}, training", "methods.soft.data: all methods share one dataset"},
		{"  soft: {training", "  soft: {loss: {data: 1}, training", "methods.soft.loss.data: all methods share one dataset"},
		{"  soft: {training", "  hard: {training", `key "hard" is given twice`},
		{"  soft: {training: {steps: 20}", "  soft: {training: {steps: 20, steps: 30}", `key "steps" is given twice`},
	} {
		text := strings.Replace(string(src), tt.old, tt.new, 1)
		if text == string(src) {
			t.Fatal(tt.old)
		}
		if _, err := LoadSpec("a.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.new, err)
		}
	}
}

// The published specs have of their methods what the published program has.
func TestPublishedMethods(t *testing.T) {
	for _, tt := range []struct {
		spec, method  string
		repeat, modes int
	}{
		{"diffusion-sorption-published", Hard, 101, 8},
		{"diffusion-sorption-published", MoE, 0, 8},
		{"navier-stokes-published", Soft, 0, 12},
		{"navier-stokes-published", MoE, 0, 8},
	} {
		s, err := OpenSpec(tt.spec, "method="+tt.method)
		if err != nil {
			t.Fatal(err)
		}
		if k := s.Network.Keys.(keysOf[fno.Keys]).Spec; s.Constraint.RepeatInitial != tt.repeat || k.Modes["t"] != tt.modes || len(s.Training.Frozen) != 3 {
			t.Errorf("%s, %s: repeat_initial %d, modes %v, frozen %v", tt.spec, tt.method, s.Constraint.RepeatInitial, k.Modes, s.Training.Frozen)
		}
	}
}

// Values that make no sense alone or beside others are refused with their key, and what a spec says explicitly is there when it is read again.
func TestRefusedValues(t *testing.T) {
	src := []byte("problem: diffusion-sorption\ngrid: {t: 9, x: 24}\n")
	for override, want := range map[string]string{
		"training.stages=[{grid: {x: 12}}]":                   `missing key "steps"`,
		"training.stages=[~]":                                 "training.stages.0: want a mapping",
		"paper={moe: {}}":                                     `missing key "mean"`,
		"paper={moe: {mean: -3}}":                             "paper.moe.mean: -3: want a positive number",
		"paper={foo: {mean: 3}}":                              "paper.foo: want soft, hard, moe",
		"constraint.tolerance=1":                              "constraint.tolerance: 1: want less than 1",
		"training.learning_rate.stairs=1e6":                   "training.learning_rate.stairs: 1000000: want at most training.steps",
		"loss.border_rows={start: -1, end: 1}":                "loss.border_rows: want start and end of at least 0",
		"training={steps: 9, stages: [{steps: 3}], batch: 1}": "",
	} {
		_, err := LoadSpec("a.yaml", src, override)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", override, err, want)
		}
	}
	if _, err := LoadSpec("a.yaml", src, "loss.data=1", "training.stages=[{steps: 3}]"); err == nil || !strings.Contains(err.Error(), "loss.data: it does not go with training.stages") {
		t.Errorf("solutions and stages: %v", err)
	}
	p, err := pde.Open("diffusion-sorption")
	if err != nil {
		t.Fatal(err)
	}
	s, err := LoadSpec("a.yaml", src, "evaluation.blend=0", "network.centers={}", "constraint.points=20", "training.stages=[{steps: 3, points: 0}, {steps: 3}]")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Fit(p); err != nil {
		t.Fatal(err)
	}
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := LoadSpec("again.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Fit(p); err != nil || again.Evaluation.BlendWidth() != 0 || len(again.Network.Centers) != 0 {
		t.Errorf("read again: blend %g, centers %v, %v", again.Evaluation.BlendWidth(), again.Network.Centers, err)
	}
	stages, err := again.Stages(p)
	if err != nil || stages[0].Spec.Constraint.Points != 0 || stages[1].Spec.Constraint.Points != 20 {
		t.Errorf("points of stages %+v, %v", stages, err)
	}
}

// An override of a run's block would take away what the run has there.
func TestCheckBlock(t *testing.T) {
	for override, want := range map[string]string{
		"evaluation={blend: 0.25}":        "set its keys one by one, as in --set evaluation.blend=...",
		"training=":                       "set its keys one by one, as in --set training.KEY=...",
		"constraint.overlap={end: 0.1}":   "as in --set constraint.overlap.end=...",
		"data.test={seed: 9}":             "as in --set data.test.seed=...",
		"evaluation.blend=0.25":           "",
		"evaluation={}":                   "",
		"constraint.weights={left: 2}":    "",
		"training.stages=[{steps: 3}]":    "",
		"network.features={residual: 2}":  "",
		"data.test.grids=[{x: 12, t: 9}]": "",
	} {
		err := CheckBlock(override)
		hint := ""
		if h, ok := err.(interface{ Hint() string }); ok {
			hint = h.Hint()
		}
		if want == "" && err != nil || want != "" && !strings.Contains(hint, want) {
			t.Errorf("%s: %v, hint %q", override, err, hint)
		}
	}
}

// The network of another spec is the same function of the same parameters, or a message says what is not.
func TestSameForm(t *testing.T) {
	p, err := pde.Open("diffusion-sorption")
	if err != nil {
		t.Fatal(err)
	}
	load := func(overrides ...string) *Spec {
		s, err := LoadSpec("a.yaml", []byte("problem: diffusion-sorption\ndefaults: paper\ngrid: {t: 9, x: 24}\nnetwork: {modes: {t: 3, x: 3}, passes: 2, features: {u: 1, residual: 2}}\n"), overrides...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	base := load()
	for override, want := range map[string]string{
		"network.features={u: 1, u_t: 2}":                                "its network sees t, x, u0, u of the field to correct, residual, this spec's t, x, u0, u of the field to correct, u_t of",
		"network.features={u: 3, residual: 4}":                           "",
		"network.omit_coordinates=[t]":                                   "its network sees t, x,",
		"network.last_activation=false":                                  "its network.last_activation is true, this spec's false",
		"network.spectral_gain=0":                                        "",
		"network.initial_scale=7":                                        "",
		"network={kind: ffno, passes: 2, features: {u: 1, residual: 2}}": "its network.kind is fno, this spec's ffno",
	} {
		err := load(override).SameForm(p, base, p)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", override, err, want)
		}
	}
}
