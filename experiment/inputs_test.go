package experiment

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"pihc/data"
	"pihc/pde"
)

// One sample without an axis of samples is told how to become one, a field and a number.
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
	for want, arrays := range map[string][]data.Named{
		"":                               {field(1, 9, 8), number(1)},
		"f[numpy.newaxis] is one sample": {field(9, 8), number(1)},
		"s[numpy.newaxis] is one sample": {field(1, 9, 8), number()},
		"numpy.transpose(f":              {field(1, 8, 9), number(1)},
	} {
		path := filepath.Join(t.TempDir(), "inputs.npz")
		if err := data.WriteNPZ(path, arrays); err != nil {
			t.Fatal(err)
		}
		_, err := ReadInputs(path, p, g)
		if want == "" && err != nil {
			t.Error(err)
		}
		var hint interface{ Hint() string }
		if want != "" && (!errors.As(err, &hint) || !strings.Contains(hint.Hint(), want)) {
			t.Errorf("%v, want hint %q", err, want)
		}
	}
}
