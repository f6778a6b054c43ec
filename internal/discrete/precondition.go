package discrete

import (
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/fft"
	"pihc/internal/kernel"
)

// A preconditioner is near the inverse of a matrix.
type preconditioner interface {
	// apply sets dst (fields, slices, points) to its product with src; they may be the same.
	apply(dst, src []float64)
}

// circulant approximates the matrix of a step in time where all axes of space are periodic and every field has a row at each of its
// points: with the means over a slice of what multiplies the terms it is a circulant, and divides into one small matrix for each Fourier
// mode (T. F. Chan, An optimal circulant preconditioner for Toeplitz systems, 1988). It is exact for linear terms with constants.
type circulant struct {
	shape   []int          // of a slice
	modes   int            // of the half spectrum of a slice
	symbols [][]complex128 // per term (modes): nil where no row has it
}

// newCirculant returns nil where the rows do not allow it.
func (s *system) newCirculant() *circulant {
	axes := s.sys.Grid.Axes[1:]
	uneven := slices.ContainsFunc(axes, func(a grid.Axis) bool { return a.Boundary != grid.Periodic })
	if s.whole || uneven || len(s.sys.Sets) != s.fields {
		return nil
	}
	for _, set := range s.sys.Sets {
		if len(set.Points) != s.slices*s.points {
			return nil
		}
	}
	c := &circulant{shape: s.sys.Grid.Shape()[1:], symbols: make([][]complex128, len(s.sys.Terms))}
	transform := fft.NewReal(c.shape, 1)
	c.modes = transform.Modes()
	re, im := make([]float64, c.modes), make([]float64, c.modes)
	unit, response := make([]float64, s.slices*s.points), make([]float64, s.slices*s.points)
	unit[0] = 1 // on a grid without ends all points have one stencil
	for _, set := range s.sys.Sets {
		for _, t := range set.Terms {
			if c.symbols[t] != nil {
				continue
			}
			s.sys.Terms[t].Operator.Apply(response, unit)
			transform.Forward(re, im, response[:s.points])
			for i, v := range re {
				c.symbols[t] = append(c.symbols[t], complex(v, im[i]))
			}
		}
	}
	return c
}

// inverse is that of a circulant matrix of a state, with the memory to multiply by it.
type inverse struct {
	transform *fft.Real
	factors   []float64    // of which it was made, empty where it could not be
	blocks    []complex128 // (modes, size, size), of fields times slices
	re, im    []float64    // (modes, size)
	values    []float64    // (points, size)
	x         []complex128 // (size)
}

// invert sets the preconditioner from the last evaluation; there is none where the circulant matrix, or blocks of the incomplete
// factorisation, cannot be inverted.
func (st *state) invert() {
	c, size := st.circulant, st.fields*st.slices
	if st.near = nil; c == nil {
		if st.incomplete == nil && !st.whole { // where all is solved at once a coarser grid is faster
			st.incomplete = st.newIncomplete()
		}
		if v := st.incomplete; v != nil {
			if st.work += st.costs.invert; v.factor(st) {
				st.near = v
			}
		}
		return
	}
	v := st.inverse
	if v == nil {
		t := fft.NewReal(c.shape, size)
		v = &inverse{
			transform: t, blocks: make([]complex128, c.modes*size*size), re: make([]float64, t.Modes()), im: make([]float64, t.Modes()),
			values: make([]float64, t.Size()), x: make([]complex128, size),
		}
		st.inverse = v
	}
	factors := st.meanFactors()
	if len(v.factors) > 0 && similar(v.factors, factors) {
		st.near = v
		return
	}
	st.work += st.costs.invert
	v.factors = factors
	clear(v.blocks)
	for k, set := range st.sys.Sets {
		for _, t := range set.Terms {
			for i := range st.slices {
				row := (st.owner[k]*st.slices+i)*size + st.sys.Terms[t].Of*st.slices
				for l, factor := range factors[:st.slices] {
					if factor == 0 {
						continue
					}
					for mode, symbol := range c.symbols[t] {
						v.blocks[mode*size*size+row+l] += complex(factor, 0) * symbol
					}
				}
				factors = factors[st.slices:]
			}
		}
	}
	for mode := range c.modes {
		if !kernel.InvertComplex(v.blocks[mode*size*size:][:size*size], size, complex(1/float64(st.points), 0)) {
			v.factors = nil
			return
		}
	}
	st.near = v
}

// meanFactors returns what multiplies each term of each set of rows at the last evaluation, in the mean over a slice: (slices, slices) of
// them, for the rows of one slice by the values of another.
func (st *state) meanFactors() (all []float64) {
	for k, set := range st.sys.Sets {
		for j, t := range set.Terms {
			for i := range st.slices {
				mean := 0.0
				for _, g := range st.out[k][1+j][i*st.points : (i+1)*st.points] {
					mean += g / float64(st.points)
				}
				for l := range st.slices {
					switch m := st.rates[t]; {
					case m > 0:
						all = append(all, mean*st.rate[m][i*st.slices+l])
					case l == i:
						all = append(all, mean)
					default:
						all = append(all, 0)
					}
				}
			}
		}
	}
	return all
}

// similar reports whether two preconditioners are about as good.
func similar(a, b []float64) bool {
	for i, v := range a {
		if math.Abs(v-b[i]) > 0.05*math.Abs(v) {
			return false
		}
	}
	return true
}

func (v *inverse) apply(dst, src []float64) {
	size := len(v.x)
	points := len(src) / size
	for f := range size {
		for p, x := range src[f*points : (f+1)*points] {
			v.values[p*size+f] = x
		}
	}
	v.transform.Forward(v.re, v.im, v.values)
	for mode := range len(v.re) / size {
		re, im := v.re[mode*size:][:size], v.im[mode*size:][:size]
		x := v.x
		for i := range x {
			x[i] = complex(re[i], im[i])
		}
		block := v.blocks[mode*size*size:][:size*size]
		for i := range size {
			sum := complex128(0)
			for j, b := range block[i*size : (i+1)*size] {
				sum += b * x[j]
			}
			re[i], im[i] = real(sum), imag(sum)
		}
	}
	v.transform.Inverse(v.values, v.re, v.im)
	for f := range size {
		for p := range points {
			dst[f*points+p] = v.values[p*size+f]
		}
	}
}
