package engine

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pihc/constraint"
	"pihc/internal/check"
	"pihc/model"
	"pihc/pde"
)

const channelsProblem = `name: toy
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

// The network sees every input as a channel, in the unit of its distribution.
func TestInputChannels(t *testing.T) {
	p, err := pde.Load("toy.yaml", []byte(channelsProblem))
	if err != nil {
		t.Fatal(err)
	}
	s, err := model.LoadSpec("toy", []byte("defaults: fitted\nproblem: toy.yaml\nmethod: hard\nnetwork: {width: 4, layers: 1, modes: {y: 2, x: 2}, projection: 4, basis: 3, precision: float64}\n"))
	if err == nil {
		err = s.Fit(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	names, err := s.InputNames(p)
	if err != nil || strings.Join(names, " ") != "y s a f u of the field to correct residual" {
		t.Fatalf("the network sees %v, %v", names, err)
	}
	if s.Network.Passes != 4 {
		t.Errorf("a steady problem has %d passes by default", s.Network.Passes)
	}
	e, err := newCPU[float64](s, p, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	sample := check.Normal(rng, make([]float64, e.InputSize()))
	sample[0] = 0.1
	e.load(Batch{Inputs: [][]float64{sample}, Seeds: make([]constraint.Seed, 1)}, 0)
	for point := range 40 {
		want := []float64{float64(point/8) / 4, 0.5, sample[1+point] - 1, sample[41+point%8] / 3}
		for i, v := range want {
			if got := e.inputField(&e.slots[0], i)[point]; math.Abs(got-v) > 1e-12 {
				t.Fatalf("channel %d (%s) at point %d is %v, want %v", i, names[i], point, got, v)
			}
		}
	}
}
