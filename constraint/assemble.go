package constraint

import (
	"slices"

	"pihc/compute"
	"pihc/grid"
	"pihc/internal/slab"
)

// An Input is all that the solves of a sample depend on.
type Input[T compute.Float] struct {
	// Basis is the functions (N, C, P) of a network; it is not kept. Of a part of a System P are
	// the own points.
	Basis []T
	// Sample is the inputs of the sample (InputSize values of the System).
	Sample []float64
	// Directions are Options.Directions fields (C, P), or fewer, the others zero, that the solve
	// adds multiples of as they are, without the ansatz: differences of fields that meet it, say.
	Directions [][]float64
	// Offset is a field (C, P) in the place of the ansatz's offset g_0, which must have one; nil: that.
	Offset []float64
	// Overlap is the fraction of each expert's residual rows that are drawn from outside its
	// subdomain, uniformly; where it is not zero the options must allow Overlap.
	Overlap float64
	Seed    Seed
	// Draft leaves the Newton correction out: nothing is differentiated through the solve.
	Draft bool
	// Ranks, where not nil, share the solves and adjoints of the experts of this sample. All make the same calls with the same
	// arguments, and all get the bits of one process alone. The System must be the whole one.
	Ranks compute.Ranks
}

// LeastSquares are the problems of all experts for one sample, in the memory of a Workspace and valid
// until its next ones.
type LeastSquares struct{ memory *Workspace }

// Assemble applies the ansatz to a basis, draws the residual rows of every expert from a generator
// derived from (seed, expert), and forms the rows of all terms there and of the conditions.
func (s *Workspace) Assemble[T compute.Float](in Input[T]) LeastSquares {
	switch {
	case len(in.Directions) > s.c.Options.Directions:
		panic("constraint: Assemble: more directions than Options.Directions")
	case in.Overlap != 0 && !s.c.Options.Overlap:
		panic("constraint: Assemble: an overlap without Options.Overlap")
	case in.Offset != nil && len(in.Offset) != len(s.offset):
		panic("constraint: Assemble: an offset wants an ansatz with one, and a field of the grid's size")
	}
	copy(s.offset, in.Offset)
	s.draft = in.Draft
	s.share(in.Ranks)
	if _, single := any(in.Basis).([]float32); single && s.gatherer.Single() {
		load[float32](s, in)
	} else {
		load[float64](s, in)
	}
	if !s.c.Options.Fixed {
		s.draw(in.Sample, in.Seed, in.Overlap)
	}
	return LeastSquares{s}
}

// load fills the basis of a store of one precision, and evaluates the offset of the ansatz.
func load[D, T compute.Float](s *Workspace, in Input[T]) {
	store, ok := s.store.(*rows[D])
	if !ok {
		store = newRows[D](s.c, s.blocks)
		s.store = store
	}
	system, out := s.c.System, store.basis
	width, times := system.SliceSize(), system.Grid.Axes[0].Points
	lo, hi := system.Slab.Own(times)
	s.c.pool.Run(len(s.field)/width, func(worker, slice int) {
		if s.offset != nil && in.Offset == nil && !s.c.propagates() {
			s.workers[worker].Offset(s.offset[slice*width:(slice+1)*width], in.Sample, slice)
		}
		if unknown, at := slice/times, slice%times; at >= lo && at < hi {
			loadSlice(s, out, in.Basis, slice, unknown*(hi-lo)+at-lo)
			loadDirections(s, out[slice*width*s.c.stored:], in.Directions, slice*width, width)
		}
	})
	switch {
	case !s.c.propagates():
	case !s.linearise(in.Sample):
		s.lose()
	default:
		if s.offset != nil && in.Offset == nil {
			s.beginOffset(in.Sample)
		}
		propagate(s, out)
	}
	smooth(s, out)
	removeWeightedMeans(s, out)
	slab.Fill(system.Slab, out, width*s.c.stored)
}

// draw forms the rows of every block.
func (s *Workspace) draw(sample []float64, seed Seed, overlap float64) {
	s.c.pool.Run(len(s.experts), func(_, k int) { s.samplePoints(k, seed, overlap) })
	s.store.gather(s.gatherer, s.foreign)
	if s.offset != nil {
		grid.Gather(s.gatherer, s.offset, 1, without(s.constants, s.foreign))
	}
	s.c.pool.Run(len(s.blocks), func(worker, i int) {
		b := s.blocks[i]
		if s.foreign[i] {
			return
		}
		if s.offset == nil {
			for _, c := range b.Constants {
				clear(c)
			}
		}
		b.Prepare()
		b.SetInputs(sample)
		if b.Set.Linear {
			s.summarise(s.workers[worker], b)
		}
	})
	for _, b := range s.blocks {
		if b.Set.Linear {
			half := []float64{b.half}
			s.sum(b.gram, b.linear, half)
			b.half = half[0]
		}
	}
}

// without is the rows of blocks that are not foreign.
func without[T compute.Float](lists []grid.Rows[T], foreign []bool) []grid.Rows[T] {
	if !slices.Contains(foreign, true) {
		return lists
	}
	var own []grid.Rows[T]
	for i, list := range lists {
		if !foreign[i] {
			own = append(own, list)
		}
	}
	return own
}

// loadDirections writes values [lo, lo+width) of the directions after the functions of
// the network, zeros where there are fewer.
func loadDirections[D compute.Float](s *Workspace, out []D, directions [][]float64, lo, width int) {
	n, unknown := s.c.stored, lo/s.c.System.Grid.Size()
	for i := range s.c.Options.Directions {
		column := s.c.within(unknown) + s.c.Functions - s.c.Options.Directions + i
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
func loadSlice[D, T compute.Float](s *Workspace, out []D, basis []T, slice, from int) {
	n, size := s.c.stored, s.c.ownSize()
	width := s.c.System.SliceSize()
	unknown := slice / s.c.System.Grid.Axes[0].Points
	lo, from := slice*width, from*width
	dst := out[lo*n : (lo+width)*n]
	if n > s.c.Functions {
		clear(dst)
	}
	dst = dst[s.c.within(unknown):]
	mu, removeMean := s.c.multiplier, s.c.System.RemovesMean(unknown)
	if mu != nil {
		mu = mu[lo : lo+width]
	}
	i, own := 0, s.c.Functions-s.c.Options.Directions
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
