package pde

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pihc/grid"
)

// linearFile is of two unknowns on two periodic axes.
const linearFile = `
name: a
unknown: [u, v]
axes:
  t: {range: [0, 0.5], points: POINTS, boundary: nodes}
  x: {range: [0, 2], points: 12, boundary: periodic}
  y: {range: [0, 1], points: 8, boundary: periodic}
terms:
  u_t: {of: u, axis: t, derivative: 1, order: 4}
  u_tt: {of: u, axis: t, derivative: 2, order: 4}
  v_t: {of: v, axis: t, derivative: 1, order: 4}
  u_xx: {of: u, axis: x, derivative: 2, order: 4}
  u_yy: {of: u, spectral: derivative, axis: y, derivative: 2}
  u_xt: {of: u, factors: [{axis: x, derivative: 1}, {axis: t, derivative: 1, order: 4}]}
  v_x: {of: v, axis: x, derivative: 1}
  v_yyy: {of: v, spectral: derivative, axis: y, derivative: 3}
inputs: {a: {distribution: uniform, low: 1, high: 2}, c: {distribution: random-series, series: periodic, axes: [x, y]}}
residual:
  first: {expression: "RESIDUAL"}
  second: {expression: 3*v_t - 0.002*v_yyy + 0.3*u_t - u}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
ansatz: {u: {offset: u0 + t*c, duhamel: true}, v: {offset: "v0*exp(t)", duhamel: true}}
`

func linearProblem(residual string, points int) (*Problem, error) {
	return Load("a.yaml", []byte(strings.NewReplacer("POINTS", fmt.Sprint(points), "RESIDUAL", residual).Replace(linearFile)))
}

// The residual of the offset alone is the error of differences in time, and that of S b is b.
func TestDuhamel(t *testing.T) {
	const residual = "2*u_tt - 0.3*u_xx - 0.1*u_yy + 0.2*u_t + 0.1*u_xt + v_x - 4*v"
	var errors [2][2]float64
	for k, points := range []int{21, 41} {
		p, err := linearProblem(residual, points)
		if err != nil {
			t.Fatal(err)
		}
		s := discretize(t, p, nil)
		g := s.Grid
		sample := make([]float64, s.InputSize())
		for i := range sample {
			sample[i] = math.Sin(float64(i%12) + 0.2*float64(i/12))
		}
		offset := make([]float64, s.FieldSize())
		s.Offset(offset, sample)
		propagator, err := s.Propagator()
		if err != nil {
			t.Fatal(err)
		}
		b, field := make([]float64, s.FieldSize()), make([]float64, s.FieldSize())
		for i := range b {
			q := i % s.Grid.Size() % s.SliceSize()
			b[i] = math.Cos(3*g.Axes[0].Coordinate(i%g.Size()/s.SliceSize())+float64(q)*0.1) + float64(i/g.Size())
		}
		n := s.SliceSize()
		propagator.NewPropagation(1, nil).Apply(false, func(c, time int, values []float64) { copy(values, b[c*g.Size()+time*n:]) },
			func(c, time int, values []float64) { copy(field[c*g.Size()+time*n:], values) })
		for i := range n {
			for c := range 2 {
				if field[c*g.Size()+i] != 0 {
					t.Fatal("S b begins with a value")
				}
			}
			if u0 := sample[i]; math.Abs(offset[i]-u0) > 1e-14 {
				t.Fatalf("the offset begins with %g, want %g", offset[i], u0)
			}
		}
		for c, set := range s.Sets[:2] {
			rows := s.NewRowValues(set, set.Points)
			for _, v := range rows.Eval(0, offset, sample)[0] {
				errors[k][0] = max(errors[k][0], math.Abs(v))
			}
			for i, v := range rows.Eval(0, field, sample)[0] {
				want := b[c*g.Size()+int(set.Points[i])] * []float64{2 / 0.25, 3 / 0.5}[c]
				errors[k][1] = max(errors[k][1], math.Abs(v-want))
			}
		}
	}
	t.Log(errors)
	for i, what := range []string{"the offset", "S b"} {
		if order := math.Log2(errors[0][i] / errors[1][i]); !(order > 3) || !(errors[1][i] < 2e-3) {
			t.Errorf("the residual of %s is off by %.2g and %.2g, of order %.2f", what, errors[0][i], errors[1][i], order)
		}
	}
}

// What has no linear part that can be solved mode by mode is refused with the reason.
func TestDuhamelRefused(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"y: {range: [0, 1], points: 8, boundary: periodic}", "y: {range: [0, 1], points: 8, boundary: nodes}", "nothing says how u goes on beyond the low end of y"},
		{"0.3*u_t - u", "0.3*u_t - u + v*v_t", "residual second: want one derivative of highest order along t"},
		{"0.3*u_t - u", "0.3*u_tt - u", "residual second: want one derivative of highest order along t, of another unknown in each"},
		{"u_t: {of: u, axis: t, derivative: 1, order: 4}", "u_t: {of: u, axis: t, derivative: 3}", "want a first or second derivative of u along t"},
		{"at: {t: low}", "at: {t: high}", "start is a condition at the high end of t"},
		{`"v0*exp(t)", duhamel: true`, `"v0*exp(t)"`, "want it for all unknowns or none"},
		{"offset: u0 + t*c, duhamel", "offset: u0 + t*c, multiplier: t, duhamel", "want no multiplier beside it"},
		{"offset: u0 + t*c, duhamel", "offset: u0 + t*c, smooth: {t: 1}, duhamel", "want no smooth beside it"},
	} {
		src := strings.NewReplacer("POINTS", "21", "RESIDUAL", "u_tt + u").Replace(linearFile)
		if strings.HasPrefix(test.old, "y:") {
			src = strings.NewReplacer("spectral: derivative, axis: y, derivative: 2", "axis: y, derivative: 2", "spectral: derivative, axis: y, derivative: 3", "axis: y, derivative: 3").Replace(src)
		}
		changed := strings.Replace(src, test.old, test.new, 1)
		if _, err := Load("a.yaml", []byte(src)); err != nil && !strings.HasPrefix(test.old, "y:") || changed == src {
			t.Fatal(test.old, err)
		}
		if _, err := Load("a.yaml", []byte(changed)); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "ansatz: duhamel:") {
			t.Errorf("%s: %v; want %q", test.new, err, test.want)
		}
	}
}

// wallsFile is of a string and its velocity of first order, between walls.
const wallsFile = `
name: a
unknown: [u, v]
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 9, boundary: nodes}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  v_t: {of: v, axis: t, derivative: 1}
  u_x: {of: u, axis: x, derivative: 1}
  v_x: {of: v, axis: x, derivative: 1}
  v_xx: {of: v, axis: x, derivative: 2}
residual: {first: {expression: "FIRST"}, second: {expression: v_t - u_x}}
conditions:
  start_u: {at: {t: low}, expression: u - u0}
  start_v: {at: {t: low}, expression: v - v0}
  WALLS
`

// What conditions at walls, and where there are none the equations, say of how fields go on there.
func TestParities(t *testing.T) {
	const held, free = grid.Odd, grid.Even
	for _, test := range []struct {
		first, walls string
		want         [2][2]grid.Parity // of u, v
		terms        int               // of the linear part
		err          string
	}{
		{"u_t - v_x", "a: {at: {x: low}, expression: u}, b: {at: {x: high}, expression: 3*u}", [2][2]grid.Parity{{held, held}, {free, free}}, 2, ""},
		{"u_t - v_x", "a: {at: {x: low}, expression: u}, b: {at: {x: high}, expression: v}", [2][2]grid.Parity{{held, free}, {free, held}}, 2, ""},
		{"u_t - v_x + 0.1*u_x + u", "a: {at: {x: low}, expression: u_x}, b: {at: {x: high}, expression: u}, c: {at: {x: low}, expression: v}", [2][2]grid.Parity{{free, held}, {held, free}}, 3, ""},
		{"u_t + u", "a: {at: {x: low}, expression: v}, b: {at: {x: high}, expression: v}, c: {at: {x: high}, expression: v_xx}", [2][2]grid.Parity{{free, free}, {held, held}}, 2, ""},
		{"u_t + u", "a: {at: {x: low}, expression: v_xx}, b: {at: {x: high}, expression: v}", [2][2]grid.Parity{}, 0, "nothing says how v goes on beyond the low end of x"},
		{"u_t - v_x", "a: {at: {x: low}, expression: u_x}, b: {at: {x: high}, expression: u}", [2][2]grid.Parity{}, 0, "nothing says how v goes on beyond the low end of x"},
		{"u_t - v_x", "a: {at: {x: low}, expression: u}", [2][2]grid.Parity{}, 0, "nothing says how u goes on beyond the high end of x"},
		{"u_t - v_x", "a: {at: {x: low}, expression: u}, b: {at: {x: high}, expression: u - 1}", [2][2]grid.Parity{}, 0, "b does not make a value or a derivative along x of one unknown zero"},
		{"u_t - v_x", "a: {at: {x: low}, expression: u - v}, b: {at: {x: high}, expression: u}", [2][2]grid.Parity{}, 0, "a does not make a value or a derivative along x of one unknown zero"},
		{"u_t - v_x", "a: {at: {x: low}, expression: u}, b: {at: {x: low}, expression: u_x}, c: {at: {x: high}, expression: u}", [2][2]grid.Parity{}, 0, "make an even and an odd derivative of u zero"},
	} {
		p, err := Load("a.yaml", []byte(strings.NewReplacer("FIRST", test.first, "WALLS", strings.NewReplacer("}, b:", "}\n  b:", "}, c:", "}\n  c:").Replace(test.walls)).Replace(wallsFile)))
		if err != nil {
			t.Fatal(test.walls, err)
		}
		l, err := p.linearPart()
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, want %q", test.walls, err, test.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.walls, err)
			continue
		}
		for c, want := range test.want {
			if got := l.parities[c][0]; got != want {
				t.Errorf("%s: unknown %d has %v, want %v", test.walls, c, got, want)
			}
		}
		if len(l.terms) != test.terms {
			t.Errorf("%s with %s: %d terms, want %d", test.first, test.walls, len(l.terms), test.terms)
		}
	}
}

// Ghost values at walls are those of mirrored fields, or there is no linear part.
func TestDuhamelWithGhosts(t *testing.T) {
	const src = `
name: heat
unknown: u
axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 17, boundary: nodes}}
terms:
  u_t: {axis: t, derivative: 1}
  u_xx: {axis: x, derivative: 2, closure: ghost, low: LOW, high: HIGH}
residual: {expression: u_t - 0.1*u_xx, rows: {x: [1, 1]}}
conditions: {start: {at: {t: low}, expression: u - u0}, a: {at: {x: low}, expression: u}, b: {at: {x: high}, expression: u}}
initial: {distribution: random-sines, low: -1, high: 1}
`
	for _, test := range []struct {
		low, high string
		ok        bool
	}{
		{"-inner2", "2*inner1 - inner2", true},
		{"-inner2", "inner2", false},
		{"inner2", "-inner2", false},
		{"1 - inner2", "-inner2", false},
		{"-inner2/2", "-inner2", false},
		{"-inner2 + 0.1*inner3", "-inner2", false},
	} {
		p, err := Load("a.yaml", []byte(strings.NewReplacer("LOW", test.low, "HIGH", test.high).Replace(src)))
		if err != nil {
			t.Fatal(err)
		}
		all, _, ok := p.DuhamelAnsatz()
		if ok != test.ok {
			t.Fatalf("%s, %s: an ansatz: %v, want %v", test.low, test.high, ok, test.ok)
		}
		if !ok {
			continue
		}
		p.Unknowns[0].Ansatz = all[0]
		sys := discretize(t, p, nil)
		start, field := make([]float64, sys.InputSize()), make([]float64, sys.FieldSize())
		for i := range start {
			start[i] = math.Sin(math.Pi * float64(i) / 16)
		}
		sys.Offset(field, start)
		if got, want := field[8*17+8], math.Exp(-0.1*2*256*(1-math.Cos(math.Pi/16))); math.Abs(got-want) > 1e-9 {
			t.Errorf("%g in the middle at the end, want %g", got, want)
		}
	}
}

// Waves whose nonlinear terms have no derivatives, or those that are two orders below the linear part's, without diffusion.
func TestSemilinearWaves(t *testing.T) {
	const src = `
name: waves
unknown: u
axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 16, boundary: periodic}}
terms:
  u_t: {axis: t, derivative: 1}
  u_tt: {axis: t, derivative: 2}
  u_x: {axis: x, derivative: 1}
  u_xx: {axis: x, derivative: 2}
  u_xxx: {axis: x, derivative: 3}
  u_xxxx: {axis: x, derivative: 4}
residual: {expression: RESIDUAL}
conditions: {start: {at: {t: low}, expression: u - u0}}
initial: {distribution: random-sines, low: -1, high: 1}
`
	for residual, want := range map[string]bool{
		"u_t + u_x + u^3":                           true,
		"u_t + u_xxx + 6*u*u_x":                     true,
		"u_t + u_xxx + u*u_xx":                      false,
		"u_t + u_x + u*u_x":                         false,
		"u_t + u_xxx + u*u_x - u_xx":                true, // diffusion, and dispersion
		"u_t + u_x - u_xx + u^3":                    false,
		"u_tt - u_xx + sin(u)":                      true,
		"u_tt - u_xx + u*u_x":                       false,
		"u_tt - u_xx + u_xxxx + 2*(u*u_xx + u_x^2)": true,
		"u_tt - u_xx + u*u_t":                       false,
		"u_t + u^2":                                 false,
	} {
		p, err := Load("a.yaml", []byte(strings.Replace(src, "RESIDUAL", residual, 1)))
		if err != nil {
			t.Fatal(residual, err)
		}
		if got := p.SemilinearWaves(); got != want {
			t.Errorf("%s: %v, want %v", residual, got, want)
		}
	}
}

// Diffusion is no hindrance where other parts of the system oscillate.
func TestSemilinearWavesOfSystems(t *testing.T) {
	const src = `
name: waves
unknown: [a, b]
axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 16, boundary: periodic}}
terms:
  a_t: {of: a, axis: t, derivative: 1}
  a_tt: {of: a, axis: t, derivative: 2}
  a_x: {of: a, axis: x, derivative: 1}
  a_xx: {of: a, axis: x, derivative: 2}
  b_t: {of: b, axis: t, derivative: 1}
  b_x: {of: b, axis: x, derivative: 1}
  b_xx: {of: b, axis: x, derivative: 2}
residual: {one: {expression: FIRST}, other: {expression: SECOND}}
conditions: {p: {at: {t: low}, expression: a - a0}, q: {at: {t: low}, expression: b - b0}}
initial: {a: {distribution: random-sines, low: -1, high: 1}, b: {distribution: random-sines, low: -1, high: 1}}
`
	for _, c := range []struct {
		first, second string
		want          bool
	}{
		{"a_t + b_x", "b_t + a_x - 0.01*b_xx + b^3", true},
		{"a_t + b_x", "b_t - a_x - 0.01*b_xx", false}, // modes grow
		{"a_t - b", "b_t - a_xx - 0.01*b_xx", true},
		{"a_t + b_xx - a_xx", "b_t - a_xx - b_xx + a*b", true},
		{"a_t - 0.1*b_xx - a_xx", "b_t - 0.1*a_xx - b_xx", false}, // each diffuses the other
		{"a_t - a_xx - a + b + a^3", "b_t - 0.1*b_xx + a - b", false},
		{"a_tt - a_xx + b_x", "b_t - b_xx + a*b", true},
		{"a_t - a_xx", "b_t - b_xx + a*b", false},
	} {
		p, err := Load("a.yaml", []byte(strings.NewReplacer("FIRST", c.first, "SECOND", c.second).Replace(src)))
		if err != nil {
			t.Fatal(c.first, err)
		}
		if got := p.SemilinearWaves(); got != c.want {
			t.Errorf("%s, %s: %v, want %v", c.first, c.second, got, c.want)
		}
	}
}

// A velocity without conditions goes on beyond walls as the unknown that it is of; where terms of an equation disagree nothing is said.
func TestParitiesWithoutConditions(t *testing.T) {
	const src = `
name: rod
unknown: [u, v, s]
axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 16, boundary: nodes}}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  v_t: {of: v, axis: t, derivative: 1}
  s_t: {of: s, axis: t, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2}
  v_x: {of: v, axis: x, derivative: 1}
  s_x: {of: s, axis: x, derivative: 1}
  s_xx: {of: s, axis: x, derivative: 2}
residual: {rate: {expression: RATE}, motion: {expression: v_t - u_xx + s_x}, heat: {expression: s_t - s_xx + v_x}}
conditions:
  a: {at: {t: low}, expression: u - u0}
  b: {at: {t: low}, expression: v}
  c: {at: {t: low}, expression: s}
  d: {at: {x: low}, expression: u}
  e: {at: {x: high}, expression: u}
  f: {at: {x: low}, expression: s}
  g: {at: {x: high}, expression: s}
initial: {u: {distribution: random-sines, low: 0, high: 1}}
`
	for rate, want := range map[string]string{"u_t - 2*v": "", "u_t - v + 0.1*u": "terms of the equation of v disagree how it goes on beyond the low end of x"} {
		p, err := Load("a.yaml", []byte(strings.Replace(src, "RATE", rate, 1)))
		if err != nil {
			t.Fatal(err)
		}
		l, err := p.linearPart()
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q", rate, err, want)
			}
			continue
		}
		if err != nil || l.parities[1][0] != [2]grid.Parity{grid.Odd, grid.Odd} {
			t.Errorf("%s: %v, %+v", rate, err, l)
		}
	}
}

// Between walls the offset solves the equation and meets the conditions: of a string, held at one end and free at the other, its residual is
// the error of differences in time.
func TestDuhamelBetweenWalls(t *testing.T) {
	const src = `
name: string
unknown: u
axes: {t: {range: [0, 1], points: POINTS, boundary: nodes}, x: {range: [0, 1], points: 17, boundary: nodes}}
terms:
  u_t: {axis: t, derivative: 1, order: 4}
  u_tt: {axis: t, derivative: 2, order: 4}
  u_xx: {axis: x, derivative: 2}
  slope: {axis: x, edge: high, at: inner, derivative: 1, points: 5}
residual: {expression: (1 + 0*x)*u_tt + 0.3*u_t - u_xx + 2*u}
conditions: {start: {at: {t: low}, expression: u - u0}, held: {at: {x: low}, expression: u}, free: {at: {x: high}, expression: slope}}
ansatz: {offset: u0, duhamel: true}
`
	var errors []float64
	for _, points := range []string{"33", "65"} {
		p, err := Load("a.yaml", []byte(strings.ReplaceAll(src, "POINTS", points)))
		if err != nil {
			t.Fatal(err)
		}
		s := discretize(t, p, nil)
		sample, offset, worst := make([]float64, s.InputSize()), make([]float64, s.FieldSize()), map[string]float64{}
		for i := range sample {
			sample[i] = math.Sin(math.Pi * s.Grid.Axes[1].Coordinate(i) / 2)
		}
		s.Offset(offset, sample)
		for _, set := range s.Sets {
			for i, v := range s.NewRowValues(set, set.Points).Eval(0, offset, sample)[0] {
				if x := set.Points[i] % 17; set.Kind != ResidualRows || x > 0 && x < 16 { // at the free end its difference is to one side
					worst[set.Name] = max(worst[set.Name], math.Abs(v))
				}
			}
		}
		if worst["held"] != 0 || worst["start"] > 1e-14 || worst["free"] > 1e-5 {
			t.Errorf("conditions are missed by %v", worst)
		}
		errors = append(errors, worst[residualName])
	}
	if order := math.Log2(errors[0] / errors[1]); !(order > 2.8) || !(errors[1] < 1e-4) {
		t.Errorf("the residual is %.2g, order %.2f", errors, order)
	}
}
