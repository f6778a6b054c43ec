package dataset

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pihc/data"
	"pihc/pde"
)

// A file of exact solutions: values by sample and point of the axes, and inputs that are not initial conditions.
type givenCase struct {
	yaml   string
	count  int
	axes   []int
	lo, hi []float64
	nodes  []bool
	exact  []func(sample int, x []float64) float64 // per array of names
	names  []string
	inputs map[string]func(sample int, x []float64) float64 // on the axes of the solution
}

// fields evaluates a function on the case's grid for all samples.
func (c *givenCase) fields(of func(sample int, x []float64) float64) []float64 {
	var out []float64
	size := 1
	for _, n := range c.axes {
		size *= n
	}
	x := make([]float64, len(c.axes))
	for s := range c.count {
		for i := range size {
			rest := i
			for a := len(c.axes) - 1; a >= 0; a-- {
				n := float64(c.axes[a])
				if c.nodes[a] {
					n--
				}
				x[a] = c.lo[a] + (c.hi[a]-c.lo[a])*float64(rest%c.axes[a])/n
				rest /= c.axes[a]
			}
			out = append(out, of(s, x))
		}
	}
	return out
}

// compare writes the file, as edit leaves the arrays, and compares it.
func (c *givenCase) compare(t *testing.T, edit func(arrays [][]float64)) (*Comparison, error) {
	t.Helper()
	dir, shape := t.TempDir(), append([]int{c.count}, c.axes...)
	var values [][]float64
	for _, of := range c.exact {
		values = append(values, c.fields(of))
	}
	if edit != nil {
		edit(values)
	}
	var arrays []data.Named
	for i, name := range c.names {
		arrays = append(arrays, data.Named{Name: name, Array: data.NewArray(shape, values[i])})
	}
	for name, of := range c.inputs {
		arrays = append(arrays, data.Named{Name: name, Array: data.NewArray(shape, c.fields(of))})
	}
	if err := data.WriteNPZ(filepath.Join(dir, "own.npz"), arrays); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "p.yaml")
	if err := os.WriteFile(path, []byte(c.yaml), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	given, err := ReadGiven(p)
	if err != nil {
		t.Fatal(err)
	}
	return given.Compare(context.Background(), 2, func(int, int) {})
}

// Convection and diffusion of two waves on a ring: exact for any constants.
func convection(speed, nu, stretch float64) func(s int, x []float64) float64 {
	return func(s int, x []float64) float64 {
		u, t := 0.3, stretch*x[0]
		for k := 1.0; k <= 2; k++ {
			w := 2 * math.Pi * k
			u += math.Exp(-nu*w*w*t) * math.Sin(w*(x[1]-speed*t)+float64(s)*k) / k
		}
		return u
	}
}

func convectionCase() *givenCase {
	return &givenCase{
		yaml: `
name: ring
unknown: u
axes:
  t: {range: [0, 1], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 32, boundary: periodic}
terms:
  u_t: {axis: t, derivative: 1}
  u_x: {axis: x, derivative: 1, order: 4}
  u_xx: {axis: x, derivative: 2, order: 4}
residual: {expression: u_t + 0.5*u_x - 0.02*u_xx}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
reference: {file: own.npz}
`, count: 6, axes: []int{17, 32}, lo: []float64{0, 0}, hi: []float64{1, 1}, nodes: []bool{true, false},
		names: []string{"solution"}, exact: []func(int, []float64) float64{convection(0.5, 0.02, 1)},
	}
}

func TestCompareGiven(t *testing.T) {
	const times, n = 17, 32
	rng := rand.New(rand.NewPCG(1, 2))
	noise := func(size float64) func([][]float64) {
		return func(u [][]float64) {
			for i := range u[0] {
				u[0][i] += size * rng.NormFloat64()
			}
		}
	}
	steps := func(edit func(u, before []float64, s, k int)) func([][]float64) {
		return func(all [][]float64) {
			for i := 1; i < len(all[0])/n; i++ {
				if i%times > 0 {
					edit(all[0][i*n:(i+1)*n], all[0][(i-1)*n:i*n], i/times, i%times)
				}
			}
		}
	}
	for _, test := range []struct {
		name, refused, warned string
		exact                 func(int, []float64) float64
		edit                  func([][]float64)
	}{
		{name: "right"},
		{name: "single precision", edit: func(u [][]float64) {
			for i, v := range u[0] {
				u[0][i] = float64(float32(v))
			}
		}},
		{name: "another size, which the equation does not see", edit: func(u [][]float64) {
			for i := range u[0] {
				u[0][i] *= 300
			}
		}},
		{name: "viscosity doubled", exact: convection(0.5, 0.04, 1), refused: "(so numbers 0, 1, 2, 3, 4, 5): against "},
		{name: "half the time axis", exact: convection(0.5, 0.02, 0.5), refused: "so numbers 0, 1, 2"},
		{name: "flow the other way", exact: convection(-0.5, 0.02, 1), refused: "so numbers 0, 1, 2"},
		{name: "zeros from step 5", edit: steps(func(u, _ []float64, _, k int) {
			if k >= 5 {
				clear(u)
			}
		}), refused: "so numbers 0, 1, 2"},
		{name: "a random walk", edit: steps(func(u, before []float64, _, _ int) {
			for i := range u {
				u[i] = before[i] + 0.1*rng.NormFloat64()
			}
		}), refused: "so numbers 0, 1, 2"},
		{name: "1 + 5t", exact: func(_ int, x []float64) float64 { return 1 + 5*x[0] }, refused: "so numbers 0, 1, 2"},
		{name: "one of six", edit: steps(func(u, before []float64, s, _ int) {
			if s == 3 {
				copy(u, before)
			}
		}), refused: "solution 3 is none of ring: against "},
		{name: "two of six, mirrored at each time but the first", edit: steps(func(u, _ []float64, s, _ int) {
			if s == 1 || s == 4 {
				for i := range n / 2 {
					u[i], u[n-1-i] = u[n-1-i], u[i]
				}
			}
		}), refused: "(so numbers 1, 4): "},
		{name: "a speed off by a tenth", exact: convection(0.55, 0.02, 1), warned: "6 of 6 solutions"},
		{name: "a viscosity off by a tenth", exact: convection(0.5, 0.022, 1), warned: "other constants"},
		{name: "one point of time", edit: steps(func(u, before []float64, s, k int) {
			if s == 2 && k == 9 {
				copy(u, before)
			}
		}), warned: "(numbers 2; the worst is 2, at t = 0.5625, off by "},
		{name: "noise", edit: noise(0.05), warned: "noise, or "},
		{name: "much noise", edit: noise(0.2), warned: "noise, or "},
	} {
		c := convectionCase()
		if test.exact != nil {
			c.exact[0] = test.exact
		}
		out, err := c.compare(t, test.edit)
		checkComparison(t, test.name, out, err, test.refused, test.warned)
	}
}

func checkComparison(t *testing.T, name string, out *Comparison, err error, refused, warned string) {
	t.Helper()
	switch {
	case refused != "":
		if err == nil || !strings.Contains(err.Error(), refused) {
			t.Errorf("%s: %v, %+v; want an error with %q", name, err, out, refused)
		}
	case err != nil:
		t.Errorf("%s: %v", name, err)
	case warned == "" && (len(out.Warnings) > 0 || out.Distance != 0):
		t.Errorf("%s: %v", name, out.Warnings)
	case warned != "" && (len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], warned)):
		t.Errorf("%s: warnings %q; want one with %q", name, out.Warnings, warned)
	}
}

// Two unknowns, two axes of space, none of time, and several solutions.
func TestCompareGivenKinds(t *testing.T) {
	wave := func(speed, sign float64) func(int, []float64) float64 {
		return func(s int, x []float64) float64 { return sign * math.Sin(2*math.Pi*(x[1]-speed*x[0])+float64(s)) }
	}
	two := &givenCase{
		yaml: `
name: pair
unknown: [u, v]
axes:
  t: {range: [0, 1], points: 25, boundary: nodes}
  x: {range: [0, 1], points: 32, boundary: periodic}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  v_t: {of: v, axis: t, derivative: 1}
  u_x: {of: u, axis: x, derivative: 1, order: 4}
  v_x: {of: v, axis: x, derivative: 1, order: 4}
residual:
  one: {expression: u_t + v_x}
  two: {expression: v_t + u_x}
conditions:
  start_u: {kind: initial, at: {t: low}, expression: u - u0}
  start_v: {kind: initial, at: {t: low}, expression: v - v0}
reference: {file: own.npz}
`, count: 3, axes: []int{25, 32}, lo: []float64{0, 0}, hi: []float64{1, 1}, nodes: []bool{true, false},
		names: []string{"u", "v"}, exact: []func(int, []float64) float64{wave(1, 1), wave(1, 1)},
	}
	plane := func(d float64) func(int, []float64) float64 {
		return func(s int, x []float64) float64 {
			return math.Exp(-d*8*math.Pi*math.Pi*x[0])*math.Sin(2*math.Pi*x[1]+float64(s))*math.Cos(2*math.Pi*x[2]) + 0.5*math.Exp(-d*4*math.Pi*math.Pi*x[0])*math.Cos(2*math.Pi*x[2])
		}
	}
	heat := &givenCase{
		yaml: `
name: plane
unknown: u
axes:
  t: {range: [0, 1], points: 7, boundary: nodes}
  x: {range: [0, 1], points: 12, boundary: periodic}
  y: {range: [0, 1], points: 10, boundary: periodic}
terms:
  u_t: {axis: t, derivative: 1}
  u_xx: {axis: x, derivative: 2, order: 4}
  u_yy: {axis: y, derivative: 2, order: 4}
residual: {expression: u_t - 0.01*(u_xx + u_yy)}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
reference: {file: own.npz}
`, count: 2, axes: []int{7, 12, 10}, lo: []float64{0, 0, 0}, hi: []float64{1, 1, 1}, nodes: []bool{true, false, false},
		names: []string{"solution"}, exact: []func(int, []float64) float64{plane(0.01)},
	}
	hill := func(k float64) func(int, []float64) float64 {
		return func(s int, x []float64) float64 {
			return k * float64(1+s) * math.Sin(math.Pi*x[0]) * math.Sin(2*math.Pi*x[1])
		}
	}
	steady := func(term string, exact, f func(int, []float64) float64) *givenCase {
		return &givenCase{
			yaml: fmt.Sprintf(`
name: hill
unknown: u
time: none
axes:
  y: {range: [0, 1], points: 13, boundary: nodes}
  x: {range: [0, 1], points: 15, boundary: nodes}
inputs:
  f: {distribution: random-series, series: free}
terms:
  u_xx: {axis: x, derivative: 2}
  u_yy: {axis: y, derivative: 2}
residual: {expression: u_xx + u_yy + %s, rows: {y: [1, 1], x: [1, 1]}}
conditions:
  south: {at: {y: low}, expression: u}
  north: {at: {y: high}, expression: u}
  west: {at: {x: low}, rows: {y: [1, 1]}, expression: u}
  east: {at: {x: high}, rows: {y: [1, 1]}, expression: u}
reference: {file: own.npz}
`, term), count: 3, axes: []int{13, 15}, lo: []float64{0, 0}, hi: []float64{1, 1}, nodes: []bool{true, true},
			names: []string{"solution"}, exact: []func(int, []float64) float64{exact},
			inputs: map[string]func(int, []float64) float64{"f": f},
		}
	}
	// u_xx + u_yy + u (20 - u^2) + f, f small: zero is near one solution, hills near others.
	poisson := steady("f", hill(1), hill(5*math.Pi*math.Pi))
	cubic := steady("60*u - u^3 + f", hill(1), func(s int, x []float64) float64 {
		u := hill(1)(s, x)
		return u*u*u - (60-5*math.Pi*math.Pi)*u
	})
	for _, test := range []struct {
		name, refused, warned string
		c                     *givenCase
		edit                  func([][]float64)
	}{
		{name: "two unknowns", c: two},
		{name: "two unknowns, one of the other sign", c: two, edit: func(u [][]float64) {
			for i := range u[1] {
				u[1][i] *= -1
			}
		}, refused: "so numbers 0, 1, 2"},
		{name: "two axes of space", c: heat},
		{name: "two axes of space, each two steps late", c: heat, edit: func(u [][]float64) {
			for s := range 2 {
				for k := 6; k > 2; k-- {
					copy(u[0][(7*s+k)*120:(7*s+k+1)*120], u[0][(7*s+k-2)*120:])
				}
			}
		}, warned: "2 of 2 solutions"},
		{name: "steady", c: poisson},
		{name: "steady, samples of others", c: poisson, edit: func(u [][]float64) {
			first := append([]float64(nil), u[0][:13*15]...)
			copy(u[0], u[0][13*15:2*13*15])
			copy(u[0][13*15:], first)
		}, refused: "solution 0 is none of hill"},
		{name: "steady, another size", c: poisson, edit: func(u [][]float64) {
			for i := range u[0] {
				u[0][i] *= 1.1
			}
		}, warned: "3 of 3 solutions"},
		{name: "several solutions", c: cubic},
	} {
		out, err := test.c.compare(t, test.edit)
		checkComparison(t, test.name, out, err, test.refused, test.warned)
	}
}
