package report

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pihc/score"
)

// Methods whose residual is below the truth's share a line.
func TestGridNotesShareALine(t *testing.T) {
	page := Page{}
	for i, own := range []float64{0.01, 0.05, 0.02} {
		page.Methods = append(page.Methods, Method{Label: string(rune('a' + i)), Evaluation: score.Evaluation{Verdict: score.Trusted, RelativeL2: &score.Summary{}, RelativeResidual: &score.Summary{Median: own}, TruthResidual: &score.Summary{Median: 0.03}}})
	}
	notes := page.methodNotes()
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "a, c: ") || !strings.Contains(notes[0], "(1.00 %, 2.00 % against 3.00 % in the median)") {
		t.Errorf("%q", notes)
	}
}

// The figure of errors over the mean of initial conditions is drawn where means differ.
func TestMeansDiffer(t *testing.T) {
	var e score.Evaluation
	for i, mean := range []float64{0.2, 0.2 + 1e-12, math.NaN()} {
		x := score.NewSample(i)
		x.InitialMean = mean
		e.PerSample = append(e.PerSample, x)
	}
	p := Page{Methods: []Method{{Evaluation: e}}}
	if p.meansDiffer() {
		t.Error("means that differ by rounding differ")
	}
	e.PerSample[1].InitialMean = 0.21
	if !p.meansDiffer() {
		t.Error("means of 0.2 and 0.21 do not differ")
	}
	e.PerSample[0].InitialMean, e.PerSample[1].InitialMean = 0.2e-12, 0.21e-12
	if !p.meansDiffer() {
		t.Error("means of 0.2e-12 and 0.21e-12 do not differ")
	}
}

func TestEvaluationJSON(t *testing.T) {
	p := samplePage()
	e := p.Methods[2].Evaluation
	e.PerSample = e.PerSample[:2]
	e.PerSample[0].ErrorEstimate, e.PerSample[1].ErrorEstimate = 0.03, 0.04
	for i := range e.PerSample {
		e.PerSample[i].GridError, e.PerSample[i].RowsError = 0.02, 0.01
	}
	e.PerSample[0].Unseen = 0.5 // without a window there is none, and NaN equals nothing
	e.PerSample[1].RelativeL2 = math.Inf(1)
	e.PerSample[1].BorderJump = math.NaN()
	e.PerSample[0].Unknowns = map[string]float64{"u": 0.25, "v": 0.5}
	e.PerSample[0].Residuals = map[string]float64{"activator": 2}
	e.PerSample[1].Unknowns = map[string]float64{"u": 0.75, "v": math.Inf(1)}
	u, v := score.Summarize([]float64{0.25, 0.75}), score.Summarize([]float64{0.5, math.Inf(1)})
	e.Unknowns = map[string]*score.Summary{"u": &u, "v": &v}
	src, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"relative_l2":{"mean":`, `"residual_rms"`, `"border_jump"`, `"constraint_rms"`, `"per_sample":[{"index":0,"initial_mean":`, `"relative_l2":null`, `"unknowns":{"u":{"mean":0.5,`, `"residuals":{"activator":2}`, `"unknowns":{"u":0.75,"v":null}`} {
		if !strings.Contains(string(src), key) {
			t.Errorf("no %s in %s", key, src)
		}
	}
	var back score.Evaluation
	if err := json.Unmarshal(src, &back); err != nil {
		t.Fatal(err)
	}
	if *back.RelativeL2 != *e.RelativeL2 || !reflect.DeepEqual(back.PerSample[0], e.PerSample[0]) || !math.IsInf(back.PerSample[1].RelativeL2, 1) || !math.IsNaN(back.PerSample[1].BorderJump) {
		t.Errorf("%+v", back.PerSample)
	}
	if len(back.Unknowns) != 2 || *back.Unknowns["u"] != *e.Unknowns["u"] || !math.IsInf(back.PerSample[1].Unknowns["v"], 1) {
		t.Errorf("%+v", back.Unknowns)
	}
	// Without a solution there is no error, not an error of zero.
	for i := range e.PerSample {
		e.PerSample[i].RelativeL2 = math.NaN()
	}
	e.Summarize()
	if e.RelativeL2 != nil || e.ResidualRMS == nil || e.Samples != 2 {
		t.Errorf("%+v", e)
	}
}

// Samples of baselines are told apart from those on other grids.
func TestBaselineRows(t *testing.T) {
	s := score.Samples{Truth: func(i int) ([]float64, error) { return []float64{1, 2, float64(i)}, nil }, Grid: []int{1, 3}, Inputs: [][]float64{{0}, {1}, {2}}}
	zero, err := s.ZeroBaseline()
	if err != nil {
		t.Fatal(err)
	}
	mean, err := s.MeanBaseline()
	if err != nil {
		t.Fatal(err)
	}
	p := Page{Baselines: []Method{{Key: "zero", Evaluation: *zero}, {Key: "mean_field", Evaluation: *mean}}}
	for i, row := range p.sampleRows()[1:] {
		if want := []string{p.Baselines[i/3].Key, "1 x 3"}; !slices.Equal(row[:2], want) {
			t.Errorf("row %d begins with %q, want %q", i, row[:2], want)
		}
	}
}
