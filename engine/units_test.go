package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pihc/constraint"
	"pihc/data"
	"pihc/internal/check"
	"pihc/internal/dataset"
	"pihc/model"
	"pihc/pde"
)

// untrained is the prediction of a network before training, and its loss, for one initial condition.
func untrained(t *testing.T, problem, method string) (field []float64, loss float64) {
	t.Helper()
	spec, p := specFor(t, problem, "problem: a\nnetwork: {width: 4, layers: 2, precision: float64}\nconstraint: {tolerance: 1e-12, directions: 2}\n", "method="+method)
	e := engineOn[float64](t, spec, p, 1)
	next, err := dataset.NewSampler(p, e.Grid)
	if err != nil {
		t.Fatal(err)
	}
	u0 := make([]float64, e.InputSize())
	if err := next(data.SampleRand(1, 0), u0); err != nil {
		t.Fatal(err)
	}
	batch := Batch{Inputs: [][]float64{u0}, Seeds: make([]constraint.Seed, 1)}
	params := InitialParams[float64](e.Info())
	if err := e.Predict(params, batch, func(_ int, x *Prediction) error {
		field = slices.Clone(x.Field)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	stats, err := e.LossAndGrad(make([]float64, len(params)), params, batch)
	if err != nil {
		t.Fatal(err)
	}
	return field, stats.Loss
}

// A problem in other units has the same predictions, in those of its unknowns, and the same loss.
func TestUnits(t *testing.T) {
	for name, problem := range map[string]func(u, v, time, x float64) string{
		"heat": func(u, _, time, x float64) string {
			return fmt.Sprintf(`
name: a
unknown: u
axes:
  t: {range: [0, %g], points: 9, boundary: nodes}
  x: {range: [0, %g], points: 16, boundary: periodic}
terms:
  u_t: {axis: t, derivative: 1}
  u_xx: {axis: x, derivative: 2}
residual: {expression: u_t - %g*u_xx, rows: {t: [1, 0]}}
ansatz: {offset: u0, multiplier: t}
initial: {distribution: random-sines, low: -%g, high: %[4]g}
`, 0.5*time, x, 0.05*x*x/time, 0.5*u)
		},
		"two unknowns": func(u, v, time, x float64) string {
			return fmt.Sprintf(`
name: a
unknown: [u, v]
axes:
  t: {range: [0, %g], points: 9, boundary: nodes}
  x: {range: [0, %g], points: 16, boundary: periodic}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  v_t: {of: v, axis: t, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2}
residual:
  first: {expression: u_t - %g*u_xx - %g*v, rows: {t: [1, 0]}}
  second: {expression: v_t + %g*u, rows: {t: [1, 0]}}
ansatz: {u: {offset: u0, multiplier: t}, v: {offset: v0, multiplier: t}}
initial:
  u: {distribution: random-sines, low: -%g, high: %[6]g}
  v: {distribution: random-sines, low: -%g, high: %[7]g}
`, 0.5*time, x, 0.05*x*x/time, u/v/time, 2*v/u/time, 0.5*u, 0.2*v)
		},
	} {
		for _, method := range []string{model.Soft, model.Hard, model.MoE} {
			field, loss := untrained(t, problem(1, 1, 1, 1), method)
			for _, units := range [][4]float64{{1e-9, 1, 1, 1}, {1e5, 1, 1, 1}, {1, 1e5, 1, 1}, {1, 1, 1e4, 1}, {1, 1, 1, 1e-3}, {1e-3, 1e2, 1e-6, 1e2}} {
				t.Run(fmt.Sprint(name, method, units), func(t *testing.T) {
					other, otherLoss := untrained(t, problem(units[0], units[1], units[2], units[3]), method)
					for i := range other {
						other[i] /= units[i/(9*16)]
					}
					check.Close(t, other, field, 1e-6, 1e-9)
					check.Close(t, []float64{otherLoss}, []float64{loss}, 1e-6, 0)
				})
			}
		}
	}
}

func specFor(t *testing.T, problem, spec string, overrides ...string) (*model.Spec, *pde.Problem) {
	t.Helper()
	p, err := pde.Load("a.yaml", []byte(problem))
	if err != nil {
		t.Fatal(err)
	}
	s, err := model.LoadSpec("s.yaml", []byte(spec), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Fit(p); err != nil {
		t.Fatal(err)
	}
	return s, p
}

// An unknown counted from another origin, as kelvin are, has the same predictions, less that origin, and the same loss.
func TestOrigins(t *testing.T) {
	const problem = `
name: a
unknown: [c, T]
axes:
  t: {range: [0, 0.5], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
terms:
  c_t: {of: c, axis: t, derivative: 1}
  T_t: {of: T, axis: t, derivative: 1}
  T_xx: {of: T, axis: x, derivative: 2}
residual:
  species: {expression: c_t + c*(T - ORIGIN), rows: {t: [1, 0]}}
  heat: {expression: T_t - 0.05*T_xx - 2*c, rows: {t: [1, 0]}}
conditions:
  start_c: {kind: initial, at: {t: low}, expression: c - c0}
  start_T: {kind: initial, at: {t: low}, expression: T - T0}
ansatz: {c: {offset: c0, multiplier: t}, T: {offset: T0, multiplier: t}}
initial:
  c: {distribution: random-series, series: periodic, parameters: {modes: 3}, scale: 0.2}
  T: {distribution: random-series, series: periodic, parameters: {modes: 3}, scale: 0.5, offset: ORIGIN}
`
	for _, method := range []string{model.Soft, model.Hard, model.MoE} {
		field, loss := untrained(t, strings.ReplaceAll(problem, "ORIGIN", "0"), method)
		other, otherLoss := untrained(t, strings.ReplaceAll(problem, "ORIGIN", "300"), method)
		for i := 9 * 16; i < len(other); i++ {
			other[i] -= 300
		}
		check.Close(t, other, field, 1e-7, 1e-9)
		check.Close(t, []float64{otherLoss}, []float64{loss}, 1e-7, 0)
	}
}
