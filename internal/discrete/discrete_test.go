package discrete

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pihc/grid"
	"pihc/pde"
	"pihc/sim"
)

func load(t testing.TB, src string) *pde.Problem {
	t.Helper()
	p, err := pde.Load("p.yaml", []byte("name: p\nunknown: u\n"+src))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// solve returns the solution on g, from f of the coordinates of space.
func solve(t testing.TB, p *pde.Problem, g *grid.Grid, refine []int, f func(x []float64) float64) []float64 {
	t.Helper()
	s, err := New(p, g, refine)
	if err != nil {
		t.Fatal(err)
	}
	u := make([]float64, g.Size())
	if _, err := s.Solve(u, onSpace(g, f)); err != nil {
		t.Fatal(err)
	}
	return u
}

func onSpace(g *grid.Grid, f func(x []float64) float64) []float64 {
	u0 := make([]float64, g.Size()/g.Axes[0].Points)
	index := make([]int, len(g.Axes))
	for i := range u0 {
		g.Unravel(i, index)
		x := make([]float64, len(g.Axes)-1)
		for a := range x {
			x[a] = g.Axes[1+a].Coordinate(index[1+a])
		}
		u0[i] = f(x)
	}
	return u0
}

// distance is the relative L2 distance to a function of all coordinates.
func distance(g *grid.Grid, u []float64, f func(x []float64) float64) float64 {
	var d, n float64
	index, x := make([]int, len(g.Axes)), make([]float64, len(g.Axes))
	for i, v := range u {
		g.Unravel(i, index)
		for a := range x {
			x[a] = g.Axes[a].Coordinate(index[a])
		}
		w := f(x)
		d, n = d+(v-w)*(v-w), n+w*w
	}
	return math.Sqrt(d / n)
}

const pi = math.Pi

// Equations with known solutions, to the order of their rows: first and second
// order in time, walls of all kinds, a nonlinear time derivative, rows that outnumber
// the unknowns, two axes of space, spectral terms, an ansatz in the place of initial
// rows, and steady ones.
var known = []struct {
	name, src string
	refine    []int
	start     func(x []float64) float64
	exact     func(x []float64) float64
	most      float64
}{
	{
		"wave", `axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 16, boundary: periodic}}
terms: {u_tt: {axis: t, derivative: 2}, u_xx: {axis: x, derivative: 2, order: 4}, v0: {axis: t, edge: low, at: inner, derivative: 1, points: 4}}
residual: {expression: u_tt - 0.49*u_xx, rows: {t: [1, 0]}}
conditions: {a: {at: {t: low}, expression: u - u0}, b: {at: {t: low}, expression: v0 - 1}}
`,
		[]int{1, 4},
		func(x []float64) float64 { return math.Sin(2 * pi * x[0]) },
		func(x []float64) float64 { return math.Sin(2*pi*x[1])*math.Cos(1.4*pi*x[0]) + x[0] }, 3e-5,
	},
	{
		"heat between walls, one of them fixed after the start", `axes: {t: {range: [0, 1], points: 6, boundary: nodes}, x: {range: [0, 1], points: 9, boundary: nodes}}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2, closure: undefined}, end: {axis: x, edge: high, at: inner, derivative: 1, points: 4}}
residual: {expression: (u_t - 0.1*u_xx)*3, rows: {t: [1, 0], x: [1, 1]}}
conditions:
  a: {at: {t: low}, expression: u - u0}
  b: {at: {x: low}, rows: {t: [1, 0]}, expression: u}
  c: {at: {x: high}, rows: {t: [1, 0]}, expression: end}
`,
		[]int{1, 8},
		func(x []float64) float64 { return math.Sin(pi / 2 * x[0]) },
		func(x []float64) float64 { return math.Sin(pi/2*x[1]) * math.Exp(-0.1*pi*pi/4*x[0]) }, 1e-4,
	},
	{
		"logistic growth with a residual that is quadratic in u_t", `axes: {t: {range: [0, 2], points: 5, boundary: nodes}, x: {range: [0, 1], points: 4, boundary: cells}}
terms: {u_t: {axis: t, derivative: 1}}
residual: {expression: (u_t - u*(1 - u))*(2 + u_t^2), weight: sqrt(t)}
conditions: {a: {at: {t: low}, expression: u - u0}}
`,
		[]int{2, 1},
		func(x []float64) float64 { return 0.1 + x[0]/4 },
		func(x []float64) float64 {
			a := 0.1 + x[1]/4
			return a * math.Exp(x[0]) / (1 + a*(math.Exp(x[0])-1))
		}, 1e-6,
	},
	{
		"rows of the residual at the walls too", `axes: {t: {range: [0, 1], points: 6, boundary: nodes}, x: {range: [0, 1], points: 9, boundary: nodes}}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2, order: 4}}
residual: {expression: u_t - 0.1*u_xx, rows: {x: [0, 0]}}
conditions: {a: {at: {t: low}, expression: u - u0}, b: {at: {x: low}, expression: u}, c: {at: {x: high}, expression: u}}
`,
		[]int{1, 4},
		func(x []float64) float64 { return math.Sin(pi * x[0]) },
		func(x []float64) float64 { return math.Sin(pi*x[1]) * math.Exp(-0.1*pi*pi*x[0]) }, 1e-4,
	},
	{
		"a mixed derivative of time and space", `axes: {t: {range: [0, 1], points: 5, boundary: nodes}, x: {range: [0, 1], points: 16, boundary: periodic}}
terms: {u_t: {axis: t, derivative: 1}, u_x: {spectral: derivative, axis: x}, u_xxt: {factors: [{axis: t, derivative: 1}, {axis: x, derivative: 2, order: 6}]}}
residual: {expression: u_t + u_x - 0.01*u_xxt}
ansatz: {offset: u0*cos(t), multiplier: t}
`,
		[]int{2, 2},
		func(x []float64) float64 { return math.Sin(2 * pi * x[0]) },
		func(x []float64) float64 { return math.Sin(2 * pi * (x[1] - x[0]/(1+0.04*pi*pi))) }, 2e-5,
	},
	{
		"heat in two dimensions, spectral", `axes: {t: {range: [0, 1], points: 4, boundary: nodes}, x: {range: [0, 1], points: 24, boundary: periodic}, y: {range: [0, 2], points: 24, boundary: periodic}}
terms: {u_t: {axis: t, derivative: 1}, lap: {spectral: laplacian}}
residual: {expression: u_t - 0.01*lap + u*0}
conditions: {a: {at: {t: low}, expression: u - u0}}
`,
		[]int{2, 1, 1},
		func(x []float64) float64 { return math.Sin(2*pi*x[0]) * math.Cos(pi*x[1]) },
		func(x []float64) float64 {
			return math.Sin(2*pi*x[1]) * math.Cos(pi*x[2]) * math.Exp(-0.05*pi*pi*x[0])
		}, 1e-6,
	},
	{
		"Laplace", `axes: {x: {range: [0, 1], points: 9, boundary: nodes}, y: {range: [0, 1], points: 8, boundary: periodic}}
terms: {u_xx: {axis: x, derivative: 2}, u_yy: {axis: y, derivative: 2, order: 4}}
residual: {expression: u_xx + u_yy, rows: {x: [1, 1]}}
conditions: {a: {at: {x: low}, expression: u - u0}, b: {at: {x: high}, expression: u}}
`,
		[]int{6, 6},
		func(x []float64) float64 { return 1 + math.Sin(2*pi*x[0]) },
		func(x []float64) float64 {
			return 1 - x[0] + math.Sin(2*pi*x[1])*math.Sinh(2*pi*(1-x[0]))/math.Sinh(2*pi)
		}, 3e-4,
	},
	{"a nonlinear steady equation with more rows than values", `axes: {x: {range: [0, 1], points: 9, boundary: cells}, y: {range: [0, 1], points: 4, boundary: periodic}}
terms: {u_xx: {axis: x, derivative: 2, order: 2}, lo: {axis: x, edge: low, at: wall, points: 4}, hi: {axis: x, edge: high, at: wall, points: 4}}
residual: {expression: u_xx - u^3 + x^3, rows: {x: [0, 0]}}
conditions: {a: {at: {x: low}, expression: lo - (u0 - 0.5), weight: 100}, b: {at: {x: high}, expression: hi - 1, weight: 100}}
`, []int{3, 1}, func([]float64) float64 { return 0.5 }, func(x []float64) float64 { return x[0] }, 1e-6},
	{
		"heat between moving walls, which take the place of the equation", `axes: {t: {range: [0, 1], points: 6, boundary: nodes}, x: {range: [0, 1], points: 17, boundary: nodes}}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2, order: 4}}
residual: {expression: u_t - 0.1*u_xx}
conditions: {a: {kind: initial, at: {t: low}, expression: u - u0}, b: {at: {x: low}, expression: u - exp(-0.9*t)}, c: {at: {x: high}, expression: u - cos(3)*exp(-0.9*t)}}
`,
		[]int{1, 4},
		func(x []float64) float64 { return math.Cos(3 * x[0]) },
		func(x []float64) float64 { return math.Cos(3*x[1]) * math.Exp(-0.9*x[0]) }, 1e-4,
	},
	{
		"the same on cells", `axes: {t: {range: [0, 1], points: 6, boundary: nodes}, x: {range: [0, 1], points: 16, boundary: cells}}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2, order: 2}, lo: {axis: x, edge: low, at: wall, points: 4}, hi: {axis: x, edge: high, at: wall, points: 4}}
residual: {expression: u_t - 0.1*u_xx}
conditions: {a: {kind: initial, at: {t: low}, expression: u - u0}, b: {at: {x: low}, expression: lo - exp(-0.9*t)}, c: {at: {x: high}, expression: hi - cos(3)*exp(-0.9*t)}}
`,
		[]int{1, 9},
		func(x []float64) float64 { return math.Cos(3 * x[0]) },
		func(x []float64) float64 { return math.Cos(3*x[1]) * math.Exp(-0.9*x[0]) }, 1e-4,
	},
	{
		"a damped wave between walls", `axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 17, boundary: nodes}}
terms: {u_tt: {axis: t, derivative: 2}, u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2, order: 4}, v0: {axis: t, edge: low, at: inner, derivative: 1, points: 4}}
residual: {expression: u_tt + 3*u_t + u - u_xx}
conditions: {a: {kind: initial, at: {t: low}, expression: u - u0}, v: {kind: initial, at: {t: low}, expression: v0}, b: {at: {x: low}, expression: u}, c: {at: {x: high}, expression: u}}
`,
		[]int{1, 4},
		func(x []float64) float64 { return math.Sin(pi * x[0]) },
		func(x []float64) float64 {
			w := math.Sqrt(pi*pi - 1.25)
			return math.Sin(pi*x[1]) * math.Exp(-1.5*x[0]) * (math.Cos(w*x[0]) + 1.5/w*math.Sin(w*x[0]))
		}, 1e-4,
	},
}

func TestKnownSolutions(t *testing.T) {
	for _, c := range known {
		t.Run(c.name, func(t *testing.T) {
			p := load(t, c.src)
			g, err := p.Grid(nil)
			if err != nil {
				t.Fatal(err)
			}
			u := solve(t, p, g, c.refine, c.start)
			if d := distance(g, u, c.exact); d > c.most {
				t.Errorf("relative L2 distance to the solution %.3g, want %.3g at most", d, c.most)
			}
		})
	}
}

// Steady problems and inputs, against solutions in closed form: a source, a coefficient that
// jumps, and a drawn rate of decay in time.
func TestInputs(t *testing.T) {
	for _, c := range []struct {
		name, src string
		refine    []int
		input     func(name string, x []float64) float64
		exact     func(x []float64) float64
		most      float64
	}{
		{
			"Poisson", `time: none
axes: {y: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 2], points: 13, boundary: nodes}}
inputs: {f: {distribution: random-series, series: free}}
terms: {u_xx: {axis: x, derivative: 2, order: 4}, u_yy: {axis: y, derivative: 2, order: 2}}
residual: {expression: u_xx + u_yy + f, rows: {y: [1, 1], x: [1, 1]}}
conditions:
  a: {at: {y: low}, expression: u}
  b: {at: {y: high}, expression: u}
  c: {at: {x: low}, rows: {y: [1, 1]}, expression: u}
  d: {at: {x: high}, rows: {y: [1, 1]}, expression: u}
`,
			[]int{6, 6},
			func(_ string, x []float64) float64 { return 2 * pi * pi * math.Sin(pi*x[0]) * math.Sin(pi*x[1]) },
			func(x []float64) float64 { return math.Sin(pi*x[0]) * math.Sin(pi*x[1]) }, 3e-4,
		},
		{
			"a plate held at its sides, which bear no moment, under a load", `time: none
axes: {y: {range: [0, 1], points: 17, boundary: nodes}, x: {range: [0, 1], points: 21, boundary: nodes}}
terms: {u_xxxx: {axis: x, derivative: 4}, u_yyyy: {axis: y, derivative: 4}, u_xxyy: {factors: [{axis: x, derivative: 2}, {axis: y, derivative: 2}]}, u_xx: {axis: x, derivative: 2}, u_yy: {axis: y, derivative: 2}}
inputs: {f: {distribution: random-series, series: free}}
residual: {expression: u_xxxx + 2*u_xxyy + u_yyyy - f}
conditions:
  a: {at: {y: low}, expression: u}
  b: {at: {y: high}, expression: u}
  c: {at: {x: low}, expression: u}
  d: {at: {x: high}, expression: u}
  e: {at: {y: low}, expression: u_yy}
  f: {at: {y: high}, expression: u_yy}
  g: {at: {x: low}, expression: u_xx}
  h: {at: {x: high}, expression: u_xx}
`,
			[]int{4, 4},
			func(_ string, x []float64) float64 {
				return 4 * pi * pi * pi * pi * math.Sin(pi*x[0]) * math.Sin(pi*x[1])
			},
			func(x []float64) float64 { return math.Sin(pi*x[0]) * math.Sin(pi*x[1]) }, 2e-3,
		},
		{
			// a u' is -x and a constant, and u has a kink half way between two points.
			"a flux through two layers", `time: none
axes: {y: {range: [0, 1], points: 4, boundary: periodic}, x: {range: [0, 1], points: 10, boundary: nodes}}
inputs: {a: {distribution: random-series, series: free, levels: [1, 4], interpolation: nearest}, end: {distribution: uniform, low: 0, high: 1}}
terms: {flow: {flux: a, axis: x}, u_yy: {axis: y, derivative: 2}}
residual: {expression: flow + u_yy + 1, rows: {x: [1, 1]}}
conditions: {c: {at: {x: low}, expression: u}, d: {at: {x: high}, expression: u - end}}
`,
			[]int{3, 9},
			func(name string, x []float64) float64 {
				switch {
				case name == "end":
					return 0.3
				case x[1] < 0.5:
					return 1
				}
				return 4
			},
			func(x []float64) float64 {
				// a u' = c - x, and 0.3 = ∫ u'.
				part := func(a, lo, hi, c float64) float64 { return (c*(hi-lo) - (hi*hi-lo*lo)/2) / a }
				c := (0.3 + (0.125 + 0.375/4)) / (0.5 + 0.5/4)
				return part(1, 0, min(x[1], 0.5), c) + part(4, 0.5, max(x[1], 0.5), c)
			}, 2e-4,
		},
		{
			"heat of a drawn conductivity, with a source", `axes: {t: {range: [0, 1], points: 6, boundary: nodes}, x: {range: [0, 1], points: 17, boundary: nodes}}
inputs: {D: {distribution: log-uniform, low: 1e-2, high: 1}, f: {distribution: random-series, series: sine}}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2, order: 4}}
residual: {expression: u_t - D*u_xx - f, rows: {t: [1, 0], x: [1, 1]}}
conditions: {a: {at: {t: low}, expression: u - u0}, b: {at: {x: low}, rows: {t: [1, 0]}, expression: u}, c: {at: {x: high}, rows: {t: [1, 0]}, expression: u}}
`,
			[]int{2, 4},
			func(name string, x []float64) float64 {
				switch name {
				case "D":
					return 0.2
				case "f":
					return math.Sin(2 * pi * x[1])
				}
				return math.Sin(pi * x[1])
			},
			func(x []float64) float64 {
				r := 0.2 * 4 * pi * pi
				return math.Sin(pi*x[1])*math.Exp(-0.2*pi*pi*x[0]) + math.Sin(2*pi*x[1])*(1-math.Exp(-r*x[0]))/r
			}, 1e-5,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := load(t, c.src)
			g, err := p.Grid(nil)
			if err != nil {
				t.Fatal(err)
			}
			sample := make([]float64, p.InputSize(g))
			index, x := make([]int, 2), make([]float64, 2)
			for _, in := range p.PlaceInputs(g) {
				for i := range g.Size() {
					g.Unravel(i, index)
					for a := range x {
						x[a] = g.Axes[a].Coordinate(index[a])
					}
					sample[in.At(int32(i), 0, 0)] = c.input(in.Name, x)
				}
			}
			s, err := New(p, g, c.refine)
			if err != nil {
				t.Fatal(err)
			}
			u := make([]float64, g.Size())
			if _, err := s.Solve(u, sample); err != nil {
				t.Fatal(err)
			}
			if d := distance(g, u, c.exact); d > c.most {
				t.Errorf("relative L2 distance to the solution %.3g, want %.3g at most", d, c.most)
			}
		})
	}
}

// GMRES and factored matrices give the same; several solves at once do, too.
func TestIterative(t *testing.T) {
	c := known[5]
	p := load(t, strings.Replace(c.src, "u*0", "(u^3 - u)*u_t", 1))
	g, _ := p.Grid(map[string]int{"x": 10, "y": 10})
	direct, err := New(p, g, []int{1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	iterative, _ := New(p, g, []int{1, 1, 1})
	if !direct.march.step.direct {
		t.Fatal("a small system is not solved by a factored matrix")
	}
	iterative.march.step.direct = false
	if err := iterative.march.step.checkIterative(); err != nil {
		t.Fatal(err)
	}
	u0 := onSpace(g, c.start)
	want := make([]float64, g.Size())
	if _, err := direct.Solve(want, u0); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	fields := make([][]float64, 4)
	for i := range fields {
		fields[i] = make([]float64, g.Size())
		wait.Go(func() {
			if _, err := iterative.Solve(fields[i], u0); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for i, u := range fields {
		if !slices.Equal(u, fields[0]) {
			t.Errorf("solve %d gives something else", i)
		}
		for k := range u {
			if math.Abs(u[k]-want[k]) > 1e-8 {
				t.Fatalf("%v at %d, %v by a factored matrix", u[k], k, want[k])
			}
		}
	}
}

// Rough solutions are those of Solve to four digits, by GMRES in two axes of space, and of several the one is found that is near.
func TestRough(t *testing.T) {
	c := known[5]
	p := load(t, strings.Replace(c.src, "u*0", "(u^3 - u)*u_t", 1))
	g, _ := p.Grid(map[string]int{"x": 10, "y": 10})
	want := solve(t, p, g, []int{1, 1, 1}, c.start)
	rough, err := NewRough(p, g, []int{1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, g.Size())
	if _, err := rough.Solve(got, onSpace(g, c.start)); err != nil || rough.march.step.direct || !(grid.RelativeL2(got, want, 1) < 1e-3) {
		t.Errorf("%v, by a factored matrix: %v, distance %g", err, rough.march.step.direct, grid.RelativeL2(got, want, 1))
	}
	p = load(t, `
time: none
axes:
  y: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 9, boundary: nodes}
inputs: {f: {distribution: random-series, series: sine}}
terms: {u_yy: {axis: y, derivative: 2, closure: undefined}, u_xx: {axis: x, derivative: 2, closure: undefined}}
residual: {expression: "u_xx + u_yy + 40*(u - u^3) + f", rows: {x: [1, 1], y: [1, 1]}}
conditions: {a: {at: {x: low}, expression: u}, b: {at: {x: high}, expression: u}, c: {at: {y: low}, expression: u}, d: {at: {y: high}, expression: u}}
`)
	g, _ = p.Grid(nil)
	if rough, err = NewRough(p, g, []int{2, 2}); err != nil {
		t.Fatal(err)
	}
	none, near, got := make([]float64, g.Size()), bumpOf(g), make([]float64, g.Size())
	for _, sign := range []float64{1, 0, -1, math.NaN()} {
		from := make([]float64, g.Size())
		for i, v := range near {
			from[i] = sign * v
		}
		if err := rough.SolveNear(got, none, from); err != nil {
			t.Fatal(err)
		}
		if middle := got[40]; math.IsNaN(sign) && middle != 0 || sign*sign == 1 && !(sign*middle > 0.3) || sign == 0 && middle != 0 {
			t.Errorf("near %g times a bump: %g in the middle", sign, middle)
		}
	}
}

// The classical solvers agree with the rows of both built-in problems on the same
// refined grid: they discretise the same walls, by other formulas in time, and
// Navier-Stokes by another method altogether.
func TestClassicalSolversAgree(t *testing.T) {
	for _, c := range []struct {
		problem string
		points  map[string]int
		refine  []int
	}{
		{"diffusion-sorption", map[string]int{"t": 13, "x": 24}, []int{2, 3}},
		{"navier-stokes", map[string]int{"t": 6, "x": 12, "y": 12}, []int{2, 3, 3}},
	} {
		p, err := pde.Open(c.problem)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Axes) == 3 { // no filaments that so few points cannot hold
			if p, err = p.SetConstants(map[string]float64{"nu": 1e-3, "T": 2}); err != nil {
				t.Fatal(err)
			}
		}
		g, _ := p.Grid(c.points)
		s, err := New(p, g, c.refine)
		if err != nil {
			t.Fatal(err)
		}
		u0 := slices.Repeat([]float64{0.1}, g.Size()/g.Axes[0].Points)
		if len(g.Axes) == 3 {
			field, err := sim.NewField(p.Inputs[0].Sampler.Field, g.Axes[1:], map[string]any{"points": 12})
			if err != nil {
				t.Fatal(err)
			}
			field.Sample(rand.New(rand.NewPCG(1, 2)), u0)
		}
		u := make([]float64, g.Size())
		if _, err := s.Solve(u, u0); err != nil {
			t.Fatal(err)
		}
		axes := slices.Clone(s.fine.Axes)
		axes[0] = g.Axes[0]
		solver, err := sim.New(p.Reference.Solver, sim.Setting{Axes: axes, Constants: p.Reference.Constants})
		if err != nil {
			t.Fatal(err)
		}
		n := s.fine.Size() / s.fine.Axes[0].Points
		truth := make([]float64, n*g.Axes[0].Points)
		if _, err := solver.Solve(truth, s.inputs[0].interpolate(u0)); err != nil {
			t.Fatal(err)
		}
		want := make([]float64, g.Size())
		for k := range g.Axes[0].Points {
			grid.Thin(want[k*len(u0):(k+1)*len(u0)], truth[k*n:(k+1)*n], g.Axes[1:], s.fine.Axes[1:])
		}
		var d, norm float64
		for i := range u {
			d, norm = d+(u[i]-want[i])*(u[i]-want[i]), norm+want[i]*want[i]
		}
		rel := math.Sqrt(d / norm)
		t.Logf("%s: %.3g", c.problem, rel)
		if rel > 1e-3 {
			t.Errorf("%s: relative L2 distance to the classical solution %.3g", c.problem, rel)
		}
	}
}

// An initial condition is continued to finer points: exactly where the interpolant holds it.
func TestInterpolation(t *testing.T) {
	g := &grid.Grid{Axes: []grid.Axis{
		{Name: "t", Hi: 1, Points: 2, Boundary: grid.Nodes},
		{Name: "x", Lo: 1, Hi: 3, Points: 9, Boundary: grid.Periodic},
		{Name: "y", Lo: -1, Hi: 1, Points: 8, Boundary: grid.Cells},
	}}
	f := func(x []float64) float64 {
		return (1 + math.Cos(3*pi*(x[0]-1)+1)) * (2 - x[1] + math.Pow(x[1], 5))
	}
	s := &Solver{grid: g, fine: &grid.Grid{Axes: slices.Clone(g.Axes)}}
	s.fine.Axes[1].Points, s.fine.Axes[2].Points = 36, 24
	u0 := pde.Problem{Inputs: []pde.Input{{Name: "u0", Axes: []string{"x", "y"}}}}
	in := input{coarse: u0.PlaceInputs(g)[0], fine: u0.PlaceInputs(s.fine)[0]}
	for i := 1; i < 3; i++ {
		in.weights = append(in.weights, interpolation(g.Axes[i], s.fine.Axes[i], false))
	}
	got, want := in.interpolate(onSpace(g, f)), onSpace(s.fine, f)
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Fatalf("%v at point %d, want %v", got[i], i, want[i])
		}
	}
	back := make([]float64, 72)
	grid.Thin(back, got, g.Axes[1:], s.fine.Axes[1:])
	for i, v := range onSpace(g, f) {
		if math.Abs(back[i]-v) > 1e-12 {
			t.Fatalf("point %d of the coarse grid: %v, want %v", i, back[i], v)
		}
	}
}

// What 12000 points take to be refined grows with them between walls, and is refused on a ring.
func TestManyPoints(t *testing.T) {
	for _, c := range []struct{ boundary, want string }{
		{"nodes", ""},
		{"periodic", "u0, from 12000 points of the periodic axis x to 24000"},
	} {
		p := loadFile(t, `
unknown: u
axes:
  t: {range: [0, 1], points: 3, boundary: nodes}
  x: {range: [0, 1], points: 12000, boundary: `+c.boundary+`}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
residual: {expression: u_t - u, rows: {t: [1, 0]}}
conditions:
  initial: {at: {t: low}, expression: u - u0}
initial: {distribution: random-sines, low: -0.5, high: 0.5}
`)
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newSolver(p, g, []int{1, 1}, thorough); err != nil {
			t.Error(err)
		}
		s, err := newSolver(p, g, []int{1, 2}, thorough)
		if c.want != "" {
			if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.boundary, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := len(s.inputs[0].weights[0].Weights); n != 6*23999 {
			t.Errorf("%d weights", n)
		}
	}
}

// Nor is a solution without time interpolated along a long ring, for a finer one to begin with.
func TestManyPointsSteady(t *testing.T) {
	p := load(t, `time: none
axes: {y: {range: [0, 1], points: 5, boundary: nodes}, x: {range: [0, 1], points: 12000, boundary: periodic}}
terms: {u_yy: {axis: y, derivative: 2}}
residual: {expression: u_yy - u^3 + 1, rows: {y: [1, 1]}}
conditions: {a: {at: {y: low}, expression: u}, b: {at: {y: high}, expression: u}}
`)
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newSolver(p, g, []int{1, 2}, thorough); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "a solution, from 12000 points of the periodic axis x to 24000") {
		t.Error(err)
	}
}

func TestRefuses(t *testing.T) {
	heat := strings.Replace(known[1].src, "  b: {at: {x: low}, rows: {t: [1, 0]}, expression: u}\n", "", 1)
	for _, c := range []struct {
		name, src string
		refine    []int
		want      string
	}{
		{"a missing wall", heat, []int{1, 1}, "8 rows for the 9 values of an instant"},
		{"no initial velocity", strings.Replace(known[0].src, ", b: {at: {t: low}, expression: v0 - 1}", "", 1), []int{1, 1}, "the initial conditions give 16 of 32 values"},
		{"a missing wall of a steady problem", strings.Replace(known[6].src, ", b: {at: {x: high}, expression: u}", "", 1), []int{1, 1}, "the initial conditions give 8 of 16 values"},
		{"a wall at some times", strings.Replace(known[1].src, "b: {at: {x: low}, rows: {t: [1, 0]}", "b: {at: {x: low}, rows: {t: [0, 3]}", 1), []int{1, 1}, "condition b leaves out times (rows: {t: [0, 3]})"},
		{"cells refined by two", known[2].src, []int{1, 2}, "axis x (cells): refined by 2"},
	} {
		p := load(t, c.src)
		g, _ := p.Grid(nil)
		if _, err := New(p, g, c.refine); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	// A solution that ends before the last time.
	p := load(t, strings.Replace(known[2].src, "(u_t - u*(1 - u))*(2 + u_t^2)", "u_t - u^2", 1))
	g, _ := p.Grid(nil)
	s, err := New(p, g, []int{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Solve(make([]float64, g.Size()), []float64{1, 1, 1, 1}); !errors.Is(err, ErrNotConverged) {
		t.Errorf("1/(1 - t) beyond t = 1: %v", err)
	}
}

// A clamped plate whose conditions all hold at the corners, as its file says: more rows than values, which is said where their squares cannot be minimised.
func TestMoreRowsThanValues(t *testing.T) {
	p := load(t, `
time: none
axes:
  y: {range: [0, 1], points: 25, boundary: nodes}
  x: {range: [0, 1], points: 25, boundary: nodes}
inputs:
  q: {distribution: random-series, series: free, parameters: {modes: 3, decay: 1}}
terms:
  u_x: {axis: x, derivative: 1}
  u_y: {axis: y, derivative: 1}
  u_xxxx: {axis: x, derivative: 4}
  u_yyyy: {axis: y, derivative: 4}
  u_xxyy: {factors: [{axis: x, derivative: 2}, {axis: y, derivative: 2}]}
residual: {expression: u_xxxx + 2*u_xxyy + u_yyyy - q, rows: {y: [2, 2], x: [2, 2]}}
conditions:
  s: {at: {y: low}, expression: u}
  n: {at: {y: high}, expression: u}
  w0_: {at: {x: low}, rows: {y: [0, 0]}, expression: u}
  e0: {at: {x: high}, rows: {y: [0, 0]}, expression: u}
  sn: {at: {y: low}, expression: u_y}
  nn: {at: {y: high}, expression: u_y}
  wn: {at: {x: low}, rows: {y: [0, 0]}, expression: u_x}
  en: {at: {x: high}, rows: {y: [0, 0]}, expression: u_x}
`)
	g, _ := p.Grid(nil)
	s, err := New(p, g, []int{2, 2})
	if err != nil {
		t.Fatal(err)
	}
	const want = "they are 2417 for 2401 values"
	if _, err := s.Solve(make([]float64, g.Size()), slices.Repeat([]float64{1}, g.Size())); !errors.Is(err, ErrNotConverged) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// Troesch's problem u" = n sinh(n u) between 0 and 1, where Newton's method reduces the sum of squares by short steps alone: slopes at 0 of
// S. M. Roberts and J. S. Shipman, Journal of Computational Physics 21 (1976) 291, and those after them.
func TestTroesch(t *testing.T) {
	p := load(t, `
time: none
axes:
  y: {range: [0, 1], points: 4, boundary: periodic}
  x: {range: [0, 1], points: 401, boundary: nodes}
inputs:
  n: {distribution: uniform, low: 1, high: 10}
terms:
  u_xx: {axis: x, derivative: 2}
residual: {expression: u_xx - n*sinh(n*u), rows: {x: [1, 1]}}
conditions:
  low: {at: {x: low}, expression: u}
  high: {at: {x: high}, expression: u - 1}
`)
	g, _ := p.Grid(nil)
	s, err := New(p, g, []int{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[float64]float64{1: 0.845203, 5: 4.57504614e-2, 10: 3.5833778e-4} {
		u := make([]float64, g.Size())
		if _, err := s.Solve(u, []float64{n}); err != nil {
			t.Fatal(n, err)
		}
		if got := (4*u[1] - u[2]) * 200; math.Abs(got/want-1) > 0.01 {
			t.Errorf("n = %g: slope %g, want %g", n, got, want)
		}
	}
}

// A particle that gives off what is in it, in metres and seconds, where its walls' rows are 1e-5 of the others, and in units in which all are near 1.
func TestUnitsOfRows(t *testing.T) {
	const particle = `
axes:
  t: {range: [0, %g], points: 13, boundary: nodes}
  r: {range: [0, %g], points: 21, boundary: nodes}
inputs:
  start: {distribution: uniform, low: 1, high: 2}
terms:
  u_t: {axis: t, derivative: 1}
  u_r: {axis: r, derivative: 1}
  u_rr: {axis: r, derivative: 2}
residual: {expression: "u_t - %g*((1 - 0.6*u/%g)*u_rr - 0.6/%[4]g*u_r^2)"}
conditions:
  begin: {at: {t: low}, expression: u - start}
  centre: {at: {r: low}, expression: u_r}
  surface: {at: {r: high}, expression: "%[3]g*(1 - 0.6*u/%[4]g)*u_r + %[5]g"}
`
	var fields [][]float64
	for _, c := range []struct{ time, radius, diffusivity, most, flux float64 }{{3600, 5e-6, 2e-14, 3e4, 5e-6}, {2.88, 1, 1, 1, 0.04166666666666667}} {
		p := load(t, fmt.Sprintf(particle, c.time, c.radius, c.diffusivity, c.most, c.flux))
		g, _ := p.Grid(nil)
		s, err := New(p, g, []int{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		u := make([]float64, g.Size())
		if _, err := s.Solve(u, []float64{0.7 * c.most}); err != nil {
			t.Fatal(c.radius, err)
		}
		for i := range u {
			u[i] /= c.most
		}
		fields = append(fields, u)
	}
	if d := grid.RelativeL2(fields[0], fields[1], 1); d > 1e-7 {
		t.Errorf("solutions in other units are %g apart", d)
	}
	if last := fields[0][len(fields[0])-1]; !(last < 0.65) {
		t.Errorf("at the surface %g is left of 0.7", last)
	}
}

// A problem too large to be solved at once is told why it is not marched, and what would let it.
func TestNotMarched(t *testing.T) {
	const file = `
axes:
  t: {range: [0, 1], points: 65, boundary: nodes}
  x: {range: [0, 1], points: 96, boundary: periodic}
terms:
  u_tt: {axis: t, derivative: 2, order: 4}
  u_xx: {axis: x, derivative: 2, order: 4}
  v0: {axis: t, edge: low, derivative: 1, points: 3}
residual: {expression: u_tt - 0.5*u_xx}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
  vel: {kind: initial, at: {t: low}, expression: v0 - 2*u0}
initial: {distribution: random-series, series: periodic, parameters: {modes: 2, decay: 1}}
`
	for _, c := range []struct{ old, new, want string }{
		{"", "", "all of t is solved at once, since condition vel has term v0, which is not one of the first instant (at: wall or at: inner in the place of ghost)"},
		{"edge: low, derivative", "edge: low, at: wall, derivative", ""},
		{"vel: {kind: initial, at: {t: low}, expression: v0 - 2*u0}", "vel: {at: {t: high}, expression: u - 2*u0}", "all of t is solved at once, since condition vel holds at t high"},
		{"residual: {expression: u_tt - 0.5*u_xx}\nconditions:\n", "residual: {expression: u_tt - 0.5*u_xx, rows: {t: [0, 0]}}\nconditions:\n  last: {at: {t: high}, expression: u - 2*u0}\n", "all of t is solved at once, since condition last holds at t high"},
	} {
		p := load(t, strings.Replace(file, c.old, c.new, 1))
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		refine, _ := Refinements(p, g)
		few := thorough
		few.direct = 4e8
		_, err = newSolver(p, g, refine, few)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.new, err, c.want)
		}
	}
}
