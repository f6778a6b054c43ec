package train

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// removed removes the files of a folder that begin so.
func removed(t *testing.T, dir, prefix string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A run that has trained and whose step checkpoints are gone is not begun again over what is left of it.
func TestResumeWithoutSteps(t *testing.T) {
	e := newExperiment(t)
	whole, _ := e.train(t, Options{})
	for _, c := range []struct {
		name   string
		damage func(dir string)
		hint   string // "" where it is resumed
	}{
		{"steps gone", func(dir string) { removed(t, checkpointDir(dir), stepPrefix) }, "--from"},
		{"steps and log gone", func(dir string) {
			removed(t, checkpointDir(dir), stepPrefix)
			removed(t, dir, logFile)
		}, "--from"},
		{"steps gone, log empty", func(dir string) {
			removed(t, checkpointDir(dir), stepPrefix)
			put(t, "", dir, logFile)
		}, "--from"},
		{"the JSON of steps gone", func(dir string) {
			for _, step := range []int{5, 10, 12} {
				removed(t, checkpointDir(dir), stepName(step)+metaExt)
			}
		}, "--from"},
		{"steps and best gone", func(dir string) {
			removed(t, checkpointDir(dir), "")
		}, "another folder"},
		{"no folder of checkpoints", func(dir string) {
			if err := os.RemoveAll(checkpointDir(dir)); err != nil {
				t.Fatal(err)
			}
		}, "another folder"},
		{"the JSON of best gone too", func(dir string) {
			removed(t, checkpointDir(dir), stepPrefix)
			removed(t, checkpointDir(dir), bestName+metaExt)
			removed(t, dir, logFile)
		}, "another folder"},
		{"nothing trained", func(dir string) {
			removed(t, checkpointDir(dir), "")
			put(t, "", dir, logFile)
		}, ""},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		c.damage(dir)
		before := files(t, dir)
		resume := func() error { _, err := e.run(context.Background(), dir, Options{Resume: true}); return err }
		for _, do := range []func() error{resume, func() error { return Folder(dir).Extend(20) }} {
			err := do()
			if c.hint == "" {
				if err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
				break
			}
			oneLine(t, c.name, err, dir, "checkpoints of steps are gone", "step 0")
			var h *hinted
			if !errors.As(err, &h) || !strings.Contains(h.Hint(), c.hint) {
				t.Errorf("%s: hint of %v, want one with %s", c.name, err, c.hint)
			}
			if !maps.Equal(files(t, dir), before) {
				t.Errorf("%s: the folder was changed", c.name)
			}
		}
	}
}

// Where an older checkpoint is left training goes back to it, says so, and meanwhile keeps the best one.
func TestResumeFromOlder(t *testing.T) {
	for _, best := range []string{"training.best=residual", "training.best=last"} {
		e := newExperiment(t, best)
		dir, _ := e.train(t, Options{})
		want, at := files(t, dir), checkpointDir(dir)
		removed(t, at, stepName(12))
		var said strings.Builder
		s, err := e.run(context.Background(), dir, Options{Resume: true, stopAt: 11, Logger: slog.New(slog.NewTextHandler(&said, nil))})
		if !errors.Is(err, ErrInterrupted) || s.Steps != 11 {
			t.Fatalf("%+v, %v", s, err)
		}
		if !strings.Contains(said.String(), "these steps are done again") || !strings.Contains(said.String(), "checkpoint=10 log=12") {
			t.Errorf("said %q", said.String())
		}
		if files(t, dir)["checkpoints/best.json"] != want["checkpoints/best.json"] {
			t.Errorf("%s: the best checkpoint was replaced by an earlier one", best)
		}
		if _, err := e.run(context.Background(), dir, Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		got := files(t, dir)
		for _, name := range []string{"checkpoints/best.json", "checkpoints/" + stepName(12) + metaExt, "checkpoints/" + stepName(12) + tensorsExt} {
			if got[name] != want[name] {
				t.Errorf("%s: %s differs", best, name)
			}
		}
		if withoutSeconds(t, got[logFile]) != withoutSeconds(t, want[logFile]) {
			t.Errorf("%s: the log differs", best)
		}
	}
}

// A run folder from elsewhere may hold links to anything: nothing is written or removed through them, and what leads out of it
// is not read. The folder itself may be a link.
func TestLinksInRun(t *testing.T) {
	e := newExperiment(t, "training.steps=6")
	whole, _ := e.train(t, Options{})
	do := map[string]func(dir string) error{
		"resume": func(dir string) error { _, err := e.run(context.Background(), dir, Options{Resume: true}); return err },
		"extend": func(dir string) error { return Folder(dir).Extend(9) },
		"from": func(dir string) error {
			_, err := e.run(context.Background(), filepath.Join(t.TempDir(), "next"), Options{From: dir, stopAt: 1})
			return err
		},
		"read": func(dir string) error {
			_, _, err := LoadParams[float32](dir, e.spec, e.problem, LoadOptions{})
			return err
		},
	}
	names := slices.Collect(maps.Keys(files(t, whole)))
	for _, name := range append(names, "lock.json", "metrics.json", checkpointFolder) {
		for what, do := range do {
			for _, leads := range []string{"out", "in"} {
				root := t.TempDir()
				dir, victim := filepath.Join(root, "run"), filepath.Join(root, "victim")
				if leads == "in" {
					victim = filepath.Join(root, "run", "victim")
				}
				if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
					t.Fatal(err)
				}
				own := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.Rename(own, victim); errors.Is(err, fs.ErrNotExist) {
					put(t, "precious", victim)
				} else if err != nil {
					t.Fatal(err)
				}
				target, err := filepath.Rel(filepath.Dir(own), victim)
				if err == nil {
					err = os.Symlink(target, own)
				}
				if err != nil {
					t.Fatal(err)
				}
				content := func() any {
					if name == checkpointFolder {
						return files(t, victim)
					}
					text, err := os.ReadFile(victim)
					return fmt.Sprint(string(text), err)
				}
				before, err := content(), do(dir)
				writes := (what == "resume" || what == "extend") && (name == "lock.json" || name == checkpointFolder) || what == "resume" && name == logFile
				if leads == "out" && name != "lock.json" || writes {
					oneLine(t, what+" "+name+" "+leads, err, own, "symbolic link")
				}
				if !reflect.DeepEqual(content(), before) {
					t.Errorf("%s with %s (%s), %v: what the link leads to was changed", what, name, leads, err)
				}
			}
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(whole, link); err != nil {
		t.Fatal(err)
	}
	if _, err := e.run(context.Background(), link, Options{Resume: true}); err != nil {
		t.Errorf("a link to the whole folder: %v", err)
	}
}

// A copy of a run by hard links, as backups make it, keeps its files when the run goes on.
func TestHardLinkedCopy(t *testing.T) {
	e := newExperiment(t)
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := e.run(context.Background(), dir, Options{stopAt: 7}); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	put(t, "", dir, "lock.json")
	copied := filepath.Join(t.TempDir(), "copy")
	want := files(t, dir)
	for name := range want {
		to := filepath.Join(copied, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o777), os.Link(filepath.Join(dir, filepath.FromSlash(name)), to)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.run(context.Background(), dir, Options{Resume: true}); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(files(t, copied), want) {
		t.Error("the copy was changed")
	}
}
