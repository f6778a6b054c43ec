package grid

// Window is a box of grid indices, half-open: Lo[d] <= index < Hi[d].
type Window struct {
	Lo, Hi []int
}

// Size returns the number of points in the window; an empty side gives 0.
func (w Window) Size() int {
	size := 1
	for d := range w.Lo {
		size *= max(0, w.Hi[d]-w.Lo[d])
	}
	return size
}

// Points returns the flat indices of the window's points in g, increasing. It
// panics if the window does not lie in the grid.
func (w Window) Points(g *Grid) []int32 {
	if len(w.Lo) != len(g.Axes) || len(w.Hi) != len(g.Axes) {
		panic("grid: Window.Points: window and grid have different numbers of axes")
	}
	for d, a := range g.Axes {
		if w.Lo[d] < 0 || w.Hi[d] > a.Points {
			panic("grid: Window.Points: window reaches outside the grid")
		}
	}
	points := []int32{0}
	for d, a := range g.Axes {
		longer := make([]int32, 0, len(points)*max(0, w.Hi[d]-w.Lo[d]))
		for _, p := range points {
			for i := w.Lo[d]; i < w.Hi[d]; i++ {
				longer = append(longer, p*int32(a.Points)+int32(i))
			}
		}
		points = longer
	}
	return points
}
