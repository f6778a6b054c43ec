package constraint

import (
	"pihc/internal/kernel"
	"pihc/internal/slab"
)

// A Solution is the weights ω_k of every expert, in the memory of a Workspace and valid until its next
// Assemble.
type Solution struct{ memory *Workspace }

// Field assembles û = g_0 + μΠb ω_k (C, P) over the subdomains; with Options.Blend neighbours go over into each other.
func (x Solution) Field() []float64 {
	s := x.memory
	s.c.pool.Run(len(s.field)/s.c.System.SliceSize(), func(worker, slice int) {
		for _, e := range s.experts {
			s.segments(e.index, slice, func(lo, hi int) {
				s.store.basisProduct(s.workers[worker], s.field[lo:hi], lo, e.omega)
				if s.offset != nil {
					kernel.Axpy64(s.field[lo:hi], 1, s.offset[lo:hi])
				}
			})
		}
	})
	s.blend()
	slab.Fill(s.c.System.Slab, s.field, s.c.System.SliceSize())
	return s.field
}

// segments calls f for each run of own points of expert k in a slice along axis 0 of a field (C, P).
func (s *Workspace) segments(k, slice int, f func(lo, hi int)) {
	r, slices := &s.c.runs[k], s.c.System.Grid.Axes[0].Points
	base := slice / slices * s.c.System.Grid.Size()
	slice %= slices
	for _, run := range r.at[r.start[slice]:r.start[slice+1]] {
		f(base+run[0], base+run[1])
	}
}

// Experts is the number of solves, one for every subdomain.
func (x Solution) Experts() int { return len(x.memory.experts) }

// Weights returns ω_k.
func (x Solution) Weights(k int) []float64 { return x.memory.experts[k].omega }

// Count sums up the solves and their adjoints, which Backward makes: iterations, solves that
// ended early, and adjoints that used another matrix than asked for.
func (x Solution) Count() (iterations, failed, fallbacks int) {
	s := x.memory
	if s.c.Options.Fixed {
		return 0, 0, 0
	}
	for _, e := range s.experts {
		iterations += e.result.Iterations
		if e.result.Status.Early() {
			failed++
		}
		if e.adjoint != s.c.Options.Adjoint {
			fallbacks++
		}
	}
	return iterations, failed, fallbacks
}
