package experiment

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pihc/model"
	"pihc/pde"
	"pihc/report"
	"pihc/score"
)

// The fields among a sample's inputs are shown on all axes, numbers in the title.
func TestCaseInputs(t *testing.T) {
	p, err := pde.Load("own.yaml", []byte(`name: own
unknown: u
time: none
axes:
  y: {range: [0, 1], points: 3, boundary: nodes}
  x: {range: [0, 1], points: 4, boundary: nodes}
inputs:
  nu: {distribution: uniform, low: 1, high: 2}
  wall: {distribution: random-series, series: sine, axes: [x]}
  a: {distribution: random-series, series: free}
terms:
  u_xx: {axis: x, derivative: 2}
residual: {expression: nu*u_xx + a, rows: {x: [1, 1]}}
conditions: {south: {at: {y: low}, expression: u - wall}}
`))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	sample := []float64{1.5, 10, 20, 30, 40}
	for i := range g.Size() {
		sample = append(sample, float64(i))
	}
	got := caseInputs(p, g, sample)
	if len(got) != 2 || got[0].Name != "wall" || got[1].Name != "a" {
		t.Fatalf("inputs %v", got)
	}
	if want := slices.Repeat([]float64{10, 20, 30, 40}, 3); !slices.Equal(got[0].Values, want) {
		t.Errorf("along x: %v", got[0].Values)
	}
	if !slices.Equal(got[1].Values, sample[5:]) {
		t.Errorf("along both: %v", got[1].Values)
	}
	if title := caseTitle(p, g, sample, 7); title != "test sample 7, nu = 1.50" {
		t.Errorf("title %q", title)
	}
}

// Runs of one method are told apart by what enforces their physics, else by their folders.
func TestNameRuns(t *testing.T) {
	run := func(dir, key, note string, passes int) scored {
		spec := &model.Spec{}
		spec.Network.Passes = passes
		return scored{run: &Run{Dir: dir, Spec: spec}, method: report.Method{Key: key, Label: "L-" + key, Note: note}}
	}
	runs := []scored{
		run("a/moe", "moe", "four", 2), run("b/moe", "moe", "four", 2), run("c/moe", "moe", "four", 2),
		run("a/hard", "hard", "few", 2), run("a/fair", "hard", "many", 2), run("a/one", "hard", "few", 1),
	}
	nameRuns(runs)
	var got []string
	for _, r := range runs {
		got = append(got, r.method.Key+" "+r.method.Label)
	}
	want := []string{"moe L-moe (a/moe)", "moe_2 L-moe (b/moe)", "moe_3 L-moe (c/moe)", "hard L-hard", "hard_2 L-hard (many)", "hard_one_pass L-hard, one pass"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The samples that are drawn are the best, the median and the worst beyond training where the page
// compares methods by that, else over all times, and without solutions by the residual.
func TestChooseCases(t *testing.T) {
	var e score.Evaluation
	for i := range 5 {
		s := score.NewSample(i)
		s.ResidualRMS = []float64{1, 3, 2, 5, 4}[i]
		e.PerSample = append(e.PerSample, s)
	}
	choose := func(want ...string) {
		t.Helper()
		e.Summarize()
		page := report.Page{Methods: []report.Method{{Key: model.MoE, Label: "M", Evaluation: e}, {Key: model.Hard}}}
		var got []string
		for _, c := range chooseCases(&page, make([][]float64, 5)) {
			got = append(got, fmt.Sprintf("%d, %s", c.sample, c.title))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	choose("1, median of M by its residual: ", "3, worst of M by its residual: ", "0, best of M by its residual: ")
	for i := range e.PerSample {
		e.PerSample[i].RelativeL2 = []float64{0.3, 0.1, 0.2, 0.4, 0.5}[i]
	}
	choose("0, median of M, 30.00 %: ", "4, worst of M, 50.00 %: ", "1, best of M, 10.00 %: ")
	for i := range e.PerSample {
		e.PerSample[i].Unseen = []float64{0.9, 0.8, 0.6, 0.7, 0.65}[i]
	}
	choose("3, median of M, 70.00 % beyond training: ", "0, worst of M, 90.00 % beyond training: ", "2, best of M, 60.00 % beyond training: ")
}

// The caveat about published figures stands, once, on a page where any method has one.
func TestNotePublished(t *testing.T) {
	page := report.Page{Methods: []report.Method{{}, {}}, Caveats: []string{"first"}}
	notePublished(&page)
	if len(page.Caveats) != 1 {
		t.Errorf("without published figures: %q", page.Caveats)
	}
	page.Methods[1].Published = &report.Score{Mean: 0.1}
	for range 2 {
		notePublished(&page)
	}
	if want := []string{"first", publishedCaveat}; !slices.Equal(page.Caveats, want) {
		t.Errorf("%q, want %q", page.Caveats, want)
	}
}

// Solutions on another grid are the same whether all are kept or one.
func TestSolveOn(t *testing.T) {
	p, err := pde.Open("diffusion-sorption")
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(map[string]int{"t": 5, "x": 12})
	if err != nil {
		t.Fatal(err)
	}
	var initial [][]float64
	for _, v := range []float64{0, 0.1, 0.2} {
		initial = append(initial, slices.Repeat([]float64{v}, 12))
	}
	all, err := solveOn(p, g, initial, mostKept)
	if err != nil {
		t.Fatal(err)
	}
	one, err := solveOn(p, g, initial, 0)
	if err != nil {
		t.Fatal(err)
	}
	first := map[int]*float64{}
	for _, i := range []int{0, 1, 2, 2, 0, 1} {
		u, err := all(i)
		if err != nil {
			t.Fatal(err)
		}
		v, err := one(i)
		if err != nil {
			t.Fatal(err)
		}
		if u[0] != initial[i][0] || !slices.Equal(u, v) {
			t.Errorf("sample %d: %v, %v", i, u[:3], v[:3])
		}
		if at, ok := first[i]; ok && at != &u[0] {
			t.Errorf("sample %d was solved again", i)
		}
		first[i] = &u[0]
	}
}

// docs/reference/metrics.md has the version of metrics.json.
func TestMetricsVersion(t *testing.T) {
	text, err := os.ReadFile("../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	if version := fmt.Sprintf("| of this file, %d; ", metricsVersion); !strings.Contains(string(text), version) {
		t.Errorf("docs/reference/metrics.md has another version of metrics than %d", metricsVersion)
	}
}

// Folders are named by what tells them apart.
func TestFoldersApart(t *testing.T) {
	for _, c := range [][2][]string{
		{{"/home/me/runs/a", "/home/me/runs/b"}, {"a", "b"}},
		{{"runs/a/moe", "runs/b/moe"}, {"a/moe", "b/moe"}},
		{{"a", "runs/a"}, {"a", "runs/a"}},
		{{"runs", "runs/a"}, {"runs", "runs/a"}},
	} {
		runs := make([]scored, len(c[0]))
		for i, dir := range c[0] {
			runs[i].run = &Run{Dir: dir}
		}
		if got := foldersApart(runs); !slices.Equal(got, c[1]) {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}
