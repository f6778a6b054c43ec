package model

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/words"
	"pihc/pde"
)

const gridsSpec = `
defaults: paper
problem: navier-stokes
grid: {t: 8, x: 16, y: 16}
network: {width: 4, layers: 2, modes: {t: 3, x: 4, y: 4}, projection: 4, basis: 3}
constraint: {experts: {x: 2, y: 2}, points: 50}
data:
  test: {count: 2, grids: [{x: 32, samples: 1}, {x: 16, y: 16}, {x: 8, y: 32}, {x: 32}]}
`

func gridsOf(t *testing.T, overrides ...string) ([]EvaluationGrid, error) {
	t.Helper()
	spec, err := LoadSpec("spec", []byte(gridsSpec), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(spec.Problem)
	if err != nil {
		t.Fatal(err)
	}
	return spec.EvaluationGrids(p)
}

func TestEvaluationGrids(t *testing.T) {
	grids, err := gridsOf(t)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range grids {
		got = append(got, words.Shape(g.Shape()))
	}
	if want := []string{"8 x 32 x 16", "8 x 8 x 32"}; !slices.Equal(got, want) { // neither the spec's own nor one twice
		t.Errorf("grids %v, want %v", got, want)
	}
	if grids[0].Samples != 1 || grids[1].Samples != 0 {
		t.Errorf("%d and %d samples, want 1 and 0, all", grids[0].Samples, grids[1].Samples)
	}
	for override, want := range map[string]string{
		"data.test.grids=[{z: 32}]":                "data.test.grids.0: problem navier-stokes has no axis \"z\"; its axes are t, x, y",
		"data.test.grids=[{x: 32}, {x: 6}]":        "data.test.grids.1 (8 x 6 x 16): network.modes.x",
		"data.test.grids=[{x: 24}]":                "the 16 points of axis x are not among the finest, 24 (periodic): want one a multiple",
		"data.test.grids=[{t: 12}]":                "the 8 points of axis t are not among the finest, 12 (nodes): want one less one",
		"data.test.grids=[{t: 15}, {x: 8, y: 12}]": "the 12 points of axis y are not among the finest, 16",
	} {
		if _, err := gridsOf(t, override); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", override, err, want)
		}
	}
	for override, want := range map[string]string{
		"data.test.grids=[{x: 0}]":               "data.test.grids.0.x: 0: want at least 1",
		"data.test.grids=[{x: 8}, {samples: 2}]": "data.test.grids.1: names no axis",
	} {
		if _, err := LoadSpec("spec", []byte(gridsSpec), override); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", override, err, want)
		}
	}
}

// Passes begin on the grids of training that lie below the one asked for.
func TestCoarserGrids(t *testing.T) {
	for _, tt := range []struct {
		stages string
		g      map[string]int
		want   [][]int
	}{
		{"[]", map[string]int{"t": 8, "x": 16, "y": 16}, nil},
		{"[]", map[string]int{"t": 8, "x": 16, "y": 18}, [][]int{{8, 16, 16}}},
		{"[]", map[string]int{"t": 7, "x": 32, "y": 32}, nil},
		{"[{steps: 1, grid: {x: 8, y: 8}}, {steps: 1, grid: {t: 4}}, {steps: 1, grid: {x: 12}}]", map[string]int{"t": 8, "x": 32, "y": 32}, [][]int{{8, 8, 8}, {8, 12, 16}, {8, 16, 16}}},
		{"[{steps: 1, grid: {x: 8, y: 8}}, {steps: 1, grid: {x: 12}}]", map[string]int{"t": 8, "x": 16, "y": 16}, [][]int{{8, 8, 8}, {8, 12, 16}}},
		{"[{steps: 1, grid: {x: 8, y: 8}}, {steps: 1, grid: {x: 12}}]", map[string]int{"t": 8, "x": 10, "y": 10}, [][]int{{8, 8, 8}}},
	} {
		s, err := OpenSpec("navier-stokes-demo", "grid={t: 8, x: 16, y: 16}", "network.modes={t: 2, x: 2, y: 2}", "training.stages="+tt.stages)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pde.Open(s.Problem)
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Grid(tt.g)
		if err != nil {
			t.Fatal(err)
		}
		grids, err := s.CoarserGrids(p, g)
		if err != nil {
			t.Fatal(err)
		}
		var got [][]int
		for _, c := range grids {
			got = append(got, c.Shape())
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("stages %s, %v: %v, want %v", tt.stages, tt.g, got, tt.want)
		}
	}
}

// The grids of the specs that come with pihc can be evaluated.
func TestBuiltinGrids(t *testing.T) {
	for _, name := range BuiltinSpecs() {
		spec, err := OpenSpec(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pde.Open(spec.Problem)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := spec.EvaluationGrids(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Test samples are on the finest grid, all others on the spec's; a solution there,
// thinned out, is the one that the coarse grid's own solver computes.
func TestPlanOnSeveralGrids(t *testing.T) {
	spec, err := LoadSpec("spec", []byte(gridsSpec))
	if err != nil {
		t.Fatal(err)
	}
	p, plan := planOf(t, spec)
	for i, want := range []string{"8 x 16 x 16", "8 x 16 x 16", "8 x 32 x 32"} {
		if got := words.Shape(plan.Splits[i].SolutionShape()); got != want {
			t.Errorf("%s on %s, want %s", plan.Splits[i].Name, got, want)
		}
	}
	if !plan.Float32 {
		t.Error("solutions of type float64")
	}
	solve := func(split data.Split) (initial, solution []float64) {
		draw, err := plan.Sampler(split)
		if err != nil {
			t.Fatal(err)
		}
		solver, err := plan.Solver(split)
		if err != nil {
			t.Fatal(err)
		}
		size := 1
		for _, n := range split.InputShape() {
			size *= n
		}
		initial, solution = make([]float64, size), make([]float64, size*split.Axes[0].Points)
		if err := draw(data.SampleRand(7, 0), initial); err != nil {
			t.Fatal(err)
		}
		if err := solver(solution, initial); err != nil {
			t.Fatal(err)
		}
		return initial, solution
	}
	u0, u := solve(plan.Splits[1])
	fine0, fine := solve(plan.Splits[2])
	own, _ := p.Grid(spec.Grid)
	finest, _ := p.Grid(map[string]int{"t": 8, "x": 32, "y": 32})
	for _, c := range []struct {
		name         string
		want, source []float64
		axes, from   []grid.Axis
	}{{"initial condition", u0, fine0, own.Axes[1:], finest.Axes[1:]}, {"solution", u, fine, own.Axes, finest.Axes}} {
		got := make([]float64, len(c.want))
		grid.Thin(got, c.source, c.axes, c.from)
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-4 { // 16 points leave a little of the fields out
				t.Fatalf("%s: %g at %d, want %g", c.name, got[i], i, c.want[i])
			}
		}
	}
}
