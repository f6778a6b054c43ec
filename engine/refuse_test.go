package engine

import (
	"strings"
	"testing"

	"pihc/model"
	"pihc/pde"
)

// Impossible combinations are one line each.
func TestEngineRefuses(t *testing.T) {
	for _, test := range []struct {
		overrides []string
		want      string
	}{
		{[]string{"grid.x=4"}, "network.modes.x is 8 (0..7); a real axis of 4 points holds at most 3"},
		{[]string{"grid.t=11"}, "network.modes.t is 8"},
		{[]string{"grid.x=2", "network.modes={t: 8, x: 1}"}, "axis x has 2 points"},
		{[]string{"network.matmul=tf32"}, "network.matmul: tf32: engine cpu multiplies float32 numbers as they are; want float32, or engine xla"},
		{[]string{"grid.y=4"}, `has no axis "y"`},
		{[]string{"network.modes.z=4"}, `network.modes: no axis "z"; the axes are t, x`},
		{[]string{"constraint.points=20000"}, "20000 asked for, but the subdomain of expert 0 holds"},
		{[]string{"constraint.experts={x: 40}"}, "axis x has 32 points, too few for 40 experts"},
		{[]string{"constraint.weights={wall: 1}"}, `no rows are called "wall"`},
		{[]string{"loss.weights={wall: 1}"}, `no rows are called "wall"`},
	} {
		s, err := model.LoadSpec("s.yaml", []byte("defaults: paper\nproblem: diffusion-sorption\ngrid: {t: 21, x: 32}\nconstraint: {points: 10}\nnetwork: {width: 4, layers: 1, modes: {t: 8, x: 8}}\n"), test.overrides...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pde.Open(s.Problem)
		if err != nil {
			t.Fatal(err)
		}
		e, err := newCPU[float32](s, p, Options{Workers: 1})
		if err == nil {
			e.Close()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want one line with %q", test.overrides, err, test.want)
		}
	}
}
