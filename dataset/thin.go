package dataset

import "pihc/grid"

// picks returns the first of the points of fine that is a point of coarse, and
// the step from one to the next; ok is false where coarse has other points.
func picks(coarse, fine grid.Axis) (first, step int, ok bool) {
	if coarse.Name != fine.Name || coarse.Lo != fine.Lo || coarse.Hi != fine.Hi || coarse.Boundary != fine.Boundary {
		return 0, 0, false
	}
	n, m := coarse.Points, fine.Points
	if coarse.Boundary == grid.Nodes {
		n, m = n-1, m-1
	}
	if n < 1 || m%n != 0 {
		return 0, 0, false
	}
	step = m / n
	if coarse.Boundary == grid.Cells {
		return step / 2, step, step%2 == 1
	}
	return 0, step, true
}

// Thins reports whether the axes fine have all points of the axes coarse.
func Thins(coarse, fine []grid.Axis) bool {
	for a := range coarse {
		if _, _, ok := picks(coarse[a], fine[a]); !ok {
			return false
		}
	}
	return true
}

// Thin writes to dst, on the axes coarse, the values that src, on the axes fine,
// has there, of one field or of several one after another. It panics if a length does not
// fit, or unless Thins.
func Thin(dst, src []float64, coarse, fine []grid.Axis) {
	size, fineSize := 1, 1
	first, step := make([]int, len(fine)), make([]int, len(fine))
	for a := range fine {
		var ok bool
		if first[a], step[a], ok = picks(coarse[a], fine[a]); !ok {
			panic("dataset: Thin: the finer grid lacks points of the coarser")
		}
		size, fineSize = size*coarse[a].Points, fineSize*fine[a].Points
	}
	fields := len(src) / fineSize
	if len(dst) != fields*size || len(src) != fields*fineSize {
		panic("dataset: Thin: a field does not fit its axes")
	}
	for f := range fields {
		thin(dst[f*size:(f+1)*size], src[f*fineSize:(f+1)*fineSize], coarse, fine, first, step)
	}
}

func thin(dst, src []float64, coarse, fine []grid.Axis, first, step []int) {
	size := len(dst)
	last := len(fine) - 1
	width := coarse[last].Points
	for row := range size / width {
		at, stride, rest := 0, 1, row
		for a := last; a >= 0; a-- {
			i := 0
			if a < last {
				i = rest % coarse[a].Points
				rest /= coarse[a].Points
			}
			at += (first[a] + i*step[a]) * stride
			stride *= fine[a].Points
		}
		for j := range width {
			dst[row*width+j] = src[at+j*step[last]]
		}
	}
}
