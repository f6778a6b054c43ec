package model

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pihc/fno"
	"pihc/internal/config"
	"pihc/lm"
	"pihc/pde"
)

// lines returns the position and message of every problem in err.
func lines(t *testing.T, err error) []string {
	t.Helper()
	var all config.Errors
	if !errors.As(err, &all) {
		t.Fatalf("%T, want config.Errors: %v", err, err)
	}
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = p.Line()
	}
	return out
}

func TestBuiltinSpecs(t *testing.T) {
	names := BuiltinSpecs()
	if len(names) < 3 {
		t.Fatalf("built-in specs %v", names)
	}
	for _, name := range names {
		s, err := OpenSpec(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p, err := pde.Open(s.Problem)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		g, err := p.Grid(s.Grid)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, method := range Methods {
			s.Method = method
			net, err := s.NewNetwork(p)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if err := net.Validate(g.Shape()); err != nil {
				t.Errorf("%s: network: %v", name, err)
			}
			if _, err := s.Options(p); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			_, outputs := net.Fields()
			if want := map[bool]int{true: 1, false: s.Network.Basis}[method == Soft]; outputs != want {
				t.Errorf("%s, %s: %d outputs, want %d", name, method, outputs, want)
			}
		}
	}
	for name, want := range map[string]string{
		"demo": "no such built-in spec; there are " + names[0], "missing.yaml": "missing.yaml", "no/such/file": "no/such/file",
	} {
		if _, err := OpenSpec(name); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("OpenSpec(%q): %v, want %q", name, err, want)
		}
	}
}

// The paper's sizes (section 4.1 and appendix B) are those of its spec.
func TestPaperSpec(t *testing.T) {
	s, err := OpenSpec("diffusion-sorption-paper")
	if err != nil {
		t.Fatal(err)
	}
	n, c, tr := s.Network, s.Constraint, s.Training
	k := n.Keys.(keysOf[fno.Keys]).Spec
	if k.Width != 64 || k.Layers != 5 || k.Modes["t"] != 8 || k.Modes["x"] != 8 || k.Projection != 128 || n.Basis != 16 {
		t.Errorf("network %+v", n)
	}
	if s.Grid["t"] != 101 || s.Grid["x"] != 1024 || c.Experts["x"] != 4 || c.Points != 20000 || c.MaxIterations != 50 || c.Tolerance != 1e-4 || c.Adjoint != "exact" {
		t.Errorf("grid %v, constraint %+v", s.Grid, c)
	}
	if tr.Steps != 4000 || tr.Batch != 6 {
		t.Errorf("training %+v", tr)
	}
	// Its schedule is the default; the shipped specs choose a better one.
	if r := defaultSpec(paperDefaults).Training.LearningRate; r != (LearningRate{Initial: 1e-3, Final: 1e-4, Decay: "exponential"}) {
		t.Errorf("default learning rate %+v", r)
	}
	if d := s.Data; d.Train.Count != 8000 || d.Validation.Count != 100 || d.Test.Count != 1000 || d.Train.Seed == d.Validation.Seed || d.Validation.Seed == d.Test.Seed {
		t.Errorf("data %+v", d)
	}
}

// The keys of a network stand behind those of all kinds.
func TestNetworkKeysInOrder(t *testing.T) {
	s := defaultSpec(paperDefaults)
	s.Network.Keys = keysOf[fno.Keys]{fno.Keys{Width: 64, Layers: 5, Modes: map[string]int{"x": 8}, Projection: 128, LastActivation: true, SpectralGain: 1}}
	src, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(src), "\nnetwork:\n")
	block, _, _ := strings.Cut(rest, "\nconstraint:")
	want := `  kind: fno
  basis: 16
  precision: float32
  initial_scale: 1
  centers: {}
  omit_coordinates: []
  features: {}
  passes: 1
  width: 64
  layers: 5
  modes: {x: 8}
  projection: 128
  last_activation: true
  output_activation: false
  spectral_gain: 1`
	if block != want {
		t.Errorf("got\n%s\nwant\n%s", block, want)
	}
}

// Specs of old say by a version what their defaults are; written again they say `defaults`.
func TestVersions(t *testing.T) {
	for src, want := range map[string]string{
		"": fittedDefaults, "version: 1\n": paperDefaults, "version: 2\n": fittedDefaults, "defaults: paper\n": paperDefaults, "defaults: fitted\n": fittedDefaults,
	} {
		s, err := LoadSpec("s.yaml", []byte(src+"problem: a\n"))
		if err != nil {
			t.Fatal(err)
		}
		defaults := defaultSpec(want)
		if s.Defaults != want || s.Training.Steps != defaults.Training.Steps || (s.fitted() == nil) != (want == paperDefaults) {
			t.Errorf("%q: %+v", src, s)
		}
		if text, err := s.Encode(); err != nil || !strings.HasPrefix(string(text), "defaults: "+want+"\nproblem: a\n") {
			t.Errorf("%q: %s, %v", src, text, err)
		}
	}
}

// Keys that have become constants may have that value, and no other.
func TestConstants(t *testing.T) {
	src := []byte("defaults: paper\nproblem: diffusion-sorption\nconstraint: {initial_damping: 1e-6, restart: false, cost_tolerance: 0}\ntraining: {beta1: 0.9, beta2: 0.999, epsilon: 1e-08}\n")
	s, err := LoadSpec("s.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Encode()
	for _, key := range []string{"initial_damping", "restart", "beta", "epsilon"} {
		if err != nil || strings.Contains(string(text), key) {
			t.Errorf("%s is written: %v", key, err)
		}
	}
	p, err := pde.Open(s.Problem)
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Options(p)
	if d, ok := o.Solver.Descent.(lm.LevenbergMarquardt); err != nil || !ok || d.InitialDamping != 1e-6 || o.Solver.FTol != -1 || !o.Solver.NoRestart {
		t.Errorf("%+v, %v", o.Solver, err)
	}
	s.Constraint.Scaling = "none"
	if _, err := s.Options(p); err == nil {
		t.Error("a scaling that is none")
	}
	for override, want := range map[string]string{
		"constraint.restart=true":         "--set:1:20: constraint.restart: true: it is false in all specs, and a key no more",
		"training.beta1=0.8":              "training.beta1: 0.8: it is 0.9 in all specs",
		"constraint.initial_damping=[1]":  "want a number",
		"constraint.initial_damping=1e-3": "it is 1e-06",
	} {
		if _, err := LoadSpec("s.yaml", src, override); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", override, err, want)
		}
	}
}

func TestSpecReports(t *testing.T) {
	for _, test := range []struct {
		name, src string
		overrides []string
		want      []string
	}{
		{"misspelt keys, all of them", "problm: a\nnetwork: {widht: 64}\ntraining: {learning_rate: {intial: 1}}\n", nil, []string{
			`s.yaml:1:1: unknown key "problm"`, `s.yaml:2:11: unknown key "widht" in network`, `s.yaml:3:28: unknown key "intial" in training.learning_rate`,
		}},
		{"wrong types", "problem: a\nnetwork: {width: wide, modes: [8, 8]}\ngrid: {x: 1.5}\n", nil, []string{
			`s.yaml:2:18: network.width: want an integer`, `s.yaml:2:31: network.modes: want a mapping`, `s.yaml:3:11: grid.x: want an integer`,
		}},
		{"values", "problem: a\nmethod: medium\nnetwork: {width: 0, precision: float16}\ntraining: {average: 1, batch: 0, clip: -1, learning_rate: {final: 0, stairs: -1, decay: linear}}\n", nil, []string{
			`s.yaml:2:9: method: "medium": want soft, hard, moe`, `s.yaml:3:18: network.width: 0: want at least 1`, `s.yaml:3:32: network.precision: "float16"`,
			`s.yaml:4:21: training.average: 1: want a number in [0, 1)`, `s.yaml:4:31: training.batch`, `s.yaml:4:40: training.clip: -1`,
			`s.yaml:4:67: training.learning_rate.final: 0: want a positive number`, `s.yaml:4:78: training.learning_rate.stairs: -1`, `s.yaml:4:89: training.learning_rate.decay: "linear"`,
		}},
		{"constraint", "problem: a\nconstraint:\n  experts: {x: 0, t: -2}\n  weights: {initial: -1}\n  repeat_initial: -1\n  points: -1\n  adjoint: none\nloss: {weights: {left: -3}}\nevaluation: {points: -2}\ntraining: {stages: [{steps: 2, grid: {x: 0}}]}\n", nil, []string{
			`s.yaml:3:16: constraint.experts.x: 0: want at least 1`, `s.yaml:3:22: constraint.experts.t: -2`, `s.yaml:4:22: constraint.weights.initial: -1`,
			`s.yaml:5:19: constraint.repeat_initial: -1`, `s.yaml:6:11: constraint.points: -1`, `s.yaml:7:12: constraint.adjoint: "none": want exact, gauss-newton, paper`, `s.yaml:8:24: loss.weights.left: -3`,
			`s.yaml:9:22: evaluation.points: -2: want at least 0`, `s.yaml:10:42: training.stages.0.grid.x: 0: want at least 1`,
		}},
		{"network", "problem: a\nnetwork: {spectral_gain: -1, projection: 0}\n", nil, []string{
			`s.yaml:2:26: network.spectral_gain: -1: want zero or a positive number`, `s.yaml:2:42: network.projection: 0: want at least 1`,
		}},
		{"products of fewer digits", "problem: a\nnetwork: {matmul: tf32, precision: float64}\n", nil, []string{`s.yaml:2:19: network.matmul: tf32: of network.precision float32 alone, here float64`}},
		{"products of unknown digits", "problem: a\nnetwork: {matmul: float16}\n", nil, []string{`s.yaml:2:19: network.matmul: "float16": want float32, tf32, bf16`}},
		{"blending beyond a subdomain", "problem: a\nevaluation: {blend: 0.6}\n", nil, []string{`s.yaml:2:21: evaluation.blend: 0.6: want at most 0.5`}},
		{"no problem", "method: moe\n", nil, []string{`s.yaml: problem: missing; name a built-in problem (diffusion-sorption`}},
		{"another version", "version: 9\nproblem: a\n", nil, []string{`s.yaml:1:10: version 9: this pihc reads versions 1 to 2`}},
		{"other defaults", "defaults: new\nproblem: a\n", nil, []string{`s.yaml:1:11: defaults: "new": want paper, fitted`}},
		{"version and defaults", "defaults: paper\nproblem: a\n", []string{"version=2"}, []string{"--set:1:9: version: `defaults` has taken its place: paper for 1, fitted for 2"}},
		{"overrides", "problem: a\n", []string{"training.batch=0"}, []string{`--set:1:16: training.batch: 0: want at least 1`}},
		{"overrides, unknown", "problem: a\n", []string{"training.btach=3"}, []string{`--set:1:10: unknown key "btach" in training`}},
		{"overrides, not one", "problem: a\n", []string{"training.batch"}, []string{`--set:1:1: not of the form key=value`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := LoadSpec("s.yaml", []byte(test.src), test.overrides...)
			if err == nil {
				t.Fatal("no error")
			}
			got := lines(t, err)
			if len(got) != len(test.want) {
				t.Errorf("%d problems, want %d", len(got), len(test.want))
			}
			for i, w := range test.want {
				if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) }) {
					t.Errorf("problem %d, %q, is not among\n  %s", i, w, strings.Join(got, "\n  "))
				}
			}
		})
	}
}

// A resolved spec is written and read back as the same spec.
func TestSpecRoundTrip(t *testing.T) {
	for _, name := range BuiltinSpecs() {
		s, err := OpenSpec(name, "training.learning_rate={initial: 0.002, stairs: 5}", "constraint.experts.t=2", "seed=18446744073709551615")
		if err != nil {
			t.Fatal(err)
		}
		if s.Seed != 1<<64-1 || s.Constraint.Experts["t"] != 2 || s.Training.LearningRate.Stairs != 5 || s.Training.LearningRate.Initial != 0.002 {
			t.Errorf("%s: overrides are lost: %+v", name, s)
		}
		src, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := LoadSpec("again.yaml", src)
		if err != nil {
			t.Fatalf("%s: %v in\n%s", name, err, src)
		}
		if !reflect.DeepEqual(s, again) {
			t.Errorf("%s: got\n%+v\nwant\n%+v", name, again, s)
		}
		if twice, _ := again.Encode(); !bytes.Equal(src, twice) {
			t.Errorf("%s: written differently the second time", name)
		}
	}
}

// Every field of the constraint reaches the solver.
func TestOptions(t *testing.T) {
	s, err := LoadSpec("s.yaml", []byte(`
defaults: paper
problem: diffusion-sorption
constraint: {experts: {x: 3, t: 2}, points: 7, weights: {left: 2}, normalization: none, condition_rows: local, repeat_initial: 101,
  start: 1, ridge: 0.5, tolerance: 1e-3, max_iterations: 9, damping: classical, scaling: identity, newton_correction: false, adjoint: paper}
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(s.Problem)
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Options(p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.Experts, []int{2, 3}) || o.Points != 7 || o.Weights["left"] != 2 || o.Mean || !o.LocalConditions || o.RepeatInitial != 101 || o.Start != 1 || o.Fixed || o.Adjoint != lm.HessianGaussNewton || !o.PaperAdjoint {
		t.Errorf("%+v", o)
	}
	if v := o.Solver; v.Ridge != 0.5 || v.GTol != 1e-3 || v.MaxIterations != 9 || v.Descent != (lm.LevenbergMarquardt{Classical: true, InitialDamping: 1e-6}) || v.Scaling != lm.ScalingIdentity || v.NewtonCorrection {
		t.Errorf("%+v", v)
	}
	s.Method = Hard
	if o, err = s.Options(p); err != nil || len(o.Experts) != 0 || o.Fixed {
		t.Errorf("hard: %+v, %v", o, err)
	}
	s.Method = Soft
	if o, err = s.Options(p); err != nil || !o.Fixed || o.Start != 1 {
		t.Errorf("soft: %+v, %v", o, err)
	}
	s.Method, s.Constraint.Experts = MoE, map[string]int{"y": 2}
	if _, err = s.Options(p); err == nil || !strings.Contains(err.Error(), `constraint.experts: problem diffusion-sorption has no axis "y"; its axes are t, x`) {
		t.Errorf("an unknown axis: %v", err)
	}
}

// LoadSpec never panics, and what it accepts is written and read back the same.
func FuzzLoadSpec(f *testing.F) {
	for _, name := range BuiltinSpecs() {
		s, err := OpenSpec(name)
		if err != nil {
			f.Fatal(err)
		}
		src, err := s.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src, "training.steps=3")
	}
	f.Add([]byte("defaults: paper\nproblem: a\ngrid: {x: 3}\nconstraint: {experts: {x: 0}}\n"), "a.b=c")
	f.Fuzz(func(t *testing.T, src []byte, override string) {
		s, err := LoadSpec("fuzz.yaml", src, override)
		if err != nil {
			return
		}
		text, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := LoadSpec("again.yaml", text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if twice, _ := again.Encode(); !bytes.Equal(text, twice) {
			t.Fatalf("written as\n%s\nand then as\n%s", text, twice)
		}
	})
}
