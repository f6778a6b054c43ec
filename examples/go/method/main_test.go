package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pihc/constraint"
	"pihc/engine"
	"pihc/grid"
	"pihc/model"
	"pihc/pde"
	"pihc/sim"
)

// small has odd sizes and different weights; its solves go on until they can get no better.
func small(experts int) *method {
	m := &method{
		nt: 9, nx: 24, mt: 3, mx: 4, width: 6, fourier: 2, hidden: 8, basis: 4, experts: experts, scale: 0.5, start: 0.1, ridge: 1e-4,
		tolerance: 1e-13, iterations: 300, solveWeights: [4]float64{0.3, 1.5, 0.8, 1.1}, lossWeights: [4]float64{2, 3, 0.5, 0.7}, borderRows: 0.2,
	}
	return m.prepare()
}

// parameters draws some, of all layers, and initial conditions that are not constant.
func (m *method) parameters(rng *rand.Rand) (params []float64, inputs [][]float64) {
	params = make([]float64, m.size)
	for i := range params {
		params[i] = 0.4 * rng.NormFloat64()
	}
	for i := range 3 {
		u0 := make([]float64, m.nx)
		for j := range u0 {
			u0[j] = 0.4 + 0.1*float64(i) + 0.05*math.Sin(float64(i+j))
		}
		inputs = append(inputs, u0)
	}
	return params, inputs
}

// library returns the engine of pihc for the same experiment, and the plan that it works by.
func (m *method) library(t *testing.T, method string, points int) (engine.Engine[float64], *engine.Plan) {
	t.Helper()
	s, l := m.solveWeights, m.lossWeights
	text := fmt.Sprintf(`
defaults: paper
problem: diffusion-sorption
method: %s
grid: {t: %d, x: %d}
network: {width: %d, layers: %d, modes: {t: %d, x: %d}, projection: %d, basis: %d, initial_scale: %g, precision: float64}
constraint: {experts: {x: %d}, points: %d, weights: {residual: %g, initial: %g, left: %g, right: %g},
  start: %g, ridge: %g, tolerance: %g, cost_tolerance: 0, max_iterations: %d}
loss: {weights: {residual: %g, initial: %g, left: %g, right: %g}, border_rows: {start: %g, end: %g}}
`, method, m.nt, m.nx, m.width, m.fourier, m.mt, m.mx, m.hidden, m.basis, m.scale, max(m.experts, 1), points, s[0], s[1], s[2], s[3],
		m.start, m.ridge, m.tolerance, m.iterations, l[0], l[1], l[2], l[3], m.borderRows, m.borderRows)
	spec, err := model.LoadSpec("spec.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	problem, err := pde.Open(spec.Problem)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New[float64](spec, problem, engine.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	plan, err := engine.NewPlan(spec, problem, engine.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e, plan
}

// TestEqual compares loss and gradient with those of pihc, for the same parameters, initial conditions and sampled
// points.
func TestEqual(t *testing.T) {
	for _, x := range []struct {
		method          string
		experts, points int
	}{{"soft", 0, 0}, {"hard", 1, 0}, {"hard", 1, 60}, {"moe", 3, 0}, {"moe", 3, 30}, {"moe", 5, 20}} {
		t.Run(fmt.Sprintf("%s %d experts %d points", x.method, x.experts, x.points), func(t *testing.T) {
			m, rng := small(x.experts), rand.New(rand.NewPCG(1, 2))
			e, plan := m.library(t, x.method, x.points)
			params, inputs := m.parameters(rng)
			if size := e.Info().Layout.Size(); size != len(params) {
				t.Fatalf("%d parameters, and %d of the library", len(params), size)
			}
			batch := engine.Batch{Inputs: inputs}
			grad, want, loss := make([]float64, len(params)), make([]float64, len(params)), 0.0
			for i, u0 := range inputs {
				seed := constraint.Seed{Run: 1, Step: 2, Sample: uint64(i)}
				batch.Seeds = append(batch.Seeds, seed)
				rows := m.route(0, rng)
				for k := 0; x.points > 0 && k < x.experts; k++ {
					points := make([]int32, x.points)
					plan.Last.SamplePoints(points, make([]int32, x.points), 0, k, 0, seed)
					rows[k] = slices.DeleteFunc(rows[k], func(r *row) bool { return r.set == residual && !slices.Contains(points, int32(r.point)) })
				}
				loss += m.addGradient(grad, params, u0, rows) / 3
			}
			stats, err := e.LossAndGrad(want, params, batch)
			if err != nil {
				t.Fatal(err)
			}
			if stats.Failed > 0 || stats.Fallbacks > 0 {
				t.Errorf("%d solves and %d adjoints of the library failed", stats.Failed, stats.Fallbacks)
			}
			if !(math.Abs(loss/stats.Loss-1) < 1e-10) {
				t.Errorf("the loss is %.16g, and %.16g by the library", loss, stats.Loss)
			}
			for _, tensor := range e.Info().Layout {
				largest, difference := 0.0, 0.0
				for i := tensor.Offset; i < tensor.Offset+tensor.Size(); i++ {
					largest, difference = max(largest, math.Abs(want[i])), max(difference, math.Abs(grad[i]/3-want[i]))
				}
				t.Logf("%s differs by %.2g", tensor.Name, difference/largest)
				if !(difference < 1e-10*largest) {
					t.Errorf("the gradient of %s differs by %.2g of its largest value", tensor.Name, difference/largest)
				}
			}
		})
	}
}

// TestGradient compares the gradient with differences of the loss, every solve done anew.
func TestGradient(t *testing.T) {
	for _, experts := range []int{0, 1, 3} {
		m, rng := small(experts), rand.New(rand.NewPCG(3, 4))
		params, inputs := m.parameters(rng)
		rows := m.route(40, rng)
		direction, grad := make([]float64, len(params)), make([]float64, len(params))
		for i := range direction {
			direction[i] = rng.NormFloat64()
		}
		at := func(h float64) float64 {
			moved := slices.Clone(params)
			axpy(moved, h, direction)
			return m.addGradient(make([]float64, len(params)), moved, inputs[0], rows)
		}
		m.addGradient(grad, params, inputs[0], rows)
		const h = 1e-6 // differences of fourth order; R has a kink
		want := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
		if got := dot(grad, direction); !(math.Abs(got-want) < 1e-7*math.Abs(want)) {
			t.Errorf("%d experts: %.10g along a direction, and %.10g by differences", experts, got, want)
		}
	}
}

// TestClassical compares the solver that errors are measured by with that of pihc.
func TestClassical(t *testing.T) {
	m := small(1)
	s, err := sim.New("diffusion-sorption", sim.Setting{
		Axes: []grid.Axis{
			{Name: "t", Hi: 500, Points: m.nt, Boundary: grid.Nodes},
			{Name: "x", Hi: 1, Points: m.nx, Boundary: grid.Cells},
		},
		Constants: map[string]float64{"D": 5e-4, "phi": 0.29, "rho_s": 2880, "k": 3.5e-4, "n_f": 0.874},
		Options:   map[string]any{"rtol": 1e-8, "atol": 1e-10},
	})
	if err != nil {
		t.Fatal(err)
	}
	want, u0 := make([]float64, m.nt*m.nx), slices.Repeat([]float64{0.1}, m.nx)
	if _, err := s.Solve(want, u0); err != nil {
		t.Fatal(err)
	}
	if d := grid.RelativeL2(m.classical(u0), want, 1); !(d < 1e-3) {
		t.Errorf("solutions differ by %.2g", d)
	}
}

// TestTraining requires that a short training brings predictions near the solution.
func TestTraining(t *testing.T) {
	m := small(2)
	m.nt, m.scale, m.start, m.solveWeights, m.lossWeights = 33, 0.2, 0.3, [4]float64{0.14, 1, 1, 1}, [4]float64{2, 10, 10, 10}
	m.tolerance, m.rows, m.waves, m.count = 1e-4, nil, nil, [4]float64{}
	if wrong := m.prepare().train(60); !(wrong < 0.2) { // 0.77 at first
		t.Errorf("the error is %.3g after 60 steps", wrong)
	}
}
