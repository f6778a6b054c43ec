package grid

// picks returns the first of the points of fine that is a point of coarse, and
// the step from one to the next; ok is false where coarse has other points.
func picks(coarse, fine Axis) (first, step int, ok bool) {
	if coarse.Name != fine.Name || coarse.Lo != fine.Lo || coarse.Hi != fine.Hi || coarse.Boundary != fine.Boundary {
		return 0, 0, false
	}
	n, m := coarse.Points, fine.Points
	if coarse.Boundary == Nodes {
		n, m = n-1, m-1
	}
	if n < 1 || m%n != 0 {
		return 0, 0, false
	}
	step = m / n
	if coarse.Boundary == Cells {
		return step / 2, step, step%2 == 1
	}
	return 0, step, true
}

// Thins reports whether the axis fine has all points of this one.
func (a Axis) Thins(fine Axis) bool {
	_, _, ok := picks(a, fine)
	return ok
}

// Thin writes to dst, on the axes coarse, the values that src, on the axes fine,
// has there, of one field or of several one after another. It panics if a length does not
// fit, or unless the axes of coarse are Thins of those of fine.
func Thin(dst, src []float64, coarse, fine []Axis) {
	from, size := []int{0}, 1 // the places in src of the points of dst
	for a := range fine {
		first, step, ok := picks(coarse[a], fine[a])
		if !ok {
			panic("grid: Thin: the finer grid lacks points of the coarser")
		}
		next := make([]int, 0, len(from)*coarse[a].Points)
		for _, at := range from {
			for i := range coarse[a].Points {
				next = append(next, at*fine[a].Points+first+i*step)
			}
		}
		from, size = next, size*fine[a].Points
	}
	fields := len(src) / size
	if len(dst) != fields*len(from) || len(src) != fields*size {
		panic("grid: Thin: a field does not fit its axes")
	}
	for f := range fields {
		for i, at := range from {
			dst[f*len(from)+i] = src[f*size+at]
		}
	}
}
