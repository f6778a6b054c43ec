package constraint

import (
	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// store keeps the basis of a sample and the rows of every block in float64 or in
// float32. What is computed from them is float64. A part is pde.BlockSize rows of a block,
// or what is left of it.
type store interface {
	// gather fills the rows from the basis.
	gather(g *grid.Gatherer)
	// product sets z to A_j v on a part of a block: zeros where those rows are kept with
	// another term's.
	product(z []float64, block, part, j int, v, scratch []float64)
	// normal adds JᵀJ and Jᵀr of a part, J = Σ_j diag(f[j]) A_j, to the sums. It clears
	// the factors of terms that have no rows of their own.
	normal(p *sums, block, part int, f [][]float64, r, scratch []float64)
	// curvature adds what completeCurvature makes Σ_jk A_jᵀ diag(s_jk) A_k of a part of
	// m rows, with s_jk = s_kj at s[j*J+k]; it may change s.
	curvature(p *sums, block, part, m int, s [][]float64, scratch []float64)
	completeCurvature(c []float64)
	// basisProduct sets z to rows lo, lo+1, ... of the basis times v.
	basisProduct(z []float64, lo int, v, scratch []float64)
	// basisRows returns rows [lo, hi) of the basis, in scratch where they are float32.
	basisRows(lo, hi int, scratch []float64) []float64
}

// rows is a store of one precision. In memory a part's matrices are views of lists.
type rows[T kernel.Float] struct {
	n     int
	basis []T            // (C, P, n) point-major: μ Π b
	lists []grid.Rows[T] // per block: A_j (m, n) of every term, nil where kept with another's
	parts [][][][]T      // per block and part: the same
}

func newRows[T kernel.Float](c *Constraint, blocks []*block) *rows[T] {
	n := c.N
	s := &rows[T]{n: n, basis: make([]T, c.System.FieldSize()*n)}
	for _, b := range blocks {
		list := grid.Rows[T]{Points: b.Points, Operators: b.Set.Terms, Values: make([][]T, len(b.Set.Terms))}
		held := 0 // a term whose rows are kept
		for j, t := range b.Set.Terms {
			if c.kept(t) {
				list.Values[j], held = make([]T, len(b.Points)*n), j
			}
		}
		var parts [][][]T
		for lo := 0; lo < len(b.Points); lo += pde.BlockSize {
			views := make([][]T, len(list.Values))
			for j, a := range list.Values {
				if a == nil {
					a = list.Values[held] // of the right size, and not read
				}
				views[j] = a[lo*n : min(lo+pde.BlockSize, len(b.Points))*n]
			}
			parts = append(parts, views)
		}
		s.lists, s.parts = append(s.lists, list), append(s.parts, parts)
	}
	return s
}

func (s *rows[T]) gather(g *grid.Gatherer) { grid.Gather(g, s.basis, s.n, s.lists) }

func (s *rows[T]) product(z []float64, block, part, j int, v, scratch []float64) {
	if s.lists[block].Values[j] == nil {
		clear(z)
		return
	}
	matVec(z, s.n, s.parts[block][part][j], v, scratch)
}

func matVec[T kernel.Float](z []float64, n int, a []T, v, scratch []float64) {
	switch a := any(&a).(type) {
	case *[]float64:
		kernel.MatVecRows(z, n, len(z), *a, v)
	case *[]float32:
		kernel.MatVecRows32(z, n, len(z), *a, v, scratch)
	}
}

func (s *rows[T]) normal(p *sums, block, part int, f [][]float64, r, scratch []float64) {
	for j, a := range s.lists[block].Values {
		if a == nil {
			f[j] = nil
		}
	}
	switch a := any(&s.parts[block][part]).(type) {
	case *[][]float64:
		kernel.AccumulateNormal(p.gram, p.grad, s.n, len(r), f, *a, r, scratch)
	case *[][]float32:
		kernel.AccumulateNormal32(p.gram, p.grad, s.n, len(r), f, *a, r, scratch)
	}
}

func (s *rows[T]) curvature(p *sums, block, part, m int, f [][]float64, scratch []float64) {
	switch a := any(&s.parts[block][part]).(type) {
	case *[][]float64:
		kernel.AccumulateHessian(p.curvature, s.n, m, f, *a, scratch)
	case *[][]float32: // half as many products, of which the transpose is missing
		for j := range *a {
			if d := f[j*len(*a)+j]; d != nil {
				kernel.MulScalar64(d, 0.5, d)
			}
		}
		kernel.AccumulateCurvature32(p.curvature, s.n, m, f, *a, scratch)
	}
}

func (s *rows[T]) completeCurvature(c []float64) {
	if _, narrow := any(s.basis).([]float32); narrow {
		kernel.AddTranspose(c, s.n)
	} else {
		kernel.Symmetrize(c, s.n)
	}
}

func (s *rows[T]) basisProduct(z []float64, lo int, v, scratch []float64) {
	matVec(z, s.n, s.basis[lo*s.n:(lo+len(z))*s.n], v, scratch)
}

func (s *rows[T]) basisRows(lo, hi int, scratch []float64) []float64 {
	a := s.basis[lo*s.n : hi*s.n]
	switch a := any(&a).(type) {
	case *[]float64:
		return *a
	case *[]float32:
		kernel.Widen(scratch[:len(*a)], *a)
	}
	return scratch[:len(a)]
}
