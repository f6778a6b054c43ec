package model

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/data"
	"pihc/internal/check"
	"pihc/internal/dataset"
	"pihc/pde"
)

const inputsProblem = `name: toy
unknown: u
time: none
axes:
  y: {range: [0, 1], points: 5, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: periodic}
inputs:
  s: {distribution: log-uniform, low: 1e-2, high: 1}
  a: {distribution: random-series, series: free, levels: [1, 2], interpolation: nearest}
  f: {distribution: random-series, series: periodic, axes: [x], scale: 3}
terms: {u_yy: {axis: y, derivative: 2}}
residual: {expression: u_yy + a*s + f}
conditions: {low: {at: {y: low}, expression: u}, high: {at: {y: high}, expression: u}}
`

func loadToy(t *testing.T, src string) *pde.Problem {
	t.Helper()
	p, err := pde.Load("toy.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// On other grids numbers stay, fields that jump have the values of the nearest points, and
// others are interpolated.
func TestInputsOn(t *testing.T) {
	p := loadToy(t, inputsProblem)
	from, _ := p.Grid(nil)
	to, _ := p.Grid(map[string]int{"y": 7, "x": 16})
	sample := make([]float64, p.SampleSize(from))
	sample[0] = 0.3
	for i := range 40 { // the level changes between y = 0.5 and 0.75, and between x = 0.25 and 0.375
		sample[1+i] = 1
		if i/8 > 2 || i%8 > 2 {
			sample[1+i] = 2
		}
	}
	for i := range 8 {
		sample[41+i] = math.Sin(2 * math.Pi * float64(i) / 8)
	}
	out := dataset.InputsOn(p, sample, from, to)
	want := []float64{0.3}
	for i := range 7 * 16 {
		y, x := float64(i/16)/6, float64(i%16)/16
		level := 1.0
		if y > 0.625 || x > 0.3125 && x < 1-0.03 {
			level = 2
		}
		want = append(want, level)
	}
	for i := range 16 {
		want = append(want, math.Sin(2*math.Pi*float64(i)/16))
	}
	check.Close(t, out, want, 1e-12, 1e-12)
	if back := dataset.InputsOn(p, out, to, from); !slices.Equal(back[:1], sample[:1]) || len(back) != len(sample) {
		t.Errorf("back on the first grid there are %d values", len(back))
	}
	if same := dataset.InputsOn(p, sample, from, from); &same[0] != &sample[0] {
		t.Error("on the same grid inputs are copied")
	}
}

// Every input is drawn by its own distribution, a sample by its number alone; a range of
// them names the input that is outside.
func TestDrawnInputs(t *testing.T) {
	p := loadToy(t, inputsProblem)
	g, _ := p.Grid(nil)
	draw, err := dataset.NewSampler(p, g)
	if err != nil {
		t.Fatal(err)
	}
	var logs []float64
	sample := make([]float64, p.SampleSize(g))
	for i := range 400 {
		if err := draw(data.SampleRand(1, i), sample); err != nil {
			t.Fatal(err)
		}
		logs = append(logs, math.Log10(sample[0]))
		for _, v := range sample[1:41] {
			if v != 1 && v != 2 {
				t.Fatalf("a level of %v", v)
			}
		}
	}
	if mean, low, high := average(logs), slices.Min(logs), slices.Max(logs); math.Abs(mean+1) > 0.1 || low < -2 || high > 0 {
		t.Errorf("logarithms from %v to %v, mean %v", low, high, mean)
	}
	again := make([]float64, len(sample))
	if err := draw(data.SampleRand(1, 399), again); err != nil || !slices.Equal(sample, again) {
		t.Error("a sample drawn again is another one")
	}
	r, err := dataset.NewRange(p, g)
	if err != nil {
		t.Fatal(err)
	}
	if why := r.Outside(sample); why != "" {
		t.Errorf("a drawn sample is %s", why)
	}
	sample[0] = 40
	if why := r.Outside(sample); !strings.HasPrefix(why, "s: values from 40 to 40") {
		t.Errorf("a number far outside: %q", why)
	}
	classical := loadToy(t, strings.NewReplacer("time: none\n", "", "free", "periodic").Replace(inputsProblem)+"reference: {solver: diffusion-sorption}\n")
	if _, err := dataset.ReferenceSolver(classical, g); err == nil || !strings.Contains(err.Error(), "solver: discrete") {
		t.Errorf("a classical solver for a problem with inputs: %v", err)
	}
}

func average(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}
