package grid

import (
	"math"
	"slices"
	"testing"
)

// Thin against a field that is a function of the coordinates.
func TestThin(t *testing.T) {
	axis := func(n int, b Boundary) Axis {
		return Axis{Name: b.String(), Lo: -1, Hi: 2, Points: n, Boundary: b}
	}
	field := func(axes []Axis) []float64 {
		g := Grid{Axes: axes}
		u := make([]float64, g.Size())
		for p := range u {
			for a, stride := range g.Strides() {
				u[p] = 3*u[p] + math.Sin(axes[a].Coordinate(p/stride%axes[a].Points))
			}
		}
		return u
	}
	fine := []Axis{axis(13, Nodes), axis(15, Cells), axis(12, Periodic)}
	coarse := []Axis{axis(5, Nodes), axis(5, Cells), axis(4, Periodic)}
	want := field(coarse)
	got := make([]float64, len(want))
	if !slices.EqualFunc(coarse, fine, Axis.Thins) || slices.EqualFunc(fine, coarse, Axis.Thins) {
		t.Fatal("which axes have all points of the others?")
	}
	Thin(got, field(fine), coarse, fine)
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Fatalf("%g at %d, want %g", got[i], i, want[i])
		}
	}
	for _, c := range []struct{ coarse, fine Axis }{
		{axis(6, Nodes), axis(12, Nodes)}, {axis(6, Cells), axis(12, Cells)}, {axis(8, Periodic), axis(12, Periodic)}, {axis(12, Periodic), axis(6, Periodic)},
	} {
		if c.coarse.Thins(c.fine) {
			t.Errorf("%d among %d %s", c.coarse.Points, c.fine.Points, c.fine.Boundary)
		}
	}
}
