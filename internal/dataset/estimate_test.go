package dataset

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/internal/discrete"
	"pihc/pde"
)

// Problems with known solutions: of an order in time, of second order, and of none.
var estimated3 = map[string]struct {
	text  string
	exact func(a, b float64) float64 // at a point
	input func(b float64) float64
}{
	"heat": {`name: heat
unknown: u
axes:
  t: {range: [0, 1], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t - 0.02*u_xx, rows: {t: [1, 0]}}
conditions: {initial: {kind: initial, at: {t: low}, expression: u - u0}}
initial: {distribution: random-sines, low: 0.5, high: 1}
`, func(t, x float64) float64 {
		return math.Exp(-0.32*math.Pi*math.Pi*t) * math.Sin(4*math.Pi*x)
	}, func(x float64) float64 { return math.Sin(4 * math.Pi * x) }},
	"wave": {`name: wave
unknown: u
axes:
  t: {range: [0, 1], points: 33, boundary: nodes}
  x: {range: [0, 1], points: 33, boundary: nodes}
terms: {u_tt: {axis: t, derivative: 2}, u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2, closure: undefined}}
residual: {expression: u_tt - u_xx, rows: {t: [1, 1], x: [1, 1]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
  rest: {kind: initial, at: {t: low}, expression: u_t}
  left: {at: {x: low}, rows: {t: [1, 0]}, expression: u}
  right: {at: {x: high}, rows: {t: [1, 0]}, expression: u}
initial: {distribution: random-sines, low: 0.5, high: 1}
`, func(t, x float64) float64 { return math.Cos(3*math.Pi*t) * math.Sin(3*math.Pi*x) }, func(x float64) float64 { return math.Sin(3 * math.Pi * x) }},
	"poisson": {`name: poisson
unknown: u
time: none
axes:
  y: {range: [0, 1], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
inputs: {f: {distribution: random-sines, low: 0.5, high: 1, axes: [x]}}
terms: {u_yy: {axis: y, derivative: 2, closure: undefined}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_yy + u_xx + f, rows: {y: [1, 1]}}
conditions: {south: {at: {y: low}, expression: u}, north: {at: {y: high}, expression: u}}
`, func(y, x float64) float64 {
		k := 4 * math.Pi
		return math.Sin(k*x) / (k * k) * (1 - math.Cosh(k*(y-0.5))/math.Cosh(k/2))
	}, func(x float64) float64 { return math.Sin(4 * math.Pi * x) }},
}

// Estimates are within a factor of three of errors from 0.1 to 100 %, also where an error is that of the grid: the solution of
// the rows themselves leaves no residual.
func TestEstimate(t *testing.T) {
	for name, c := range estimated3 {
		p, err := pde.Load(name+".yaml", []byte(c.text))
		if err != nil {
			t.Fatal(name, err)
		}
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(name, err)
		}
		truth, bump := make([]float64, g.Size()), make([]float64, g.Size())
		n := g.Axes[1].Points
		for q := range truth {
			a, b := g.Axes[0].Coordinate(q/n), g.Axes[1].Coordinate(q%n)
			truth[q] = c.exact(a, b)
			bump[q] = a * (1 - a) * math.Sin(2*math.Pi*b+a)
		}
		inputs := make([]float64, n)
		for i := range inputs {
			inputs[i] = c.input(g.Axes[1].Coordinate(i))
		}
		rows, err := discrete.New(p, g, []int{1, 1})
		if err != nil {
			t.Fatal(name, err)
		}
		own := make([]float64, g.Size())
		if _, err := rows.Solve(own, inputs); err != nil {
			t.Fatal(name, err)
		}
		e, size := NewEstimator(p, g), grid.Norm(truth)/grid.Norm(bump)
		check := func(what string, u []float64) {
			t.Helper()
			got, err := e.Estimate(u, inputs)
			want := grid.RelativeL2(u, truth, 1)
			if err != nil || !(got.Error > want/3 && got.Error < 3*want) {
				t.Errorf("%s, %s: estimate %v, %v; the error is %g", name, what, got, err, want)
			}
		}
		check("rows solved", own)
		for _, by := range []float64{0.01, 0.1, 1} {
			u := make([]float64, g.Size())
			for q := range u {
				u[q] = truth[q] + by*size*bump[q]
			}
			check("bump", u)
		}
		if got, err := e.Estimate(truth, inputs); err != nil || got.Error > 0.5*grid.RelativeL2(own, truth, 1) {
			t.Errorf("%s: estimate %v, %v of the solution; its rows are %g from it", name, got, err, grid.RelativeL2(own, truth, 1))
		}
		truth[3] = math.NaN()
		if got, err := e.Estimate(truth, inputs); err != nil || !math.IsInf(got.Error, 1) {
			t.Errorf("%s: estimate %v, %v of what is not finite", name, got, err)
		}
	}
}

// A nil Estimator knows nothing of as many samples as it is given.
func TestNoEstimates(t *testing.T) {
	var none *Estimator
	s := none.Begin(1)
	for range 3 {
		s.Add([]float64{1}, nil)
	}
	got, why := s.Wait()
	if len(got) != 3 || !errors.Is(why, errLeftOut) {
		t.Fatalf("%v, %v", got, why)
	}
	for _, v := range got {
		if !math.IsNaN(v.Error) || !math.IsNaN(v.Grid) || !math.IsNaN(v.Rows) {
			t.Error(v)
		}
	}
}

// Estimates do not depend on the number of goroutines, and rows that determine no solution say so.
func TestEstimates(t *testing.T) {
	c := estimated3["heat"]
	for text, want := range map[string]string{c.text: "", strings.Replace(strings.Replace(c.text, "rows: {t: [1, 0]}", "rows: {t: [1, 0], x: [1, 1]}", 1), "boundary: periodic", "boundary: nodes", 1): "rows for the 31 values of an instant"} {
		p, err := pde.Load("heat.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		var first []Estimated
		for _, workers := range []int{1, 3} {
			s := NewEstimator(p, g).Begin(workers)
			for i := range 7 {
				u := make([]float64, g.Size())
				for q := range u {
					u[q] = math.Sin(float64(i + q))
				}
				s.Add(u, u[:16])
				clear(u) // the caller's
			}
			got, why := s.Wait()
			if want == "" != (why == nil) || why != nil && !strings.Contains(why.Error(), want) {
				t.Fatalf("%v, want %q", why, want)
			}
			for i, v := range got {
				if workers == 1 {
					first = append(first, v)
				}
				if math.IsNaN(v.Error) != (want != "") || math.IsNaN(v.Grid) != (want != "") || want == "" && v != first[i] {
					t.Errorf("%d goroutines, sample %d: %v, with one %v", workers, i, v, first[i])
				}
			}
		}
	}
}
