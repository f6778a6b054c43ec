package score

import (
	"math"
	"testing"

	"pihc/constraint"
	"pihc/data"
	"pihc/engine"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/model"
	"pihc/pde"
)

const pairProblem = `name: pair
unknown: [u, v]
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 12, boundary: periodic}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  v_t: {of: v, axis: t, derivative: 1}
residual:
  first: {expression: u_t - 0.001*v, rows: {t: [1, 0]}, weight: 2}
  second: {expression: v_t + 1000*u, rows: {t: [1, 0]}}
conditions:
  start_u: {kind: initial, at: {t: low}, expression: u - u0}
  start_v: {kind: initial, at: {t: low}, expression: v - v0}
initial: {u: {distribution: random-sines, low: 1, high: 2}, v: {distribution: random-sines, low: 1000, high: 2000}}
reference: {solver: discrete}
`

// Errors of two unknowns of very different size are those of each, and count alike; residuals
// are told apart. Everything is formed here anew from the fields that are handed out.
func TestEvaluateSystem(t *testing.T) {
	p, err := pde.Load("pair.yaml", []byte(pairProblem))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := model.LoadSpec("spec.yaml", []byte(`defaults: paper
problem: pair.yaml
network: {width: 6, layers: 1, modes: {t: 2, x: 2}, projection: 6, basis: 3, precision: float64}
constraint: {experts: {x: 2}, points: 30}
training: {window: {t: [0, 0.5]}}
`), "method=moe")
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New[float64](spec, p, engine.Options{Workers: 1, Grid: g})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	plan, err := spec.DatasetPlan(p, 1)
	if err != nil {
		t.Fatal(err)
	}
	draw, err := plan.Sampler(plan.Splits[2])
	if err != nil {
		t.Fatal(err)
	}
	solver, err := dataset.ReferenceSolver(p, g)
	if err != nil {
		t.Fatal(err)
	}
	s := Samples{Unknowns: p.UnknownNames()}
	var truths [][]float64
	size, n := g.Size(), 12
	for i := range 2 {
		u0, u := make([]float64, 2*n), make([]float64, 2*size)
		if err := draw(data.SampleRand(3, i), u0); err != nil {
			t.Fatal(err)
		}
		if _, err := solver.Solve(u, u0); err != nil {
			t.Fatal(err)
		}
		s.Inputs, s.Seeds, truths = append(s.Inputs, u0), append(s.Seeds, constraint.Seed{Sample: uint64(i)}), append(truths, u)
	}
	s.Truth = func(i int) ([]float64, error) { return truths[i], nil }
	var fields [][]float64
	out, err := Evaluate(e, engine.InitialParams[float64](e.Info()), s, func(i int, prediction *engine.Prediction) error {
		field := prediction.Field
		fields = append(fields, append([]float64{}, field...))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	close := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
			t.Errorf("%s is %g, want %g", what, got, want)
		}
	}
	both := func(a, b float64) float64 { return math.Sqrt((a*a + b*b) / 2) }
	relative := func(u, v []float64) float64 { return grid.Distance(u, v) / grid.Norm(v) }
	still := make([]float64, size)
	for i, x := range out.PerSample {
		u, v := fields[i][:size], fields[i][size:]
		tu, tv := truths[i][:size], truths[i][size:]
		close("the error of u", x.Unknowns["u"], relative(u, tu))
		close("the error of v", x.Unknowns["v"], relative(v, tv))
		close("relative_l2", x.RelativeL2, both(relative(u, tu), relative(v, tv)))
		close("nrmse", x.NRMSE, both(nrmse(u, tu), nrmse(v, tv)))
		seen := 5 * n
		close("unseen_l2", x.Unseen, both(relative(u[seen:], tu[seen:]), relative(v[seen:], tv[seen:])))
		var errs []float64
		for c, truth := range [][]float64{tu, tv} {
			for q := range still {
				still[q] = s.Inputs[i][c*n+q%n]
			}
			errs = append(errs, relative(still, truth))
		}
		close("persistence", x.Persistence, both(errs[0], errs[1]))
		// Rows of t_1 on, by differences of second order.
		var first, second float64
		rate := func(w []float64, q int) float64 {
			if q >= 8*n {
				return (3*w[q] - 4*w[q-n] + w[q-2*n]) * 4
			}
			return (w[q+n] - w[q-n]) * 4
		}
		for q := n; q < size; q++ {
			a, b := 2*(rate(u, q)-0.001*v[q]), rate(v, q)+1000*u[q]
			first, second = first+a*a, second+b*b
		}
		rows := float64(size - n)
		close("the residual of first", x.Residuals["first"], math.Sqrt(first/rows))
		close("the residual of second", x.Residuals["second"], math.Sqrt(second/rows))
		close("residual_rms", x.ResidualRMS, math.Sqrt((first+second)/(2*rows)))
	}
	if out.Unknowns["v"] == nil || out.Residuals["first"] == nil {
		t.Fatalf("%+v", out)
	}
	mean, err := s.MeanBaseline()
	if err != nil {
		t.Fatal(err)
	}
	other := truths[1] // the mean without the first
	close("the mean field's error", mean.PerSample[0].RelativeL2, both(relative(other[:size], truths[0][:size]), relative(other[size:], truths[0][size:])))
	held, err := s.PersistenceBaseline(out, p, g)
	if err != nil {
		t.Fatal(err)
	}
	for q := range still {
		still[q] = s.Inputs[0][n+q%n]
	}
	close("the error of v by persistence", held.PerSample[0].Unknowns["v"], relative(still, truths[0][size:]))
	close("the error of persistence", held.RelativeL2.Mean, out.Persistence.Mean)
	zero, err := s.ZeroBaseline()
	if err != nil {
		t.Fatal(err)
	}
	close("the error of zero", zero.PerSample[1].RelativeL2, 1)
}
