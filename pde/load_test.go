package pde

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/config"
)

// header is the start of a problem without mistakes, six lines long.
const header = `name: toy
unknown: u
axes:
  t: {range: [0, 1], points: 5, boundary: nodes}
  x: {range: [0, 2], points: 8, boundary: cells}
  # line 6
`

func mustLoad(t testing.TB, src string) *Problem {
	t.Helper()
	p, err := Load("toy.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every mistake is reported at its line and column, all of a file in one go.
func TestLoadReports(t *testing.T) {
	const residual = "residual: {expression: u}\n"
	for _, test := range []struct {
		name, src string
		want      []string // line:column: a part of the message
	}{
		{"unknown keys", "name: a\nunknwon: u\naxes:\n  t: {range: [0, 1], points: 5, boundry: nodes}\nresidual: {expresion: u}\n", []string{
			`2:1: unknown key "unknwon"`, `4:33: unknown key "boundry" in axes.t`, `4:6: missing key "boundary"`, `5:12: unknown key "expresion"`, `5:11: missing key "expression"`, `1:1: missing key "unknown"`,
		}},
		{"wrong types", header + "residual: {expression: [u]}\nconditions: {a: {expression: u, rows: {x: 1}}}\n", []string{
			`7:24: residual.expression: want a number or a text, got a list`, `8:43: conditions.a.rows.x: want a list`,
		}},
		{"unknown axis", header + "terms:\n  u_y: {axis: y, derivative: 1}\n" + residual, []string{`8:8: term u_y: there is no axis "y"`}},
		{"syntax", header + "residual: {expression: u + * u}\n", []string{`7:28: found "*"`}},
		{"syntax in quotes", header + "residual: {expression: \"u - (1\"}\n", []string{`7:31: `}},
		{"unknown name", header + "residual: {expression: u + speed*u}\n", []string{`7:28: unknown name speed`}},
		{"non-finite constant", header + "constants: {a: 1/0, b: log(-1)}\n" + residual, []string{`7:16: constant a: "1/0" is not a finite number`, `7:24: constant b`}},
		{"constant that is not one", header + "constants: {a: x}\n" + residual, []string{`7:16: unknown name x`}},
		{"constants later in the file", header + "constants: {a: b, b: 1}\n" + residual, []string{`7:16: unknown name b`}},
		{"clashes", header + "constants: {u: 1, x: 3, c: 2, u0: 1}\nterms:\n  c: {axis: x, derivative: 1}\nexpressions: {c: 1}\n" + residual, []string{
			`7:13: constant u has the name of the unknown`, `7:19: constant x has the name of an axis`, `7:31: constant u0 has the name of the initial condition`,
			`9:3: term c has the name of a constant`, `10:15: expression c has the name of a constant`,
		}},
		{"not names", header + "constants: {1a: 1, exp: 2}\nterms:\n  u-t: {axis: t, derivative: 1}\n" + residual, []string{
			`7:13: constant "1a" is not a name`, `7:20: constant "exp" is not a name`, `9:3: term "u-t" is not a name`,
		}},
		{"unknown that is no name", strings.Replace(header, "unknown: u", "unknown: 2u", 1) + "residual: {expression: 1}\n", []string{`2:10: unknown "2u" is not a name`}},
		{"empty range", strings.Replace(header, "[0, 2]", "[2, 2]", 1) + residual, []string{`5:18: axis x: the range [2, 2] is empty`}},
		{"negative points", strings.Replace(header, "points: ", "points: -", 1) + residual, []string{`4:6: axis t: -5 points`}},
		{"weight of zero", header + strings.Replace(residual, "}", ", weight: 0*2}", 1), []string{`7:35: residual: weight 0: such rows say nothing`}},
		{"range of three", strings.Replace(header, "[0, 2]", "[0, 1, 2]", 1) + residual, []string{`5:6: axis x: range wants two numbers`}},
		{"boundary", strings.Replace(header, "cells", "wall", 1) + residual, []string{`5:43: axes.x.boundary`}},
		{"one axis", strings.Replace(header, "  x: {range: [0, 2], points: 8, boundary: cells}\n", "", 1) + residual, []string{`2:10: 1 axes: a problem has two or three`}},
		{"edges", header + `terms:
  a: {axis: x, edge: low, derivative: 2, points: 2}
  b: {axis: x, edge: left, points: 2}
  c: {axis: x, at: ghost}
  d: {axis: x, edge: high, points: 9}
  e: {axis: x, edge: high, points: 3, order: 2}
  f: {axis: x, edge: high, at: outside, points: 3}
` + residual, []string{`13:32: terms.f.at: unknown location "outside"`}},
		{"edges, values", header + `terms:
  a: {axis: x, edge: low, derivative: 2, points: 2}
  b: {axis: x, edge: left, points: 2}
  c: {axis: x, at: ghost}
  d: {axis: x, edge: high, points: 9}
  e: {axis: x, edge: high, points: 3, order: 2}
  f: {axis: x, edge: high, derivative: -1, points: 3}
` + residual, []string{
			"8:6: term a: 2 points cannot give derivative 2", `9:6: term b: edge "left": want low or high`, "10:6: term c: `at` belongs to an edge term",
			"11:6: term d: 9 points at an edge: want 8 at most", "12:6: term e: order, side", "13:6: term f: derivative -1: want 0 to 6",
		}},
		{"edge of a periodic axis", strings.Replace(header, "cells", "periodic", 1) + "terms:\n  a: {axis: x, edge: low, points: 2}\n" + residual, []string{"8:6: term a: axis x is periodic"}},
		{"schemes", header + `terms:
  a: {axis: x, derivative: 9}
  b: {axis: x, derivative: 1, order: 3}
  c: {axis: x, derivative: 1, closure: ghost}
  d: {axis: x, derivative: 1, low: 1}
  e: {axis: x, derivative: 1, closure: ghost, low: inner1^2}
  f: {axis: x, derivative: 1, closure: ghost, low: u}
  g: {factors: []}
` + residual, []string{
			"8:6: term a: derivative 9: want 0 to 6", "9:6: term b: a central difference of order 3", "10:6: term c: a ghost closure needs",
			"11:6: term d: a ghost value is given but", "12:52: the ghost value", "13:52: unknown name u", "14:6: term g: a product needs at least one factor",
		}},
		{"conditions", header + residual + `conditions:
  a: {kind: final, expression: u}
  b: {at: {z: low}, expression: u}
  c: {at: {x: middle}, expression: u}
  d: {rows: {y: [1, 1], x: [1], t: [-1, 0]}, expression: u}
  e: {at: {x: low}, rows: {x: [1, 0]}, expression: u}
  f: {expression: u, weight: u}
  residual: {expression: u}
  g: {kind: initial, at: {x: low}, expression: u}
`, []string{
			`9:6: a: kind "final": want initial or boundary`, `10:12: b: there is no axis "z"`, `11:15: c: at x: "middle": want low or high`,
			`12:14: d: there is no axis "y"`, `12:28: d: rows x: want`, `12:36: d: rows t: want`, "13:28: e: axis x is fixed by `at`", `14:30: unknown name u`, `15:3: a condition cannot be called residual`, `16:27: g: an initial condition holds at an end of the first axis, which is t, not x`,
		}},
		{"residual without braces", header + "residual: u - 1\n", []string{"7:11: residual: want a mapping (key: value), got the text \"u - 1\""}},
		{"residual with a kind", header + "residual: {kind: initial, expression: u}\n", []string{"7:11: residual: `kind` belongs to a condition"}},
		{"ansatz", header + residual + "ansatz: {offset: u, multiplier: u0, projection: half}\n", []string{
			"8:18: unknown name u", "8:33: unknown name u0", `8:9: ansatz: projection "half"`,
		}},
		{"initial", header + residual + "initial: {distribution: normal}\n", []string{`8:10: initial: distribution "normal"`}},
		{"initial without bounds", header + residual + "initial: {distribution: random-sines, low: 1}\n", []string{`8:10: initial: random-sines wants low and high`}},
		{"initial upside down", header + residual + "initial: {distribution: random-sines, low: 1, high: -1}\n", []string{`8:53: initial: high -1 is below low 1`}},
		{"spectral terms", header + `terms:
  a: {spectral: derivative, axis: x}
  b: {spectral: derivative, axis: t}
  c: {spectral: derivative}
  d: {spectral: derivative, axis: z}
  e: {spectral: laplacian}
  f: {spectral: laplacian, axis: x}
  g: {spectral: velocity}
  h: {spectral: velocity, component: x}
  i: {spectral: curl}
  j: {spectral: velocity, axis: x}
` + residual, []string{
			"8:6: term a: axis x has boundary cells; a spectral derivative needs it periodic", "9:6: term b: a spectral derivative acts on slices along t",
			"10:6: term c: a spectral derivative needs an axis", `11:6: term d: there is no axis "z"`, "12:6: term e: axis x has boundary cells",
			"13:6: term f: a spectral laplacian has no other keys", "13:6: term f: axis x has boundary cells", "14:6: term g: a velocity needs a component",
			"15:6: term h: a velocity needs two axes of space, not 1", `16:6: term i: spectral "curl": want`,
			"17:6: term j: a velocity has a component",
		}},
		{"random field", header + residual + "initial: {distribution: random-field, low: 1}\n", []string{
			"8:10: initial: a random-field has no low", "8:10: initial: a random-field wants field", "8:10: initial: a random-field needs periodic axes of space; axis x is cells",
		}},
		{"field of another distribution", header + residual + "initial: {distribution: random-sines, low: 0, high: 1, field: power-law}\n", []string{"8:10: initial: a random-sines has no field"}},
		{"series", header + residual + "initial: {distribution: random-series, series: sines, low: 1, positive: abs, scale: 0}\n", []string{
			`8:10: initial: series "sines": want`, "8:10: initial: a random-series has no low", `8:10: initial: positive "abs": want`, "8:85: initial: scale 0",
		}},
		{"series without walls", strings.Replace(header, "cells", "periodic", 1) + residual + "initial: {distribution: random-series, series: sine}\n", []string{
			"8:10: initial: series sine is for axes with walls",
		}},
		{"mixtures", header + residual + "initial: {distribution: mixture, low: 1, of: [{distribution: mixture}, {distribution: random-sines, low: 1}, {distribution: uniform-constant, low: 1, high: 2, weight: -1}]}\n", []string{
			"8:10: initial: a mixture has no low", "8:47: initial: a part of a mixture wants", "8:72: initial: random-sines wants low and high", "8:168: initial: weight -1",
		}},
		{"mixture of one", header + residual + "initial: {distribution: mixture, of: [{distribution: random-sines, low: 1, high: 1, lambda: 3}]}\n", []string{"8:93: initial: lambda is a parameter"}},
		{"reference points", header + residual + "reference: {solver: toy, points: {x: 64, t: 8, z: 3}}\n", []string{
			"8:35: reference points: axis x is not a periodic axis", "8:42: reference points: axis t is not a periodic axis", `8:48: reference points: there is no axis "z"`,
		}},
		{"refinement", header + residual + "reference: {solver: discrete, constants: {a: 1}, refine: {x: 2, t: 0, z: 3}}\n", []string{
			"8:12: reference: solver discrete has no constants or points", "8:62: reference refine: axis x: 2: centres of cells", "8:68: reference refine: axis t: 0: want 1 to 64", `8:71: reference refine: there is no axis "z"`,
		}},
		{"refinement of another solver", header + residual + "reference: {solver: toy, refine: {x: 3}}\n", []string{"8:12: reference: refine belongs to solver: discrete"}},
		{"not a mapping", "[1]", []string{"1:1: want a mapping"}},
		{"not YAML", "name: [a\n", []string{"1:9: not valid YAML"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Load("toy.yaml", []byte(test.src))
			var all config.Errors
			if !errors.As(err, &all) {
				t.Fatalf("%v, want config.Errors", err)
			}
			got := make([]string, len(all))
			for i, p := range all {
				got[i] = strings.TrimPrefix(p.Line(), "toy.yaml:")
			}
			missing := slices.Clone(test.want)
			for _, g := range got {
				if i := slices.IndexFunc(missing, func(w string) bool { return strings.HasPrefix(g, w) }); i >= 0 {
					missing = slices.Delete(missing, i, i+1)
				}
			}
			if len(missing) > 0 || len(got) != len(test.want) {
				t.Errorf("reported:\n  %s\nnot found:\n  %s", strings.Join(got, "\n  "), strings.Join(missing, "\n  "))
			}
		})
	}
}

// The caret stands under the mistake, and problems come in the order of the file.
func TestLoadCaret(t *testing.T) {
	_, err := Load("toy.yaml", []byte(header+"constants: {a: 2 +* 3}\nresidual: {expression: u + sped}\n"+"expressions: {speed: 3}\n"))
	want := `toy.yaml:7:19: found "*", want a number, a name or (
  7 | constants: {a: 2 +* 3}
    |                   ^
toy.yaml:8:28: unknown name sped
  8 | residual: {expression: u + sped}
    |                            ^
hint: did you mean speed?`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// pi and e are numbers, and names of functions that came later are none, where a
// file does not give the names another meaning.
func TestMathematicalConstants(t *testing.T) {
	p := mustLoad(t, header+"constants: {a: 2*pi, b: e^2}\nresidual: {expression: u - a + sin(pi*x)*e, weight: pi}\n")
	if p.Constants[0].Value != 2*math.Pi || p.Constants[1].Value != math.Pow(math.E, 2) {
		t.Errorf("constants %v", p.Constants)
	}
	if got, want := p.Residuals[0].Expr.Value(map[string]float64{"u": 1, "x": 0.5}), 1-2*math.Pi+math.E; math.Abs(got-want) > 1e-14 {
		t.Errorf("residual %v, want %v", got, want)
	}
	p = mustLoad(t, header+"constants: {pi: 3, floor: 5}\nterms: {e: {axis: x, derivative: 1}}\nresidual: {expression: u - pi*floor*e}\n")
	if got := p.Residuals[0].Expr.Value(map[string]float64{"u": 1, "e": 2}); got != -29 {
		t.Errorf("residual %v with pi = 3, floor = 5 and a term e = 2, want -29", got)
	}
	_, err := Load("toy.yaml", []byte(header+"constants: {a: pi, pi: 3}\nresidual: {expression: u}\n"))
	if err == nil || !strings.Contains(err.Error(), "unknown name pi") {
		t.Errorf("pi defined after its use: %v", err)
	}
}

// Constants that are set take part in everything the file computes from them, and
// the source is the file with the new numbers; one it has already changes nothing.
func TestSetConstants(t *testing.T) {
	p := mustLoad(t, header+"constants: {nu: 0.5, twice: 2*nu} # viscosity\nresidual: {expression: u - twice}\n")
	same, err := p.SetConstants(map[string]float64{"nu": 0.5, "twice": 1})
	if err != nil || same != p {
		t.Errorf("the numbers of the file: %v, changed %v", err, same != p)
	}
	q, err := p.SetConstants(map[string]float64{"nu": -1e-300})
	if err != nil {
		t.Fatal(err)
	}
	if got := q.Residuals[0].Expr.Value(map[string]float64{"u": 1}); got != 1+2e-300 || q.Constants[1].Value != -2e-300 {
		t.Errorf("residual %v, constants %v", got, q.Constants)
	}
	if !strings.Contains(string(q.Source), "# viscosity") || strings.Contains(string(q.Source), "0.5") {
		t.Errorf("source:\n%s", q.Source)
	}
	again, err := mustLoad(t, string(q.Source)).SetConstants(map[string]float64{"nu": -1e-300})
	if err != nil || string(again.Source) != string(q.Source) {
		t.Errorf("set again: %v\n%s", err, again.Source)
	}
	var unknown *UnknownConstantError
	if _, err := p.SetConstants(map[string]float64{"mu": 1}); !errors.As(err, &unknown) || unknown.Hint() != "did you mean nu?" {
		t.Errorf("a constant that is not there: %v", err)
	}
}

func TestOpen(t *testing.T) {
	for _, name := range Builtins() {
		p, err := Open(name)
		if err != nil {
			t.Errorf("built-in %s: %v", name, err)
			continue
		}
		if p.Name != name {
			t.Errorf("built-in %s calls itself %s", name, p.Name)
		}
		if len(p.Source) == 0 || len(p.Describe()) < 10 {
			t.Errorf("built-in %s: no source or a poor description", name)
		}
	}
	for name, want := range map[string]string{
		"diffusion":             "no such built-in problem; there are diffusion-sorption",
		"testdata/missing.yaml": "problem testdata/missing.yaml: ",
		"missing.yaml":          "no such file",
		"../pde":                "problem ../pde: ",
	} {
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q): %v, want an error with %q", name, err, want)
		}
	}
	if p, err := Open("testdata/burgers.yaml"); err != nil || p.Name != "burgers" || p.Inputs[0].Sampler.Distribution != "random-sines" || p.Inputs[0].Sampler.Low != -0.5 {
		t.Errorf("burgers: %+v, %v", p, err)
	}
}

// The paper's constants (section 4.1) are those of both built-in files.
func TestDiffusionSorptionConstants(t *testing.T) {
	want := map[string]float64{"phi": 0.29, "rho_s": 2880, "n_f": 0.874, "D": 5e-4, "k": 3.5e-4}
	for _, name := range []string{"diffusion-sorption", "diffusion-sorption-published"} {
		p, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, c := range p.Constants {
			got[c.Name] = c.Value
		}
		for k, v := range want {
			if got[k] != v || p.Reference.Constants[k] != v {
				t.Errorf("%s: %s = %g, for the classical solver %g, want %g", name, k, got[k], p.Reference.Constants[k], v)
			}
		}
		if p.Axes[0] != (DomainAxis{grid.Axis{Name: "t", Lo: 0, Hi: 500, Points: 101, Boundary: grid.Nodes}, "s"}) || p.Axes[1] != (DomainAxis{grid.Axis{Name: "x", Lo: 0, Hi: 1, Points: 1024, Boundary: grid.Cells}, "m"}) {
			t.Errorf("%s: axes %+v", name, p.Axes)
		}
		if i := p.Inputs[0].Sampler; i.Distribution != "uniform-constant" || i.Low != 0 || i.High != 0.2 {
			t.Errorf("%s: initial conditions %+v", name, p.Inputs[0].Sampler)
		}
	}
}

// Load never panics, an accepted file loads again from its kept source, and the
// problem it gives can be put on a grid or refused with an error.
func FuzzLoad(f *testing.F) {
	for _, name := range Builtins() {
		p, err := Open(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p.Source)
	}
	for _, src := range []string{
		header + "residual: {expression: u}\n",
		header + "terms:\n  a: {factors: []}\n  b: {factors: [{axis: x, derivative: 1}, {axis: t}]}\nresidual: {expression: b + u0}\n",
		header + "terms:\n  a: {axis: x, derivative: 2, closure: ghost, low: 1, high: 2*inner1 - step}\nresidual: {expression: a*t^2}\n",
		header + "residual: {expression: u, rows: {x: [9, 9]}}\nansatz: {offset: u0, multiplier: t, projection: remove-mean}\n",
		header + "residual:\n  expression: |\n    u +\n    *\n",
		"name: a\nunknown: u\naxes: {}\nresidual: {expression: u}\n",
		twoUnknowns,
		"name: a\nunknown: []\naxes: {}\nresidual: {a: {}, b: {expression: u}}\nansatz: {u: {}}\ninitial: {v: {}}\n",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := Load("fuzz.yaml", src)
		if err != nil {
			var all config.Errors
			if !errors.As(err, &all) || len(all) == 0 {
				t.Fatalf("%T is not config.Errors: %v", err, err)
			}
			return
		}
		again, err := Load("fuzz.yaml", p.Source)
		if err != nil {
			t.Fatalf("the source of an accepted file is refused: %v", err)
		}
		if !slices.Equal(again.Describe(), p.Describe()) {
			t.Fatal("the same source gives another problem")
		}
		points := map[string]int{}
		for _, a := range p.Axes {
			points[a.Name] = min(a.Points, 12)
		}
		g, err := p.Grid(points)
		if err != nil {
			return
		}
		s, err := p.Discretize(g)
		if err != nil {
			return
		}
		for _, set := range s.Sets {
			if len(set.Points) == 0 || len(set.Terms) == 0 {
				t.Fatalf("rows %s have no points or no terms", set.Name)
			}
		}
	})
}

// residual_weight multiplies the weights of all residuals, and no others.
func TestResidualWeight(t *testing.T) {
	const file = `
name: weighed
unknown: [u, v]
residual_weight: 2 - t
axes:
  t: {range: [0, 1], points: 11, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: periodic}
terms:
  u_t: {of: u, axis: t, derivative: 1, order: 2}
  v_t: {of: v, axis: t, derivative: 1, order: 2}
residual:
  first: {expression: u_t - v, weight: 3}
  second: {expression: v_t + u}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0, weight: 5}
`
	p, err := Load("weighed.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rows Rows
		want float64
	}{{p.Residuals[0], 3 * 1.25}, {p.Residuals[1], 1.25}, {p.Conditions[0], 5}} {
		got, ok := c.rows.Weight.Substitute(map[string]*expr.Expr{"t": expr.Const(0.75)}).Constant()
		if !ok || got != c.want {
			t.Errorf("%s: weight %s, at t = 0.75 %g, want %g", c.rows.Name, c.rows.Weight, got, c.want)
		}
	}
	if _, err := Load("weighed.yaml", []byte(strings.Replace(file, "2 - t", "2 - q", 1))); err == nil || !strings.Contains(err.Error(), "q") {
		t.Errorf("a weight of something else: %v", err)
	}
}
