package grid

import (
	"math"
	"testing"

	"pihc/internal/check"
)

// What is interpolated: along periodic axes all wavenumbers that both grids hold, along others
// cubics, also past the outermost points; points that both have keep their values.
func TestResample(t *testing.T) {
	axes := func(n int) []Axis {
		return []Axis{
			{Name: "t", Lo: 1, Hi: 3, Points: n + 1, Boundary: Nodes},
			{Name: "x", Lo: 0, Hi: 2, Points: n + n%2, Boundary: Periodic},
			{Name: "y", Lo: -1, Hi: 2, Points: n + 3, Boundary: Cells},
			{Name: "z", Lo: 0, Hi: 2, Points: n + 1 - n%2, Boundary: Periodic},
		}
	}
	size := func(axes []Axis) int { return (&Grid{Axes: axes}).Size() }
	field := func(axes []Axis) []float64 {
		out := make([]float64, 0, 2*size(axes))
		for unknown := range 2 {
			for i := range size(axes) {
				var x [4]float64
				for a := 3; a >= 0; a-- {
					x[a], i = axes[a].Coordinate(i%axes[a].Points), i/axes[a].Points
				}
				v := (x[0]*x[0]*x[0] - 2*x[0] + 1) * (1 + math.Sin(2*math.Pi*x[1])) * (x[2]*x[2]*x[2] + x[2]) * (math.Cos(math.Pi*x[3]) - 0.5*math.Sin(2*math.Pi*x[3]))
				out = append(out, v+float64(unknown))
			}
		}
		return out
	}
	for _, n := range []int{5, 6} {
		from, to := axes(n), axes(2*n)
		check.Close(t, Resample(field(from), from, to), field(to), 0, 1e-11)
		check.Close(t, Resample(field(to), to, from), field(from), 0, 1e-11)
	}
	from, to := axes(6), axes(6)
	to[0].Points, to[3].Points = 13, 14
	u := make([]float64, size(from))
	for i := range u {
		u[i] = math.Sin(float64(i * i))
	}
	check.Close(t, Resample(Resample(u, from, to), to, from), u, 0, 1e-12)

	// Nodes to cells and back, and an axis of one point.
	wall := Axis{Name: "x", Lo: 0, Hi: 1, Points: 7, Boundary: Nodes}
	cells, one := wall, wall
	cells.Boundary, one.Points = Cells, 1
	line := func(a Axis) []float64 {
		out := a.Coordinates()
		for i, x := range out {
			out[i] = 1 + 2*x - x*x*x
		}
		return out
	}
	check.Close(t, Resample(line(wall), []Axis{wall}, []Axis{cells}), line(cells), 0, 1e-13)
	check.Close(t, Resample(line(cells), []Axis{cells}, []Axis{wall}), line(wall), 0, 1e-13)
	check.Close(t, Resample([]float64{3}, []Axis{one}, []Axis{wall}), []float64{3, 3, 3, 3, 3, 3, 3}, 0, 0)
}
