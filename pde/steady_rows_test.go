package pde

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pihc/grid"
)

const steadySource = `
name: steady
unknown: u
time: none
axes:
  y: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 7, boundary: nodes}
inputs:
  h: {distribution: uniform, low: 0.5, high: 2}
terms:
  u_x: {axis: x, derivative: 1, order: 2}
  u_y: {axis: y, derivative: 1, order: 2}
  u_xx: {axis: x, derivative: 2}
  u_yy: {axis: y, derivative: 2}
residual: {expression: u_xx + u_yy}
conditions:
  south: {at: {y: low}, expression: u_y + h*u - 3*x - h*x^2}
  north: {at: {y: high}, expression: u - x^2 + 1 - 3*x}
  west: {at: {x: low}, expression: u + y^2}
  east: {at: {x: high}, expression: u_x - 2 - 3*y}
ansatz: {duhamel: rows}
`

// solves is the solver of the linear part for an input of each number, and the system.
func solves(t *testing.T, source string, inputs ...float64) (*System, grid.LinearSolver, error) {
	t.Helper()
	p, err := Load("steady.yaml", []byte(source[1:]))
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
	solver, err := rows.For(inputs)
	return s, solver, err
}

// The offset is the solution of linear rows: x² - y² + 3xy, for which differences of second order are exact.
func TestSteadyRowsSolve(t *testing.T) {
	for _, h := range []float64{0.7, 1.9} {
		s, _, err := solves(t, steadySource, h)
		if err != nil {
			t.Fatal(err)
		}
		field := make([]float64, s.FieldSize())
		s.Offset(field, []float64{h})
		for p, v := range field {
			y, x := float64(p/7)/8, float64(p%7)/6
			if want := x*x - y*y + 3*x*y; math.Abs(v-want) > 1e-11 {
				t.Fatalf("h = %g: %g at x = %g, y = %g; want %g", h, v, x, y, want)
			}
		}
	}
}

// Fields of any source meet linear conditions, and one that is not linear has a source of its own; the transpose is one.
func TestSteadyRowsSources(t *testing.T) {
	radiates := strings.Replace(steadySource, "expression: u_x - 2 - 3*y", "expression: u_x + u + 0.1*u^4 - 2", 1)
	for _, c := range []struct {
		source string
		meets  bool
	}{{steadySource, true}, {radiates, false}} {
		s, solver, err := solves(t, c.source, 1.3)
		if err != nil {
			t.Fatal(err)
		}
		rng, n := rand.New(rand.NewPCG(1, 2)), s.FieldSize()
		w, width := solver.NewStepping(), s.SliceSize()
		apply := func(transposed bool, b []float64) []float64 {
			out := make([]float64, n)
			solver.Apply(w, transposed, func(_, time int, values []float64) {
				for p := range width {
					for k := range grid.Stepped {
						values[p*grid.Stepped+k] = float64(k+1) * b[time*width+p]
					}
				}
			}, func(_, time int, values []float64) {
				for p := range width {
					out[time*width+p] = values[p*grid.Stepped+2] / 3
				}
			})
			return out
		}
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i], b[i] = rng.NormFloat64(), rng.NormFloat64()
		}
		u, v := apply(false, a), apply(true, b)
		var one, other, size float64
		for i := range a {
			one, other, size = one+u[i]*b[i], other+v[i]*a[i], size+u[i]*u[i]
		}
		if math.Abs(one-other) > 1e-10*math.Abs(one) {
			t.Errorf("products with the transpose: %g and %g", one, other)
		}
		if rms := math.Sqrt(size / float64(n)); !(rms > 0.05 && rms < 5) {
			t.Errorf("sources of size one make fields of size %g", rms)
		}
		field := make([]float64, n)
		s.Offset(field, []float64{1.3})
		for i := range field {
			field[i] += u[i]
		}
		for _, set := range s.Sets[1:] {
			most := 0.0
			for _, v := range s.NewRowValues(set, set.Points).Eval(1, field, []float64{1.3})[0] {
				most = max(most, math.Abs(v))
			}
			if (most < 1e-10) != (c.meets || set.Name != "east") {
				t.Errorf("%s: misses %g", set.Name, most)
			}
		}
	}
}

// Rows are linear about the offset: fields without the basis are a step of Newton's method from there, and so r falls as the step is taken.
func TestSteadyRowsAbout(t *testing.T) {
	for _, offset := range []string{"0", "1.5", "1 + x*y"} {
		source := strings.NewReplacer("u_xx + u_yy}", "u_xx + u_yy - u^3}", "{duhamel: rows}", "{duhamel: rows, offset: "+offset+"}").Replace(steadySource)
		s, _, err := solves(t, source, 1.3)
		if err != nil {
			t.Fatal(err)
		}
		about, field := make([]float64, s.FieldSize()), make([]float64, s.FieldSize())
		s.NewRowEvaluator(1).offset(about, []float64{1.3})
		s.Offset(field, []float64{1.3})
		const part = 1e-6
		for i, v := range about {
			field[i] = v + part*(field[i]-v)
		}
		for _, set := range s.Sets {
			rows := s.NewRowValues(set, set.Points)
			before := slices.Clone(rows.Eval(1, about, []float64{1.3})[0])
			after := rows.Eval(1, field, []float64{1.3})[0]
			for i, v := range before {
				if math.Abs((after[i]-v)/part+v) > 1e-4*(1+math.Abs(v)) {
					t.Errorf("offset %s, row %d of %s: %g, and %g after a millionth of a step", offset, i, set.Name, v, after[i])
				}
			}
		}
		start := make([]float64, s.FieldSize())
		if s.Problem.Persist(start, []float64{1.3}, s.Grid); offset == "1.5" && start[5] != 1.5 {
			t.Errorf("it begins with %g", start[5])
		}
	}
}

func TestSteadyRowsRefuse(t *testing.T) {
	free := strings.NewReplacer("u_y + h*u - 3*x - h*x^2", "u_y", "u - x^2 + 1 - 3*x", "u_y - h", "u + y^2", "u_x").Replace(steadySource)
	s, _, err := solves(t, free, 1)
	field := make([]float64, s.FieldSize())
	if s.Offset(field, []float64{1}); err == nil || !math.IsNaN(field[0]) {
		t.Errorf("slopes at all walls: %v, offset %g", err, field[0])
	}
	for _, c := range []struct{ old, new, want string }{
		{"{expression: u_xx + u_yy}", "{expression: u_xx + u_yy, rows: {x: [0, 0]}}", "rows for 63 values"},
		{"{duhamel: rows}", "{duhamel: true}", "duhamel"},
	} {
		p, err := Load("steady.yaml", []byte(strings.Replace(steadySource, c.old, c.new, 1)[1:]))
		if err == nil {
			g, _ := p.Grid(nil)
			var s *System
			if s, err = p.Discretize(g); err == nil {
				_, err = s.NewLinearRows()
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.new, err, c.want)
		}
	}
}
