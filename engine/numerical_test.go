package engine

import (
	"math"
	"slices"
	"testing"

	"pihc/compute"
	"pihc/model"
)

// Bases and initial conditions that leave a solve nothing to hold on to: each ends in
// a status, loss and gradient are finite where the numbers that go in are, and a loss
// that is not is not taken for one.
func TestNumericalFaults(t *testing.T) {
	tensor := func(e *cpu[float64], params []float64, name string) ([]float64, int) {
		at := slices.IndexFunc(e.Layout, func(t compute.Tensor) bool { return t.Name == name })
		l := e.Layout[at]
		return params[l.Offset : l.Offset+l.Size()], l.Shape[len(l.Shape)-1]
	}
	// outputs changes the output layer: of N basis functions.
	outputs := func(change func(weights []float64, n int)) func(*cpu[float64], []float64) {
		return func(e *cpu[float64], params []float64) {
			for _, name := range []string{"output.weight", "output.bias"} {
				change(tensor(e, params, name))
			}
		}
	}
	nothing := func(*cpu[float64], []float64) {}
	value := func(v float64) []float64 { return slices.Repeat([]float64{v}, 24) }
	for _, c := range []struct {
		name      string
		change    func(e *cpu[float64], params []float64)
		initial   []float64
		finite    bool
		overrides []string
	}{
		{"no basis at all", func(_ *cpu[float64], p []float64) { clear(p) }, value(0.1), true, nil},
		{"a zero column", outputs(func(w []float64, n int) {
			for i := 0; i < len(w); i += n {
				w[i] = 0
			}
		}), value(0.1), true, nil},
		{"identical basis functions", outputs(func(w []float64, n int) {
			for i := range w {
				w[i] = w[i-i%n]
			}
		}), value(0.1), true, nil},
		{"fewer rows than unknowns", nothing, value(0.1), true, []string{"network.basis=40", "constraint.points=1", "constraint.condition_rows=local"}},
		{"a basis of 1e150", outputs(func(w []float64, _ int) {
			for i := range w {
				w[i] *= 1e150
			}
		}), value(0.1), true, nil},
		{"a parameter NaN", func(_ *cpu[float64], p []float64) { p[3] = math.NaN() }, value(0.1), false, nil},
		{"a parameter Inf", func(_ *cpu[float64], p []float64) { p[3] = math.Inf(1) }, value(0.1), false, nil},
		{"u0 = 0", nothing, value(0), true, nil},
		{"u0 = 0.2", nothing, value(0.2), true, nil},
		{"u0 = 1e-300", nothing, value(1e-300), true, nil},
		{"u0 NaN", nothing, value(math.NaN()), false, nil},
		{"u0 Inf", nothing, value(math.Inf(1)), false, nil},
	} {
		for _, method := range []string{model.Hard, model.MoE} {
			for _, ridge := range []string{"constraint.ridge=1e-4", "constraint.ridge=0"} {
				e := toyEngine[float64](t, "diffusion-sorption", method, "mean-square", 1, 1, append(c.overrides, ridge, "constraint.tolerance=1e-4", "constraint.max_iterations=50")...)
				params := InitialParams[float64](e.Info())
				c.change(e, params)
				batch := toyBatch(24, 1)
				batch.Inputs[0] = c.initial
				grad := make([]float64, len(params))
				st, err := e.LossAndGrad(grad, params, batch)
				if err != nil {
					t.Errorf("%s, %s, %s: %v", c.name, method, ridge, err)
				}
				good := st.Finite() && !slices.ContainsFunc(grad, func(g float64) bool { return math.IsNaN(g) || math.IsInf(g, 0) })
				if good != c.finite {
					t.Errorf("%s, %s, %s: loss %g and gradient finite: %v, want %v", c.name, method, ridge, st.Loss, good, c.finite)
				}
				err = e.Predict(params, batch, func(_ int, p *Prediction) error {
					for k, o := range p.Experts {
						if o.Status.String() == "" || c.finite && o.Status.Err() != nil && st.Failed == 0 || math.IsNaN(o.Cost) && o.Status.Err() == nil {
							t.Errorf("%s, %s, %s: expert %d: %v, cost %g, %d failed", c.name, method, ridge, k, o.Status, o.Cost, st.Failed)
						}
					}
					return nil
				})
				if err != nil {
					t.Errorf("%s, %s, %s: %v", c.name, method, ridge, err)
				}
			}
		}
	}
}
