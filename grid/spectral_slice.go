package grid

import "slices"

// SpectralRows are rows of one spectral operator that are wanted of a basis: row r
// of Dst (len(Points), n) belongs to Points[r]. Points ascend.
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
	if w.copyRe == nil {
		w.copyRe, w.copyIm = make([]float64, len(w.re)), make([]float64, len(w.im))
	}
	w.transform.Forward(w.copyRe, w.copyIm, basis[first*n:(first+s.width)*n])
	var last *multiplier
	for _, r := range rows {
		o, ok := r.Operator.(*multiplier)
		if !ok || o.space != s {
			panic("grid: GatherSlice: the operator belongs to no or another Spectral")
		}
		if len(r.Dst) != len(r.Points)*n {
			panic("grid: GatherSlice: want Dst (len(Points), n)")
		}
		lo, _ := slices.BinarySearch(r.Points, int32(first))
		hi, _ := slices.BinarySearch(r.Points, int32(first+s.width))
		if lo == hi {
			continue
		}
		if o != last {
			copy(w.re, w.copyRe)
			copy(w.im, w.copyIm)
			multiplyModes(w.re, w.im, o.symbol, n, o.odd, false)
			w.transform.Inverse(w.values, w.re, w.im)
			last = o
		}
		for i := lo; i < hi; i++ {
			at := (int(r.Points[i]) - first) * n
			copy(r.Dst[i*n:(i+1)*n], w.values[at:at+n])
		}
	}
	s.give(n, w)
}

// SpectralOf returns the Spectral that made an operator, or nil if it is not a
// spectral one.
func SpectralOf(op Operator) *Spectral {
	if o, ok := op.(*multiplier); ok {
		return o.space
	}
	return nil
}
