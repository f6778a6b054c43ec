package engine

import (
	"errors"
	"strings"
	"testing"

	"pihc/constraint"
	"pihc/internal/check"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/model"
)

// Diffusion that is far from linear, with a drawn source: the solution of what is linear about the beginning is further from it than the beginning itself.
const stiff = `
name: stiff
unknown: u
axes:
  t: {range: [0, 1], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 24, boundary: nodes}
constants: {k: POWER}
inputs: {q: {distribution: uniform, low: 0.5, high: 1}}
terms:
  u_t: {axis: t, derivative: 1}
  u_xx: {axis: x, derivative: 2}
residual: {expression: "(0.02 + abs(u))^k*u_t - 0.3*u_xx - q", rows: {t: [1, 0]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
  left: {at: {x: low}, expression: u}
  right: {at: {x: high}, expression: u}
ansatz: {offset: u0, duhamel: rows}
initial: {distribution: random-series, series: sine, parameters: {modes: 2}, scale: 0.1}
`

const stiffSpec = `
defaults: fitted
problem: a
method: hard
network: {width: 5, layers: 2, modes: {t: 3, x: 3}, projection: 6, basis: 3, precision: float64}
constraint: {experts: {}}
`

// passesOf predicts with an untrained network, repeated.
func passesOf(t *testing.T, problem string, newton bool) (passes int, residual float64, field []float64) {
	t.Helper()
	spec, p := specFor(t, problem, stiffSpec)
	spec.Constraint.Directions = *spec.Evaluation.Directions
	e := engineOn[float64](t, spec, p, 1)
	samples, err := dataset.Draws(p, e.Grid, 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Repeat[float64](e, RepeatOptions{Limit: 60, Together: 1, Newton: newton})
	if err != nil {
		t.Fatal(err)
	}
	batch := Batch{Inputs: samples, Seeds: []constraint.Seed{{Run: 1}}}
	if err := r.Predict(InitialParams[float64](e.Info()), batch, func(_ int, p *Prediction) error {
		passes, residual, field = p.Passes, p.Residual, append(field, p.Field...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return passes, residual, field
}

// With steps of Newton's method passes converge in a few, also from where the first pass is worse than what fields begin with, and to where others come in many.
func TestNewton(t *testing.T) {
	for _, power := range []string{"1", "3"} {
		problem := strings.ReplaceAll(stiff, "POWER", power)
		passes, residual, field := passesOf(t, problem, true)
		slow, left, other := passesOf(t, problem, false)
		t.Logf("power %s: %d passes to %g; without %d to %g", power, passes, residual, slow, left)
		if !(residual < 1e-6) || passes > 12 {
			t.Errorf("power %s: a residual of %g after %d passes", power, residual, passes)
		}
		if power == "1" {
			if d := check.RelativeL2(other, field); d > 10*left {
				t.Errorf("power %s: %g from where passes without such steps lead, whose residual is %g", power, d, left)
			}
		}
	}
}

// Spectral terms have no such steps, which is said.
func TestNewtonRefused(t *testing.T) {
	e := flowEngine[float64](t, model.Hard, 1, "constraint.directions=2")
	_, err := Repeat[float64](e, RepeatOptions{Limit: 9, Together: 1, Newton: true})
	if !errors.Is(err, discrete.ErrNoSteps) || !strings.Contains(err.Error(), "evaluation.newton") {
		t.Errorf("%v", err)
	}
}
