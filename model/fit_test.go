package model

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pihc/pde"
)

const fitPDE = `
name: a
unknown: u
axes:
  t: {range: [0, 4], points: 9, boundary: nodes}
  x: {range: [0, 2], points: %d, boundary: periodic}
terms:
  u_tt: {axis: t, derivative: 2, closure: one-sided}
  u_xx: {axis: x, derivative: 2}
  speed: {axis: t, edge: low, at: inner, derivative: 1, points: 3}
residual: {expression: 2*u_tt - u_xx, weight: 5, rows: {t: [1, 0]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0, weight: 10}
  velocity: {kind: initial, at: {t: low}, expression: speed}
ansatz: {offset: u0, multiplier: t}
initial: {distribution: uniform-constant, low: 3, high: 3}
`

func fitted(t *testing.T, spec, points string, overrides ...string) (*Spec, *pde.Problem) {
	t.Helper()
	return fittedTo(t, strings.Replace(fitPDE, "%d", points, 1), spec, overrides...)
}

func fittedTo(t *testing.T, problem, spec string, overrides ...string) (*Spec, *pde.Problem) {
	t.Helper()
	p, err := pde.Load("a.yaml", []byte(problem))
	if err != nil {
		t.Fatal(err)
	}
	s, err := LoadSpec("s.yaml", []byte(spec), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Fit(p); err != nil {
		t.Fatal(err)
	}
	return s, p
}

// What a spec leaves out follows from the problem; what it says stays.
func TestFit(t *testing.T) {
	s, p := fitted(t, "problem: a\n", "32")
	if s.Defaults != fittedDefaults || s.Network.InitialScale != 3 || s.Network.Passes != passes || !slices.Equal(s.Network.OmitCoordinates, []string{"x"}) {
		t.Errorf("network %+v", s.Network)
	}
	// 2·5·u_tt over four units of time changes u by 4²/2 times as much.
	unit := 16 / 2 / 10.0
	if want := map[string]float64{"u": 3, "residual": Rounded(1 / unit), "mean_residual": 1}; !maps.Equal(s.Network.Features, want) {
		t.Errorf("features %v, want %v", s.Network.Features, want)
	}
	if want := map[string]float64{"residual": Rounded(0.14 * unit), "initial": 0.1, "velocity": 4}; !maps.Equal(s.Constraint.Weights, want) {
		t.Errorf("weights %v, want %v", s.Constraint.Weights, want)
	}
	if want := map[string]float64{"residual": Rounded(2 * unit * unit), "initial": 0.1, "velocity": 160}; !maps.Equal(s.Loss.Weights, want) {
		t.Errorf("loss weights %v, want %v", s.Loss.Weights, want)
	}
	if !maps.Equal(s.Constraint.Experts, map[string]int{"x": 4}) || s.Constraint.Points != 0 || s.Constraint.Ridge != 1.2e-4 || s.Constraint.SoftWeight != 0.25 {
		t.Errorf("constraint %+v", s.Constraint)
	}
	if s, _ := fitted(t, "problem: a\nnetwork: {passes: 1, features: {}}\n", "32"); s.Constraint.Ridge != 4e-4 {
		t.Errorf("ridge %g of a basis without the unit of u, want 1e-4 times the largest multiplier", s.Constraint.Ridge)
	}
	if e := s.Evaluation; e.Passes != AutoPasses || e.Directions == nil || *e.Directions != directions || e.Limit != 0 || e.Points != nil {
		t.Errorf("evaluation %+v", e)
	}
	if r := s.Loss.BorderRows; r.Start != 0.08 || r.End != 0.2 {
		t.Errorf("border rows %+v at 32 points, want four times the step of 128 to the powers 1.5 and 0.5", r)
	}
	if s, _ := fitted(t, "problem: a\n", "128"); s.Loss.BorderRows.Start != 0.01 || s.Loss.BorderRows.End != 0.1 {
		t.Errorf("border rows %+v at 128 points", s.Loss.BorderRows)
	}
	if s, _ := fitted(t, "problem: a\n", "512"); s.Loss.BorderRows.Start != 0.0013 || s.Loss.BorderRows.End != 0.013 {
		t.Errorf("border rows %+v at 512 points, want a quarter of the step of 128 to the power 1.5", s.Loss.BorderRows)
	}
	if _, err := s.NewNetwork(p); err != nil {
		t.Error(err)
	}
	// Written out and read back it is complete.
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := LoadSpec("again.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.fitted(); err != nil {
		t.Error(err)
	}
	own, _ := fitted(t, "problem: a\nnetwork: {passes: 2, features: {}}\nconstraint: {weights: {residual: 7}}\nevaluation: {passes: 6}\n", "32", "constraint.experts={x: 2}")
	if own.Network.Passes != 2 || own.Evaluation.Passes != 6 || len(own.Network.Features) > 0 || own.Constraint.Weights["residual"] != 7 || own.Constraint.Experts["x"] != 2 {
		t.Errorf("what the file says is lost: %+v %+v", own.Network, own.Constraint)
	}
}

// Experts have no borders across which a high derivative reaches.
func TestFitExperts(t *testing.T) {
	for _, c := range []struct {
		term, times string
		want        map[string]int
	}{
		{"{axis: x, derivative: 2}", "33", map[string]int{"x": 4}},
		{"{spectral: derivative, axis: x, derivative: 2}", "33", map[string]int{"x": 4}},
		{"{axis: x, derivative: 3}", "33", map[string]int{"t": 2}},
		{"{spectral: derivative, axis: x, derivative: 4}", "33", map[string]int{"t": 2}},
		{"{factors: [{axis: x, derivative: 2}, {axis: t, derivative: 1}]}", "33", map[string]int{"x": 4}},
		{"{axis: x, derivative: 3}", "9", map[string]int{}},
	} {
		src := strings.NewReplacer("%d", "32", "points: 9", "points: "+c.times, "{axis: x, derivative: 2}", c.term).Replace(fitPDE)
		s, _ := fittedTo(t, src, "problem: a\n")
		if !maps.Equal(s.Constraint.Experts, c.want) {
			t.Errorf("%s, %s times: experts %v, want %v", c.term, c.times, s.Constraint.Experts, c.want)
		}
	}
	for _, undamped := range []string{"duhamel: true", "smooth: {t: 4}"} { // jumps in space
		src := strings.NewReplacer("%d", "32", "points: 9", "points: 33", "multiplier: t", undamped).Replace(fitPDE)
		if s, _ := fittedTo(t, src, "problem: a\n"); !maps.Equal(s.Constraint.Experts, map[string]int{"t": 2}) {
			t.Errorf("%s: experts %v, want two along t", undamped, s.Constraint.Experts)
		}
	}
}

// Where the network runs once, evaluation repeats nothing; a run folder keeps what it had
// before there were further keys.
func TestFitEvaluation(t *testing.T) {
	once, _ := fitted(t, "problem: a\nnetwork: {passes: 1, features: {}}\n", "32")
	if !reflect.DeepEqual(once.Evaluation, EvaluationSpec{Blend: new(blend)}) {
		t.Errorf("evaluation %+v of one pass", once.Evaluation)
	}
	s, p := fitted(t, "problem: a\n", "32")
	s.Evaluation = EvaluationSpec{}
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	stored, err := ReadStoredSpec(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := stored.Fit(p); err != nil || !reflect.DeepEqual(stored.Evaluation, EvaluationSpec{}) {
		t.Errorf("evaluation %+v of a stored spec, %v", stored.Evaluation, err)
	}
	if _, err := stored.Options(p); err != nil {
		t.Error(err)
	}
}

// A spec that is not fitted cannot be used by mistake; one with the paper's defaults needs no fit.
func TestUnfitted(t *testing.T) {
	p, err := pde.Load("a.yaml", []byte(strings.Replace(fitPDE, "%d", "32", 1)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := LoadSpec("s.yaml", []byte("problem: a\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.NewNetwork(p); err == nil || !strings.Contains(err.Error(), "call Spec.Fit first") {
		t.Errorf("network: %v", err)
	}
	if _, err := s.Options(p); err == nil {
		t.Error("options of an unfitted spec")
	}
	old, err := LoadSpec("s.yaml", []byte("defaults: paper\nproblem: a\n"))
	if err != nil {
		t.Fatal(err)
	}
	before, _ := old.Encode()
	if err := old.Fit(p); err != nil {
		t.Fatal(err)
	}
	if after, _ := old.Encode(); string(after) != string(before) {
		t.Error("fitting changes a spec with the paper's defaults")
	}
}

// An unknown that begins with zero has the size that the spec says, or 1, and then Unsized names it. Rows are weighed as where
// that size is drawn.
func TestFitUnsized(t *testing.T) {
	const text = `name: pair
unknown: [u, v]
axes:
  t: {range: [0, 4], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 32, boundary: periodic}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  v_t: {of: v, axis: t, derivative: 1}
residual:
  first: {expression: u_t - v}
  second: {expression: 5*v_t + u}
conditions:
  start_u: {kind: initial, at: {t: low}, expression: u - u0}
  start_v: {kind: initial, at: {t: low}, expression: v - V}
initial:
  u: {distribution: uniform-constant, low: -3, high: 3}
`
	load := func(text, spec string) (*Spec, *pde.Problem) {
		p, err := pde.Load("pair.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s, err := LoadSpec("spec.yaml", []byte("problem: pair\n"+spec))
		if err != nil {
			t.Fatal(err)
		}
		return s, p
	}
	rest := strings.Replace(text, " - V", "", 1)
	drawn, p := load(strings.Replace(text, " - V", " - v0", 1)+"  v: {distribution: uniform-constant, low: -0.1, high: 0.1}\n", "")
	if unsized, err := drawn.Unsized(p); err != nil || len(unsized) > 0 {
		t.Errorf("drawn: %v are without a size, %v", unsized, err)
	}
	if err := drawn.Fit(p); err != nil {
		t.Fatal(err)
	}
	silent, p := load(rest, "")
	if unsized, err := silent.Unsized(p); err != nil || !slices.Equal(unsized, []int{1}) {
		t.Errorf("%v are without a size, %v", unsized, err)
	}
	said, p := load(rest, fmt.Sprintf("network: {scales: {v: %g}}\n", drawn.Network.Scales["v"]))
	if unsized, err := said.Unsized(p); err != nil || len(unsized) > 0 {
		t.Errorf("said: %v are without a size, %v", unsized, err)
	}
	if err := said.Fit(p); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(said.Network.Scales, drawn.Network.Scales) || !maps.Equal(said.Constraint.Weights, drawn.Constraint.Weights) || !maps.Equal(said.Loss.Weights, drawn.Loss.Weights) {
		t.Errorf("scales %v, weights %v and %v; where they are drawn %v, %v and %v",
			said.Network.Scales, said.Constraint.Weights, said.Loss.Weights, drawn.Network.Scales, drawn.Constraint.Weights, drawn.Loss.Weights)
	}
	one, p := load("name: one\nunknown: u\naxes:\n  t: {range: [0, 4], points: 17, boundary: nodes}\n  x: {range: [0, 1], points: 32, boundary: periodic}\n"+
		"terms: {u_t: {axis: t, derivative: 1}}\nresidual: {expression: u_t - f}\nconditions:\n  start: {kind: initial, at: {t: low}, expression: u}\n"+
		"inputs:\n  f: {distribution: uniform, low: 1, high: 2}\n", "network: {initial_scale: 5}\n")
	if unsized, err := one.Unsized(p); err != nil || len(unsized) > 0 {
		t.Errorf("one that is said: %v, %v", unsized, err)
	}
	if err := one.Fit(p); err != nil || one.Network.InitialScale != 5 {
		t.Errorf("scale %g, %v", one.Network.InitialScale, err)
	}
}

// Of several unknowns each has its own scale, and what rows say counts in the unit of the
// first.
func TestFitUnknowns(t *testing.T) {
	p, err := pde.Load("pair.yaml", []byte(`name: pair
unknown: [u, v]
axes:
  t: {range: [0, 4], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 32, boundary: periodic}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  v_t: {of: v, axis: t, derivative: 1}
residual:
  first: {expression: u_t - v, rows: {t: [1, 0]}}
  second: {expression: 5*v_t + u, rows: {t: [1, 0]}}
conditions:
  start_u: {kind: initial, at: {t: low}, expression: u - u0}
  start_v: {kind: initial, at: {t: low}, expression: 2*(v - v0)}
ansatz: {u: {offset: u0, multiplier: t}, v: {offset: v0, multiplier: t}}
initial:
  u: {distribution: uniform-constant, low: 3, high: 3}
  v: {distribution: uniform-constant, low: 0.1, high: 0.1}
`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := LoadSpec("spec.yaml", []byte("problem: pair\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Fit(p); err != nil {
		t.Fatal(err)
	}
	// u_t over four units of time changes u by 4; 5 v_t changes v by 4/5, and v counts 30 times.
	units := map[string]float64{"first": 4, "second": 4.0 / 5 * 30, "start_u": 1, "start_v": 0.5 * 30}
	weights, losses := map[string]float64{}, map[string]float64{}
	for name, unit := range units {
		weights[name], losses[name] = Rounded(unit), Rounded(10*unit*unit)
	}
	for _, name := range []string{"first", "second"} {
		weights[name], losses[name] = Rounded(0.14*units[name]), Rounded(2*units[name]*units[name])
	}
	if !maps.Equal(s.Constraint.Weights, weights) || !maps.Equal(s.Loss.Weights, losses) {
		t.Errorf("weights %v and %v, want %v and %v", s.Constraint.Weights, s.Loss.Weights, weights, losses)
	}
	if want := map[string]float64{"u": 3, "v": 0.1}; s.Network.InitialScale != 3 || !maps.Equal(s.Network.Scales, want) {
		t.Errorf("scales %g, %v", s.Network.InitialScale, s.Network.Scales)
	}
	features := map[string]float64{"u": 3, "v": 0.1, "first": 0.25, "second": Rounded(1 / units["second"]), "mean_first": 1, "mean_second": 1}
	if !maps.Equal(s.Network.Features, features) {
		t.Errorf("features %v, want %v", s.Network.Features, features)
	}
	// A fitted spec says all of it.
	src, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := LoadSpec("again.yaml", src); err != nil || again.fitted() != nil || !maps.Equal(again.Network.Scales, s.Network.Scales) {
		t.Errorf("read again: %v", err)
	}
}

// Where fields are solutions of the linear part of rows several residuals count by what they make of fields there, whatever their own weights and factors.
func TestFitResponses(t *testing.T) {
	const pair = `name: pair
unknown: [u, w]
axes:
  t: {range: [0, 1], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 9, boundary: nodes}
terms:
  u_t: {of: u, axis: t, derivative: 1}
residual:
  decay: {expression: u_t + 100*u}
  same: {expression: 4*w - 2*u}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - 1}
ansatz: {u: {offset: 1, duhamel: rows}, w: {duhamel: rows}}
`
	ratio := func(problem string) float64 {
		s, _ := fittedTo(t, problem, "problem: a\n")
		return s.Constraint.Weights["decay"] / s.Constraint.Weights["same"]
	}
	// Far from the start u is 1/100 of what decays, and w half of that; w is a quarter of what it is to be.
	want := math.Hypot(0.01, 0.005) / 0.25
	if got := ratio(pair); math.Abs(got/want-1) > 0.05 {
		t.Errorf("weights have a ratio of %g, want %g", got, want)
	}
	if got := ratio(strings.Replace(pair, "4*w - 2*u", "(4*w - 2*u)/7, weight: 1 + t", 1)); math.Abs(got/(want/7*math.Sqrt(7.0/3))-1) > 0.05 {
		t.Errorf("with a factor and a weight of its own %g, want %g", got, want/7*math.Sqrt(7.0/3))
	}
}

// A part of a mixture that walls do not let stand counts, however rarely it is drawn.
func TestMisfitOfMixture(t *testing.T) {
	const file = `name: heat
unknown: u
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 17, boundary: nodes}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t - 0.05*u_xx, rows: {t: [1, 0], x: [1, 1]}}
conditions:
  start: {at: {t: low}, expression: u - u0}
  a: {at: {x: low}, expression: u}
  b: {at: {x: high}, expression: u}
initial: {distribution: mixture, of: [{distribution: random-series, series: sine, weight: 20}OTHER]}
`
	for other, compatible := range map[string]bool{", {distribution: random-series, series: sine, weight: 1e-6}": true, ", {distribution: uniform-constant, low: 0.2, high: 1, weight: 1e-6}": false} {
		p, err := pde.Load("heat.yaml", []byte(strings.Replace(file, "OTHER", other, 1)))
		if err != nil {
			t.Fatal(err)
		}
		misfit, _, err := Misfit(p)
		if err != nil || (misfit <= 0.01) != compatible {
			t.Errorf("with %q: misfit %v, %v", other, misfit, err)
		}
	}
}

// What walls ask of an unknown without a derivative in time and a beginning, as of a pressure, is no jump: but of one with either it is.
func TestMisfitOfPressure(t *testing.T) {
	const file = `name: flow
unknown: [c, h]
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 17, boundary: nodes}
terms: {c_t: {of: c, axis: t, derivative: 1}, c_x: {of: c, axis: x, derivative: 1}, h_x: {of: h, axis: x, derivative: 1}, h_xx: {of: h, axis: x, derivative: 2}, h_t: {of: h, axis: t, derivative: 1}}
residual: {tracer: {expression: c_t - h_x*c_x}, water: {expression: "h_xx - STORE*h_t"}}
conditions:
  start: {at: {t: low}, expression: c - exp(-50*(x - 0.5)^2)}
  in: {at: {x: low}, expression: h - 2}
  out: {at: {x: high}, expression: h}
BEGIN`
	for _, c := range []struct {
		store, begin string
		compatible   bool
	}{
		{"0", "", true},
		{"1", "", false},
		{"1", "  rest: {at: {t: low}, expression: h}\n", false},
		{"0", "  rest: {at: {t: low}, expression: h}\n", false},
	} {
		src := strings.NewReplacer("BEGIN", c.begin, "STORE*h_t", c.store+"*h_t").Replace(file)
		if c.store == "0" {
			src = strings.Replace(src, " - 0*h_t", "", 1)
		}
		p, err := pde.Load("flow.yaml", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		misfit, _, err := Misfit(p)
		if err != nil || (misfit <= 0.01) != c.compatible {
			t.Errorf("stored %s, %q: misfit %v, %v", c.store, c.begin, misfit, err)
		}
	}
}

// Where the origin of an unknown lies makes no difference: a temperature in kelvin has the size, the weights and the features of one in degrees, and a centre.
func TestFitCentered(t *testing.T) {
	const text = `name: reaction
unknown: [c, T]
axes:
  t: {range: [0, 4], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 32, boundary: periodic}
terms:
  c_t: {of: c, axis: t, derivative: 1}
  T_t: {of: T, axis: t, derivative: 1}
  T_xx: {of: T, axis: x, derivative: 2}
residual:
  species: {expression: c_t - 0.1*c - 0.02*(T - ORIGIN)}
  heat: {expression: T_t - 0.01*T_xx - c}
conditions:
  start_c: {kind: initial, at: {t: low}, expression: c - c0}
  start_T: {kind: initial, at: {t: low}, expression: T - T0}
ansatz: {c: {offset: c0, multiplier: t}, T: {offset: T0, multiplier: t}}
initial:
  c: {distribution: random-series, series: periodic, parameters: {modes: 3}, scale: 0.2}
  T: {distribution: random-series, series: periodic, parameters: {modes: 3}, scale: 5, offset: ORIGIN}
`
	at := func(origin string) *Spec {
		s, _ := fittedTo(t, strings.ReplaceAll(text, "ORIGIN", origin), "problem: a\n")
		return s
	}
	degrees, kelvin := at("0"), at("300")
	if want := map[string]float64{"T": 300}; len(degrees.Network.Centers) > 0 || !maps.Equal(kelvin.Network.Centers, want) {
		t.Errorf("centers %v and %v; want none and %v", degrees.Network.Centers, kelvin.Network.Centers, want)
	}
	kelvin.Network.Centers = degrees.Network.Centers
	if !reflect.DeepEqual(degrees, kelvin) {
		a, _ := degrees.Encode()
		b, _ := kelvin.Encode()
		t.Errorf("in degrees\n%s\nin kelvin\n%s", a, b)
	}
	for _, v := range []struct{ mean, square, scale, center float64 }{
		{0, 4, 2, 0}, {3, 10, 1, 3}, {1, 2, math.Sqrt2, 0}, {3, 9, 3, 0}, // one value says nothing of how it varies
	} {
		if scale, center := SizeOf(v.mean, v.square); math.Abs(scale-v.scale) > 1e-9 || center != v.center {
			t.Errorf("mean %g, mean square %g: %g about %g; want %g about %g", v.mean, v.square, scale, center, v.scale, v.center)
		}
	}
}
