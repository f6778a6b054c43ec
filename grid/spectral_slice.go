package grid

import (
	"slices"

	"pihc/internal/kernel"
)

// SpectralRows are rows of one spectral operator that are wanted of a basis: row r
// of Dst (len(Points), n) belongs to Points[r]. Points ascend, but may repeat.
type SpectralRows struct {
	Operator Operator // made by the Spectral whose GatherSlice is called
	Points   []int32
	Dst      []float64
}

// GatherSlice sets those rows of every entry that lie in one slice (0 to the
// points of the first axis - 1), with the same bits as the operators' Gather. The
// slice is transformed once for all entries, and back once for every run of entries
// with the same operator: for a number of operators and many lists of points this
// costs a fraction of separate calls. basis is (P, n), point-major. Slices may be
// done by different goroutines at once.
func (s *Spectral) GatherSlice(slice int, basis []float64, n int, rows []SpectralRows) {
	if n < 1 || len(basis) != s.size*n {
		panic("grid: GatherSlice: want basis (P, n)")
	}
	first := slice * s.width
	w := s.take(n)
	w.transform.Forward(w.re, w.im, basis[first*n:(first+s.width)*n])
	var last *multiplier
	for i := range rows {
		r := &rows[i]
		o := s.own(r)
		if len(r.Dst) != len(r.Points)*n {
			panic("grid: GatherSlice: want Dst (len(Points), n)")
		}
		lo, hi := r.within(first, first+s.width)
		if lo == hi {
			continue
		}
		if o != last {
			o.multiply(w, n, false)
			w.transform.Inverse(w.values, w.timesRe, w.timesIm)
			last = o
		}
		for i := lo; i < hi; i++ {
			at := (int(r.Points[i]) - first) * n
			copy(r.Dst[i*n:(i+1)*n], w.values[at:at+n])
		}
	}
	s.give(n, w)
}

// own returns the operator of r.
func (s *Spectral) own(r *SpectralRows) *multiplier {
	o, ok := r.Operator.(*multiplier)
	if !ok || o.space != s {
		panic("grid: spectral rows of an operator that belongs to no or another Spectral")
	}
	return o
}

// within returns the range of r.Points that lies in [first, end).
func (r *SpectralRows) within(first, end int) (lo, hi int) {
	lo, _ = slices.BinarySearch(r.Points, int32(first))
	hi, _ = slices.BinarySearch(r.Points[lo:], int32(end))
	return lo, lo + hi
}

// blockSlices is the number of slices of a block: their transforms fill the
// lanes of a vector.
const blockSlices = kernel.LaneCount

// Blocks returns the number of blocks of slices that GatherBlock and ScatterBlock
// work on.
func (s *Spectral) Blocks() int {
	return (s.axes[0].Points + blockSlices - 1) / blockSlices
}

// block returns the first and the number of slices of a block.
func (s *Spectral) block(i int) (first, count int) {
	first = i * blockSlices
	return first, min(blockSlices, s.axes[0].Points-first)
}

// GatherBlock is GatherSlice for one field u (P) and all slices of a block at
// once, which are transformed together. Its results differ from those of Gather by
// rounding. Blocks may be done by different goroutines at once.
func (s *Spectral) GatherBlock(block int, u []float64, rows []SpectralRows) {
	if len(u) != s.size {
		panic("grid: GatherBlock: want one value per grid point")
	}
	first, count := s.block(block)
	w := s.take(blockSlices)
	clear(w.values)
	for l := range count {
		for p, v := range u[(first+l)*s.width : (first+l+1)*s.width] {
			w.values[p*blockSlices+l] = v
		}
	}
	w.transform.Forward(w.re, w.im, w.values)
	var last *multiplier
	for i := range rows {
		r := &rows[i]
		o := s.own(r)
		if len(r.Dst) != len(r.Points) {
			panic("grid: GatherBlock: want Dst (len(Points))")
		}
		at, end := r.within(first*s.width, (first+count)*s.width)
		if at == end {
			continue
		}
		if o != last {
			o.multiply(w, blockSlices, false)
			w.transform.Inverse(w.values, w.timesRe, w.timesIm)
			last = o
		}
		for l := range count {
			lo := (first + l) * s.width
			for ; at < end && int(r.Points[at]) < lo+s.width; at++ {
				r.Dst[at] = w.values[(int(r.Points[at])-lo)*blockSlices+l]
			}
		}
	}
	s.give(blockSlices, w)
}

// ScatterBlock is the transpose of GatherBlock: it adds Σ Tᵀ Sᵀ v, over all
// entries, to the points of u (P) in the slices of a block, v being the Dst of an
// entry, which it reads. Every run of entries with the same operator is
// transformed once, and the sum of all back once.
func (s *Spectral) ScatterBlock(block int, u []float64, rows []SpectralRows) {
	if len(u) != s.size {
		panic("grid: ScatterBlock: want one value per grid point")
	}
	first, count := s.block(block)
	w := s.take(blockSlices)
	found := false
	var last *multiplier
	for i := range rows {
		r := &rows[i]
		o := s.own(r)
		if len(r.Dst) != len(r.Points) {
			panic("grid: ScatterBlock: want Dst (len(Points))")
		}
		at, end := r.within(first*s.width, (first+count)*s.width)
		if at == end {
			continue
		}
		if o != last {
			w.addLast(last, &found)
			clear(w.sum)
			last = o
		}
		for l := range count {
			lo := (first + l) * s.width
			for ; at < end && int(r.Points[at]) < lo+s.width; at++ {
				w.sum[(int(r.Points[at])-lo)*blockSlices+l] += r.Dst[at]
			}
		}
	}
	w.addLast(last, &found)
	if found {
		w.transform.Inverse(w.values, w.timesRe, w.timesIm)
		for l := range count {
			out := u[(first+l)*s.width : (first+l+1)*s.width]
			for p := range out {
				out[p] += w.values[p*blockSlices+l]
			}
		}
	}
	s.give(blockSlices, w)
}

// addLast adds the transform of w.sum, times the transposed symbol of the operator
// it belongs to, to the sum of products.
func (w *workspace) addLast(o *multiplier, found *bool) {
	if o == nil {
		return
	}
	if !*found {
		clear(w.timesRe)
		clear(w.timesIm)
		*found = true
	}
	w.transform.Forward(w.re, w.im, w.sum)
	o.addTransposed(w, blockSlices)
}

// SpectralOf returns the Spectral that made an operator, or nil if it is not a
// spectral one.
func SpectralOf(op Operator) *Spectral {
	if o, ok := op.(*multiplier); ok {
		return o.space
	}
	return nil
}
