package xla

import (
	"slices"

	"pihc/constraint"
	"pihc/pde"
)

// rowSet is one set of rows as the solves of all K experts see it: m rows each, of
// which the last may be padding where experts have different numbers.
type rowSet struct {
	set       *pde.RowSet
	terms     []value // A_j (K, m, N)
	constants []value // per term (K, m), nothing where there are none
	extras    []value // (K, m)
	scale     value   // (K, m): what multiplies squares; 0 for padding
	padding   value   // (K, m), nothing where there is none
}

// rowCounts returns how many points each expert's rows of a set have, and the most of
// these: the length of all experts' rows, the last of which may be padding.
func rowCounts(c *constraint.Constraint, set *pde.RowSet) (counts []int, most int) {
	for i := range c.Router.Experts() {
		counts = append(counts, len(c.Points(set, i)))
	}
	return counts, slices.Max(counts)
}

// gatherRows forms the rows of every set for the solves.
func (s *sample) gatherRows(drawnPoints value) {
	c, k := s.constraint, s.constraint.Router.Experts()
	wholes, offsets := s.terms.wholes(s.basis), map[int]value{}
	if s.offset.exists() {
		offsets = s.terms.wholes(s.offset)
	}
	at := 0 // in drawnPoints
	for _, set := range s.System.Sets {
		r := rowSet{set: set}
		counts, m := rowCounts(c, set)
		if m == 0 {
			continue
		}
		s.scaleRows(&r, counts, m)
		var points value
		if set.Kind == pde.ResidualRows && drawn(c) {
			points = s.reshape(s.slice(drawnPoints, 0, at, at+k*m), k, m)
			at += k * m
		} else {
			points = s.fixedPoints(set, m)
		}
		flat := s.reshape(points, k*m)
		for _, j := range set.Terms {
			r.terms = append(r.terms, s.reshape(s.terms.rowsOf(j, s.basis, wholes[j], flat), k, m, c.N))
			constant := s.terms.offset(j, flat)
			if s.offset.exists() {
				constant = s.total(s.reshape(s.terms.rowsOf(j, s.offset, offsets[j], flat), k*m), constant)
			}
			if constant.exists() {
				constant = s.reshape(constant, k, m)
			}
			r.constants = append(r.constants, constant)
		}
		for _, x := range s.terms.extras(set, flat, s.given) {
			r.extras = append(r.extras, s.reshape(x, k, m))
		}
		s.sets, s.points = append(s.sets, r), append(s.points, points)
	}
}

// scaleRows sets what multiplies the squares of a set's rows, of which each expert has a
// number and all have the length m, and which of them are padding.
func (s *sample) scaleRows(r *rowSet, counts []int, m int) {
	k := len(counts)
	if slices.Min(counts) == m {
		r.scale = s.full(s.constraint.Options.RowScale(r.set, m), f64, k, m)
		return
	}
	scale, padding := make([]float64, 0, k*m), make([]int32, 0, k*m)
	for _, n := range counts {
		factor := s.constraint.Options.RowScale(r.set, max(1, n))
		scale = append(scale, slices.Repeat([]float64{factor}, n)...)
		scale = append(scale, make([]float64, m-n)...)
		padding = append(padding, make([]int32, n)...)
		padding = append(padding, slices.Repeat([]int32{1}, m-n)...)
	}
	r.scale = s.numbers(scale, f64, k, m)
	r.padding = s.than("NE", s.integers(padding, k, m), 0)
}

// fixedPoints are the points (K, m) of rows that do not change.
func (s *sample) fixedPoints(set *pde.RowSet, m int) value {
	k := s.constraint.Router.Experts()
	points := make([]int32, 0, k*m)
	for i := range k {
		points = pad(append(points, s.constraint.Points(set, i)...), (i+1)*m, set)
	}
	return s.integers(points, k, m)
}

// pad appends a point at which a set's rows can be formed up to a length.
func pad(points []int32, to int, set *pde.RowSet) []int32 {
	for len(points) < to {
		points = append(points, set.Points[0])
	}
	return points
}

// scatter adds the adjoint rows of all sets to α (C P, K), and forms β (C P, K) of them.
func (s *sample) scatter(solver *solver, alpha, omega, lambda value, paper bool) (sum, beta value) {
	k, size := alpha.shape[1], s.gridSize()
	pulled := map[int]value{} // per term (P, 2K)
	for i, r := range s.sets {
		rows := solver.adjointRows(r, omega, lambda, paper)
		m := s.points[i].shape[1]
		// Expert k writes to its own copy of the grid; padding writes beyond all.
		to := s.add(s.points[i], s.spread(s.times(s.iota(i32, k), float64(size)), []int{k, m}, 0))
		if r.padding.exists() {
			to = s.where(r.padding, s.full(float64(k*size), i32, k, m), to)
		}
		for j, t := range r.set.Terms {
			both := s.stack(2, rows.s[j], rows.q[j])
			v := s.put(s.full(0, f64, k*size, 2), s.reshape(to, k*m), s.reshape(both, k*m, 2), false)
			v = s.reshape(s.transpose(s.reshape(v, k, size, 2), 1, 2, 0), size, 2*k)
			pulled[t] = s.total(pulled[t], v)
		}
	}
	fields := s.terms.pullBackAll(pulled, 2*k)
	return s.add(alpha, s.slice(fields, 1, 0, k)), s.slice(fields, 1, k, 2*k)
}
