package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func put(t *testing.T, content string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(content), 0o666)); err != nil {
		t.Fatal(err)
	}
	return file
}

// What may be written is new, ours by its content, or forced; never what is no file, and in no run or dataset folder but by a
// name that belongs there, however the path is written.
func TestOutput(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	for _, name := range []string{"spec.yaml", "problem.yaml", "log.jsonl", "checkpoints/best.json", "metrics.json", "deep/a/b.txt"} {
		put(t, "", root, "run", name)
	}
	put(t, "", root, "begun", "spec.yaml")
	put(t, "", root, "begun", "problem.yaml")
	put(t, "", root, "begun", "checkpoints", "of-another-program")
	put(t, `{"format": "pihc dataset"}`, root, "data", "manifest.json")
	put(t, `{"format": "pihc dataset"}`, root, "part", "manifest.partial.json")
	put(t, `{"format": "npm"}`, root, "web", "manifest.json")
	put(t, "mine", root, "mine.txt")
	put(t, "ours", root, "ours.txt")
	put(t, "", root, "other", "deep", "x")
	for link, to := range map[string]string{"link": "run", "inner": "run/deep/a", "out.txt": "ours.txt", "gone.txt": "nowhere", "away": "other/deep", "self": "self"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("folder", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path         string
		want, forced string // what errors say, "" for none
	}{
		{"new.txt", "", ""},
		{"begun/new.txt", "", ""},
		{"web/new.txt", "", ""},
		{"run.txt", "", ""},
		{root + "/new.txt", "", ""},
		{"run/../new.txt", "", ""},
		{"ours.txt", "", ""},
		{"mine.txt", "exists already, and is no thing", ""},
		{"none/new.txt", "its folder does not exist", "its folder does not exist"},
		{"mine.txt/new.txt", "not a directory", "not a directory"},
		{"folder", "is a folder", "is a folder"},
		{"new/", "not the name", "not the name"},
		{"", "not the name", "not the name"},
		{"out.txt", "symbolic link", "symbolic link"},
		{"gone.txt", "symbolic link", "symbolic link"},
		{"/dev/null", "is a device", "is a device"},
		{"run/metrics.json", "exists already", ""},
		{"run/./x/../metrics.json", "its folder does not exist", "its folder does not exist"},
		{"link/metrics.json", "exists already", ""},
		{"run/spec.yaml", "in the run folder", "in the run folder"},
		{"run/new.txt", "in the run folder", "in the run folder"},
		{"link/new.txt", "in the run folder", "in the run folder"},
		{"inner/metrics.json", "in the run folder", "in the run folder"},
		{"inner/../../new.txt", "in the run folder", "in the run folder"},
		{"away/../new.txt", "", ""},
		{"folder/../run/checkpoints/metrics.json", "in the run folder", "in the run folder"},
		{"data/new.txt", "in the dataset", "in the dataset"},
		{"data/metrics.json", "in the dataset", "in the dataset"},
		{"part/new.txt", "in the dataset", "in the dataset"},
	} {
		for _, force := range []bool{false, true} {
			want := c.want
			if force {
				want = c.forced
			}
			o := Output{
				Path: c.path, Kind: "thing", Force: force,
				Ours:    func(path string) bool { text, _ := os.ReadFile(path); return string(text) == "ours" },
				Belongs: func(_, name string) bool { return name == "metrics.json" },
			}
			err := o.Check()
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q, force %v: %v, want %q", c.path, force, err, want)
			}
		}
	}
	if err := (Output{Path: "ours.txt", Force: true, Reads: []string{"out.txt"}}).Check(); err == nil || !strings.Contains(err.Error(), "is read") {
		t.Errorf("the file that is read: %v", err)
	}
	if err := (Output{Path: "none/more/new.txt", Makes: true}).Check(); err != nil {
		t.Errorf("folders that are made: %v", err)
	}
	if err := (Output{Path: "run/more/new.txt", Makes: true}).Check(); err == nil {
		t.Error("a folder in a run")
	}
	if err := Outside("data/run", nil); err == nil {
		t.Error("a folder in a dataset")
	}
	if err := Outside("link", nil); err != nil {
		t.Error(err)
	}
}
