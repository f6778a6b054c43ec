package model

import (
	"math"
	"strings"
	"testing"

	"pihc/data"
	"pihc/pde"
)

// planOf is the dataset of a spec, and its problem.
func planOf(t *testing.T, spec *Spec) (*pde.Problem, data.Plan) {
	t.Helper()
	p, err := pde.Open(spec.Problem)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := spec.DatasetPlan(p, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p, plan
}

// The built-in problem draws constants from U(0, 0.2): the range, mean and
// variance of 4000 draws, one value on the whole grid, other draws in each split.
func TestUniformConstant(t *testing.T) {
	spec, err := OpenSpec("diffusion-sorption-demo")
	if err != nil {
		t.Fatal(err)
	}
	_, plan := planOf(t, spec)
	seen := map[float64]string{}
	for _, split := range plan.Splits {
		if split.Solve != (split.Name != "train") {
			t.Errorf("%s: solved %v", split.Name, split.Solve)
		}
		draw, err := plan.Sampler(split)
		if err != nil {
			t.Fatal(err)
		}
		const n = 4000
		var sum, squares, low, high float64 = 0, 0, 1, 0
		u0 := make([]float64, 128)
		for i := range n {
			if err := draw(data.SampleRand(split.Seed, i), u0); err != nil {
				t.Fatal(err)
			}
			v := u0[0]
			for _, x := range u0 {
				if x != v {
					t.Fatal("not a constant")
				}
			}
			if other, ok := seen[v]; ok {
				t.Fatalf("%g is in %s and in %s", v, other, split.Name)
			}
			seen[v] = split.Name
			sum, squares = sum+v, squares+v*v
			low, high = min(low, v), max(high, v)
		}
		mean := sum / n
		// Standard errors: 0.0577/sqrt(4000) = 0.0009 of the mean.
		if deviation := math.Sqrt(squares/n - mean*mean); low < 0 || low > 0.001 || high > 0.2 || high < 0.199 || math.Abs(mean-0.1) > 0.004 || math.Abs(deviation-0.2/math.Sqrt(12)) > 0.002 {
			t.Errorf("%s: from %g to %g, mean %g, standard deviation %g", split.Name, low, high, mean, deviation)
		}
	}
}

// Training conditions are solved where loss.data asks for it, and only there.
func TestSupervisedDataset(t *testing.T) {
	for _, override := range []string{"loss.data=0", "loss.data=1"} {
		spec, err := OpenSpec("diffusion-sorption-demo", override)
		if err != nil {
			t.Fatal(err)
		}
		_, plan := planOf(t, spec)
		if got := plan.Splits[0].Solve; got != (override == "loss.data=1") {
			t.Errorf("%s: solved %v", override, got)
		}
		text, err := spec.Encode()
		if err != nil || strings.Contains(string(text), "  data: ") != (override == "loss.data=1") {
			t.Errorf("%s: %v in\n%s", override, err, text)
		}
	}
	if _, err := OpenSpec("diffusion-sorption-demo", "loss.data=-1"); err == nil {
		t.Error("a negative weight")
	}
}
