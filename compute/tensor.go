package compute

// Tensor is a named view of a flat parameter slice: Shape, row-major, from Offset on.
type Tensor struct {
	Name   string
	Shape  []int
	Offset int
}

// Size returns the number of elements.
func (t Tensor) Size() int {
	n := 1
	for _, s := range t.Shape {
		n *= s
	}
	return n
}
