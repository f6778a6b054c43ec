package grid

import (
	"fmt"
	"slices"
	"strings"
)

// Defined reports whether the line has a value at index i.
func (l *Line) Defined(i int) bool { return l.class[i] >= 0 }

// Affine reports whether a constant is added anywhere.
func (l *Line) Affine() bool {
	return slices.ContainsFunc(l.rows, func(r row) bool { return r.constant != 0 })
}

// Row returns the stencil at index i: the result there is
// Σ_k coefs[k]·u[indices[k]] + constant. ok is false where the line is undefined.
func (l *Line) Row(i int) (indices []int, coefs []float64, constant float64, ok bool) {
	if l.class[i] < 0 {
		return nil, nil, 0, false
	}
	r := l.rows[l.class[i]]
	for _, o := range r.offset {
		indices = append(indices, i+o)
	}
	return indices, slices.Clone(r.coef), r.constant, true
}

// Stencil writes the row at index i as text, for instance
// "400 u[3] - 800 u[4] + 400 u[5]".
func (l *Line) Stencil(i int) string {
	indices, coefs, constant, ok := l.Row(i)
	if !ok {
		return "undefined"
	}
	var b strings.Builder
	write := func(c float64, rest string) {
		switch {
		case b.Len() == 0 && c < 0:
			b.WriteString("-")
		case b.Len() > 0 && c < 0:
			b.WriteString(" - ")
		case b.Len() > 0:
			b.WriteString(" + ")
		}
		fmt.Fprintf(&b, "%.6g%s", max(c, -c), rest)
	}
	for k, j := range indices {
		write(coefs[k], fmt.Sprintf(" u[%d]", j))
	}
	if constant != 0 || b.Len() == 0 {
		write(constant, "")
	}
	return b.String()
}
