package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pihc/constraint"
	"pihc/engine"
	"pihc/model"
	"pihc/pde"
)

// spec is small in the keys of the library; solves go on until they can get no better.
func (m *method) spec(method string, points int) string {
	return fmt.Sprintf(`
defaults: paper
problem: diffusion-sorption
method: %s
grid: {t: %d, x: %d}
network: {width: %d, layers: %d, modes: {t: %d, x: %d}, projection: %d, basis: %d, initial_scale: %g, precision: float64}
constraint: {experts: {x: %d}, points: %d, weights: {residual: %g, initial: %g, left: %g, right: %g}, start: %g, ridge: %g, tolerance: %g, cost_tolerance: 0, max_iterations: %d}
loss: {weights: {residual: %g, initial: %g, left: %g, right: %g}, border_rows: {start: %g, end: %g}}
`, method, m.nt, m.nx, m.width, m.fourier, m.mt, m.mx, m.hidden, m.basis, m.scale,
		max(m.experts, 1), points, m.solveWeights[0], m.solveWeights[1], m.solveWeights[2], m.solveWeights[3], m.start, m.ridge, m.tolerance, m.iterations,
		m.lossWeights[0], m.lossWeights[1], m.lossWeights[2], m.lossWeights[3], m.borderRows, m.borderRows)
}

// small has odd sizes and different weights.
func small(experts int) *method {
	m := &method{
		nt: 9, nx: 24, mt: 3, mx: 4, width: 6, fourier: 2, hidden: 8, basis: 4, experts: experts, scale: 0.5, start: 0.1, ridge: 1e-4,
		tolerance: 1e-13, iterations: 300, solveWeights: [4]float64{0.3, 1.5, 0.8, 1.1}, lossWeights: [4]float64{2, 3, 0.5, 0.7}, borderRows: 0.2,
	}
	return m.prepare()
}

// TestEqual compares loss and gradient with those of the library's engine, for the same parameters, initial
// conditions and sampled points.
func TestEqual(t *testing.T) {
	for _, x := range []struct {
		method          string
		experts, points int
	}{{"soft", 0, 0}, {"hard", 1, 0}, {"hard", 1, 60}, {"moe", 3, 0}, {"moe", 3, 30}, {"moe", 5, 20}} {
		t.Run(fmt.Sprintf("%s of %d, %d points", x.method, x.experts, x.points), func(t *testing.T) {
			m := small(x.experts)
			text := m.spec(x.method, x.points)
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
			defer e.Close()
			plan, err := engine.NewPlan(spec, problem, engine.Options{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			params := e.Info().Initial()
			if _, size := m.layers(nil); size != len(params) {
				t.Fatalf("%d parameters, and %d of the library", size, len(params))
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range params {
				params[i] += 0.1 * rng.NormFloat64()
			}
			var batch engine.Batch
			var loss float64
			grad, want := make([]float64, len(params)), make([]float64, len(params))
			for i := range 3 {
				u0 := make([]float64, m.nx)
				for j := range u0 {
					u0[j] = 0.4 + 0.1*float64(i) + 0.05*math.Sin(float64(i+j))
				}
				seed := constraint.Seed{Run: 1, Step: 2, Sample: uint64(i)}
				batch.Inputs, batch.Seeds = append(batch.Inputs, u0), append(batch.Seeds, seed)
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
			t.Logf("loss %.17g, library %.17g, iterations %g failed %d fallbacks %d", loss, stats.Loss, stats.Iterations, stats.Failed, stats.Fallbacks)
			if d := math.Abs(loss/stats.Loss - 1); !(d < 1e-10) {
				t.Errorf("the loss is %.16g, and %.16g by the library", loss, stats.Loss)
			}
			for _, tensor := range e.Info().Layout {
				largest, difference := 0.0, 0.0
				for i := tensor.Offset; i < tensor.Offset+tensor.Size(); i++ {
					largest, difference = max(largest, math.Abs(want[i])), max(difference, math.Abs(grad[i]/3-want[i]))
				}
				t.Logf("%s: %.2g", tensor.Name, difference/largest)
				if !(difference < 1e-10*largest) {
					t.Errorf("the gradient of %s differs by %.2g of its largest", tensor.Name, difference/largest)
				}
			}
		})
	}
}
