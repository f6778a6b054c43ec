package constraint

import (
	"pihc/compute"
	"pihc/internal/kernel"
	"pihc/internal/slab"
	"pihc/pde"
)

// alphaParts is the number of pieces the sum ω̄_k is formed in.
const alphaParts = 8

// tilePoints is the number of grid points whose b̄ is combined at a time.
const tilePoints = 256

// WindowValues is about how many values the fields α and β of all experts have at a time (Solution.Backward): as few
// slices of the grid as a cache holds, where a slice can do without the others. Bits do not depend on it.
const WindowValues = 1 << 20

// apart is the number of values between fields: a power of two from one to the next would put all into the
// same lines of a cache.
const apart = 72

// Backward computes b̄ = ∂L/∂b (N, C, P), of the network's functions alone, from ū = ∂L/∂û (C, P) and overwrites bbar; of a part
// of a System P are the own points in bbar, as in Load, and those stored in ubar.
// jump and slope are the weights in L of the two means of Jumps.
//
// Per expert it forms two scalar fields, α_k = 1_{Ω_k} ū − p_k and β_k = −q_k,
// and b̄ = Σ_k Πᵀ[μ α_k] ω_kᵀ + Πᵀ[μ β_k] λ_kᵀ (docs/reference/constraint.md, section 8).
func (x Solution) Backward[T compute.Float](bbar []T, ubar []float64, jump, slope float64) {
	s := x.memory
	if s.c.Options.Blend > 0 {
		panic("constraint: Backward of a blended field")
	}
	fixed, jumps := s.c.Options.Fixed, s.c.allPairs > 0 && (jump != 0 || slope != 0)
	if !fixed {
		s.sumOmegaBar(ubar)
	}
	if jumps {
		s.spreadJumps(jump, slope)
	}
	if !fixed {
		s.sum(s.omegaBars...)
		s.forExperts(problem.adjointSolve)
		s.joinAdjoints()
	}
	s.setAdjointWeights()
	width, all := s.c.System.SliceSize(), s.c.System.Grid.Axes[0].Points
	for first := 0; first < all; first += s.slices {
		count := min(s.slices, all-first)
		s.restrict(ubar, first, count)
		if jumps {
			s.addJumps(first*width, (first+count)*width)
		}
		if !fixed {
			s.gatherer.Scatter(s.adjointFields, s.adjointLists, first)
			for _, f := range s.adjointFields {
				slab.Collect(s.c.System.Slab, f, width)
			}
		}
		s.projectTransposed(first, count)
		combineFields(s, bbar, first*width, (first+count)*width)
	}
}

// newAdjointFields makes the fields of the backward pass: of all slices where one does not do without the
// others, otherwise of as many as have WindowValues, in blocks that spectral terms do together.
func (s *Workspace) newAdjointFields() {
	system := s.c.System
	width, all := system.SliceSize(), system.Grid.Axes[0].Points
	fields := len(s.experts)
	if !s.c.Options.Fixed {
		fields *= 2
	}
	block := len(system.Problem.Unknowns) * width * kernel.LaneCount
	s.slices = min(all, max(1, WindowValues/(fields*block))*kernel.LaneCount)
	s.c.eachSmoother(func(_ int, m pde.Smoother) {
		if m.Axis == 0 {
			s.slices = all
		}
	})
	if system.Slab != nil || s.c.propagates() {
		s.slices = all
	}
	size := len(system.Problem.Unknowns) * width * s.slices
	s.adjointStride = size + apart
	s.adjointMemory = make([]float64, fields*s.adjointStride)
	for i := range fields {
		s.adjointFields = append(s.adjointFields, s.adjointMemory[i*s.adjointStride:][:size])
	}
	s.adjointWeights = make([]float64, s.c.N*fields)
}

// alpha is α_k.
func (s *Workspace) alpha(k int) []float64 {
	return s.adjointFields[k*len(s.adjointFields)/len(s.experts)]
}

// setAdjointWeights sets the weights of the fields, ω_k of α_k and λ_k of β_k.
func (s *Workspace) setAdjointWeights() {
	fields := len(s.adjointFields)
	each := fields / len(s.experts)
	for k, e := range s.experts {
		for i, v := range e.omega {
			s.adjointWeights[i*fields+k*each] = v
		}
		for i, v := range e.lambda[:len(e.lambda)*(each-1)] {
			s.adjointWeights[i*fields+k*each+1] = v
		}
	}
}

// restrict sets α_k = 1_{Ω_k} ū and β_k = 0, on so many slices from first on.
func (s *Workspace) restrict(ubar []float64, first, count int) {
	width, all := s.c.System.SliceSize(), s.c.System.Grid.Axes[0].Points
	size := len(s.c.System.Problem.Unknowns) * count * width
	for i := range s.adjointFields {
		s.adjointFields[i] = s.adjointFields[i][:size]
	}
	s.c.pool.Run(len(s.adjointFields), func(_, i int) {
		clear(s.adjointFields[i])
	})
	s.c.pool.Run(len(s.experts), func(_, k int) {
		alpha := s.alpha(k)
		for unknown := range s.c.System.Problem.Unknowns {
			to := (unknown*(count-all) - first) * width // of what is at 0 in a field of all slices
			for slice := first; slice < first+count; slice++ {
				s.segments(k, unknown*all+slice, func(lo, hi int) { copy(alpha[to+lo:to+hi], ubar[lo:hi]) })
			}
		}
	})
}

// sumOmegaBar forms ω̄_k = Σ_{Ω_k} (μΠb)ᵀ ū.
func (s *Workspace) sumOmegaBar(ubar []float64) {
	n, slices, unknowns := s.c.stored, s.c.System.Grid.Axes[0].Points, len(s.c.System.Problem.Unknowns)
	s.c.pool.Run(len(s.parts), func(worker, i int) {
		e, part, sum := s.experts[i/alphaParts], i%alphaParts, s.parts[i]
		clear(sum)
		for unknown := range unknowns {
			own := sum[s.c.first(unknown):][:n]
			for slice := part * slices / alphaParts; slice < (part+1)*slices/alphaParts; slice++ {
				s.segments(e.index, unknown*slices+slice, func(lo, hi int) {
					kernel.AccumulateTransposed(own, n, hi-lo, s.store.basisRows(s.workers[worker], lo, hi), ubar[lo:hi])
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
// each slice, to the scalar fields, of so many slices from first on; Πᵀ comes first where the mean has weights.
func (s *Workspace) projectTransposed(first, count int) {
	if s.c.System.WeighsMeans() {
		s.c.pool.Run(len(s.adjointFields), func(_, i int) { removeWeightedMeansTransposed(s.c, s.adjointFields[i]) })
	}
	if s.c.propagates() && (s.propagation != nil || s.linearSolver != nil) {
		s.propagateTransposed()
	}
	system, mu := s.c.System, s.c.multiplier
	width, all := system.SliceSize(), system.Grid.Axes[0].Points
	s.c.pool.Run(len(s.adjointFields), func(_, i int) {
		f := s.adjointFields[i]
		smoothTransposed(s.c, f)
		for unknown := range system.Problem.Unknowns {
			part := f[unknown*count*width:][:count*width]
			if mu != nil {
				kernel.Mul64(part, part, mu[(unknown*all+first)*width:][:len(part)])
			}
			for lo := 0; lo < len(part) && system.RemovesMean(unknown); lo += width {
				pde.RemoveMean(part[lo : lo+width])
			}
		}
	})
}

// combineFields writes b̄ at the own ones of points [lo, hi), of which there are α and β.
func combineFields[T compute.Float](s *Workspace, bbar []T, lo, hi int) {
	first, end := s.c.System.OwnPoints()
	begin := max(lo, first)
	tiles := (min(hi, end) - begin + tilePoints - 1) / tilePoints
	size, fields := s.c.ownSize(), len(s.adjointFields)
	s.c.pool.Run(len(s.c.System.Problem.Unknowns)*tiles, func(worker, i int) {
		unknown, p := i/tiles, begin+i%tiles*tilePoints
		points, at := min(tilePoints, min(hi, end)-p), unknown*(hi-lo)+p-lo
		n, column, sums := s.c.Functions-s.c.Options.Directions, s.c.column(unknown), s.workers[worker].tile
		kernel.Gemm(sums, points, n, points, nil, false, kernel.Product[float64]{
			A: s.adjointWeights[column*fields:], RowStride: fields, ColStride: 1, B: s.adjointMemory[at:], BStride: s.adjointStride, K: fields,
		}, kernel.Product[float64]{})
		to := unknown*(end-first) + p - first
		for i := range n {
			round(bbar[i*size+to:][:points], sums[i*points:])
		}
	})
}

// round rounds x to T.
func round[T compute.Float](dst []T, x []float64) {
	switch d := any(&dst).(type) {
	case *[]float64:
		copy(*d, x)
	case *[]float32:
		kernel.Narrow(*d, x)
	}
}
