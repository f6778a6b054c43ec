package model

import (
	"math"

	"pihc/grid"
	"pihc/sim"
)

// Resample interpolates a field on the axes from to the axes to. Where all are
// periodic it evaluates the trigonometric interpolant, which keeps the mean.
// Otherwise it interpolates linearly, one axis after another; past the outermost
// points the nearest segment is continued, and a periodic axis wraps.
func Resample(u []float64, from, to []grid.Axis) []float64 {
	shape, target := make([]int, len(from)), make([]int, len(from))
	periodic := true
	for i, a := range from {
		shape[i], target[i] = a.Points, to[i].Points
		periodic = periodic && a.Boundary == grid.Periodic
	}
	if periodic {
		size := 1
		for _, n := range target {
			size *= n
		}
		out := make([]float64, size)
		sim.NewInterpolator(shape, target).Interpolate(out, u)
		return out
	}
	for i := range from {
		u = resampleAxis(u, shape, i, from[i], to[i])
		shape[i] = to[i].Points
	}
	return u
}

// resampleAxis interpolates along axis i of a field of the given shape.
func resampleAxis(u []float64, shape []int, i int, from, to grid.Axis) []float64 {
	inner, outer := 1, 1
	for a, n := range shape {
		switch {
		case a < i:
			outer *= n
		case a > i:
			inner *= n
		}
	}
	out := make([]float64, outer*to.Points*inner)
	for j := range to.Points {
		lo, hi, w := bracket(from, to.Coordinate(j))
		for o := range outer {
			dst := out[(o*to.Points+j)*inner:][:inner]
			low, high := u[(o*from.Points+lo)*inner:][:inner], u[(o*from.Points+hi)*inner:][:inner]
			for k := range dst {
				dst[k] = low[k] + w*(high[k]-low[k])
			}
		}
	}
	return out
}

// bracket returns the two points of a whose line gives the value at x, and the
// weight of the second.
func bracket(a grid.Axis, x float64) (lo, hi int, w float64) {
	if a.Points == 1 {
		return 0, 0, 0
	}
	at := (x - a.Coordinate(0)) / a.Step()
	lo = int(math.Floor(at))
	if a.Boundary == grid.Periodic {
		w = at - float64(lo)
		lo = (lo%a.Points + a.Points) % a.Points
		return lo, (lo + 1) % a.Points, w
	}
	lo = min(max(lo, 0), a.Points-2)
	return lo, lo + 1, at - float64(lo)
}
