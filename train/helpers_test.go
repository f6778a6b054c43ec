package train

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/data"
	"pihc/internal/disk"
	"pihc/model"
	"pihc/pde"
)

const toySpec = `
defaults: paper
problem: diffusion-sorption
grid: {t: 9, x: 24}
network: {width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4, initial_scale: 0.2}
constraint: {experts: {x: 3}, points: 30}
training: {steps: 12, batch: 2, validate: 4, validate_count: 3, checkpoint: 5, log: 1, average: 0.9, learning_rate: {initial: 5e-3, final: 1e-3}}
data: {train: {count: 7, seed: 1}, validation: {count: 4, seed: 2}, test: {count: 1, seed: 3}}
`

// experiment is a spec with its problem and a generated dataset.
type experiment struct {
	spec    *model.Spec
	problem *pde.Problem
	set     *data.Dataset
}

func newExperiment(t testing.TB, overrides ...string) experiment {
	t.Helper()
	spec, err := model.LoadSpec("toy.yaml", []byte(toySpec), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(spec.Problem)
	if err != nil {
		t.Fatal(err)
	}
	return experiment{spec, p, generate(t, spec, p)}
}

func generate(t testing.TB, spec *model.Spec, p *pde.Problem) *data.Dataset {
	t.Helper()
	plan, err := spec.DatasetPlan(p, 1)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := data.Generate(context.Background(), dir, plan, nil); err != nil {
		t.Fatal(err)
	}
	set, err := data.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// with returns the experiment with a changed spec and the same dataset.
func (e experiment) with(t testing.TB, overrides ...string) experiment {
	t.Helper()
	src, err := e.spec.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if e.spec, err = model.LoadSpec("toy.yaml", src, overrides...); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e experiment) run(ctx context.Context, dir string, o Options) (Summary, error) {
	if o.Workers == 0 {
		o.Workers = 1
	}
	return Run(ctx, dir, e.spec, e.problem, e.set, o)
}

// train runs to the end in a new folder and returns it.
func (e experiment) train(t testing.TB, o Options) (string, Summary) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	s, err := e.run(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return dir, s
}

// records reads the log.
func records(t testing.TB, dir string) []Record {
	t.Helper()
	all, err := disk.ReadLogAs[Record](filepath.Join(dir, logFile))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// files returns the content of every file of a folder, by path.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// withoutSeconds drops the only fields of the log that may differ between two
// runs of the same thing: the seconds, and the chain, which covers them.
func withoutSeconds(t testing.TB, log string) string {
	t.Helper()
	var out bytes.Buffer
	for line := range strings.Lines(log) {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if _, ok := r["seconds"]; !ok {
			t.Errorf("a record without seconds: %s", line)
		}
		delete(r, "seconds")
		delete(r, "chain")
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n", text)
	}
	return out.String()
}

// sameRun fails the test unless two run folders hold the same files, bit for
// bit but for the seconds of the log: parameters, moments, average, best
// checkpoint, positions.
func sameRun(t testing.TB, what, got, want string) {
	t.Helper()
	a, b := files(t, got), files(t, want)
	for _, f := range []map[string]string{a, b} {
		f[logFile] = withoutSeconds(t, f[logFile])
	}
	names, wanted := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))
	if !slices.Equal(names, wanted) {
		t.Errorf("%s: files %v, want %v", what, names, wanted)
		return
	}
	for _, name := range names {
		if a[name] != b[name] {
			t.Errorf("%s: %s differs", what, name)
			if strings.HasSuffix(name, "l") || strings.HasSuffix(name, ".json") {
				t.Logf("got\n%s\nwant\n%s", a[name], b[name])
			}
		}
	}
}

// oneLine fails the test unless err says want in one line.
func oneLine(t testing.TB, what string, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", what)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %q, want it to say %q", what, err, w)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: more than one line: %q", what, err)
	}
}
