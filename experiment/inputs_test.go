package experiment

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"pihc/data"
	"pihc/pde"
)

// One sample needs no axis of samples, a field nor a number; fields of another shape are told how to have it.
func TestReadInputsOneSample(t *testing.T) {
	p, err := pde.Load("p.yaml", []byte(`name: poisson
time: none
unknown: u
axes:
  y: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: periodic}
inputs:
  f: {axes: [y, x], distribution: random-series, series: free}
  s: {distribution: uniform, low: 1, high: 2}
terms: {u_yy: {axis: y, derivative: 2}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_xx + s*u_yy + f, rows: {y: [1, 1]}}
conditions:
  a: {at: {y: low}, expression: u}
  b: {at: {y: high}, expression: u}
`))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	field := func(shape ...int) data.Named {
		return data.Named{Name: "f", Array: data.NewArray(shape, make([]float64, 72))}
	}
	number := func(shape ...int) data.Named {
		return data.Named{Name: "s", Array: data.NewArray(shape, []float64{1})}
	}
	for _, c := range []struct {
		hint   string // "": none is needed
		arrays []data.Named
	}{
		{"", []data.Named{field(1, 9, 8), number(1)}},
		{"", []data.Named{field(9, 8), number(1)}},
		{"", []data.Named{field(1, 9, 8), number()}},
		{"numpy.transpose(f", []data.Named{field(1, 8, 9), number(1)}},
		{"one value for each point", []data.Named{field(9, 4, 2), number(1)}},
	} {
		path := filepath.Join(t.TempDir(), "inputs.npz")
		if err := data.WriteNPZ(path, c.arrays); err != nil {
			t.Fatal(err)
		}
		samples, err := ReadInputs(path, p, g)
		var hint interface{ Hint() string }
		if c.hint == "" && (err != nil || len(samples) != 1 || len(samples[0]) != 73 || samples[0][72] != 1) {
			t.Errorf("%v: %d samples, %v", c.arrays[0].Array.Shape, len(samples), err)
		}
		if c.hint != "" && (!errors.As(err, &hint) || !strings.Contains(hint.Hint(), c.hint)) {
			t.Errorf("%v, want hint %q", err, c.hint)
		}
	}
}
