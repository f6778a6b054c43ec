package pde

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/grid"
)

// twoUnknowns has every kind of term on either unknown.
const twoUnknowns = `name: pair
unknown: [u, v]
axes:
  t: {range: [0, 1], points: 5, boundary: nodes}
  x: {range: [0, 2], points: 8, boundary: periodic}
  y: {range: [0, 1], points: 6, boundary: periodic}
inputs: {a: {distribution: random-series, series: periodic, positive: exp}}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  v_t: {of: v, axis: t, derivative: 1}
  u_xy: {of: u, factors: [{axis: x, derivative: 1}, {axis: y, derivative: 1}]}
  v_flow: {of: v, flux: a, axis: x}
  v_lap: {of: v, spectral: laplacian}
  v_start: {of: v, axis: t, edge: low, at: inner, points: 1}
residual:
  first: {expression: u_t - u_xy + u*v, weight: 2, rows: {t: [1, 0]}}
  second: {expression: v_t - v_flow - v_lap - u^2}
conditions:
  start_u: {kind: initial, at: {t: low}, expression: u - u0}
  start_v: {kind: initial, at: {t: low}, expression: v_start - v0}
ansatz: {u: {offset: u0, multiplier: t}, v: {offset: v0 + t*u0, multiplier: t^2, projection: remove-mean}}
initial: {v: {distribution: uniform-constant, low: 1, high: 2}, u: {distribution: random-series, series: periodic}}
`

func TestUnknowns(t *testing.T) {
	p := mustLoad(t, twoUnknowns)
	if names := strings.Join(p.InputNames(), " "); names != "u0 v0 a" || p.Initials() != 2 || p.OnlyInitial() || p.Inputs[1].Sampler.High != 2 {
		t.Errorf("inputs %s", names)
	}
	var of []int
	for _, x := range p.Terms {
		of = append(of, x.Of)
	}
	if !slices.Equal(of, []int{0, 1, 0, 1, 1, 1, 1}) {
		t.Errorf("terms act on %v", of)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	var sets []string
	for _, set := range s.Sets {
		sets = append(sets, set.Name+" "+set.Kind.String())
	}
	if got := strings.Join(sets, ", "); got != "first residual, second residual, start_u initial, start_v initial" || len(s.Residuals()) != 2 {
		t.Errorf("rows: %s", got)
	}
	size, width := g.Size(), s.SliceSize()
	if s.FieldSize() != 2*size || s.InputSize() != 3*width || p.InputSize(g) != 3*width {
		t.Fatalf("a field of %d, inputs of %d", s.FieldSize(), s.InputSize())
	}

	// Rows of every set, against each term applied to its own unknown alone.
	field, sample := make([]float64, 2*size), make([]float64, 3*width)
	for i := range field {
		field[i] = math.Sin(3*float64(i)) + 0.1*float64(i%7)
	}
	for i := range sample {
		sample[i] = 1.5 + math.Cos(float64(i))
	}
	gatherer, e := s.NewGatherer(nil), s.NewRowEvaluator(size)
	for _, set := range s.Sets {
		rows := s.NewPointRows(set, set.Points)
		rows.Prepare()
		rows.SetInputs(sample)
		z := rows.NewValues()
		grid.Gather(gatherer, field, 1, []grid.Rows[float64]{z})
		for j, k := range set.Terms {
			want := make([]float64, size)
			s.Terms[k].Apply(want, field[s.Terms[k].Of*size:][:size])
			for i, q := range set.Points {
				if math.Abs(z.Values[j][i]-want[q]) > 1e-9*(1+math.Abs(want[q])) {
					t.Fatalf("%s, term %s: %g at point %d, want %g", set.Name, s.Terms[k].Name, z.Values[j][i], q, want[q])
				}
			}
		}
		if set.Name == "start_v" {
			r := e.Eval(rows, 0, z.Values, 0, len(set.Points))[0]
			for i, q := range set.Points {
				if want := field[size+int(q)] - sample[width+int(q)]; math.Abs(r[i]-want) > 1e-12 {
					t.Fatalf("start_v: %g, want %g", r[i], want)
				}
			}
		}
	}

	// The ansatz of either unknown.
	mu := s.Multiplier()
	got := make([]float64, width)
	for slice := range 2 * g.Axes[0].Points {
		c, k := slice/g.Axes[0].Points, slice%g.Axes[0].Points
		time := g.Axes[0].Coordinate(k)
		e.Offset(got, sample, slice)
		for i := range got {
			offset, factor := sample[i], time
			if c == 1 {
				offset, factor = sample[width+i]+time*sample[i], time*time
			}
			if math.Abs(got[i]-offset) > 1e-12 || math.Abs(mu[slice*width+i]-factor) > 1e-12 {
				t.Fatalf("unknown %d, slice %d: offset %g, multiplier %g, want %g, %g", c, k, got[i], mu[slice*width+i], offset, factor)
			}
		}
	}
	p.Persist(field, sample, g)
	if field[3*width+1] != sample[1] || field[size+2*width+1] != sample[width+1] || len(p.InitialOf(sample, g)) != 2*width {
		t.Error("the initial conditions are not held")
	}
}

// An unknown that `initial` leaves out has no initial condition.
func TestUnknownWithoutInitial(t *testing.T) {
	src := strings.NewReplacer("initial: {v: {distribution: uniform-constant, low: 1, high: 2}, u:", "initial: {v:").Replace(twoUnknowns)
	src = strings.Replace(src, "  start_u: {kind: initial, at: {t: low}, expression: u - u0}\n", "", 1)
	src = strings.Replace(src, "u: {offset: u0, multiplier: t}, v: {offset: v0 + t*u0,", "v: {offset: v0,", 1)
	p := mustLoad(t, src)
	if p.Unknowns[0].Initial != -1 || p.Unknowns[1].Initial != 0 || strings.Join(p.InputNames(), " ") != "v0 a" {
		t.Fatalf("%+v, inputs %v", p.Unknowns, p.InputNames())
	}
	field := []float64{7, 7, 7, 7, 8, 8, 8, 8}
	p.Persist(field, []float64{1, 2}, &grid.Grid{Axes: []grid.Axis{{Name: "t", Points: 2}, {Name: "x", Points: 2}, {Name: "y", Points: 1}}})
	if !slices.Equal(field, []float64{0, 0, 0, 0, 1, 2, 1, 2}) {
		t.Errorf("held: %v", field)
	}
}

func TestUnknownsReports(t *testing.T) {
	const head = "name: toy\nunknown: [u, v]\naxes:\n  t: {range: [0, 1], points: 5, boundary: nodes}\n  x: {range: [0, 2], points: 8, boundary: periodic}\n"
	for _, test := range []struct{ src, want string }{
		{"terms: {u_t: {axis: t, derivative: 1}}\nresidual: {expression: u_t}\n", "6:14: term u_t: `of` is missing"},
		{"terms: {u_t: {of: w, axis: t, derivative: 1}}\nresidual: {expression: u_t}\n", `6:19: term u_t: there is no unknown "w"`},
		{"terms: {a: {of: u, factors: [{of: v, axis: t, derivative: 1}]}}\nresidual: {expression: a}\n", "6:35: terms.a: `of` belongs to the product"},
		{"residual: {expression: u}\nansatz: {w: {offset: 1}}\n", `7:10: ansatz: there is no unknown "w"`},
		{"residual: {expression: u}\ninitial: {w: {distribution: uniform-constant, low: 0, high: 1}}\n", `7:11: initial: there is no unknown "w"`},
		{"residual: {a: {expression: u}, v: {expression: v}}\n", "6:32: residual v has the name of the unknown"},
		{"residual: {a: {expression: u}, b: {weight: 2}}\n", `6:35: missing key "expression"`},
		{"residual: {a: {expression: u}, b: {expression: v}}\nconditions: {b: {expression: v}}\n", "7:14: a condition cannot be called b"},
	} {
		_, err := Load("toy.yaml", []byte(head+test.src))
		if err == nil || !strings.Contains(err.Error(), "toy.yaml:"+test.want) {
			t.Errorf("%q: %v, want %q", test.src, err, test.want)
		}
	}
	for src, want := range map[string]string{
		strings.Replace(head, "[u, v]", "[]", 1) + "residual: {expression: 1}\n":      "2:10: unknown: want a name or a list of names",
		strings.Replace(head, "[u, v]", "[u, u]", 1) + "residual: {expression: u}\n":  "2:14: unknown u: u is the unknown already",
		strings.Replace(head, "[u, v]", "[u, u0]", 1) + "residual: {expression: u}\n": "2:14: unknown u0: u0 is the initial condition already",
	} {
		if _, err := Load("toy.yaml", []byte(src)); err == nil || !strings.Contains(err.Error(), "toy.yaml:"+want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
