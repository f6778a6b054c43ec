package pde_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
	"pihc/pde"
)

func stepped(t *testing.T, text string) (*pde.System, *pde.LinearRows) {
	t.Helper()
	p, err := pde.Load("stepped.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
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
	t.Log(worst)
	if worst > 0.02 {
		t.Error(worst)
	}
}

// The transpose of Apply is its transpose, of waves whose ends absorb, of a rod that loses heat by an amount that is drawn, and of two unknowns.
func TestSteppedTransposed(t *testing.T) {
	for name, text := range map[string]string{"absorbing": absorbing} {
		t.Run(name, func(t *testing.T) {
			s, rows := stepped(t, text)
			stepper, err := rows.For(make([]float64, s.InputSize()))
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
