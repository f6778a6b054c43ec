package pde

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
)

const steadyHeader = `name: toy
unknown: u
time: none
axes:
  y: {range: [0, 1], points: 5, boundary: nodes}
  x: {range: [0, 2], points: 8, boundary: periodic}
`

// What a file says of time and inputs, and mistakes in it.
func TestInputs(t *testing.T) {
	p := mustLoad(t, header+`inputs:
  nu: {distribution: log-uniform, low: 1e-3, high: 0.1}
  a: {distribution: random-series, series: free}
residual: {expression: nu*u + a - u0}
`)
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	var places []int
	for _, in := range p.PlaceInputs(g) {
		places = append(places, in.Offset, in.Size)
	}
	if names := strings.Join(p.InputNames(), " "); names != "u0 nu a" || !slices.Equal(places, []int{0, 8, 8, 1, 9, 8}) || p.InputSize(g) != 17 || p.OnlyInitial() {
		t.Errorf("inputs %s at %v", names, places)
	}
	if p.Drawn() {
		t.Error("the initial condition of this file has no distribution")
	}
	p = mustLoad(t, header+"inputs: {nu: {distribution: uniform, low: 1, high: 2}}\nresidual: {expression: nu*u}\nconditions: {start: {kind: initial, at: {t: low}, expression: u - nu}}\n")
	if names := strings.Join(p.InputNames(), " "); names != "nu" || p.Initials() != 0 || !p.Drawn() || p.Unknowns[0].Start.String() != "nu" {
		t.Errorf("a file without initial conditions has inputs %s", names)
	}
	if p := mustLoad(t, header+"time: t\nresidual: {expression: u}\n"); p.Steady || !p.OnlyInitial() {
		t.Error("time: t is what a file without it means")
	}
	const residual = "residual: {expression: u}\n"
	const input = "inputs: {f: {distribution: random-series, series: free}}\n"
	for _, c := range []struct{ src, want string }{
		{header + "time: x\n" + residual, "7:7: time: axis x is not the first one"},
		{header + "time: s\n" + residual, `7:7: time: there is no axis "s"`},
		{steadyHeader + input + "initial: {distribution: random-sines, low: 0, high: 1}\n" + residual, "8:10: initial: a problem with time: none has no initial condition"},
		{steadyHeader + input + "residual: {expression: u - u0}\n", "8:28: unknown name u0"},
		{steadyHeader + input + "terms: {u_x: {spectral: derivative, axis: x}}\n" + residual, "term u_x: spectral terms act along all axes but time"},
		{steadyHeader + input + "ansatz: {projection: remove-mean}\n" + residual, "remove-mean takes the mean over all axes but time"},
		{steadyHeader + input + "conditions: {a: {kind: initial, expression: u}}\n" + residual, "a: kind: initial: a problem with time: none"},
		{header + "inputs: {x: {distribution: uniform, low: 0, high: 1}}\n" + residual, "input x has the name of an axis"},
		{header + "inputs: {u0: {distribution: uniform, low: 0, high: 1}}\n" + residual, "input u0 has the name of the initial condition"},
		{header + "inputs: {solution: {distribution: uniform, low: 0, high: 1}}\n" + residual, "input solution: files of samples or predictions have another array of that name"},
		{header + "inputs: {relative_residual: {distribution: uniform, low: 0, high: 1}}\n" + residual, "input relative_residual: files of"},
		{strings.Replace(header, "unknown: u", "unknown: passes", 1) + "residual: {expression: passes}\n", "unknown passes: files of"},
		{strings.Replace(header, "  x:", "  residual:", 1) + residual, "axis residual: files of"},
		{header + "inputs: {k: {}}\n" + residual, `inputs.k: distribution "": want log-uniform`},
		{header + "inputs: {k: {distribution: log-uniform, low: 0, high: 1}}\n" + residual, "inputs.k: low 0: a log-uniform number is positive"},
		{header + "inputs: {k: {distribution: uniform, low: 0, high: 1, axes: [x]}}\n" + residual, "inputs.k: uniform draws a number, which has no axes"},
		{header + "inputs: {k: {distribution: random-series, series: free, axes: [t]}}\n" + residual, `inputs.k: axes: "t" is no axis of space`},
		{header + "inputs: {k: {distribution: random-series, series: free, levels: [1]}}\n" + residual, "inputs.k: levels wants two values"},
		{header + "inputs: {k: {distribution: random-series, series: free, modes: 3}}\n" + residual, "inputs.k: modes is a parameter of a distribution"},
		{header + "initial: {distribution: uniform, low: 0, high: 1}\n" + residual, "initial: uniform draws a number, and the initial condition is a field"},
		{header + "terms: {q: {flux: 1, axis: t}}\n" + residual, "term q: a flux is along an axis of space, and t is time"},
		{header + "terms: {q: {flux: u, axis: x}}\n" + residual, "7:19: unknown name u"},
	} {
		if _, err := Load("toy.yaml", []byte(c.src)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.src[len(header)-10:], err, c.want)
		}
	}
	// Without inputs there is something to solve, and nothing to learn; nor do inputs count that nothing reads.
	alone := mustLoad(t, steadyHeader+"residual: {expression: u}\nconditions: {a: {at: {y: low}, expression: u}}\n")
	if err := alone.CheckConditions(); err == nil || !strings.Contains(err.Error(), "3:7: time: none: without inputs all samples are the same") || alone.CheckHeld() != nil {
		t.Errorf("a steady problem without inputs: %v, %v", err, alone.CheckHeld())
	}
	p = mustLoad(t, header+"inputs: {k: {distribution: uniform, low: 1, high: 2}, z: {distribution: uniform, low: 1, high: 2}}\ninitial: {distribution: random-sines, low: 0, high: 1}\nresidual: {expression: k*u}\n").WithoutUnread()
	if names := strings.Join(p.InputNames(), " "); names != "k" || p.Initials() != 0 {
		t.Errorf("of k, z and u0 the residual k*u reads %s", names)
	}
}

// A flux term is the difference of the flows at the two faces of a point's cell, by the
// harmonic mean of the coefficient, at points of periodic and other axes.
func TestFlux(t *testing.T) {
	p := mustLoad(t, steadyHeader+`inputs:
  k: {distribution: uniform, low: 1, high: 2}
  z: {distribution: random-series, series: free}
expressions: {a: exp(z)}
terms:
  flow_x: {flux: k*a, axis: x}
  flow_y: {flux: k*a, axis: y}
residual: {expression: flow_x + 3*flow_y, rows: {y: [1, 1]}}
`)
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	u, sample := check.Normal(rng, make([]float64, g.Size())), check.Normal(rng, make([]float64, s.InputSize()))
	sample[0] = 1.7
	nx, hx, hy := 8, 2.0/8, 1.0/4
	flow := func(from, to int) float64 { // from a point to another, times the step
		a, b := sample[0]*math.Exp(sample[1+from]), sample[0]*math.Exp(sample[1+to])
		return 2 / (1/a + 1/b) * (u[to] - u[from])
	}
	var want []float64
	for j := 1; j < 4; j++ {
		for i := range nx {
			at := j*nx + i
			left, right := j*nx+(i+nx-1)%nx, j*nx+(i+1)%nx
			want = append(want, (flow(at, right)+flow(at, left))/(hx*hx)+3*(flow(at, at+nx)+flow(at, at-nx))/(hy*hy))
		}
	}
	check.Close(t, rowValues(s, s.Sets[0], u, sample), want, 1e-12, 1e-12)

	walls := strings.Replace(string(p.Source), ", rows: {y: [1, 1]}", "", 1)
	if _, err := mustLoad(t, walls).Discretize(g); err == nil || !strings.Contains(err.Error(), "needs `rows` to leave points out") {
		t.Errorf("a flux at a wall: %v", err)
	}
	// A coefficient without inputs needs no neighbours.
	q := mustLoad(t, header+"terms: {q: {flux: 2, axis: x}}\nresidual: {expression: q, rows: {x: [1, 1]}}\n")
	if e := q.Residuals[0].Expr.String(); e != "2*q.high - 2*q.low" {
		t.Errorf("a flux of a constant coefficient is %s", e)
	}
}

// A flux by a coefficient of coordinates is that by an input with its values, also across the end of a periodic axis.
func TestFluxOfCoordinates(t *testing.T) {
	const src = `name: toy
unknown: u
time: none
axes:
  y: {range: [0, 1], points: 5, boundary: nodes}
  x: {range: [0, 1], points: 10, boundary: periodic}
inputs: {c: {axes: [y, x], distribution: random-series, series: free, positive: exp}}
terms: {q: {flux: "COEFFICIENT", axis: x}, r: {flux: "2*COEFFICIENT", axis: y}}
residual: {expression: q + r - c, rows: {y: [1, 1]}}
`
	row := func(coefficient string) []float64 {
		p := mustLoad(t, strings.ReplaceAll(src, "COEFFICIENT", coefficient))
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Discretize(g)
		if err != nil {
			t.Fatal(err)
		}
		u, sample, nx := make([]float64, g.Size()), make([]float64, p.InputSize(g)), g.Axes[1].Points
		for q := range u {
			x, y := g.Axes[1].Coordinate(q%nx), g.Axes[0].Coordinate(q/nx)
			u[q], sample[q] = math.Sin(3*float64(q)), 2+math.Sin(2*math.Pi*x)*math.Cos(y)
			if x > 0.65 {
				sample[q] *= 5
			}
		}
		return rowValues(s, s.Sets[0], u, sample)
	}
	check.Close(t, row("where(x > 0.65, 5, 1)*(2 + sin(2*pi*x)*cos(y))"), row("c"), 1e-12, 1e-12)
}

// What a network sees of an input is of the size of 1, whatever its unit.
func TestUnit(t *testing.T) {
	for _, c := range []struct {
		s       Sampler
		v, want float64
	}{
		{Sampler{Distribution: "uniform", Low: 2, High: 4}, 3, 0.5},
		{Sampler{Distribution: "uniform", Low: 2, High: 2}, 2, 0},
		{Sampler{Distribution: "log-uniform", Low: 1e-4, High: 1e-2}, 1e-3, 0.5},
		{Sampler{Distribution: "random-series", Offset: 3, Scale: 10}, 13, 1},
		{Sampler{Distribution: "random-series", Levels: []float64{3, 12}, Scale: 2}, 24, 1},
		{Sampler{Distribution: "random-sines", Low: -4, High: 2}, 2, 0.5},
	} {
		if got := c.s.Unit(c.v); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v is %v, want %v", c.s, c.v, got, c.want)
		}
	}
	z := []float64{-0.1, 0, 3}
	Sampler{Levels: []float64{3, 12}, Scale: 2, Offset: 1}.Transform(z)
	check.Close(t, z, []float64{7, 25, 25}, 0, 0)
}

// On an axis an input has the values of its own points.
func TestPlacedInput(t *testing.T) {
	p := mustLoad(t, steadyHeader+"inputs: {f: {distribution: random-series, series: free, axes: [y]}}\nresidual: {expression: u - f}\n")
	g := &grid.Grid{Axes: []grid.Axis{p.Axes[0].Axis, p.Axes[1].Axis}}
	in := p.PlaceInputs(g)[0]
	for point := range int32(40) {
		if at := in.At(point, 0, 0); at != int(point)/8 {
			t.Fatalf("point %d reads value %d", point, at)
		}
	}
	if at := in.At(39, 0, 1); at != 4 {
		t.Errorf("past the end of an axis: %d", at)
	}
}

// An unknown that nothing says what it begins with begins at zero.
func TestPersistUnread(t *testing.T) {
	p := mustLoad(t, `name: p
unknown: [c, mu]
axes: {t: {range: [0, 1], points: 3, boundary: nodes}, x: {range: [0, 1], points: 4, boundary: periodic}}
terms: {c_t: {of: c, axis: t, derivative: 1}}
residual: {a: {expression: c_t - mu}, b: {expression: mu - c}}
conditions: {start: {at: {t: low}, expression: c - 2}}
`).WithoutUnread()
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	u := slices.Repeat([]float64{7}, 2*g.Size())
	p.Persist(u, nil, g)
	for i, v := range u {
		if want := 2 * float64(1-i/g.Size()); v != want {
			t.Fatalf("begins with %v, want 2 and 0", u)
		}
	}
}
