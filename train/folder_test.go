package train

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/internal/disk"
)

func put(t testing.TB, content string, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(content), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// A folder is a run once spec.yaml, its last file, is there. What a process left
// that was killed before is cleared, whatever it is; what is somebody's own stays.
func TestFolderStoppedWhileMade(t *testing.T) {
	e := newExperiment(t, "training.steps=1", "training.validate=1")
	info := []byte("{}")
	want, _ := e.train(t, Options{Info: info})
	left := [][]string{
		{},
		{".problem.yaml-01234567.partial"},
		{problemFile},
		{problemFile, ".run.json-01234567.partial"},
		{problemFile, infoFile, ".spec.yaml-01234567.partial"},
		{problemFile, checkpointFolder + "/" + stepName(0) + tensorsExt},
		{problemFile, infoFile, checkpointFolder + "/" + stepName(0) + tensorsExt, checkpointFolder + "/" + stepName(0) + metaExt},
	}
	for _, names := range left {
		dir := t.TempDir()
		put(t, "", disk.LockPath(dir))
		for _, name := range names {
			put(t, "torn", dir, name)
		}
		if _, err := e.run(context.Background(), dir, Options{Resume: true}); err == nil || !strings.Contains(err.Error(), "not a run folder") {
			t.Errorf("%v: resumed: %v", names, err)
		}
		if _, err := e.run(context.Background(), dir, Options{Info: info}); err != nil {
			t.Errorf("%v: trained: %v", names, err)
			continue
		}
		sameRun(t, strings.Join(names, " "), dir, want)

		dir = t.TempDir()
		put(t, "", disk.LockPath(dir))
		for _, name := range names {
			put(t, "torn", dir, name)
		}
		cleared, err := Folder(dir).ClearUnmade()
		if _, gone := os.Stat(dir); !cleared || err != nil || !errors.Is(gone, fs.ErrNotExist) {
			t.Errorf("%v: cleared %v, %v, %v", names, cleared, err, gone)
		}
	}
	for name, own := range map[string][]string{
		"no lock":        {problemFile},
		"no lock, info":  {infoFile, problemFile},
		"another's file": {problemFile, "notes.txt", filepath.Base(disk.LockPath(""))},
		"a dataset":      {"manifest.json", filepath.Base(disk.LockPath(""))},
		"a run, no spec": {problemFile, filepath.Base(disk.LockPath("")), checkpointFolder + "/" + stepName(4) + metaExt},
	} {
		dir := t.TempDir()
		for _, file := range own {
			put(t, "", dir, file)
		}
		before := files(t, dir)
		_, err := e.run(context.Background(), dir, Options{Info: info})
		oneLine(t, name, err, "exists already")
		if cleared, err := Folder(dir).ClearUnmade(); cleared || err != nil {
			t.Errorf("%s: cleared %v, %v", name, cleared, err)
		}
		if !maps.Equal(before, files(t, dir)) {
			t.Errorf("%s: the folder was changed", name)
		}
	}
}

// A run folder that cannot be made leaves nothing behind.
func TestFolderNotMade(t *testing.T) {
	e := newExperiment(t, "training.steps=1")
	dir := filepath.Join(t.TempDir(), "run")
	_, err := e.run(context.Background(), dir, Options{Info: []byte("{}"), From: filepath.Join(t.TempDir(), "none")})
	oneLine(t, "from nowhere", err, "is not a run folder")
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left %v", slices.Collect(maps.Keys(files(t, dir))))
	}
}

// One process at a time: while one trains, a second is refused, and changes
// nothing.
func TestRunIsLocked(t *testing.T) {
	e := newExperiment(t)
	dir := filepath.Join(t.TempDir(), "run")
	asked := false
	_, err := e.run(context.Background(), dir, Options{Progress: func(r Record) {
		if r.Step != 6 || asked {
			return
		}
		asked = true
		before := files(t, dir)
		for _, resume := range []bool{false, true} {
			_, err := e.run(context.Background(), dir, Options{Resume: resume})
			if resume {
				var locked *disk.LockedError
				if !errors.As(err, &locked) || locked.Holder.Process != os.Getpid() {
					t.Errorf("a second process: %v", err)
				}
			} else {
				oneLine(t, "a second process", err, "exists already")
			}
		}
		if !maps.Equal(before, files(t, dir)) {
			t.Error("the second process changed the folder")
		}
	}})
	if err != nil || !asked {
		t.Fatalf("asked %v, %v", asked, err)
	}
	if _, err := os.Stat(disk.LockPath(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock file stays: %v", err)
	}
}

// What a killed process leaves is removed when the run goes on: unfinished files,
// tensors without their JSON, parameters that are best no longer. The rest stays.
func TestLeftovers(t *testing.T) {
	e := newExperiment(t)
	dir, _ := e.train(t, Options{})
	want := files(t, dir)
	points := checkpointDir(dir)
	put(t, "", disk.LockPath(dir))
	put(t, "x", dir, ".spec.yaml-0a1b2c3d.partial")
	put(t, "x", points, ".best.safetensors-0a1b2c3d.partial")
	put(t, "x", points, stepName(11)+tensorsExt)
	put(t, want["checkpoints/"+stepName(12)+metaExt], points, stepName(5)+metaExt)
	put(t, "x", points, "best-0123456789abcdef.safetensors")
	put(t, "x", points, "best.safetensors")
	put(t, "mine", dir, ".notes.partial.txt")
	put(t, "mine", points, "mine.safetensors")
	if _, err := e.run(context.Background(), dir, Options{Resume: true}); err != nil {
		t.Fatal(err)
	}
	want[".notes.partial.txt"], want["checkpoints/mine.safetensors"] = "mine", "mine"
	if got := files(t, dir); !maps.Equal(got, want) {
		t.Errorf("the folder holds %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// The best checkpoint is whole at every moment: killed between its two renames the
// one before is there, and who reads while it is replaced gets one of them.
func TestBestIsReplacedWhole(t *testing.T) {
	e := newExperiment(t, "network.precision=float64", "training.average=0")
	tr := e.trainer(t)
	tr.update.Lock()
	if err := tr.validation(); err != nil {
		t.Fatal(err)
	}
	tr.update.Unlock()
	load := func() float64 {
		t.Helper()
		params, m, err := LoadParams[float64](tr.dir, e.spec, e.problem, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if params[0] != float64(m.Step) {
			t.Fatalf("parameters of step %g under the JSON of step %d", params[0], m.Step)
		}
		return params[0]
	}
	write := func(step int) error {
		tr.state.step, tr.state.Params[0] = step, float64(step)
		return writeBest(tr.dir, tr.info.Layout, tr.state, tr.meta)
	}
	if err := write(1); err != nil {
		t.Fatal(err)
	}
	// The tensors of a second one, without its JSON.
	before := files(t, tr.dir)["checkpoints/best.json"]
	if err := write(2); err != nil {
		t.Fatal(err)
	}
	after := files(t, tr.dir)
	if err := write(1); err != nil {
		t.Fatal(err)
	}
	for name, content := range after {
		if strings.HasPrefix(name, "checkpoints/best-") {
			put(t, content, tr.dir, filepath.FromSlash(name))
		}
	}
	if load() != 1 || files(t, tr.dir)["checkpoints/best.json"] != before {
		t.Error("unfinished parameters are read")
	}
	done := make(chan error)
	go func() {
		var err error
		for step := 3; step < 200 && err == nil; step++ {
			err = write(step)
		}
		done <- err
	}()
	for reading := true; reading; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			reading = false
		default:
			load()
		}
	}
	if load() != 199 {
		t.Error("not the last one")
	}
}
