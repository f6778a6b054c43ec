package grid

import (
	"fmt"
	"slices"
)

// Line is a linear (or affine) operator along one axis: the result at index i
// is a short sum of coefficients times values at indices near i (or, on
// a periodic axis, near i after wrapping), plus a constant. At some indices it may
// be undefined. Lines are immutable.
type Line struct {
	axis   int
	length int
	name   string
	rows   []row   // the distinct rows
	class  []int32 // per index: position in rows, -1 where undefined
}

// row holds one stencil: Σ coef[k] u[i+offset[k]] + constant, offsets increasing.
type row struct {
	offset   []int
	coef     []float64
	constant float64
}

func (r row) equal(s row) bool {
	return r.constant == s.constant && slices.Equal(r.offset, s.offset) && slices.Equal(r.coef, s.coef)
}

// newLine builds a line from one absolute row per index (nil: undefined),
// merging equal ones.
func newLine(axis, length int, name string, at func(i int) *row) *Line {
	l := &Line{axis: axis, length: length, name: name, class: make([]int32, length)}
	for i := range length {
		r := at(i)
		if r == nil {
			l.class[i] = -1
			continue
		}
		k := slices.IndexFunc(l.rows, r.equal)
		if k < 0 {
			k = len(l.rows)
			l.rows = append(l.rows, *r)
		}
		l.class[i] = int32(k)
	}
	return l
}

// sum collects the row Σ weight·u[index] + constant for the point i.
type sum struct {
	weight   map[int]float64
	constant float64
}

func newSum() sum { return sum{weight: map[int]float64{}} }

func (s sum) row(i int) *row {
	r := &row{constant: s.constant}
	for j, w := range s.weight {
		if w != 0 {
			r.offset = append(r.offset, j-i)
		}
	}
	slices.Sort(r.offset)
	for _, o := range r.offset {
		r.coef = append(r.coef, s.weight[i+o])
	}
	return r
}

// String describes the scheme.
func (l *Line) String() string { return l.name }

// compose returns the line u ↦ outer(inner(u)). Both must be lines of the same
// axis. It is undefined where outer is, or where outer reads an index at which
// inner is undefined.
func compose(outer, inner *Line) *Line {
	if outer.axis != inner.axis || outer.length != inner.length {
		panic("grid: Compose: lines of different axes")
	}
	name := fmt.Sprintf("%s of %s", outer.name, inner.name)
	return newLine(outer.axis, outer.length, name, func(i int) *row {
		if outer.class[i] < 0 {
			return nil
		}
		o := outer.rows[outer.class[i]]
		s := newSum()
		s.constant = o.constant
		for k, off := range o.offset {
			j := i + off
			if inner.class[j] < 0 {
				return nil
			}
			r := inner.rows[inner.class[j]]
			s.constant += o.coef[k] * r.constant
			for q, t := range r.offset {
				s.weight[j+t] += o.coef[k] * r.coef[q]
			}
		}
		return s.row(i)
	})
}
