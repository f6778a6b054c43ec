package discrete

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/pde"
)

func examine(t *testing.T, p *pde.Problem) *Examination {
	t.Helper()
	x, err := Examine(p, nil, func(g *grid.Grid) (all [][]float64, err error) {
		for _, f := range []func(x []float64) float64{
			func(x []float64) float64 { return 0.3 + 0.2*math.Sin(5*x[0]) },
			func(x []float64) float64 { return math.Sin(5 * x[0]) },
			func(x []float64) float64 { return 0.9 * math.Cos(4*x[0]) },
			func(x []float64) float64 { return 0.9 * math.Sin(4*x[0]) },
		} {
			sample := onSpace(g, f)
			for len(sample) < p.InputSize(g) { // of all inputs alike
				sample = append(sample, sample...)
			}
			all = append(all, sample[:p.InputSize(g)])
		}
		return all, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// All problems that come with pihc and all with known solutions are determined.
func TestExamineDetermined(t *testing.T) {
	problems := map[string]*pde.Problem{}
	for _, name := range pde.Builtins() {
		if strings.HasSuffix(name, "published") {
			continue // squared rows have no rank at a solution, and rows at all points are more than enough
		}
		p, err := pde.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		problems[name] = p
	}
	for _, c := range known {
		problems[c.name] = load(t, c.src)
	}
	p, err := pde.Open(filepath.Join("..", "..", "pde", "testdata", "burgers.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	problems["burgers"] = p
	for name, p := range problems {
		x := examine(t, p)
		if len(x.Faults) > 0 || x.Rank != x.Unknowns || x.Rows < x.Rank {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

// heatBetween is the heat equation with rows at its walls and a difference to one side there, and
// with a condition at x low and others.
func heatBetween(conditions, ansatz string) string {
	return `
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 9, boundary: nodes}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
  u_xx: {axis: x, derivative: 2, order: 2}
  uL: {axis: x, edge: low, at: inner, points: 1}
  uR: {axis: x, edge: high, at: inner, points: 1}
residual: {expression: u_t - 0.1*u_xx, rows: {t: [1, 0]}}
conditions:
  a: {at: {t: low}, expression: u - u0}
  b: {at: {x: low}, rows: {t: [1, 0]}, expression: uL}
` + conditions + `initial: {distribution: random-sines, low: -0.5, high: 0.5}
` + ansatz
}

// advection carries u upwards along x, or downwards where the inflow is at x high, without a condition there.
func advection(inflow string) string {
	speed := map[string]string{"low": "0.5", "high": "(-0.5)"}[inflow]
	return `
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 9, boundary: nodes}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
  u_x: {axis: x, derivative: 1, order: 2}
residual: {expression: u_t + ` + speed + `*u_x, rows: {t: [1, 0]}}
conditions:
  a: {at: {t: low}, expression: u - u0}
initial: {distribution: random-sines, low: -0.5, high: 0.5}
`
}

// carriedTo is advection from an inflow with a condition at one wall.
func carriedTo(wall, inflow string) string {
	return strings.Replace(strings.Replace(advection(inflow), "u - u0}\n", "u - u0}\n  b: {at: {x: "+wall+"}, rows: {t: [1, 0]}, expression: u - 1}\n", 1),
		"terms:\n", "terms:\n  end: {axis: x, edge: high, at: wall, points: 3}\n", 1)
}

// Problems that are right although a rule of thumb says otherwise are not refused.
func TestExamineUnusual(t *testing.T) {
	wall := "  c: {at: {x: high}, rows: {t: [1, 0]}, expression: uR}\n"
	of := func(src string, edits ...string) string {
		for i := 0; i < len(edits); i += 2 {
			if !strings.Contains(src, edits[i]) {
				t.Fatalf("no %q", edits[i])
			}
			src = strings.Replace(src, edits[i], edits[i+1], 1)
		}
		return src
	}
	left := "  b: {at: {x: low}, rows: {t: [1, 0]}, expression: uL}\n"
	for name, src := range map[string]string{
		"a multiplier that is zero at walls but for rounding": of(heatBetween("", "ansatz: {offset: u0, multiplier: t*sin(3.141592653589793*(x + 1))}\n"), left, ""),
		"diffusion that vanishes at walls, but for rounding":  of(heatBetween("", ""), left, "", "u_t - 0.1*u_xx", "u_t - 0.1*sin(3.141592653589793*(x + 1))*u_xx"),
		"a free outflow":                                         of(heatBetween("", ""), "u_t - 0.1*u_xx", "u_t + u_x - 0.01*u_xx", "  u_xx:", "  u_x: {axis: x, derivative: 1, order: 2}\n  u_xx:"),
		"conditions of one end alone":                            of(heatBetween("  c: {at: {x: low}, rows: {t: [1, 0]}, expression: sL}\n", ""), "  uR:", "  sL: {axis: x, edge: low, at: inner, derivative: 1, points: 3}\n  uR:"),
		"speed of both signs":                                    of(advection("low"), "0.5*u_x", "u*u_x"),
		"centres of cells, at which diffusion is not zero":       of(heatBetween("", ""), left, "", "x: {range: [0, 1], points: 9, boundary: nodes}", "x: {range: [0, 1], points: 9, boundary: cells}", "u_t - 0.1*u_xx", "u_t - x*(1 - x)*u_xx"),
		"walls that the ansatz meets, of a condition with roots": of(heatBetween(of(wall, "uR", "uR^4 - 1"), "ansatz: {offset: 1, multiplier: x*(1 - x)}\n"), "uL}", "uL^4 - 1}", "  a: {at: {t: low}, expression: u - u0}\n", "  a: {at: {t: low}, rows: {x: [1, 1]}, expression: u - u0}\n"),
	} {
		if x := examine(t, load(t, src)); len(x.Faults) > 0 {
			t.Errorf("%s: %v", name, x.Faults)
		}
	}
	const steady = `
time: none
axes:
  y: {range: [0, 1], points: 8, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: nodes}
inputs:
  f: {distribution: random-series, series: sine}
terms:
  u_x: {axis: x, derivative: 1}
  u_xx: {axis: x, derivative: 2, closure: undefined}
  u_yy: {axis: y, derivative: 2, closure: undefined}
residual: {expression: u*(u_xx + u_yy) + u_x^2 + f, rows: {x: [1, 1], y: [1, 1]}}
conditions:
  a: {at: {x: low}, expression: u - 1}
  b: {at: {x: high}, expression: u - 1}
  c: {at: {y: low}, expression: u - 1}
  d: {at: {y: high}, expression: u - 1}
`
	x, err := Examine(load(t, steady), nil, func(g *grid.Grid) ([][]float64, error) {
		return [][]float64{slices.Repeat([]float64{0.3}, g.Size()), make([]float64, g.Size())}, nil
	})
	if err != nil || len(x.Faults) > 0 {
		t.Errorf("a steady problem that is not linear at zero: %+v, %v", x, err)
	}
}

// Equations with several solutions, and ones that look alike and have one.
func TestOtherSolutions(t *testing.T) {
	plate := func(expression string) string {
		return `
time: none
axes:
  y: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 9, boundary: nodes}
inputs:
  f: {distribution: random-series, series: sine}
terms:
  u_yy: {axis: y, derivative: 2, closure: undefined}
  u_xx: {axis: x, derivative: 2, closure: undefined}
  u_x: {axis: x, derivative: 1, closure: undefined}
residual: {expression: "` + expression + `", rows: {x: [1, 1], y: [1, 1]}}
conditions:
  a: {at: {x: low}, expression: u}
  b: {at: {x: high}, expression: u}
  c: {at: {y: low}, expression: u}
  d: {at: {y: high}, expression: u}
`
	}
	for _, c := range []struct {
		expression string
		force      float64
		several    bool
	}{
		{"u_xx + u_yy + f*exp(u)", 1, true}, // Bratu's: two solutions below 6.8, none above
		{"u_xx + u_yy + 40*(u - u^3) + f", 0, true},
		{"u_xx + u_yy + 40*(u - u^3) + f", 0.1, true},
		{"u_xx + u_yy + 10*(u - u^3) + f", 0.1, false}, // below the lowest eigenvalue, 2π²
		{"u_xx + u_yy - u^3 + f", 10, false},
		{"u_xx + u_yy - 20*u*u_x + f", 1, false}, // differences have others, another on every grid
		{"u_xx + u_yy + f", 10, false},
	} {
		x, err := Examine(load(t, plate(c.expression)), nil, func(g *grid.Grid) ([][]float64, error) {
			return [][]float64{slices.Repeat([]float64{c.force}, g.Size()), slices.Repeat([]float64{c.force / 2}, g.Size())}, nil
		})
		if err != nil || len(x.Faults) > 0 {
			t.Fatalf("%s: %+v, %v", c.expression, x, err)
		}
		if several := slices.ContainsFunc(x.Notes, func(note string) bool { return strings.Contains(note, "several solutions") }); several != c.several {
			t.Errorf("%s, f = %g: %q", c.expression, c.force, x.Notes)
		}
	}
}

func TestExamineFaults(t *testing.T) {
	wave, heat, laplace := known[0].src, known[1].src, known[6].src
	sourced := func(source string) string {
		return strings.Replace(heatBetween("  c: {at: {x: high}, rows: {t: [1, 0]}, expression: uR}\n", ""), "0.1*u_xx", "0.1*u_xx + 0.1*"+source, 1)
	}
	without := func(src, part string) string {
		if !strings.Contains(src, part) {
			t.Fatalf("no %q", part)
		}
		return strings.Replace(src, part, "", 1)
	}
	for _, c := range []struct{ name, src, fault, note string }{
		{"no initial condition", without(heat, "  a: {at: {t: low}, expression: u - u0}\n") + "ansatz: {offset: u0}\n", "6 of 36 values stay free, most of them at t low; no condition holds at t low", ""},
		{"no initial velocity", without(wave, ", b: {at: {t: low}, expression: v0 - 1}"), "1 of 42 values stay free; u_tt needs two conditions at t low", "no row uses the term v0"}, // the closure of u_tt gives the rest
		{"a missing wall", without(heat, "  c: {at: {x: high}, rows: {t: [1, 0]}, expression: end}\n"), "5 of 36 values stay free, most of them at x high; no condition holds at x high", "no row uses the term end"},
		{"a missing wall of a steady problem", without(laplace, ", b: {at: {x: high}, expression: u}"), "7 of 42 values stay free", ""},
		{"a condition that ignores u0", strings.Replace(heat, "u - u0", "u - 1", 1), "no row contains u0: all initial conditions have the same solution", ""},
		{"a steady problem that does not say so", strings.Replace(laplace, "u - u0", "u - 1", 1), "no row contains u0: all initial conditions have the same solution; if x is not time the file wants `time: none`", ""},
		{"third order in time with two conditions", strings.Replace(wave, "u_tt: {axis: t, derivative: 2}", "u_tt: {axis: t, derivative: 3}", 1), "u_tt needs 3 conditions at t low, the value and its derivatives below the order 3", ""},
		{"a constant and an expression too many", strings.Replace(wave, "terms: {", "constants: {k: 2, twice: 2*k}\nterms: {", 1), "", "nothing in the file uses twice"},
		{"two terms too many", strings.Replace(wave, "terms: {", "terms: {u_ttt: {axis: t, derivative: 3}, u_x: {axis: x, derivative: 1}, ", 1), "", "no row uses the terms u_ttt, u_x"},
		{"missing walls whose rows are there", strings.Replace(heatBetween("", ""), "  b: {at: {x: low}, rows: {t: [1, 0]}, expression: uL}\n", "", 1), "no condition holds at either end of x, where u_xx needs one", ""},
		{"a missing wall whose rows are there", heatBetween("", ""), "", "no condition holds at x high, where u_xx needs one unless"},
		{"nothing at the inflow", advection("low"), "no condition holds at either end of x, where u_x needs one", ""},
		{"nothing at the inflow above", advection("high"), "no condition holds at either end of x, where u_x needs one", ""},
		{"nothing at the outflow", strings.Replace(advection("low"), "u - u0}\n", "u - u0}\n  b: {at: {x: low}, rows: {t: [1, 0]}, expression: u - 1}\n", 1), "", "no condition holds at x high"},
		{"a condition at the outflow alone", carriedTo("high", "low"), "no condition holds at x low, where u_x needs one, as it carries values in there; is that of x high at the wrong end, or a sign reversed?", ""},
		{"a condition at the outflow below", carriedTo("low", "high"), "no condition holds at x high, where u_x needs one, as it carries values in there; is that of x low at the wrong end, or a sign reversed?", ""},
		{"a speed that vanishes at the open wall", strings.Replace(carriedTo("high", "low"), "0.5*u_x", "x*u_x", 1), "", "no condition holds at x low"},
		{"a speed that changes sign in time", strings.Replace(carriedTo("high", "low"), "0.5*u_x", "(0.5 - t)*u_x", 1), "", "no condition holds at x low"},
		{"a speed that is the unknown", strings.Replace(carriedTo("high", "low"), "0.5*u_x", "(1 + u^2)*u_x", 1), "", "no condition holds at x low"},
		{"a rate that is carried too", strings.Replace(strings.Replace(carriedTo("high", "low"), "0.5*u_x", "0.5*u_x - u_xt", 1), "terms:\n", "terms:\n  u_xt: {factors: [{axis: t, derivative: 1}, {axis: x, derivative: 1}]}\n", 1), "", "no condition holds at x low"},
		{"at centres of cells", strings.Replace(strings.Replace(carriedTo("high", "low"), "points: 9, boundary: nodes}\nterms", "points: 9, boundary: cells}\nterms", 1), "{at: {x: high}, rows: {t: [1, 0]}, expression: u - 1}", "{at: {x: high}, rows: {t: [1, 0]}, expression: end - 1}", 1), "", "no condition holds at x low, where u_x needs one unless its coefficient vanishes there"},
		{"conditions that contradict", strings.Replace(heat, "  a: {at: {t: low}, expression: u - u0}\n", "  a: {at: {t: low}, expression: u - u0}\n  again: {at: {t: low}, expression: u - 2*u0 - 1}\n", 1), "a and again contradict each other", ""},
		{"an ansatz that misses the initial condition", heatBetween("  c: {at: {x: high}, rows: {t: [1, 0]}, expression: uR}\n", "ansatz: {offset: u0 + 1, multiplier: t}\n"), "a and the ansatz contradict each other", ""},
		{"an ansatz that fixes a wall", heatBetween("  c: {at: {x: high}, rows: {t: [1, 0]}, expression: uR - 3}\n", "ansatz: {offset: u0, multiplier: 1 - x}\n"), "c and the ansatz contradict each other", ""},
		{"an ansatz without a network", heatBetween("  c: {at: {x: high}, rows: {t: [1, 0]}, expression: uR}\n", "ansatz: {offset: u0, multiplier: 0}\n"), "the multiplier of the ansatz of u is zero everywhere", ""},
		{"a root of what may be negative", strings.Replace(heat, "0.1*u_xx)*3", "0.1*u^0.5*u_xx)*3", 1), "residual: ", ""},
		{"a square root at a point of the own grid alone", sourced("sqrt(abs(x - 0.5) - 0.01)"), "residual: 14.3 % of the rows are not finite where the field keeps its initial values: sqrt", ""},
		{"a pole there", sourced("1/(x - 0.25)"), "1/(-0.25 + x) at x = 0.25", ""},
		{"a square root that no point has", sourced("sqrt(abs(x - 0.3) - 0.01)"), "", ""},
		{"a logarithm of what may become negative", strings.Replace(heat, "expression: u - u0", "expression: log(u + 0.97) - log(u0 + 0.97)", 1), "", "a: "},
	} {
		x := examine(t, load(t, c.src))
		faults, notes := strings.Join(x.Faults, "\n"), strings.Join(slices.Concat(x.Notes, x.Open), "\n")
		if c.fault == "" && faults != "" || !strings.Contains(faults, c.fault) || !strings.Contains(notes, c.note) {
			t.Errorf("%s: %+v", c.name, x)
		}
		if strings.HasPrefix(c.name, "a root") && !strings.Contains(faults, "u^0.5 at u = -") {
			t.Errorf("%s: %s", c.name, faults)
		}
	}
}

// An unknown that begins beside one that ends: each has its one condition in time, and no end of it is named. Without one of them its end is.
func TestExamineBetweenTimes(t *testing.T) {
	const file = `unknown: [n, u]
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 12, boundary: periodic}
terms:
  n_t: {of: n, axis: t, derivative: 1}
  u_t: {of: u, axis: t, derivative: 1}
  n_xx: {of: n, axis: x, derivative: 2}
  u_xx: {of: u, axis: x, derivative: 2}
residual:
  density: {expression: n_t - 0.05*n_xx - 0.1*u_xx}
  value: {expression: -u_t - 0.05*u_xx - n}
conditions:
  start: {at: {t: low}, expression: n - n0}
  cost: {at: {t: high}, expression: u}
initial: {n: {distribution: random-series, series: periodic}}
`
	x := examine(t, loadSystem(t, file))
	if len(x.Faults)+len(x.Notes)+len(x.Open) > 0 || x.Rows != x.Unknowns || x.Rank != x.Unknowns {
		t.Errorf("%+v", x)
	}
	x = examine(t, loadSystem(t, strings.Replace(file, "  cost: {at: {t: high}, expression: u}\n", "", 1)))
	if len(x.Faults) == 0 || !strings.Contains(x.Faults[0], "no condition holds at t low of u") {
		t.Errorf("%+v", x)
	}
}

// Ends of an axis with cells at which nothing holds are named, but not where ghost values say what holds there.
func TestExamineOpenCells(t *testing.T) {
	const file = `axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 12, boundary: cells}
terms:
  u_t: {axis: t, derivative: 1}
  u_xx: {axis: x, derivative: 2%s}
residual: {expression: u_t - 0.1*u_xx}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
initial: {distribution: random-sines, low: -1, high: 1}
`
	for closure, want := range map[string]int{"": 1, ", closure: ghost, low: inner1, high: inner1": 0, ", closure: ghost, low: -inner1, high: inner1": 0} {
		x := examine(t, load(t, fmt.Sprintf(file, closure)))
		if len(x.Faults) > 0 || len(x.Open) != want || want > 0 && !strings.Contains(x.Open[0], "either end of x, where u_xx needs one") {
			t.Errorf("closure %q: %+v", closure, x)
		}
	}
}

// Walls whose differences reach over most of a small grid disagree with an initial condition at
// the first time only: flow that stops at both, and a beam that rests on both.
func TestExamineWalls(t *testing.T) {
	const file = `axes:
  t: {range: [0, 1], points: 21, boundary: nodes}
  x: {range: [0, 1], points: 33, boundary: nodes}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
  u_x: {axis: x, derivative: 1, order: 2}
  u_xx: {axis: x, derivative: 2, order: 2}
  u_xxxx: {axis: x, derivative: 4, order: 2}
residual: {expression: u_t + 0.01*SPACE, rows: {t: [1, 0], x: [ROWS, ROWS]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
`
	for _, c := range []struct{ space, rows, walls, want string }{
		{"-u_xx", "1", "  a: {at: {x: low}, expression: u_x}\n  b: {at: {x: high}, expression: u_x}\n", ""},
		{"u_xxxx", "2", "  a: {at: {x: low}, expression: u}\n  b: {at: {x: high}, expression: u}\n  c: {at: {x: low}, expression: u_xx}\n  d: {at: {x: high}, expression: u_xx}\n", ""},
		{"-u_xx", "1", "  a: {at: {x: low}, expression: u}\n  b: {at: {x: high}, expression: u}\n  c: {at: {x: high}, expression: u - 1}\n", "b and c contradict each other"},
		{"-u_xx", "1", "  a: {at: {x: low}, expression: u}\n  b: {at: {x: high}, expression: u}\n  c: {at: {x: high}, expression: u_x}\n", "3 conditions hold at the ends of x (a, b, c), where equations with derivatives of order 2 along it take 2"},
		{"-u_xx", "1", "  a: {at: {x: low}, expression: u}\n  b: {at: {x: high}, expression: u, weight: t < 0.5}\n  c: {at: {x: high}, expression: u_x, weight: t >= 0.5}\n", ""},
		{"(0.5 - x)*u_x", "0", "  a: {at: {x: low}, expression: u}\n  b: {at: {x: high}, expression: u}\n", ""},
		{"u_x", "0", "  a: {at: {x: low}, expression: u}\n  b: {at: {x: high}, expression: u}\n", "1 condition holds at x high, where no wave comes in"},
		{"(x - 0.5)*u_x", "0", "  b: {at: {x: high}, expression: u}\n", "1 condition holds at x high, where no wave comes in"},
		{"(x - 0.5)*u_x", "0", "  a: {at: {x: low}, expression: u}\n  b: {at: {x: high}, expression: u}\n", "1 condition holds at x low, where no wave comes in, and 1 condition holds at x high"},
		{"(x - 0.5)*u_x", "0", "", ""},
		{"(x - t)*u_x", "0", "  b: {at: {x: high}, expression: u}\n", ""},
	} {
		src := strings.NewReplacer("SPACE", c.space, "ROWS", c.rows).Replace(file) + c.walls
		x := examine(t, load(t, strings.Replace(src, "0.01*-u_xx", "-0.01*u_xx", 1)))
		if got := strings.Join(x.Faults, "; "); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s, walls\n%s: %q, want %q", c.space, c.walls, got, c.want)
		}
	}
}

// Conditions that differ by the error of coarse differences do not contradict each other: a beam on two
// supports, which on the smallest grid is off by 3 %.
func TestExamineCoarse(t *testing.T) {
	p := load(t, `
axes:
  t: {range: [0, 1], points: 25, boundary: nodes}
  x: {range: [0, 1], points: 33, boundary: nodes}
terms:
  uL: {axis: x, edge: low, at: wall, points: 1}
  uR: {axis: x, edge: high, at: wall, points: 1}
  uxxL: {axis: x, edge: low, at: wall, derivative: 2, points: 5}
  uxxR: {axis: x, edge: high, at: wall, derivative: 2, points: 5}
  u_tt: {axis: t, derivative: 2, order: 4}
  u_xxxx: {axis: x, derivative: 4, order: 2}
  v0: {axis: t, edge: low, at: wall, derivative: 1, points: 5}
residual: {expression: "u_tt + 0.1*u_xxxx", rows: {x: [2, 2]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
  vel: {kind: initial, at: {t: low}, expression: v0}
  left: {at: {x: low}, expression: uL}
  right: {at: {x: high}, expression: uR}
  ml: {at: {x: low}, expression: uxxL}
  mr: {at: {x: high}, expression: uxxR}
initial: {distribution: random-series, series: sine, parameters: {modes: 3, decay: 1}, scale: 0.5}
`)
	x, err := Examine(p, nil, func(g *grid.Grid) ([][]float64, error) {
		return [][]float64{onSpace(g, func(x []float64) float64 {
			return 0.3*math.Sin(math.Pi*x[0]) - 0.2*math.Sin(2*math.Pi*x[0]) + 0.2*math.Sin(3*math.Pi*x[0])
		})}, nil
	})
	if err != nil || len(x.Faults) > 0 {
		t.Errorf("%+v, %v", x, err)
	}
}

// A string whose ends are held, but which does not begin so, is torn there, also where the ends are held from the second time on; rods
// and strings that begin as their ends want are not.
func TestTorn(t *testing.T) {
	const file = `
axes: {t: {range: [0, 1], points: 17, boundary: nodes}, x: {range: [0, 1], points: 17, boundary: nodes}}
terms: {u_tt: {axis: t, derivative: 2}, u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}, v0: {axis: t, edge: low, at: inner, derivative: 1, points: 4}}
residual: {expression: RATE - u_xx, rows: {t: [1, 0]}}
conditions: {a: {at: {t: low}, expression: u - u0}, START c: {at: {x: low}, ROWS expression: 3*u}, d: {at: {x: high}, expression: u - 2*t}}
initial: {distribution: random-series, series: SERIES, parameters: {modes: 2, decay: 1}}
`
	for _, c := range []struct {
		rate, rows, series string
		torn               bool
	}{
		{"u_tt", "", "cosine", true},
		{"u_tt", "rows: {t: [1, 0]},", "cosine", true},
		{"u_tt", "", "sine", false},
		{"u_t", "", "cosine", false},
	} {
		start := "b: {at: {t: low}, expression: v0},"
		if c.rate == "u_t" {
			start = ""
		}
		p := load(t, strings.NewReplacer("RATE", c.rate, "ROWS", c.rows, "SERIES", c.series, "START", start).Replace(file))
		x, err := Examine(p, nil, func(g *grid.Grid) ([][]float64, error) {
			field := onSpace(g, func(x []float64) float64 { return math.Cos(pi * x[0]) })
			if c.series == "sine" {
				field = onSpace(g, func(x []float64) float64 { return math.Sin(pi * x[0]) })
			}
			return [][]float64{field}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if torn := strings.Contains(x.Torn, "miss c at the first t, by up to 1.3 of their size"); torn != c.torn || slices.Contains(x.Open, x.Torn) != c.torn {
			t.Errorf("%v: %q, want %v", c, x.Torn, c.torn)
		}
	}
}

// A potential between periodic axes is free by a number at each time, and named.
func TestExaminePotential(t *testing.T) {
	const src = `unknown: [u, q]
axes: {t: {range: [0, 1], points: 6, boundary: nodes}, x: {range: [0, 1], points: 8, boundary: periodic}}
terms: {u_t: {of: u, axis: t, derivative: 1}, q_xx: {of: q, axis: x, derivative: 2}}
residual: {one: {expression: u_t - q_xx, rows: {t: [1, 0]}}, other: {expression: q_xx - u}}
conditions: {a: {at: {t: low}, expression: u - u0}}
initial: {u: {distribution: random-sines, low: 0, high: 1}}
`
	const want = "6 of 84 values stay free; any number may be added to q, which no row contains but by its derivatives: 1e-6*q more in its equation chooses one, if sources and walls balance; else there is none"
	if x := examine(t, loadSystem(t, src)); len(x.Faults) != 1 || x.Faults[0] != want {
		t.Errorf("%q; want %q", x.Faults, want)
	}
	if x := examine(t, loadSystem(t, strings.Replace(src, "q_xx - u", "q_xx - u + 1e-6*q", 1))); len(x.Faults) > 0 {
		t.Errorf("%q with one chosen", x.Faults)
	}
}

// What divides by an unknown that begins with nothing is a fault that names it.
func TestExamineZeroAtFirst(t *testing.T) {
	p := loadFile(t, `
unknown: [u, lambda]
axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 9, boundary: nodes}}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2}
  lambda_x: {of: lambda, axis: x, derivative: 1}
residual:
  heat: {expression: "u_t - u_xx - 1/lambda"}
  constant: {expression: lambda_x, rows: {x: [1, 0]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
  left: {at: {x: low}, expression: u}
  right: {at: {x: high}, expression: u}
  of: {at: {x: low}, expression: lambda - 2}
initial: {u: {distribution: random-series, series: sine}}
`)
	x, err := Examine(p, nil, func(g *grid.Grid) ([][]float64, error) { return [][]float64{make([]float64, p.InputSize(g))}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(x.Faults, "\n"); !strings.Contains(said, "no condition says what lambda begins with, and zero stands for that") {
		t.Errorf("faults: %s", said)
	}
}
