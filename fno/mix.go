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
	columns []T // (modes, 2 channels, kernel.Pad(2 batch)): operand of the adjoint; results of the padding are not used
	product []T // either product
	matrix  []T // a mode's (2, channels, channels), or another gradient of one sample
}

func newMixScratch[T compute.Float](n *evaluator[T]) mixScratch[T] {
	c, samples, columns := n.Width, mixGroup*2*n.batch, mixGroup*kernel.Pad(2*n.batch)
	return mixScratch[T]{
		hat: n.alloc(samples * 2 * c), bar: n.alloc(samples * c),
		columns: n.alloc(columns * 2 * c), product: n.alloc(columns * n.width), matrix: n.alloc(max(2*c, n.Inputs) * c),
	}
}

// mixForward multiplies the spectrum of every sample, mode by mode, by the mode's
// matrix of layer l,
//
//	y = c_k/P · R v,   R v = [vr -vi; vi vr]·[Rr; Ri],
//
// so that the matrix is read once per batch.
func (n *evaluator[T]) mixForward(params []T, l int) {
	w, c, size := n.width, n.Width, n.batch*2*n.width
	n.rankGroups(func(worker, group int) {
		s := &n.scratch[worker].mix
		lo, hi := n.loadHat(s.hat, l, group)
		for mode := lo; mode < hi; mode++ {
			kernel.Gemm(s.product[(mode-lo)*size:], w, 2*n.batch, c, nil, false, kernel.Product[T]{
				A: s.hat[(mode-lo)*n.batch*4*c:], RowStride: 2 * c, ColStride: 1,
				B: params[n.offsets.spectral[l]+mode*2*c*c:], BStride: c, K: 2 * c,
			}, kernel.Product[T]{})
		}
		for part := range 2 * n.batch {
			for mode := lo; mode < hi; mode++ {
				copy(n.mixed[(part*n.modes+mode)*w:][:c], s.product[(mode-lo)*size+part*w:])
			}
		}
	})
}

// mixBackward is the adjoint: mixed = c_k/P·conj(R) g^ and, for the gradient,
//
//	R̄r += c_k/P · (vr gr + vi gi),   R̄i += c_k/P · (vr gi - vi gr),
//
// each an outer product (in x out). The samples are columns of the one product and
// pairs of inner indices of the other, so that matrix and gradient are read once per
// batch.
func (n *evaluator[T]) mixBackward(grad, params []T, l int) {
	w, c, columns := n.width, n.Width, kernel.Pad(2*n.batch)
	n.rankGroups(func(worker, group int) {
		s := &n.scratch[worker].mix
		matrix := s.matrix[:2*c*c]
		lo, hi := n.loadHat(s.hat, l, group)
		for part := range 2 * n.batch {
			for mode := lo; mode < hi; mode++ {
				g := n.adjoint.hat[(part*n.modes+mode)*w:][:c]
				copy(s.bar[((mode-lo)*2*n.batch+part)*c:], g)
				// Columns (gr, gi) meet Rr, and (gi, -gr) meet Ri.
				scale := n.fourier.inverse[mode%n.m]
				other, at := scale, (mode-lo)*2*c*columns
				first, second := s.columns[at+part:], s.columns[at+c*columns+part+1:]
				if part%2 == 1 {
					second = s.columns[at+c*columns+part-1:]
				} else {
					other = -scale
				}
				for i, v := range g {
					first[i*columns], second[i*columns] = scale*v, other*v
				}
			}
		}
		for mode := lo; mode < hi; mode++ {
			start := n.offsets.spectral[l] + mode*2*c*c
			b := s.columns[(mode-lo)*2*c*columns:]
			// The product walks several rows at once, which memory does not foresee.
			copy(matrix, params[start:])
			kernel.Gemm(s.product[(mode-lo)*c*columns:], columns, c, columns, nil, false, kernel.Product[T]{
				A: matrix, RowStride: c, ColStride: 1, B: b, BStride: columns, K: c,
			}, kernel.Product[T]{
				A: matrix[c*c:], RowStride: c, ColStride: 1, B: b[c*columns:], BStride: columns, K: c,
			})
			at := (mode - lo) * 2 * n.batch * c
			kernel.AddPairs(grad[start:], c, 2*c, c, kernel.Product[T]{
				A: s.hat[2*at:], RowStride: 1, ColStride: 2 * c, B: s.bar[at:], BStride: c, K: 2 * n.batch,
			})
		}
		for part := range 2 * n.batch {
			for mode := lo; mode < hi; mode++ {
				dst, src := n.mixed[(part*n.modes+mode)*w:][:c], s.product[(mode-lo)*c*columns+part:]
				for i := range dst {
					dst[i] = src[i*columns]
				}
			}
		}
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
