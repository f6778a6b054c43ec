package constraint

import (
	"pihc/compute"
	"pihc/internal/kernel"
	"pihc/internal/slab"
)

// alphaParts is the number of pieces the sum ω̄_k is formed in.
const alphaParts = 8

// tilePoints is the number of grid points of one piece of b̄.
const tilePoints = 1024

// Backward computes b̄ = ∂L/∂b (N, C, P), of the network's functions alone, from ū = ∂L/∂û (C, P) and overwrites bbar; of a part
// of a System P are the own points in bbar, as in Load, and those stored in ubar.
// jump and slope are the weights in L of the two means of Jumps.
//
// Per expert it forms two scalar fields, α_k = 1_{Ω_k} ū − p_k and β_k = −q_k,
// and b̄ = Σ_k Πᵀ[μ α_k] ω_kᵀ + Πᵀ[μ β_k] λ_kᵀ (docs/constraint.md, section 8).
func (x Solution) Backward[T compute.Float](bbar []T, ubar []float64, jump, slope float64) {
	s := x.memory
	s.restrict(ubar)
	if !s.c.Options.Fixed {
		s.sumOmegaBar()
	}
	if s.c.allPairs > 0 && (jump != 0 || slope != 0) {
		s.spreadJumps(jump, slope)
	}
	system := s.c.System
	if !s.c.Options.Fixed {
		s.sum(s.omegaBars...)
		s.forExperts(problem.adjointSolve)
		s.gatherer.Scatter(s.adjointFields, s.adjointLists)
		for _, f := range s.adjointFields {
			slab.Collect(system.Slab, f, system.SliceSize())
		}
	}
	s.projectTransposed()
	size, unknowns := system.Grid.Size(), len(system.Problem.Unknowns)
	first, end := system.OwnPoints()
	tiles := (end - first + tilePoints - 1) / tilePoints
	s.c.pool.Run(tiles*unknowns, func(worker, i int) {
		unknown, lo := i/tiles, first+i%tiles*tilePoints
		hi := min(lo+tilePoints, end)
		combineFields(s, s.workers[worker], bbar, unknown, unknown*size+lo, unknown*size+hi, unknown*(end-first)+lo-first)
	})
}

// restrict sets α_k = 1_{Ω_k} ū and β_k = 0.
func (s *Workspace) restrict(ubar []float64) {
	width := s.c.System.SliceSize()
	s.c.pool.Run(len(ubar)/width, func(_, slice int) {
		lo, hi := slice*width, (slice+1)*width
		for _, e := range s.experts {
			clear(e.alpha[lo:hi])
			clear(e.beta[lo:hi])
			s.segments(e.index, slice, func(lo, hi int) { copy(e.alpha[lo:hi], ubar[lo:hi]) })
		}
	})
}

// sumOmegaBar forms ω̄_k = Σ_{Ω_k} (μΠb)ᵀ α_k.
func (s *Workspace) sumOmegaBar() {
	n, slices, unknowns := s.c.stored, s.c.System.Grid.Axes[0].Points, len(s.c.System.Problem.Unknowns)
	s.c.pool.Run(len(s.parts), func(worker, i int) {
		e, part, sum := s.experts[i/alphaParts], i%alphaParts, s.parts[i]
		clear(sum)
		for unknown := range unknowns {
			own := sum[s.c.first(unknown):][:n]
			for slice := part * slices / alphaParts; slice < (part+1)*slices/alphaParts; slice++ {
				s.segments(e.index, unknown*slices+slice, func(lo, hi int) {
					kernel.AccumulateTransposed(own, n, hi-lo, s.store.basisRows(s.workers[worker], lo, hi), e.alpha[lo:hi])
				})
			}
		}
	})
	for k, e := range s.experts {
		clear(e.omegaBar)
		for _, sum := range s.parts[k*alphaParts : (k+1)*alphaParts] {
			kernel.Axpy64(e.omegaBar, 1, sum)
		}
	}
}

// projectTransposed applies Sᵀ, μ and then Πᵀ, where asked the removal of the mean over
// each slice, to the scalar fields.
func (s *Workspace) projectTransposed() {
	if s.propagation != nil {
		s.propagateTransposed()
	}
	mu := s.c.multiplier
	s.c.pool.Run(len(s.adjointFields), func(_, i int) {
		f := s.adjointFields[i]
		smoothTransposed(s.c, f)
		if mu != nil {
			kernel.Mul64(f, f, mu)
		}
		s.c.System.RemoveMeans(f)
	})
}

// combineFields writes b̄ at points [lo, hi) of fields (C, P), all of one unknown, from to on.
func combineFields[T compute.Float](s *Workspace, w *worker, bbar []T, unknown, lo, hi, to int) {
	size, column := s.c.ownSize(), s.c.column(unknown)
	fields := w.fields[:0]
	for _, e := range s.experts {
		fields = append(fields, e.alpha[lo:hi])
		if !s.c.Options.Fixed {
			fields = append(fields, e.beta[lo:hi])
		}
	}
	for i := range s.c.Functions - s.c.Options.Directions {
		coefficients := w.coefficients[:0]
		for _, e := range s.experts {
			coefficients = append(coefficients, e.omega[column+i])
			if !s.c.Options.Fixed {
				coefficients = append(coefficients, e.lambda[column+i])
			}
		}
		kernel.CombineFields(bbar[i*size+to:][:hi-lo], coefficients, fields)
	}
}
