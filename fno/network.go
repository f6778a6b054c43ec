package fno

import (
	"unsafe"

	"pihc/internal/kernel"
)

const (
	tilePoints = 64 // points of a row worked on at a time: every tile fits the L1 or L2 cache
	maxChunks  = 48 // row chunks that gradients are summed over; fixed, see the package comment
	lane       = 16 // channels are padded to a multiple of this
)

// Network evaluates one Config on one grid for batches of one size, and owns
// every workspace that takes. It is not safe for concurrent use; the work inside
// is spread over the pool.
type Network[T kernel.Float] struct {
	Config
	size  int // of the parameters
	batch int
	pool  *kernel.Pool

	points, rows, nx int // per sample: points = rows * nx
	in, width        int // channels padded to a multiple of lane
	hidden, out      int
	m                int // modes kept on the last axis
	modes            int // kept modes of all axes (2m on each axis but the last)
	chunks           int

	basis   []T            // E of the last axis
	inverse []T            // c_k/P
	axes    []outerAxis[T] // the last of them first, as forward applies them
	dc      []T            // a one: the A operand that sums rows

	offsets offsets
	weights weights[T]
	params  []T // of the current call
	grad    []T
	dst     []T
	input   []T
	keep    bool
	kept    bool // Backward may run
	layer   int  // of the current phase
	axis    *outerAxis[T]
	from    []T // operands of the current transform
	to      []T
	columns int

	features []T   // (batch, points, in): the input fields, point-major
	pre      [][]T // per layer (batch, points, width): pre-activations; where nothing is kept, the first holds activations
	preH     []T   // (batch, points, hidden)
	preO     []T   // (batch, points, out), only with an output activation
	g        []T   // (batch, points, width): gradient of the current pre-activations

	featureHat []T   // (batch, 2, modes, in)
	hat        [][]T // per layer (batch, 2, modes, width): spectra of v
	mixed      []T   // (batch, 2, modes, width): R v^, and in backward conj(R) g^
	gHat       []T   // (batch, 2, modes, width)
	rowHat     []T   // (batch, rows, 2, m, width): transforms along the last axis
	rowS       []T   // (batch, rows, 2, m, width): S_row
	middle     [][]T // between two outer transforms
	partial    []T   // (chunks, ...) gradient sums of the current phase
	partial0   []T   // (chunks, in, width): inputsᵀ·g of layer 0
	partSize   int

	scratch []scratch[T] // per worker
	run     phases
}

// scratch is one worker's tiles.
type scratch[T kernel.Float] struct {
	v, d  []T // tile x width
	h, dh []T // tile x hidden
	o     []T // tile x out; columns past Outputs stay zero
	o2    []T
	// Of a group of modes:
	mixA []T // (modes, batch, 2, 2 channels) operand of a mode's matrix
	mixB []T // (modes, 2 channels, pad(2 batch)) operand of its adjoint; the padding stays zero
	mixG []T // (modes, 2 batch, channels) the gradient's spectrum
	mixC []T // either product
	mixR []T // (2, channels, channels) a mode's matrix
	sum  []T // one row of any gradient
}

// New returns a network for the grid shape (axis 0 slowest) and the given number
// of samples per call. A nil pool runs on the caller. It panics if the Config is
// not valid for the grid: call Validate first.
func New[T kernel.Float](c Config, shape []int, batch int, pool *kernel.Pool) *Network[T] {
	if c.Validate(shape) != nil || batch < 1 {
		panic("fno: New: invalid configuration")
	}
	c.Modes = append([]int(nil), c.Modes...)
	last := len(shape) - 1
	n := &Network[T]{
		Config: c, size: c.Size(), batch: batch, pool: pool,
		rows: 1, nx: shape[last], m: c.Modes[last], modes: c.Modes[last],
		in: pad(c.Inputs), width: pad(c.Width), hidden: pad(c.Projection), out: pad(c.Outputs),
		dc: []T{1},
	}
	for _, s := range shape[:last] {
		n.rows *= s
	}
	n.points = n.rows * n.nx
	n.chunks = min(maxChunks, batch*n.rows)
	n.basis = basisMatrix[T](n.nx, n.m)
	n.inverse = inverseWeights[T](n.nx, n.m, n.points)
	outer := n.rows
	for axis := last - 1; axis >= 0; axis-- {
		outer /= shape[axis]
		n.axes = append(n.axes, newOuterAxis[T](shape[axis], c.Modes[axis], outer, n.modes))
		n.modes *= 2 * c.Modes[axis]
		if axis > 0 {
			n.middle = append(n.middle, aligned[T](batch*outer*2*n.modes*max(n.in, n.width)))
		}
	}
	n.offsets = newOffsets(c)
	n.weights = newWeights[T](n)

	total := batch * n.points
	n.features = aligned[T](total * n.in)
	n.featureHat = aligned[T](batch * 2 * n.modes * n.in)
	n.hat = make([][]T, c.Layers)
	n.pre = make([][]T, c.Layers)
	for l := range n.hat {
		n.hat[l] = aligned[T](batch * 2 * n.modes * n.width)
	}
	n.pre[0] = aligned[T](total * n.width)
	n.mixed = aligned[T](batch * 2 * n.modes * n.width)
	n.rowHat = aligned[T](batch * n.rows * 2 * n.m * max(n.in, n.width))
	n.rowS = aligned[T](batch * n.rows * 2 * n.m * n.width)
	workers := pool.Workers()
	n.scratch = make([]scratch[T], workers)
	for i := range n.scratch {
		s := &n.scratch[i]
		s.v, s.d = aligned[T](tilePoints*n.width), aligned[T](tilePoints*n.width)
		s.h, s.dh = aligned[T](tilePoints*n.hidden), aligned[T](tilePoints*n.hidden)
		s.o, s.o2 = aligned[T](tilePoints*n.out), aligned[T](tilePoints*n.out)
		s.mixA, s.mixC = aligned[T](mixGroup*batch*4*c.Width), aligned[T](mixGroup*n.width*pad(2*batch))
		s.mixB, s.mixG = aligned[T](mixGroup*2*c.Width*pad(2*batch)), aligned[T](mixGroup*2*batch*c.Width)
		s.mixR = aligned[T](2 * c.Width * c.Width)
		s.sum = aligned[T](max(n.width, n.hidden, n.out))
	}
	n.bind()
	return n
}

// allocateBackward makes the workspaces that inference does without.
func (n *Network[T]) allocateBackward() {
	if n.g != nil {
		return
	}
	total := n.batch * n.points
	for l := 1; l < len(n.pre); l++ {
		n.pre[l] = aligned[T](total * n.width)
	}
	n.preH = aligned[T](total * n.hidden)
	if n.Config.OutputActivation {
		n.preO = aligned[T](total * n.out)
	}
	n.g = aligned[T](total * n.width)
	n.gHat = aligned[T](n.batch * 2 * n.modes * n.width)
	n.partSize = max(n.width*n.width, n.width*n.hidden+n.hidden+n.hidden*n.out+n.out)
	n.partial = aligned[T](n.chunks * n.partSize)
	n.partial0 = aligned[T](n.chunks * n.in * n.width)
}

// Bytes returns the memory of the workspaces allocated so far. The first Forward
// adds those that Backward needs; ForwardOnly does without.
func (n *Network[T]) Bytes() int64 {
	all := [][]T{
		n.basis, n.features, n.preH, n.preO, n.g, n.featureHat, n.mixed, n.gHat,
		n.rowHat, n.rowS, n.partial, n.partial0, n.weights.all,
	}
	all = append(append(append(all, n.pre...), n.hat...), n.middle...)
	for _, s := range n.scratch {
		all = append(all, s.v, s.d, s.h, s.dh, s.o, s.o2, s.mixA, s.mixB, s.mixG, s.mixC, s.mixR, s.sum)
	}
	for _, a := range n.axes {
		all = append(all, a.matrix)
	}
	count := 0
	for _, s := range all {
		count += len(s)
	}
	var zero T
	return int64(count) * int64(unsafe.Sizeof(zero))
}

// aligned returns n zeros that start on a cache line, so that no vector of a row
// of padded channels crosses one. (Huge pages were tried: no gain.)
func aligned[T kernel.Float](n int) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	s := make([]T, n+64/size)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(s)))%64) / size
	return s[skip : skip+n : skip+n]
}

func pad(n int) int { return ceil(n, lane) * lane }
