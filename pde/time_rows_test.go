package pde

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
	"pihc/internal/kernel"
)

// stepped is a problem on its own grid, with its linear rows.
func stepped(t *testing.T, text string) (*System, *LinearRows) {
	t.Helper()
	p, err := Load("stepped.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := discretize(t, p, nil)
	rows, err := s.NewLinearRows()
	if err != nil {
		t.Fatal(err)
	}
	return s, rows
}

const absorbing = `
name: absorbing
unknown: u
axes:
  t: {range: [0, 2], points: 101, boundary: nodes}
  x: {range: [0, 1], points: 101, boundary: nodes}
terms:
  u_tt: {axis: t, derivative: 2, order: 4}
  u_xx: {axis: x, derivative: 2, order: 4}
  u_t: {axis: t, derivative: 1, order: 4}
  u_x: {axis: x, derivative: 1, order: 4}
residual: {expression: u_tt - u_xx}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
  rest: {kind: initial, at: {t: low}, expression: u_t}
  closed: {at: {x: low}, expression: u_x}
  open: {at: {x: high}, expression: u_t + u_x}
initial: {distribution: random-series, series: cosine, parameters: {modes: 3}}
ansatz: {offset: u0, duhamel: rows}
`

// A pulse in the middle of a string that reflects at one end and leaves by the other is d'Alembert's two halves.
func TestSteppedAbsorbing(t *testing.T) {
	s, _ := stepped(t, absorbing)
	pulse := func(x float64) float64 { return math.Exp(-200 * (x - 0.5) * (x - 0.5)) }
	inputs := make([]float64, s.InputSize())
	for i := range s.SliceSize() {
		inputs[i] = pulse(s.Grid.Axes[1].Coordinate(i))
	}
	field := make([]float64, s.FieldSize())
	s.Offset(field, inputs)
	worst := 0.0
	for i := range s.Grid.Axes[0].Points {
		for k := range s.SliceSize() {
			time, x := s.Grid.Axes[0].Coordinate(i), s.Grid.Axes[1].Coordinate(k)
			want := (pulse(x-time) + pulse(x+time) + pulse(-x+time)) / 2
			worst = max(worst, math.Abs(field[i*s.SliceSize()+k]-want))
		}
	}
	if worst > 0.002 {
		t.Errorf("%g from d'Alembert's solution", worst)
	}
}

const leaky = `
name: leaky
unknown: u
axes:
  t: {range: [0, 1], points: 21, boundary: nodes}
  x: {range: [0, 1], points: 17, boundary: nodes}
inputs:
  h: {distribution: uniform, low: 1, high: 2}
terms:
  u_t: {axis: t, derivative: 1, order: 4}
  u_xx: {axis: x, derivative: 2}
  u_x: {axis: x, derivative: 1}
residual: {expression: u_t - 0.1*u_xx - x, weight: 1 + t}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - 1}
  held: {at: {x: low}, expression: u - 1}
  air: {at: {x: high}, expression: u_x + h*(u - 1) - t*(1 + h)}
ansatz: {offset: "1", duhamel: rows}
`

// Differences of polynomials are exact, so that what walls and sources that change in time make of a rod that leaks by a number that is drawn is 1 + x t but for rounding.
func TestSteppedWalls(t *testing.T) {
	s, _ := stepped(t, leaky)
	field := make([]float64, s.FieldSize())
	s.Offset(field, []float64{1.7})
	for i := range s.Grid.Axes[0].Points {
		for k := range s.SliceSize() {
			want := 1 + s.Grid.Axes[0].Coordinate(i)*s.Grid.Axes[1].Coordinate(k)
			if got := field[i*s.SliceSize()+k]; math.Abs(got-want) > 1e-8 {
				t.Fatalf("time %d, point %d: %g, want %g", i, k, got, want)
			}
		}
	}
}

const clamped = `
name: clamped
unknown: u
axes:
  t: {range: [0, 0.02], points: 11, boundary: nodes}
  x: {range: [0, 1], points: 17, boundary: nodes}
terms:
  u_tt: {axis: t, derivative: 2}
  u_xxxx: {axis: x, derivative: 4}
  u_x: {axis: x, derivative: 1}
  u_t: {axis: t, derivative: 1}
residual: {expression: u_tt + u_xxxx}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - 16*u0*x^2*(1 - x)^2}
  rest: {kind: initial, at: {t: low}, expression: u_t}
  held: {at: {x: low}, expression: u}
  level: {at: {x: low}, expression: u_x}
  held2: {at: {x: high}, expression: u}
  level2: {at: {x: high}, expression: u_x}
initial: {distribution: uniform-constant, low: 1, high: 1}
ansatz: {offset: 16*u0*x^2*(1 - x)^2, duhamel: rows}
`

// Fields meet two conditions at each end of a clamped beam, with any b.
func TestSteppedClamped(t *testing.T) {
	s, rows := stepped(t, clamped)
	inputs := slices.Repeat([]float64{1}, s.InputSize())
	field := make([]float64, s.FieldSize())
	s.Offset(field, inputs)
	stepper, err := rows.For(inputs)
	if err != nil {
		t.Fatal(err)
	}
	random, n := check.Rand(1), s.SliceSize()
	stepper.Apply(stepper.NewStepping(), false, func(_, _ int, values []float64) { check.Normal(random, values) }, func(_, time int, values []float64) {
		for p := range n {
			field[time*n+p] += values[p*grid.Stepped]
		}
	})
	for _, name := range []string{"held", "level", "held2", "level2"} {
		set := s.Set(name)
		for _, v := range s.NewRowValues(set, set.Points).Eval(0, field, inputs)[0][1:] {
			if math.Abs(v) > 1e-9 {
				t.Errorf("%s: %g", name, v)
			}
		}
	}
}

const periodic = `
name: periodic
unknown: [u, v]
axes:
  t: {range: [0, 1], points: 21, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: periodic}
  y: {range: [0, 2], points: 6, boundary: periodic}
terms:
  u_tt: {of: u, axis: t, derivative: 2}
  v_t: {of: v, axis: t, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2}
  u_yy: {of: u, spectral: derivative, axis: y, derivative: 2}
  u_x: {of: u, axis: x, derivative: 1}
  v_x: {of: v, axis: x, derivative: 1, order: 4}
residual:
  wave: {expression: u_tt - 0.05*u_xx - 0.1*u_yy + v}
  heat: {expression: 2*v_t - 0.3*u_x - 0.1*v_x + v}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
  start: {kind: initial, at: {t: low}, expression: v - v0}
initial:
  u: {distribution: random-series, series: periodic, parameters: {modes: 2}}
  v: {distribution: random-series, series: periodic, parameters: {modes: 2}}
ansatz:
  u: {offset: u0 + t*v0, duhamel: HOW}
  v: {offset: v0, duhamel: HOW}
`

// Where coefficients are constant and there are no walls, steps of the rows are what Fourier modes give exactly, but for the error of a step and the unit of sources.
func TestSteppedModes(t *testing.T) {
	s, rows := stepped(t, strings.ReplaceAll(periodic, "HOW", "rows"))
	modes, _ := stepped(t, strings.ReplaceAll(periodic, "HOW", "true"))
	inputs := check.Normal(check.Rand(1), make([]float64, s.InputSize()))
	field, want := make([]float64, s.FieldSize()), make([]float64, s.FieldSize())
	s.Offset(field, inputs)
	modes.Offset(want, inputs)
	check.Close(t, field, want, 1e-6, 1e-6)

	solver, err := rows.For(inputs)
	if err != nil {
		t.Fatal(err)
	}
	propagator, err := modes.Propagator()
	if err != nil {
		t.Fatal(err)
	}
	b := check.Normal(check.Rand(2), make([]float64, s.FieldSize()*grid.Stepped))
	n := s.SliceSize() * grid.Stepped
	slice := func(of []float64, unknown, time int) []float64 {
		return of[(unknown*s.Grid.Axes[0].Points+time)*n:][:n]
	}
	// Of one unknown are the sources, or what the transpose makes of all.
	both := func(transposed bool, of int) (got, expected []float64) {
		load := func(unknown, time int, values []float64) {
			if clear(values); transposed || unknown == of {
				copy(values, slice(b, unknown, time))
			}
		}
		store := func(to []float64) grid.Slices {
			return func(unknown, time int, values []float64) {
				if !transposed || unknown == of {
					copy(slice(to, unknown, time), values)
				}
			}
		}
		got, expected = make([]float64, len(b)), make([]float64, len(b))
		solver.Apply(solver.NewStepping(), transposed, load, store(got))
		propagator.NewPropagation(grid.Stepped, nil).Apply(transposed, load, store(expected))
		for _, x := range [][]float64{got, expected} {
			kernel.MulScalar64(x, 1/math.Sqrt(kernel.SumSquares64(x)/float64(len(x))), x)
		}
		return got, expected
	}
	for _, transposed := range []bool{false, true} {
		for unknown := range 2 {
			got, expected := both(transposed, unknown)
			check.Close(t, got, expected, 1e-3, 1e-3)
		}
	}
}

// What cannot be solved in steps of time is told, with what is wrong.
func TestSteppedRefused(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"u_t - 0.1*u_xx - x, weight", "(u - 1)*u_t - x, weight"}:                                                     "has no derivative in time",
		{"residual: {expression: u_t - 0.1*u_xx - x", "residual: {expression: u_t - 0.1*u_xx - x, rows: {x: [3, 3]}"}: "13 rows for 17 values of a time",
	} {
		_, err := firstStepper(strings.Replace(leaky, change[0], change[1], 1))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", change[1], err, want)
		}
	}
	if _, err := firstStepper(leaky); err != nil {
		t.Error(err)
	}
}

// firstStepper is that of a problem whose inputs are 1.5, or why there is nother.
func firstStepper(text string) (grid.LinearSolver, error) {
	p, err := Load("a.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	g, err := p.Grid(nil)
	if err != nil {
		return nil, err
	}
	s, err := p.Discretize(g)
	if err != nil {
		return nil, err
	}
	rows, err := s.NewLinearRows()
	if err != nil {
		return nil, err
	}
	return rows.For(slices.Repeat([]float64{1.5}, s.InputSize()))
}

// A Stepper is of the sample it was asked for last, with the same bits in any order of samples.
func TestSteppedSamples(t *testing.T) {
	s, rows := stepped(t, leaky)
	solve := func(h float64) []float64 {
		stepper, err := rows.For([]float64{h})
		if err != nil {
			t.Fatal(err)
		}
		var out []float64
		y := slices.Repeat([]float64{1}, s.SliceSize())
		stepper.Begin(stepper.NewStepping(), y, func(_, _ int, values []float64) { out = append(out, values...) })
		return out
	}
	one, two := solve(1), solve(2)
	if slices.Equal(one, two) {
		t.Error("what is drawn makes no difference")
	}
	check.Equal(t, solve(1), one)
	check.Equal(t, solve(1), one)
	check.Equal(t, solve(2), two)
}

// The transpose of Apply is its transpose where ends absorb, and where they leak.
func TestSteppedTransposed(t *testing.T) {
	for name, text := range map[string]string{"absorbing": absorbing, "leaky": leaky, "clamped": clamped, "reacting": reacting, "relaxing": relaxing} {
		t.Run(name, func(t *testing.T) {
			s, rows := stepped(t, text)
			stepper, err := rows.For(slices.Repeat([]float64{1.5}, s.InputSize()))
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 1))
			n := s.SliceSize()
			x, y := check.Normal(random, make([]float64, s.FieldSize())), check.Normal(random, make([]float64, s.FieldSize()))
			apply := func(transposed bool, in []float64) []float64 {
				out := make([]float64, len(in))
				stepper.Apply(stepper.NewStepping(), transposed, func(unknown, time int, values []float64) {
					clear(values)
					for p := range n {
						values[p*grid.Stepped+3] = in[unknown*s.Grid.Size()+time*n+p]
					}
				}, func(unknown, time int, values []float64) {
					for p := range n {
						out[unknown*s.Grid.Size()+time*n+p] = values[p*grid.Stepped+3]
					}
				})
				return out
			}
			a, b := check.Dot(apply(false, x), y), check.Dot(x, apply(true, y))
			if math.Abs(a-b) > 1e-10*math.Abs(a) || a == 0 {
				t.Errorf("%g, %g", a, b)
			}
		})
	}
}

const reacting = `
name: reacting
unknown: [u, w]
axes:
  t: {range: [0, 0.5], points: 21, boundary: nodes}
  x: {range: [0, 1], points: 17, boundary: nodes}
inputs:
  a: {distribution: uniform, low: 1, high: 2}
terms:
  u_t: {of: u, axis: t, derivative: 1, order: 4}
  u_x: {of: u, axis: x, derivative: 1}
  w_x: {of: w, axis: x, derivative: 1}
residual:
  reaction: {expression: u_t - u^2 - w_x*cos(t)}
  flux: {expression: w - 0.1*u_x}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - a}
  closed: {at: {x: low}, expression: w}
  open: {at: {x: high}, expression: w + 0.1*(u^4 - a^4)*a}
ansatz:
  u: {offset: a, duhamel: rows}
  w: {duhamel: rows}
`

// Rows are linear about what fields begin with, also one without a derivative in time, and what is linear holds for all fields: far from a wall that
// reacts slowly u is the solution of u' = a² + 2a(u - a).
func TestSteppedBase(t *testing.T) {
	closed := strings.Replace(reacting, "w + 0.1*(u^4 - a^4)*a", "w", 1)
	s, _ := stepped(t, closed)
	const a = 1.3
	field := make([]float64, s.FieldSize())
	s.Offset(field, []float64{a})
	for i := range s.Grid.Axes[0].Points {
		want := a + a/2*(math.Exp(2*a*s.Grid.Axes[0].Coordinate(i))-1)
		for k := range s.SliceSize() {
			if got := field[i*s.SliceSize()+k]; math.Abs(got-want) > 1e-7 {
				t.Fatalf("time %d, point %d: %g, want %g", i, k, got, want)
			}
		}
	}
	s, rows := stepped(t, reacting)
	s.Offset(field, []float64{a})
	solver, err := rows.For([]float64{a})
	if err != nil {
		t.Fatal(err)
	}
	random, n := check.Rand(1), s.SliceSize()
	with := slices.Clone(field)
	solver.Apply(solver.NewStepping(), false, func(_, _ int, values []float64) { check.Normal(random, values) }, func(unknown, time int, values []float64) {
		for p := range n {
			with[unknown*s.Grid.Size()+time*n+p] += values[p*grid.Stepped+1]
		}
	})
	misses := func(name string, field []float64) (most float64) {
		set := s.Set(name)
		for i, v := range s.NewRowValues(set, set.Points).Eval(0, field, []float64{a})[0] {
			if int(set.Points[i]) >= n {
				most = max(most, math.Abs(v))
			}
		}
		return most
	}
	if miss := misses("flux", field); miss > 1e-12 {
		t.Errorf("a row without a derivative in time misses %g", miss)
	}
	if miss := misses("closed", with); miss > 1e-12 {
		t.Errorf("a linear condition misses %g", miss)
	}
	if misses("open", with) < 10*misses("open", field) {
		t.Error("no source moves a condition that is not linear")
	}
}

// An unknown without a derivative in time begins as its row says.
func TestSteppedAlgebraic(t *testing.T) {
	s, _ := stepped(t, strings.NewReplacer("expression: u - a}", "expression: u - a*cos(3*x)}", "offset: a,", "offset: a*cos(3*x),").Replace(reacting))
	field := make([]float64, s.FieldSize())
	s.Offset(field, []float64{1.3})
	set := s.Set("flux")
	for i, v := range s.NewRowValues(set, set.Points).Eval(0, field, []float64{1.3})[0] {
		if p := int(set.Points[i]); math.Abs(v) > 1e-5 && (p >= s.SliceSize() || p < 12) { // at first the end that reacts moves at once
			t.Fatalf("row %d of %d misses %g", i, len(set.Points), v)
		}
	}
	if begun := field[s.Grid.Size()+s.SliceSize()/2]; math.Abs(begun+0.39*math.Sin(1.5)) > 0.01 {
		t.Errorf("begins with %g in the middle, want %g", begun, -0.39*math.Sin(1.5))
	}
}

const relaxing = `
name: relaxing
unknown: [u, w]
axes:
  t: {range: [0, 0.5], points: 21, boundary: nodes}
  x: {range: [0, 1], points: 17, boundary: nodes}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  w_t: {of: w, axis: t, derivative: 1}
  u_x: {of: u, axis: x, derivative: 1}
  w_x: {of: w, axis: x, derivative: 1}
residual:
  heat: {expression: u_t - w_x}
  flux: {expression: w - 0.1*u_x}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - 1 - x}
  closed: {at: {x: low}, expression: w}
  lagging: {at: {x: high}, expression: 0.3*w_t + w + u - 2}
ansatz:
  u: {offset: 1 + x, duhamel: rows}
  w: {duhamel: rows}
`

// The rate of an unknown without one in the equations, at a wall, is that of what they give it, and it begins so.
func TestSteppedRateOfAlgebraic(t *testing.T) {
	s, _ := stepped(t, relaxing)
	field := make([]float64, s.FieldSize())
	s.Offset(field, make([]float64, s.InputSize()))
	other, _ := stepped(t, strings.NewReplacer("0.3*w_t", "0.03*u_xt", "  w_t: {of: w, axis: t, derivative: 1}", "  u_xt: {of: u, factors: [{axis: x, derivative: 1}, {axis: t, derivative: 1}]}").Replace(relaxing))
	want := make([]float64, other.FieldSize())
	other.Offset(want, make([]float64, other.InputSize()))
	check.Close(t, field, want, 1e-6, 1e-6)
	if begun := field[s.Grid.Size()+s.SliceSize()-1]; math.Abs(begun-0.1) > 1e-5 {
		t.Errorf("the flux begins with %g at the wall that lags, want 0.1", begun)
	}
}

// A row that misses by 1 everywhere makes of a field what L⁻¹ does: here u_t + u = 1 from zero, and w = 1 beside it.
func TestResponses(t *testing.T) {
	s, rows := stepped(t, `
name: decaying
unknown: [u, w]
axes:
  t: {range: [0, 1], points: 21, boundary: nodes}
  x: {range: [0, 1], points: 9, boundary: nodes}
terms:
  u_t: {of: u, axis: t, derivative: 1}
residual:
  decay: {expression: u_t + u}
  same: {expression: 4*w - 2*u, weight: 3}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - 1}
ansatz:
  u: {offset: 1, duhamel: rows}
  w: {duhamel: rows}
`)
	got, err := rows.Responses(make([]float64, s.InputSize()))
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0 // of squares of u
	for i := range 21 {
		u := 1 - math.Exp(-float64(i)/20)
		sum += u * u / 21
	}
	check.Close(t, got["decay"], []float64{math.Sqrt(sum), math.Sqrt(sum) / 2}, 1e-6, 1e-6)
	check.Close(t, got["same"], []float64{0, 0.25 / 3}, 1e-6, 1e-6)
}

func TestRowsChange(t *testing.T) {
	for text, want := range map[string]bool{absorbing: false, leaky: false, reacting: true, steadySource: false} {
		p, err := Load("a.yaml", []byte(text[1:]))
		if err != nil {
			t.Fatal(err)
		}
		if p.RowsChange() != want {
			t.Errorf("%s: want %t", p.Name, want)
		}
	}
}

// Waves of two unknowns grow alike in all units of these, and as much as what really grows does.
func TestSteppedGrowthUnits(t *testing.T) {
	const waves = `
name: waves
unknown: [h, e]
axes:
  t: {range: [0, 1], points: 21, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
terms:
  h_t: {of: h, axis: t, derivative: 1}
  h_x: {of: h, axis: x, derivative: 1}
  e_t: {of: e, axis: t, derivative: 1}
  e_x: {of: e, axis: x, derivative: 1}
residual:
  magnetic: {expression: "h_t + e_x/(%[1]g) - %[2]g*h"}
  electric: {expression: "e_t + %[1]g*h_x - %[2]g*e"}
conditions:
  a: {kind: initial, at: {t: low}, expression: h - h0}
  b: {kind: initial, at: {t: low}, expression: e - e0}
ansatz: {h: {offset: h0, duhamel: rows}, e: {offset: e0, duhamel: rows}}
`
	growth := func(unit, rate float64) float64 {
		s, rows := stepped(t, fmt.Sprintf(waves, unit, rate))
		solver, err := rows.For(make([]float64, s.InputSize()))
		if err != nil {
			t.Fatal(err)
		}
		return solver.Growth(check.Rand(1))
	}
	for _, unit := range []float64{1, 377, 1e-8} {
		if got := growth(unit, 0); !(got > 1 && got < 3) {
			t.Errorf("unit %g: waves grow %g times", unit, got)
		}
		if got := growth(unit, 5); !(got > math.Exp(5) && got < 3*math.Exp(5)) {
			t.Errorf("unit %g: %g times, for e^5 and more", unit, got)
		}
	}
}
