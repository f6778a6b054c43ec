package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pihc/internal/disk"
	"pihc/internal/words"
)

func testAxes(points int) []AxisRecord {
	return []AxisRecord{
		{Name: "t", Lo: 0, Hi: 2, Points: 3, Boundary: "nodes"},
		{Name: "x", Lo: 0, Hi: 1, Points: points, Boundary: "cells"},
	}
}

// testPlan has solutions u(t, x) = u0(x)·(1+t).
func testPlan() Plan {
	return Plan{
		Problem: "test", ProblemHash: "abc", Metadata: map[string]string{"version": "1"},
		Splits: []Split{
			{Name: "train", Count: 7, Seed: 1, Axes: testAxes(4)},
			{Name: "test", Count: 5, Seed: 2, Solve: true, Axes: testAxes(6)},
		},
		Sampler: func(Split) (func(*rand.Rand, []float64) error, error) {
			return func(rng *rand.Rand, dst []float64) error {
				for i := range dst {
					dst[i] = rng.Float64()
				}
				return nil
			}, nil
		},
		Solver: func(Split) (func(dst, initial []float64) error, error) {
			return func(dst, initial []float64) error {
				for i := range dst {
					dst[i] = initial[i%len(initial)] * float64(1+i/len(initial))
				}
				return nil
			}, nil
		},
		Workers: 2, ShardSize: 2,
	}
}

func generate(t *testing.T, dir string, plan Plan) {
	t.Helper()
	if err := Generate(context.Background(), dir, plan, nil); err != nil {
		t.Fatal(err)
	}
}

// contents returns the files of a folder.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range filesOf(t, dir) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = text
	}
	return all
}

func TestDataset(t *testing.T) {
	for _, kind := range []string{"float64", "float32"} {
		dir := filepath.Join(t.TempDir(), "sub", "data")
		plan := testPlan()
		plan.Float32 = kind == "float32"
		var progress []int
		err := Generate(context.Background(), dir, plan, func(done, total int) {
			if total != 12 {
				t.Errorf("total %d, want 12", total)
			}
			progress = append(progress, done)
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(progress) != 12 || !slices.IsSorted(progress) || progress[11] != 12 {
			t.Errorf("progress %v", progress)
		}
		d, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(d); err != nil {
			t.Error(err)
		}
		initial, err := d.Initial("test")
		if err != nil {
			t.Fatal(err)
		}
		solutions, err := d.SolutionsRange("test", 0, 5)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(initial.Shape, []int{5, 6}) || !slices.Equal(solutions.Shape, []int{5, 3, 6}) || solutions.Type() != kind {
			t.Fatalf("shapes %v and %v of %s", initial.Shape, solutions.Shape, solutions.Type())
		}
		u0, u := initial.Float64(), solutions.Float64()
		for sample := range 5 {
			want := make([]float64, 6)
			rng := SampleRand(2, sample)
			for i := range want {
				want[i] = rng.Float64()
				if u0[sample*6+i] != want[i] {
					t.Errorf("sample %d: initial condition is not that of its generator", sample)
				}
				for j := range 3 {
					w := want[i] * float64(1+j)
					if kind == "float32" {
						w = float64(float32(w))
					}
					if u[(sample*3+j)*6+i] != w {
						t.Errorf("sample %d: wrong solution", sample)
					}
				}
			}
		}
		// A range across shards.
		part, err := d.SolutionsRange("test", 1, 3)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(part.Float64(), u[18:72]) {
			t.Error("a range differs from the whole")
		}
		if _, err := d.SolutionsRange("train", 0, 1); err == nil || !strings.Contains(err.Error(), "split train has no solutions") {
			t.Errorf("solutions of train: %v", err)
		}
		if _, err := d.Initial("validation"); err == nil || !strings.Contains(err.Error(), `no split "validation"; there is train, test`) {
			t.Errorf("unknown split: %v", err)
		}
	}
}

// The same bytes for any number of workers.
func TestGenerateWorkers(t *testing.T) {
	var want map[string][]byte
	for _, workers := range []int{1, 2, 4, 16} {
		dir := t.TempDir()
		plan := testPlan()
		plan.Workers = workers
		generate(t, dir, plan)
		got := contents(t, dir)
		if want == nil {
			want = got
			if _, ok := want[manifestFile]; !ok || len(want) != 1+4+3 {
				t.Fatalf("files %v", filesOf(t, dir))
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: other files than one worker", workers)
		}
	}
}

// Interrupted at any sample, by the caller or by a failing solver, generation
// continues: finished shards are not made again, and the result is that of an
// uninterrupted run.
func TestGenerateContinues(t *testing.T) {
	whole := t.TempDir()
	generate(t, whole, testPlan())
	want := contents(t, whole)
	for stop := range 12 {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		plan := testPlan()
		plan.Workers = 1
		err := Generate(ctx, dir, plan, func(done, _ int) {
			if done == stop+1 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "continues") {
			t.Fatalf("stopped at %d: error %v", stop, err)
		}
		var incomplete *disk.IncompleteError
		if _, err := Open(dir); !errors.As(err, &incomplete) || incomplete.Total != 12 {
			t.Fatalf("stopped at %d: Open: %v", stop, err)
		}
		// A killed process would also leave a partial file and a shard that the
		// manifest does not list yet.
		os.WriteFile(filepath.Join(dir, ".test-00000.npz-0001"+disk.PartialSuffix), []byte("PK"), 0o666)
		var drawn atomic.Int64
		plan = testPlan()
		sampler := plan.Sampler
		plan.Sampler = func(s Split) (func(*rand.Rand, []float64) error, error) {
			sample, err := sampler(s)
			return func(rng *rand.Rand, dst []float64) error {
				drawn.Add(1)
				return sample(rng, dst)
			}, err
		}
		generate(t, dir, plan)
		if n := int(drawn.Load()); n != 12-incomplete.Done {
			t.Errorf("stopped at %d with %d samples done: drew %d again", stop, incomplete.Done, n)
		}
		if got := contents(t, dir); !reflect.DeepEqual(got, want) {
			t.Errorf("stopped at %d: the continued dataset differs", stop)
		}
		cancel()
	}
}

// A shard that was altered between the two runs is made again.
func TestGenerateChecksKeptShards(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	generate(t, whole, testPlan())
	failing := testPlan()
	failing.Solver = func(Split) (func(dst, initial []float64) error, error) {
		return func(dst, initial []float64) error { return errors.New("no convergence") }, nil
	}
	err := Generate(context.Background(), dir, failing, nil)
	if err == nil || !strings.Contains(err.Error(), " of test: no convergence") {
		t.Fatalf("failing solver: error %v", err)
	}
	damaged := filepath.Join(dir, "train-00001.npz")
	text, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	os.WriteFile(damaged, text, 0o666)
	generate(t, dir, testPlan())
	if !reflect.DeepEqual(contents(t, dir), contents(t, whole)) {
		t.Error("the continued dataset differs")
	}
}

// A complete dataset is left alone, one of another plan too, foreign files too.
func TestGenerateExisting(t *testing.T) {
	dir := t.TempDir()
	generate(t, dir, testPlan())
	before := contents(t, dir)
	untouched := testPlan()
	untouched.Sampler = nil // must not be called
	done := 0
	if err := Generate(context.Background(), dir, untouched, func(d, _ int) { done = d }); err != nil || done != 12 {
		t.Errorf("same plan again: %v, %d samples", err, done)
	}
	for want, change := range map[string]func(*Plan){
		"train has seed 1, not 5":                  func(p *Plan) { p.Splits[0].Seed = 5 },
		"test has 5 samples, not 6":                func(p *Plan) { p.Splits[1].Count = 6 },
		"test has another grid (3 x 6, not 3 x 8)": func(p *Plan) { p.Splits[1].Axes = testAxes(8) },
		"problem \"test\", not \"other\"":          func(p *Plan) { p.Problem = "other" },
		"another definition of the problem":        func(p *Plan) { p.ProblemHash = "abd" },
		"solutions of type float64, not float32":   func(p *Plan) { p.Float32 = true },
		"version \"1\", not \"2\"":                 func(p *Plan) { p.Metadata = map[string]string{"version": "2"} },
		"2 splits, not 1":                          func(p *Plan) { p.Splits = p.Splits[:1] },
		"train with and without solutions":         func(p *Plan) { p.Splits[0].Solve = true },
		"other metadata":                           func(p *Plan) { p.Metadata = map[string]string{"version": "1", "a": "b"} },
		"split train, not validation":              func(p *Plan) { p.Splits[0].Name = "validation" },
	} {
		plan := testPlan()
		change(&plan)
		err := Generate(context.Background(), dir, plan, nil)
		var exists *disk.ExistsError
		if !errors.As(err, &exists) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if !reflect.DeepEqual(contents(t, dir), before) {
		t.Error("the dataset was changed")
	}

	foreign := t.TempDir()
	os.WriteFile(filepath.Join(foreign, "test-00002.npz"), []byte("mine"), 0o666)
	var exists *disk.ExistsError
	if err := Generate(context.Background(), foreign, testPlan(), nil); !errors.As(err, &exists) {
		t.Errorf("foreign file: error %v", err)
	}
	if got := contents(t, foreign); len(got) != 1 || string(got["test-00002.npz"]) != "mine" {
		t.Error("the foreign file was changed")
	}
}

func TestGenerateBadPlan(t *testing.T) {
	for want, change := range map[string]func(*Plan){
		"no splits":                     func(p *Plan) { p.Splits = nil },
		"split \"train\" appears twice": func(p *Plan) { p.Splits[1].Name = "train" },
		"train\" has 0 samples":         func(p *Plan) { p.Splits[0].Count = 0 },
		"split name \"../up\"":          func(p *Plan) { p.Splits[0].Name = "../up" },
		"train\" has 1 axes":            func(p *Plan) { p.Splits[0].Axes = testAxes(4)[:1] },
		"axis x has 0 points":           func(p *Plan) { p.Splits[0].Axes = testAxes(0) },
		"too large":                     func(p *Plan) { p.Splits[0].Axes = testAxes(1 << 60) },
		"sampler of train: no such sampler": func(p *Plan) {
			p.Sampler = func(Split) (func(*rand.Rand, []float64) error, error) { return nil, errors.New("no such sampler") }
		},
		"solver of test: no solver of the name": func(p *Plan) {
			p.Solver = func(Split) (func(dst, initial []float64) error, error) {
				return nil, errors.New("no solver of the name")
			}
		},
	} {
		plan := testPlan()
		change(&plan)
		err := Generate(context.Background(), filepath.Join(t.TempDir(), "d"), plan, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Every kind of damage is noticed and named.
func TestOpenDamaged(t *testing.T) {
	good := t.TempDir()
	generate(t, good, testPlan())
	original := contents(t, good)
	edit := func(file string, change func([]byte) []byte) string {
		dir := t.TempDir()
		for name, text := range original {
			text = bytes.Clone(text)
			if name == file {
				text = change(text)
			}
			if text != nil {
				os.WriteFile(filepath.Join(dir, name), text, 0o666)
			}
		}
		return dir
	}
	flip := func(text []byte) []byte { text[len(text)/2] ^= 1; return text }
	truncate := func(text []byte) []byte { return text[:len(text)-1] }
	remove := func([]byte) []byte { return nil }
	replace := func(old, new string) func([]byte) []byte {
		return func(text []byte) []byte { return bytes.Replace(text, []byte(old), []byte(new), 1) }
	}
	shard := "test-00001.npz"
	for _, c := range []struct {
		file   string
		change func([]byte) []byte
		want   string
	}{
		{shard, flip, "altered: its SHA-256 is not that of the manifest"},
		{shard, truncate, "bytes, not"},
		{shard, remove, "file is missing"},
		{manifestFile, remove, "not a dataset: it has no manifest.json"},
		{manifestFile, truncate, ""}, // the last line feed only: still whole
		{manifestFile, func(b []byte) []byte { return b[:len(b)/2] }, "json: line"},
		{manifestFile, replace(`"seed": 1`, `"seed": 3`), "its checksum does not fit"},
		{manifestFile, replace(`"problem"`, `"problm"`), "unknown field"},
		{manifestFile, replace(`"pihc dataset"`, `"other"`), `format "other"; want "pihc dataset"`},
	} {
		dir := edit(c.file, c.change)
		d, err := Open(dir)
		if err == nil {
			err = verify(d)
		}
		var damaged *disk.CorruptError
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.file, err)
		case c.want != "" && (!errors.As(err, &damaged) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir)):
			t.Errorf("%s: error %v, want a CorruptError with %s", c.file, err, c.want)
		case c.want != "" && strings.Count(err.Error(), "\n") > 0:
			t.Errorf("%s: error of several lines: %v", c.file, err)
		}
	}
	var version *disk.VersionError
	if _, err := Open(edit(manifestFile, replace(`"version": 1`, `"version": 4`))); !errors.As(err, &version) || version.Got != 4 {
		t.Errorf("another version: %v", err)
	}
	// A complete dataset with a damaged shard is not silently repaired.
	var damaged *disk.CorruptError
	if err := Generate(context.Background(), edit(shard, flip), testPlan(), nil); !errors.As(err, &damaged) {
		t.Errorf("Generate over a damaged dataset: %v", err)
	}
}

// Manifests with a valid checksum that make no sense.
func TestManifestShards(t *testing.T) {
	dir := t.TempDir()
	generate(t, dir, testPlan())
	for want, change := range map[string]func(m *manifest){
		"solution_type \"float16\"":               func(m *manifest) { m.SolutionType = "float16" },
		"file name \"../x.npz\"":                  func(m *manifest) { m.Shards[0].File = "../x.npz" },
		"file name \"\"":                          func(m *manifest) { m.Shards[0].File = "" },
		"no split \"other\"":                      func(m *manifest) { m.Shards[0].Split = "other" },
		"out of range or order":                   func(m *manifest) { m.Shards[3].Count = 1 << 62 },
		"samples 0 to 2 of train are in no shard": func(m *manifest) { m.Shards = m.Shards[1:] },
		"samples 4 to 5 of test are in no shard":  func(m *manifest) { m.Shards = m.Shards[:len(m.Shards)-1] },
		"shard 1: samples 1 to 3 of train":        func(m *manifest) { m.Shards[1].First = 1 },
	} {
		m, err := readManifest(filepath.Join(dir, manifestFile))
		if err != nil {
			t.Fatal(err)
		}
		change(m)
		path := filepath.Join(t.TempDir(), manifestFile)
		if err := m.write(path); err != nil {
			t.Fatal(err)
		}
		if _, err := readManifest(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Samples of different splits and numbers are unrelated, equal ones equal.
func TestSampleRand(t *testing.T) {
	seen := map[uint64]string{}
	for seed := range uint64(20) {
		for sample := range 500 {
			x := SampleRand(seed, sample).Uint64()
			name := fmt.Sprintf("seed %d, sample %d", seed, sample)
			if other, ok := seen[x]; ok {
				t.Fatalf("%s and %s start alike", name, other)
			}
			seen[x] = name
		}
	}
	if a, b := SampleRand(3, 4).Uint64(), SampleRand(3, 4).Uint64(); a != b {
		t.Error("equal seeds, different numbers")
	}
	// The first draws of consecutive samples behave like independent ones.
	const n = 4000
	var sum, sum2, lag float64
	last := 0.0
	for i := range n {
		x := SampleRand(1, i).Float64() - 0.5
		sum, sum2, lag = sum+x, sum2+x*x, lag+x*last
		last = x
	}
	if mean := sum / n; mean > 0.02 || mean < -0.02 {
		t.Errorf("mean %g", mean)
	}
	if c := lag / sum2; c > 0.06 || c < -0.06 {
		t.Errorf("correlation of neighbours %g", c)
	}
}

func ExampleGenerate() {
	dir, _ := os.MkdirTemp("", "dataset")
	defer os.RemoveAll(dir)
	axes := []AxisRecord{
		{Name: "t", Lo: 0, Hi: 1, Points: 3, Boundary: "nodes"},
		{Name: "x", Lo: 0, Hi: 1, Points: 4, Boundary: "cells"},
	}
	plan := Plan{
		Problem: "decay",
		Splits:  []Split{{Name: "test", Count: 2, Seed: 7, Solve: true, Axes: axes}},
		Sampler: func(Split) (func(*rand.Rand, []float64) error, error) {
			return func(rng *rand.Rand, u0 []float64) error {
				for i := range u0 {
					u0[i] = rng.Float64()
				}
				return nil
			}, nil
		},
		Solver: func(Split) (func(u, u0 []float64) error, error) {
			return func(u, u0 []float64) error {
				for i := range u {
					u[i] = u0[i%4] / float64(1+i/4)
				}
				return nil
			}, nil
		},
	}
	if err := Generate(context.Background(), dir, plan, nil); err != nil {
		fmt.Println(err)
		return
	}
	d, err := Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	u, err := d.SolutionsRange("test", 0, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(words.Shape(u.Shape), u.Type())
	// Output: 2 x 3 x 4 float64
}

// verify reads every file of a dataset.
func verify(d *Dataset) error {
	for _, s := range d.manifest.Shards {
		if _, err := d.shard(s); err != nil {
			return err
		}
	}
	return nil
}
