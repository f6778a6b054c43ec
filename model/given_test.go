package model

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/data"
	"pihc/internal/dataset"
	"pihc/pde"
)

// generated writes a PDE file and generates the dataset of a spec of it with counts.
func generated(t *testing.T, path, problem, counts string, overrides ...string) (*data.Dataset, error) {
	t.Helper()
	if err := os.WriteFile(path, []byte(problem), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := LoadSpec("s.yaml", []byte("defaults: paper\nproblem: own.yaml\nnetwork: {modes: {t: 1, x: 2}}\ndata: "+counts+"\n"), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.DatasetPlan(p, 2)
	if err != nil {
		return nil, err
	}
	g, err := p.Grid(s.Grid)
	if err != nil {
		return nil, err
	}
	if _, err := dataset.GivenSolutions(&plan, p, g); err != nil {
		return nil, err
	}
	out := filepath.Join(t.TempDir(), "data")
	if err := data.Generate(context.Background(), out, plan, nil); err != nil {
		return nil, err
	}
	return data.Open(out)
}

// Solutions of a file become the validation and test samples of a dataset, and its
// initial conditions those to train with. The content of the file tells its format.
func TestGivenSolutions(t *testing.T) {
	for _, format := range []string{".npz", ".nc"} {
		t.Run(format, func(t *testing.T) { givenSolutions(t, format) })
	}
}

func givenSolutions(t *testing.T, format string) {
	dir := t.TempDir()
	write := func(arrays ...data.Named) {
		t.Helper()
		var f data.Fields
		for _, a := range arrays {
			v := data.Variable{Named: a}
			for k := range a.Array.Shape {
				v.Dimensions = append(v.Dimensions, fmt.Sprint(a.Name, k))
			}
			f.Variables = append(f.Variables, v)
		}
		path := filepath.Join(dir, "own"+format)
		if err := data.WriteFields(path, &f); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, filepath.Join(dir, "own.npz")); err != nil {
			t.Fatal(err)
		}
	}
	array := func(name string, first float64, shape ...int) data.Named {
		size := 1
		for _, n := range shape {
			size *= n
		}
		values := make([]float64, size)
		for i := range values {
			values[i] = first + float64(i)
		}
		return data.Named{Name: name, Array: data.NewArray(shape, values)}
	}
	generate := func(initial string, overrides ...string) (*data.Dataset, error) {
		path := filepath.Join(dir, "own.yaml")
		src := fmt.Sprintf(`
name: own
unknown: u
axes:
  t: {range: [0, 2], points: 3, boundary: nodes}
  x: {range: [0, 4], points: 4, boundary: periodic}
terms:
  u_t: {axis: t, derivative: 1}
residual: {expression: u_t}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
%s
reference: {file: own.npz}
`, initial)
		return generated(t, path, src, "{train: {count: 2}, validation: {count: 1}, test: {count: 2}}", overrides...)
	}
	first := func(set *data.Dataset, split string) float64 {
		t.Helper()
		a, err := set.InputRange(split, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		return a.Float64()[0]
	}

	solutions := array("solution", 0, 5, 3, 4)
	write(solutions, array("t", 0, 3), array("x", 0, 4))
	set, err := generate("")
	if err != nil {
		t.Fatal(err)
	}
	if a, b, c := first(set, "train"), first(set, "validation"), first(set, "test"); a != 0 || b != 24 || c != 36 {
		t.Errorf("samples begin with %g, %g and %g; want 0, 24 and 36: two to train with, one for validation, two for test", a, b, c)
	}
	u, err := set.SolutionsRange("test", 0, 2)
	if err != nil || !slices.Equal(u.Float64(), solutions.Array.Float64()[36:]) {
		t.Errorf("%v, %v", u, err)
	}
	if m := set.Metadata; m["solver"] != "file" || len(m["file"]) != 64 {
		t.Errorf("metadata %v: want the hash of the file", m)
	}
	// A distribution draws what is trained with; arrays of the file come before both.
	if set, err = generate("initial: {distribution: uniform-constant, low: 7, high: 8}", "data.train.count=9"); err != nil || first(set, "train") < 7 || first(set, "train") > 8 {
		t.Errorf("a distribution: %v", err)
	}
	write(array("solution", 1000, 5, 3, 4), array("initial", 1003, 5, 4), array("train", 300, 2, 4))
	if set, err = generate("initial: {distribution: uniform-constant, low: 7, high: 8}"); err != nil || first(set, "train") != 300 || first(set, "test") != 1015 {
		t.Errorf("own initial conditions: %v", err)
	}

	for _, test := range []struct {
		arrays    []data.Named
		overrides []string
		want      string
	}{
		{[]data.Named{array("u", 0, 5, 3, 4)}, nil, `it has no array "solution" of shape (sample, 3 x 4)`},
		{[]data.Named{array("solution", 0, 5, 3, 5)}, nil, "array solution has shape 5 x 3 x 5; want (sample, 3 x 4)"},
		{[]data.Named{solutions, array("initial", 0, 4, 4)}, nil, "4 initial conditions for 5 solutions"},
		{[]data.Named{solutions}, []string{"data.test.count=5"}, "5 solutions; data.validation.count and data.test.count want 1 and 5"},
		{[]data.Named{solutions}, []string{"data.train.count=4"}, "it has 2 initial conditions to train with, data.train.count is 4; set that to 2"},
		{[]data.Named{solutions, array("x", 0.5, 4)}, nil, "point 0 of axis x is at 0.5; with 4 points from 0 to 4, periodic, it is at 0"},
		{[]data.Named{solutions}, []string{"data.test.grids=[{x: 8}]"}, "solutions of a file are on the spec's grid alone"},
	} {
		write(test.arrays...)
		if _, err := generate("", test.overrides...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
	os.Remove(filepath.Join(dir, "own.npz"))
	if _, err := generate(""); err == nil || !strings.Contains(err.Error(), "there is no file") {
		t.Errorf("no file: %v", err)
	}
}

// Solutions that do not begin with their initial conditions are refused; walls may have values of
// their own, and one sample of zeros is no measure.
func TestGivenStart(t *testing.T) {
	dir := t.TempDir()
	solutions, initial := make([]float64, 3*3*5), make([]float64, 3*5)
	for i := range solutions {
		sample, x := i/15, i%5
		solutions[i] = float64(sample)
		if x == 0 || x == 4 {
			solutions[i] = 9
		}
	}
	for i := range initial {
		initial[i] = float64(i / 5)
	}
	generate := func() error {
		if err := data.WriteNPZ(filepath.Join(dir, "own.npz"), []data.Named{
			{Name: "solution", Array: data.NewArray([]int{3, 3, 5}, solutions)}, {Name: "initial", Array: data.NewArray([]int{3, 5}, initial)},
		}); err != nil {
			t.Fatal(err)
		}
		_, err := generated(t, filepath.Join(dir, "own.yaml"), `
name: own
unknown: u
axes:
  t: {range: [0, 2], points: 3, boundary: nodes}
  x: {range: [0, 4], points: 5, boundary: nodes}
terms:
  u_t: {axis: t, derivative: 1}
residual: {expression: u_t}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
reference: {file: own.npz}
`, "{train: {count: 1}, validation: {count: 1}, test: {count: 1}}")
		return err
	}
	if err := generate(); err != nil {
		t.Error(err)
	}
	initial[0], initial[2] = 0.01, -0.01
	if err := generate(); err != nil {
		t.Errorf("rounding of a sample of zeros: %v", err)
	}
	initial[7]++
	if err := generate(); err == nil || !strings.Contains(err.Error(), "solution 1 does not begin with its initial condition") {
		t.Errorf("another initial condition: %v", err)
	}
}
