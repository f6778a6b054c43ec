package train

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"pihc/model"
)

// A run that was interrupted, in whatever way, continues to the same bits as
// one that was not: parameters, both moments, average, best checkpoint, log.
func TestResumeBitwise(t *testing.T) {
	for _, method := range []string{model.Soft, model.MoE} {
		t.Run(method, func(t *testing.T) {
			e := newExperiment(t, "method="+method)
			want, _ := e.train(t, Options{})

			t.Run("stopped between checkpoints", func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "run")
				for _, stop := range []int{2, 7} {
					s, err := e.run(context.Background(), dir, Options{stopAt: stop, Resume: stop > 2})
					if !errors.Is(err, ErrInterrupted) || s.Steps != stop {
						t.Fatalf("%+v, %v", s, err)
					}
				}
				resume(t, e, dir, want)
			})
			t.Run("context cancelled", func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "run")
				ctx, cancel := context.WithCancel(context.Background())
				s, err := e.run(ctx, dir, Options{Progress: func(r Record) {
					if r.Step == 6 {
						cancel()
					}
				}})
				if !errors.Is(err, ErrInterrupted) || s.Steps != 6 {
					t.Fatalf("%+v, %v", s, err)
				}
				resume(t, e, dir, want)
			})
			t.Run("killed after a checkpoint", func(t *testing.T) {
				// The log is ahead of the newest checkpoint, its last line torn.
				dir := filepath.Join(t.TempDir(), "run")
				if _, err := e.run(context.Background(), dir, Options{stopAt: 9}); !errors.Is(err, ErrInterrupted) {
					t.Fatal(err)
				}
				for _, ext := range []string{".json", ".safetensors"} {
					if err := os.Remove(filepath.Join(checkpointDir(dir), stepName(9)+ext)); err != nil {
						t.Fatal(err)
					}
				}
				log, err := os.OpenFile(filepath.Join(dir, "log.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := log.WriteString(`{"step":10,"lo`); err != nil {
					t.Fatal(err)
				}
				log.Close()
				resume(t, e, dir, want)
			})
			t.Run("killed before the first checkpoint", func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "run")
				if _, err := e.run(context.Background(), dir, Options{stopAt: 3}); !errors.Is(err, ErrInterrupted) {
					t.Fatal(err)
				}
				if err := os.RemoveAll(checkpointDir(dir)); err != nil {
					t.Fatal(err)
				}
				put(t, "", checkpointDir(dir), beginsFile)
				resume(t, e, dir, want)
			})
			t.Run("finished", func(t *testing.T) {
				dir, _ := e.train(t, Options{})
				resume(t, e, dir, want)
			})
		})
	}
}

func resume(t *testing.T, e experiment, dir, want string) {
	t.Helper()
	s, err := e.run(context.Background(), dir, Options{Resume: true})
	if err != nil || s.Steps != e.spec.Training.Steps {
		t.Fatalf("resumed: %+v, %v", s, err)
	}
	sameRun(t, "resumed", dir, want)
}

// One, two and four workers train to the same bits.
func TestWorkers(t *testing.T) {
	for _, method := range model.Methods {
		e := newExperiment(t, "method="+method, "training.steps=4")
		want, _ := e.train(t, Options{Workers: 1})
		for _, workers := range []int{2, 4} {
			got, _ := e.train(t, Options{Workers: workers})
			sameRun(t, method, got, want)
		}
	}
}

// How often a run logs, validates or writes checkpoints changes nothing in its
// training. In the published code validation draws from the generator of
// training (authors' notes, Q17).
func TestValidationDoesNotDisturb(t *testing.T) {
	e := newExperiment(t, "training.steps=6", "training.validate=1", "training.log=1", "training.checkpoint=1")
	a, _ := e.train(t, Options{})
	b, _ := e.with(t, "training.validate=6", "training.log=6", "training.checkpoint=6").train(t, Options{})
	name := filepath.Join("checkpoints", stepName(6)+".safetensors")
	if x, y := files(t, a)[name], files(t, b)[name]; x == "" || x != y {
		t.Error("validating every step changes what is trained")
	}
}

// Resuming needs the same spec, PDE file and dataset, with and without a
// checkpoint to compare with; nothing in the folder changes.
// The clock of a run goes on where the log ends, so that its last line has the whole time.
func TestResumeClock(t *testing.T) {
	e := newExperiment(t)
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := e.run(context.Background(), dir, Options{stopAt: 3}); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	path := filepath.Join(dir, logFile)
	text := regexp.MustCompile(`"seconds":[0-9.e-]+,"chain":"[0-9a-f]{16}"`).ReplaceAllString(files(t, dir)[logFile], `"seconds":1000`)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := e.run(context.Background(), dir, Options{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	last := 0.0
	for _, r := range records(t, dir) {
		if r.Seconds < last || r.Step > 3 && r.Seconds < 1000 {
			t.Fatalf("step %d after %g seconds, the one before after %g", r.Step, r.Seconds, last)
		}
		last = r.Seconds
	}
	if last < 1000 || last > 1900 || s.Seconds < last-1 {
		t.Errorf("%g seconds in all, %g by the summary; want 1000 and what this took", last, s.Seconds)
	}
}

func TestResumeRefuses(t *testing.T) {
	e := newExperiment(t)
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := e.run(context.Background(), dir, Options{stopAt: 3}); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	before := files(t, dir)
	refuse := func(what string, o experiment, want ...string) {
		t.Helper()
		_, err := o.run(context.Background(), dir, Options{Resume: true})
		oneLine(t, what, err, want...)
	}
	refuse("another spec", e.with(t, "training.clip=0.8"), dir, "another spec")
	refuse("another method", e.with(t, "method=hard"), dir, "another spec")
	other := newExperiment(t, "data.train.seed=9")
	refuse("another dataset", experiment{e.spec, e.problem, other.set}, dir, "another dataset")
	changed := renamed(t, "", "D: 5e-4", "D: 6e-4")
	refuse("another PDE file", experiment{e.spec, changed, generate(t, e.spec, changed)}, dir, "another PDE file")
	refuse("a dataset of another PDE file", experiment{e.spec, changed, e.set}, "another PDE file", "generate it again")
	refuse("a dataset of another grid", e.with(t, "grid.x=32"), "the dataset's grid is", "the spec's is")

	if err := os.RemoveAll(checkpointDir(dir)); err != nil {
		t.Fatal(err)
	}
	refuse("another spec, no checkpoint", e.with(t, "training.clip=0.8"), dir, "another spec")
	refuse("another PDE file, no checkpoint", experiment{e.spec, changed, generate(t, e.spec, changed)}, dir, "another PDE file")
	for name, content := range files(t, dir) {
		if before[name] != content {
			t.Errorf("%s changed", name)
		}
	}
	dir = filepath.Join(t.TempDir(), "nowhere")
	refuse("no run folder", e, dir, "not a run folder")
	if _, err := os.Stat(dir); err == nil {
		t.Error("resuming nothing makes a folder")
	}
}

// A run folder that exists is never written into.
func TestRunFolderExists(t *testing.T) {
	e := newExperiment(t, "training.steps=2")
	dir, _ := e.train(t, Options{})
	before := files(t, dir)
	_, err := e.run(context.Background(), dir, Options{})
	oneLine(t, "existing run", err, dir, "exists already")
	after := files(t, dir)
	if len(after) != len(before) {
		t.Errorf("%d files, before %d", len(after), len(before))
	}
	for name, content := range before {
		if after[name] != content {
			t.Errorf("%s was overwritten", name)
		}
	}
	// A folder with anything else in it is not a place for a run either; an empty
	// one is.
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "notes.txt"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = e.run(context.Background(), foreign, Options{})
	oneLine(t, "foreign folder", err, "exists already")
	if len(files(t, foreign)) != 1 {
		t.Error("files were written into a foreign folder")
	}
	_, err = e.run(context.Background(), filepath.Join(foreign, "notes.txt"), Options{})
	oneLine(t, "a file in the way", err, "notes.txt")
	if _, err := e.run(context.Background(), t.TempDir(), Options{Info: []byte("{}")}); err != nil {
		t.Errorf("an empty folder is refused: %v", err)
	}
}
