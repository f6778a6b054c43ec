package dataset

import (
	"slices"

	"pihc/grid"
	"pihc/pde"
)

// InputsOn returns the inputs of a sample on one grid at the points of another: thinned
// out where they are among them, interpolated elsewhere as the inputs are.
func InputsOn(p *pde.Problem, sample []float64, from, to *grid.Grid) []float64 {
	if slices.Equal(from.Axes, to.Axes) {
		return sample
	}
	var out []float64
	target := p.PlaceInputs(to)
	for i, in := range p.PlaceInputs(from) {
		v, on := in.Of(sample), target[i].Space
		switch {
		case slices.Equal(in.Space, on):
		case slices.EqualFunc(on, in.Space, grid.Axis.Thins):
			all := v
			v = make([]float64, target[i].Size)
			grid.Thin(v, all, on, in.Space)
		case in.Nearest:
			v = nearest(v, in.Space, on)
		default:
			v = grid.Resample(v, in.Space, on)
		}
		out = append(out, v...)
	}
	return out
}

// nearest takes the value at the nearest point.
func nearest(u []float64, from, to []grid.Axis) []float64 {
	out := make([]float64, (&grid.Grid{Axes: to}).Size())
	for i := range out {
		rest, at, stride := i, 0, 1
		for a := len(to) - 1; a >= 0; a-- {
			at += from[a].Nearest(to[a].Coordinate(rest%to[a].Points)) * stride
			rest /= to[a].Points
			stride *= from[a].Points
		}
		out[i] = u[at]
	}
	return out
}
