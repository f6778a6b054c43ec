package train

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/model"
)

// A finished run goes on after Extend with a schedule that begins anew, records
// where, and is the same run whether or not it is interrupted after that.
func TestExtend(t *testing.T) {
	e := newExperiment(t)
	dir, s := e.train(t, Options{})
	if s.Complete {
		t.Error("a new run was complete before")
	}
	if s, err := e.run(context.Background(), dir, Options{Resume: true}); err != nil || !s.Complete {
		t.Fatalf("resuming a finished run: %+v, %v", s, err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, other, other} { // a second time it is done already
		if err := Folder(dir).Extend(20); err != nil {
			t.Fatal(err)
		}
	}
	spec, p, err := Folder(dir).Read()
	if err != nil {
		t.Fatal(err)
	}
	if spec.Training.Steps != 20 || !slices.Equal(spec.Training.Restarts, []int{12}) {
		t.Fatalf("%+v", spec.Training)
	}
	// What was trained before the extension is still that run's.
	if _, _, err := LoadParams[float32](dir, spec, p, LoadOptions{}); err != nil {
		t.Error(err)
	}
	e.spec = spec
	if s, err := e.run(context.Background(), dir, Options{Resume: true}); err != nil || s.Steps != 20 || s.Complete {
		t.Fatalf("%+v, %v", s, err)
	}
	if s, err := e.run(context.Background(), other, Options{Resume: true, stopAt: 15}); !errors.Is(err, ErrInterrupted) || s.Steps != 15 {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := Folder(other).Extend(20); err != nil {
		t.Error("once more, interrupted:", err)
	}
	if _, err := e.run(context.Background(), other, Options{Resume: true}); err != nil {
		t.Fatal(err)
	}
	a, b := files(t, dir), files(t, other)
	for name, content := range a {
		if strings.HasSuffix(name, tensorsExt) && b[name] != content {
			t.Errorf("%s differs after an interruption", name)
		}
	}
	rates := map[int]float64{}
	for _, r := range records(t, dir) {
		if r.LearningRate != nil {
			rates[r.Step] = float64(*r.LearningRate)
		}
	}
	if len(rates) != 20 || rates[12] != 1e-3 || rates[13] != 5e-3 || rates[20] != 1e-3 {
		t.Errorf("learning rates %v: want those of 12 steps, then those of 8", rates)
	}
	if err := Folder(other).Extend(20); err == nil {
		t.Error("extended at its end to its own number of steps")
	}
	for _, steps := range []int{20, 3} {
		if err := Folder(dir).Extend(steps); err == nil || !strings.Contains(err.Error(), "want more than that") {
			t.Errorf("%d steps: %v", steps, err)
		}
	}
	if err := Folder(other).Extend(30); err != nil {
		t.Error(err)
	}
	if err := Folder(other).Extend(40); err == nil || !strings.Contains(err.Error(), "step 20 of 30") {
		t.Errorf("a run that is not finished: %v", err)
	}
}

// What changes during training but the learning rate ends once, at the first restart.
func TestRestarts(t *testing.T) {
	s := model.TrainingSpec{Steps: 40, Restarts: []int{10, 30}, LearningRate: model.LearningRate{Initial: 1, Final: 0.1, Decay: "exponential"}}
	for step, want := range map[int]float64{0: 1, 9: 0.1, 10: 1, 29: 0.1, 30: 1, 39: 0.1} {
		if got := s.Rate(step); got < 0.999*want || got > 1.001*want {
			t.Errorf("step %d: rate %g, want %g", step, got, want)
		}
	}
	if s.Progress(5) != 0.5 || s.Progress(10) != 1 || s.Progress(35) != 1 {
		t.Error("progress begins anew")
	}
}

// A run that starts from another has its parameters, and keeps them when it is
// stopped before any step is saved.
func TestFrom(t *testing.T) {
	e := newExperiment(t)
	first, _ := e.train(t, Options{})
	want, _, err := LoadParams[float32](first, e.spec, e.problem, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e = e.with(t, "seed=5", "training.learning_rate.initial=1e-12", "training.learning_rate.final=1e-12", "training.average=0")
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := e.run(context.Background(), dir, Options{From: first, stopAt: 1}); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	if err := os.RemoveAll(first); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{stepName(1) + metaExt, stepName(1) + tensorsExt} {
		if err := os.Remove(filepath.Join(checkpointDir(dir), name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.run(context.Background(), dir, Options{Resume: true}); err != nil {
		t.Fatal(err)
	}
	got, _, err := LoadParams[float32](dir, e.spec, e.problem, LoadOptions{Last: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if d := got[i] - want[i]; d > 1e-6 || d < -1e-6 {
			t.Fatalf("parameter %d is %g, want %g", i, got[i], want[i])
		}
	}
	wide := e.with(t, "network.width=7")
	other := filepath.Join(t.TempDir(), "wide")
	if _, err := wide.run(context.Background(), other, Options{From: dir}); err == nil || !strings.Contains(err.Error(), "its network is not this spec's") {
		t.Errorf("another network: %v", err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("its folder was left behind")
	}
}

// A dataset of another size than the spec says is an error.
func TestTrainCount(t *testing.T) {
	e := newExperiment(t)
	e = e.with(t, "data.train.count=8")
	_, err := e.run(context.Background(), filepath.Join(t.TempDir(), "run"), Options{})
	if err == nil || !strings.Contains(err.Error(), "the dataset has 7 training samples, the spec's data.train.count is 8; set it to 7") {
		t.Error(err)
	}
}
