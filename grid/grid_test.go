package grid

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/internal/check"
)

func TestAxisCoordinates(t *testing.T) {
	tests := []struct {
		axis Axis
		step float64
		want []float64
	}{
		{Axis{"x", 0, 1, 4, Periodic}, 0.25, []float64{0, 0.25, 0.5, 0.75}},
		{Axis{"x", 0, 1, 4, Cells}, 0.25, []float64{0.125, 0.375, 0.625, 0.875}},
		{Axis{"t", 1, 3, 5, Nodes}, 0.5, []float64{1, 1.5, 2, 2.5, 3}},
	}
	for _, test := range tests {
		if got := test.axis.Step(); got != test.step {
			t.Errorf("%v: step %g, want %g", test.axis, got, test.step)
		}
		check.Equal(t, test.axis.Coordinates(), test.want)
	}
	// The last node is the end itself, even where (hi-lo)/(n-1) rounds.
	for n := 2; n < 200; n++ {
		if a := (Axis{"t", 0.1, 0.7, n, Nodes}); a.Coordinate(n-1) != 0.7 {
			t.Errorf("%d nodes: last at %v", n, a.Coordinate(n-1))
		}
	}
	if got := (Axis{"x", 0, 1, 4, Cells}).Coordinate(-1); got != -0.125 {
		t.Errorf("ghost cell at %g", got)
	}
}

func TestRavel(t *testing.T) {
	g := testGrid(3, 4, 5)
	if g.Size() != 60 || !slices.Equal(g.Strides(), []int{20, 5, 1}) || !slices.Equal(g.Shape(), []int{3, 4, 5}) {
		t.Fatalf("size %d, strides %v, shape %v", g.Size(), g.Strides(), g.Shape())
	}
	index := make([]int, 3)
	for p := range g.Size() {
		g.Unravel(p, index)
		if q := g.Ravel(index); q != p || index[0]*20+index[1]*5+index[2] != p {
			t.Fatalf("point %d has index %v, back to %d", p, index, q)
		}
	}
}

// testGrid has axes t (nodes), x (cells), y (periodic) of uneven extents.
func testGrid(points ...int) *Grid {
	all := []Axis{{"t", 0, 2, 0, Nodes}, {"x", -1, 0.5, 0, Cells}, {"y", 0, 3, 0, Periodic}}
	g := &Grid{}
	for i, n := range points {
		a := all[i]
		a.Points = n
		g.Axes = append(g.Axes, a)
	}
	return g
}

func TestWindow(t *testing.T) {
	g := testGrid(3, 4, 5)
	index := make([]int, 3)
	for _, w := range []struct{ Lo, Hi []int }{
		{[]int{0, 0, 0}, []int{3, 4, 5}},
		{[]int{1, 1, 1}, []int{3, 3, 5}},
		{[]int{0, 2, 4}, []int{3, 3, 5}},
		{[]int{0, 2, 4}, []int{3, 2, 5}}, // empty
		{[]int{0, 3, 4}, []int{3, 2, 5}}, // empty, upside down
	} {
		var want []int32
		for p := range g.Size() {
			g.Unravel(p, index)
			inside := true
			for d, i := range index {
				inside = inside && i >= w.Lo[d] && i < w.Hi[d]
			}
			if inside {
				want = append(want, int32(p))
			}
		}
		if got := g.Window(w.Lo, w.Hi); !slices.Equal(got, want) {
			t.Errorf("window %v: points %v; want %v", w, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	testNames(t, boundaryNames, func(text []byte) (fmt.Stringer, int, error) {
		var v Boundary
		err := v.UnmarshalText(text)
		return v, int(v), err
	})
	testNames(t, closureNames, func(text []byte) (fmt.Stringer, int, error) {
		var v Closure
		err := v.UnmarshalText(text)
		return v, int(v), err
	})
	testNames(t, locationNames, func(text []byte) (fmt.Stringer, int, error) {
		var v Location
		err := v.UnmarshalText(text)
		return v, int(v), err
	})
	err := new(Boundary).UnmarshalText([]byte("cell"))
	if want := `unknown boundary "cell": want periodic, cells or nodes`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if Boundary(9).String() != "unknown" {
		t.Error("a number without a name has one")
	}
}

func TestErrors(t *testing.T) {
	ok := func(n int, b Boundary) Axis { return Axis{"x", 0, 1, n, b} }
	tests := []struct {
		axis   Axis
		scheme Scheme
		want   string
	}{
		{ok(4, Nodes), Scheme{Derivative: 2, Order: 4}, "axis x has 4 points; a fourth-order second derivative needs at least 6"},
		{ok(4, Periodic), Scheme{Derivative: 2, Order: 4}, "axis x has 4 points; a fourth-order second derivative needs at least 5"},
		{ok(2, Nodes), Scheme{Derivative: 1, Order: 2, Side: -1}, "axis x has 2 points; a second-order backward first derivative needs at least 3"},
		{ok(6, Cells), Scheme{Derivative: 1, Closure: Extrapolated, Points: 8}, "axis x has 6 points; a second-order first derivative needs at least 8"},
		{ok(9, Periodic), Scheme{Derivative: 1, Closure: Ghost, Low: &GhostValue{}}, "axis x is periodic and has no ghost points"},
		{ok(9, Cells), Scheme{Derivative: 7}, "derivative 7: want 0 to 6"},
		{ok(9, Cells), Scheme{Derivative: 1, Order: 3}, "a central difference of order 3: want 2, 4 or 6"},
		{ok(9, Cells), Scheme{Derivative: 1, Order: 7, Side: 1}, "a forward difference of order 7: want 1 to 6"},
		{ok(9, Cells), Scheme{Derivative: 2, Order: 4, Repeated: true}, "a repeated first difference is central, of order 2"},
		{ok(9, Cells), Scheme{Derivative: 1, Points: 3}, "the closure is not extrapolated"},
		{ok(9, Cells), Scheme{Derivative: 1, Closure: Extrapolated, Points: 9}, "extrapolation from 9 points: want 1 to 8"},
		{ok(9, Cells), Scheme{Derivative: 1, Closure: Ghost}, "needs the ghost value of at least one end"},
		{ok(9, Cells), Scheme{Derivative: 1, Low: &GhostValue{}}, "the closure is not ghost"},
		{ok(9, Cells), Scheme{Derivative: 1, Closure: Ghost, Low: &GhostValue{Constant: math.NaN()}}, "a ghost value is not finite"},
		{ok(9, Cells), Scheme{Derivative: 1, Side: 7}, "unknown side"},
		{ok(9, Cells), Scheme{Derivative: 1, Closure: 7}, "unknown closure"},
		{Axis{"", 0, 1, 9, Cells}, Scheme{Derivative: 1}, "an axis has no name"},
		{Axis{"x", 1, 1, 9, Cells}, Scheme{Derivative: 1}, "axis x runs from 1 to 1"},
		{Axis{"x", 0, math.Inf(1), 9, Cells}, Scheme{Derivative: 1}, "axis x runs from 0 to +Inf"},
		{ok(0, Cells), Scheme{Derivative: 1}, "axis x has 0 points; cells needs at least 1"},
		{ok(1, Nodes), Scheme{Derivative: 1}, "axis x has 1 points; nodes needs at least 2"},
		{ok(9, 5), Scheme{Derivative: 1}, "axis x has an unknown boundary type"},
	}
	for _, test := range tests {
		line, err := test.axis.Derivative(0, test.scheme)
		if err == nil || !strings.Contains(err.Error(), test.want) || line != nil {
			t.Errorf("got %v, want %q", err, test.want)
		}
		if err != nil && strings.HasPrefix(err.Error(), "grid: ") {
			t.Errorf("error that begins with the name of a package, which users do not know: %v", err)
		}
	}

	// The number of points each message asks for is enough, and one less is not.
	for d := range 5 {
		for _, s := range []Scheme{
			{Order: 2},
			{Order: 4},
			{Order: 6},
			{Order: 4, Closure: Extrapolated},
			{Order: 2, Closure: Undefined},
			{Order: 4, Closure: Ghost, High: &GhostValue{Weights: []float64{1, 2, 3}}},
			{Side: -1, Order: 3},
			{Side: 1},
		} {
			for _, b := range []Boundary{Cells, Periodic} {
				s.Derivative = d
				if s.Closure == Ghost && b == Periodic {
					continue
				}
				least := s.MinPoints(b)
				if _, err := ok(least, b).Derivative(0, s); err != nil {
					t.Errorf("%+v on %d points: %v", s, least, err)
				}
				if _, err := ok(least-1, b).Derivative(0, s); err == nil {
					t.Errorf("%+v: no error on %d points", s, least-1)
				}
			}
		}
	}
}

func TestGridErrors(t *testing.T) {
	x, y := Axis{"x", 0, 1, 9, Cells}, Axis{"y", 0, 1, 9, Cells}
	big := Axis{"z", 0, 1, 1 << 20, Cells}
	for want, g := range map[string]*Grid{
		"no axes":               {},
		"two axes are named x":  {Axes: []Axis{x, y, x}},
		"more than 2147483647":  {Axes: []Axis{big, x, {"w", 0, 1, 1 << 12, Cells}}},
		"axis y has 0 points; ": {Axes: []Axis{x, {"y", 0, 1, 0, Cells}}},
	} {
		if err := g.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := (&Grid{Axes: []Axis{x, y}}).Validate(); err != nil {
		t.Error(err)
	}
}

// testNames reads every name and writes it again.
func testNames(t *testing.T, names []string, read func(text []byte) (v fmt.Stringer, i int, err error)) {
	for i, name := range names {
		if v, got, err := read([]byte(name)); err != nil || got != i || v.String() != name {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
}

// The nearest point of an axis is the lower of two.
func TestNearest(t *testing.T) {
	for _, c := range []struct {
		boundary Boundary
		x        float64
		want     int
	}{{Nodes, 0, 0}, {Nodes, 0.5, 2}, {Nodes, 0.625, 2}, {Nodes, 0.63, 3}, {Nodes, 2, 4}, {Cells, 0, 0}, {Cells, 0.41, 2}, {Cells, 1, 4}, {Periodic, 0.95, 0}, {Periodic, -0.15, 4}} {
		a := Axis{Name: "x", Hi: 1, Points: 5, Boundary: c.boundary}
		if got := a.Nearest(c.x); got != c.want {
			t.Errorf("%s: the point nearest to %v is %d, want %d", c.boundary, c.x, got, c.want)
		}
	}
}
