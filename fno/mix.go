package fno

import (
	"pihc/compute"
	"pihc/internal/kernel"
	"pihc/internal/slab"
)

// mixGroup is the number of modes a task mixes. The spectra of the samples, and
// their parts, are apart by powers of two, which compete for the same places of a
// cache: each is read and written once, for a group of modes.
const mixGroup = 8

// mixScratch is a worker's memory for a group of modes.
type mixScratch[T compute.Float] struct {
	hat     []T // (modes, batch, 2, 2 channels): operand of a mode's matrix
	bar     []T // (modes, 2 batch, channels): the gradient's spectrum
	turned  []T // (modes, batch, 2, 2 channels): operand of the transposed matrix
	product []T // (modes, 2 batch, width), either product
	matrix  []T // a mode's (2, channels, channels), transposed, or another gradient of one sample
}

func newMixScratch[T compute.Float](n *evaluator[T]) mixScratch[T] {
	c, samples := n.Width, mixGroup*2*n.batch
	return mixScratch[T]{
		hat: n.alloc(samples * 2 * c), bar: n.alloc(samples * c), turned: n.alloc(samples * 2 * c),
		product: n.alloc(samples * n.width), matrix: n.alloc(max(2*c, n.Inputs) * c),
	}
}

// mixForward multiplies the spectrum of every sample, mode by mode, by the mode's
// matrix of layer l,
//
//	y = c_k/P · R v,   R v = [vr -vi; vi vr]·[Rr; Ri],
//
// so that the matrix is read once per batch.
func (n *evaluator[T]) mixForward(params []T, l int) {
	n.rankGroups(func(worker, group int) {
		s, c := &n.scratch[worker].mix, n.Width
		lo, hi := n.loadHat(s.hat, l, group)
		for mode := lo; mode < hi; mode++ {
			n.mixMode(s, s.hat, params[n.offsets.spectral[l]+mode*2*c*c:], mode-lo)
		}
		n.storeMixed(s, lo, hi)
	})
}

// mixMode multiplies the rows of a mode, the one with this place in its group, by its matrix (2 channels, channels).
func (n *evaluator[T]) mixMode(s *mixScratch[T], rows, matrix []T, place int) {
	c := n.Width
	kernel.Gemm(s.product[place*2*n.batch*n.width:], n.width, 2*n.batch, c, nil, false, kernel.Product[T]{
		A: rows[place*4*n.batch*c:], RowStride: 2 * c, ColStride: 1, B: matrix, BStride: c, K: 2 * c,
	}, kernel.Product[T]{})
}

// storeMixed sets mixed for the modes [lo, hi) of a group to their products.
func (n *evaluator[T]) storeMixed(s *mixScratch[T], lo, hi int) {
	for part := range 2 * n.batch {
		for mode := lo; mode < hi; mode++ {
			copy(n.mixed[(part*n.modes+mode)*n.width:][:n.Width], s.product[((mode-lo)*2*n.batch+part)*n.width:])
		}
	}
}

// mixBackward is the adjoint:
//
//	mixed = c_k/P · conj(R) g,   conj(R) g = [gr gi; gi -gr]·[Rrᵀ; Riᵀ],
//
// and, for the gradient,
//
//	R̄r += c_k/P · (vr gr + vi gi),   R̄i += c_k/P · (vr gi - vi gr),
//
// each an outer product (in x out). The samples are rows of the one product and
// pairs of inner indices of the other, so that matrix and gradient are read once per
// batch.
func (n *evaluator[T]) mixBackward(grad, params []T, l int) {
	n.rankGroups(func(worker, group int) {
		s, w, c := &n.scratch[worker].mix, n.width, n.Width
		lo, hi := n.loadHat(s.hat, l, group)
		for part := range 2 * n.batch {
			for mode := lo; mode < hi; mode++ {
				g, place := n.adjoint.hat[(part*n.modes+mode)*w:][:c], (mode-lo)*2*n.batch
				copy(s.bar[(place+part)*c:], g)
				// gr is in the first half of its own row and, negative, in the second of that of gi; gi is first
				// in its own and second in that of gr.
				scale := n.fourier.inverse[mode%n.m]
				other := scale
				if part%2 == 0 {
					other = -scale
				}
				first, second := s.turned[(place+part)*2*c:][:c], s.turned[(place+part^1)*2*c+c:][:c]
				for i, v := range g {
					first[i], second[i] = scale*v, other*v
				}
			}
		}
		for mode := lo; mode < hi; mode++ {
			start := n.offsets.spectral[l] + mode*2*c*c
			kernel.Transpose(s.matrix, c, params[start:], c, c)
			kernel.Transpose(s.matrix[c*c:], c, params[start+c*c:], c, c)
			n.mixMode(s, s.turned, s.matrix, mode-lo)
			at := (mode - lo) * 2 * n.batch * c
			kernel.AddPairs(grad[start:], c, 2*c, c, kernel.Product[T]{
				A: s.hat[2*at:], RowStride: 1, ColStride: 2 * c, B: s.bar[at:], BStride: c, K: 2 * n.batch,
			})
		}
		n.storeMixed(s, lo, hi)
	})
}

// rankGroups calls do for the groups of modes that this rank mixes, and gives all ranks
// the results in mixed.
func (n *evaluator[T]) rankGroups(do func(worker, group int)) {
	lo, hi := n.slab.Part(ceil(n.modes, mixGroup))
	n.pool.Run(hi-lo, func(worker, i int) { do(worker, lo+i) })
	for part := range 2 * n.batch {
		n.join(n.mixed[part*n.modes*n.width:][:n.modes*n.width], n.width)
	}
}

// join sets v (modes, size) from the modes that each rank mixes.
func (n *evaluator[T]) join(v []T, size int) {
	slab.Join(n.slab, v, ceil(n.modes, mixGroup), func(group int) int { return min(group*mixGroup, n.modes) * size })
}

// SumOverRanks implements network.DividedEvaluator: the gradients of a mode's matrices are one
// rank's.
func (n *evaluator[T]) SumOverRanks(grad []T) {
	at, matrix := 0, 2*n.Width*n.Width
	for _, spectral := range n.offsets.spectral {
		slab.Sum(n.slab, grad[at:spectral])
		at = spectral + n.modes*matrix
		n.join(grad[spectral:at], matrix)
	}
	slab.Sum(n.slab, grad[at:])
}

// loadHat sets the rows (vr, -vi) and (vi, vr), scaled by c_k/P, of every sample
// for the modes [lo, hi) of a group: (modes, 2 batch, 2 channels).
func (n *evaluator[T]) loadHat(dst []T, l, group int) (lo, hi int) {
	lo, hi = group*mixGroup, min((group+1)*mixGroup, n.modes)
	w, c := n.width, n.Width
	part, size := n.modes*w, n.batch*4*c
	for b := range n.batch {
		hat := n.kept.hat[l][b*2*part:]
		for mode := lo; mode < hi; mode++ {
			re, im := hat[mode*w:][:c], hat[part+mode*w:][:c]
			scale := n.fourier.inverse[mode%n.m]
			a := dst[(mode-lo)*size+b*4*c:][:4*c]
			a0, a1, a2, a3 := a[:c], a[c:][:c], a[2*c:][:c], a[3*c:][:c]
			for i, v := range re {
				x, y := scale*v, scale*im[i]
				a0[i], a1[i], a2[i], a3[i] = x, -y, y, x
			}
		}
	}
	return lo, hi
}
