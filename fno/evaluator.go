package fno

import (
	"unsafe"

	"pihc/compute"
	"pihc/internal/kernel"
)

const (
	tilePoints = 64 // points of a row worked on at a time: every tile fits the L1 or L2 cache
	maxChunks  = 48 // row chunks that a sample's gradient is summed over; fixed, see the package comment
)

// evaluator evaluates one Network on one grid for batches of one size, and owns
// every workspace that takes. It is not safe for concurrent use; the work inside
// is spread over the pool.
type evaluator[T compute.Float] struct {
	Network
	geometry
	pool    *compute.Pool
	bytes   int64 // of the workspaces
	offsets offsets
	weights weights[T]
	fourier fourier[T]
	slab    *compute.Slab // this rank's part of the grid; nil: all
	kept    activations[T]
	adjoint adjoint[T]
	field   []T          // (batch, points, width): activations of the current layer, and in backward the gradient of its pre-activations
	mixed   []T          // (batch, 2, modes, width): R v^, and in backward conj(R) g^
	one     []T          // a one, the operand that sums rows
	scratch []scratch[T] // per worker
}

// geometry is the grid and the network's sizes on it.
type geometry struct {
	batch, most      int // samples of this call, and of the largest
	points, rows, nx int // per sample, of this rank: points = rows * nx
	all              int // points of the whole grid
	in, width        int // channels padded to a multiple of kernel.Lane
	hidden, out      int
	m                int // modes kept on the last axis
	modes            int // kept modes of all axes (2m on each axis but the last)
	chunks           int // of a sample's rows
}

// activations are kept by a forward pass for the backward pass.
type activations[T compute.Float] struct {
	valid      bool  // Backward may run
	features   []T   // (batch, points, in): the input fields, point-major
	featureHat []T   // (batch, 2, modes, in)
	hat        [][]T // per layer (batch, 2, modes, width): spectra of v
	pre        [][]T // per layer (batch, points, width): pre-activations
	hidden     []T   // (batch, points, hidden): pre-activations
	output     []T   // (batch, points, out): pre-activations, only with an output activation
}

// adjoint is the memory of a backward pass.
type adjoint[T compute.Float] struct {
	hat  []T // (batch, 2, modes, width): its spectrum
	sums []T // (batch, chunks, size): a chunk's sums of the products that are gradients
	size int
	lift []T // (batch, chunks, in, width): inputsᵀ·g of layer 0
}

// scratch is one worker's tiles.
type scratch[T compute.Float] struct {
	v, d  []T // tile x width
	h, dh []T // tile x hidden
	o, do []T // tile x out; columns past Outputs stay zero
	mix   mixScratch[T]
	sum   []T // one row of any gradient
}

// newEvaluator returns an evaluator for the grid shape (axis 0 slowest) and the given number
// of samples per call. A nil pool runs on the caller. It panics if the Network is
// not valid for the grid: call Validate first. Where part is not nil it is a rank's, whose fields have
// the slices of part: ranks exchange spectra, whose size does not depend on the grid, and the gradient.
func newEvaluator[T compute.Float](c Network, shape []int, batch int, pool *compute.Pool, part *compute.Slab) *evaluator[T] {
	if c.Validate(shape) != nil || batch < 1 {
		panic("fno: invalid configuration")
	}
	c.Modes = append([]int(nil), c.Modes...)
	n := &evaluator[T]{Network: c, pool: pool, one: []T{1}, slab: part}
	n.geometry = newGeometry(c, shape, batch, part)
	n.offsets = newOffsets(c)
	n.weights = newWeights(n)
	n.fourier = newFourier(n, shape)

	n.kept = activations[T]{
		features: n.alloc(batch * n.points * n.in), featureHat: n.alloc(batch * 2 * n.modes * n.in),
		hat: make([][]T, c.Layers), pre: make([][]T, c.Layers),
	}
	for l := range n.kept.hat {
		n.kept.hat[l] = n.alloc(batch * 2 * n.modes * n.width)
	}
	n.field = n.alloc(batch * n.points * n.width)
	n.mixed = n.alloc(batch * 2 * n.modes * n.width)
	n.scratch = make([]scratch[T], pool.Workers())
	for i := range n.scratch {
		n.scratch[i] = scratch[T]{
			v: n.alloc(tilePoints * n.width), d: n.alloc(tilePoints * n.width),
			h: n.alloc(tilePoints * n.hidden), dh: n.alloc(tilePoints * n.hidden),
			o: n.alloc(tilePoints * n.out), do: n.alloc(tilePoints * n.out),
			mix: newMixScratch(n), sum: n.alloc(max(n.width, n.hidden, n.out)),
		}
	}
	return n
}

func newGeometry(c Network, shape []int, batch int, part *compute.Slab) geometry {
	last := len(shape) - 1
	g := geometry{
		batch: batch, most: batch, rows: 1, all: 1, nx: shape[last], m: c.Modes[last], modes: c.Modes[last],
		in: kernel.Pad(c.Inputs), width: kernel.Pad(c.Width), hidden: kernel.Pad(c.Projection), out: kernel.Pad(c.Outputs),
	}
	for axis, points := range shape[:last] {
		g.rows *= points
		g.modes *= 2 * c.Modes[axis]
	}
	g.all = g.rows * g.nx
	if part != nil {
		g.rows = g.rows / shape[0] * (part.Hi - part.Lo)
	}
	g.points = g.rows * g.nx
	g.chunks = min(maxChunks, g.rows)
	return g
}

// allocateBackward makes the workspaces that inference does without.
func (n *evaluator[T]) allocateBackward() {
	if n.adjoint.hat != nil {
		return
	}
	n.batch = n.most // for any call to come
	total := n.batch * n.points
	for l := range n.Layers {
		n.kept.pre[l] = n.alloc(total * n.width)
	}
	n.kept.hidden = n.alloc(total * n.hidden)
	if n.OutputActivation {
		n.kept.output = n.alloc(total * n.out)
	}
	size := max(n.width*n.width, n.width*n.hidden+n.hidden+n.hidden*n.out+n.out)
	n.adjoint = adjoint[T]{
		hat:  n.alloc(n.batch * 2 * n.modes * n.width),
		size: size, sums: n.alloc(n.batch * n.chunks * size), lift: n.alloc(n.batch * n.chunks * n.in * n.width),
	}
}

// Forward implements network.Evaluator. It panics if a length is wrong.
func (n *evaluator[T]) Forward(dst, params, input []T) {
	n.allocateBackward()
	n.forward(dst, params, input, true)
}

// ForwardOnly implements network.Evaluator.
func (n *evaluator[T]) ForwardOnly(dst, params, input []T) { n.forward(dst, params, input, false) }

func (n *evaluator[T]) forward(dst, params, input []T, keep bool) {
	n.batch = len(input) / (n.Inputs * n.points)
	if len(params) != n.offsets.size || n.batch < 1 || n.batch > n.most || len(input) != n.batch*n.Inputs*n.points || len(dst) != n.batch*n.Outputs*n.points {
		panic("fno: Forward: wrong length of dst, params or input")
	}
	n.pack(params)
	n.liftForward(params, input)
	for l := range n.Layers {
		n.layerForward(dst, params, l, keep)
	}
	n.kept.valid = keep
}

// Backward implements network.Evaluator; it may be called again with another dstBar. It panics if a length is wrong
// or no Forward came before.
func (n *evaluator[T]) Backward(grad, params, dstBar []T) {
	if !n.kept.valid {
		panic("fno: Backward: no Forward before it")
	}
	if len(params) != n.offsets.size || len(grad) != n.offsets.size || len(dstBar) != n.batch*n.Outputs*n.points {
		panic("fno: Backward: wrong length of grad, params or dstBar")
	}
	n.packTransposed(params)
	n.projectionBackward(grad, dstBar)
	for l := n.Layers - 1; l >= 0; l-- {
		n.layerBackward(grad, params, l)
	}
	n.liftBackward(grad, params)
}

// tile is a number of successive points of one row of the batch.
type tile struct {
	row, x, p, count int  // from x on in the row, p in the batch
	more             bool // not the first of those that are summed
}

// part returns a tile of a slice (batch, points, width).
func part[T compute.Float](t tile, x []T, width int) []T { return x[t.p*width : (t.p+t.count)*width] }

// rowTiles calls do for the tiles of the rows [lo, hi) of the batch, in their order.
func (g *geometry) rowTiles(lo, hi int, do func(t tile)) {
	for row := lo; row < hi; row++ {
		for x := 0; x < g.nx; x += tilePoints {
			do(tile{row, x, row*g.nx + x, min(tilePoints, g.nx-x), row > lo || x > 0})
		}
	}
}

// tiles calls do for the tiles of one of the batch·chunks chunks, in their order.
func (g *geometry) tiles(chunk int, do func(t tile)) {
	first, i := chunk/g.chunks*g.rows, chunk%g.chunks
	g.rowTiles(first+i*g.rows/g.chunks, first+(i+1)*g.rows/g.chunks, do)
}

// line returns field i of a tile in a (batch, fields, points) slice.
func line[T compute.Float](g *geometry, field []T, fields, i int, t tile) []T {
	b, r := t.row/g.rows, t.row%g.rows
	return field[(b*fields+i)*g.points+r*g.nx+t.x:][:t.count]
}

// chunkSums returns the sums of a chunk.
func (a *adjoint[T]) chunkSums(chunk int) []T { return a.sums[chunk*a.size : (chunk+1)*a.size] }

// addSums adds to grad (rows x columns), sample after sample, the sum over the
// sample's chunks of the matrix with rows of the given stride that starts at at.
func (n *evaluator[T]) addSums(grad []T, rows, columns, stride, at int) {
	size := n.adjoint.size
	n.pool.Run(rows, func(worker, i int) {
		sum := n.scratch[worker].sum[:columns]
		for b := range n.batch {
			n.sumRows(sum, n.adjoint.sums[b*n.chunks*size+at+i*stride:], size, n.chunks, false)
			n.add(grad[i*columns:][:columns], sum)
		}
	})
}

// outerSum sets or adds dst (rows x columns) = aᵀ·b over the points of a tile.
func outerSum[T compute.Float](dst []T, columns int, a []T, rows int, b []T, t tile) {
	kernel.Gemm(dst, columns, rows, columns, nil, t.more, kernel.Product[T]{
		A: a, RowStride: 1, ColStride: rows, B: b, BStride: columns, K: t.count,
	}, kernel.Product[T]{})
}

// sumRows sets or adds dst = the sum of count rows of a that start stride apart.
func (n *evaluator[T]) sumRows(dst, a []T, stride, count int, more bool) {
	kernel.Gemm(dst, len(dst), 1, len(dst), nil, more, kernel.Product[T]{A: n.one, B: a, BStride: stride, K: count}, kernel.Product[T]{})
}

// add adds src to dst.
func (n *evaluator[T]) add(dst, src []T) { n.sumRows(dst, src, 0, 1, true) }

// alloc returns size zeros and counts their bytes.
func (n *evaluator[T]) alloc(size int) []T {
	var zero T
	n.bytes += int64(size) * int64(unsafe.Sizeof(zero))
	return kernel.Aligned[T](size)
}

func ceil(a, b int) int { return (a + b - 1) / b }
