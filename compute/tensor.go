package compute

// Tensor is a named view of a flat parameter slice: Shape, row-major, from Offset on. Of a Complex one the third axis
// from the last is the real and the imaginary part.
type Tensor struct {
	Name   string
	Shape  []int
	Offset int

	Complex bool
}

// Size returns the number of elements.
func (t Tensor) Size() int {
	n := 1
	for _, s := range t.Shape {
		n *= s
	}
	return n
}
