package discrete

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/pde"
)

func loadSystem(t testing.TB, src string) *pde.Problem {
	t.Helper()
	p, err := pde.Load("p.yaml", []byte("name: p\n"+src))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// systems have known solutions, to the order of their rows: of first and second order in
// time, walls that differ between unknowns, an unknown without a derivative in time, an
// ansatz in the place of initial rows, and a steady one.
var systems = []struct {
	name, src string
	refine    []int
	start     []func(x []float64) float64 // per input, of the coordinates of its axes
	exact     []func(x []float64) float64 // per unknown
	most      float64
}{
	{
		"waves as a system of first order", `unknown: [u, v]
axes: {t: {range: [0, 1], points: 6, boundary: nodes}, x: {range: [0, 1], points: 20, boundary: periodic}}
terms: {u_t: {of: u, axis: t, derivative: 1}, v_t: {of: v, axis: t, derivative: 1}, u_x: {of: u, axis: x, derivative: 1, order: 6}, v_x: {of: v, axis: x, derivative: 1, order: 6}}
residual: {first: {expression: u_t - v_x, rows: {t: [1, 0]}}, second: {expression: 10*(v_t - u_x), rows: {t: [1, 0]}}}
conditions: {a: {at: {t: low}, expression: u - u0}, b: {at: {t: low}, expression: v - v0}}
`,
		[]int{4, 4},
		[]func(x []float64) float64{func(x []float64) float64 { return math.Sin(2 * pi * x[0]) }, func(x []float64) float64 { return 0.2 }},
		[]func(x []float64) float64{
			func(x []float64) float64 { return math.Sin(2*pi*x[1]) * math.Cos(2*pi*x[0]) },
			func(x []float64) float64 { return 0.2 + math.Cos(2*pi*x[1])*math.Sin(2*pi*x[0]) },
		},
		1e-5,
	},
	{
		"two waves on springs", `unknown: [u, v]
axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 16, boundary: periodic}}
terms:
  u_tt: {of: u, axis: t, derivative: 2}
  v_tt: {of: v, axis: t, derivative: 2}
  u_xx: {of: u, axis: x, derivative: 2, order: 6}
  v_xx: {of: v, axis: x, derivative: 2, order: 6}
  u_start: {of: u, axis: t, edge: low, at: inner, derivative: 1, points: 4}
  v_start: {of: v, axis: t, edge: low, at: inner, derivative: 1, points: 4}
residual: {first: {expression: u_tt - 0.1*u_xx + 2*(u - v), rows: {t: [1, 0]}}, second: {expression: v_tt - 0.1*v_xx - 2*(u - v), rows: {t: [1, 0]}}}
conditions: {a: {at: {t: low}, expression: u - u0}, b: {at: {t: low}, expression: v - v0}, c: {at: {t: low}, expression: u_start}, d: {at: {t: low}, expression: v_start - 1}}
`,
		[]int{2, 4},
		[]func(x []float64) float64{func(x []float64) float64 { return math.Sin(2 * pi * x[0]) }, func(x []float64) float64 { return -math.Sin(2 * pi * x[0]) }},
		// The sum is 1·t, the difference d_tt = 0.1 d_xx - 4 d, d_t = -1 at first.
		[]func(x []float64) float64{
			func(x []float64) float64 { return (x[0] + springs(x)) / 2 },
			func(x []float64) float64 { return (x[0] - springs(x)) / 2 },
		},
		1e-5,
	},
	{
		"heat with the flux as an unknown without a rate", `unknown: [u, q]
axes: {t: {range: [0, 1], points: 6, boundary: nodes}, x: {range: [0, 1], points: 12, boundary: periodic}}
terms: {u_t: {of: u, axis: t, derivative: 1}, u_x: {of: u, axis: x, derivative: 1, order: 6}, q_x: {of: q, axis: x, derivative: 1, order: 6}}
residual: {flux: {expression: q + 0.1*u_x}, balance: {expression: u_t + q_x, rows: {t: [1, 0]}}}
conditions: {a: {at: {t: low}, expression: u - u0}}
initial: {u: {distribution: random-sines, low: 0, high: 1}}
`,
		[]int{2, 6},
		[]func(x []float64) float64{func(x []float64) float64 { return math.Sin(2 * pi * x[0]) }},
		[]func(x []float64) float64{
			func(x []float64) float64 { return math.Sin(2*pi*x[1]) * math.Exp(-0.4*pi*pi*x[0]) },
			func(x []float64) float64 { return -0.2 * pi * math.Cos(2*pi*x[1]) * math.Exp(-0.4*pi*pi*x[0]) },
		},
		1e-5,
	},
	{
		"walls that differ, and a time derivative of either in both", `unknown: [u, v]
axes: {t: {range: [0, 1], points: 6, boundary: nodes}, x: {range: [0, 1], points: 13, boundary: nodes}}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  v_t: {of: v, axis: t, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2, order: 4}
  v_xx: {of: v, axis: x, derivative: 2, order: 4}
  v_left: {of: v, axis: x, edge: low, at: inner, derivative: 1, points: 5}
  v_right: {of: v, axis: x, edge: high, at: inner, derivative: 1, points: 5}
residual:
  sum: {expression: u_t + v_t - 0.1*(u_xx + v_xx), rows: {t: [1, 0], x: [1, 1]}}
  difference: {expression: u_t - v_t - 0.1*(u_xx - v_xx), rows: {t: [1, 0], x: [1, 1]}}
conditions:
  a: {at: {t: low}, expression: u - u0}
  b: {at: {t: low}, expression: v - v0}
  c: {at: {x: low}, rows: {t: [1, 0]}, expression: u}
  d: {at: {x: high}, rows: {t: [1, 0]}, expression: u}
  e: {at: {x: low}, rows: {t: [1, 0]}, expression: v_left}
  f: {at: {x: high}, rows: {t: [1, 0]}, expression: v_right}
`,
		[]int{2, 4},
		[]func(x []float64) float64{func(x []float64) float64 { return math.Sin(pi * x[0]) }, func(x []float64) float64 { return math.Cos(pi * x[0]) }},
		[]func(x []float64) float64{
			func(x []float64) float64 { return math.Sin(pi*x[1]) * math.Exp(-0.1*pi*pi*x[0]) },
			func(x []float64) float64 { return math.Cos(pi*x[1]) * math.Exp(-0.1*pi*pi*x[0]) },
		},
		1e-5,
	},
	{
		"rotation at every point, from the ansatz", `unknown: [u, v]
axes: {t: {range: [0, 2], points: 6, boundary: nodes}, x: {range: [0, 1], points: 4, boundary: cells}}
terms: {u_t: {of: u, axis: t, derivative: 1}, v_t: {of: v, axis: t, derivative: 1}}
residual: {first: {expression: u_t - v*(u^2 + v^2)}, second: {expression: v_t + u*(u^2 + v^2)}}
ansatz: {u: {offset: u0*exp(t), multiplier: t}, v: {offset: v0, multiplier: t}}
`,
		[]int{3, 1},
		[]func(x []float64) float64{func(x []float64) float64 { return 0 }, func(x []float64) float64 { return 1 + x[0] }},
		[]func(x []float64) float64{
			func(x []float64) float64 { return (1 + x[1]) * math.Sin((1+x[1])*(1+x[1])*x[0]) },
			func(x []float64) float64 { return (1 + x[1]) * math.Cos((1+x[1])*(1+x[1])*x[0]) },
		},
		1e-4,
	},
	{
		"a plate as two equations of Poisson, steady", `unknown: [u, v]
time: none
axes: {x: {range: [0, 1], points: 7, boundary: nodes}, y: {range: [0, 1], points: 7, boundary: nodes}}
terms: {u_xx: {of: u, axis: x, derivative: 2, order: 4}, u_yy: {of: u, axis: y, derivative: 2, order: 4}, v_xx: {of: v, axis: x, derivative: 2, order: 4}, v_yy: {of: v, axis: y, derivative: 2, order: 4}}
residual: {bending: {expression: u_xx + u_yy - v, rows: {x: [1, 1], y: [1, 1]}}, load: {expression: v_xx + v_yy - f, rows: {x: [1, 1], y: [1, 1]}}}
conditions:
  a: {at: {x: low}, expression: u}
  b: {at: {x: high}, expression: u}
  c: {at: {y: low}, rows: {x: [1, 1]}, expression: u}
  d: {at: {y: high}, rows: {x: [1, 1]}, expression: u}
  e: {at: {x: low}, expression: v}
  i: {at: {x: high}, expression: v}
  g: {at: {y: low}, rows: {x: [1, 1]}, expression: v}
  h: {at: {y: high}, rows: {x: [1, 1]}, expression: v}
inputs: {f: {distribution: random-series, series: sine}}
`,
		[]int{4, 4},
		[]func(x []float64) float64{func(x []float64) float64 { return 4 * math.Pow(pi, 4) * math.Sin(pi*x[0]) * math.Sin(pi*x[1]) }},
		[]func(x []float64) float64{
			func(x []float64) float64 { return math.Sin(pi*x[0]) * math.Sin(pi*x[1]) },
			func(x []float64) float64 { return -2 * pi * pi * math.Sin(pi*x[0]) * math.Sin(pi*x[1]) },
		},
		1e-3,
	},
}

// springs is the difference of the two waves.
func springs(x []float64) float64 {
	w := math.Sqrt(0.4*pi*pi + 4)
	return 2*math.Sin(2*pi*x[1])*math.Cos(w*x[0]) - math.Sin(2*x[0])/2
}

// sampleOf puts functions on the inputs of a problem.
func sampleOf(p *pde.Problem, g *grid.Grid, start []func(x []float64) float64) []float64 {
	var sample []float64
	for i, in := range p.PlaceInputs(g) {
		index := make([]int, len(in.Space))
		own := grid.Grid{Axes: in.Space}
		for q := range in.Size {
			own.Unravel(q, index)
			x := make([]float64, len(index))
			for a := range x {
				x[a] = in.Space[a].Coordinate(index[a])
			}
			sample = append(sample, start[i](x))
		}
	}
	return sample
}

func TestSystems(t *testing.T) {
	for _, c := range systems {
		t.Run(c.name, func(t *testing.T) {
			p := loadSystem(t, c.src)
			g, _ := p.Grid(nil)
			s, err := New(p, g, c.refine)
			if err != nil {
				t.Fatal(err)
			}
			if (s.march == nil) != p.Steady {
				t.Fatal("marched or not, as it should not be")
			}
			u := make([]float64, 2*g.Size())
			if _, err := s.Solve(u, sampleOf(p, g, c.start)); err != nil {
				t.Fatal(err)
			}
			for f, exact := range c.exact {
				if d := distance(g, u[f*g.Size():(f+1)*g.Size()], exact); !(d <= c.most) {
					t.Errorf("%s: relative L2 distance to the solution %.3g, want %.3g at most", p.Unknowns[f].Name, d, c.most)
				}
			}
		})
	}
}

// fitzHugh is FitzHugh-Nagumo's system with walls, a nonlinear system without a solution in
// closed form.
const fitzHugh = `unknown: [u, v]
axes: {t: {range: [0, 4], points: 5, boundary: nodes}, x: {range: [0, 2], points: 10, boundary: cells}}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  v_t: {of: v, axis: t, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2, closure: ghost, low: inner1, high: inner1}
  v_xx: {of: v, axis: x, derivative: 2, closure: ghost, low: inner1, high: inner1}
residual:
  activator: {expression: u_t - 0.02*u_xx - u + u^3 + v, rows: {t: [1, 0]}}
  inhibitor: {expression: v_t - 0.05*v_xx - 0.3*(u - v), rows: {t: [1, 0]}}
conditions: {a: {at: {t: low}, expression: u - u0}, b: {at: {t: low}, expression: v - v0}}
`

// The method of lines with Runge-Kutta's formula and small steps gives the same, on the
// same points of space.
func TestSystemAgainstLines(t *testing.T) {
	p := loadSystem(t, fitzHugh)
	g, _ := p.Grid(nil)
	s, err := New(p, g, []int{4, 1})
	if err != nil {
		t.Fatal(err)
	}
	start := sampleOf(p, g, []func(x []float64) float64{
		func(x []float64) float64 { return math.Cos(1.5*pi*x[0]) + 0.2 }, func(x []float64) float64 { return 0.4 * math.Sin(pi*x[0]) },
	})
	got := make([]float64, 2*g.Size())
	if _, err := s.Solve(got, start); err != nil {
		t.Fatal(err)
	}
	const n, steps, h = 10, 2000, 1.0 / 2000
	rate := func(dst, w []float64) {
		for i := range n {
			l, r, dx := max(i-1, 0), min(i+1, n-1), 0.2
			u, v := w[i], w[n+i]
			dst[i] = 0.02*(w[l]-2*u+w[r])/(dx*dx) + u - u*u*u - v
			dst[n+i] = 0.05*(w[n+l]-2*v+w[n+r])/(dx*dx) + 0.3*(u-v)
		}
	}
	w := slices.Clone(start)
	k, at := make([][]float64, 4), make([]float64, 2*n)
	for i := range k {
		k[i] = make([]float64, 2*n)
	}
	for step := 1; step <= 4*steps; step++ {
		rate(k[0], w)
		for stage, c := range []float64{0.5, 0.5, 1} {
			for i := range at {
				at[i] = w[i] + c*h*k[stage][i]
			}
			rate(k[stage+1], at)
		}
		for i := range w {
			w[i] += h / 6 * (k[0][i] + 2*k[1][i] + 2*k[2][i] + k[3][i])
		}
		if step%steps != 0 {
			continue
		}
		for i := range w {
			v := got[i/n*g.Size()+step/steps*n+i%n]
			if math.Abs(v-w[i]) > 1e-5 {
				t.Fatalf("value %d at time %d: %.8f, by lines %.8f", i, step/steps, v, w[i])
			}
		}
	}
}

// GMRES and factored matrices give the same for systems, whatever the order of residuals, and
// two copies of one equation what one gives.
func TestSystemIterative(t *testing.T) {
	swapped := strings.Replace(strings.Replace(strings.Replace(fitzHugh, "  activator:", "  first:", 1), "  inhibitor:", "  activator:", 1), "  first:", "  inhibitor:", 1)
	var want []float64
	for i, src := range []string{fitzHugh, fitzHugh, swapped} {
		p := loadSystem(t, src)
		g, _ := p.Grid(nil)
		s, err := New(p, g, []int{2, 3})
		if err != nil {
			t.Fatal(err)
		}
		if !s.march.step.direct {
			t.Fatal("a small system is not solved by a factored matrix")
		}
		if i > 0 {
			s.march.step.direct = false
			if err := s.march.step.checkIterative(); err != nil {
				t.Fatal(err)
			}
		}
		u := make([]float64, 2*g.Size())
		if _, err := s.Solve(u, sampleOf(p, g, []func(x []float64) float64{cosine, cosine})); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = u
		}
		for k := range u {
			if math.Abs(u[k]-want[k]) > 1e-8 {
				t.Fatalf("run %d: %v at %d, %v by a factored matrix", i, u[k], k, want[k])
			}
		}
	}
}

func cosine(x []float64) float64 { return math.Cos(1.5 * pi * x[0]) }

func TestUncoupled(t *testing.T) {
	const rest = `
axes: {t: {range: [0, 1], points: 5, boundary: nodes}, x: {range: [0, 1], points: 16, boundary: periodic}}
`
	one := loadSystem(t, "unknown: u"+rest+`terms: {u_t: {axis: t, derivative: 1}, u_x: {axis: x, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t + u*u_x - 0.05*u_xx}
conditions: {a: {at: {t: low}, expression: u - u0}}
`)
	two := loadSystem(t, "unknown: [u, v]"+rest+`terms:
  u_t: {of: u, axis: t, derivative: 1}
  u_x: {of: u, axis: x, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2}
  v_t: {of: v, axis: t, derivative: 1}
  v_x: {of: v, axis: x, derivative: 1}
  v_xx: {of: v, axis: x, derivative: 2}
residual: {first: {expression: u_t + u*u_x - 0.05*u_xx}, second: {expression: v_t + v*v_x - 0.05*v_xx}}
conditions: {a: {at: {t: low}, expression: u - u0}, b: {at: {t: low}, expression: v - v0}}
`)
	sine := func(x []float64) float64 { return math.Sin(2 * pi * x[0]) }
	g, _ := one.Grid(nil)
	for _, refine := range [][]int{{1, 1}, {2, 4}} {
		s, err := New(one, g, refine)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := New(two, g, refine)
		if err != nil {
			t.Fatal(err)
		}
		u, v, both := make([]float64, g.Size()), make([]float64, g.Size()), make([]float64, 2*g.Size())
		for _, run := range []struct {
			s   *Solver
			dst []float64
			u0  []float64
		}{
			{s, u, sampleOf(one, g, []func(x []float64) float64{sine})},
			{s, v, sampleOf(one, g, []func(x []float64) float64{cosine})},
			{pair, both, sampleOf(two, g, []func(x []float64) float64{sine, cosine})},
		} {
			if _, err := run.s.Solve(run.dst, run.u0); err != nil {
				t.Fatal(err)
			}
		}
		for k, want := range slices.Concat(u, v) {
			if math.Abs(both[k]-want) > 1e-8 {
				t.Fatalf("%v at %d, %v alone", both[k], k, want)
			}
		}
	}
}

const cavity = `unknown: [w, psi]
time: none
axes:
  y: {range: [0, 1], points: 6, boundary: nodes}
  x: {range: [0, 1], points: 6, boundary: nodes}
inputs:
  U: {distribution: uniform, low: 0.5, high: 1}
terms:
  w_x: {of: w, axis: x, derivative: 1}
  w_y: {of: w, axis: y, derivative: 1}
  w_xx: {of: w, axis: x, derivative: 2}
  w_yy: {of: w, axis: y, derivative: 2}
  psi_x: {of: psi, axis: x, derivative: 1}
  psi_y: {of: psi, axis: y, derivative: 1}
  psi_xx: {of: psi, axis: x, derivative: 2}
  psi_yy: {of: psi, axis: y, derivative: 2}
residual:
  vorticity: {expression: psi_y*w_x - psi_x*w_y - (w_xx + w_yy)/50}
  stream: {expression: psi_xx + psi_yy + w}
conditions:
  south: {at: {y: low}, expression: psi}
  north: {at: {y: high}, expression: psi}
  west: {at: {x: low}, expression: psi}
  east: {at: {x: high}, expression: psi}
  south_slip: {at: {y: low}, expression: psi_y}
  lid: {at: {y: high}, expression: psi_y - U*16*x^2*(1 - x)^2}
  west_slip: {at: {x: low}, expression: psi_x}
  east_slip: {at: {x: high}, expression: psi_x}
`

// A slope of a stream function that holds the vorticity leaves values free at corners, and is named.
func TestExamineSlopes(t *testing.T) {
	p := loadSystem(t, cavity)
	x, err := Examine(p, nil, func(g *grid.Grid) ([][]float64, error) {
		return [][]float64{make([]float64, p.InputSize(g)), slices.Repeat([]float64{1}, p.InputSize(g))}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(x.Faults, "\n"); !strings.Contains(text, "8 of 72 values stay free; south_slip stands for a condition on w, which where sides meet asks for ghost values") {
		t.Errorf("%+v", x)
	}
}

// What a system leaves open is counted over all unknowns, and named.
func TestExamineSystems(t *testing.T) {
	draw := func(p *pde.Problem) func(g *grid.Grid) ([][]float64, error) {
		return func(g *grid.Grid) ([][]float64, error) {
			return [][]float64{sampleOf(p, g, []func(x []float64) float64{cosine, cosine})}, nil
		}
	}
	for _, c := range []struct{ name, src, fault string }{
		{"whole", fitzHugh, ""},
		{"no initial condition of v", strings.Replace(fitzHugh, ", b: {at: {t: low}, expression: v - v0}", "", 1), "no row contains v0"},
		{"the same residual twice", strings.Replace(fitzHugh, "v_t - 0.05*v_xx - 0.3*(u - v)", "2*(u_t - 0.02*u_xx - u + u^3 + v)", 1), "values stay free"},
	} {
		p := loadSystem(t, c.src)
		x, err := Examine(p, nil, draw(p))
		if err != nil {
			t.Fatal(err)
		}
		g := 1
		for _, n := range x.Grid {
			g *= n
		}
		text := strings.Join(x.Faults, "\n")
		if x.Unknowns != 2*g || (c.fault == "") != (text == "") || !strings.Contains(text, c.fault) || c.fault == "" && x.Rank != x.Unknowns {
			t.Errorf("%s: %+v", c.name, x)
		}
	}
	src := `unknown: [u, v]
axes: {t: {range: [0, 1], points: 5, boundary: nodes}, x: {range: [0, 1], points: 9, boundary: nodes}}
terms: {u_t: {of: u, axis: t, derivative: 1}, v_t: {of: v, axis: t, derivative: 1}, u_x: {of: u, axis: x, derivative: 1}, v_x: {of: v, axis: x, derivative: 1}}
residual: {first: {expression: u_t + v_x, rows: {t: [1, 0], x: [1, 1]}}, second: {expression: v_t + u_x, rows: {t: [1, 0]}}}
conditions: {a: {at: {t: low}, expression: u - u0}, b: {at: {t: low}, expression: v - v0}, c: {at: {x: low}, expression: u}, d: {at: {x: high}, expression: u}}
`
	p := loadSystem(t, src)
	x, err := Examine(p, nil, draw(p))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(x.Notes, func(n string) bool { return strings.Contains(n, "x low of v, x high of v") }) {
		t.Errorf("%+v", x)
	}
}

// Unknowns of different orders in time are marched together: with the velocity as one more unknown, all of them of first order, the
// solution is the same. Between walls residuals leave their points to the conditions; on a ring steps are exponential; a field of no order
// follows from the others.
func TestOrdersMixed(t *testing.T) {
	const (
		rod = `
axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 21, boundary: BOUNDARY}}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2}
  T_t: {of: T, axis: t, derivative: 1}
  T_x: {of: T, axis: x, derivative: 1}
  T_xx: {of: T, axis: x, derivative: 2}
`
		second = `  u_tt: {of: u, axis: t, derivative: 2}
  u_xt: {of: u, factors: [{axis: x, derivative: 1}, {axis: t, derivative: 1}]}
residual: {motion: {expression: u_tt - u_xx + 0.4*T_x}, heat: {expression: T_t - 0.05*T_xx + 0.4*u_xt}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
  moves: {kind: initial, at: {t: low}, expression: u_t - 1.5*u0}
  warm: {kind: initial, at: {t: low}, expression: T - T0}
`
		first = `  v_t: {of: v, axis: t, derivative: 1}
  v_x: {of: v, axis: x, derivative: 1}
residual: {rate: {expression: u_t - v}, motion: {expression: v_t - u_xx + 0.4*T_x}, heat: {expression: T_t - 0.05*T_xx + 0.4*v_x}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
  moves: {kind: initial, at: {t: low}, expression: v - 1.5*u0}
  warm: {kind: initial, at: {t: low}, expression: T - T0}
`
		walls = `  u_left: {at: {x: low}, expression: u}
  u_right: {at: {x: high}, expression: u}
  T_left: {at: {x: low}, expression: T}
  T_right: {at: {x: high}, expression: T}
`
		pulled = `
unknown: [u, p]
axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 21, boundary: nodes}}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  u_tt: {of: u, axis: t, derivative: 2}
  p_xx: {of: p, axis: x, derivative: 2}
residual: {motion: {expression: u_tt - p, rows: {x: [0, 0]}}, force: {expression: p_xx + u, rows: {x: [1, 1]}}}
conditions: {start: {kind: initial, at: {t: low}, expression: u - u0}, still: {kind: initial, at: {t: low}, expression: u_t}, a: {at: {x: low}, expression: p}, b: {at: {x: high}, expression: p}}
`
	)
	at := map[string]func(x []float64) float64{
		"u": func(x []float64) float64 { return math.Sin(2 * pi * x[0]) },
		"T": func(x []float64) float64 { return math.Sin(4*pi*x[0]) - 0.5*math.Sin(2*pi*x[0]) },
		"v": func(x []float64) float64 { return 0 }, // not read
		"p": func(x []float64) float64 { return 0 },
	}
	solve := func(src string) (p *pde.Problem, g *grid.Grid, u []float64) {
		p = loadSystem(t, src)
		g, _ = p.Grid(nil)
		s, err := New(p, g, []int{4, 1})
		if err != nil {
			t.Fatal(err)
		}
		var starts []func(x []float64) float64
		for _, in := range p.Inputs {
			starts = append(starts, at[strings.TrimSuffix(in.Name, "0")])
		}
		u = make([]float64, len(p.Unknowns)*g.Size())
		if _, err := s.Solve(u, sampleOf(p, g, starts)); err != nil {
			t.Fatal(err)
		}
		return p, g, u
	}
	for _, boundary := range []string{"nodes", "periodic"} {
		ends := walls
		if boundary == "periodic" {
			ends = ""
		}
		text := strings.Replace(rod, "BOUNDARY", boundary, 1)
		_, g, mixed := solve("unknown: [u, T]" + text + second + ends)
		_, _, plain := solve("unknown: [u, T, v]" + text + first + ends)
		if away := grid.RelativeL2(mixed, plain[:2*g.Size()], 2); !(away < 1e-6) {
			t.Errorf("%s: %.3g between both forms", boundary, away)
		}
	}
	_, g, u := solve(pulled)
	want := make([]float64, g.Size())
	step := g.Axes[1].Step()
	wave := (2 - 2*math.Cos(2*pi*step)) / (step * step) // of differences, of second order
	for q := range want {
		i := make([]int, 2)
		g.Unravel(q, i)
		want[q] = math.Sin(2*pi*g.Axes[1].Coordinate(i[1])) * math.Cosh(g.Axes[0].Coordinate(i[0])/math.Sqrt(wave))
	}
	if away := grid.RelativeL2(u[:g.Size()], want, 1); !(away < 1e-8) {
		t.Errorf("with a field of no order: %.3g from the solution", away)
	}
}
