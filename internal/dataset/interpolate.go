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
		v := in.Of(sample)
		switch {
		case len(in.Space) == 0:
		case in.Nearest && !grid.Thins(target[i].Space, in.Space):
			v = nearest(v, in.Space, target[i].Space)
		default:
			v = onAxes(v, in.Space, target[i].Space)
		}
		out = append(out, v...)
	}
	return out
}

// nearest takes the value at the nearest point.
func nearest(u []float64, from, to []grid.Axis) []float64 {
	size := 1
	for _, a := range to {
		size *= a.Points
	}
	out := make([]float64, size)
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

// onAxes does so for one field.
func onAxes(u0 []float64, from, to []grid.Axis) []float64 {
	if slices.Equal(from, to) {
		return u0
	}
	if !grid.Thins(to, from) {
		return grid.Resample(u0, from, to)
	}
	size := 1
	for _, a := range to {
		size *= a.Points
	}
	out := make([]float64, size)
	grid.Thin(out, u0, to, from)
	return out
}
