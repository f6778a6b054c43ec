package data

import "slices"

// AxisRecord is one axis of a dataset's grid as its manifest records it.
type AxisRecord struct {
	Name     string  `json:"name"`
	Lo       float64 `json:"lo"`
	Hi       float64 `json:"hi"`
	Points   int     `json:"points"`
	Boundary string  `json:"boundary"` // "periodic", "cells" or "nodes"
}

// Split is one part of a dataset: training, validation or test samples.
type Split struct {
	Name  string `json:"name"`
	Count int    `json:"count"` // samples, at least 1
	Seed  uint64 `json:"seed"`
	Solve bool   `json:"solve"` // with solutions
	// Axes of the grid: a solution has the shape of all.
	Axes []AxisRecord `json:"axes"`
	// Inputs are the fields and numbers that differ between samples; a split without them has
	// an initial condition, with the shape of all axes but the first.
	Inputs []InputRecord `json:"inputs,omitempty"`
	// Unknowns are the names of several unknowns, each with an array in every shard with
	// solutions; a split without them has one unknown, and its array is "solution".
	Unknowns []string `json:"unknowns,omitempty"`
}

// InputRecord is one input: a field along some of the axes, in their order, or, without
// axes, a number. Its values are an array of this name in every shard.
type InputRecord struct {
	Name string   `json:"name"`
	Axes []string `json:"axes,omitempty"`
}

// shape returns the shape of one input.
func (s Split) shape(in InputRecord) []int {
	var shape []int
	for _, a := range s.Axes {
		if slices.Contains(in.Axes, a.Name) {
			shape = append(shape, a.Points)
		}
	}
	return shape
}

// inputs returns the inputs of the split, or the initial condition if it names none.
func (s Split) inputs() []InputRecord {
	if len(s.Inputs) > 0 {
		return s.Inputs
	}
	in := InputRecord{Name: initialName}
	for _, a := range s.Axes[1:] {
		in.Axes = append(in.Axes, a.Name)
	}
	return []InputRecord{in}
}

// InputShape returns the shape of the inputs of one sample: that of an initial condition,
// or, where there are others, one number, that of all values one input after another.
func (s Split) InputShape() []int {
	if len(s.Inputs) == 0 {
		return points(s.Axes[1:])
	}
	sum := 0
	for _, in := range s.Inputs {
		size, _ := product(s.shape(in))
		sum += size
	}
	return []int{sum}
}

// GridShape returns the number of points along each axis.
func (s Split) GridShape() []int { return points(s.Axes) }

// SolutionShape returns the shape of one solution: that of the grid, with several unknowns
// after their number.
func (s Split) SolutionShape() []int {
	if len(s.Unknowns) == 0 {
		return s.GridShape()
	}
	return append([]int{len(s.Unknowns)}, s.GridShape()...)
}

// part is an array of the shards; the values of a sample are those of all parts, one after
// another.
type part struct {
	name  string
	shape []int // of one sample
}

func (s Split) inputParts() []part {
	var parts []part
	for _, in := range s.inputs() {
		parts = append(parts, part{in.Name, s.shape(in)})
	}
	return parts
}

func (s Split) solutionParts() []part {
	if len(s.Unknowns) == 0 {
		return []part{{solutionName, s.GridShape()}}
	}
	var parts []part
	for _, name := range s.Unknowns {
		parts = append(parts, part{name, s.GridShape()})
	}
	return parts
}

// parts are the arrays of a shard.
func (s Split) parts() []part {
	if !s.Solve {
		return s.inputParts()
	}
	return append(s.inputParts(), s.solutionParts()...)
}

// bytes are those of the values of one sample.
func (s Split) bytes(solutionType string) float64 {
	bytes := 0.0
	for i, p := range s.parts() {
		size, _ := product(p.shape)
		width := 8
		if i >= len(s.inputParts()) {
			width = bytesOf(solutionType)
		}
		bytes += float64(width) * float64(size)
	}
	return bytes
}

func points(axes []AxisRecord) []int {
	shape := make([]int, len(axes))
	for i, a := range axes {
		shape[i] = a.Points
	}
	return shape
}
