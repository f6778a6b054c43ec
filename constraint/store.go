package constraint

import (
	"slices"

	"pihc/compute"
	"pihc/grid"
	"pihc/internal/kernel"
)

// store keeps the basis of a sample and the rows of every block in float64 or in
// float32. What is computed from them is float64. A part is kernel.BlockSize rows of a block,
// or what there is of it.
type store interface {
	// cut makes the rows of a block those at other points, at most as many as there is
	// memory for; of the first part so many are missing.
	cut(block int, points []int32, phase int)
	// gather fills the rows of blocks that are not foreign from the basis.
	gather(g *grid.Gatherer, foreign []bool)
	// product sets z to A_j v on a part of a block: zeros where those rows are kept with
	// another term's.
	product(w *worker, z []float64, block, part, j int, v []float64)
	// normal adds JᵀJ and Jᵀr of a part, J = Σ_j diag(f[j]) A_j, to the sums. It clears
	// the factors of terms that have no rows of their own.
	normal(w *worker, p *sums, block, part int, f [][]float64, r []float64)
	// curvature adds what completeCurvature makes Σ_jk A_jᵀ diag(s_jk) A_k of a part of
	// m rows, with s_jk = s_kj at s[j*J+k]; it may change s.
	curvature(w *worker, p *sums, block, part, m int, s [][]float64)
	completeCurvature(c []float64)
	// basisProduct sets z to rows lo, lo+1, ... of the basis, all of one unknown, times v.
	basisProduct(w *worker, z []float64, lo int, v []float64)
	// basisRows returns rows [lo, hi) of the basis (hi-lo, Functions), in memory of the
	// worker where they are float32.
	basisRows(w *worker, lo, hi int) []float64
}

// rows is a store of one precision. In memory a part's matrices are views of lists. With
// separate weights A_j has the columns of its term's unknown alone; those of the others
// are zero, and put in by widen for sums of terms.
type rows[T compute.Float] struct {
	c       *Constraint
	n       int            // functions
	basis   []T            // (C, P, n) point-major: μ Π b
	lists   []grid.Rows[T] // per block: A_j (m, n) of every term, nil where kept with another's
	parts   [][][][]T      // per block and part: the same
	columns [][]int        // per block: the first column of every term
	wide    [][][]T        // per worker and term (kernel.BlockSize, weights): what widen makes; nil where columns are all there are
}

func newRows[T compute.Float](c *Constraint, blocks []*block) *rows[T] {
	n, terms := c.stored, 0
	s := &rows[T]{c: c, n: n, basis: make([]T, c.System.FieldSize()*n)}
	for _, b := range blocks {
		var columns []int
		for _, t := range b.Set.Terms {
			columns = append(columns, c.first(c.System.Terms[t].Of))
		}
		s.columns, terms = append(s.columns, columns), max(terms, len(columns))
		list := grid.Rows[T]{Operators: b.Set.Terms, Values: make([][]T, len(b.Set.Terms))}
		for j, t := range b.Set.Terms {
			if c.kept(t) {
				list.Values[j] = make([]T, b.most*n)
			}
		}
		s.lists, s.parts = append(s.lists, list), append(s.parts, nil)
		s.cut(len(s.lists)-1, b.Points, b.phase)
	}
	for range c.pool.Workers() {
		if c.N == n {
			break
		}
		var wide [][]T
		for range terms {
			wide = append(wide, make([]T, kernel.BlockSize*c.N))
		}
		s.wide = append(s.wide, wide)
	}
	return s
}

func (s *rows[T]) cut(block int, points []int32, phase int) {
	list := &s.lists[block]
	list.Cut(points, s.n)
	held := slices.IndexFunc(list.Values, func(a []T) bool { return a != nil })
	parts := s.parts[block][:0]
	phase %= kernel.BlockSize
	for lo := -phase; lo < len(points); lo += kernel.BlockSize {
		parts = slices.Grow(parts, 1)[:len(parts)+1]
		views := &parts[len(parts)-1]
		if *views == nil {
			*views = make([][]T, len(list.Values))
		}
		for j, a := range list.Values {
			if a == nil {
				a = list.Values[held] // of the right size, and not read
			}
			(*views)[j] = a[max(lo, 0)*s.n : min(lo+kernel.BlockSize, len(points))*s.n]
		}
	}
	s.parts[block] = parts
}

// matrices returns A_j (m, weights) of every term of a part, until the worker's next call.
func (s *rows[T]) matrices(w *worker, block, part int) [][]T {
	narrow := s.parts[block][part]
	if s.wide == nil {
		return narrow
	}
	out := s.wide[w.index][:len(narrow)]
	for j, a := range narrow {
		rows, column := len(a)/s.n, s.columns[block][j]
		wide := out[j][:rows*s.c.N]
		for r := range rows {
			row := wide[r*s.c.N:][:s.c.N]
			clear(row)
			copy(row[column:], a[r*s.n:(r+1)*s.n])
		}
		out[j] = wide
	}
	return out
}

func (s *rows[T]) gather(g *grid.Gatherer, foreign []bool) {
	grid.Gather(g, s.basis, s.n, without(s.lists, foreign))
}

func (s *rows[T]) product(w *worker, z []float64, block, part, j int, v []float64) {
	if s.lists[block].Values[j] == nil {
		clear(z)
		return
	}
	matVec(z, s.n, s.parts[block][part][j], v[s.columns[block][j]:][:s.n], w.scratch)
}

func matVec[T compute.Float](z []float64, n int, a []T, v, scratch []float64) {
	switch a := any(&a).(type) {
	case *[]float64:
		kernel.MatVecRows(z, n, len(z), *a, v)
	case *[]float32:
		kernel.MatVecRows32(z, n, len(z), *a, v, scratch)
	}
}

func (s *rows[T]) normal(w *worker, p *sums, block, part int, f [][]float64, r []float64) {
	for j, a := range s.lists[block].Values {
		if a == nil {
			f[j] = nil
		}
	}
	matrices := s.matrices(w, block, part)
	switch a := any(&matrices).(type) {
	case *[][]float64:
		kernel.AccumulateNormal(p.gram, p.grad, s.c.N, len(r), f, *a, r, w.scratch)
	case *[][]float32:
		kernel.AccumulateNormal32(p.gram, p.grad, s.c.N, len(r), f, *a, r, w.scratch)
	}
}

func (s *rows[T]) curvature(w *worker, p *sums, block, part, m int, f [][]float64) {
	matrices := s.matrices(w, block, part)
	switch a := any(&matrices).(type) {
	case *[][]float64:
		kernel.AccumulateHessian(p.curvature, s.c.N, m, f, *a, w.scratch)
	case *[][]float32: // half as many products, of which the transpose is missing
		for j := range *a {
			if d := f[j*len(*a)+j]; d != nil {
				kernel.MulScalar64(d, 0.5, d)
			}
		}
		kernel.AccumulateCurvature32(p.curvature, s.c.N, m, f, *a, w.scratch)
	}
}

func (s *rows[T]) completeCurvature(c []float64) {
	if _, narrow := any(s.basis).([]float32); narrow {
		kernel.AddTranspose(c, s.c.N)
	} else {
		kernel.Symmetrize(c, s.c.N)
	}
}

func (s *rows[T]) basisProduct(w *worker, z []float64, lo int, v []float64) {
	column := s.c.first(lo / s.c.System.Grid.Size())
	matVec(z, s.n, s.basis[lo*s.n:(lo+len(z))*s.n], v[column:][:s.n], w.scratch)
}

func (s *rows[T]) basisRows(w *worker, lo, hi int) []float64 {
	a := s.basis[lo*s.n : hi*s.n]
	switch a := any(&a).(type) {
	case *[]float64:
		return *a
	case *[]float32:
		kernel.Widen(w.wide[:len(*a)], *a)
	}
	return w.wide[:len(a)]
}
