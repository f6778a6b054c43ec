package grid

import (
	"fmt"
	"math"
)

// Location is a place near one end of an axis.
type Location int

const (
	GhostPoint Location = iota // one step outside the end point
	Wall                       // the end of the interval: half a step outside the end point for Cells, the end point for Nodes
	Inner                      // the end point itself
)

var locationNames = []string{"ghost", "wall", "inner"}

// String returns the name used in PDE files.
func (l Location) String() string { return nameOf(locationNames, int(l)) }

// UnmarshalText implements encoding.TextUnmarshaler: the inverse of String.
func (l *Location) UnmarshalText(text []byte) error {
	return setName(l, "location", locationNames, string(text))
}

// Edge returns the value (derivative 0) or a derivative, in the direction of
// increasing coordinate, at a location near the low or high end of the axis, the
// grid's number axis, from the given number of points nearest that end. The line is
// defined only at the end index. Edge(axis, high, 0, GhostPoint, 3) has the weights
// 3, -3, 1; Edge(axis, high, 0, Inner, 1) is the end point itself.
func (a Axis) Edge(axis int, high bool, derivative int, at Location, points int) (*Line, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	switch {
	case a.Boundary == Periodic:
		return nil, fmt.Errorf("axis %s is periodic and has no ends", a.Name)
	case at < GhostPoint || at > Inner:
		return nil, fmt.Errorf("axis %s: unknown location at its end", a.Name)
	case derivative < 0 || derivative > MaxDerivative:
		return nil, fmt.Errorf("derivative %d at the end of axis %s: want 0 to %d", derivative, a.Name, MaxDerivative)
	case points <= derivative:
		return nil, fmt.Errorf("derivative %d at the end of axis %s from %d points: needs at least %d", derivative, a.Name, points, derivative+1)
	case points > 8:
		return nil, fmt.Errorf("%d points at the end of axis %s: want 8 at most", points, a.Name)
	case points > a.Points:
		return nil, fmt.Errorf("axis %s has %d points; a formula at its end wants %d", a.Name, a.Points, points)
	}
	outside := 0.0 // distance outwards from the end point, in steps
	switch {
	case at == GhostPoint:
		outside = 1
	case at == Wall && a.Boundary == Cells:
		outside = 0.5
	}
	end, name := 0, "low"
	weights := unitWeights(derivative, -outside, 0, points)
	if high {
		end, name = a.Points-1, "high"
	}
	scale := math.Pow(a.Step(), -float64(derivative))
	if high && derivative%2 == 1 {
		scale = -scale // the points are counted against the coordinate
	}
	label := fmt.Sprintf("%s at the %s %s of %s from %d points", symbol(a.Name, derivative), name, at, a.Name, points)
	return newLine(axis, a.Points, label, func(i int) *row {
		if i != end {
			return nil
		}
		sum := newSum()
		for k, w := range weights {
			j := k
			if high {
				j = end - k
			}
			sum.weight[j] = scale * w
		}
		return sum.row(i)
	}), nil
}
