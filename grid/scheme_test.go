package grid

import (
	"fmt"
	"math"
	"testing"

	"pihc/internal/check"
)

// applyLine is the line as a plain loop over Row; undefined indices give NaN.
func applyLine(l *Line, u []float64) []float64 {
	out := make([]float64, len(u))
	for i := range out {
		indices, coefs, constant, ok := l.Row(i)
		if !ok {
			out[i] = math.NaN()
			continue
		}
		out[i] = constant
		for k, j := range indices {
			out[i] += coefs[k] * u[j]
		}
	}
	return out
}

func sample(a Axis, f func(x float64) float64) []float64 {
	u := a.Coordinates()
	for i, x := range u {
		u[i] = f(x)
	}
	return u
}

// wave is sin(x+0.3) and its derivatives.
func wave(d int) func(x float64) float64 {
	return func(x float64) float64 { return math.Sin(x + 0.3 + float64(d)*math.Pi/2) }
}

// A scheme, the order of its error in the largest norm, and where that is known
// from. The axis is (0, 2π); order 0 means exact up to rounding.
var orders = []struct {
	name     string
	boundary Boundary
	scheme   Scheme
	inside   float64 // order away from the ends
	overall  float64 // order of the largest error anywhere
	source   string
}{
	{"u_x", Periodic, Scheme{Derivative: 1, Order: 2}, 2, 2, "Fornberg 1988, Table 1"},
	{"u_x", Periodic, Scheme{Derivative: 1, Order: 4}, 4, 4, "Fornberg 1988, Table 1"},
	{"u_x", Periodic, Scheme{Derivative: 1, Order: 6}, 6, 6, "Fornberg 1988, Table 1"},
	{"u_xx", Periodic, Scheme{Derivative: 2, Order: 2}, 2, 2, "Fornberg 1988, Table 1"},
	{"u_xx", Periodic, Scheme{Derivative: 2, Order: 4}, 4, 4, "Fornberg 1988, Table 1"},
	{"u_xx", Periodic, Scheme{Derivative: 2, Order: 6}, 6, 6, "Fornberg 1988, Table 1"},
	{"u_xxx", Periodic, Scheme{Derivative: 3, Order: 4}, 4, 4, "Fornberg 1988, Table 1"},
	{"u_xxxx", Periodic, Scheme{Derivative: 4, Order: 4}, 4, 4, "Fornberg 1988, Table 1"},
	{"u_xxxxx", Periodic, Scheme{Derivative: 5, Order: 2}, 2, 2, "Fornberg 1988, Table 1"},
	{"u_xxxxxx", Periodic, Scheme{Derivative: 6, Order: 2}, 2, 2, "Fornberg 1988, Table 1"},
	{"u_x backward", Periodic, Scheme{Derivative: 1, Order: 3, Side: -1}, 3, 3, "BDF3"},

	{"u_x", Nodes, Scheme{Derivative: 1, Order: 2}, 2, 2, "Fornberg 1988, Table 3 at the ends"},
	{"u_x", Nodes, Scheme{Derivative: 1, Order: 4}, 4, 4, "Fornberg 1988, Table 3 at the ends"},
	{"u_x", Cells, Scheme{Derivative: 1, Order: 6}, 6, 6, "Fornberg 1988, Table 3 at the ends"},
	{"u_xx", Cells, Scheme{Derivative: 2, Order: 2}, 2, 2, "Fornberg 1988, Table 3 at the ends"},
	{"u_xx", Nodes, Scheme{Derivative: 2, Order: 4}, 4, 4, "Fornberg 1988, Table 3 at the ends"},
	{"u_xx", Nodes, Scheme{Derivative: 2, Order: 6}, 6, 6, "Fornberg 1988, Table 3 at the ends"},
	{"u_xxxx", Cells, Scheme{Derivative: 4, Order: 2}, 2, 2, "Fornberg 1988, Table 3 at the ends"},
	{"u_xxxxxx", Nodes, Scheme{Derivative: 6, Order: 2}, 2, 2, "Fornberg 1988, Table 3 at the ends"},

	{"BDF1", Nodes, Scheme{Derivative: 1, Side: -1}, 1, 1, "backward Euler; order 0 of Side backward is 1"},
	{"BDF2", Nodes, Scheme{Derivative: 1, Order: 2, Side: -1}, 2, 2, "Curtiss and Hirschfelder 1952"},
	{"forward", Nodes, Scheme{Derivative: 1, Order: 2, Side: 1}, 2, 2, "Fornberg 1988, Table 3"},
	{"u_xx forward", Nodes, Scheme{Derivative: 2, Order: 1, Side: 1}, 1, 1, "Fornberg 1988, Table 3"},

	// A value extrapolated with k points is off by O(h^k), a d-th derivative that
	// uses it by O(h^(k-d)).
	{"extrapolated", Cells, Scheme{Derivative: 2, Order: 2, Closure: Extrapolated}, 2, 1, "k = 3, d = 2"},
	{"extrapolated", Cells, Scheme{Derivative: 1, Order: 2, Closure: Extrapolated}, 2, 2, "k = 3, d = 1"},
	{"extrapolated", Nodes, Scheme{Derivative: 2, Order: 2, Closure: Extrapolated, Points: 4}, 2, 2, "k = 4, d = 2"},
	{"extrapolated", Nodes, Scheme{Derivative: 2, Order: 4, Closure: Extrapolated, Points: 6}, 4, 4, "k = 6, d = 2"},
	{"extrapolated", Nodes, Scheme{Derivative: 1, Order: 6, Closure: Extrapolated}, 6, 6, "k = 7, d = 1"},

	{"interior", Cells, Scheme{Derivative: 2, Order: 2, Closure: Undefined}, 2, 2, "as periodic, where defined"},
	{"interior", Nodes, Scheme{Derivative: 1, Order: 6, Closure: Undefined}, 6, 6, "as periodic, where defined"},

	// The published code's operator; at the ends it is inconsistent (order 0, see
	// TestRepeatedFirstDifference).
	{"repeated", Nodes, Scheme{Derivative: 2, Repeated: true}, 2, 0, "jnp.gradient of jnp.gradient"},
	{"gradient", Nodes, Scheme{Derivative: 1, Repeated: true}, 2, 1, "jnp.gradient"},
}

func TestOrders(t *testing.T) {
	for _, test := range orders {
		t.Run(fmt.Sprintf("%s/%s/%d", test.name, test.boundary, test.scheme.order()), func(t *testing.T) {
			sizes := []int{64, 128}
			var inside, overall [2]float64
			for k, n := range sizes {
				a := Axis{"x", 0, 2 * math.Pi, n, test.boundary}
				l, err := a.Derivative(0, test.scheme)
				if err != nil {
					t.Fatal(err)
				}
				got := applyLine(l, sample(a, wave(0)))
				want := sample(a, wave(test.scheme.Derivative))
				for i := range got {
					e := math.Abs(got[i] - want[i])
					if math.IsNaN(e) {
						continue
					}
					overall[k] = max(overall[k], e)
					if i >= 10 && i < n-10 {
						inside[k] = max(inside[k], e)
					}
				}
			}
			measured := func(e [2]float64) float64 {
				h := func(n int) float64 { return Axis{"x", 0, 1, n, test.boundary}.Step() }
				return math.Log(e[0]/e[1]) / math.Log(h(sizes[0])/h(sizes[1]))
			}
			if got := measured(inside); math.Abs(got-test.inside) > 0.15 {
				t.Errorf("order %.2f inside, want %g (%s)", got, test.inside, test.source)
			}
			if got := measured(overall); got < test.overall-0.3 || got > test.overall+0.5 {
				t.Errorf("order %.2f overall, want %g (%s)", got, test.overall, test.source)
			}
		})
	}
}

// Every formula that keeps its order at the ends differentiates polynomials of
// degree Derivative+Order-1 exactly, everywhere.
func TestPolynomials(t *testing.T) {
	for _, test := range orders {
		s := test.scheme
		if test.boundary == Periodic || test.inside != test.overall || s.Repeated {
			continue
		}
		a := Axis{"x", -1, 1, 23, test.boundary}
		l, err := a.Derivative(0, s)
		if err != nil {
			t.Fatal(err)
		}
		for degree := range s.Derivative + s.order() {
			u := sample(a, func(x float64) float64 { return monomial(degree, 0, x) })
			got := applyLine(l, u)
			want := sample(a, func(x float64) float64 { return monomial(degree, s.Derivative, x) })
			rounding := 1e-15 * 100 * math.Pow(a.Step(), -float64(s.Derivative))
			for i := range got {
				if l.Defined(i) && !(math.Abs(got[i]-want[i]) <= rounding) {
					t.Errorf("%s: x^%d at %d: got %g, want %g", l, degree, i, got[i], want[i])
				}
			}
		}
	}
	// One degree more is beyond a second difference: the test above can fail.
	a := Axis{"x", -1, 1, 23, Nodes}
	l, _ := a.Derivative(0, Scheme{Derivative: 2})
	u := sample(a, func(x float64) float64 { return x * x * x * x })
	if got := applyLine(l, u)[11]; math.Abs(got) < 1e-3 {
		t.Errorf("u_xx of x^4 at 0 is %g; a second-order formula gives h²·2", got)
	}
}

// Q4 of the notes on the published code: its u_xx is jnp.gradient twice, which on
// x² gives half of u” at the end and three quarters next to it, on cells, nodes
// and even on a periodic axis. pihc's default is exact on x².
func TestRepeatedFirstDifference(t *testing.T) {
	for _, b := range []Boundary{Cells, Nodes, Periodic} {
		a := Axis{"x", 0, 1, 16, b}
		u := sample(a, func(x float64) float64 { return x * x })
		published, err := a.Derivative(0, Scheme{Derivative: 2, Repeated: true})
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, 16)
		for i := range want {
			want[i] = 2
		}
		if b != Periodic {
			compact, err := a.Derivative(0, Scheme{Derivative: 2})
			if err != nil {
				t.Fatal(err)
			}
			check.Close(t, applyLine(compact, u), want, 1e-12, 0)
		}
		want[0], want[15] = 1, 1
		want[1], want[14] = 1.5, 1.5
		check.Close(t, applyLine(published, u), want, 1e-12, 0)

		// Its null mode: a sawtooth has no second derivative in the interior.
		for i := range u {
			u[i] = float64(i % 2)
		}
		for i, v := range applyLine(published, u)[2:14] {
			if v != 0 {
				t.Errorf("%s: sawtooth at %d: %g", b, i+2, v)
			}
		}
	}
	// Against jnp.gradient written out.
	gradient := func(u []float64, h float64) []float64 {
		n := len(u)
		g := make([]float64, n)
		for i := 1; i < n-1; i++ {
			g[i] = (u[i+1] - u[i-1]) / (2 * h)
		}
		g[0], g[n-1] = (u[1]-u[0])/h, (u[n-1]-u[n-2])/h
		return g
	}
	a := Axis{"x", 0, 3, 11, Cells}
	u := check.Normal(check.Rand(2), make([]float64, 11))
	l, _ := a.Derivative(0, Scheme{Derivative: 2, Repeated: true})
	check.Close(t, applyLine(l, u), gradient(gradient(u, a.Step()), a.Step()), 1e-14, 0)
}

// The classical solver's semi-discretisation of u_xx on cells: ghost 1 on the left,
// D(u[n-2]-u[n-1])/h on the right (PDEBench, sim_diff_sorp.py).
func TestGhostClosure(t *testing.T) {
	const n, d = 12, 5e-4
	a := Axis{"x", 0, 1, n, Cells}
	h := a.Step()
	l, err := a.Derivative(0, Scheme{
		Derivative: 2, Closure: Ghost,
		Low: &GhostValue{Constant: 1}, High: &GhostValue{Weights: []float64{-d / h, d / h}},
	})
	if err != nil {
		t.Fatal(err)
	}
	u := check.Normal(check.Rand(3), make([]float64, n))
	padded := append(append([]float64{1}, u...), d*(u[n-2]-u[n-1])/h)
	want := make([]float64, n)
	for i := range want {
		want[i] = (padded[i] - 2*padded[i+1] + padded[i+2]) / (h * h)
	}
	check.Close(t, applyLine(l, u), want, 1e-14, 0)
	if !l.Affine() {
		t.Error("a ghost value of 1 is affine")
	}
	if got, want := l.String(), "u_xx [central, order 2, low ghost 1, high ghost -0.006 u_1 + 0.006 u_2]"; got != want {
		t.Errorf("named %q, want %q", got, want)
	}

	// With exact ghost values, higher orders stay exact on polynomials: the
	// points beyond the first are one-sided on the extended axis.
	for _, order := range []int{2, 4, 6} {
		for derivative := 1; derivative <= 4; derivative++ {
			degree := derivative + order - 1
			f := func(x float64) float64 { return monomial(degree, 0, x) }
			s := Scheme{
				Derivative: derivative, Order: order, Closure: Ghost,
				Low: &GhostValue{Constant: f(a.Coordinate(-1))}, High: &GhostValue{Constant: f(a.Coordinate(n))},
			}
			l, err := a.Derivative(0, s)
			if err != nil {
				t.Fatal(err)
			}
			want := sample(a, func(x float64) float64 { return monomial(degree, derivative, x) })
			check.Close(t, applyLine(l, sample(a, f)), want, 1e-13*math.Pow(n, float64(derivative)), 0)
		}
	}

	// One end given, the other one-sided.
	half, err := a.Derivative(0, Scheme{Derivative: 2, Closure: Ghost, Low: &GhostValue{Constant: 1}})
	if err != nil {
		t.Fatal(err)
	}
	oneSided, _ := a.Derivative(0, Scheme{Derivative: 2})
	got, other := applyLine(half, u), applyLine(oneSided, u)
	check.Close(t, got[:1], want[:1], 1e-14, 0)
	check.Close(t, got[1:], other[1:], 1e-14, 0)
}

func TestUndefinedClosure(t *testing.T) {
	a := Axis{"t", 0, 1, 9, Nodes}
	for _, test := range []struct {
		scheme Scheme
		lo, hi int // defined in [lo, hi)
	}{
		{Scheme{Derivative: 2, Order: 2, Closure: Undefined}, 1, 8},
		{Scheme{Derivative: 1, Order: 4, Closure: Undefined}, 2, 7},
		{Scheme{Derivative: 1, Order: 2, Side: -1, Closure: Undefined}, 2, 9},
		{Scheme{Derivative: 1, Order: 1, Side: 1, Closure: Undefined}, 0, 8},
		{Scheme{Derivative: 0, Closure: Undefined}, 0, 9},
	} {
		l, err := a.Derivative(0, test.scheme)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 9 {
			if got := l.Defined(i); got != (i >= test.lo && i < test.hi) {
				t.Errorf("%s defined at %d: %t", l, i, got)
			}
		}
	}
}

func TestEdge(t *testing.T) {
	a := Axis{"x", 0, 1, 10, Cells}
	for _, high := range []bool{false, true} {
		l, err := a.Edge(0, high, 0, GhostPoint, 3)
		if err != nil {
			t.Fatal(err)
		}
		end, want := 0, "3 u[0] - 3 u[1] + 1 u[2]"
		if high {
			end, want = 9, "1 u[7] - 3 u[8] + 3 u[9]"
		}
		if got := l.Stencil(end); got != want {
			t.Errorf("ghost from three points: %s, want %s", got, want)
		}
		for i := range 10 {
			if l.Defined(i) != (i == end) {
				t.Errorf("high %t: defined at %d: %t", high, i, l.Defined(i))
			}
		}
	}

	// Exact on the polynomials that the points determine, wherever it is.
	for _, b := range []Boundary{Cells, Nodes} {
		a := Axis{"x", 0.5, 2, 10, b}
		for _, high := range []bool{false, true} {
			for at := GhostPoint; at <= Inner; at++ {
				i, x := 0, map[Location]float64{GhostPoint: a.Coordinate(-1), Wall: a.Lo, Inner: a.Coordinate(0)}[at]
				if high {
					i, x = 9, map[Location]float64{GhostPoint: a.Coordinate(10), Wall: a.Hi, Inner: a.Coordinate(9)}[at]
				}
				for points := 1; points <= 6; points++ {
					for d := range min(points, 5) {
						l, err := a.Edge(0, high, d, at, points)
						if err != nil {
							t.Fatal(err)
						}
						u := sample(a, func(x float64) float64 { return monomial(points-1, 0, x) })
						got, want := applyLine(l, u)[i], monomial(points-1, d, x)
						if math.Abs(got-want) > 1e-12*math.Pow(a.Step(), -float64(d))*100 {
							t.Errorf("%s: x^%d: got %g, want %g", l, points-1, got, want)
						}
					}
				}
			}
		}
	}
	for want, f := range map[string]func() (*Line, error){
		"axis x is periodic and has no ends": func() (*Line, error) {
			return Axis{"x", 0, 1, 9, Periodic}.Edge(0, false, 0, Wall, 1)
		},
		"axis x has 4 points; a formula at its end wants 5":                  func() (*Line, error) { return Axis{"x", 0, 1, 4, Cells}.Edge(0, false, 0, Wall, 5) },
		"derivative 2 at the end of axis x from 2 points: needs at least 3":  func() (*Line, error) { return a.Edge(0, true, 2, Wall, 2) },
		"derivative 7 at the end of axis x: want 0 to 6":                     func() (*Line, error) { return a.Edge(0, true, 7, Wall, 8) },
		"9 points at the end of axis x: want 8 at most":                      func() (*Line, error) { return a.Edge(0, true, 1, Wall, 9) },
		"axis x: unknown location at its end":                                func() (*Line, error) { return a.Edge(0, true, 1, 5, 2) },
		"axis x runs from 1 to 0; want two finite numbers in increasing ord": func() (*Line, error) { return Axis{"x", 1, 0, 4, Cells}.Edge(0, true, 1, Wall, 2) },
	} {
		if _, err := f(); err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestPeriodicWrap(t *testing.T) {
	a := Axis{"x", 0, 1, 5, Periodic}
	l, err := a.Derivative(0, Scheme{Derivative: 1, Order: 4})
	if err != nil {
		t.Fatal(err)
	}
	u := check.Normal(check.Rand(4), make([]float64, 5))
	at := func(i int) float64 { return u[((i%5)+5)%5] }
	want := make([]float64, 5)
	for i := range want {
		want[i] = 5 * (at(i-2)/12 - at(i-1)*2/3 + at(i+1)*2/3 - at(i+2)/12)
	}
	check.Close(t, applyLine(l, u), want, 1e-14, 0)
}

func TestStencilText(t *testing.T) {
	a := Axis{"x", 0, 4, 4, Cells}
	l, _ := a.Derivative(0, Scheme{Derivative: 2, Closure: Ghost, Low: &GhostValue{Constant: 1}, High: &GhostValue{Constant: -2}})
	for i, want := range []string{"-2 u[0] + 1 u[1] + 1", "1 u[0] - 2 u[1] + 1 u[2]", "1 u[1] - 2 u[2] + 1 u[3]", "1 u[2] - 2 u[3] - 2"} {
		if got := l.Stencil(i); got != want {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
	}
	e, _ := a.Edge(0, false, 0, Inner, 1)
	if got := e.Stencil(0) + ", " + e.Stencil(1); got != "1 u[0], undefined" {
		t.Error(got)
	}
}
