package constraint

import (
	"pihc/compute"
	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/internal/slab"
	"pihc/lm"
	"pihc/pde"
)

// A Sample is the memory of one constrained prediction and its backward pass. It
// belongs to one caller at a time; Load, Draw, Solve, Field and Backward are called in
// that order. After the first use nothing proportional to the grid or the rows is
// allocated.
type Sample struct {
	c        *Constraint
	gatherer *grid.Gatherer
	workers  []*worker
	zero     []float64 // (N)
	packed   []float64 // scratch of sums over ranks

	// What Load left.
	initial []float64
	offset  []float64 // (C, P): g_0; nil where the ansatz has none
	store   store     // the basis, and the rows of all blocks

	// What Draw and Solve left.
	blocks    []*block             // of all experts
	constants []grid.Rows[float64] // T g_0 at their points, with an offset
	experts   []*expert
	overlap   float64 // fraction of rows sampled outside the subdomain

	field     []float64 // (C, P): û
	jump      []float64 // per border, unknown and pair of its points: the two differences
	jumpStart []int     // per border

	// Of the backward pass: α_k and β_k of every expert, the adjoint rows that go into
	// them, parts of the sums ω̄_k, and these.
	adjointFields [][]float64
	adjointLists  [][]grid.Rows[float64]
	parts         [][]float64
	omegaBars     [][]float64
}

// NewSample allocates the memory of one sample.
func (c *Constraint) NewSample() *Sample {
	size := c.System.FieldSize()
	s := &Sample{c: c, gatherer: c.System.NewGatherer(c.pool), zero: make([]float64, c.N), field: make([]float64, size)}
	for _, x := range c.combined {
		s.gatherer.Add(x.term, x.with, x.factor)
	}
	for i := range c.pool.Workers() {
		s.workers = append(s.workers, c.newWorker(i))
	}
	if c.System.Problem.HasOffset() {
		s.offset = make([]float64, size)
	}
	shared := map[*pde.RowSet]*block{}
	for k := range c.Router.Experts() {
		var blocks []*block
		for i, set := range c.System.Sets {
			if c.Options.Fixed {
				break
			}
			b := shared[set]
			if b == nil {
				b = s.newBlock(i, k)
			}
			if set.Kind != pde.ResidualRows && !c.Options.LocalConditions {
				shared[set] = b
			}
			blocks = append(blocks, b)
		}
		e := s.newExpert(k, blocks)
		s.experts = append(s.experts, e)
		s.adjointFields, s.adjointLists = append(s.adjointFields, e.alpha, e.beta), append(s.adjointLists, e.s, e.q)
		s.omegaBars = append(s.omegaBars, e.omegaBar)
		for range alphaParts {
			s.parts = append(s.parts, make([]float64, c.N))
		}
	}
	at := 0
	for _, b := range c.borders {
		s.jumpStart = append(s.jumpStart, at)
		at += 2 * len(b.Below) * len(c.System.Problem.Unknowns)
	}
	s.jump = make([]float64, at)
	return s
}

// newBlock makes the rows of set i for one expert: as many residual rows as are
// sampled, or a condition's.
func (s *Sample) newBlock(i, expert int) *block {
	c := s.c
	set, points := c.System.Sets[i], c.Points(c.System.All().Sets[i], expert)
	b := &block{index: len(s.blocks), count: len(points), scale: c.Options.RowScale(set, max(1, len(points)))}
	switch sampled := set.Kind == pde.ResidualRows && (c.Options.Points > 0 || c.Options.Overlap); {
	case c.System.Slab == nil:
	case sampled:
		b.drawn, points = points, make([]int32, min(len(points), len(set.Points)))
	default:
		points, b.phase = c.System.AppendOwn(nil, points)
		b.phase %= chunkRows
	}
	b.PointRows, b.most = c.System.NewPointRows(set, points), len(points)
	if s.offset != nil {
		rows := b.NewValues()
		b.Constants = rows.Values
		s.constants = append(s.constants, rows)
	}
	if set.Linear {
		b.gram, b.linear = make([]float64, c.N*c.N), make([]float64, c.N)
	}
	s.blocks = append(s.blocks, b)
	return b
}

// Load takes the basis (N, C, P) of a network for the inputs of one sample (InitialSize
// values of the System), applies the ansatz, and gathers nothing yet. The basis is not kept; the
// inputs are, until the next Load. Of a part of a System P are the own points. The directions
// are Options.Directions fields (C, P), or fewer, the others zero, that the solve adds multiples
// of as they are, without the ansatz: differences of fields that meet it, say.
func Load[T compute.Float](s *Sample, basis []T, initial []float64, directions ...[]float64) {
	if len(directions) > s.c.Options.Directions {
		panic("constraint: Load: more directions than Options.Directions")
	}
	s.initial = initial
	_, single := any(basis).([]float32)
	single = single && s.gatherer.DenseTables()
	switch store := s.store.(type) {
	case *rows[float32]:
		if single {
			loadInto(s, store.basis, basis, directions)
			return
		}
	case *rows[float64]:
		if !single {
			loadInto(s, store.basis, basis, directions)
			return
		}
	}
	if single {
		s.store = newRows[float32](s.c, s.blocks)
	} else {
		s.store = newRows[float64](s.c, s.blocks)
	}
	Load(s, basis, initial, directions...)
}

// loadInto fills the basis of a store, and evaluates the offset of the ansatz.
func loadInto[D, T compute.Float](s *Sample, out []D, basis []T, directions [][]float64) {
	system := s.c.System
	width, times := system.SliceSize(), system.Grid.Axes[0].Points
	lo, hi := system.Slab.Own(times)
	s.c.pool.Run(len(s.field)/width, func(worker, slice int) {
		if s.offset != nil {
			s.workers[worker].Offset(s.offset[slice*width:(slice+1)*width], s.initial, slice)
		}
		if unknown, at := slice/times, slice%times; at >= lo && at < hi {
			loadSlice(s, out, basis, slice, unknown*(hi-lo)+at-lo)
			loadDirections(s, out[slice*width*s.c.Functions:], directions, slice*width, width)
		}
	})
	slab.Fill(system.Slab, out, width*s.c.Functions)
}

// ownSize is the number of values of a field at own points.
func (c *Constraint) ownSize() int {
	lo, hi := c.System.OwnPoints()
	return len(c.System.Problem.Unknowns) * (hi - lo)
}

// SetOffset puts another field (C, P) in the place of the ansatz's offset g_0 until
// the next Load. It panics if the ansatz has none.
func (s *Sample) SetOffset(field []float64) {
	if s.offset == nil || len(field) != len(s.offset) {
		panic("constraint: SetOffset: want an ansatz with an offset, and a field of the grid's size")
	}
	copy(s.offset, field)
}

// column is the first weight of the components of basis functions that belong to an
// unknown.
func (c *Constraint) column(unknown int) int {
	if c.Options.Separate {
		return unknown * c.Functions
	}
	return 0
}

// loadDirections writes values [lo, lo+width) of the directions after the functions of
// the network, zeros where there are fewer.
func loadDirections[D compute.Float](s *Sample, out []D, directions [][]float64, lo, width int) {
	n := s.c.Functions
	for i := range s.c.Options.Directions {
		column := n - s.c.Options.Directions + i
		for p := range width {
			out[p*n+column] = 0
		}
		if i < len(directions) {
			for p, v := range directions[i][lo : lo+width] {
				out[p*n+column] = D(v)
			}
		}
	}
}

// loadSlice transposes one slice along axis 0 of (C, P) to out, point-major, applying the
// multiplier and, where asked, removing the mean over the slice, in float64. from is its
// place in the basis.
func loadSlice[D, T compute.Float](s *Sample, out []D, basis []T, slice, from int) {
	n, size := s.c.Functions, s.c.ownSize()
	width := s.c.System.SliceSize()
	lo, from := slice*width, from*width
	dst := out[lo*n : (lo+width)*n]
	mu, removeMean := s.c.multiplier, s.c.System.RemovesMean(slice)
	if mu != nil {
		mu = mu[lo : lo+width]
	}
	i, own := 0, n-s.c.Options.Directions
	for ; i+8 <= own; i += 8 {
		transposeEight(dst[i:], basis[i*size+from:], n, size, width, mu, removeMean)
	}
	for ; i < own; i++ {
		src := basis[i*size+from:][:width]
		mean := 0.0
		if removeMean {
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
func transposeEight[D, T compute.Float](dst []D, basis []T, n, size, width int, mu []float64, removeMean bool) {
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

// Field assembles û = g_0 + μΠb ω_k over the subdomains and returns it; the
// slice is valid until the next Load.
func (s *Sample) Field() []float64 {
	s.c.pool.Run(len(s.field)/s.c.System.SliceSize(), func(worker, slice int) {
		for _, e := range s.experts {
			s.segments(e.index, slice, func(lo, hi int) {
				s.store.basisProduct(s.workers[worker], s.field[lo:hi], lo, e.omega)
				if s.offset != nil {
					kernel.Axpy64(s.field[lo:hi], 1, s.offset[lo:hi])
				}
			})
		}
	})
	slab.Fill(s.c.System.Slab, s.field, s.c.System.SliceSize())
	return s.field
}

// segments calls f for each run of own points of expert k in a slice along axis 0 of a field (C, P).
func (s *Sample) segments(k, slice int, f func(lo, hi int)) {
	r, slices := &s.c.runs[k], s.c.System.Grid.Axes[0].Points
	base := slice / slices * s.c.System.Grid.Size()
	slice %= slices
	for _, run := range r.at[r.start[slice]:r.start[slice+1]] {
		f(base+run[0], base+run[1])
	}
}

// Experts is the number of solves, one for every subdomain.
func (s *Sample) Experts() int { return len(s.experts) }

// Weights returns ω_k; the slice is valid until the next Solve.
func (s *Sample) Weights(k int) []float64 { return s.experts[k].omega }

// Outcomes returns how each expert's solve ended, computing the constraint's
// root mean square.
func (s *Sample) Outcomes() []Outcome {
	out := make([]Outcome, len(s.experts))
	for k, e := range s.experts {
		out[k] = s.outcome(e)
	}
	return out
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
