package constraint

import (
	"math"

	"pihc/internal/kernel"
)

// Jump returns the sum of squares and the number of jumps of the prediction
// across expert borders: at the points on both sides of a border, the
// difference between what the two experts predict there.
func (s *Sample) Jump() (squares float64, count int) {
	n := s.c.N
	for i, b := range s.c.borders {
		lower, upper := s.experts[b.lower].w, s.experts[b.upper].w
		for j, p := range b.points {
			row := s.basis[int(p)*n : (int(p)+1)*n]
			d := kernel.Dot(row, upper) - kernel.Dot(row, lower)
			s.jump[s.jumpStart[i]+j] = d
			squares += d * d
		}
	}
	return squares, len(s.jump)
}

// JumpRMS is the root mean square of the jumps, 0 without borders.
func (s *Sample) JumpRMS() float64 {
	squares, count := s.Jump()
	if count == 0 {
		return 0
	}
	return math.Sqrt(squares / float64(count))
}

// Backward computes b̄ = ∂L/∂b (N, P) from ū = ∂L/∂û (P) and overwrites bbar.
// jumpScale adds the gradient of ½ jumpScale Σ d² over the jumps of the last
// call of Jump (0: none).
//
// Per expert it forms two scalar fields, α_k = 1_{Ω_k} ū − p_k and β_k = −q_k,
// and b̄ = Σ_k Pᵀ[μ α_k] ω_kᵀ + Pᵀ[μ β_k] λ_kᵀ (DESIGN, section 1, "Backward").
func Backward[T kernel.Float](s *Sample, bbar []T, ubar []float64, jumpScale float64) {
	s.ubar, s.jumpScale = ubar, jumpScale
	s.c.pool.Run(s.slices, s.spreadTask)
	if !s.c.Options.Fixed {
		s.c.pool.Run(len(s.experts)*alphaParts, s.alphaTask)
		s.reduceParts()
	}
	if jumpScale != 0 {
		s.spreadJumps()
	}
	if !s.c.Options.Fixed {
		s.runExperts(s.adjointSolveTask)
		s.c.pool.Run(2*len(s.experts), s.scatterTask)
	}
	switch b := any(&bbar).(type) {
	case *[]float32:
		s.target32, s.target64 = *b, nil
	case *[]float64:
		s.target32, s.target64 = nil, *b
	}
	if s.c.System.Problem.Ansatz.RemoveMean {
		s.projectFields()
	}
	size := len(s.field)
	s.c.pool.Run((size+tilePoints-1)/tilePoints, s.outerTask)
	s.target32, s.target64, s.ubar = nil, nil, nil
}

// spreadSlice sets α_k = 1_{Ω_k} ū and β_k = 0 on one slice along axis 0.
func (s *Sample) spreadSlice(slice int) {
	width := len(s.field) / s.slices
	lo := slice * width
	for _, e := range s.experts {
		clear(e.alpha[lo : lo+width])
		clear(e.beta[lo : lo+width])
		s.segments(e.index, slice, func(lo, hi int) {
			copy(e.alpha[lo:hi], s.ubar[lo:hi])
		})
	}
}

// reducePart forms one piece of ω̄_k = Σ_{Ω_k} (μPb)ᵀ ū.
func (s *Sample) reducePart(k, part int) {
	n := s.c.N
	sum := s.partsOf[k*alphaParts+part]
	clear(sum)
	e := s.experts[k]
	for slice := part * s.slices / alphaParts; slice < (part+1)*s.slices/alphaParts; slice++ {
		s.segments(k, slice, func(lo, hi int) {
			kernel.AccumulateTransposed(sum, n, hi-lo, s.basis[lo*n:hi*n], e.alpha[lo:hi])
		})
	}
}

func (s *Sample) reduceParts() {
	for k, e := range s.experts {
		clear(e.wbar)
		for part := range alphaParts {
			kernel.Axpy64(e.wbar, 1, s.partsOf[k*alphaParts+part])
		}
	}
}

// spreadJumps adds the gradient of ½ jumpScale Σ d², d = b·(ω_u − ω_l), to α
// and ω̄ of the two experts of each border.
func (s *Sample) spreadJumps() {
	n := s.c.N
	for i, b := range s.c.borders {
		lower, upper := s.experts[b.lower], s.experts[b.upper]
		for j, p := range b.points {
			d := s.jumpScale * s.jump[s.jumpStart[i]+j]
			row := s.basis[int(p)*n : (int(p)+1)*n]
			kernel.Axpy64(upper.wbar, d, row)
			kernel.Axpy64(lower.wbar, -d, row)
			upper.alpha[p] += d
			lower.alpha[p] -= d
		}
	}
}

// scatter subtracts p_k = Σ_j T_jᵀ S_kᵀ s_j from α_k, or q_k = Σ_j T_jᵀ S_kᵀ q_j
// from β_k. The rows are negated in place: they are not needed afterwards.
func (s *Sample) scatter(k int, beta bool) {
	e := s.experts[k]
	dst, rows := e.alpha, e.s
	if beta {
		dst, rows = e.beta, e.q
	}
	for i, b := range e.blocks {
		for j, t := range b.set.Terms {
			r := rows[i][j]
			for l := range r {
				r[l] = -r[l]
			}
			s.c.System.Terms[t].Scatter(dst, r, b.points)
		}
	}
}

// projectFields applies μ and then Pᵀ, the removal of the mean over each
// slice, to the scalar fields; outer then leaves μ out.
func (s *Sample) projectFields() {
	width := len(s.field) / s.slices
	for _, e := range s.experts {
		for _, f := range [2][]float64{e.alpha, e.beta} {
			if mu := s.c.multiplier; mu != nil {
				for i := range f {
					f[i] *= mu[i]
				}
			}
			for lo := 0; lo < len(f); lo += width {
				mean := 0.0
				for _, v := range f[lo : lo+width] {
					mean += v
				}
				mean /= float64(width)
				for i := range f[lo : lo+width] {
					f[lo+i] -= mean
				}
			}
		}
	}
}

// outer writes one tile of b̄.
func (s *Sample) outer(worker, tile int) {
	size := len(s.field)
	lo := tile * tilePoints
	hi := min(lo+tilePoints, size)
	sum := s.tiles[worker][:hi-lo]
	for i := range s.c.N {
		clear(sum)
		for _, e := range s.experts {
			kernel.Axpy64(sum, e.w[i], e.alpha[lo:hi])
			if !s.c.Options.Fixed {
				kernel.Axpy64(sum, e.lambda[i], e.beta[lo:hi])
			}
		}
		if mu := s.c.multiplier; mu != nil && !s.c.System.Problem.Ansatz.RemoveMean {
			for j := range sum {
				sum[j] *= mu[lo+j]
			}
		}
		if s.target32 != nil {
			for j, v := range sum {
				s.target32[i*size+lo+j] = float32(v)
			}
			continue
		}
		copy(s.target64[i*size+lo:], sum)
	}
}
