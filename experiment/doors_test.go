package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pihc/data"
	"pihc/train"
)

const heatFile = `
name: heat
unknown: u
axes:
  t: {range: [0, 0.5], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
constants: {nu: 0.02}
terms:
  u_t: {axis: t, derivative: 1}
  u_xx: {axis: x, derivative: 2}
residual: {expression: u_t - nu*u_xx}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
initial: {distribution: random-sines, low: -1, high: 1}
ansatz: {offset: u0, multiplier: t}
reference: {solver: discrete}
`

const heatSpec = `
problem: heat.yaml
network: {width: 4, layers: 1, projection: 4, basis: 3, modes: {t: 2, x: 2}}
rollout: 2
training: {steps: 2, batch: 1, validate: 1, checkpoint: 1000, log: 1}
data: {train: {count: 2, seed: 1}, validation: {count: 1, seed: 2}, test: {count: 2, seed: 3}}
`

// heatRun is the spec of a small experiment, its dataset and a run of it.
func heatRun(t *testing.T) (spec, dataDir string, r *Run) {
	t.Helper()
	dir := t.TempDir()
	spec, dataDir = filepath.Join(dir, "spec.yaml"), filepath.Join(dir, "data")
	for path, text := range map[string]string{spec: heatSpec, filepath.Join(dir, "heat.yaml"): heatFile} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x, err := Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Generate(t.Context(), dataDir, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Train(t.Context(), filepath.Join(dir, "run"), dataDir, Options{}); err != nil {
		t.Fatal(err)
	}
	if r, err = OpenRun(filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	return spec, dataDir, r
}

// A program may use a run for several grids, of one shape too, and from several goroutines.
func TestOneRunManyGrids(t *testing.T) {
	_, _, r := heatRun(t)
	inputs := func() [][]float64 {
		u := make([]float64, 16)
		for i := range u {
			u[i] = math.Sin(2 * math.Pi * float64(i) / 16)
		}
		return [][]float64{u}
	}
	long, fine := PredictOptions{Evaluation: Evaluation{Until: new(1.0)}}, PredictOptions{Evaluation: Evaluation{Grid: map[string]int{"t": 33}}}
	over := func(r *Run, o PredictOptions) float64 {
		p, err := r.Predict(t.Context(), inputs(), o)
		if err != nil {
			t.Error(err)
			return math.NaN()
		}
		return p.ResidualOverRate[0]
	}
	var want []float64
	for _, o := range []PredictOptions{long, fine} {
		fresh, err := OpenRun(r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, over(fresh, o))
	}
	got := make([]float64, 4)
	var group sync.WaitGroup
	for i := range got {
		group.Go(func() { got[i] = over(r, []PredictOptions{long, fine}[i%2]) })
	}
	group.Wait()
	for i := range got {
		if got[i] != want[i%2] {
			t.Errorf("prediction %d: residual %g, by a run of its own %g", i, got[i], want[i%2])
		}
	}
}

// What a command refuses a program is refused as well.
func TestDoorsRefuse(t *testing.T) {
	spec, dataDir, r := heatRun(t)
	sample := make([]float64, 16)
	sample[3] = 1
	predict := func(e Evaluation) error {
		_, err := r.Predict(t.Context(), [][]float64{sample}, PredictOptions{Evaluation: e})
		return err
	}
	open := func(change func(x *Experiment)) *Experiment {
		x, err := Open(spec)
		if err != nil {
			t.Fatal(err)
		}
		change(x)
		return x
	}
	out := filepath.Join(t.TempDir(), "out")
	trained := func(x *Experiment) error { _, err := x.Train(t.Context(), out, dataDir, Options{}); return err }
	resumed := func(from string, steps int) error {
		_, err := Resume(t.Context(), r.Dir, from, steps, Options{})
		return err
	}
	other := filepath.Join(t.TempDir(), "other")
	if _, err := open(func(x *Experiment) { x.Spec.Data.Train.Seed = 77 }).Generate(t.Context(), other, Options{}); err != nil {
		t.Fatal(err)
	}
	set, err := data.Open(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	sorption, err := Open("diffusion-sorption-demo")
	if err != nil {
		t.Fatal(err)
	}
	g, err := sorption.Problem.Grid(sorption.Spec.Grid)
	if err != nil {
		t.Fatal(err)
	}
	_, foreign := LoadSamples(set, "test", sorption.Problem, g, 0)
	for i, c := range []struct {
		err  error
		want string
	}{
		{predict(Evaluation{Passes: -7}), "--passes -7: want a positive number, or auto"},
		{predict(Evaluation{Points: new(-3)}), "--points -3: want a number of rows"},
		{predict(Evaluation{Tolerance: math.NaN()}), "--tolerance NaN: want a positive number"},
		{predict(Evaluation{Options: Options{Workers: -1}}), "--workers -1: want a number of threads"},
		{resumed("", -5), "training.steps=-5: want a positive number"},
		{resumed(other, 9), "was trained with another dataset than"},
		{trained(open(func(x *Experiment) { x.Spec.Constants = map[string]float64{"nu": 0.5} })), "constants.nu: the spec has 0.5, the problem has not"},
		{trained(open(func(x *Experiment) { x.Problem.Axes[0].Hi = 1 })), "its axes or constants were changed"},
		{trained(open(func(x *Experiment) { x.Spec.Training.Batch = -2 })), "training.batch"},
		{foreign, "was generated for problem heat"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%d: %v, want %q", i, c.err, c.want)
		}
	}
	_, err = r.Predict(t.Context(), nil, PredictOptions{})
	if err == nil || !strings.Contains(err.Error(), "no samples") {
		t.Errorf("nothing to predict: %v", err)
	}
	if _, err := r.Predict(t.Context(), [][]float64{{math.NaN(), 15: 0}}, PredictOptions{}); err == nil || !strings.Contains(err.Error(), "value 0 is NaN") {
		t.Errorf("a value that is no number: %v", err)
	}
	if again, err := OpenRun(r.Dir); err != nil || again.Spec.Training.Steps != 2 {
		t.Errorf("a refused extension has %d steps, %v", again.Spec.Training.Steps, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused training left a folder")
	}
}

// What a training warns of is in its result, all of it.
func TestWarningsOfATraining(t *testing.T) {
	spec, dataDir, _ := heatRun(t)
	x, err := Open(spec, "method=soft", "constraint.points=5", "constraint.tolerance=0.1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Train(t.Context(), filepath.Join(t.TempDir(), "run"), dataDir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"constraint.points=5", "constraint.tolerance=0.1"} {
		if !slices.ContainsFunc(r.Warnings, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%q does not say %s", r.Warnings, want)
		}
	}
}

// A run that begins with the parameters of another says so, and its network is of that form.
func TestFrom(t *testing.T) {
	spec, dataDir, r := heatRun(t)
	x, err := Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	next, err := x.TrainFrom(t.Context(), r.Dir, filepath.Join(t.TempDir(), "next"), dataDir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := readRunInfo(next.Dir); err != nil || info.From != r.Dir {
		t.Errorf("run.json says %q, %v", info.From, err)
	}
	if x, err = Open(spec, "network.last_activation=false"); err != nil {
		t.Fatal(err)
	}
	if _, err = x.TrainFrom(t.Context(), r.Dir, filepath.Join(t.TempDir(), "other"), dataDir, Options{}); err == nil || !strings.Contains(err.Error(), "network.last_activation is true, this spec's false") {
		t.Errorf("another form: %v", err)
	}
	// Of a run's spec the problem is the run's, though the file it names was edited since.
	pde := filepath.Join(filepath.Dir(spec), "heat.yaml")
	if err := os.WriteFile(pde, []byte(strings.Replace(heatFile, "0.02", "0.03", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if x, err = Open(train.Folder(r.Dir).SpecFile()); err != nil || x.Problem.Constants[0].Value != 0.02 {
		t.Errorf("the problem of a run's spec has %v, %v", fmt.Sprint(x.Problem.Constants), err)
	}
}

// Solutions that could not be compared are compared by the next call.
func TestGenerateComparesAgain(t *testing.T) {
	spec, _, _ := heatRun(t)
	x, err := Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	dir := filepath.Join(t.TempDir(), "data")
	_, err = x.Generate(ctx, dir, Options{Progress: func(p Progress) {
		if p.Stage == "solve" && p.Ended {
			cancel()
		}
	}})
	if err == nil || strings.Count(err.Error(), "canceled") != 1 {
		t.Fatalf("cancelled: %v", err)
	}
	if _, err := data.Open(dir); err == nil {
		t.Error("a dataset whose solutions were not compared is whole")
	}
	if _, err := x.Generate(t.Context(), dir, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := data.Open(dir); err != nil {
		t.Error(err)
	}
}

// That a problem is ill-posed is said before solutions of a file are compared with it, which may take long then.
func TestGenerateExaminesFirst(t *testing.T) {
	spec, dataDir, _ := heatRun(t)
	file := filepath.Join(filepath.Dir(spec), "heat.yaml")
	text := strings.Replace(heatFile, "nu: 0.02", "nu: -0.02", 1)
	text = strings.Replace(text, "reference: {solver: discrete}", "reference: {file: data/test-00000.npz}", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := Open(spec, "data.train.count=1", "data.validation.count=1", "data.test.count=1")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	said := false
	_, err = x.Generate(ctx, dataDir+"-again", Options{Progress: func(p Progress) {
		said = said || strings.Contains(p.Warning, "ill-posed everywhere")
		if p.Stage == "compare" {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || !said {
		t.Errorf("warned of an ill-posed problem before comparisons: %v; %v", said, err)
	}
}
