package model

import (
	"strings"
	"testing"

	"pihc/fno"
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
