// Package grid describes the points on which fields live and the linear
// operators that act on them: uniform axes with a stated boundary type, windows
// (boxes of indices), finite-difference lines along one axis, and operators on
// the whole grid, each with its transpose.
//
// A field is a flat []float64 of Grid.Size() values, row-major: axis 0 (time, as
// a rule) varies slowest and the last axis is contiguous. A basis of n fields is
// point-major: the n values of one point are contiguous.
package grid

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Boundary says where the points of an axis lie, and whether its ends are joined: those of a periodic one at
// lo + i h with h = (hi-lo)/n, of cells at lo + (i+1/2) h, of nodes at lo + i h with h = (hi-lo)/(n-1).
// It is always stated, never guessed.
type Boundary int

const (
	Periodic Boundary = iota // points lo + i h, h = (hi-lo)/n; hi is the same point as lo
	Cells                    // cell centres lo + (i+1/2) h, h = (hi-lo)/n; walls half a step outside
	Nodes                    // points lo + i h, h = (hi-lo)/(n-1); both ends are points
)

var boundaryNames = []string{"periodic", "cells", "nodes"}

// String returns the name used in PDE files.
func (b Boundary) String() string { return nameOf(boundaryNames, int(b)) }

// UnmarshalText implements encoding.TextUnmarshaler: the inverse of String.
func (b *Boundary) UnmarshalText(text []byte) error {
	return setName(b, "boundary", boundaryNames, string(text))
}

// Axis is one uniform coordinate axis.
type Axis struct {
	Name     string
	Lo, Hi   float64 // ends of the physical interval, Lo < Hi
	Points   int
	Boundary Boundary
}

// Step returns the distance between neighbouring points.
func (a Axis) Step() float64 {
	if a.Boundary == Nodes {
		return (a.Hi - a.Lo) / float64(a.Points-1)
	}
	return (a.Hi - a.Lo) / float64(a.Points)
}

// Coordinate returns the position of point i, which may lie outside
// [0, Points): then it is the position of a ghost point.
func (a Axis) Coordinate(i int) float64 {
	switch {
	case a.Boundary == Cells:
		return a.Lo + (float64(i)+0.5)*a.Step()
	case a.Boundary == Nodes && i == a.Points-1:
		return a.Hi // exactly, whatever the rounding of the step
	}
	return a.Lo + float64(i)*a.Step()
}

// Coordinates returns the positions of all points, rising from Lo or next to it: the centres of cells are not at the ends.
func (a Axis) Coordinates() []float64 {
	x := make([]float64, a.Points)
	for i := range x {
		x[i] = a.Coordinate(i)
	}
	return x
}

// Validate returns an error of one line if the axis makes no sense.
func (a Axis) Validate() error {
	least := 1
	if a.Boundary == Nodes {
		least = 2
	}
	switch {
	case a.Name == "":
		return errors.New("an axis has no name")
	case a.Boundary < Periodic || a.Boundary > Nodes:
		return fmt.Errorf("axis %s has an unknown boundary type", a.Name)
	case math.IsNaN(a.Lo) || math.IsInf(a.Lo, 0) || math.IsNaN(a.Hi) || math.IsInf(a.Hi, 0) || a.Lo >= a.Hi:
		return fmt.Errorf("axis %s runs from %g to %g; want two finite numbers in increasing order", a.Name, a.Lo, a.Hi)
	case a.Points < least:
		return fmt.Errorf("axis %s has %d points; %s needs at least %d", a.Name, a.Points, a.Boundary, least)
	}
	return nil
}

// Grid is the tensor product of its axes, axis 0 slowest.
type Grid struct {
	Axes []Axis
}

// Validate checks every axis, that names are distinct, and that the points can
// be numbered by an int32.
func (g *Grid) Validate() error {
	if len(g.Axes) == 0 {
		return errors.New("no axes")
	}
	size := 1
	for i, a := range g.Axes {
		if err := a.Validate(); err != nil {
			return err
		}
		for _, b := range g.Axes[:i] {
			if a.Name == b.Name {
				return fmt.Errorf("two axes are named %s", a.Name)
			}
		}
		if a.Points > math.MaxInt32/size {
			return fmt.Errorf("more than %d points in all", math.MaxInt32)
		}
		size *= a.Points
	}
	return nil
}

// Size returns the number of points P.
func (g *Grid) Size() int {
	size := 1
	for _, a := range g.Axes {
		size *= a.Points
	}
	return size
}

// Shape returns the points per axis.
func (g *Grid) Shape() []int {
	shape := make([]int, len(g.Axes))
	for i, a := range g.Axes {
		shape[i] = a.Points
	}
	return shape
}

// PointsByName returns the points per axis by the names of the axes.
func (g *Grid) PointsByName() map[string]int {
	points := map[string]int{}
	for _, a := range g.Axes {
		points[a.Name] = a.Points
	}
	return points
}

// Strides returns the distance in a field between neighbours along each axis;
// the last stride is 1.
func (g *Grid) Strides() []int {
	strides := make([]int, len(g.Axes))
	stride := 1
	for i := len(g.Axes) - 1; i >= 0; i-- {
		strides[i] = stride
		stride *= g.Axes[i].Points
	}
	return strides
}

// Unravel writes the index of point p along each axis to index, which must have
// one element per axis.
func (g *Grid) Unravel(p int, index []int) {
	if len(index) != len(g.Axes) {
		panic("grid: Unravel: index must have one element per axis")
	}
	for i := len(g.Axes) - 1; i >= 0; i-- {
		n := g.Axes[i].Points
		index[i] = p % n
		p /= n
	}
}

// Ravel is the inverse of Unravel.
func (g *Grid) Ravel(index []int) int {
	if len(index) != len(g.Axes) {
		panic("grid: Ravel: index must have one element per axis")
	}
	p := 0
	for i, a := range g.Axes {
		p = p*a.Points + index[i]
	}
	return p
}

// Window returns the points of the box of indices lo[d] <= index < hi[d], increasing; an empty
// side leaves none. It panics if the box does not lie in the grid.
func (g *Grid) Window(lo, hi []int) []int32 {
	if len(lo) != len(g.Axes) || len(hi) != len(g.Axes) {
		panic("grid: Window: box and grid have different numbers of axes")
	}
	for d, a := range g.Axes {
		if lo[d] < 0 || hi[d] > a.Points {
			panic("grid: Window: box reaches outside the grid")
		}
	}
	points := []int32{0}
	for d, a := range g.Axes {
		longer := make([]int32, 0, len(points)*max(0, hi[d]-lo[d]))
		for _, p := range points {
			for i := lo[d]; i < hi[d]; i++ {
				longer = append(longer, p*int32(a.Points)+int32(i))
			}
		}
		points = longer
	}
	return points
}

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "unknown"
	}
	return names[i]
}

func setName[T ~int](to *T, what string, names []string, name string) error {
	i := slices.Index(names, name)
	if i < 0 {
		last := len(names) - 1
		return fmt.Errorf("unknown %s %q: want %s or %s", what, name, strings.Join(names[:last], ", "), names[last])
	}
	*to = T(i)
	return nil
}

// Nearest returns the point that is nearest to a coordinate, the lower of two.
func (a Axis) Nearest(x float64) int {
	i := int(math.Ceil((x-a.Coordinate(0))/a.Step() - 0.5 - 1e-9))
	if a.Boundary == Periodic {
		return (i%a.Points + a.Points) % a.Points
	}
	return min(max(i, 0), a.Points-1)
}
