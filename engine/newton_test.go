package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"
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

// A decay that is defined above -0.05 alone: what is linear about the beginning leads below.
const rooted = `
name: rooted
unknown: u
axes:
  t: {range: [0, 1], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 24, boundary: nodes}
inputs: {s: {distribution: uniform, low: 0.25, high: 0.35}}
terms:
  u_t: {axis: t, derivative: 1}
  u_x: {axis: x, derivative: 1}
  u_xx: {axis: x, derivative: 2}
residual: {expression: "u_t - 0.1*u_xx + 8*(sqrt(u + 0.05) - sqrt(0.05))", rows: {t: [1, 0]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: "u - s*(1 + 0.2*cos(pi*x))"}
  left: {at: {x: low}, expression: u_x, rows: {t: [1, 0]}}
  right: {at: {x: high}, expression: u_x, rows: {t: [1, 0]}}
ansatz: {offset: "s*(1 + 0.2*cos(pi*x))", duhamel: rows}
`

const stiffSpec = `
defaults: fitted
problem: a
method: METHOD
network: {width: 5, layers: 2, modes: {t: 3, x: 3}, projection: 6, basis: 3, precision: float64}
constraint: {experts: {t: 2}}
`

// repeatedly are predictions by an untrained network whose passes are repeated.
type repeatedly struct {
	passes   []int
	residual []float64
	fields   [][]float64
}

func stiffEngine(t *testing.T, problem string, method string, workers int, overrides ...string) *cpu[float64] {
	t.Helper()
	spec, p := specFor(t, problem, strings.ReplaceAll(stiffSpec, "METHOD", method), overrides...)
	spec.Constraint.Directions = *spec.Evaluation.Directions
	return engineOn[float64](t, spec, p, workers)
}

func predictRepeatedly(t *testing.T, o RepeatOptions, samples int, e *cpu[float64], coarse ...Engine[float64]) (out repeatedly) {
	t.Helper()
	r, err := Repeat[float64](e, o, coarse...)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Predict(InitialParams[float64](e.Info()), drawn(t, e.Info(), samples), func(_ int, p *Prediction) error {
		out.passes, out.residual, out.fields = append(out.passes, p.Passes), append(out.residual, p.Residual), append(out.fields, slices.Clone(p.Field))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// drawn is a batch of samples.
func drawn(t *testing.T, info Info, samples int) (b Batch) {
	t.Helper()
	inputs, err := dataset.Draws(info.Problem, info.Grid, samples)
	if err != nil {
		t.Fatal(err)
	}
	b.Inputs = inputs
	for i := range inputs {
		b.Seeds = append(b.Seeds, constraint.Seed{Run: 1, Sample: uint64(i)})
	}
	return b
}

// firstLoss is the loss of the first pass of one sample over that of the field that keeps its initial values.
func firstLoss(t *testing.T, e *cpu[float64]) (ratio float64) {
	t.Helper()
	info := e.Info()
	batch := drawn(t, info, 1)
	still, err := info.StillLosses(batch.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	batch.Pass = 1
	if err := e.Predict(InitialParams[float64](info), batch, func(_ int, p *Prediction) error {
		ratio = p.Loss / still[0]
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return ratio
}

// With steps of Newton's method passes converge in a few to where others come in many; also from where the first pass has no residual at all.
func TestNewton(t *testing.T) {
	for _, c := range []struct {
		name, problem string
		undefined     bool
	}{
		{name: "near", problem: strings.ReplaceAll(stiff, "POWER", "1")},
		{name: "undefined", problem: rooted, undefined: true},
	} {
		e := stiffEngine(t, c.problem, model.Hard, 1)
		if first := firstLoss(t, e); math.IsNaN(first) != c.undefined {
			t.Errorf("%s: the first pass has %g of what fields begin with: this is another case", c.name, first)
		}
		got := predictRepeatedly(t, RepeatOptions{Limit: 60, Together: 1, Newton: true}, 1, e)
		if !(got.residual[0] < 1e-5) || got.passes[0] > 12 {
			t.Errorf("%s: a residual of %g after %d passes", c.name, got.residual[0], got.passes[0])
		}
		if c.undefined {
			continue
		}
		others := predictRepeatedly(t, RepeatOptions{Limit: 60, Together: 1}, 1, e)
		if d := check.RelativeL2(others.fields[0], got.fields[0]); !(others.residual[0] < 1e-3) || d > 1e-3 || others.passes[0] < 2*got.passes[0] {
			t.Errorf("%s: %d passes without such steps to a residual of %g, %g from those with", c.name, others.passes[0], others.residual[0], d)
		}
	}
}

// Beside a kink, where the sum of squares has minima that are no solutions, whole steps lead on: uptake at a wall that ends with what there is.
func TestNewtonKink(t *testing.T) {
	const uptake = `
name: uptake
unknown: c
axes:
  t: {range: [0, 1], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 24, boundary: nodes}
inputs: {v: {distribution: uniform, low: 0.8, high: 1.2}}
terms:
  c_t: {axis: t, derivative: 1}
  c_x: {axis: x, derivative: 1}
  c_xx: {axis: x, derivative: 2}
residual: {expression: "c_t - 0.2*c_xx"}
conditions:
  initial: {kind: initial, at: {t: low}, expression: c - c0}
  left: {at: {x: low}, expression: 0.2*c_x + 0.3*(0.2 - c), rows: {t: [1, 0]}}
  right: {at: {x: high}, expression: "0.2*c_x + v*max(c, 0)/(0.01 + max(c, 0))", rows: {t: [1, 0]}}
ansatz: {offset: c0, duhamel: rows}
initial: {distribution: random-series, series: cosine, parameters: {modes: 3, decay: 1.5}, positive: softplus, scale: 0.15, offset: 0.02}
`
	got := predictRepeatedly(t, RepeatOptions{Limit: 60, Together: 4, Newton: true}, 12, stiffEngine(t, uptake, model.Hard, 1))
	t.Log(got.passes, got.residual)
	for i, left := range got.residual {
		if !(left < 0.1) {
			t.Errorf("sample %d: a residual of %g after %d passes", i, left, got.passes[i])
		}
	}
}

// A sample whose passes end far from a solution begins again, once, with what a march leads to.
func TestNewtonLost(t *testing.T) {
	const predators = `
name: predators
unknown: [h, l]
axes:
  t: {range: [0, 1.25], points: 17, boundary: nodes}
  x: {range: [0, 10], points: 24, boundary: periodic}
terms:
  h_t: {of: h, axis: t, derivative: 1}
  l_t: {of: l, axis: t, derivative: 1}
  h_xx: {of: h, axis: x, derivative: 2}
  l_xx: {of: l, axis: x, derivative: 2}
residual:
  hares: {expression: h_t - 0.1*h_xx - h + h*l}
  lynxes: {expression: l_t - 0.3*l_xx + l - h*l}
conditions:
  start_h: {kind: initial, at: {t: low}, expression: h - h0}
  start_l: {kind: initial, at: {t: low}, expression: l - l0}
ansatz: {h: {offset: h0, multiplier: t}, l: {offset: l0, multiplier: t}}
initial:
  h: {distribution: random-series, series: periodic, parameters: {modes: 2, decay: 1}, positive: exp, scale: 1.8}
  l: {distribution: random-series, series: periodic, parameters: {modes: 2, decay: 1}, scale: 0.2, offset: 1}
`
	e := stiffEngine(t, predators, model.Hard, 1)
	r, err := Repeat[float64](e, RepeatOptions{Limit: 60, Together: 1, Newton: true})
	if err != nil {
		t.Fatal(err)
	}
	info, l := e.Info(), r.(*repeated[float64]).levels[0]
	inputs := drawn(t, info, 1).Inputs
	if err := l.load(inputs, info.Grid, 1); err != nil {
		t.Fatal(err)
	}
	s := &l.samples[0]
	s.start(l.system, inputs[0], 60)
	for i := range s.Field {
		s.Field[i] = math.Sin(float64(7 * i))
	}
	s.count, s.done = 5, true
	if l.look(s, 1, 1, 0.04, 0); !s.done {
		t.Error("a sample begins again that is near a solution")
	}
	if l.look(s, 1, 1, 0.5, 0.6); !s.done {
		t.Error("a sample begins again that meets the tolerance")
	}
	if l.look(s, 1, 1, 0.5, 0); s.done || !s.begin {
		t.Fatal("a sample that is lost does not begin again")
	}
	l.find(s)
	solver, err := discrete.New(info.Problem, info.Grid, []int{4, 1})
	if err != nil {
		t.Fatal(err)
	}
	truth := make([]float64, info.FieldSize())
	if _, err := solver.Solve(truth, inputs[0]); err != nil {
		t.Fatal(err)
	}
	if d := check.RelativeL2(s.Field, truth); d > 0.01 || s.step == nil {
		t.Errorf("it begins %g from the solution; a step follows: %v", d, s.step != nil)
	}
	s.done = true
	if l.look(s, 1, 1, 0.5, 0); !s.done {
		t.Error("a sample begins a third time")
	}
}

// A tolerance is met, also where steps end without one.
func TestNewtonTolerance(t *testing.T) {
	e := stiffEngine(t, strings.ReplaceAll(stiff, "POWER", "1"), model.Hard, 1)
	got := predictRepeatedly(t, RepeatOptions{Limit: 60, Together: 1, Newton: true, Tolerance: 1e-9}, 1, e)
	if !(got.residual[0] <= 1e-9) {
		t.Errorf("a residual of %g", got.residual[0])
	}
}

// Predictions with such steps do not depend on the samples and threads that there are at a time, nor on experts that the last pass has.
func TestNewtonSame(t *testing.T) {
	problem := strings.ReplaceAll(stiff, "POWER", "3")
	for _, method := range []string{model.Hard, model.MoE} {
		want := predictRepeatedly(t, RepeatOptions{Limit: 60, Together: 1, Newton: true, Workers: 1}, 3, stiffEngine(t, problem, method, 1))
		got := predictRepeatedly(t, RepeatOptions{Limit: 60, Together: 3, Newton: true, Workers: 2}, 3, stiffEngine(t, problem, method, 2))
		for i := range want.fields {
			if !(want.residual[i] < 1e-2) {
				t.Errorf("%s, sample %d: a residual of %g", method, i, want.residual[i])
			}
			if !slices.Equal(got.fields[i], want.fields[i]) || got.passes[i] != want.passes[i] {
				t.Errorf("%s, sample %d: other predictions, %d passes and %d", method, i, got.passes[i], want.passes[i])
			}
		}
	}
}

// On a finer grid there are steps from the first pass on.
func TestNewtonNested(t *testing.T) {
	problem := strings.ReplaceAll(stiff, "POWER", "3")
	coarse := stiffEngine(t, problem, model.Hard, 1)
	fine := stiffEngine(t, problem, model.Hard, 1, "grid={t: 33, x: 47}")
	on := predictRepeatedly(t, RepeatOptions{Limit: 60, Together: 1, Newton: true}, 1, coarse)
	got := predictRepeatedly(t, RepeatOptions{Limit: 60, Together: 1, Newton: true}, 1, fine, coarse)
	if !(got.residual[0] < 1e-5) || got.passes[0] > on.passes[0]+4 {
		t.Errorf("a residual of %g after %d passes, of which %d on the coarser grid", got.residual[0], got.passes[0], on.passes[0])
	}
}

// Passes with steps that are marched, of Navier-Stokes on a small grid, come to the least squares of the rows where others stay far from these.
func TestNewtonMarched(t *testing.T) {
	with := predictRepeatedly(t, RepeatOptions{Limit: 24, Together: 1, Newton: true}, 1, flowEngine[float64](t, model.Hard, 1, "constraint.directions=2"))
	without := predictRepeatedly(t, RepeatOptions{Limit: 24, Together: 1}, 1, flowEngine[float64](t, model.Hard, 1, "constraint.directions=2"))
	if t.Logf("%g, %g", with.residual, without.residual); !(with.residual[0] < 0.3*without.residual[0]) {
		t.Errorf("a residual of %g, %g without", with.residual[0], without.residual[0])
	}
}

// Spectral terms have no such steps where time has no direction, and without room for directions there is none for a step, which is said.
func TestNewtonRefused(t *testing.T) {
	const both = `
name: both-ends
unknown: u
axes:
  t: {range: [0, 1], points: 16, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
terms: {u_tt: {axis: t, derivative: 2}, lap: {spectral: laplacian}}
residual: {expression: u_tt + lap - u, rows: {t: [1, 1]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
  end: {at: {t: high}, expression: u}
initial: {distribution: random-series, series: periodic, parameters: {modes: 2}}
ansatz: {offset: "u0*(1 - t)", multiplier: "t*(1 - t)"}
`
	_, err := Repeat[float64](stiffEngine(t, both, model.Hard, 1, "grid={t: 16, x: 16}", "network.passes=4", "evaluation={passes: auto, directions: 2}"), RepeatOptions{Limit: 9, Together: 1, Newton: true})
	if !errors.Is(err, discrete.ErrNoSteps) || !strings.Contains(err.Error(), "evaluation.newton") {
		t.Errorf("%v", err)
	}
	_, err = Repeat[float64](flowEngine[float64](t, model.Hard, 1, "constraint.directions=0"), RepeatOptions{Limit: 9, Together: 1, Newton: true})
	if err == nil || !strings.Contains(fmt.Sprint(err), "constraint.directions") {
		t.Errorf("%v", err)
	}
}
