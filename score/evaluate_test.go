package score

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pihc/constraint"
	"pihc/engine"
	"pihc/grid"
	"pihc/model"
	"pihc/pde"
	"pihc/sim"
)

const evaluateSpec = `
defaults: paper
problem: diffusion-sorption
grid: {t: 13, x: 24}
network: {width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 6, precision: float64}
constraint: {experts: {x: 3}, points: 60, tolerance: 1e-10}
`

// testSamples are constant initial conditions with their classical solutions.
func testSamples(t *testing.T, e engine.Engine[float64], values []float64) Samples {
	t.Helper()
	info := e.Info()
	p, g := info.Problem, info.Grid
	solver, err := sim.New(p.Reference.Solver, sim.Setting{Axes: g.Axes, Constants: p.Reference.Constants})
	if err != nil {
		t.Fatal(err)
	}
	s := Samples{}
	var fields [][]float64
	for i, v := range values {
		u0, field := slices.Repeat([]float64{v}, info.InputSize()), make([]float64, g.Size())
		if _, err := solver.Solve(field, u0); err != nil {
			t.Fatal(err)
		}
		s.Inputs, fields = append(s.Inputs, u0), append(fields, field)
		s.Seeds = append(s.Seeds, constraint.Seed{Sample: uint64(i)})
	}
	s.Truth = func(i int) ([]float64, error) { return fields[i], nil }
	return s
}

func testEngine(t *testing.T, method string, set ...string) engine.Engine[float64] {
	t.Helper()
	spec, err := model.LoadSpec("spec", []byte(evaluateSpec), append(set, "method="+method)...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(spec.Problem)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New[float64](spec, p, engine.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// residuals are those of fields, solutions and initial conditions held, relative to the
// rate of the solution, formed from the terms of diffusion-sorption by name.
func residuals(t *testing.T, e engine.Engine[float64], s Samples, fields [][]float64) (own, truths, held []float64) {
	t.Helper()
	info := e.Info()
	sys, err := info.Problem.Discretize(info.Grid)
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]float64{}
	for _, c := range info.Problem.Constants {
		constants[c.Name] = c.Value
	}
	term := func(name string, u []float64) []float64 {
		op := sys.Terms[slices.IndexFunc(sys.Terms, func(o pde.Operator) bool { return o.Name == name })]
		z := make([]float64, len(u))
		op.Apply(z, u)
		return z
	}
	rms := func(u []float64) (residual, rate float64) {
		uT, uXX := term("u_t", u), term("u_xx", u)
		for _, p := range sys.Residuals()[0].Points {
			v := max(u[p], constants["u_floor"])
			r := 1 + (1-constants["phi"])/constants["phi"]*constants["rho_s"]*constants["k"]*constants["n_f"]*math.Pow(v+1e-6, constants["n_f"]-1)
			f := uT[p] - constants["D"]/r*uXX[p]
			residual, rate = residual+f*f, rate+uT[p]*uT[p]
		}
		return math.Sqrt(residual), math.Sqrt(rate)
	}
	for i, u := range fields {
		truth, _ := s.Truth(i)
		r, rate := rms(truth)
		mine, _ := rms(u)
		still, _ := rms(slices.Repeat(s.Inputs[i], len(u)/len(s.Inputs[i])))
		own, truths, held = append(own, mine/rate), append(truths, r/rate), append(held, still/rate)
	}
	return own, truths, held
}

// Evaluate against the same numbers formed here from the fields it hands out.
func TestEvaluate(t *testing.T) {
	for _, method := range model.Methods {
		t.Run(method, func(t *testing.T) {
			e := testEngine(t, method)
			s := testSamples(t, e, []float64{0.05, 0.1, 0.15})
			var fields [][]float64
			got, err := Evaluate(e, engine.InitialParams[float64](e.Info()), s, func(_ int, prediction *engine.Prediction) error {
				u := prediction.Field
				fields = append(fields, slices.Clone(u))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			info := e.Info()
			n := info.InputSize()
			var errs, initial, still []float64
			for i, u := range fields {
				truth, _ := s.Truth(i)
				errs = append(errs, grid.RelativeL2(u, truth, 1))
				// The initial rows of this problem are u - u0, without a weight.
				initial = append(initial, grid.Distance(u[:n], s.Inputs[i])/math.Sqrt(float64(n)))
				still = append(still, grid.RelativeL2(slices.Repeat(s.Inputs[i], len(truth)/n), truth, 1))
			}
			near := func(what string, got *Summary, want Summary) {
				t.Helper()
				if got == nil || math.Abs(got.Mean-want.Mean) > 1e-9*want.Mean+1e-14 || math.Abs(got.Max-want.Max) > 1e-9*want.Max+1e-14 {
					t.Errorf("%s is %v, want %v", what, got, want)
				}
			}
			near("relative_l2", got.RelativeL2, Summarize(errs))
			near("initial_error", got.InitialError, Summarize(initial))
			near("condition initial", got.Conditions["initial"], Summarize(initial))
			var walls []float64
			for _, x := range got.PerSample { // as many rows of either wall
				walls = append(walls, math.Hypot(x.Conditions["left"], x.Conditions["right"])/math.Sqrt2)
			}
			near("boundary_error of conditions", got.BoundaryError, Summarize(walls))
			near("persistence", got.Persistence, Summarize(still))
			own, truths, held := residuals(t, e, s, fields)
			near("relative_residual", got.RelativeResidual, Summarize(own))
			near("truth_residual", got.TruthResidual, Summarize(truths))
			near("persistence_residual", got.PersistenceResidual, Summarize(held))
			got.Grids = []Evaluation{*got}
			b := got.persistence()
			near("persistence baseline", b.RelativeL2, Summarize(still))
			near("persistence baseline on the other grid", b.Grids[0].RelativeL2, Summarize(still))
			if got.Samples != 3 || got.Method != method || got.ResidualRMS == nil || got.BoundaryError == nil {
				t.Errorf("incomplete: %+v", got)
			}
			if want := map[string]int{model.Soft: 0, model.Hard: 1, model.MoE: 3}[method]; len(got.Experts) != want {
				t.Errorf("%d experts, want %d", len(got.Experts), want)
			}
			for k, x := range got.Experts {
				total := 0
				for _, count := range x.Statuses {
					total += count
				}
				if total != 3 || !(x.Iterations.Mean > 0) || !(x.ConstraintRMS.Mean > 0) {
					t.Errorf("expert %d: %+v", k, x)
				}
			}
			if (got.BorderJump != nil) != (method == model.MoE) {
				t.Errorf("border jump %v", got.BorderJump)
			}
		})
	}
}

// fieldJump returns the root mean square jump of field u, of the given shape,
// across expert borders: at every grid line that crosses a border between
// points i-1 and i, the difference of the values extrapolated linearly to the
// middle from either side,
//
//	(3 u[i] - u[i+1])/2 - (3 u[i-1] - u[i-2])/2,
//
// so that a smooth field has a jump of second order in the spacing only.
// starts[a] lists, for axis a, the first index of every expert but the first.
// Borders with fewer than two points on a side use the nearest value there.
// The result is 0 without borders.
func fieldJump(u []float64, shape []int, starts [][]int) float64 {
	total := 1
	for _, n := range shape {
		total *= n
	}
	if total != len(u) || len(starts) > len(shape) {
		panic("report: shape does not fit the field")
	}
	var jumps []float64
	stride := total
	for axis, n := range shape {
		stride /= max(n, 1)
		if axis >= len(starts) {
			break
		}
		for _, i := range starts[axis] {
			if i < 1 || i >= n {
				continue
			}
			for p := range u {
				if p/stride%n != i {
					continue
				}
				high, low := u[p], u[p-stride]
				if i+1 < n {
					high = 1.5*u[p] - 0.5*u[p+stride]
				}
				if i >= 2 {
					low = 1.5*u[p-stride] - 0.5*u[p-2*stride]
				}
				jumps = append(jumps, high-low)
			}
		}
	}
	return grid.Norm(jumps) / math.Sqrt(float64(max(1, len(jumps))))
}

// fieldJump looks at the assembled field alone, the engine at both experts'
// own fields: they agree up to the spacing.
func TestBorderJumpAgrees(t *testing.T) {
	e := testEngine(t, model.MoE)
	s := testSamples(t, e, []float64{0.1})
	info := e.Info()
	starts := make([][]int, len(info.Grid.Axes))
	division, err := info.Router.Divide(info.Grid)
	if err != nil {
		t.Fatal(err)
	}
	for k := 1; k < info.Experts; k++ {
		starts[1] = append(starts[1], int(division.Points(k)[0])%info.Grid.Axes[1].Points)
	}
	var want float64
	got, err := Evaluate(e, engine.InitialParams[float64](e.Info()), s, func(_ int, prediction *engine.Prediction) error {
		u := prediction.Field
		want = fieldJump(u, info.Grid.Shape(), starts)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if jump := got.BorderJump.Mean; jump < want/2 || jump > 2*want {
		t.Errorf("border jump %g, from the field %g", jump, want)
	}
}

func TestEvaluateStops(t *testing.T) {
	e := testEngine(t, model.Soft)
	stop := errors.New("stop")
	s := testSamples(t, e, []float64{0.1, 0.2})
	if _, err := Evaluate(e, engine.InitialParams[float64](e.Info()), s, func(int, *engine.Prediction) error { return stop }); err != stop {
		t.Errorf("error %v", err)
	}
	s.Truth = func(int) ([]float64, error) { return nil, stop }
	if _, err := Evaluate(e, engine.InitialParams[float64](e.Info()), s, nil); err != stop {
		t.Errorf("error %v", err)
	}
	// Without solutions there are no errors, but all the rest.
	s.Truth = nil
	got, err := Evaluate(e, engine.InitialParams[float64](e.Info()), s, nil)
	if err != nil || got.RelativeL2 != nil || got.NRMSE != nil || got.ResidualRMS == nil {
		t.Errorf("%+v, %v", got, err)
	}
	// A network that is not finite is infinitely bad, not absent.
	bad := engine.InitialParams[float64](e.Info())
	bad[0] = math.NaN()
	s = testSamples(t, e, []float64{0.1})
	if got, err = Evaluate(e, bad, s, nil); err != nil || !math.IsInf(got.RelativeL2.Max, 1) {
		t.Errorf("%+v, %v", got, err)
	}
}

// The two baselines on fields that are linear in the initial condition.
func TestBaselines(t *testing.T) {
	field := func(v float64) []float64 { return []float64{1 + v, 2 - v, 3 * v} }
	values := []float64{0, 1, 2}
	s := Samples{Truth: func(i int) ([]float64, error) { return field(values[i]), nil }, Grid: []int{1, 3}}
	for _, v := range values {
		s.Inputs = append(s.Inputs, []float64{v, v})
	}
	mean, err := s.MeanBaseline()
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range mean.PerSample {
		others := []float64{1.5, 1, 0.5}[i] // mean of the other two
		if want := grid.RelativeL2(field(others), field(values[i]), 1); math.Abs(x.RelativeL2-want) > 1e-15 {
			t.Errorf("mean field, sample %d: %g, want %g", i, x.RelativeL2, want)
		}
	}
	linear, ok, err := s.InterpolationBaseline(Endpoint{-1, field(-1)}, Endpoint{3, field(3)})
	if err != nil || !ok || linear.RelativeL2.Max > 1e-14 {
		t.Errorf("interpolation: %+v, %v, %v", linear, ok, err)
	}
	s.Inputs[1] = []float64{1, 1.5}
	if _, ok, err := s.InterpolationBaseline(Endpoint{-1, field(-1)}, Endpoint{3, field(3)}); ok || err != nil {
		t.Errorf("interpolation of initial conditions that are no constants: %v, %v", ok, err)
	}
}

// A sample's mean is that of its first input.
func TestInitialMean(t *testing.T) {
	s := Samples{Inputs: [][]float64{{1, 3, 10, 20}}, First: 2}
	if got := s.initialMean(0); got != 2 {
		t.Errorf("mean %g, want 2", got)
	}
}

// The mean of an initial condition is zero where rounding is all there is of it, in any unit.
func TestInitialMeanOfRounding(t *testing.T) {
	for _, unit := range []float64{1, 1e-12, 1e9} {
		s := Samples{First: 3}
		for _, last := range []float64{-2, 1} {
			s.Inputs = append(s.Inputs, []float64{unit, unit * (1 + 1e-8), last * unit, 7 * unit})
		}
		if got := s.initialMean(0); got != 0 {
			t.Errorf("unit %g: mean %g of rounding", unit, got)
		}
		if got := s.initialMean(1); math.Abs(got-unit) > 1e-7*unit {
			t.Errorf("unit %g: mean %g", unit, got)
		}
	}
}
