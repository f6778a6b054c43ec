package experiment

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/pde"
)

// unresolvedAlong returns the axes along which expressions of a problem are not resolved: on its own grid, and on
// the refined one of its solutions.
func unresolvedAlong(t *testing.T, p *pde.Problem) (own, reference []string) {
	t.Helper()
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := dataset.Draws(p, g, 3)
	if err != nil {
		t.Fatal(err)
	}
	a, b := discrete.Unresolved(p, g, samples)
	axes := func(all []pde.Unresolved) (axes []string) {
		for _, x := range all {
			axes = append(axes, x.Axis)
		}
		return axes
	}
	return axes(a), axes(b)
}

// sources has a place for one in its residual.
const sources = `
name: sources
unknown: u
axes:
  t: {range: [0, 0.5], points: 33, boundary: nodes}
  x: {range: [0, 1], points: 48, boundary: periodic}
inputs:
  place: {distribution: uniform, low: 0.3362, high: 0.3367}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
  u_x: {axis: x, derivative: 1, order: 4}
residual: {expression: "u_t + place*u_x - (%s)", rows: {t: [1, 0]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
initial: {distribution: random-sines, low: -0.5, high: 0.5}
`

// What is narrower than steps is found, on the grid of the file and on that of its solutions, and nothing else is.
func TestUnresolved(t *testing.T) {
	for _, c := range []struct {
		name, source   string
		own, reference string // axes
	}{
		{"dose", "where(t > 0.25, where(t < 0.2514, 30, 0), 0)", "t", "t"},
		{"a dose at the beginning", "where(t < 0.0014, 30, 0)", "t", "t"},
		{"well", "where(abs(x - 0.336) < 0.001, 1000, 0)", "x", "x"},
		{"pulse", "300*exp(-((t - 0.303)/0.0005)^2)*sin(2*pi*x)", "t", "t"},
		{"pulse that a stage happens to see half of", "exp(-((t - 0.31)/0.00015)^2)*sin(2*pi*x)/0.00015", "t", "t"},
		{"a mean over a step at one point", "where(abs(x - 0.25) < 0.0104, 48, 0)", "", ""},
		{"a pulse that multiplies the unknown", "u*300*exp(-((t - 0.303)/0.0005)^2)", "t", "t"},
		{"a dose of the unknown", "where(t > 0.25, where(t < 0.2514, 30*u, 0), 0)", "t", "t"},
		{"well where it is drawn", "where(abs(x - place) < 0.001, 1000, 0)", "x", "x"},
		{"well that the initial condition feeds", "u0*where(abs(x - 0.336) < 0.001, 1000, 0)", "x", "x"},
		{"a single point", "where(abs(x - 0.25) < 1e-9, 48, 0)", "x", "x"},
		{"beside a large one", "where(abs(x - 0.336) < 0.001, 1000, 0) + 1e4*sin(2*pi*x)", "x", "x"},
		{"what finer points resolve", "where(abs(x - 0.3646) < 0.006, 100, 0)", "x", ""},
		{"wide", "where(abs(x - 0.336) < 0.011, 100, 0)", "", ""},
		{"smooth", "exp(-((t - 0.303)/0.03)^2)*sin(2*pi*x) + cos(8*pi*x)*t^2 + tanh((x - 0.5)/0.05) + u0*x", "", ""},
		{"steps", "where(x < 0.5, 1, 0) + floor(4*t) + sign(x - t)", "", ""},
		{"singular coefficients", "2*u_x/t + 6*u/t^2 + u/sqrt(t)", "", ""},
		{"a source without an integral", "1/(t - 0.303)", "t", "t"},
		{"a source with one", "1/sqrt(abs(t - 0.303))", "", ""},
		{"a dose between two comparisons", "30*(t > 0.25)*(t < 0.2514)", "t", "t"},
		{"a short one", "where(t > 0.3512, where(t < 0.35124, 30, 0), 0)", "t", "t"},
		{"a limit at the beginning", "where(t > 0, u*exp(-1/t)/t, 0) + where(t > 0, u, 0)", "", ""},
		{"friction at the end", "(0.4 + 0.26/(1 + 300*sqrt(0.5 - t)))*u", "t", "t"},
		{"friction where what it multiplies vanishes", "(0.5 - t)*(0.4 + 0.26/(1 + 300*sqrt(0.5 - t)))*u", "", ""},
		{"waves that every point meets alike", "u*sin(2*pi*96*x)^2", "x", "x"},
		{"waves in time between points", "sin(2*pi*61*t)*cos(2*pi*x)", "t", ""},
		{"waves of three points", "sin(2*pi*16*x)", "", ""},
		{"hardly anything", "1 + where(abs(x - 0.336) < 0.001, 1e-3, 0)*u + where(abs(x - 0.336) < 0.001, 1.01, 1)", "x", "x"},
	} {
		src := fmt.Sprintf(sources, c.source)
		p, err := pde.Load("sources.yaml", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		own, reference := unresolvedAlong(t, p)
		for i, got := range [][]string{own, reference} {
			want := []string{c.own, c.reference}[i]
			if all := strings.Join(slices.Compact(got), " "); all != want {
				t.Errorf("%s: not resolved along %q, %s; want %q", c.name, got, []string{"by the file's points", "by finer ones"}[i], want)
			}
		}
	}
	for _, name := range pde.Builtins() {
		p, err := pde.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if own, reference := unresolvedAlong(t, p); len(own)+len(reference) > 0 {
			t.Errorf("%s: not resolved along %q, %q", name, own, reference)
		}
	}
}

// Spots in two axes that chosen places would have to be many to meet.
func TestUnresolvedSpots(t *testing.T) {
	for source, want := range map[string]bool{
		"exp(-((t - 0.303)^2 + (x - 0.336)^2)/1e-7)":                          true,
		"u0*exp(-(t - 0.303)^2/1e-7 - (x - 0.336)^2/1e-7)":                    true,
		"where((t - 0.303)^2 + (x - 0.336)^2 < 1e-7, 1e5, 0)":                 true,
		"where(sqrt((t - 0.303)^2 + (x - 0.336)^2) <= 3e-4, u, 0)":            true,
		"where(3e-4 < sqrt((t - 0.303)^2 + (x - 0.336)^2), 1, 1e5)":           true,
		"where((t - 0.303)^2 + (x - place)^2 < 1e-7, 1e5, 0)":                 true,
		"where(max(abs(t - 0.303), abs(x - 0.336)) < 3e-4, 1e5, 0)":           true,
		"where(abs(t - 0.303) < 3e-4, where(abs(x - 0.336) < 3e-4, 1, 0), 0)": true,
		"exp(-((x - 0.3 - 0.3*t)^2 + (t - 0.3)^2)/1e-7)":                      true,
		"exp(-((x - 0.3 - 0.3*t)/1e-3)^2)":                                    true,
		"exp(-((t - 0.303)^2 + (x - 0.336)^2)/1e-2)":                          false,
		"where((t - 0.303)^2 + (x - 0.336)^2 < 1e-2, 1, 0)":                   false,
		"where((t - 0.25)^2 + (x - 0.5)^2 <= 0.0625, 1, 0)":                   false,
		"where(x < 0.5*t, 1, 0) + where(x == 0.5, 1, sin(x - 0.5)/(x - 0.5))": false,
		"log(t) + sqrt(abs(x - 0.336)) + x/abs(x - 0.5)^0.3":                  false,
		"where((t - 0.3)^2 + u0^2 < 0.09, 1, 0)":                              false,
		"exp(-20*x + 20*x^2)*t":                                               false,
		"where(t + x < 0.9, 1, 0) + where(t > x, 1, 0)":                       false,
		"exp(2*t - 0.5*x) + where(x - 2*t > 0.1, u, 0) + exp(-t/0.05 - 4*x)":  false,
	} {
		p, err := pde.Load("spots.yaml", fmt.Appendf(nil, sources, source))
		if err != nil {
			t.Fatal(err)
		}
		if own, _ := unresolvedAlong(t, p); (len(own) > 0) != want {
			t.Errorf("%s: not resolved along %q", source, own)
		}
	}
}

// Where two axes are too coarse for a source, both its extent and a condition's are compared.
func TestUnresolvedPlaces(t *testing.T) {
	p, err := pde.Load("spot.yaml", []byte(`
name: spot
unknown: u
time: none
axes:
  y: {range: [0, 1], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 17, boundary: nodes}
inputs:
  f: {distribution: random-series, series: cosine, parameters: {modes: 3, decay: 2}}
terms:
  u_xx: {axis: x, derivative: 2}
  u_yy: {axis: y, derivative: 2}
residual: {rows: {y: [1, 1], x: [1, 1]}, expression: "u_xx + u_yy + f*where((x - 0.53)^2 + (y - 0.53)^2 < 1e-4, 3e3, 0)"}
conditions:
  s: {at: {y: low}, expression: u}
  n: {at: {y: high}, expression: "u - where(abs(x - 0.41) < 0.002, 1, 0)"}
  w: {at: {x: low}, rows: {y: [1, 1]}, expression: "u - where(x > 0.001, 1, 0)"}
  e: {at: {x: high}, rows: {y: [1, 1]}, expression: u}
reference: {solver: discrete, refine: {x: 1, y: 1}}
`))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := dataset.Draws(p, g, 3)
	if err != nil {
		t.Fatal(err)
	}
	own, reference := discrete.Unresolved(p, g, samples)
	if len(own) != 2 || len(reference) != 2 {
		t.Fatalf("found %v, %v", own, reference)
	}
	for i, want := range []struct {
		rows string
		near float64
	}{{"residual", 0.53}, {"n", 0.41}} {
		if x := own[i]; x.Rows != want.rows || x.Near < want.near-0.011 || x.Near > want.near+0.011 {
			t.Errorf("found %v, want one of %s near %g", x, want.rows, want.near)
		}
	}
}
