package score

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pihc/engine"
	"pihc/grid"
	"pihc/model"
	"pihc/pde"
)

// given is an engine whose predictions are fields that were given.
type given struct {
	engine.Engine[float64]
	fields [][]float64
}

func (g given) Predict(_ []float64, _ engine.Batch, each func(i int, p *engine.Prediction) error) error {
	info := g.Info()
	for i, u := range g.fields {
		if err := each(i, &engine.Prediction{Field: u, MeanSquares: make([]float64, len(info.Rows))}); err != nil {
			return err
		}
	}
	return nil
}

// Two samples whose errors are known at every time: solutions are 4 at all points, predictions too
// high by i times 10 % and 30 % at time i of 0, 50, ..., 500.
func TestEvaluateOverTime(t *testing.T) {
	e := testEngine(t, model.Soft, "grid.t=11")
	info := e.Info()
	size, slice := info.Grid.Size(), info.SliceSize()
	truth := slices.Repeat([]float64{4}, size)
	var fields [][]float64
	for _, high := range []float64{0.1, 0.3} {
		u := make([]float64, size)
		for q := range u {
			u[q] = 4 * (1 + high*float64(q/slice))
		}
		fields = append(fields, u)
	}
	s := Samples{Truth: func(int) ([]float64, error) { return truth, nil }}
	for range fields {
		s.Inputs = append(s.Inputs, truth[:slice])
	}
	evaluate := func() *ErrorOverTime {
		t.Helper()
		got, err := Evaluate(given{e, fields}, nil, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.ErrorOverTime
	}
	check := func(what string, got *ErrorOverTime, times, errors []float64) {
		t.Helper()
		near := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-12 }
		if got == nil || !slices.Equal(got.Times, times) || !slices.EqualFunc(got.RelativeL2, errors, near) {
			t.Errorf("%s: %+v, want %v at %v", what, got, errors, times)
		}
	}
	times := []float64{0, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500}
	check("means of both", evaluate(), times, []float64{0, 0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8, 2})
	// What is not finite is infinitely bad at its time alone.
	fields[1][2*slice] = math.NaN()
	check("a NaN", evaluate(), times, []float64{0, 0.2, math.Inf(1), 0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8, 2})
	// A time at which the solution is zero has no error, and is left out.
	clear(truth[:slice])
	clear(truth[4*slice:])
	check("a solution of zero", evaluate(), times[1:4], []float64{0.2, math.Inf(1), 0.6})
	clear(truth)
	if got := evaluate(); got != nil {
		t.Errorf("of solutions that are zero: %+v", got)
	}
	s.Truth = nil
	if got := evaluate(); got != nil {
		t.Errorf("without solutions: %+v", got)
	}
}

// A sample without an error at a time is not among those of the mean there; with two unknowns, u
// off by 30 % and v by 40 %, it is the root mean square of both; a steady problem has none.
func TestOverTimeSystem(t *testing.T) {
	g := &grid.Grid{Axes: []grid.Axis{{Name: "t", Lo: 1, Hi: 2, Points: 2, Boundary: grid.Nodes}, {Name: "x", Lo: 0, Hi: 1, Points: 2, Boundary: grid.Nodes}}}
	p := &pde.Problem{Unknowns: []pde.Unknown{{Name: "u"}, {Name: "v"}}}
	o := newOverTime(p, g)
	truth := []float64{3, 4, 0, 10, 300, 400, 0, 0} // v is zero at the second time
	o.add([]float64{3 + 1.5, 4, 0, 11, 300, 400 + 200, 0, 5}, truth)
	got := o.mean()
	if want := math.Sqrt((0.3*0.3 + 0.4*0.4) / 2); got == nil || !slices.Equal(got.Times, []float64{1}) || math.Abs(got.RelativeL2[0]-want) > 1e-12 {
		t.Errorf("%+v, want %g at time 1 alone", got, want)
	}
	truth[7] = 10
	o.add(truth, truth)
	if got = o.mean(); !slices.Equal(got.Times, []float64{1, 2}) || got.RelativeL2[1] != 0 || math.Abs(got.RelativeL2[0]-math.Sqrt(0.125)/2) > 1e-12 {
		t.Errorf("%+v", got)
	}
	steady := newOverTime(&pde.Problem{Steady: true}, g)
	steady.add(truth[:4], truth[:4])
	if got := steady.mean(); got != nil {
		t.Errorf("errors over the first axis of a steady problem: %+v", got)
	}
}

// metrics.json keeps the errors over time of every grid, infinite ones as null; one without them is read.
func TestOverTimeJSON(t *testing.T) {
	e := Evaluation{Method: "moe", ErrorOverTime: &ErrorOverTime{Times: []float64{0, 0.5}, RelativeL2: []float64{0.25, math.Inf(1)}}}
	e.Grids = []Evaluation{{ErrorOverTime: &ErrorOverTime{Times: []float64{2}, RelativeL2: []float64{0.125}}}}
	src, err := json.Marshal(e.WithoutSamples())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"error_over_time":{"time":[0,0.5],"relative_l2":[0.25,null]}`, `"error_over_time":{"time":[2],"relative_l2":[0.125]}`} {
		if !strings.Contains(string(src), want) {
			t.Errorf("no %s in %s", want, src)
		}
	}
	var back Evaluation
	if err := json.Unmarshal(src, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back.ErrorOverTime, e.ErrorOverTime) || !reflect.DeepEqual(back.Grids[0].ErrorOverTime, e.Grids[0].ErrorOverTime) {
		t.Errorf("%+v and %+v", back.ErrorOverTime, back.Grids[0].ErrorOverTime)
	}
	e.ErrorOverTime, e.Grids = nil, nil
	if src, err = json.Marshal(e); err != nil || strings.Contains(string(src), "error_over_time") {
		t.Errorf("%s, %v", src, err)
	}
	var old Evaluation
	if err := json.Unmarshal(src, &old); err != nil || old.ErrorOverTime != nil {
		t.Errorf("%+v, %v", old.ErrorOverTime, err)
	}
	for _, bad := range []string{`{"time": [1], "relative_l2": []}`, `{"time": [1, 2]}`, `{"time": 1}`, `{"relative_l2": ["a"]}`, `[]`} {
		if err := json.Unmarshal([]byte(`{"error_over_time": `+bad+`}`), &old); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
