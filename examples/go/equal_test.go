package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/data"
)

// A PDE file, with what it has besides: where initial conditions are drawn and solutions are
// computed, by the spec source, and where both are those solutions; and what is added to the spec that
// pihc init writes for it then.
const (
	burgers = `name: burgers
unknown: u
axes:
  t: {range: [0, 1], points: 13, boundary: nodes}
  x: {range: [0, 1], points: 24, boundary: periodic}
constants: {nu: 0.01}
terms:
  u_t: {axis: t, derivative: 1, order: 4}
  u_x: {axis: x, derivative: 1, order: 4}
  u_xx: {axis: x, derivative: 2, order: 4}
residual: {expression: u_t + u*u_x - nu*u_xx, rows: {t: [0, 0]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
`
	drawn = `initial: {distribution: random-series, series: periodic, parameters: {modes: 2}, scale: 0.3}
reference: {solver: discrete}
`
	given  = "reference: {file: solutions.npz}\n"
	source = `defaults: fitted
problem: drawn.yaml
constants: {nu: 0.04}
data: {train: {count: 1, seed: 1}, validation: {count: 1, seed: 2}, test: {count: 21, seed: 3}}
`
	settings = "constants: {nu: 0.04}\n"
	newton   = "evaluation: {newton: true}" // which init writes
)

// TestEqual requires that the program of this folder, by the library alone, predicts what the
// command predicts, byte for byte: with constants of the spec, repeated passes and solutions of a
// file, which the library has to heed as the command does.
func TestEqual(t *testing.T) {
	bin := t.TempDir()
	pihc, program := filepath.Join(bin, "pihc"), filepath.Join(bin, "program")
	command(t, "../..", "go", "build", "-o", pihc, "./cmd/pihc")
	command(t, ".", "go", "build", "-o", program, ".")
	tests := []struct {
		name, spec string
		repeats    bool
		set        []string
	}{
		{"init", ownProblem(t, pihc), true, []string{
			"network={width: 6, layers: 2, modes: {t: 3, x: 4}, projection: 8, basis: 4, passes: 3}",
			"training={steps: 12, batch: 2, validate: 6, validate_count: 2, checkpoint: 6}",
		}},
		{"navier-stokes", "navier-stokes-demo", true, []string{
			"constants.nu=0.05", "grid={t: 8, x: 16, y: 16}",
			"network.width=8", "network.layers=2", "network.modes={t: 3, x: 4, y: 4}", "network.passes=3",
			"constraint.points=200", "training.steps=6", "training.validate=3", "training.validate_count=2",
			"data.train.count=16", "data.validation.count=2", "data.test.count=2",
		}},
		{"diffusion-sorption", "diffusion-sorption-demo", false, []string{
			"grid={t: 41, x: 64}", "network.width=8", "network.layers=2", "constraint.points=400",
			"training.steps=12", "training.validate=6", "training.validate_count=2",
			"data.train.count=16", "data.validation.count=2", "data.test.count=2",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			byCommand, byLibrary := t.TempDir(), t.TempDir()
			predict(t, pihc, byCommand, tt.spec, tt.set)
			command(t, ".", program, append([]string{tt.spec, byLibrary}, tt.set...)...)
			for _, name := range []string{"data/manifest.json", "u.npz"} {
				if !bytes.Equal(read(t, byLibrary, name), read(t, byCommand, name)) {
					t.Errorf("%s of the library is not that of the command", name)
				}
			}
			if tt.repeats && data.Find(arrays(t, byCommand, "u.npz"), "passes") == nil {
				t.Error("the network is not repeated as evaluation says")
			}
			if t.Failed() {
				t.Log(differences(t, byLibrary, byCommand))
			}
		})
	}
}

// ownProblem returns a spec that `pihc init` wrote for a PDE file with solutions of its own, with
// another constant and repeated passes.
func ownProblem(t *testing.T, pihc string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "drawn.yaml", burgers+drawn)
	write(t, dir, "burgers.yaml", burgers+given)
	write(t, dir, "source.yaml", source)
	command(t, dir, pihc, "generate", "./source.yaml", "--out", "data")
	command(t, dir, pihc, "import", "data/test-00000.npz", "--out", "solutions.npz")
	command(t, dir, pihc, "init", "./burgers.yaml", "--out", "own", "--minutes", "1e-4")
	spec := read(t, dir, "own/spec.yaml")
	if !strings.Contains(string(spec), newton) {
		t.Fatalf("%s has no %q", spec, newton)
	}
	write(t, dir, "own/spec.yaml", strings.Replace(string(spec), newton, "evaluation: {passes: auto, limit: 9, newton: true}", 1)+settings)
	return filepath.Join(dir, "own", "spec.yaml")
}

// predict generates, trains and predicts by the command, in dir, the first sample of the test
// split.
func predict(t *testing.T, pihc, dir, spec string, set []string) {
	t.Helper()
	var flags, ofData []string // generate refuses what it does not read
	for _, s := range set {
		flags = append(flags, "--set", s)
		if key, _, _ := strings.Cut(s, "."); key == "data" || key == "constants" || strings.HasPrefix(s, "grid=") {
			ofData = append(ofData, "--set", s)
		}
	}
	command(t, dir, pihc, append([]string{"generate", spec, "--out", "data"}, ofData...)...)
	command(t, dir, pihc, append([]string{"train", spec, "--data", "data", "--out", "run"}, flags...)...)
	initial := data.Find(arrays(t, dir, "data/test-00000.npz"), "initial")
	shape := append([]int{1}, initial.Shape[1:]...)
	first := data.NewArray(shape, initial.Float64()[:initial.Len()/initial.Shape[0]])
	if err := data.WriteNPZ(filepath.Join(dir, "u0.npz"), []data.Named{{Name: "initial", Array: first}}); err != nil {
		t.Fatal(err)
	}
	command(t, dir, pihc, "predict", "run", "--initial", "u0.npz", "--out", "u.npz")
}

// differences says which arrays of u.npz are not equal in two folders.
func differences(t *testing.T, dir, other string) string {
	t.Helper()
	var all []string
	got, want := arrays(t, dir, "u.npz"), arrays(t, other, "u.npz")
	for _, w := range want {
		switch g := data.Find(got, w.Name); {
		case g == nil:
			all = append(all, w.Name+" is missing")
		case !slices.Equal(g.Shape, w.Array.Shape):
			all = append(all, fmt.Sprintf("%s has shape %v, want %v", w.Name, g.Shape, w.Array.Shape))
		case !slices.Equal(g.Float64(), w.Array.Float64()):
			all = append(all, fmt.Sprintf("%s ends in %.6g, want %.6g", w.Name, tail(g), tail(w.Array)))
		}
	}
	return strings.Join(append(all, fmt.Sprintf("%d arrays, want %d", len(got), len(want))), "\n")
}

// tail returns the last values of an array.
func tail(a *data.Array) []float64 { return a.Float64()[max(0, a.Len()-4):] }

func arrays(t *testing.T, dir, name string) []data.Named {
	t.Helper()
	out, err := data.ReadNPZ(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// command runs a program in a folder.
func command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", filepath.Base(name), args, err, out)
	}
}
