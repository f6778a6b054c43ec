package ffno

import (
	"unsafe"

	"pihc/compute"
	"pihc/internal/kernel"
)

const (
	tilePoints = 64 // points worked on at a time: every tile fits the L1 or L2 cache
	maxChunks  = 48 // chunks of points that a sample's gradient is summed over; fixed, see the package comment
)

// evaluator evaluates one operator on one grid for batches up to a size, and owns
// every workspace that takes. It is not safe for concurrent use; the work inside
// is spread over the pool.
type evaluator[T compute.Float] struct {
	operator
	pool         *compute.Pool
	bytes        int64 // of the workspaces
	batch, most  int   // samples of this call, and of the largest
	points       int
	in, width    int // channels padded to a multiple of kernel.Lane
	size, chunks int // of the parameters; of a sample's points
	liftAt       [2]int
	lift, bias   []T // padded copies of the parameters
	axes         []axis[T]
	blocks       []perceptron[T] // per layer
	head         perceptron[T]

	kept    activations[T]
	adjoint adjoint[T]
	one     []T          // a one, the operand that sums rows
	scratch []scratch[T] // per worker
}

// activations are kept by a forward pass for the backward pass.
type activations[T compute.Float] struct {
	valid    bool  // Backward may run
	features []T   // (batch, points, in): the input fields, point-major
	v        []T   // (batch, points, width): the current v
	s        [][]T // per layer (batch, points, width): sums of the transforms; where nothing is kept, the first serves all
	mixed    []T   // a spectrum times R; in backward a gradient's spectrum
}

// adjoint is the memory of a backward pass.
type adjoint[T compute.Float] struct {
	g, d       []T // (batch, points, width): gradients of v and of s
	conjugated []T // a gradient's spectrum times conj(R)
	sums       []T // (batch, chunks, size): a chunk's sums of the products that are gradients
	size       int
}

// scratch is one worker's tiles.
type scratch[T compute.Float] struct {
	columns     []T // longest axis x columnBlock
	hidden, bar []T // tile x widest hidden layer
	out         []T // tile x width or outputs
	sum         []T // one row of any gradient
}

// newEvaluator returns an evaluator for the grid shape (axis 0 slowest) and the given number
// of samples per call. A nil pool runs on the caller. It panics if the operator is
// not valid for the grid: call Validate first.
func newEvaluator[T compute.Float](c operator, shape []int, batch int, pool *compute.Pool) *evaluator[T] {
	if c.Validate(shape) != nil || batch < 1 {
		panic("ffno: invalid configuration")
	}
	c.Modes = append([]int(nil), c.Modes...)
	n := &evaluator[T]{operator: c, pool: pool, batch: batch, most: batch, points: 1, in: kernel.Pad(c.Inputs), width: kernel.Pad(c.Width), size: c.Layout().Size(), one: []T{1}}
	longest, largest := 0, 0
	for _, points := range shape {
		n.points *= points
		longest = max(longest, points)
	}
	n.chunks = min(maxChunks, (n.points+tilePoints-1)/tilePoints)

	all := c.Layout()
	n.liftAt = [2]int{all[0].Offset, all[1].Offset}
	n.lift, n.bias = n.alloc(n.in*n.width), n.alloc(n.width)
	rest := all[2:]
	at := make([][]int, len(shape)) // of R, by axis and layer
	take := func(layers int) {
		for a := range at {
			for range layers {
				at[a] = append(at[a], rest[a].Offset)
			}
		}
		rest = rest[len(at):]
	}
	if c.SharedWeights {
		take(c.Layers)
	}
	for range c.Layers {
		if !c.SharedWeights {
			take(1)
		}
		n.blocks = append(n.blocks, newPerceptron(n, rest[:4]))
		rest = rest[4:]
	}
	n.head = newPerceptron(n, rest)
	for a := range shape {
		x := newAxis(n, a, shape, at[a])
		largest = max(largest, x.size(n))
		n.axes = append(n.axes, x)
	}
	hidden := max(n.blocks[0].hiddenWide, n.head.hiddenWide)
	n.adjoint.size = max(n.blocks[0].sumSize, n.head.sumSize, n.in*n.width+n.width)

	total := batch * n.points
	n.kept.features, n.kept.v, n.kept.mixed = n.alloc(total*n.in), n.alloc(total*n.width), n.alloc(largest)
	n.kept.s = make([][]T, c.Layers)
	n.kept.s[0] = n.alloc(total * n.width)
	n.scratch = make([]scratch[T], pool.Workers())
	for i := range n.scratch {
		wide := max(n.width, n.head.outWide)
		n.scratch[i] = scratch[T]{
			columns: n.alloc(longest * columnBlock), hidden: n.alloc(tilePoints * hidden), bar: n.alloc(tilePoints * hidden),
			out: n.alloc(tilePoints * wide), sum: n.alloc(max(hidden, wide)),
		}
	}
	return n
}

// allocateBackward makes the workspaces that inference does without.
func (n *evaluator[T]) allocateBackward() {
	if n.adjoint.g != nil {
		return
	}
	n.batch = n.most // for any call to come
	total := n.batch * n.points * n.width
	for l := 1; l < n.Layers; l++ {
		n.kept.s[l] = n.alloc(total)
	}
	for a := range n.axes {
		x := &n.axes[a]
		for l := 1; l < n.Layers; l++ {
			x.hat[l] = n.alloc(x.size(n))
		}
		x.sums = n.alloc(n.batch * x.modes * 3 * n.width * n.width)
	}
	n.adjoint.g, n.adjoint.d, n.adjoint.conjugated = n.alloc(total), n.alloc(total), n.alloc(len(n.kept.mixed))
	n.adjoint.sums = n.alloc(n.batch * n.chunks * n.adjoint.size)
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
	if len(params) != n.size || n.batch < 1 || n.batch > n.most || len(input) != n.batch*n.Inputs*n.points || len(dst) != n.batch*n.Outputs*n.points {
		panic("ffno: Forward: wrong length of dst, params or input")
	}
	n.pack(params)
	n.liftForward(input)
	for l := range n.Layers {
		kept := 0
		if keep {
			kept = l
		}
		n.layerForward(params, l, kept)
	}
	n.projectionForward(dst)
	n.kept.valid = keep
}

// Backward implements network.Evaluator; it may be called again with another dstBar. It panics if a length is wrong
// or no Forward came before.
func (n *evaluator[T]) Backward(grad, params, dstBar []T) {
	if !n.kept.valid {
		panic("ffno: Backward: no Forward before it")
	}
	if len(params) != n.size || len(grad) != n.size || len(dstBar) != n.batch*n.Outputs*n.points {
		panic("ffno: Backward: wrong length of grad, params or dstBar")
	}
	n.head.packTransposed(params)
	n.projectionBackward(grad, dstBar)
	for l := n.Layers - 1; l >= 0; l-- {
		n.layerBackward(grad, params, l)
	}
	n.liftBackward(grad)
}

// pack copies the parameters that do not belong to a mode.
func (n *evaluator[T]) pack(params []T) {
	kernel.CopyPadded(n.lift, n.width, params[n.liftAt[0]:], n.Inputs, n.Width)
	copy(n.bias[:n.Width], params[n.liftAt[1]:])
	for l := range n.blocks {
		n.blocks[l].pack(params)
	}
	n.head.pack(params)
}

// tile is a number of successive points: from point on of sample b, p in the batch.
type tile struct {
	b, point, p, count int
	more               bool // not the first of those that are summed
}

// part returns a tile of a slice (batch, points, width).
func part[T compute.Float](t tile, x []T, width int) []T { return x[t.p*width : (t.p+t.count)*width] }

// tiles calls do for all tiles with a worker's scratch and the sums of the tile's chunk. The
// tiles of a chunk come in their order.
func (n *evaluator[T]) tiles(do func(t tile, s *scratch[T], sums []T)) {
	n.pool.Run(n.batch*n.chunks, func(worker, chunk int) {
		b, i := chunk/n.chunks, chunk%n.chunks
		lo, hi := i*n.points/n.chunks, (i+1)*n.points/n.chunks
		var sums []T // of backward
		if n.adjoint.sums != nil {
			sums = n.adjoint.sums[chunk*n.adjoint.size : (chunk+1)*n.adjoint.size]
		}
		for p := lo; p < hi; p += tilePoints {
			do(tile{b, p, b*n.points + p, min(tilePoints, hi-p), p > lo}, &n.scratch[worker], sums)
		}
	})
}

// line returns field i of a tile in a (batch, fields, points) slice.
func (n *evaluator[T]) line(field []T, fields, i int, t tile) []T {
	return field[(t.b*fields+i)*n.points+t.point:][:t.count]
}

// liftForward brings the inputs into point-major order and sets v_0.
func (n *evaluator[T]) liftForward(input []T) {
	n.tiles(func(t tile, _ *scratch[T], _ []T) {
		a := part(t, n.kept.features, n.in)
		for i := range n.Inputs {
			for p, v := range n.line(input, n.Inputs, i, t) {
				a[p*n.in+i] = v
			}
		}
		kernel.Gemm(part(t, n.kept.v, n.width), n.width, t.count, n.width, n.bias, false, kernel.Product[T]{
			A: a, RowStride: n.in, ColStride: 1, B: n.lift, BStride: n.width, K: n.Inputs,
		}, kernel.Product[T]{})
	})
}

// layerForward takes v from layer l to the next.
func (n *evaluator[T]) layerForward(params []T, l, kept int) {
	sum := n.kept.s[kept]
	for a := range n.axes {
		x := &n.axes[a]
		x.pack(n, params, l, false)
		x.transform(n, x.hat[kept], n.kept.v, x.basis)
		x.mix(n, n.kept.mixed, x.hat[kept], false)
		x.back(n, sum, n.kept.mixed, x.inverse, a > 0)
	}
	n.tiles(func(t tile, s *scratch[T], _ []T) {
		n.blocks[l].forward(part(t, n.kept.v, n.width), part(t, sum, n.width), s.hidden, n.one, t.count, true)
	})
}

// layerBackward takes the gradient of v from after layer l to before it, and adds the
// gradients of the layer. Gradients of shared matrices are added with layer 0's.
func (n *evaluator[T]) layerBackward(grad, params []T, l int) {
	block := &n.blocks[l]
	block.packTransposed(params)
	n.tiles(func(t tile, s *scratch[T], sums []T) {
		block.backward(part(t, n.adjoint.d, n.width), sums, part(t, n.kept.s[l], n.width), part(t, n.adjoint.g, n.width), s.hidden, s.bar, n.one, t.count, t.more)
	})
	block.addSums(n, grad)
	for a := range n.axes {
		x := &n.axes[a]
		x.transform(n, n.kept.mixed, n.adjoint.d, x.inverse)
		x.addMatrices(n, l, n.kept.mixed, n.SharedWeights && l < n.Layers-1)
		if !n.SharedWeights || l == 0 {
			x.addSums(n, grad, l)
		}
		x.pack(n, params, l, true)
		x.mix(n, n.adjoint.conjugated, n.kept.mixed, true)
		x.back(n, n.adjoint.g, n.adjoint.conjugated, x.basis, true)
	}
}

// projectionForward sets the outputs from v.
func (n *evaluator[T]) projectionForward(dst []T) {
	n.tiles(func(t tile, s *scratch[T], _ []T) {
		n.head.forward(s.out, part(t, n.kept.v, n.width), s.hidden, n.one, t.count, false)
		for j := range n.Outputs {
			to := n.line(dst, n.Outputs, j, t)
			for i := range to {
				to[i] = s.out[i*n.head.outWide+j]
			}
		}
	})
}

// projectionBackward takes bar to the gradient of v after the last layer, and adds
// the gradients of the projection.
func (n *evaluator[T]) projectionBackward(grad, bar []T) {
	wide := n.head.outWide
	n.tiles(func(t tile, s *scratch[T], sums []T) {
		g := s.out[:t.count*wide]
		clear(g)
		for j := range n.Outputs {
			for i, v := range n.line(bar, n.Outputs, j, t) {
				g[i*wide+j] = v
			}
		}
		n.head.backward(part(t, n.adjoint.g, n.width), sums, part(t, n.kept.v, n.width), g, s.hidden, s.bar, n.one, t.count, t.more)
	})
	n.head.addSums(n, grad)
}

// liftBackward adds the gradients of the lift.
func (n *evaluator[T]) liftBackward(grad []T) {
	bias := n.in * n.width
	n.tiles(func(t tile, _ *scratch[T], sums []T) {
		g := part(t, n.adjoint.g, n.width)
		outerSum(sums, n.width, part(t, n.kept.features, n.in), n.in, g, t.count, t.more)
		sumRows(sums[bias:][:n.width], g, n.width, n.one, t.count, t.more)
	})
	n.addSums(grad[n.liftAt[0]:], n.Inputs, n.Width, n.width, 0)
	n.addSums(grad[n.liftAt[1]:], 1, n.Width, n.width, bias)
}

// addSums adds to grad (rows x columns), sample after sample, the sum over the
// sample's chunks of the matrix with rows of the given stride that starts at at.
func (n *evaluator[T]) addSums(grad []T, rows, columns, stride, at int) {
	n.pool.Run(rows, func(worker, i int) {
		sum := n.scratch[worker].sum[:columns]
		for b := range n.batch {
			sumRows(sum, n.adjoint.sums[b*n.chunks*n.adjoint.size+at+i*stride:], n.adjoint.size, n.one, n.chunks, false)
			sumRows(grad[i*columns:][:columns], sum, 0, n.one, 1, true)
		}
	})
}

// alloc returns size zeros and counts their bytes.
func (n *evaluator[T]) alloc(size int) []T {
	var zero T
	n.bytes += int64(size) * int64(unsafe.Sizeof(zero))
	return kernel.Aligned[T](size)
}
