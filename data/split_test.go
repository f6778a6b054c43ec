package data

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/internal/disk"
)

// A split with inputs keeps one array for each, of its own shape, and gives them back one
// after another.
func TestInputs(t *testing.T) {
	plan := testPlan()
	for i := range plan.Splits {
		plan.Splits[i].Inputs = []InputRecord{{Name: "initial", Axes: []string{"x"}}, {Name: "nu"}, {Name: "a", Axes: []string{"t", "x"}}}
	}
	plan.Solver = func(Split) (func(dst, initial []float64) error, error) {
		return func(dst, initial []float64) error { copy(dst, initial); return nil }, nil
	}
	dir := t.TempDir()
	generate(t, dir, plan)
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d.manifest.Version != 2 {
		t.Errorf("version %d of the manifest", d.manifest.Version)
	}
	const size = 6 + 1 + 18
	all, err := d.Initial("test")
	if err != nil || !slices.Equal(all.Shape, []int{5, size}) {
		t.Fatalf("inputs of shape %v, %v", all.Shape, err)
	}
	for i := range 5 {
		rng := SampleRand(2, i)
		for k, v := range all.Float64()[i*size : (i+1)*size] {
			if v != rng.Float64() {
				t.Fatalf("value %d of sample %d is not what was drawn", k, i)
			}
		}
	}
	part, err := d.InputRange("test", 1, 3) // of two shards
	if err != nil || !slices.Equal(part.Float64(), all.Float64()[size:4*size]) {
		t.Errorf("a range of samples is not that of all: %v", err)
	}
	arrays, err := ReadNPZ(filepath.Join(dir, "test-00001.npz"))
	if err != nil {
		t.Fatal(err)
	}
	for name, shape := range map[string][]int{"initial": {2, 6}, "nu": {2}, "a": {2, 3, 6}, "solution": {2, 3, 6}} {
		if a := Find(arrays, name); a == nil || !slices.Equal(a.Shape, shape) {
			t.Errorf("array %s: %v", name, a)
		}
	}
	if v := Find(arrays, "nu").Float64(); v[1] != all.Float64()[3*size+6] {
		t.Error("array nu has other values")
	}
	other := plan
	other.Splits = slices.Clone(plan.Splits)
	other.Splits[1].Inputs = plan.Splits[1].Inputs[:2]
	var exists *disk.ExistsError
	if err := Generate(context.Background(), dir, other, nil); !errors.As(err, &exists) || !strings.Contains(err.Error(), "test has other inputs") {
		t.Errorf("a dataset with other inputs: %v", err)
	}
	for _, bad := range [][]InputRecord{{{Name: "a", Axes: []string{"z"}}}, {{Name: "a"}, {Name: "a"}}, {{Name: "solution"}}} {
		other.Splits[0].Inputs = bad
		if err := Generate(context.Background(), t.TempDir(), other, nil); err == nil || !strings.Contains(err.Error(), "input") {
			t.Errorf("inputs %v: %v", bad, err)
		}
	}
}

// A split with several unknowns keeps one array for each, and gives them back one after
// another, in both types; it is of version 3.
func TestUnknowns(t *testing.T) {
	for _, kind := range []string{"float64", "float32"} {
		plan := testPlan()
		plan.Float32 = kind == "float32"
		for i := range plan.Splits {
			plan.Splits[i].Inputs = []InputRecord{{Name: "u0", Axes: []string{"x"}}, {Name: "v0", Axes: []string{"x"}}}
			plan.Splits[i].Unknowns = []string{"u", "v"}
		}
		plan.Solver = func(Split) (func(dst, initial []float64) error, error) {
			return func(dst, initial []float64) error {
				for i := range dst {
					dst[i] = float64(float32(initial[0])) * float64(1+i)
				}
				return nil
			}, nil
		}
		dir := t.TempDir()
		generate(t, dir, plan)
		d, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if d.manifest.Version != 3 {
			t.Errorf("version %d of the manifest", d.manifest.Version)
		}
		const size = 2 * 3 * 6
		all, err := d.SolutionsRange("test", 1, 3) // of two shards
		if err != nil || !slices.Equal(all.Shape, []int{3, 2, 3, 6}) || all.Type() != kind {
			t.Fatalf("%v", err)
		}
		for i := range 3 {
			first := float64(float32(SampleRand(2, 1+i).Float64()))
			for k, v := range all.Float64()[i*size : (i+1)*size] {
				want := first * float64(1+k)
				if kind == "float32" {
					want = float64(float32(want))
				}
				if v != want {
					t.Fatalf("value %d of sample %d is %g, not %g", k, i, v, want)
				}
			}
		}
		arrays, err := ReadNPZ(filepath.Join(dir, "test-00001.npz"))
		if err != nil {
			t.Fatal(err)
		}
		for name, shape := range map[string][]int{"u0": {2, 6}, "v0": {2, 6}, "u": {2, 3, 6}, "v": {2, 3, 6}} {
			if a := Find(arrays, name); a == nil || !slices.Equal(a.Shape, shape) {
				t.Errorf("array %s: %v", name, a)
			}
		}
		if v := Find(arrays, "v").Float64(); v[18] != all.Float64()[2*size+18] {
			t.Error("array v has other values")
		}
		other := plan
		other.Splits = slices.Clone(plan.Splits)
		other.Splits[1].Unknowns = []string{"u", "w"}
		var exists *disk.ExistsError
		if err := Generate(context.Background(), dir, other, nil); !errors.As(err, &exists) || !strings.Contains(err.Error(), "test has other unknowns") {
			t.Errorf("a dataset with other unknowns: %v", err)
		}
		for _, bad := range [][]string{{"u"}, {"u", "u"}, {"u", "u0"}} {
			other.Splits[1].Unknowns = bad
			if err := Generate(context.Background(), t.TempDir(), other, nil); err == nil || !strings.Contains(err.Error(), "unknown") {
				t.Errorf("unknowns %v: %v", bad, err)
			}
		}
	}
}
