package pde

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pihc/expr"
	"pihc/grid"
)

// discretize puts a problem on a grid, and fails the test where it cannot.
func discretize(t testing.TB, p *Problem, points map[string]int) *System {
	t.Helper()
	g, err := p.Grid(points)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rowValues returns the values r of a set of rows for a field.
func rowValues(s *System, set *RowSet, u, initial []float64) []float64 {
	rows := s.NewPointRows(set, set.Points)
	rows.Prepare()
	rows.SetInputs(initial)
	z := rows.NewValues()
	grid.Gather(s.NewGatherer(nil), u, 1, []grid.Rows[float64]{z})
	return s.NewRowEvaluator(len(set.Points)).Eval(rows, 0, z.Values, 0, len(set.Points))[0]
}

// field samples f on the grid of s.
func field(s *System, f func(x []float64) float64) []float64 {
	g := s.Grid
	u, index, x := make([]float64, g.Size()), make([]int, len(g.Axes)), make([]float64, len(g.Axes))
	for p := range u {
		g.Unravel(p, index)
		for a, axis := range g.Axes {
			x[a] = axis.Coordinate(index[a])
		}
		u[p] = f(x)
	}
	return u
}

// Rows stand where the file says: 7 x 8 points, p = 8 t + x.
func TestRowPoints(t *testing.T) {
	points := map[string]int{"t": 7, "x": 8}
	box := func(t0, t1, x0, x1 int) (all []int32) {
		for i := t0; i < t1; i++ {
			for j := x0; j < x1; j++ {
				all = append(all, int32(8*i+j))
			}
		}
		return all
	}
	// Points of the solves where they are not those of the loss.
	solved := map[string]map[string][]int32{"diffusion-sorption-published": {"left": box(1, 7, 0, 1), "right": box(1, 7, 7, 8)}}
	for problem, want := range map[string]map[string][]int32{
		"diffusion-sorption":           {"residual": box(1, 7, 1, 7), "initial": box(0, 1, 0, 8), "left": box(1, 7, 0, 1), "right": box(1, 7, 7, 8)},
		"diffusion-sorption-published": {"residual": box(0, 7, 0, 8), "initial": box(0, 1, 0, 8), "left": box(0, 7, 0, 1), "right": box(0, 7, 7, 8)},
	} {
		p, err := Open(problem)
		if err != nil {
			t.Fatal(err)
		}
		s := discretize(t, p, points)
		if len(s.Sets) != len(want) || s.Sets[0].Name != "residual" {
			t.Errorf("%s: %d sets of rows, the first %s", problem, len(s.Sets), s.Sets[0].Name)
		}
		for name, w := range want {
			if got := s.Set(name).Points; !slices.Equal(got, w) {
				t.Errorf("%s, %s: rows at %v, want %v", problem, name, got, w)
			}
			if other, ok := solved[problem][name]; ok {
				w = other
			}
			if got := s.Set(name).Solved; !slices.Equal(got, w) {
				t.Errorf("%s, %s: rows of solves at %v, want %v", problem, name, got, w)
			}
		}
	}
	if s := discretize(t, mustLoad(t, header+"residual: {expression: u}\n"), points); s.Set("none") != nil {
		t.Error("a set that does not exist is found")
	}
}

func TestDiscretizeRefuses(t *testing.T) {
	small := map[string]int{"t": 5, "x": 8}
	for _, test := range []struct {
		name, src string
		points    map[string]int
		want      string
	}{
		{"an edge term in the residual", "terms:\n  e: {axis: x, edge: low, points: 3}\nresidual: {expression: e}\n", small, "residual residual: term e has no value at every row"},
		{"an edge term at the other end", "terms:\n  e: {axis: x, edge: low, points: 3}\nresidual: {expression: u}\nconditions: {wall: {at: {x: high}, expression: e}}\n", small, "boundary wall: term e has no value"},
		{"an interior term at all points", "terms:\n  d: {axis: x, derivative: 2, closure: undefined}\nresidual: {expression: d}\n", small, "term d has no value at every row"},
		{"an interior term with too few left out", "terms:\n  d: {axis: x, derivative: 2, order: 4, closure: undefined}\nresidual: {expression: d, rows: {x: [1, 1]}}\n", small, "term d has no value"},
		{"no term", "residual: {expression: x - t}\n", small, "the expression x - t uses no term"},
		{"an expression that would take forever", "residual: {expression: u" + strings.Repeat("*u", 5000) + "}\n", small, "residual residual: the expression with its derivatives takes 29996 operations at a point; more than 10000 are not tried"},
		{"no rows left", "residual: {expression: u, rows: {x: [4, 4]}}\n", small, "axis x: 8 points leave no rows"},
		{"a grid smaller than a stencil", "terms:\n  d: {axis: x, derivative: 2, order: 4}\nresidual: {expression: d}\n", map[string]int{"x": 5}, "term d: axis x has 5 points; a fourth-order second derivative needs at least 6"},
		{"a grid smaller than an edge", "terms:\n  e: {axis: x, edge: low, points: 5}\nresidual: {expression: u}\n", map[string]int{"x": 4}, "term e: axis x has 4 points; a formula at its end wants 5"},
		{"an axis that is not there", "residual: {expression: u}\n", map[string]int{"y": 4}, `problem toy has no axis "y"; its axes are t, x`},
		{"no points", "residual: {expression: u}\n", map[string]int{"x": 0}, "axis x has 0 points"},
		{"negative points", "residual: {expression: u}\n", map[string]int{"t": -3}, "axis t has -3 points"},
		{"more points than can be counted", "residual: {expression: u}\n", map[string]int{"t": 1 << 20, "x": 1 << 20}, "more than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := mustLoad(t, header+test.src)
			g, err := p.Grid(test.points)
			if err == nil {
				_, err = p.Discretize(g)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want one line with %q", err, test.want)
			}
		})
	}
	// Left out, the same terms are welcome.
	p := mustLoad(t, header+"terms:\n  d: {axis: x, derivative: 2, order: 4, closure: undefined}\nresidual: {expression: d, rows: {x: [2, 2]}}\n")
	if n := len(discretize(t, p, small).Sets[0].Points); n != 5*4 {
		t.Errorf("%d interior rows, want 20", n)
	}
}

// Ghost values, products of factors and edge terms against their formulas.
func TestTerms(t *testing.T) {
	p := mustLoad(t, header+`constants: {D: 0.3}
terms:
  ghosted: {axis: x, derivative: 2, closure: ghost, low: 1, high: D*(inner2 - inner1)/step}
  mixed: {factors: [{axis: t, derivative: 1}, {axis: x, derivative: 1}]}
  outside: {axis: x, edge: high, at: ghost, points: 3}
  slope: {axis: x, edge: low, derivative: 1, at: wall, points: 2}
residual: {expression: ghosted + mixed}
`)
	s := discretize(t, p, map[string]int{"t": 4, "x": 6})
	rng := rand.New(rand.NewPCG(1, 2))
	u := make([]float64, 24)
	for i := range u {
		u[i] = rng.NormFloat64()
	}
	ht, hx := s.Grid.Axes[0].Step(), s.Grid.Axes[1].Step()
	at := func(i, j int) float64 { return u[6*i+j] }
	value := func(name string, point int32) float64 {
		k := slices.IndexFunc(s.Terms, func(o Operator) bool { return o.Name == name })
		z := make([]float64, len(u))
		s.Terms[k].Apply(z, u)
		s.Terms[k].AddOffset(z[point:point+1], []int32{point})
		return z[point]
	}
	for _, test := range []struct {
		name  string
		point int32
		want  float64
	}{
		{"u", 9, at(1, 3)},
		{"ghosted", 6, (1 - 2*at(1, 0) + at(1, 1)) / (hx * hx)},
		{"ghosted", 8, (at(1, 1) - 2*at(1, 2) + at(1, 3)) / (hx * hx)},
		{"ghosted", 11, (at(1, 4) - 2*at(1, 5) + 0.3*(at(1, 4)-at(1, 5))/hx) / (hx * hx)},
		{"mixed", 8, (at(2, 3) - at(2, 1) - at(0, 3) + at(0, 1)) / (4 * ht * hx)},
		{"outside", 23, 3*at(3, 5) - 3*at(3, 4) + at(3, 3)},
		{"slope", 12, (at(2, 1) - at(2, 0)) / hx},
	} {
		if got := value(test.name, test.point); math.Abs(got-test.want) > 1e-12*(1+math.Abs(test.want)) {
			t.Errorf("%s at point %d is %.15g, want %.15g", test.name, test.point, got, test.want)
		}
	}
}

// The first and second derivatives of every set of rows against central
// differences of its value and first program, and Pair's symmetry.
func TestPrograms(t *testing.T) {
	problems := map[string]*Problem{}
	for _, name := range append(Builtins(), "testdata/burgers.yaml", "testdata/burgers-wave.yaml") {
		p, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		problems[p.Name] = p
	}
	problems["written here"] = mustLoad(t, header+`constants: {c: 1.5}
expressions: {f: "where(u > 0.2, u^2, exp(u))", g: f*u_x}
terms:
  u_t: {axis: t, derivative: 1}
  u_x: {axis: x, derivative: 1}
residual: {expression: u_t + c*g + sin(x)*sqrt(1 + u_x^2) + u0*u_t*u, weight: 1 + t}
conditions: {a: {at: {x: low}, expression: "max(u, u0)*u_x + abs(u_x)"}}
`)
	rng := rand.New(rand.NewPCG(3, 4))
	for name, p := range problems {
		s := discretize(t, p, map[string]int{"t": 7, "x": 12})
		for _, set := range s.Sets {
			t.Run(name+" "+set.Name, func(t *testing.T) { testPrograms(t, rng, set) })
		}
	}
}

func testPrograms(t *testing.T, rng *rand.Rand, set *RowSet) {
	const m, h = 40, 1e-5
	n := len(set.Terms)
	block := func(k int) [][]float64 {
		b := make([][]float64, k)
		for i := range b {
			b[i] = make([]float64, m)
		}
		return b
	}
	in := block(n + len(set.Extras))
	for _, x := range in {
		for i := range x {
			x[i] = 0.3 + rng.Float64() // away from kinks, and where every function is defined
		}
	}
	value, first, second := block(1), block(1+n), block(set.Program(2).Outputs())
	set.Program(0).Evaluator()(m, value, in)
	evaluate := set.Program(1).Evaluator()
	evaluate(m, first, in)
	set.Program(2).Evaluator()(m, second, in)
	close := func(what string, got, want []float64, tolerance float64) {
		for i := range got {
			if !(math.Abs(got[i]-want[i]) <= tolerance*(1+math.Abs(want[i]))) {
				t.Errorf("%s: %.12g, want %.12g", what, got[i], want[i])
				return
			}
		}
	}
	close("value of First", first[0], value[0], 1e-14)
	for j := range 1 + n {
		close(fmt.Sprintf("output %d of Second", j), second[j], first[j], 1e-13)
	}
	plus, minus, quotient, zero := block(1+n), block(1+n), make([]float64, m), make([]float64, m)
	for k := range n {
		shift := func(by float64, out [][]float64) {
			moved := slices.Clone(in)
			moved[k] = make([]float64, m)
			for i, v := range in[k] {
				moved[k][i] = v + by
			}
			evaluate(m, out, moved)
		}
		shift(h, plus)
		shift(-h, minus)
		for j := range 1 + n {
			for i := range quotient {
				quotient[i] = (plus[j][i] - minus[j][i]) / (2 * h)
			}
			if j == 0 {
				close(fmt.Sprintf("first derivative %d", k), first[1+k], quotient, 1e-8)
				continue
			}
			at := set.Pair(j-1, k)
			if at != set.Pair(k, j-1) {
				t.Errorf("Pair(%d, %d) is %d, the other way round %d", j-1, k, at, set.Pair(k, j-1))
			}
			if at < 0 {
				close(fmt.Sprintf("second derivative %d %d, said to be zero", j-1, k), quotient, zero, 1e-8)
				continue
			}
			close(fmt.Sprintf("second derivative %d %d", j-1, k), second[at], quotient, 1e-7)
		}
	}
}

// Linear means affine in the terms, not "no second derivative".
func TestLinear(t *testing.T) {
	for expression, want := range map[string]bool{
		"u - 1": true, "u - u0": true, "exp(x)*u + t*u_x - u0^2": true, "(u + 1)*2 - u": true, "u/x": true,
		"u*u_x": false, "u^2": false, "1/u": false, "u*u - u*u": true,
		"abs(u)": false, "max(u, 0)": false, "min(u_x, u)": false, "where(u > 0, u, 2*u)": false,
		"where(x > 1, u, 2*u)": true, "max(x, 1)*u": true,
		"u_x - where(u > 0.5, 1, 0)": false, "u_x - sign(u)": false, "floor(5*u) + u_x": false, "u + (u_x >= 0)": false,
		"u + sign(x)*u_x": true, "u - where(u_x, 1, 2)": false,
	} {
		p := mustLoad(t, header+"terms:\n  u_x: {axis: x, derivative: 1}\nresidual: {expression: \""+expression+"\"}\n")
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Discretize(g)
		if err != nil {
			if expression != "u*u - u*u" { // simplifies to nothing
				t.Errorf("%s: %v", expression, err)
			}
			continue
		}
		if got := s.Sets[0].Linear; got != want {
			t.Errorf("%s: Linear is %t", expression, got)
		}
	}
	p, err := Open("diffusion-sorption")
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range discretize(t, p, map[string]int{"t": 7, "x": 8}).Sets {
		if got := set.Linear; got != (set.Kind != ResidualRows) {
			t.Errorf("%s: Linear is %t", set.Name, got)
		}
	}
}

// R(u <= u_floor) is R at u_floor with zero derivatives, on either branch
// finite: with u_floor 0, R at u = 0. The shipped floor of 1e-3 keeps the slope
// of R below 1e3 where it would reach 1e6; it does not move the discretisation
// floor (docs/evidence/choices.md).
func TestDiffusionSorptionBelowZero(t *testing.T) {
	for _, floor := range []float64{0, 1e-3} {
		t.Run(fmt.Sprint(floor), func(t *testing.T) { testBelowFloor(t, floor) })
	}
}

func testBelowFloor(t *testing.T, floor float64) {
	p, err := Open("diffusion-sorption")
	if err != nil {
		t.Fatal(err)
	}
	if p, err = Load("floor.yaml", bytes.Replace(p.Source, []byte("u_floor: 1e-3"), fmt.Appendf(nil, "u_floor: %g", floor), 1)); err != nil {
		t.Fatal(err)
	}
	set := discretize(t, p, map[string]int{"t": 7, "x": 8}).Sets[0]
	names := []string{"u", "u_t", "u_xx"}
	if len(set.Terms) != len(names) {
		t.Fatalf("%d terms", len(set.Terms))
	}
	us := []float64{-3, -1e-6, -1e-300, 0, math.Copysign(0, -1), floor}
	m := len(us)
	fill := func(v float64) []float64 { return slices.Repeat([]float64{v}, m) }
	in := [][]float64{us, fill(0.7), fill(2), fill(3)} // u, u_t, u_xx, t
	out := make([][]float64, set.Program(2).Outputs())
	for i := range out {
		out[i] = make([]float64, m)
	}
	set.Program(2).Evaluator()(m, out, in)
	weight, ok := p.Residuals[0].Weight.Substitute(map[string]*expr.Expr{"t": expr.Const(3)}).Constant()
	if !ok {
		t.Fatalf("the weight %s is not a function of time", p.Residuals[0].Weight)
	}
	r := 1 + (1-0.29)/0.29*2880*3.5e-4*0.874*math.Pow(floor+1e-6, 0.874-1)
	for i, u := range us {
		if want := weight * (0.7 - 5e-4/r*2); math.Abs(out[0][i]-want) > 1e-14*weight {
			t.Errorf("u = %g: F = %.16g, want %.16g", u, out[0][i], want)
		}
		if out[1][i] != 0 {
			t.Errorf("u = %g: dF/du = %g", u, out[1][i])
		}
		for j := range 3 {
			if at := set.Pair(0, j); at >= 0 && out[at][i] != 0 {
				t.Errorf("u = %g: second derivative by u and %s = %g", u, names[j], out[at][i])
			}
		}
	}
}

// Coordinates and the initial condition reach the rows: with three axes the
// initial condition has a value at every point of the last two.
func TestExtras(t *testing.T) {
	p := mustLoad(t, `name: plane
unknown: w
axes:
  t: {range: [0, 2], points: 3, boundary: nodes}
  x: {range: [0, 1], points: 4, boundary: periodic}
  y: {range: [-1, 1], points: 5, boundary: cells}
residual: {expression: w - (w0 + 10*t + 100*x + 1000*y)}
ansatz: {offset: w0 + y, multiplier: t*x}
`)
	s := discretize(t, p, nil)
	if s.InputSize() != 20 {
		t.Fatalf("initial conditions of %d values", s.InputSize())
	}
	initial := make([]float64, 20)
	for i := range initial {
		initial[i] = float64(i * i)
	}
	index := func(x []float64) int { return 5*int(math.Round(4*x[1])) + int((x[2]+1)/0.4) }
	u := field(s, func(x []float64) float64 { return initial[index(x)] + 10*x[0] + 100*x[1] + 1000*x[2] })
	for i, r := range rowValues(s, s.Sets[0], u, initial) {
		if math.Abs(r) > 1e-12 {
			t.Fatalf("row %d: %g", i, r)
		}
	}
	got, want := make([]float64, 60), field(s, func(x []float64) float64 { return initial[index(x)] + x[2] })
	e := s.NewRowEvaluator(1)
	for slice := range 3 {
		e.Offset(got[20*slice:20*(slice+1)], initial, slice)
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Fatalf("offset %d: %g, want %g", i, got[i], want[i])
		}
	}
	got = s.Multiplier()
	for i, w := range field(s, func(x []float64) float64 { return x[0] * x[1] }) {
		if got[i] != w {
			t.Fatalf("multiplier %d: %g, want %g", i, got[i], w)
		}
	}
	if !s.Problem.HasOffset() {
		t.Error("the ansatz is not seen")
	}
}

// Viscous Burgers exists as two files alone. The residual of an exact solution
// (by the Cole-Hopf transform u = -2 nu phi_x/phi) falls at the order of the
// schemes, in the interior and at the ends.
func TestBurgersOrder(t *testing.T) {
	periodic := func(x []float64) float64 { // phi = 2 + exp(-nu k^2 t) cos(k x)
		const nu, k = 0.02, 2 * math.Pi
		e := math.Exp(-nu * k * k * x[0])
		return 2 * nu * k * e * math.Sin(k*x[1]) / (2 + e*math.Cos(k*x[1]))
	}
	wave := func(x []float64) float64 {
		const nu, c, a, x0 = 0.2, 0.5, 0.8, -0.1
		return c - a*math.Tanh(a*(x[1]-x0-c*x[0])/(2*nu))
	}
	for _, test := range []struct {
		file  string
		exact func([]float64) float64
		order int
		cells int // of the coarse grid along both axes
	}{
		{"burgers.yaml", periodic, 2, 24},
		{"burgers.yaml", periodic, 4, 24},
		{"burgers.yaml", periodic, 6, 24},
		{"burgers-wave.yaml", wave, 2, 32},
		{"burgers-wave.yaml", wave, 4, 64},
	} {
		src, err := os.ReadFile("testdata/" + test.file)
		if err != nil {
			t.Fatal(err)
		}
		p := mustLoad(t, strings.ReplaceAll(string(src), "order: 2", fmt.Sprintf("order: %d", test.order)))
		var rms [2]float64
		for level := range rms {
			n := test.cells << level
			points := map[string]int{"t": n + 1, "x": n}
			if test.file == "burgers-wave.yaml" {
				points["x"] = n + 1
			}
			s := discretize(t, p, points)
			u := field(s, test.exact)
			for i, set := range s.Sets {
				var sum float64
				for _, v := range rowValues(s, set, u, u[:s.InputSize()]) {
					sum += v * v
				}
				r := math.Sqrt(sum / float64(len(set.Points)))
				if i == 0 {
					rms[level] = r
				} else if r > 1e-14 {
					t.Errorf("%s, %s: the exact solution leaves %g", test.file, set.Name, r)
				}
			}
		}
		order := math.Log2(rms[0] / rms[1])
		t.Logf("%s, order %d: %.3g, %.3g: order %.2f", test.file, test.order, rms[0], rms[1], order)
		if !(math.Abs(order-float64(test.order)) < 0.6) {
			t.Errorf("%s: the residual of the exact solution goes from %.3g to %.3g: order %.2f, want %d", test.file, rms[0], rms[1], order, test.order)
		}
	}
}
