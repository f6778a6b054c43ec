package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/dist"
	"pihc/engine"
	"pihc/internal/dataset"
	"pihc/internal/disk"
	"pihc/model"
)

// trainer builds a trainer without running it.
func (e experiment) trainer(t *testing.T) *trainer[float64] {
	t.Helper()
	tr, err := newTrainer[float64](filepath.Join(t.TempDir(), "run"), e.spec, e.problem, e.set, Options{Workers: 1, Logger: slog.New(slog.DiscardHandler), Comm: dist.Alone{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.close)
	if err := tr.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.log.Close() })
	if err := tr.enter(); err != nil {
		t.Fatal(err)
	}
	return tr
}

// lockedStep is one step as the loop runs it.
func (t *trainer[T]) lockedStep() error {
	t.update.Lock()
	defer t.update.Unlock()
	return t.oneStep()
}

// A learning rate far too large makes training go back, and as it stays too large
// ends it with a clear error after the set number of bad steps in a row, each of them
// logged and leaving no trace in the parameters.
func TestNotFinite(t *testing.T) {
	for _, method := range model.Methods {
		e := newExperiment(t, "method="+method, "training.max_bad_steps=3", "training.average=0", "training.log=100",
			"training.learning_rate.initial=1e30", "training.learning_rate.final=1e30", "training.clip=0")
		dir := filepath.Join(t.TempDir(), "run")
		s, err := e.run(context.Background(), dir, Options{})
		if !errors.Is(err, ErrNotFinite) {
			t.Errorf("%s: %+v, %v, want ErrNotFinite", method, s, err)
			continue
		}
		oneLine(t, method, err, "3 steps in a row", "learning rate", "step ", "went back at step")
		if s.Skipped < 6 || s.Steps >= 12 || s.RecoveredAt < 3 {
			t.Errorf("%s: %+v", method, s)
		}
		skipped := 0
		for _, r := range records(t, dir) {
			if r.Skipped {
				skipped++
			}
		}
		if skipped != s.Skipped {
			t.Errorf("%s: %d skipped steps in the log, %d counted", method, skipped, s.Skipped)
		}
		// What is left can be read, and holds the finite parameters of the last good step.
		params, _, err := LoadParams[float32](dir, e.spec, e.problem, LoadOptions{Last: true})
		if err != nil {
			t.Errorf("%s: %v", method, err)
		}
		for _, p := range params {
			if math.IsNaN(float64(p)) {
				t.Errorf("%s: a bad step reached the parameters", method)
				break
			}
		}
	}
}

// One bad step is skipped and forgotten: neither parameters nor moments nor the
// number of updates change, and the row of bad steps ends with a good one.
func TestBadStepIsSkipped(t *testing.T) {
	tr := newExperiment(t, "network.precision=float64").trainer(t)
	s := tr.state
	step := func() {
		t.Helper()
		if err := tr.lockedStep(); err != nil {
			t.Fatal(err)
		}
	}
	step()
	good := s.Params[3]
	s.Params[3] = math.NaN()
	first, second, average := slices.Clone(s.First), slices.Clone(s.Second), slices.Clone(s.Average)
	step()
	if s.BadInRow != 1 || s.BadTotal != 1 || s.Updates != 1 || s.step != 2 {
		t.Errorf("after a bad step: %d in a row, %d in all, %d updates, step %d", s.BadInRow, s.BadTotal, s.Updates, s.step)
	}
	if !slices.Equal(first, s.First) || !slices.Equal(second, s.Second) || !slices.Equal(average, s.Average) {
		t.Error("a bad step changed the moments or the average")
	}
	s.Params[3] = good
	step()
	if s.BadInRow != 0 || s.BadTotal != 1 || s.Updates != 2 || s.step != 3 {
		t.Errorf("after a good step: %d in a row, %d in all, %d updates, step %d", s.BadInRow, s.BadTotal, s.Updates, s.step)
	}
}

// The best checkpoint has the lowest validation residual. The error against
// solutions is shown and never used: here the "solutions" are replaced by the
// predictions of the first validation, so that the error is lowest there.
func TestBestByResidual(t *testing.T) {
	e := newExperiment(t, "network.precision=float64", "method=soft", "training.average=0", "training.steps=40", "training.validate=5", "training.log=100", "constraint.points=0")
	tr := e.trainer(t)
	for tr.state.step < 5 {
		if err := tr.lockedStep(); err != nil {
			t.Fatal(err)
		}
	}
	err := tr.engine.Predict(tr.state.Params, tr.valid.batch, func(i int, p *engine.Prediction) error {
		tr.valid.truth[i] = slices.Clone(p.Field)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	tr.state.step, tr.state.Due, tr.spec.Training.Steps = 0, false, 40
	if err := tr.loop(context.Background()); err != nil {
		t.Fatal(err)
	}
	bestResidual, bestError, residual, relative := 0, 0, math.Inf(1), math.Inf(1)
	for _, r := range records(t, tr.dir) {
		if r.ValidationResidual == nil {
			continue
		}
		if v := float64(*r.ValidationResidual); v < residual {
			residual, bestResidual = v, r.Step
		}
		if v := float64(*r.ValidationError); v < relative {
			relative, bestError = v, r.Step
		}
	}
	if bestError == bestResidual {
		t.Fatalf("residual and error are both lowest at step %d: nothing is tested", bestError)
	}
	if tr.state.BestStep != bestResidual || float64(tr.state.BestResidual) != residual {
		t.Errorf("best step %d with %g; the residual is lowest at step %d with %g, the error at step %d",
			tr.state.BestStep, tr.state.BestResidual, bestResidual, residual, bestError)
	}
	// Parameters that are a little worse do not replace it.
	for i := range tr.state.Params {
		tr.state.Params[i] *= 1.02
	}
	tr.state.step++
	tr.update.Lock()
	if err := tr.validation(); err != nil {
		t.Fatal(err)
	}
	tr.update.Unlock()
	all := records(t, tr.dir)
	if worse := float64(*all[len(all)-1].ValidationResidual); !(worse > residual && worse < 2*residual) {
		t.Fatalf("residual %g of the worse parameters, %g of the best: nothing is tested", worse, residual)
	}
	_, m, err := readCheckpoint[float64](tr.dir, "best", tr.info.Layout, false)
	if err != nil || m.Step != bestResidual {
		t.Errorf("the best checkpoint is of step %d, %v", m.Step, err)
	}
}

// A checkpoint that is truncated or altered anywhere is an error that names the
// file, for resuming and for loading; nothing panics and nothing is written.
func TestDamagedCheckpoint(t *testing.T) {
	e := newExperiment(t)
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := e.run(context.Background(), dir, Options{stopAt: 6}); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	name := stepName(6)
	jsonFile, tensors := filepath.Join(checkpointDir(dir), name+".json"), filepath.Join(checkpointDir(dir), name+".safetensors")
	before := files(t, dir)
	alter := func(change func(m map[string]any)) func([]byte) []byte {
		return func(text []byte) []byte {
			var m map[string]any
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			if err := d.Decode(&m); err != nil {
				t.Fatal(err)
			}
			change(m)
			out, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
	}
	set := func(key string, value any) func([]byte) []byte {
		return alter(func(m map[string]any) {
			if _, ok := m[key]; !ok {
				t.Fatalf("the JSON has no %q", key)
			}
			m[key] = value
		})
	}
	for _, test := range []struct {
		name, file string
		change     func([]byte) []byte
		want       string
	}{
		{"truncated tensors", tensors, func(b []byte) []byte { return b[:len(b)/2] }, name},
		{"no tensors", tensors, func([]byte) []byte { return nil }, name},
		{"a flipped bit", tensors, func(b []byte) []byte { b = slices.Clone(b); b[len(b)-9] ^= 1; return b }, name},
		{"a byte too many", tensors, func(b []byte) []byte { return append(slices.Clone(b), 0) }, name},
		{"truncated JSON", jsonFile, func(b []byte) []byte { return b[:len(b)/2] }, name},
		{"empty JSON", jsonFile, func([]byte) []byte { return nil }, name},
		{"not JSON", jsonFile, func([]byte) []byte { return []byte("\x00\xff") }, name},
		{"another step", jsonFile, set("step", -5), "altered"},
		{"another best step", jsonFile, set("best_step", 1), "altered"},
		{"other borders", jsonFile, set("borders", [][]float64{}), "altered"},
		{"other tensors", jsonFile, set("tensors", "../../spec.yaml"), "altered"},
		{"another version", jsonFile, set("version", 99), "version 99; this pihc reads version 1"},
		{"an unknown key", jsonFile, alter(func(m map[string]any) { m["more"] = 1 }), "more"},
		{"no checksum", jsonFile, alter(func(m map[string]any) { delete(m, "checksum") }), "altered"},
	} {
		original := []byte(before["checkpoints/"+filepath.Base(test.file)])
		if err := os.WriteFile(test.file, test.change(original), 0o666); err != nil {
			t.Fatal(err)
		}
		damaged := files(t, dir)
		_, err := e.run(context.Background(), dir, Options{Resume: true})
		oneLine(t, test.name+", resumed", err, test.want)
		_, _, err = LoadParams[float32](dir, e.spec, e.problem, LoadOptions{Last: true})
		oneLine(t, test.name+", loaded", err, test.want)
		for file, content := range files(t, dir) {
			if damaged[file] != content {
				t.Errorf("%s: %s was changed", test.name, file)
			}
		}
		if err := os.WriteFile(test.file, original, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(tensors); err != nil {
		t.Fatal(err)
	}
	_, err := e.run(context.Background(), dir, Options{Resume: true})
	oneLine(t, "missing tensors", err, name+".safetensors")
	if err := os.WriteFile(tensors, []byte(before["checkpoints/"+name+".safetensors"]), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := e.run(context.Background(), dir, Options{Resume: true}); err != nil {
		t.Errorf("the whole checkpoint is refused: %v", err)
	}
	var corrupt *disk.CorruptError
	if err := os.WriteFile(tensors, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	// A checkpoint of another precision does not fit either.
	if _, _, err := LoadParams[float64](dir, e.spec, e.problem, LoadOptions{}); err == nil || errors.As(err, &corrupt) || !strings.Contains(err.Error(), "the spec wants") {
		t.Errorf("float32 read as float64: %v", err)
	}
}

func TestReadRun(t *testing.T) {
	e := newExperiment(t, "training.steps=1")
	dir, _ := e.train(t, Options{})
	spec, p, err := Folder(dir).Read()
	if err != nil || dataset.ProblemHash(p) != dataset.ProblemHash(e.problem) {
		t.Fatalf("%v", err)
	}
	a, _ := spec.Encode()
	b, _ := e.spec.Encode()
	if !bytes.Equal(a, b) {
		t.Error("the spec of the run folder is not the one of the run")
	}
	_, _, err = Folder(t.TempDir()).Read()
	oneLine(t, "not a run", err, "not a run folder")
	fresh := t.TempDir() // as pihc init makes one
	for _, name := range []string{"spec.yaml", "problem.yaml"} {
		src, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(fresh, name), src, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = Folder(fresh).Read()
	oneLine(t, "a spec alone", err, "its spec.yaml was not trained")
	path := filepath.Join(dir, "spec.yaml")
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(src, []byte("defaults: paper"), []byte("version: 7"), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err = Folder(dir).Read(); err == nil || !strings.Contains(err.Error(), "version 7: this pihc reads versions 1 to 2") {
		t.Errorf("another version: %v", err)
	}
}
