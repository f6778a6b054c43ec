package fno

import "pihc/internal/kernel"

// phases are the tasks handed to the pool, bound once so that a step allocates
// nothing. Their operands are fields of the Network.
type phases struct {
	loadRow, forwardRow         func(worker, i int)
	axisForward, axisInverse    func(worker, i int)
	mixMode, mixBackwardMode    func(worker, i int)
	projectionChunk, layerChunk func(worker, i int)
	reduceLayer, reduceProject  func(worker, i int)
}

func (n *Network[T]) bind() {
	n.run = phases{
		loadRow: n.loadRow, forwardRow: n.forwardRow,
		axisForward: n.axisForward, axisInverse: n.axisInverse,
		mixMode: n.mixMode, mixBackwardMode: n.mixBackwardMode,
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

// mixMode multiplies one mode of every sample by its matrix of the current layer,
//
//	y = c_k/P · R v,   R v = [vr -vi; vi vr]·[Rr; Ri],
//
// so that the matrix is read once per batch.
func (n *Network[T]) mixMode(worker, mode int) {
	s, w, c := &n.scratch[worker], n.width, n.config.Width
	matrix := n.params[n.offsets.spectral[n.layer]+mode*2*c*c:][:2*c*c]
	scale := n.inverse[mode%n.m]
	part := n.modes * w
	hat := n.hat[n.layer]
	for b := range n.batch {
		re := hat[b*2*part+mode*w:][:c]
		im := hat[b*2*part+part+mode*w:][:c]
		a := s.mixA[b*4*c : (b+1)*4*c]
		for i := range re {
			x, y := scale*re[i], scale*im[i]
			a[i], a[c+i], a[2*c+i], a[3*c+i] = x, -y, y, x
		}
	}
	kernel.Gemm(s.mixC, w, 2*n.batch, c, nil, false, kernel.Product[T]{
		A: s.mixA, RowStride: 2 * c, ColStride: 1, B: matrix, BStride: c, K: 2 * c,
	}, kernel.Product[T]{})
	for b := range n.batch {
		copy(n.mixed[b*2*part+mode*w:][:c], s.mixC[2*b*w:])
		copy(n.mixed[b*2*part+part+mode*w:][:c], s.mixC[(2*b+1)*w:])
	}
}

// mixBackwardMode is the adjoint: mixed = c_k/P·conj(R) g^ and, for the gradient,
//
//	[R̄r; R̄i] += c_k/P · [vr vi; -vi vr]ᵀ-wise products with [gr; gi]
//
// R̄r += vr gr + vi gi and R̄i += vr gi - vi gr, each an outer product (in x out).
// The samples are columns of the one and the inner dimension of the other product,
// so that matrix and gradient are read once per batch.
func (n *Network[T]) mixBackwardMode(worker, mode int) {
	s, w, c := &n.scratch[worker], n.width, n.config.Width
	start := n.offsets.spectral[n.layer] + mode*2*c*c
	matrix, grad := n.params[start:][:2*c*c], n.grad[start:][:2*c*c]
	scale := n.inverse[mode%n.m]
	part := n.modes * w
	hat, columns := n.hat[n.layer], pad(2*n.batch)
	for b := range n.batch {
		at := b*2*part + mode*w
		// Columns (gr, gi) meet Rr, and (gi, -gr) meet Ri.
		gr, gi := n.gHat[at:][:c], n.gHat[at+part:][:c]
		for i := range gr {
			x, y := scale*gr[i], scale*gi[i]
			row := s.mixB[i*columns+2*b:]
			row[0], row[1] = x, y
			row = s.mixB[(c+i)*columns+2*b:]
			row[0], row[1] = y, -x
		}
		re, im := hat[at:][:c], hat[at+part:][:c]
		a := s.mixA[b*4*c:][:4*c]
		for i := range re {
			x, y := scale*re[i], scale*im[i]
			a[i], a[c+i], a[2*c+i], a[3*c+i] = x, -y, y, x
		}
	}
	// The product walks several rows at once, which memory does not foresee.
	copy(s.mixR, matrix)
	kernel.Gemm(s.mixC, columns, c, columns, nil, false, kernel.Product[T]{
		A: s.mixR, RowStride: c, ColStride: 1, B: s.mixB, BStride: columns, K: c,
	}, kernel.Product[T]{
		A: s.mixR[c*c:], RowStride: c, ColStride: 1, B: s.mixB[c*columns:], BStride: columns, K: c,
	})
	kernel.Gemm(grad, c, 2*c, c, nil, true, kernel.Product[T]{
		A: s.mixA, RowStride: 1, ColStride: 2 * c, B: n.gHat[mode*w:], BStride: part, K: 2 * n.batch,
	}, kernel.Product[T]{})
	for b := range n.batch {
		at := b*2*part + mode*w
		re, im := n.mixed[at:][:c], n.mixed[at+part:][:c]
		for i := range re {
			row := s.mixC[i*columns+2*b:]
			re[i], im[i] = row[0], row[1]
		}
	}
}
