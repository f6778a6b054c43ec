package constraint

import (
	"errors"
	"fmt"
	"math"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// A Floor tells what a discretisation can reach, with no network at all.
type Floor struct {
	// Residual is rms(F of the reference solution) / rms(u_t) over the residual
	// rows, without row weights: what a perfect prediction would show. Of several
	// residuals it is Relative.
	Residual float64
	// Error is the relative L2 distance (grid.RelativeL2Of) between the reference solution and the
	// field that minimises all rows over all grid values.
	Error      float64
	Iterations int
}

// ErrFloor says that the minimiser was not found.
var ErrFloor = errors.New("the full-grid minimiser did not converge")

// ErrLarge says that the full-grid minimiser would take too long.
var ErrLarge = errors.New("the full-grid minimiser takes too long")

// errBand says that the matrix of the rows has no band to factor.
var errBand = errors.New("no band")

// maxFloor is the most multiplications of one factorisation that are tried.
const maxFloor = 2e10

// MeasureFloor minimises the rows of a problem over every grid value that the ansatz does not fix,
// starting at the reference solution truth (C, P), by damped Gauss-Newton steps with a
// banded Cholesky factorisation: P·b² multiplications a step, with b
// the bandwidth (about twice the points of the shorter axis). Where that are too many, or a
// term is not a finite difference, steps are by conjugate gradients, until most values of terms
// (points times terms times iterations; a core forms some 1e8 in a second) have been formed.
// Weights and Mean of the options count; experts do not. If the minimiser is not found so the
// error is ErrLarge, and only Residual is there.
func MeasureFloor(sys *pde.System, o Options, initial, truth []float64, most float64) (Floor, error) {
	var out Floor
	plain, err := NewPlainResidual(sys, nil)
	if err != nil {
		return out, err
	}
	out.Residual = Relative(plain.RMS(truth, initial))
	u := append([]float64(nil), truth...)
	fixed := fixedValues(sys)
	if fixed != nil {
		offset := make([]float64, len(u))
		sys.Offset(offset, initial)
		for p, is := range fixed {
			if is {
				u[p] = offset[p]
			}
		}
	}
	f, err := newFullGrid(sys, sys.NewGatherer(nil), o, initial, fixed)
	if errors.Is(err, errBand) {
		if out.Iterations, err = newIterative(sys, o, initial, fixed, most).minimise(u); err == nil {
			out.Error = grid.RelativeL2Of(u, truth, len(sys.Problem.Unknowns))
		}
		return out, err
	}
	if err != nil {
		return out, err
	}
	cost := f.linearise(u, true)
	trial := make([]float64, len(u))
	mu := 0.0
	for out.Iterations < 60 {
		out.Iterations++
		step, ok := f.solve(mu)
		if ok {
			var size, norm float64
			for i := range u {
				trial[i] = u[i] - step[i]
				size += step[i] * step[i]
				norm += u[i] * u[i]
			}
			if next := f.linearise(trial, false); next <= cost {
				done := size <= 1e-16*norm || cost-next <= 1e-12*cost
				copy(u, trial)
				if done {
					out.Error = grid.RelativeL2Of(u, truth, len(sys.Problem.Unknowns))
					return out, nil
				}
				cost = f.linearise(u, true)
				mu /= 10
				if mu < 1e-14 {
					mu = 0
				}
				continue
			}
		}
		mu = max(10*mu, 1e-10)
		if mu > 1e8 {
			break
		}
	}
	out.Error = grid.RelativeL2Of(u, truth, len(sys.Problem.Unknowns))
	return out, fmt.Errorf("%w in %d steps (relative L2 so far %.3g)", ErrFloor, out.Iterations, out.Error)
}

// fixedValues are the values of a field (C, P) that a multiplier of zero keeps at the offset of the
// ansatz; nil: none.
func fixedValues(sys *pde.System) []bool {
	multiplier := sys.Multiplier()
	if multiplier == nil {
		return nil
	}
	fixed := make([]bool, len(multiplier))
	for p, v := range multiplier {
		fixed[p] = v == 0
	}
	return fixed
}

// fullGrid is the least-squares problem of all grid values. Unknowns are
// ordered with the shorter of the first axis and the rest innermost, a periodic second axis
// that is outermost from its seam on both sides at once, and within a point by unknown, to
// keep the band narrow.
type fullGrid struct {
	gatherer *grid.Gatherer
	lists    []grid.Rows[float64] // terms of every set
	sets     []*fullSet
	order    []int32 // value of a field (C, P) -> unknown
	band     int     // half-bandwidth of JᵀJ
	h        []float64
	g        []float64
	l        []float64
}

// fullSet is one set of rows with its stencils as lists.
type fullSet struct {
	*pde.PointRows
	evaluator *pde.Evaluator
	scale     float64
	start     []int32 // per row: where its entries begin
	point     []int32
	term      []int8
	coef      []float64
}

func newFullGrid(sys *pde.System, gatherer *grid.Gatherer, o Options, initial []float64, fixed []bool) (*fullGrid, error) {
	for _, u := range sys.Problem.Unknowns {
		if u.Ansatz.RemoveMean {
			return nil, errBand // a mean has every value
		}
	}
	size, unknowns := sys.FieldSize(), len(sys.Problem.Unknowns)
	f := &fullGrid{gatherer: gatherer, order: make([]int32, size)}
	points, nt := sys.Grid.Size(), sys.Grid.Axes[0].Points
	inner := points / nt
	for i := range f.order {
		unknown, p := i/points, i%points
		if nt < inner {
			p = folded(sys.Grid.Axes[1], p%inner, inner/sys.Grid.Axes[1].Points)*nt + p/inner
		}
		f.order[i] = int32(p*unknowns + unknown)
	}
	c := &Constraint{System: sys, Options: o}
	for _, set := range sys.Sets {
		for _, t := range set.Terms {
			if sys.Terms[t].Spectral() {
				return nil, errBand
			}
		}
		s := &fullSet{
			PointRows: sys.NewPointRows(set, set.Solved), evaluator: sys.NewEvaluator(len(set.Solved)),
			scale: c.RowScale(set, len(set.Solved)), start: []int32{0},
		}
		s.Prepare()
		s.SetInitial(initial)
		f.lists = append(f.lists, s.NewValues())
		for _, p := range set.Solved {
			lo, hi := int32(math.MaxInt32), int32(0)
			for j, t := range set.Terms {
				sys.Terms[t].Operator.(grid.Sparse).Row(int(p), func(q int, coef float64) {
					q += sys.Terms[t].Of * points
					if fixed != nil && fixed[q] {
						return
					}
					at := f.order[q]
					s.point, s.term, s.coef = append(s.point, at), append(s.term, int8(j)), append(s.coef, coef)
					lo, hi = min(lo, at), max(hi, at)
				})
			}
			s.start = append(s.start, int32(len(s.coef)))
			f.band = max(f.band, int(hi-lo))
		}
		f.sets = append(f.sets, s)
	}
	width := f.band + 1
	if float64(size)*float64(width)*float64(width) > maxFloor {
		return nil, errBand
	}
	f.h, f.l, f.g = make([]float64, size*width), make([]float64, size*width), make([]float64, size)
	return f, nil
}

// folded orders points p, row-major over an axis and others, so that the two sides of the
// seam of a periodic axis are next to each other: 0, n-1, 1, n-2, ...
func folded(axis grid.Axis, p, others int) int {
	if axis.Boundary != grid.Periodic {
		return p
	}
	i := p / others
	if 2*i < axis.Points {
		i = 2 * i
	} else {
		i = 2*(axis.Points-1-i) + 1
	}
	return i*others + p%others
}

// linearise evaluates the cost at u and, where asked, JᵀJ (lower band, row i
// holds columns i-band..i) and Jᵀr.
func (f *fullGrid) linearise(u []float64, matrix bool) float64 {
	if matrix {
		clear(f.h)
		clear(f.g)
	}
	var cost float64
	width := f.band + 1
	grid.Gather(f.gatherer, u, 1, f.lists)
	for k, s := range f.sets {
		out := s.evaluator.Eval(s.PointRows, pde.FirstDerivatives, f.lists[k].Values, 0, len(s.Points))
		cost += 0.5 * s.scale * kernel.SumSquares64(out[0])
		if !matrix {
			continue
		}
		for i := range s.Points {
			lo, hi := s.start[i], s.start[i+1]
			r := out[0][i]
			for a := lo; a < hi; a++ {
				pa := int(s.point[a])
				va := s.scale * out[1+s.term[a]][i] * s.coef[a]
				f.g[pa] += va * r
				for b := lo; b < hi; b++ {
					if pb := int(s.point[b]); pb <= pa {
						f.h[pa*width+pb-pa+f.band] += va * out[1+s.term[b]][i] * s.coef[b]
					}
				}
			}
		}
	}
	return cost
}

// solve returns (JᵀJ + μ diag)⁻¹ Jᵀr as a grid field, by banded Cholesky.
func (f *fullGrid) solve(mu float64) ([]float64, bool) {
	width, n := f.band+1, len(f.g)
	copy(f.l, f.h)
	largest := 0.0
	for i := range n {
		largest = max(largest, f.l[i*width+f.band])
	}
	for i := range n {
		f.l[i*width+f.band] += mu*f.l[i*width+f.band] + 1e-15*largest
	}
	for i := range n {
		first := max(0, i-f.band)
		row := f.l[i*width : (i+1)*width]
		for j := first; j <= i; j++ {
			// Columns both rows hold: from max of their first columns to j-1.
			other := f.l[j*width : (j+1)*width]
			from := max(first, j-f.band)
			sum := row[j-i+f.band] - kernel.Dot(row[from-i+f.band:j-i+f.band], other[from-j+f.band:f.band])
			if j < i {
				row[j-i+f.band] = sum / other[f.band]
				continue
			}
			if !(sum > 0) {
				return nil, false
			}
			row[f.band] = math.Sqrt(sum)
		}
	}
	x := append([]float64(nil), f.g...)
	for i := range n {
		row := f.l[i*width : (i+1)*width]
		from := max(0, i-f.band)
		x[i] = (x[i] - kernel.Dot(row[from-i+f.band:f.band], x[from:i])) / row[f.band]
	}
	for i := n - 1; i >= 0; i-- {
		row := f.l[i*width : (i+1)*width]
		from := max(0, i-f.band)
		x[i] /= row[f.band]
		kernel.Axpy64(x[from:i], -x[i], row[from-i+f.band:f.band])
	}
	step := make([]float64, n)
	for p, at := range f.order {
		step[p] = x[at]
	}
	return step, true
}
