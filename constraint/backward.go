package constraint

import (
	"pihc/grid"
	"pihc/internal/kernel"
)

// Jumps describes how the predictions of neighbouring experts differ along
// their borders: on the two points on either side of a border, d is what the
// upper expert predicts less what the lower one does.
type Jumps struct {
	Value float64 // mean of d²
	Slope float64 // mean of (Δd/h)², h the step as a fraction of the axis's length
}

// Jumps measures the borders; without any it returns zeros.
func (s *Sample) Jumps() Jumps {
	s.c.pool.Run(len(s.c.borders), s.jumpTask)
	var j Jumps
	pairs := 0
	for i, b := range s.c.borders {
		d := s.jump[s.jumpStart[i]:]
		for q := range b.below {
			j.Value += d[2*q] * d[2*q]
			j.Value += d[2*q+1] * d[2*q+1]
			slope := (d[2*q+1] - d[2*q]) / b.step
			j.Slope += slope * slope
		}
		pairs += len(b.below)
	}
	if pairs > 0 {
		j.Value /= float64(2 * pairs)
		j.Slope /= float64(pairs)
	}
	return j
}

// jumpsOf fills the differences on both sides of one border.
func (s *Sample) jumpsOf(worker, i int) {
	b := &s.c.borders[i]
	lower, upper := s.experts[b.lower].w, s.experts[b.upper].w
	d := s.jump[s.jumpStart[i]:]
	for q, p := range b.below {
		for side := range 2 {
			at := int(p) + side*int(b.stride)
			row := s.rows(worker, at, at+1)
			d[2*q+side] = kernel.Dot(row, upper) - kernel.Dot(row, lower)
		}
	}
}

// Backward computes b̄ = ∂L/∂b (N, P) from ū = ∂L/∂û (P) and overwrites bbar.
// weights adds the gradient of weights.Value·Value + weights.Slope·Slope of the
// last call of Jumps.
//
// Per expert it forms two scalar fields, α_k = 1_{Ω_k} ū − p_k and β_k = −q_k,
// and b̄ = Σ_k Pᵀ[μ α_k] ω_kᵀ + Pᵀ[μ β_k] λ_kᵀ (DESIGN, section 1, "Backward").
func Backward[T kernel.Float](s *Sample, bbar []T, ubar []float64, weights Jumps) {
	s.ubar = ubar
	s.c.pool.Run(s.slices, s.spreadTask)
	if !s.c.Options.Fixed {
		s.c.pool.Run(len(s.experts)*alphaParts, s.alphaTask)
		s.reduceParts()
	}
	if len(s.c.borders) > 0 && weights != (Jumps{}) {
		s.spreadJumps(weights)
	}
	if !s.c.Options.Fixed {
		s.runExperts(s.adjointSolveTask)
		s.c.pool.Run(2*len(s.experts), s.scatterTask)
		if space := s.gatherer.space; space != nil {
			s.gatherer.planSources(s.c, s.experts)
			s.c.pool.Run(2*len(s.experts)*space.Blocks(), s.sourceTask)
		}
	}
	switch b := any(&bbar).(type) {
	case *[]float32:
		s.target32, s.target64 = *b, nil
	case *[]float64:
		s.target32, s.target64 = nil, *b
	}
	if s.c.multiplier != nil || s.c.System.Problem.Ansatz.RemoveMean {
		s.c.pool.Run(2*len(s.experts), s.projectTask)
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
func (s *Sample) reducePart(worker, k, part int) {
	n := s.c.N
	sum := s.partsOf[k*alphaParts+part]
	clear(sum)
	e := s.experts[k]
	for slice := part * s.slices / alphaParts; slice < (part+1)*s.slices/alphaParts; slice++ {
		s.segments(k, slice, func(lo, hi int) {
			kernel.AccumulateTransposed(sum, n, hi-lo, s.rows(worker, lo, hi), e.alpha[lo:hi])
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

// spreadJumps adds the gradient of the weighted jumps, d = b·(ω_u − ω_l), to α
// and ω̄ of the two experts of each border.
func (s *Sample) spreadJumps(weights Jumps) {
	pairs := 0
	for _, b := range s.c.borders {
		pairs += len(b.below)
	}
	value := weights.Value / float64(pairs)
	for i, b := range s.c.borders {
		lower, upper := s.experts[b.lower], s.experts[b.upper]
		d := s.jump[s.jumpStart[i]:]
		slope := 2 * weights.Slope / (float64(pairs) * b.step * b.step)
		for q, p := range b.below {
			change := slope * (d[2*q+1] - d[2*q])
			for side := range 2 {
				bar := value*d[2*q+side] - change
				if side == 1 {
					bar = value*d[2*q+side] + change
				}
				at := int(p) + side*int(b.stride)
				row := s.rows(0, at, at+1)
				kernel.Axpy64(upper.wbar, bar, row)
				kernel.Axpy64(lower.wbar, -bar, row)
				upper.alpha[at] += bar
				lower.alpha[at] -= bar
			}
		}
	}
}

// scatter adds the terms with stencils of −p_k = −Σ_j T_jᵀ S_kᵀ s_j to α_k, or of
// −q_k to β_k.
func (s *Sample) scatter(worker, k int, beta bool) {
	e := s.experts[k]
	dst, rows := e.alpha, e.s
	if beta {
		dst, rows = e.beta, e.q
	}
	field := s.spread[worker]
	for i, b := range e.blocks {
		// The transposed operator on the whole grid runs on vectors: about as much
		// work as one row in sixteen points alone.
		dense := 16*len(b.points) >= len(field)
		for j, t := range b.set.Terms {
			if grid.SpectralOf(s.c.System.Terms[t].Operator) != nil {
				continue
			}
			if !dense {
				s.c.System.Terms[t].Scatter(dst, rows[i][j], b.points)
				continue
			}
			for l, p := range b.points {
				field[p] += rows[i][j][l]
			}
			s.c.System.Terms[t].ApplyTranspose(dst, field)
			for _, p := range b.points {
				field[p] = 0
			}
		}
	}
}

// scatterBlock adds the spectral terms of one block of slices to α_k or β_k.
func (s *Sample) scatterBlock(_, i int) {
	space := s.gatherer.space
	list := i / space.Blocks()
	e := s.experts[list/2]
	dst := e.alpha
	if list%2 == 1 {
		dst = e.beta
	}
	space.ScatterBlock(i%space.Blocks(), dst, s.gatherer.sources[list])
}

// projectField applies μ and then Pᵀ, where asked the removal of the mean over
// each slice, to one of the scalar fields.
func (s *Sample) projectField(_, i int) {
	width := len(s.field) / s.slices
	f := s.experts[i/2].alpha
	if i%2 == 1 {
		f = s.experts[i/2].beta
	}
	if mu := s.c.multiplier; mu != nil {
		kernel.Mul64(f, f, mu)
	}
	for lo := 0; lo < len(f) && s.c.System.Problem.Ansatz.RemoveMean; lo += width {
		mean := 0.0
		for _, v := range f[lo : lo+width] {
			mean += v
		}
		kernel.AddScalar64(f[lo:lo+width], f[lo:lo+width], -mean/float64(width))
	}
}

// outer writes one tile of b̄.
func (s *Sample) outer(worker, tile int) {
	size := len(s.field)
	lo := tile * tilePoints
	hi := min(lo+tilePoints, size)
	coef, fields := s.coefs[worker][:0], s.views[worker][:0]
	for _, e := range s.experts {
		fields = append(fields, e.alpha[lo:hi])
		if !s.c.Options.Fixed {
			fields = append(fields, e.beta[lo:hi])
		}
	}
	for i := range s.c.N {
		coef = coef[:0]
		for _, e := range s.experts {
			coef = append(coef, e.w[i])
			if !s.c.Options.Fixed {
				coef = append(coef, e.lambda[i])
			}
		}
		if s.target32 != nil {
			kernel.CombineFields(s.target32[i*size+lo:i*size+hi], coef, fields)
		} else {
			kernel.CombineFields(s.target64[i*size+lo:i*size+hi], coef, fields)
		}
	}
}
