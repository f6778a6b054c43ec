package experiment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pihc/constraint"
	"pihc/ffno"
	"pihc/fno"
	"pihc/grid"
	"pihc/model"
	"pihc/train"
)

const pairProblem = `name: pair
unknown: [u, v]
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 12, boundary: cells}
constants: {d: 0.01}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  v_t: {of: v, axis: t, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2, closure: ghost, low: inner1, high: inner1}
  v_xx: {of: v, axis: x, derivative: 2, closure: ghost, low: inner1, high: inner1}
residual:
  activator: {expression: u_t - d*u_xx - u + u^3 + v, rows: {t: [1, 0]}}
  inhibitor: {expression: v_t - 0.02*v_xx - 0.3*(u - v), rows: {t: [1, 0]}}
conditions:
  start_u: {kind: initial, at: {t: low}, expression: u - u0}
  start_v: {kind: initial, at: {t: low}, expression: v - v0}
ansatz: {u: {offset: u0, multiplier: t}, v: {offset: v0, multiplier: t}}
initial:
  u: {distribution: random-series, series: cosine, scale: 0.5}
  v: {distribution: random-series, series: cosine, scale: 0.2}
reference: {solver: discrete, refine: {x: 3}}
`

const pairSpec = `defaults: paper
problem: problem.yaml
network: {width: 6, layers: 2, modes: {t: 2, x: 2}, projection: 6, basis: 3, passes: 3, features: {u: 1, v: 1, activator: 1, inhibitor: 1}}
constraint: {experts: {x: 2}, points: 20, tolerance: 1e-12, cost_tolerance: 0, overlap: {start: 0.5, end: 0.25, from: 0, to: 0.5}}
loss: {border_jump: 0.1, border_rows: {start: 0.5, end: 0.8, from: 0.25, to: 0.75}}
training: {steps: 6, batch: 2, validate: 3, validate_count: 2, checkpoint: 3, log: 1, stages: [{steps: 2, grid: {t: 7}}]}
data: {train: {count: 4, seed: 1}, validation: {count: 2, seed: 2}, test: {count: 2, seed: 3}}
evaluation: {passes: auto, limit: 5}
`

// plainSpec is of the same problem without an ansatz: one pass, and initial conditions are rows.
const plainSpec = `defaults: paper
problem: plain.yaml
network: {width: 6, layers: 2, modes: {t: 2, x: 2}, projection: 6, basis: 3}
constraint: {experts: {x: 2}, points: 20, overlap: {start: 0.5, end: 0.25, from: 0, to: 0.5}}
loss: {border_jump: 0.1, border_rows: {start: 0.5, end: 0.8, from: 0.25, to: 0.75}}
training: {steps: 6, batch: 2, validate: 3, validate_count: 2, checkpoint: 3, log: 1}
data: {train: {count: 4, seed: 1}, validation: {count: 2, seed: 2}, test: {count: 2, seed: 3}}
`

// keysOf are the dotted keys of a struct with yaml tags.
func keysOf(prefix string, r reflect.Type) []string {
	var out []string
	for i := range r.NumField() {
		f := r.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if !f.IsExported() {
			continue
		}
		at := strings.TrimPrefix(prefix+"."+name, ".")
		switch {
		case f.Type == reflect.TypeFor[model.NetworkSpec]():
			for _, part := range []reflect.Type{reflect.TypeFor[model.NetworkShared](), reflect.TypeFor[fno.Keys](), reflect.TypeFor[ffno.Keys]()} {
				out = append(out, keysOf(at, part)...)
			}
		case strings.Contains(options, "inline"):
			out = append(out, keysOf(prefix, f.Type)...)
		case f.Type.Kind() == reflect.Struct:
			out = append(out, keysOf(at, f.Type)...)
		default:
			out = append(out, at)
		}
	}
	return out
}

// changed has another value for each key than those of the specs above.
var changed = map[string]string{
	"defaults":                       "defaults=fitted",
	"seed":                           "seed=7",
	"method":                         "method=hard",
	"grid":                           "grid.x=16",
	"rollout":                        "rollout=2", // of times that do not divide: cmd/pihc has a script
	"constants":                      "constants.d=0.02",
	"paper":                          "paper.moe={mean: 0.3, std: 0.1}",
	"network.kind":                   "network={kind: ffno, width: 6, layers: 2, modes: {t: 2, x: 2}, projection: 6, basis: 3, passes: 3, features: {u: 1, v: 1, activator: 1, inhibitor: 1}}",
	"network.basis":                  "network.basis=4",
	"network.precision":              "network.precision=float64",
	"network.matmul":                 "", // of engine xla alone: cmd/pihc has a script
	"network.initial_scale":          "network.initial_scale=2",
	"network.scales":                 "network.scales={u: 2, v: 1}",
	"network.centers":                "network.centers={u: 2, v: 1}",
	"network.omit_coordinates":       "network.omit_coordinates=[x]",
	"network.features":               "network.features={u: 2, v: 1, activator: 1, inhibitor: 1}",
	"network.passes":                 "network.passes=4",
	"network.width":                  "network.width=5",
	"network.layers":                 "network.layers=3",
	"network.modes":                  "network.modes.x=3",
	"network.projection":             "network.projection=7",
	"network.last_activation":        "network.last_activation=false",
	"network.output_activation":      "network.output_activation=true",
	"network.spectral_gain":          "network.spectral_gain=0.5",
	"constraint.experts":             "constraint.experts.x=3",
	"constraint.points":              "constraint.points=15",
	"constraint.overlap.start":       "constraint.overlap.start=0.6",
	"constraint.overlap.end":         "constraint.overlap.end=0.75",
	"constraint.overlap.from":        "constraint.overlap.from=0.4",
	"constraint.overlap.to":          "constraint.overlap.to=1",
	"constraint.weights":             "constraint.weights.activator=3",
	"constraint.normalization":       "constraint.normalization=none",
	"constraint.condition_rows":      "constraint.condition_rows=local",
	"constraint.repeat_initial":      "constraint.repeat_initial=5",
	"constraint.start":               "constraint.start=0.3",
	"constraint.soft_weight":         "constraint.soft_weight=0.5",
	"constraint.ridge":               "constraint.ridge=0.1",
	"constraint.tolerance":           "constraint.tolerance=0.1",
	"constraint.max_iterations":      "constraint.max_iterations=1",
	"constraint.damping":             "constraint.damping=classical",
	"constraint.scaling":             "constraint.scaling=identity",
	"constraint.newton_correction":   "constraint.newton_correction=false",
	"constraint.adjoint":             "constraint.adjoint=gauss-newton",
	"constraint.cost_tolerance":      "constraint.cost_tolerance=0.5",
	"constraint.directions":          "constraint.directions=2",
	"constraint.components":          "constraint.components=tied",
	"constraint.router":              "constraint.router=thirds",
	"loss.form":                      "loss.form=norm",
	"loss.relative":                  "loss.relative=true",
	"loss.weights":                   "loss.weights.activator=3",
	"loss.border_jump":               "loss.border_jump=1",
	"loss.border_slope":              "loss.border_slope=1",
	"loss.border_rows.start":         "loss.border_rows.start=0.2",
	"loss.border_rows.end":           "loss.border_rows.end=0.1",
	"loss.border_rows.from":          "loss.border_rows.from=0.6",
	"loss.border_rows.to":            "loss.border_rows.to=0.5",
	"loss.data":                      "loss.data=0.1",
	"training.steps":                 "training.steps=9",
	"training.restarts":              "training.restarts=[3]",
	"training.batch":                 "training.batch=3",
	"training.micro_batch":           "training.micro_batch=2",
	"training.learning_rate.initial": "training.learning_rate.initial=0.01",
	"training.learning_rate.final":   "training.learning_rate.final=1e-5",
	"training.learning_rate.decay":   "training.learning_rate.decay=cosine",
	"training.learning_rate.stairs":  "training.learning_rate.stairs=2",
	"training.learning_rate.warmup":  "training.learning_rate.warmup=2",
	"training.clip":                  "training.clip=1e-3",
	"training.average":               "training.average=0.5",
	"training.frozen":                "training.frozen=[lift]",
	"training.validate":              "training.validate=1",
	"training.validate_count":        "training.validate_count=1",
	"training.log":                   "training.log=2",
	"training.checkpoint":            "training.checkpoint=1",
	"training.stages":                "training.stages=[{steps: 2, grid: {t: 6}}]",
	"training.window":                "training.window={t: [0, 0.5]}",
	"training.max_bad_steps":         "training.max_bad_steps=1",
	"training.recovery_factor":       "training.recovery_factor=0",
	"training.best":                  "training.best=last",
	"data.train.count":               "data.train.count=5",
	"data.train.seed":                "data.train.seed=11",
	"data.validation.count":          "data.validation.count=3",
	"data.validation.seed":           "data.validation.seed=12",
	"data.test.count":                "data.test.count=3",
	"data.test.seed":                 "data.test.seed=13",
	"data.test.grids":                "data.test.grids=[{x: 36}]",
	"evaluation.passes":              "evaluation.passes=4",
	"evaluation.limit":               "evaluation.limit=3",
	"evaluation.points":              "evaluation.points=15",
	"evaluation.directions":          "evaluation.directions=2",
	"evaluation.newton":              "evaluation.newton=true",
	"evaluation.blend":               "evaluation.blend=0.3",
	"problem":                        "problem=other.yaml",
	"network.expansion":              "network={kind: ffno, width: 6, layers: 2, modes: {t: 2, x: 2}, projection: 6, basis: 3, expansion: 2}",
	"network.shared_weights":         "network={kind: ffno, width: 6, layers: 2, modes: {t: 2, x: 2}, projection: 6, basis: 3, shared_weights: true}",
}

// handedOn are keys that a training hands on to other commands in the spec of its run, or that tell in other
// circumstances than these, with where.
var handedOn = map[string]string{
	"paper": "report", "evaluation.passes": "eval, predict", "evaluation.limit": "eval, predict", "evaluation.points": "eval, predict", "evaluation.directions": "eval, predict", "evaluation.newton": "eval, predict", "evaluation.blend": "eval, predict",
	"data.test.grids": "eval", "data.train.seed": "compared with the dataset", "data.validation.count": "compared with the dataset",
	"data.validation.seed": "compared with the dataset", "data.test.count": "compared with the dataset", "data.test.seed": "compared with the dataset",
	"training.micro_batch": "memory: TestEstimate of package engine", "training.max_bad_steps": "TestRecovery of package train", "training.recovery_factor": "TestRecovery of package train",
	"training.best": "TestBestByResidual of package train",
}

// silent are keys that tell nothing in some of these walks, as problem, loss and passes have it, though in others.
var silent = map[string]string{
	"defaults":                  "generate moe, generate plain, generate hard, generate soft", // the samples are stated
	"constraint.condition_rows": "train moe, eval moe, predict moe", "constraint.repeat_initial": "train moe, eval moe, predict moe, train hard, eval hard, predict hard",
	"loss.border_jump": "eval moe", "loss.border_slope": "eval moe", "loss.border_rows.end": "eval moe", "evaluation.limit": "eval soft, predict soft", // but for the pass that auto ends with
}

func init() {
	constraint.RegisterRouter("thirds", func(g *grid.Grid, _ []int) (constraint.Router, error) {
		o := constraint.Options{Experts: []int{1, 3}}
		return o.NewRouter(g)
	})
}

// TestKeysAreRead walks all keys of a spec through all commands: what a command makes depends on
// the key, or the key is refused as an override.
func TestKeysAreRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	plain := regexp.MustCompile("(?m)^ansatz.*\n").ReplaceAllString(pairProblem, "")
	write("problem.yaml", pairProblem)
	write("plain.yaml", plain)
	write("other.yaml", strings.ReplaceAll(pairProblem, "0.3*", "0.4*"))
	for _, tt := range []struct {
		name, spec, method string
		slow               bool
	}{
		{"moe", pairSpec, model.MoE, false},
		{"plain", plainSpec, model.MoE, true},
		{"hard", pairSpec, model.Hard, true},
		{"soft", pairSpec, model.Soft, false},
	} {
		if tt.slow && testing.Short() {
			continue
		}
		write(tt.name+"-spec.yaml", tt.spec+"method: "+tt.method+"\n")
		t.Run(tt.name, func(t *testing.T) { walkKeys(t, filepath.Join(dir, tt.name+"-spec.yaml"), tt.name == "moe") })
	}
}

// ofSolves are the keys that methods and passes have a part in.
var ofSolves = regexp.MustCompile(`^(method|constraint|loss|evaluation|network.(passes|basis)|training.(stages|window|micro_batch))`)

func walkKeys(t *testing.T, spec string, all bool) {
	base, err := Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	dataDir, run := spec+"-data", spec+"-run"
	if _, err := base.Generate(t.Context(), dataDir, Options{}); err != nil {
		t.Fatal(err)
	}
	trained := trainedOf(t, base, dataDir, run)
	r, err := OpenRun(run)
	if err != nil {
		t.Fatal(err)
	}
	scores, fields := used(t, r)
	seen := map[string]bool{}
	for _, key := range keysOf("", reflect.TypeFor[model.Spec]()) {
		override, ok := changed[key]
		if seen[key] || ok && override == "" || override == "method="+base.Spec.Method || !all && !ofSolves.MatchString(key) {
			continue
		}
		seen[key] = true
		if !ok {
			t.Errorf("key %s is new: give it another value in this test, and say in model/reads.go which commands read it", key)
			continue
		}
		x, err := Open(spec, override)
		if err != nil {
			t.Logf("%s: %v", override, err)
			continue
		}
		// A command says that it reads the key where its result is another one.
		compare := func(command string, same bool, refused error) {
			t.Helper()
			in := command + " " + strings.TrimSuffix(filepath.Base(spec), "-spec.yaml")
			if !same && refused != nil && !strings.Contains(override, "={") {
				t.Errorf("%s of %s depends on it, and refuses it: %v", command, override, refused)
			} else if same && refused == nil && !(command == "train" && handedOn[key] != "") && key != "training.micro_batch" && !strings.Contains(silent[key], in) {
				t.Errorf("%s accepts %s, and its result is the same", command, override)
			}
		}
		compare("generate", planned(x) == planned(base), x.CheckRead("generate"))
		refused := x.CheckRead("train")
		x.overrides = nil
		compare("train", trainedOf(t, x, dataDir, spec+"-again") == trained, refused)

		stored, err := model.ReadStoredSpec(train.Folder(run).SpecFile(), override)
		if err != nil {
			t.Errorf("%s: %v", override, err)
			continue
		}
		open, refused := OpenRun(run, override)
		if kept := strings.HasPrefix(key, "network.") && (key != "network.passes" || base.Spec.Network.Passes == 1) || slices.Contains([]string{"constants", "problem", "seed", "grid", "rollout"}, key); kept {
			if refused == nil {
				t.Errorf("a run accepts %s, which it keeps from its training", override)
			}
			continue
		}
		refusedBy := func(command string) error {
			if refused != nil {
				return refused
			}
			return cmp.Or(checkRepeats(open.Spec, open.overrides), open.checkRead(command, &Evaluation{}))
		}
		otherScores, otherFields := used(t, &Run{Dir: run, Spec: stored, Problem: r.Problem})
		compare("eval", otherScores == scores, refusedBy("eval"))
		compare("predict", otherFields == fields, refusedBy("predict"))
	}
}

// planned is what a dataset is made from, or why there is none.
func planned(x *Experiment) string {
	plan, err := x.Spec.DatasetPlan(x.Problem, 1)
	return fmt.Sprint(plan.Problem, plan.ProblemHash, plan.Metadata, plan.Splits, plan.Float32, err)
}

// trainedOf is the log and all checkpoints of a new run, or why there is none.
func trainedOf(t *testing.T, x *Experiment, dataDir, run string) string {
	t.Helper()
	if err := os.RemoveAll(run); err != nil {
		t.Fatal(err)
	}
	r, err := x.Train(t.Context(), run, dataDir, Options{Workers: 1})
	if err != nil {
		return err.Error()
	}
	records, err := r.Log()
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		records[i].Seconds = 0
	}
	text, err := json.Marshal(records)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(run, "checkpoints", "*.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		tensors, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, filepath.Base(name)...), tensors...)
	}
	return string(text)
}

// used are the scores of a run and its predictions, or why there are none.
func used(t *testing.T, r *Run) (scores, fields string) {
	t.Helper()
	scores, fields = "none", "none"
	m, err := r.Score(t.Context(), ScoreOptions{})
	if err != nil {
		return err.Error(), err.Error()
	}
	m.Seconds, m.Points, m.Tolerance, m.Repeat = 0, 0, 0, "" // how, not what
	for i := range m.Grids {
		m.Grids[i].Seconds = 0
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	set, err := r.Dataset("")
	if err != nil {
		t.Fatal(err)
	}
	g, err := r.Grid(Evaluation{})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := LoadSamples(set, "test", r.Problem, g, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Predict(t.Context(), samples.Inputs, PredictOptions{})
	if err != nil {
		return string(text), err.Error()
	}
	return string(text), fmt.Sprint(p.Fields, p.ResidualOverRate, p.Passes, p.RelativeLoss)
}
