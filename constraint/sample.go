package constraint

import (
	"math"
	"math/rand/v2"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/lm"
	"pihc/pde"
)

// A Sample is the memory of one constrained prediction and its backward pass.
// It belongs to one caller at a time; Load, Solve, Field and Backward are
// called in that order. After the first use nothing is allocated.
type Sample struct {
	c       *Constraint
	initial []float64
	basis   []float64     // (P, N) point-major: μ P b
	basis32 []float32     // instead, where single says so
	wide    [][]float64   // per worker: rows of basis32 in float64
	offset  []float64     // (P): g_0, or nil
	offsets []offsetInput // per worker
	field   []float64     // (P): û
	experts []*expert
	shared  []*rowBlock // global condition rows, used by every expert

	seeds    [][2]uint64
	scratch  []*scratch
	programs [][]*programs // per worker, per set
	workerOf []int         // which worker an expert's solve runs on
	zero     []float64

	source32 []float32 // the basis being loaded
	source64 []float64
	// single says that the basis and its rows are kept as float32, because the
	// basis came so and its spectral terms are formed so.
	single    bool
	slices    int // slices along axis 0
	gatherer  gatherer
	finishes  []*rowBlock
	jump      []float64 // per pair of border points: the two differences
	jumpStart []int
	overlap   float64 // fraction of rows sampled outside the subdomain

	ubar             []float64
	target32         []float32
	target64         []float64
	coefs            [][]float64   // per worker: coefficients of outer
	views            [][][]float64 // and its fields
	spread           [][]float64   // per worker (P): rows on the grid, zero between uses
	partsOf          [][]float64   // ω̄ partial sums, per expert × part
	transposeTask    func(worker, i int)
	sampleTask       func(worker, i int)
	stencilTask      func(worker, i int)
	spectralTask     func(worker, i int)
	denseTask        func(worker, i int)
	offsetTask       func(worker, i int)
	sourceTask       func(worker, i int)
	projectTask      func(worker, i int)
	jumpTask         func(worker, i int)
	finishTask       func(worker, i int)
	solveTask        func(worker, i int)
	fieldTask        func(worker, i int)
	spreadTask       func(worker, i int)
	alphaTask        func(worker, i int)
	adjointSolveTask func(worker, i int)
	scatterTask      func(worker, i int)
	outerTask        func(worker, i int)
}

// alphaParts is the number of pieces the sum ω̄_k is formed in.
const alphaParts = 8

// tilePoints is the number of grid points of one piece of b̄.
const tilePoints = 1024

// NewSample allocates the memory of one sample.
func (c *Constraint) NewSample() *Sample {
	n, size := c.N, c.System.Grid.Size()
	s := &Sample{
		c: c, field: make([]float64, size),
		slices: c.System.Grid.Axes[0].Points, zero: make([]float64, n),
		workerOf: make([]int, len(c.Windows)), seeds: make([][2]uint64, len(c.Windows)),
	}
	if c.offset != nil {
		s.offset = make([]float64, size)
		for range c.pool.Workers() {
			s.offsets = append(s.offsets, offsetInput{
				workspace: c.offset.NewWorkspace(), in: make([][]float64, len(c.axes)+1), out: make([][]float64, 1),
			})
		}
	}
	if !c.Options.Fixed {
		s.makeBlocks()
	} else {
		for k := range c.Windows {
			s.experts = append(s.experts, newExpert(s, k))
		}
	}
	terms, extras, outputs := 1, 0, 1
	for _, set := range c.System.Sets {
		terms = max(terms, len(set.Terms))
		extras = max(extras, len(set.Extras))
		outputs = max(outputs, set.Outputs())
	}
	for range c.pool.Workers() {
		s.scratch = append(s.scratch, newScratch(terms, extras, outputs, n))
		var progs []*programs
		for _, set := range c.System.Sets {
			progs = append(progs, newPrograms(set))
		}
		s.programs = append(s.programs, progs)
		s.coefs = append(s.coefs, make([]float64, 2*len(c.Windows)))
		s.views = append(s.views, make([][]float64, 2*len(c.Windows)))
		if !c.Options.Fixed {
			s.spread = append(s.spread, make([]float64, size))
		}
	}
	for _, e := range s.experts {
		e.alpha, e.beta = make([]float64, size), make([]float64, size)
		for range alphaParts {
			s.partsOf = append(s.partsOf, make([]float64, n))
		}
	}
	at := 0
	for _, b := range c.borders {
		s.jumpStart = append(s.jumpStart, at)
		at += 2 * len(b.below)
	}
	s.jump = make([]float64, at)
	s.makeTasks()
	return s
}

// makeBlocks lays out the rows: the residual rows of each expert, then one
// block per condition, shared unless conditions are local.
func (s *Sample) makeBlocks() {
	c := s.c
	sets := c.System.Sets
	if !c.Options.LocalConditions {
		for _, set := range sets[1:] {
			b := newRowBlock(set, len(set.Points), c.N)
			copy(b.points, set.Points)
			b.scale = c.rowScale(set, len(set.Points))
			s.shared = append(s.shared, b)
			s.addBlock(b)
		}
	}
	for k, w := range c.Windows {
		e := newExpert(s, k)
		m := c.Options.Points
		if m == 0 {
			m = len(c.candidates[k])
		}
		b := newRowBlock(sets[0], m, c.N)
		b.scale = c.rowScale(sets[0], m)
		e.add(b, true)
		s.addBlock(b)
		for i, set := range sets[1:] {
			if !c.Options.LocalConditions {
				e.add(s.shared[i], false)
				continue
			}
			points := inWindow(c.System.Grid, w, set.Points)
			b := newRowBlock(set, len(points), c.N)
			copy(b.points, points)
			b.scale = c.rowScale(set, max(1, len(points)))
			e.add(b, true)
			s.addBlock(b)
		}
		s.experts = append(s.experts, e)
	}
}

func (s *Sample) addBlock(b *rowBlock) {
	s.gatherer.add(b, s.c)
	s.finishes = append(s.finishes, b)
}

// makeTasks builds the closures the pool runs, once.
func (s *Sample) makeTasks() {
	c := s.c
	s.transposeTask = func(worker, slice int) {
		if s.offset != nil {
			s.offsetSlice(&s.offsets[worker], slice)
		}
		switch {
		case s.single:
			loadSlice(s, s.basis32, s.source32, slice)
		case s.source32 != nil:
			loadSlice(s, s.basis, s.source32, slice)
		default:
			loadSlice(s, s.basis, s.source64, slice)
		}
	}
	s.sampleTask = func(_, k int) {
		e := s.experts[k]
		// A generator of its own from (seed, step, sample, expert).
		var pcg rand.PCG
		pcg.Seed(s.seeds[k][0], s.seeds[k][1])
		b := e.blocks[0]
		m := len(b.points)
		if s.overlap > 0 && len(c.elsewhere[k]) > 0 {
			out := min(int(s.overlap*float64(m)+0.5), len(c.elsewhere[k]))
			m -= out
			samplePoints(b.points[m:], c.elsewhere[k], out, &pcg)
		}
		samplePoints(b.points[:m], c.candidates[k], m, &pcg)
	}
	s.stencilTask, s.spectralTask, s.denseTask = s.gatherStencils, s.gatherSlice, s.gatherDense
	s.offsetTask, s.sourceTask = s.gatherOffsets, s.scatterBlock
	s.projectTask, s.jumpTask = s.projectField, s.jumpsOf
	s.finishTask = func(worker, i int) { s.finishBlock(worker, s.finishes[i]) }
	s.solveTask = func(worker, k int) {
		s.workerOf[k] = worker
		s.experts[k].solve()
	}
	s.fieldTask = s.assembleSlice
	s.spreadTask = func(_, slice int) { s.spreadSlice(slice) }
	s.alphaTask = func(worker, i int) { s.reducePart(worker, i/alphaParts, i%alphaParts) }
	s.adjointSolveTask = func(worker, k int) {
		s.workerOf[k] = worker
		s.experts[k].adjointSolve()
	}
	s.scatterTask = func(worker, i int) { s.scatter(worker, i/2, i%2 == 1) }
	s.outerTask = func(worker, tile int) { s.outer(worker, tile) }
}

// Load takes the basis (N, P) of a network for one initial condition
// (InitialSize values), applies the ansatz, and gathers nothing yet. The slices
// are not kept.
func Load[T kernel.Float](s *Sample, basis []T, initial []float64) {
	s.initial = initial
	switch b := any(&basis).(type) {
	case *[]float32:
		s.source32, s.source64 = *b, nil
	case *[]float64:
		s.source32, s.source64 = nil, *b
	}
	s.makeBasis(s.source32 != nil && s.c.dense != nil)
	s.c.pool.Run(s.slices, s.transposeTask)
	s.source32, s.source64 = nil, nil
}

// makeBasis allocates what holds the basis and its rows in the precision asked for,
// where it is not there.
func (s *Sample) makeBasis(single bool) {
	s.single = single
	size := len(s.field) * s.c.N
	switch {
	case single && s.basis32 == nil:
		s.basis32 = make([]float32, size)
		g := s.c.System.Grid
		for range s.c.pool.Workers() {
			s.wide = append(s.wide, make([]float64, g.Axes[len(g.Axes)-1].Points*s.c.N))
		}
	case !single && s.basis == nil:
		s.basis = make([]float64, size)
	}
	for _, b := range s.finishes {
		b.makeRows(s.c, single)
	}
}

// rows returns rows [lo, hi) of the basis, no more than the last axis has points.
// They are valid until the worker's next call.
func (s *Sample) rows(worker, lo, hi int) []float64 {
	n := s.c.N
	if !s.single {
		return s.basis[lo*n : hi*n]
	}
	w := s.wide[worker][:(hi-lo)*n]
	kernel.Widen(w, s.basis32[lo*n:hi*n])
	return w
}

// offsetInput is one worker's memory to evaluate the ansatz offset.
type offsetInput struct {
	workspace *pde.Workspace
	in, out   [][]float64
}

// offsetSlice evaluates the ansatz offset on one slice along axis 0, over which
// the initial condition extends.
func (s *Sample) offsetSlice(x *offsetInput, slice int) {
	n := len(s.initial)
	lo, hi := slice*n, (slice+1)*n
	for a, coordinates := range s.c.axes {
		x.in[a] = s.initial // not read
		if coordinates != nil {
			x.in[a] = coordinates[lo:hi]
		}
	}
	x.in[len(s.c.axes)] = s.initial
	x.out[0] = s.offset[lo:hi]
	s.c.offset.Eval(x.workspace, n, x.out, x.in)
}

// SetOffset puts another field (P) in the place of the ansatz's offset g_0 until
// the next Load. It panics if the ansatz has none.
func (s *Sample) SetOffset(field []float64) {
	if s.offset == nil || len(field) != len(s.offset) {
		panic("constraint: SetOffset: want an ansatz with an offset, and a field of the grid's size")
	}
	copy(s.offset, field)
}

// loadSlice transposes one slice along axis 0 to out, point-major, applying the
// multiplier and, where asked, removing the mean over the slice, in float64.
func loadSlice[D, T kernel.Float](s *Sample, out []D, basis []T, slice int) {
	n, size := s.c.N, len(s.field)
	width := size / s.slices
	lo := slice * width
	dst := out[lo*n : (lo+width)*n]
	mu := s.c.multiplier
	if mu != nil {
		mu = mu[lo : lo+width]
	}
	i := 0
	for ; i+8 <= n; i += 8 {
		transposeEight(dst[i:], basis[i*size+lo:], n, size, width, mu, s.c.System.Problem.Ansatz.RemoveMean)
	}
	for ; i < n; i++ {
		src := basis[i*size+lo : i*size+lo+width]
		mean := 0.0
		if s.c.System.Problem.Ansatz.RemoveMean {
			for _, v := range src {
				mean += float64(v)
			}
			mean /= float64(width)
		}
		for p, v := range src {
			x := float64(v) - mean
			if mu != nil {
				x *= mu[p]
			}
			dst[p*n+i] = D(x)
		}
	}
}

// transposeEight does eight functions, size apart: a cache line of every row of
// dst, n apart.
func transposeEight[D, T kernel.Float](dst []D, basis []T, n, size, width int, mu []float64, removeMean bool) {
	x0, x1, x2, x3 := basis[:width], basis[size:][:width], basis[2*size:][:width], basis[3*size:][:width]
	x4, x5, x6, x7 := basis[4*size:][:width], basis[5*size:][:width], basis[6*size:][:width], basis[7*size:][:width]
	var m [8]float64
	if removeMean {
		var m0, m1, m2, m3, m4, m5, m6, m7 float64
		for p, v := range x0 {
			m0, m1, m2, m3 = m0+float64(v), m1+float64(x1[p]), m2+float64(x2[p]), m3+float64(x3[p])
			m4, m5, m6, m7 = m4+float64(x4[p]), m5+float64(x5[p]), m6+float64(x6[p]), m7+float64(x7[p])
		}
		m = [8]float64{m0, m1, m2, m3, m4, m5, m6, m7}
		for i := range m {
			m[i] /= float64(width)
		}
	}
	for p, v := range x0 {
		f := 1.0
		if mu != nil {
			f = mu[p]
		}
		d := dst[p*n:][:8]
		d[0], d[1], d[2], d[3] = D(f*(float64(v)-m[0])), D(f*(float64(x1[p])-m[1])), D(f*(float64(x2[p])-m[2])), D(f*(float64(x3[p])-m[3]))
		d[4], d[5], d[6], d[7] = D(f*(float64(x4[p])-m[4])), D(f*(float64(x5[p])-m[5])), D(f*(float64(x6[p])-m[6])), D(f*(float64(x7[p])-m[7]))
	}
}

// SetOverlap makes the next solves take that fraction of each expert's residual
// rows from outside its subdomain, uniformly; the options must allow Overlap.
func (s *Sample) SetOverlap(fraction float64) {
	if fraction != 0 && !s.c.Options.Overlap {
		panic("constraint: SetOverlap without Options.Overlap")
	}
	s.overlap = fraction
}

// Seed identifies the sampled points: the same seed samples the same points.
type Seed struct{ Run, Step, Sample uint64 }

// Solve samples the residual rows of every expert from a generator derived
// from (seed, expert) and finds the weights ω_k.
func (s *Sample) Solve(seed Seed) {
	c := s.c
	if c.Options.Fixed {
		for _, e := range s.experts {
			e.solve()
		}
		return
	}
	for k := range s.experts {
		s.seeds[k] = [2]uint64{mix(seed.Run, seed.Step), mix(seed.Sample, uint64(k))}
	}
	c.pool.Run(len(s.experts), s.sampleTask)
	s.gather()
	c.pool.Run(len(s.finishes), s.finishTask)
	for _, e := range s.experts {
		e.parallel = len(s.experts) < c.pool.Workers()
	}
	s.runExperts(s.solveTask)
}

// Resolve solves again on the rows of the last Solve, for measurements.
func (s *Sample) Resolve() { s.runExperts(s.solveTask) }

// Gather fills the rows of all terms again, at the points of the last Solve, for
// measurements.
func (s *Sample) Gather() { s.gather() }

// runExperts puts the experts on the work queue, or, when there are fewer than
// workers, runs them one after another with their rows on the pool.
func (s *Sample) runExperts(task func(worker, i int)) {
	if len(s.experts) < s.c.pool.Workers() {
		for k := range s.experts {
			task(0, k)
		}
		return
	}
	s.c.pool.Run(len(s.experts), task)
}

// finishBlock fills what does not depend on the weights: extras, affine parts
// (of the operators and of the ansatz offset), sums of affine sets.
func (s *Sample) finishBlock(worker int, b *rowBlock) {
	sys := s.c.System
	n := int32(sys.InitialSize())
	for e, x := range b.set.Extras {
		out := b.extras[e]
		if x.Axis < 0 {
			for i, p := range b.points {
				out[i] = s.initial[p%n]
			}
			continue
		}
		axis := s.c.axes[x.Axis]
		for i, p := range b.points {
			out[i] = axis[p]
		}
	}
	for j, t := range b.set.Terms {
		op := sys.Terms[t]
		b.c[j] = nil
		if !op.Affine() && s.offset == nil {
			continue
		}
		b.c[j] = b.constants[j]
		if grid.SpectralOf(op.Operator) != nil {
			continue // gathered with the basis
		}
		c := b.c[j]
		clear(c)
		if op.Affine() {
			op.Offset(c, b.points)
		}
		if s.offset != nil {
			b.gatherOffset(c, op, s.offset)
		}
	}
	if b.set.Linear {
		set := 0
		for i, x := range sys.Sets {
			if x == b.set {
				set = i
			}
		}
		sc := s.scratch[worker]
		b.summarise(&sc.summary, sc, s.programs[worker][set], s.zero)
	}
}

// gatherOffset adds T g_0 at the block's points to c.
func (b *rowBlock) gatherOffset(c []float64, op pde.Operator, offset []float64) {
	if b.fieldOffset == nil {
		b.fieldOffset = make([]float64, len(b.points))
	}
	op.Gather(b.fieldOffset, offset, 1, b.points)
	kernel.Axpy64(c, 1, b.fieldOffset)
}

func mix(a, b uint64) uint64 {
	// SplitMix64's finaliser over a combination of both words.
	x := a*0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Field assembles û = g_0 + μPb ω_k over the subdomains and returns it; the
// slice is valid until the next Load.
func (s *Sample) Field() []float64 {
	s.c.pool.Run(s.slices, s.fieldTask)
	return s.field
}

// assembleSlice assembles the points of one slice along axis 0.
func (s *Sample) assembleSlice(worker, slice int) {
	n := s.c.N
	for _, e := range s.experts {
		s.segments(e.index, slice, func(lo, hi int) {
			if s.single {
				kernel.MatVecRows32(s.field[lo:hi], n, hi-lo, s.basis32[lo*n:hi*n], e.w, s.scratch[worker].fma)
			} else {
				kernel.MatVecRows(s.field[lo:hi], n, hi-lo, s.basis[lo*n:hi*n], e.w)
			}
			if s.offset != nil {
				kernel.Axpy64(s.field[lo:hi], 1, s.offset[lo:hi])
			}
		})
	}
}

// segments calls f for each contiguous run of points of expert k in a slice
// along axis 0.
func (s *Sample) segments(k, slice int, f func(lo, hi int)) {
	g := s.c.System.Grid
	w := &s.c.Windows[k]
	if slice < w.Lo[0] || slice >= w.Hi[0] {
		return
	}
	last := len(g.Axes) - 1
	width := len(s.field) / s.slices
	base := slice * width
	if last == 0 {
		f(base, base+1)
		return
	}
	inner := g.Axes[last].Points
	for row := range width / inner {
		rest, inside := row, true
		for a := last - 1; a >= 1; a-- {
			i := rest % g.Axes[a].Points
			rest /= g.Axes[a].Points
			inside = inside && i >= w.Lo[a] && i < w.Hi[a]
		}
		if inside {
			f(base+row*inner+w.Lo[last], base+row*inner+w.Hi[last])
		}
	}
}

// Experts is the number of solves, one for every subdomain.
func (s *Sample) Experts() int { return len(s.experts) }

// Weights returns ω_k; the slice is valid until the next Solve.
func (s *Sample) Weights(k int) []float64 { return s.experts[k].w }

// Outcomes returns how each expert's solve ended, computing the constraint's
// root mean square.
func (s *Sample) Outcomes() []Outcome {
	out := make([]Outcome, len(s.experts))
	for k, e := range s.experts {
		out[k] = e.outcome()
	}
	return out
}

// Finite reports whether every weight is finite.
func (s *Sample) Finite() bool {
	for _, e := range s.experts {
		for _, v := range e.w {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		}
	}
	return true
}

// Count sums up the last solves and their adjoints: iterations, solves that
// ended early, and adjoints that used another matrix than asked for.
func (s *Sample) Count() (iterations, failed, fallbacks int) {
	if s.c.Options.Fixed {
		return 0, 0, 0
	}
	want := lm.FactorGaussNewton
	if s.c.Options.Adjoint == lm.AdjointExact {
		want = lm.FactorExact
	}
	for _, e := range s.experts {
		iterations += e.result.Iterations
		if e.result.Status.Early() {
			failed++
		}
		if e.adjoint != want {
			fallbacks++
		}
	}
	return iterations, failed, fallbacks
}
