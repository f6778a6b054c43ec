package pde

import (
	"slices"

	"pihc/grid"
)

// operator puts the term on the grid of space.
func (t *Spectral) operator(p *Problem, space *grid.Spectral) (grid.Operator, error) {
	switch t.Kind {
	case "derivative":
		return space.Derivative(p.Axis(t.Axis), t.Derivative)
	case "laplacian":
		return space.Laplacian()
	default:
		return space.Velocity(p.Axis(t.Axis))
	}
}

// spectral reads a spectral term:
//
//	{spectral: derivative, axis: x, derivative: 2}   derivative 1 if left out
//	{spectral: laplacian}
//	{spectral: velocity, component: x}
func (l *loader) spectral(p *Problem, name string, f *fileSpectral) *Spectral {
	t := &Spectral{Kind: f.Spectral, Axis: f.Axis, Derivative: f.Derivative}
	bad := l.reporter(f.Pos, "term "+name)
	switch t.Kind {
	case "derivative":
		if t.Derivative == 0 {
			t.Derivative = 1
		}
		switch {
		case f.Component != "":
			bad("`component` belongs to a velocity")
		case f.Axis == "":
			bad("a spectral derivative needs an axis").WithHint("add axis: NAME")
			return t
		}
	case "laplacian":
		if f.Axis != "" || f.Component != "" || f.Derivative != 0 {
			bad("a spectral laplacian has no other keys")
		}
	case "velocity":
		t.Axis = f.Component
		switch {
		case f.Axis != "" || f.Derivative != 0:
			bad("a velocity has a component, no axis or derivative")
			return t
		case f.Component == "":
			bad("a velocity needs a component, the name of an axis of space").WithHint("add component: NAME")
			return t
		}
	default:
		bad("spectral %q: want derivative, laplacian or velocity", t.Kind)
		return t
	}
	if t.Axis != "" && l.axis(p, "term "+name, t.Axis, f.Pos) < 0 {
		return t
	}
	// Whether the axes allow it does not depend on the points.
	g := &grid.Grid{}
	for _, a := range p.Axes {
		g.Axes = append(g.Axes, grid.Axis{Name: a.Name, Lo: 0, Hi: 1, Points: 2, Boundary: a.Boundary})
	}
	if len(g.Axes) < 2 {
		return t // reported with the axes
	}
	if _, err := t.operator(p, g.NewSpectral()); err != nil {
		bad("%v", err)
	}
	return t
}

// NeedsZeroMean reports whether a term is the velocity of a vorticity, which
// exists only where the mean over space of that unknown is zero.
func (p *Problem) NeedsZeroMean(unknown int) bool {
	return slices.ContainsFunc(p.Terms, func(t Term) bool { return t.Of == unknown && t.Spectral != nil && t.Spectral.Kind == "velocity" })
}
