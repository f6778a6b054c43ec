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
	points := make([]int32, 0, w.Size())
	if w.Size() == 0 {
		return points
	}
	last := len(g.Axes) - 1
	index := append([]int(nil), w.Lo...)
	for {
		start := g.Ravel(index)
		for i := range w.Hi[last] - w.Lo[last] {
			points = append(points, int32(start+i))
		}
		d := last - 1
		for ; d >= 0; d-- {
			if index[d]++; index[d] < w.Hi[d] {
				break
			}
			index[d] = w.Lo[d]
		}
		if d < 0 {
			return points
		}
	}
}
