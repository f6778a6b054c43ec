package fno

import "pihc/internal/kernel"

// phases are the tasks handed to the pool, bound once so that a step allocates
// nothing. Their operands are fields of the Network.
type phases struct {
	loadRow, forwardRow         func(worker, i int)
	axisForward, axisInverse    func(worker, i int)
	mixModes, mixBackwardModes  func(worker, i int)
	projectionChunk, layerChunk func(worker, i int)
	reduceLayer, reduceProject  func(worker, i int)
}

func (n *Network[T]) bind() {
	n.run = phases{
		loadRow: n.loadRow, forwardRow: n.forwardRow,
		axisForward: n.axisForward, axisInverse: n.axisInverse,
		mixModes: n.mixModes, mixBackwardModes: n.mixBackwardModes,
		projectionChunk: n.projectionChunk, layerChunk: n.layerChunk,
		reduceLayer: n.reduceLayer, reduceProject: n.reduceProjection,
	}
}

// rowTransform adds the tile's share of a row's transform along the last axis:
// dst (2m x width) (+)= Eᵀ·tile, for count points from x0 on.
func (n *Network[T]) rowTransform(dst, tile []T, width, x0, count int) {
	kernel.Gemm(dst, width, 2*n.m, width, nil, x0 > 0, kernel.Product[T]{
		A: n.basis[x0*2*n.m:], RowStride: 1, ColStride: 2 * n.m, B: tile, BStride: width, K: count,
	}, kernel.Product[T]{})
}

// transform carries rowHat through the outer axes into dst (batch, 2, modes, width).
func (n *Network[T]) transform(dst []T, width int) {
	from := n.rowHat
	for i := range n.axes {
		to := dst
		if i < len(n.middle) {
			to = n.middle[i]
		}
		n.axis, n.from, n.to, n.columns = &n.axes[i], from, to, width
		n.pool.Run(n.axis.tasks(n.batch, width), n.run.axisForward)
		from = to
	}
}

// inverseTransform carries src (batch, 2, modes, width) to rowS.
func (n *Network[T]) inverseTransform(src []T) {
	from := src
	for i := len(n.axes) - 1; i >= 0; i-- {
		to := n.rowS
		if i > 0 {
			to = n.middle[i-1]
		}
		n.axis, n.from, n.to, n.columns = &n.axes[i], from, to, n.width
		n.pool.Run(n.axis.tasks(n.batch, n.width), n.run.axisInverse)
		from = to
	}
}

func (n *Network[T]) axisForward(_, i int) { n.axis.forward(n.to, n.from, n.columns, i) }

func (n *Network[T]) axisInverse(_, i int) { n.axis.inverse(n.to, n.from, n.columns, i) }

// mixGroup is the number of modes a task mixes. The spectra of the samples, and
// their parts, are apart by powers of two, which compete for the same places of a
// cache: each is read and written once, for a group of modes.
const mixGroup = 8

// group returns the modes of a task.
func (n *Network[T]) group(i int) (lo, hi int) {
	return i * mixGroup, min((i+1)*mixGroup, n.modes)
}

// loadHat sets the rows (vr, -vi) and (vi, vr), scaled by c_k/P, of every sample
// for the modes [lo, hi): (modes, 2 batch, 2 channels).
func (n *Network[T]) loadHat(dst []T, lo, hi int) {
	w, c := n.width, n.Config.Width
	part, size := n.modes*w, n.batch*4*c
	for b := range n.batch {
		at := n.hat[n.layer][b*2*part:]
		for mode := lo; mode < hi; mode++ {
			re, im := at[mode*w:][:c], at[part+mode*w:][:c]
			scale := n.inverse[mode%n.m]
			a := dst[(mode-lo)*size+b*4*c:][:4*c]
			a0, a1, a2, a3 := a[:c], a[c:][:c], a[2*c:][:c], a[3*c:][:c]
			for i, v := range re {
				x, y := scale*v, scale*im[i]
				a0[i], a1[i], a2[i], a3[i] = x, -y, y, x
			}
		}
	}
}

// mixModes multiplies a group of modes of every sample by its matrix of the
// current layer,
//
//	y = c_k/P · R v,   R v = [vr -vi; vi vr]·[Rr; Ri],
//
// so that the matrix is read once per batch.
func (n *Network[T]) mixModes(worker, i int) {
	s, w, c := &n.scratch[worker], n.width, n.Config.Width
	lo, hi := n.group(i)
	n.loadHat(s.mixA, lo, hi)
	size := n.batch * 2 * w
	for mode := lo; mode < hi; mode++ {
		kernel.Gemm(s.mixC[(mode-lo)*size:], w, 2*n.batch, c, nil, false, kernel.Product[T]{
			A: s.mixA[(mode-lo)*n.batch*4*c:], RowStride: 2 * c, ColStride: 1,
			B: n.params[n.offsets.spectral[n.layer]+mode*2*c*c:], BStride: c, K: 2 * c,
		}, kernel.Product[T]{})
	}
	for part := range 2 * n.batch {
		for mode := lo; mode < hi; mode++ {
			copy(n.mixed[(part*n.modes+mode)*w:][:c], s.mixC[(mode-lo)*size+part*w:])
		}
	}
}

// mixBackwardModes is the adjoint: mixed = c_k/P·conj(R) g^ and, for the gradient,
//
//	[R̄r; R̄i] += c_k/P · [vr vi; -vi vr]ᵀ-wise products with [gr; gi]
//
// R̄r += vr gr + vi gi and R̄i += vr gi - vi gr, each an outer product (in x out).
// The samples are columns of the one and the inner dimension of the other product,
// so that matrix and gradient are read once per batch.
func (n *Network[T]) mixBackwardModes(worker, i int) {
	s, w, c := &n.scratch[worker], n.width, n.Config.Width
	lo, hi := n.group(i)
	columns := pad(2 * n.batch)
	n.loadHat(s.mixA, lo, hi)
	for part := range 2 * n.batch {
		for mode := lo; mode < hi; mode++ {
			g := n.gHat[(part*n.modes+mode)*w:][:c]
			copy(s.mixG[((mode-lo)*2*n.batch+part)*c:], g)
			// Columns (gr, gi) meet Rr, and (gi, -gr) meet Ri.
			scale, other := n.inverse[mode%n.m], n.inverse[mode%n.m]
			at := (mode - lo) * 2 * c * columns
			first, second := s.mixB[at+part:], s.mixB[at+c*columns+part+1:]
			if part%2 == 1 {
				second = s.mixB[at+c*columns+part-1:]
			} else {
				other = -other
			}
			for i, v := range g {
				first[i*columns], second[i*columns] = scale*v, other*v
			}
		}
	}
	for mode := lo; mode < hi; mode++ {
		start := n.offsets.spectral[n.layer] + mode*2*c*c
		b := s.mixB[(mode-lo)*2*c*columns:]
		// The product walks several rows at once, which memory does not foresee.
		copy(s.mixR, n.params[start:])
		kernel.Gemm(s.mixC[(mode-lo)*c*columns:], columns, c, columns, nil, false, kernel.Product[T]{
			A: s.mixR, RowStride: c, ColStride: 1, B: b, BStride: columns, K: c,
		}, kernel.Product[T]{
			A: s.mixR[c*c:], RowStride: c, ColStride: 1, B: b[c*columns:], BStride: columns, K: c,
		})
		kernel.Gemm(n.grad[start:], c, 2*c, c, nil, true, kernel.Product[T]{
			A: s.mixA[(mode-lo)*n.batch*4*c:], RowStride: 1, ColStride: 2 * c,
			B: s.mixG[(mode-lo)*2*n.batch*c:], BStride: c, K: 2 * n.batch,
		}, kernel.Product[T]{})
	}
	for part := range 2 * n.batch {
		for mode := lo; mode < hi; mode++ {
			dst, src := n.mixed[(part*n.modes+mode)*w:][:c], s.mixC[(mode-lo)*c*columns+part:]
			for i := range dst {
				dst[i] = src[i*columns]
			}
		}
	}
}
