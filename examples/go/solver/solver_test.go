package solver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pihc/data"
	"pihc/experiment"
	"pihc/grid"

	"example.com/pihc-go/internal/trial"
)

const own = "{solver: fitzhugh-nagumo, constants: {Du: Du, Dv: Dv, a: a, b: b, eps: eps}}"

// generate makes a dataset of one test sample, with something else in the PDE file.
func generate(t *testing.T, old, other string) (*data.Dataset, error) {
	t.Helper()
	src, err := os.ReadFile("fitzhugh-nagumo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	spec, set := filepath.Join(dir, "spec.yaml"), filepath.Join(dir, "data")
	for path, text := range map[string]string{filepath.Join(dir, "fitzhugh-nagumo.yaml"): strings.Replace(string(src), old, other, 1), spec: "problem: ./fitzhugh-nagumo.yaml\n"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	x, err := experiment.Open(spec, "data={train: {count: 1, seed: 1}, validation: {count: 1, seed: 2}, test: {count: 1, seed: 3}}")
	if err != nil {
		return nil, err
	}
	if _, err := x.Generate(t.Context(), set, experiment.Options{}); err != nil {
		return nil, err
	}
	return data.Open(set)
}

// solve returns the solution of that sample, with another reference in the PDE file.
func solve(t *testing.T, reference string) []float64 {
	t.Helper()
	set, err := generate(t, own, reference)
	if err != nil {
		t.Fatal(err)
	}
	u, err := set.SolutionsRange("test", 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	return u.Float64()
}

// On the file's own points in space the rows of the file are the same ordinary differential equations as the solver's,
// and the solutions are the same but for the steps in time. On nine times as many they differ by the grid's error.
func TestAgainstRows(t *testing.T) {
	u := solve(t, own)
	for reference, limit := range map[string]float64{
		"{solver: discrete, refine: {t: 8, x: 1}}": 1e-7,
		"{solver: discrete}":                       3e-3,
	} {
		if d := grid.RelativeL2(u, solve(t, reference), 2); !(d < limit) {
			t.Errorf("%s: solutions differ by %.2g, want less than %.2g", reference, d, limit)
		} else {
			t.Logf("%s: solutions differ by %.2g", reference, d)
		}
	}
}

// It refuses what it is not for.
func TestRefuses(t *testing.T) {
	for _, x := range []struct{ old, new, want string }{
		{"boundary: cells", "boundary: nodes", "wants axes t (nodes) and x (cells)"},
		{"reference:", "inputs: {f: {distribution: random-series, series: cosine, axes: [x]}}\nreference:", "initial conditions alone"},
		{", eps: eps", "", "needs the constant eps"},
	} {
		if _, err := generate(t, x.old, x.new); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("error %v, want one with %q", err, x.want)
		}
	}
}

// An experiment on this PDE file is scored with these solutions.
func TestExperiment(t *testing.T) {
	run, first, last := trial.Train(t, "./spec.yaml", "network={width: 6, layers: 2, modes: {t: 4, x: 6}, basis: 6}", "training.steps=20")
	if !(last < first) {
		t.Errorf("the residual of validation samples goes from %g to %g", first, last)
	}
	m, err := run.Score(t.Context(), experiment.ScoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, still := m.RelativeL2.Mean, m.Persistence.Mean; !(got < still) {
		t.Errorf("relative error %.2g, and %.2g of the initial values at all times", got, still)
	}
}
