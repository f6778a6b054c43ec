package grid

// A Sparse operator can show its rows: those made of stencils can, spectral
// ones cannot.
type Sparse interface {
	Operator
	// Row calls visit for every entry of row p: a grid point and its coefficient.
	Row(p int, visit func(q int, coef float64))
}

// Row implements Sparse.
func (s *stencil) Row(p int, visit func(q int, coef float64)) {
	offset, coef := s.pattern(p)
	for i, o := range offset {
		visit(p+int(o), coef[i])
	}
}

var _ Sparse = (*stencil)(nil)
