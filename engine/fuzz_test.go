package engine

import (
	"testing"

	"pihc/model"
	"pihc/pde"
)

// A spec and a PDE file, on any bytes, as far as an engine: an error, or an engine
// whose needs were estimated before.
func FuzzExperiment(f *testing.F) {
	p, err := pde.Open("diffusion-sorption")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("defaults: paper\nproblem: a\ngrid: {t: 9, x: 24}\nnetwork: {width: 4, layers: 1, modes: {t: 2, x: 2}, projection: 4, basis: 3}\nconstraint: {experts: {x: 3}, points: 30}\n"), p.Source)
	f.Add([]byte("defaults: paper\nproblem: a\ngrid: {t: 9, x: 16}\nmethod: soft\nnetwork: {width: 4, layers: 1, modes: {t: 2, x: 2}, projection: 4}\n"), []byte(`name: burgers
unknown: u
axes:
  t: {range: [0, 0.5], points: 33, boundary: nodes}
  x: {range: [0, 1], points: 64, boundary: periodic}
constants: {nu: 0.02}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
  u_x: {axis: x, derivative: 1, order: 4}
  u_xx: {axis: x, derivative: 2, order: 4}
residual: {expression: u_t + u*u_x - nu*u_xx, rows: {t: [1, 0]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0, weight: 3}
initial: {distribution: random-sines, low: -0.5, high: 0.5}
`))
	f.Fuzz(func(t *testing.T, specText, problemText []byte) {
		spec, err := model.LoadSpec("fuzz.yaml", specText)
		if err != nil {
			return
		}
		p, err := pde.Load("fuzz-problem.yaml", problemText)
		if err != nil {
			return
		}
		g, err := p.Grid(spec.Grid)
		if err != nil {
			return
		}
		needs, err := Estimate(spec, p, g, 1, 1, true)
		if err != nil || needs.Bytes() > 1<<24 {
			return
		}
		e, err := New[float32](spec, p, Options{Workers: 1})
		if err != nil {
			return
		}
		e.Close()
	})
}
