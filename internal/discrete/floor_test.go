package discrete

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
	"pihc/pde"
	"pihc/sim"
)

// The discretisation floors of docs/evidence/choices.md: 0.07-0.10 % for the shipped
// rows, whatever the weights, and 2.4-3.1 % for the published ones.
func TestFloor(t *testing.T) {
	for _, tc := range []struct {
		problem  string
		points   int
		scale    func(*pde.RowSet) float64
		u0       float64
		low, top float64
	}{
		{"diffusion-sorption", 128, meanOf(1), 0.1, 0.0005, 0.0012},
		{"diffusion-sorption", 128, meanOf(10), 0.1, 0.0005, 0.0012},
		{"diffusion-sorption-published", 64, func(*pde.RowSet) float64 { return 1 }, 0.18, 0.02, 0.06},
	} {
		sys := systemOf(t, tc.problem, map[string]int{"t": 101, "x": tc.points})
		p, g := sys.Problem, sys.Grid
		solver, err := sim.New(p.Reference.Solver, sim.Setting{Axes: g.Axes, Constants: p.Reference.Constants})
		if err != nil {
			t.Fatal(err)
		}
		initial := constant(tc.u0, tc.points)
		truth := make([]float64, g.Size())
		if _, err := solver.Solve(truth, initial); err != nil {
			t.Fatal(err)
		}
		f, err := MeasureFloor(sys, tc.scale, initial, truth, 0)
		if err != nil {
			t.Fatal(err)
		}
		if f.Error < tc.low || f.Error > tc.top {
			t.Errorf("%s: floor error %.4f, want %g to %g", tc.problem, f.Error, tc.low, tc.top)
		}
	}
}

// Two minimisers of the same rows: by a factorisation, and by conjugate gradients.
func TestFloorIterative(t *testing.T) {
	sys := systemOf(t, "diffusion-sorption", map[string]int{"t": 13, "x": 12})
	p, g := sys.Problem, sys.Grid
	initial, truth := constant(0.1, 12), make([]float64, g.Size())
	solver, err := sim.New(p.Reference.Solver, sim.Setting{Axes: g.Axes, Constants: p.Reference.Constants})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := solver.Solve(truth, initial); err != nil {
		t.Fatal(err)
	}
	want, err := MeasureFloor(sys, meanOf(1), initial, truth, 0)
	if err != nil {
		t.Fatal(err)
	}
	iterative := func(most float64) *minimiser {
		m := newMinimiser(sys, meanOf(1), initial, most)
		if !m.direct {
			t.Fatal("no band")
		}
		m.direct = false
		return m
	}
	if _, err := iterative(1e3).minimise(slices.Clone(truth)); !errors.Is(err, ErrLarge) {
		t.Errorf("with hardly any work: %v", err)
	}
	u := slices.Clone(truth)
	if _, err := iterative(1e9).minimise(u); err != nil {
		t.Fatal(err)
	}
	check.Close(t, []float64{grid.RelativeL2(u, truth, 1)}, []float64{want.Error}, 1e-3, 0)
}

// With spectral terms: 0.42, 0.0052 and 0.42 % on 32 x 32 x 32 for the first test samples of
// navier-stokes-demo (`pihc check`), as a program in SciPy found (docs/evidence/choices.md). Here, on a
// small grid, the minimiser has no descent left in any direction that the ansatz can express, keeps
// the mean of each time, and begins with the initial condition.
func TestFloorSpectral(t *testing.T) {
	sys := systemOf(t, "navier-stokes", map[string]int{"t": 9, "x": 8, "y": 8})
	initial := make([]float64, 64)
	for i := range initial {
		x, y := 2*math.Pi*float64(i/8)/8, 2*math.Pi*float64(i%8)/8
		initial[i] = math.Sin(x)*math.Cos(y) + 0.5*math.Cos(2*y-x)
	}
	start := slices.Repeat(initial, 9)
	f := newMinimiser(sys, meanOf(1), initial, 1e9)
	before, u := f.squares(start), slices.Clone(start)
	if _, err := f.minimise(u); err != nil {
		t.Fatal(err)
	}
	after := f.squares(u)
	if after > 0.01*before {
		t.Errorf("cost %g, of %g at persistence", after, before)
	}
	check.Close(t, u[:64], initial, 0, 0)
	for slice := range 9 {
		if mean := sum(u[slice*64:][:64]) / 64; math.Abs(mean) > 1e-12 {
			t.Errorf("slice %d: mean %g", slice, mean)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	moved := make([]float64, len(u))
	for range 20 {
		v := make([]float64, len(u))
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		clear(v[:64])
		sys.HoldMeans(v)
		const h = 1e-4
		at := func(h float64) float64 {
			for i := range u {
				moved[i] = u[i] + h*v[i]
			}
			return f.squares(moved)
		}
		up, down := at(h), at(-h)
		if slope, bend := (up-down)/(2*h), (up+down-2*after)/(h*h); math.Abs(slope) > 1e-3*bend || !(bend > 0) {
			t.Errorf("slope %g where the curvature is %g", slope, bend)
		}
	}
}

// What the ansatz fixes is not minimised over: of rows without one at the first time the minimiser
// by a factorisation begins with the initial condition too.
func TestFloorOfAnsatz(t *testing.T) {
	for _, tc := range []struct {
		name, ansatz string
		low, top     float64
	}{
		{"fixed", "ansatz: {offset: u0, multiplier: t}", 0, 0.01},
		{"free", "conditions:\n  initial: {kind: initial, at: {t: low}, expression: u - u0}", 0, 0.01},
	} {
		p, err := pde.Load("ring.yaml", []byte(heatOnRing+tc.ansatz+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		sys := discretized(t, p, nil)
		g := sys.Grid
		const points, decay = 32, 0.05 * 4 * math.Pi * math.Pi
		initial := make([]float64, points)
		var truth []float64
		for i := range initial {
			initial[i] = math.Sin(2 * math.Pi * float64(i) / points)
		}
		for _, time := range g.Axes[0].Coordinates() {
			for _, v := range initial {
				truth = append(truth, v*math.Exp(-decay*time))
			}
		}
		f, err := MeasureFloor(sys, meanOf(1), initial, truth, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !(f.Error > tc.low && f.Error < tc.top) {
			t.Errorf("%s: floor error %g", tc.name, f.Error)
		}
	}
}

const heatOnRing = `name: ring
unknown: u
axes:
  t: {range: [0, 0.5], points: 26, boundary: nodes}
  x: {range: [0, 1], points: 32, boundary: periodic}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
  u_xx: {axis: x, derivative: 2, order: 2}
residual: {expression: "u_t - 0.05*u_xx"}
initial: {distribution: random-sines, low: -0.5, high: 0.5}
`

// The minimiser of all rows over all values is each unknown's own.
func TestFloorOfCopies(t *testing.T) {
	one, two := systemOf(t, "../../constraint/testdata/burgers.yaml", nil), systemOf(t, "../../constraint/testdata/copies.yaml", nil)
	initial := make([]float64, one.InputSize())
	for i := range initial {
		initial[i] = 0.3 * math.Sin(float64(i))
	}
	other := make([]float64, len(initial))
	for i := range other {
		other[i] = 0.2 * math.Cos(float64(2*i))
	}
	starts := [][]float64{initial, other}
	var truth []float64
	var squares, residuals float64
	for _, u0 := range starts {
		u := slices.Repeat(u0, one.Grid.Axes[0].Points)
		f, err := MeasureFloor(one, meanOf(1), u0, u, 0)
		if err != nil {
			t.Fatal(err)
		}
		squares += f.Error * f.Error / 2
		residuals += f.Residual * f.Residual / 2
		truth = append(truth, u...)
	}
	f, err := MeasureFloor(two, meanOf(1), slices.Concat(starts...), truth, 0)
	if err != nil {
		t.Fatal(err)
	}
	check.Close(t, []float64{f.Error, f.Residual}, []float64{math.Sqrt(squares), math.Sqrt(residuals)}, 1e-6, 0)
}

// systemOf is a problem on a grid.
func systemOf(t testing.TB, problem string, points map[string]int) *pde.System {
	t.Helper()
	p, err := pde.Open(problem)
	if err != nil {
		t.Fatal(err)
	}
	return discretized(t, p, points)
}

// discretized is a problem on its own grid, but for the axes that have points of their own here.
func discretized(t testing.TB, p *pde.Problem, points map[string]int) *pde.System {
	t.Helper()
	g, err := p.Grid(points)
	if err != nil {
		t.Fatal(err)
	}
	sys, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	return sys
}

// meanOf is the mean over the rows of a set, those of the residual times the square of a weight.
func meanOf(residual float64) func(*pde.RowSet) float64 {
	return func(set *pde.RowSet) float64 {
		if set.Kind == pde.ResidualRows {
			return residual * residual / float64(len(set.Solved))
		}
		return 1 / float64(len(set.Solved))
	}
}

func constant(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}
