package main

import (
	"slices"
	"testing"

	"pihc/pde"
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
