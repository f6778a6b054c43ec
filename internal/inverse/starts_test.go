package inverse

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/pde"
)

// TestOtherStarts begins with a mass that is a hundred times too large, where the predicted waves are out of step with the data: the other
// starts have to find the mass of the exact solution.
func TestOtherStarts(t *testing.T) {
	p, err := pde.Open("../../docs/runs/invert/klein-gordon.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m := free(t, p, map[string]float64{"m2": 400}, "m2")
	m.observe(50, 1e-2, 1e-2, func(at []float64) float64 { return math.Cos(2*at[1]) * math.Cos(math.Sqrt(8)*at[0]) })
	first, err := m.fit(context.Background(), level{}, m.coordinates(), t.Logf)
	if err != nil || !Rejects(first.ChiSquared, first.ChiMoved, first.Degrees) {
		t.Fatalf("the first start alone leads to %v, chi-squared %g: %v", first.Coordinates, first.ChiSquared, err)
	}
	fit := m.run(t)
	if low, high := math.Exp(fit.Low[0]), math.Exp(fit.High[0]); !(low < 4 && 4 < high && high-low < 0.5) || fit.P < 1e-3 {
		t.Errorf("m2 from %g to %g, p = %g", low, high, fit.P)
	}
	if s := fit.Starts; s.Tried != 1+OtherStarts || s.Agree < 1 || s.Agree > OtherStarts || len(s.Others) > 0 {
		t.Errorf("starts: %+v", s)
	}
	again := m.run(t)
	if !slices.Equal(again.Coordinates, fit.Coordinates) || again.Starts.Agree != fit.Starts.Agree {
		t.Errorf("a second run has %v with %+v, the first %v with %+v", again.Coordinates, again.Starts, fit.Coordinates, fit.Starts)
	}
	m = free(t, p, map[string]float64{"m2": 1}, "m2")
	m.observe(50, 1e-2, 1e-2, func(at []float64) float64 { return math.Cos(2*at[1]) * math.Cos(math.Sqrt(8)*at[0]) })
	if fit := m.run(t); fit.Starts.Tried != 0 {
		t.Errorf("a fit that agrees begins again: %+v", fit.Starts)
	}
}

// TestSecondMinimum has a number of which the square alone matters: both signs fit equally well.
func TestSecondMinimum(t *testing.T) {
	m := free(t, loadDecay(t), map[string]float64{"b": 0.7, "k": 0.3}, "b", "k")
	m.Parameters[0].Log = false
	m.observe(30, 0.01, 0.01, decayed(1, 0.1*math.Pi*math.Pi+0.5))
	m.Starts = 16
	fit := m.run(t)
	if s := fit.Starts; s.Tried != 17 || s.Agree < 2 || len(s.Others) != 1 || s.Agree+s.Others[0].Count+s.Failed != 17 {
		t.Fatalf("starts: %+v", s)
	}
	other := fit.Starts.Others[0]
	if math.Abs(other.Coordinates[0]+fit.Coordinates[0]) > 1e-3 || math.Abs(other.Coordinates[1]-fit.Coordinates[1]) > 1e-3 || math.Abs(other.ChiSquared-fit.ChiSquared) > 1e-3 {
		t.Errorf("the fit is %v with %g, the second %v with %g", fit.Coordinates, fit.ChiSquared, other.Coordinates, other.ChiSquared)
	}
}

const carried = `
name: carried
unknown: u
axes:
  t: {range: [0, 1], points: 41, boundary: nodes}
  x: {range: [0, 1], points: 64, boundary: periodic}
constants: {c: 1, d: 0.01}
terms:
  u_t: {axis: t, derivative: 1}
  u_x: {axis: x, derivative: 1}
  u_xx: {axis: x, derivative: 2}
residual: {expression: u_t + c*u_x - d*u_xx}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - sin(2*pi*x) - 0.5*cos(4*pi*x)}
`

// TestStartsOfOneGrid has a fit that another start leads to, and that finer grids move by more than a deviation: it is no second fit beside
// itself, and its start ends at it.
func TestStartsOfOneGrid(t *testing.T) {
	p, err := pde.Load("carried.yaml", []byte(carried))
	if err != nil {
		t.Fatal(err)
	}
	m := free(t, p, map[string]float64{"c": 1}, "c")
	for _, o := range [][3]float64{
		{0.3251, 0.9691, 0.3534},
		{0.2794, 0.9389, -1.2708},
		{0.2560, 0.4428, 0.5977},
		{0.1658, 0.1594, -0.8032},
		{0.1400, 0.7158, -0.7796},
		{0.2824, 0.7023, 0.2678},
	} {
		m.Observations = append(m.Observations, Observation{At: []float64{o[0], o[1]}, Value: o[2], Sigma: 0.1})
	}
	fit := m.run(t)
	if s := fit.Starts; s.Tried != 1+OtherStarts || s.Agree < 1 || len(s.Others) > 0 || Rejects(fit.ChiSquared, fit.ChiMoved, fit.Degrees) {
		t.Errorf("chi-squared %g, starts: %+v", fit.ChiSquared, s)
	}
}

// TestInterrupted ends a fit after its first grid, and between its intervals: the last step is left, with its chi-squared.
func TestInterrupted(t *testing.T) {
	m := free(t, loadDecay(t), map[string]float64{"a": 0.8, "k": 0.4}, "a", "k")
	m.observe(20, 1e-6, 1e-6, decayed(1, 0.1*math.Pi*math.Pi+0.5))
	whole := m.run(t)
	for _, after := range []int{1, 2, 3} { // the third grid is the last
		ctx, cancel := context.WithCancel(context.Background())
		said := 0
		fit, err := m.Run(ctx, func(format string, _ ...any) {
			if said++; said == after && strings.HasPrefix(format, "on ") {
				cancel()
			}
		})
		cancel()
		if !errors.Is(err, context.Canceled) || fit == nil {
			t.Fatalf("after %d grids: %v, %v", after, fit, err)
		}
		x, err := m.fitter(context.Background(), level{}, &Fit{})
		if err != nil {
			t.Fatal(err)
		}
		for j, theta := range fit.Coordinates {
			if math.Abs(theta-whole.Coordinates[j]) > 0.01 {
				t.Errorf("after %d grids %v, the whole fit has %v", after, fit.Coordinates, whole.Coordinates)
			}
		}
		if slices.Equal(fit.Grid.Axes, x.grid.Axes) {
			if x.move(fit.Coordinates); math.Abs(norm2(x.residual)-fit.ChiSquared) > 1e-9*fit.ChiSquared {
				t.Errorf("chi-squared %g, want %g", fit.ChiSquared, norm2(x.residual))
			}
		}
		if fit.Iterations == 0 || fit.Low != nil {
			t.Errorf("%d iterations, intervals from %v", fit.Iterations, fit.Low)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if fit, err := m.Run(ctx, t.Logf); !errors.Is(err, context.Canceled) || fit != nil {
		t.Errorf("before any step: %v, %v", fit, err)
	}
}

// TestManyMinima describes a point that is no minimum, as after many fits that each met a smaller sum: it is complete, and says which
// intervals are lost.
func TestManyMinima(t *testing.T) {
	m := free(t, loadDecay(t), map[string]float64{"a": 0.9, "k": 0.4}, "a", "k")
	m.observe(20, 0.01, 0.01, decayed(1, 0.1*math.Pi*math.Pi+0.5))
	out := &Fit{Coordinates: m.coordinates(), Ends: make([]int, 2)}
	f, err := m.fitter(context.Background(), level{}, out)
	if err != nil {
		t.Fatal(err)
	}
	better, err := out.describe(f, true)
	if err != nil || better == nil {
		t.Fatalf("nothing better than a start is met: %v", err)
	}
	f.move(better)
	if least := norm2(f.residual); least >= out.reachedAt(f) {
		t.Errorf("%v is no better than the start", better)
	}
	if better, err = out.describe(f, false); err != nil || better != nil || len(out.Deviations) != 2 || len(out.Low) != 2 || !slices.Contains(out.Lost, true) || out.Degrees != 18 {
		t.Errorf("%v, %v: %+v", better, err, out)
	}
}

// reachedAt is the sum of squares at the coordinates.
func (out *Fit) reachedAt(f *fitter) float64 {
	f.move(out.Coordinates)
	return norm2(f.residual)
}
