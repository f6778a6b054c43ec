package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pihc/constraint"
	"pihc/grid"
	"pihc/internal/check"
	"pihc/model"
	"pihc/pde"
)

const (
	// A forced equation whose time is seen in the residual, in a wall's value and in the ansatz.
	forced = `
name: forced
unknown: u
axes:
  t: {range: [0.5, 2.5], points: 33, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: nodes}
terms:
  u_t: {axis: t, derivative: 1, order: 4}
  u_xx: {axis: x, derivative: 2, order: 4}
residual: {expression: u_t + u - 0.1*u_xx - cos(3*t) - 0.2*t*x, weight: 2 - 0.1*t}
conditions:
  initial: {kind: initial, at: {t: low}, expression: 3*(u - 2*u0)}
  left: {at: {x: low}, expression: u - sin(t), weight: 2}
ansatz: {offset: "2*u0 + (1 - x)*(sin(t) - sin(0.5))", multiplier: "x*(t - 0.5)/2"}
initial: {distribution: random-sines, low: 0.5, high: 1}
`
	// The same for one segment of four, by hand.
	forcedSegment = `
name: forced
unknown: u
axes:
  t: {range: [0.5, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: nodes}
inputs: {b: {distribution: uniform, low: 0, high: 1.5}}
terms:
  u_t: {axis: t, derivative: 1, order: 4}
  u_xx: {axis: x, derivative: 2, order: 4}
residual: {expression: u_t + u - 0.1*u_xx - cos(3*(t + b)) - 0.2*(t + b)*x, weight: 2 - 0.1*t}
conditions:
  initial: {kind: initial, at: {t: low}, expression: 3*(u - u0)}
  left: {at: {x: low}, expression: u - sin(t + b), weight: 2}
ansatz: {offset: "u0 + (1 - x)*(sin(t + b) - sin(0.5 + b))", multiplier: "x*(t - 0.5)/0.5"}
initial: {distribution: random-sines, low: 0.5, high: 1}
`
	rolloutSpec = `
problem: a
method: METHOD
network: {width: 5, layers: 2, modes: {t: 3, x: 3}, projection: 6, basis: 3, precision: float64, passes: 2, features: {u: 1, residual: 0.5}, initial_scale: 1, omit_coordinates: []}
constraint: {experts: {x: 2}, points: 40, tolerance: 1e-13, cost_tolerance: 0, max_iterations: 300, weights: {residual: 0.3}, soft_weight: 1, ridge: 1e-4}
loss: {weights: {initial: 2}, border_rows: {start: 1, end: 1}}
training: {micro_batch: 2}
`
)

// rolloutPair is an engine of four segments and one of a segment, by files.
func rolloutPair(t *testing.T, method, passes string) (Engine[float64], Engine[float64]) {
	t.Helper()
	text := strings.Replace(rolloutSpec, "METHOD", method, 1)
	s, p := specFor(t, forced, text, passes, "rollout=4")
	e, err := New[float64](s, p, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	s, p = specFor(t, forcedSegment, text, passes)
	return e, engineOn[float64](t, s, p, 1)
}

// chain predicts segments one after another by the engine of one, as start makes their inputs of the field before.
func chain(t *testing.T, one Engine[float64], params []float64, seed constraint.Seed, pass int, start func(k int, before []float64) []float64) (inputs, fields [][]float64) {
	t.Helper()
	var field []float64
	for k := range 4 {
		in := start(k, field)
		b := Batch{Inputs: [][]float64{in}, Seeds: []constraint.Seed{{Run: seed.Run, Step: seed.Step, Sample: seed.Sample + uint64(k)<<32}}, Pass: pass}
		if err := one.Predict(params, b, func(_ int, p *Prediction) error {
			field = slices.Clone(p.Field)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		inputs, fields = append(inputs, in), append(fields, field)
	}
	return inputs, fields
}

// Predictions are those of an engine on one segment whose file is written by hand, each begun with the end of the one
// before, and the gradient is that of their losses with starts that stay as they are, by differences.
func TestRollout(t *testing.T) {
	const n = 16
	for i := range 2 * len(model.Methods) {
		method, passes := model.Methods[i/2], 1+i%2
		e, one := rolloutPair(t, method, fmt.Sprint("network.passes=", passes))
		info := e.Info()
		if info.Parameters() != one.Info().Layout.Size() || info.Grid.Axes[0].Points != 33 {
			t.Fatalf("%s: %d parameters, %d times", method, info.Parameters(), info.Grid.Axes[0].Points)
		}
		params := info.CheckParams()
		rng := rand.New(rand.NewPCG(3, 4))
		batch := Batch{Training: Training{Progress: 0.6}}
		for i := range 3 {
			batch.Inputs = append(batch.Inputs, check.Normal(rng, make([]float64, n)))
			batch.Seeds = append(batch.Seeds, constraint.Seed{Run: 1, Step: 7, Sample: uint64(i)})
		}
		starts := func(i int) func(k int, before []float64) []float64 {
			return func(k int, before []float64) []float64 {
				if k > 0 {
					return append(slices.Clone(before[8*n:]), 0.5*float64(k))
				}
				var in []float64
				for _, v := range batch.Inputs[i] {
					in = append(in, 2*v)
				}
				return append(in, 0)
			}
		}
		if err := e.Predict(params, batch, func(i int, p *Prediction) error {
			_, fields := chain(t, one, params, batch.Seeds[i], 0, starts(i))
			for k, want := range fields {
				from := min(k, 1) * n
				check.Close(t, p.Field[k*8*n+from:(k+1)*8*n+n], want[from:], 1e-9, 1e-12)
			}
			if len(p.Experts) != info.Experts {
				t.Errorf("%s: %d experts, want %d", method, len(p.Experts), info.Experts)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for batch.Pass = 1; batch.Pass <= passes; batch.Pass++ {
			var frozen [][][]float64
			for i := range batch.Inputs {
				inputs, _ := chain(t, one, params, batch.Seeds[i], batch.Pass, starts(i))
				frozen = append(frozen, inputs)
			}
			loss := func(params []float64) float64 {
				sum := 0.0
				for i := range batch.Inputs {
					for k := range 4 {
						b := batch.Sample(i)
						b.Inputs, b.Total = frozen[i][k:k+1], 12
						b.Seeds = []constraint.Seed{{Run: 1, Step: 7, Sample: uint64(i) + uint64(k)<<32}}
						st, err := one.LossAndGrad(make([]float64, len(params)), params, b)
						if err != nil {
							t.Fatal(err)
						}
						sum += st.Loss
					}
				}
				return sum
			}
			grad := make([]float64, len(params))
			st, err := e.LossAndGrad(grad, params, batch)
			if err != nil {
				t.Fatal(err)
			}
			check.Close(t, []float64{st.Loss}, []float64{loss(params)}, 1e-9, 0)
			if batch.Pass == 2 { // a first pass that moves with the parameters is not differentiated
				continue
			}
			check.Gradient(t, rng, loss, params, grad, 4, 1e-5, 1e-5)
		}
	}
}

// exactly is an engine of a segment that knows the solution for what it begins with.
type exactly struct {
	Engine[float64]
	solution func(inputs []float64, t float64, x int) float64
}

func (e exactly) Close() {}

func (e exactly) Predict(_ []float64, b Batch, each func(i int, p *Prediction) error) error {
	info := e.Info()
	n := info.SliceSize()
	for i, in := range b.Inputs {
		field := make([]float64, info.FieldSize())
		for q := range field {
			field[q] = e.solution(in, info.Grid.Axes[0].Coordinate(q/n), q%n)
		}
		if err := each(i, &Prediction{Field: field}); err != nil {
			return err
		}
	}
	return nil
}

const oscillator = `
name: oscillator
unknown: u
axes:
  t: {range: [0, 2], points: 65, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: periodic}
inputs: {speed: {distribution: random-series, series: periodic}}
terms:
  u_tt: {axis: t, derivative: 2, order: 4}
  rate: {axis: t, edge: low, at: inner, derivative: 1, points: 5}
residual: {expression: u_tt + 9*u - 5*exp(-t)}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
  velocity: {kind: initial, at: {t: low}, expression: 2*(speed - rate), weight: 3}
initial: {distribution: random-series, series: periodic}
`

// Value and rate are handed over, of velocities that the ansatz has and of those that are a row, and the solution
// of a segment is one of the file's rows at the later time.
func TestRolloutSecondOrder(t *testing.T) {
	// u = exp(-t)/2 + A cos 3t + B sin 3t
	solve := func(value, rate, begin, t float64) float64 {
		d := math.Exp(-begin) / 2
		return d*math.Exp(-t) + (value-d)*math.Cos(3*t) + (rate+d)/3*math.Sin(3*t)
	}
	for _, ansatz := range []string{"{offset: u0, multiplier: t/2}", `{offset: "u0 + speed*t", multiplier: (t/2)^2}`, `{offset: "u0 + speed*t", smooth: {t: 2}}`, "{}"} {
		s, p := specFor(t, oscillator+"ansatz: "+ansatz+"\n", strings.Replace(rolloutSpec, "METHOD", "hard", 1), "rollout=4", "network.passes=1", "network.features={}", "loss.weights={}")
		of, q, err := s.Segment(p)
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		part, err := s.SegmentGrid(p, g)
		if err != nil {
			t.Fatal(err)
		}
		if want := "u0 u.rate time.begin"; strings.Join(q.InputNames(), " ") != want {
			t.Errorf("%s: inputs %v, want %s", ansatz, q.InputNames(), want)
		}
		inner, err := newCPU[float64](of, q, Options{Workers: 1, Grid: part})
		if err != nil {
			t.Fatal(err)
		}
		defer inner.Close()
		worst := 0.0
		one := exactly{inner, func(in []float64, t float64, x int) float64 { return solve(in[x], in[8+x], in[16], t) }}
		e, err := Rollout[float64](one, s, p, g, 2)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(5, 6))
		sample := check.Normal(rng, make([]float64, 16))
		if err := e.Predict(nil, Batch{Inputs: [][]float64{sample}, Seeds: make([]constraint.Seed, 1)}, func(_ int, p *Prediction) error {
			var want []float64
			for q := range p.Field {
				want = append(want, solve(sample[q%8], sample[8+q%8], 0, g.Axes[0].Coordinate(q/8)))
			}
			check.Close(t, p.Field, want, 0, 3e-5)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		// The rows of the last segment hold for that solution there, and its ansatz begins with it.
		in, field := make([]float64, 17), make([]float64, inner.FieldSize())
		for x := range 8 {
			in[x], in[8+x], in[16] = 0.3*float64(x), 1-0.2*float64(x), 1.5
		}
		for q := range field {
			field[q] = one.solution(in, part.Axes[0].Coordinate(q/8), q%8)
		}
		for _, set := range inner.System.Sets {
			worst = max(worst, slices.Max(inner.System.NewRowValues(set, set.Points).Eval(0, field, in)[0]))
		}
		if worst > 2e-3 {
			t.Errorf("%s: rows of the solution are %g", ansatz, worst)
		}
		offset := make([]float64, len(field))
		inner.System.Offset(offset, in)
		if ansatz == "{}" {
			continue
		}
		rate := grid.Fornberg(1, 0, []float64{0, 1, 2})
		for x := range 8 {
			got := (rate[0]*offset[x] + rate[1]*offset[8+x] + rate[2]*offset[16+x]) / part.Axes[0].Step()
			check.Close(t, []float64{offset[x], got}, []float64{in[x], in[8+x]}, 1e-9, 1e-9)
		}
	}
}

// What cannot be rolled out is refused, with the reason.
func TestRolloutRefusals(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(forced, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(forced, old, new, 1)
	}
	for _, c := range []struct {
		file, want string
		overrides  []string
	}{
		{forced, "33 points of axis t do not divide", []string{"rollout=5"}},
		{forced, "want one more than a multiple of 4, 33 at least", []string{"grid={t: 29, x: 16}"}},
		{forced, "training.window", []string{"training.window={t: [0.5, 1.5]}"}},
		{change("points: 33, boundary: nodes", "points: 32, boundary: periodic"), "does not move on along t", nil},
		{change("u_t + u -", "u_t + u - u0 -"), "residual residual contains u0", nil},
		{change("3*(u - 2*u0)", "u - 2*u0 + 0.1*u_xx"), "neither a value", nil},
		{channelsProblem, "has time: none", nil},
		{oscillator, "past their end", []string{"loss.data=1", "grid={t: 65, x: 8}"}},
	} {
		p, err := pde.Load("a.yaml", []byte(c.file))
		if err != nil {
			t.Fatal(err)
		}
		s, err := model.LoadSpec("s.yaml", []byte("problem: a\n"), append([]string{"rollout=4"}, c.overrides...)...)
		if err != nil {
			t.Fatal(err)
		}
		if err = s.Fit(p); err == nil {
			_, err = s.Stages(p)
		}
		text := fmt.Sprint(err)
		if h, ok := err.(interface{ Hint() string }); ok {
			text += h.Hint()
		}
		if err == nil || !strings.Contains(text, c.want) {
			t.Errorf("%v, want %q", text, c.want)
		}
	}
}

// Nothing proportional to the grid is allocated in a step after the first.
func TestRolloutNoAllocation(t *testing.T) {
	allocated := func(points int) uint64 {
		s, p := specFor(t, oscillator+"ansatz: {offset: u0, multiplier: t/2}\n", strings.Replace(rolloutSpec, "METHOD", "hard", 1), "rollout=4", "loss.weights={}", fmt.Sprintf("grid={t: 65, x: %d}", points))
		e, err := New[float64](s, p, Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		info := e.Info()
		params := info.CheckParams()
		grad, batch := make([]float64, len(params)), Batch{Seeds: make([]constraint.Seed, 2)}
		for range 2 {
			batch.Inputs = append(batch.Inputs, check.Normal(rand.New(rand.NewPCG(1, 2)), make([]float64, info.InputSize())))
		}
		return check.Bytes(3, func() {
			if _, err := e.LossAndGrad(grad, params, batch); err != nil {
				t.Fatal(err)
			}
		})
	}
	if small, large := allocated(16), allocated(64); large > small+500 {
		t.Errorf("a step allocates %d bytes, with four times the points %d", small, large)
	}
}
