package experiment

import (
	"strings"
	"testing"

	"pihc/pde"
)

// A diffusivity whose range begins below zero, which one draw in a hundred has, is looked at at the ends of the range.
func TestExamineEndsOfDrawnNumbers(t *testing.T) {
	for low, ill := range map[string]bool{"-0.01": true, "0.01": false} {
		p, err := pde.Load("heat.yaml", []byte(`name: heat
unknown: u
axes:
  t: {range: [0, 1], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
terms:
  u_t: {axis: t, derivative: 1}
  u_xx: {axis: x, derivative: 2}
residual: {expression: u_t - D*u_xx}
conditions:
  start: {at: {t: low}, expression: u - u0}
initial: {distribution: random-sines, low: -1, high: 1}
inputs:
  D: {distribution: uniform, low: `+low+`, high: 1}
`))
		if err != nil {
			t.Fatal(err)
		}
		x, err := examine(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.HasPrefix(x.IllPosed, "ill-posed for 1 of 18 samples"); got != ill || len(x.Faults) > 0 {
			t.Errorf("D from %s: %q, faults %q", low, x.IllPosed, x.Faults)
		}
	}
}
