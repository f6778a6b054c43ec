package inverse

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pihc/grid"
	"pihc/pde"
)

// free returns the problem with free numbers, on its own grid, from where they start; all are positive.
func free(t *testing.T, p *pde.Problem, starts map[string]float64, names ...string) *Model {
	t.Helper()
	q, err := p.Free(names...)
	if err != nil {
		t.Fatal(err)
	}
	g, err := q.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Problem: q, Grid: g, Samples: [][]float64{make([]float64, q.InputSize(g))}}
	for _, name := range names {
		m.Parameters = append(m.Parameters, Parameter{Name: name, Input: name, Log: true, Start: starts[name]})
	}
	return m
}

// observe appends values of a function at random points, with noise.
func (m *Model) observe(count int, sigma, noise float64, u func(at []float64) float64) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range count {
		var at []float64
		for _, a := range m.Grid.Axes {
			at = append(at, a.Lo+(a.Hi-a.Lo)*rng.Float64())
		}
		m.Observations = append(m.Observations, Observation{At: at, Value: u(at) + noise*rng.NormFloat64(), Sigma: sigma})
	}
}

func (m *Model) run(t *testing.T) *Fit {
	t.Helper()
	fit, err := m.Run(context.Background(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

// TestKleinGordon finds the mass from 50 exact values: docs/guide/inversion.md has it as T1.
func TestKleinGordon(t *testing.T) {
	p, err := pde.Open("../../docs/runs/invert/klein-gordon.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m := free(t, p, map[string]float64{"m2": 1}, "m2")
	m.observe(50, 1e-4, 0, func(at []float64) float64 { return math.Cos(2*at[1]) * math.Cos(math.Sqrt(8)*at[0]) })
	begin := time.Now()
	fit := m.run(t)
	if got := math.Exp(fit.Coordinates[0]); math.Abs(got-4) > 1e-4 {
		t.Errorf("m2 is %g after %v, want 4", got, time.Since(begin))
	}
	if low, high := fit.Low[0], fit.High[0]; !(low < math.Log(4) && math.Log(4) < high && high-low < 1e-3) {
		t.Errorf("interval of log m2 from %g to %g", low, high)
	}
	// A sigma that is far below the error of any grid is no reason to stop, nor to be certain.
	for i := range m.Observations {
		m.Observations[i].Sigma = 1e-9
	}
	if got := math.Exp(m.run(t).Coordinates[0]); math.Abs(got-4) > 1e-6 {
		t.Errorf("m2 is %.9g with a sigma of 1e-9, want 4", got)
	}
}

const decay = `
name: decay
unknown: u
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 17, boundary: nodes}
constants: {D: 0.1, k: 0.5, a: 1, b: 1}
terms:
  u_t: {axis: t, derivative: 1, order: 2, closure: one-sided}
  u_xx: {axis: x, derivative: 2, order: 4, closure: one-sided}
residual: {expression: u_t - D*u_xx + k*u, rows: {t: [1, 0], x: [1, 1]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - a*b^2*sin(pi*x)}
  left: {at: {x: low}, rows: {t: [1, 0]}, expression: u}
  right: {at: {x: high}, rows: {t: [1, 0]}, expression: u}
`

func loadDecay(t *testing.T) *pde.Problem {
	t.Helper()
	p, err := pde.Load("decay.yaml", []byte(decay))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// decayed is the solution of decay: a sine that decays at the rate D π² + k.
func decayed(a, rate float64) func(at []float64) float64 {
	return func(at []float64) float64 { return a * math.Exp(-rate*at[0]) * math.Sin(math.Pi*at[1]) }
}

// TestIntervals compares estimates and ends of intervals with a scan of the sum of squares of the exact solution.
func TestIntervals(t *testing.T) {
	const sigma = 0.05
	m := free(t, loadDecay(t), map[string]float64{"a": 0.2, "k": 0.1}, "a", "k")
	m.observe(20, sigma, sigma, decayed(1, 0.1*math.Pi*math.Pi+0.5))
	fit := m.run(t)
	// For a rate the best amplitude is linear least squares.
	sum := func(a, k float64) (s float64) {
		u := decayed(a, 0.1*math.Pi*math.Pi+k)
		for _, o := range m.Observations {
			s += math.Pow((u(o.At)-o.Value)/sigma, 2)
		}
		return s
	}
	ofK := func(k float64) float64 {
		up, down := 0.0, 0.0
		u := decayed(1, 0.1*math.Pi*math.Pi+k)
		for _, o := range m.Observations {
			up, down = up+u(o.At)*o.Value, down+u(o.At)*u(o.At)
		}
		return sum(up/down, k)
	}
	ofA := func(a float64) float64 { return lowest(func(k float64) float64 { return sum(a, k) }, -3, 5) }
	for j, of := range []func(float64) float64{ofA, ofK} {
		least := lowest(of, -3, 5)
		if math.Abs(fit.ChiSquared-least) > 0.01 {
			t.Errorf("chi-squared %g, want %g", fit.ChiSquared, least)
		}
		for side, end := range []float64{fit.Low[j], fit.High[j]} {
			if math.IsInf(end, 0) {
				if rise := of(1e-9) - least; rise > Quantile {
					t.Errorf("%s has no end %d, but %g at zero", m.Parameters[j].Name, side, rise)
				}
				continue
			}
			if rise := of(math.Exp(end)) - least; math.Abs(rise-Quantile) > 0.03 {
				t.Errorf("%s, end %d at %g: chi-squared is larger by %g, want %g", m.Parameters[j].Name, side, math.Exp(end), rise, Quantile)
			}
		}
	}
	if fit.Degrees != 18 || math.Abs(fit.P-chiSquaredTail(fit.ChiSquared, 18)) > 1e-12 {
		t.Errorf("%d degrees, p = %g", fit.Degrees, fit.P)
	}
}

// lowest is the least value of a function with one minimum on an interval, by golden sections.
func lowest(f func(float64) float64, lo, hi float64) float64 {
	const golden = 0.6180339887498949
	for range 80 {
		a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
		if f(a) < f(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return f((lo + hi) / 2)
}

// TestTowardsZero has data that a positive number is best at zero for: it has an upper end all the same, and so has what goes with it.
func TestTowardsZero(t *testing.T) {
	const sigma = 0.02
	m := free(t, loadDecay(t), map[string]float64{"a": 1, "k": 0.5}, "a", "k")
	rate := func(k float64) float64 { return 0.1*math.Pi*math.Pi + k }
	m.observe(30, sigma, 0, decayed(1, rate(-0.03)))
	fit := m.run(t)
	if fit.Ends[1] != -1 || !math.IsInf(fit.Low[1], -1) || fit.Ends[0] != 0 {
		t.Fatalf("ends %v, intervals from %v to %v", fit.Ends, fit.Low, fit.High)
	}
	sum := func(a, k float64) (s float64) {
		for _, o := range m.Observations {
			s += math.Pow((decayed(a, rate(k))(o.At)-o.Value)/sigma, 2)
		}
		return s
	}
	ofK := func(k float64) float64 { return lowest(func(a float64) float64 { return sum(a, k) }, 0, 3) }
	ofA := func(a float64) float64 { return lowest(func(k float64) float64 { return sum(a, k) }, 0, 3) }
	least := ofK(0)
	if rise := ofK(math.Exp(fit.High[1])) - least; math.Abs(rise-Quantile) > 0.03 {
		t.Errorf("high end of k at %g: chi-squared is larger by %g", math.Exp(fit.High[1]), rise)
	}
	for _, end := range []float64{fit.Low[0], fit.High[0]} {
		if rise := ofA(math.Exp(end)) - least; math.Abs(rise-Quantile) > 0.03 {
			t.Errorf("end of a at %g: chi-squared is larger by %g", math.Exp(end), rise)
		}
	}
}

// TestOutstanding has one value that is wrong: it is named, and the fit rejected.
func TestOutstanding(t *testing.T) {
	m := free(t, loadDecay(t), map[string]float64{"a": 0.5, "k": 0.3}, "a", "k")
	m.observe(30, 0.01, 0.01, decayed(1, 0.1*math.Pi*math.Pi+0.5))
	m.Observations[17].Value += 0.2
	fit := m.run(t)
	if len(fit.Outstanding) == 0 || fit.Outstanding[0] != 17 || fit.P > 1e-6 {
		t.Errorf("outstanding %v, p = %g", fit.Outstanding, fit.P)
	}
	if fit = free(t, loadDecay(t), map[string]float64{"a": 0.5, "k": 0.3}, "a", "k").withPrior(m, &Prior{Mean: math.Log(3), Deviation: 1e-3}).run(t); math.Abs(math.Exp(fit.Coordinates[1])-3) > 0.1 {
		t.Errorf("a prior of 3 with a deviation of 1e-3 leaves %g", math.Exp(fit.Coordinates[1]))
	}
}

// withData takes another model's observations.
func (m *Model) withData(of *Model) *Model {
	m.Observations = of.Observations
	return m
}

// withPrior takes another model's observations, and a prior of the second number.
func (m *Model) withPrior(of *Model, prior *Prior) *Model {
	m.Parameters[1].Prior = prior
	return m.withData(of)
}

// TestInterpolation requires the values of a polynomial of degree five.
func TestInterpolation(t *testing.T) {
	axis := grid.Axis{Lo: -1, Hi: 2, Points: 11, Boundary: grid.Nodes}
	f := func(x float64) float64 { return 1 + x - 3*x*x*x + 0.5*math.Pow(x, 5) }
	for _, x := range []float64{-1, -0.93, 0.1, 1.2, 1.99, 2} {
		w, sum := interpolate(axis, x), 0.0
		for k, v := range w.w {
			sum += v * f(axis.Coordinate(w.first+k))
		}
		if math.Abs(sum-f(x)) > 1e-11 {
			t.Errorf("at %g: %g, want %g", x, sum, f(x))
		}
	}
}

// TestChiSquaredOfTheGrid has a number that a prior holds, so that no grid moves it, and a sigma below the error of the first grids:
// chi-squared has to be that of the exact solution all the same, and the data not to be rejected.
func TestChiSquaredOfTheGrid(t *testing.T) {
	const sigma, rate = 5e-6, 0.1*math.Pi*math.Pi + 0.5
	m := free(t, loadDecay(t), map[string]float64{"k": 0.5}, "k")
	m.Parameters[0].Prior = &Prior{Mean: math.Log(0.5), Deviation: 1e-9}
	m.observe(40, sigma, sigma, decayed(1, rate))
	want := 0.0
	for _, o := range m.Observations {
		want += math.Pow((decayed(1, rate)(o.At)-o.Value)/sigma, 2)
	}
	fit := m.run(t)
	if math.Abs(fit.ChiSquared-want) > 0.2*math.Sqrt(2*40) || Rejects(fit.ChiSquared, fit.ChiMoved, fit.Degrees) {
		t.Errorf("chi-squared %g on %v, want %g", fit.ChiSquared, fit.Grid.Shape(), want)
	}
}

// TestRefined compares the coordinates on the last grid, and moved to finer ones, with the least squares of the exact solution, at sigmas
// where the grid counts: the second are several times nearer.
func TestRefined(t *testing.T) {
	for _, sigma := range []float64{1e-3, 2e-4, 5e-5, 1e-5} {
		m := free(t, loadDecay(t), map[string]float64{"a": 0.8, "k": 0.4}, "a", "k")
		m.observe(20, sigma, sigma, decayed(1, 0.1*math.Pi*math.Pi+0.5))
		fit := m.run(t)
		best := func(k float64) (a, sum float64) {
			up, down := 0.0, 0.0
			u := decayed(1, 0.1*math.Pi*math.Pi+k)
			for _, o := range m.Observations {
				up, down = up+u(o.At)*o.Value, down+u(o.At)*u(o.At)
			}
			for _, o := range m.Observations {
				sum += math.Pow((up/down*u(o.At)-o.Value)/sigma, 2)
			}
			return up / down, sum
		}
		low, high := 0.45, 0.55 // the root of the slope
		for range 60 {
			const h = 1e-5
			middle := (low + high) / 2
			_, before := best(middle - h)
			_, after := best(middle + h)
			if after > before {
				high = middle
			} else {
				low = middle
			}
		}
		k := (low + high) / 2
		a, _ := best(k)
		for j, want := range []float64{math.Log(a), math.Log(k)} {
			on, refined := math.Abs(fit.Coordinates[j]-want)/fit.Deviations[j], math.Abs(fit.Refined[j]-want)/fit.Deviations[j]
			t.Logf("sigma %g, %s: on the grid %.3g deviations off, refined %.3g", sigma, m.Parameters[j].Name, on, refined)
			if refined > max(on/2, 1e-3) {
				t.Errorf("sigma %g, %s: on the grid %g deviations off, refined %g", sigma, m.Parameters[j].Name, on, refined)
			}
		}
	}
}
