package grid

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"pihc/compute"
	"pihc/internal/kernel"
)

// Operator is a linear or affine map T of fields on one grid to fields on the
// same grid, with its transpose. Only AddOffset knows the affine part; every other
// method is about the linear part. No method allocates, and all may be called
// concurrently with distinct outputs. Rows at some points, of several operators and
// fields, are for a [Gatherer].
type Operator interface {
	// Apply sets dst = T u on the whole grid (P values each). Points at which T
	// is undefined give 0. dst and u must not overlap.
	Apply(dst, u []float64)
	// ApplyTranspose adds Tᵀ z to dst (P values each), which must not overlap.
	ApplyTranspose(dst, z []float64)
	// AddOffset adds the affine part at points[r] to dst[r].
	AddOffset(dst []float64, points []int32)
	// Affine reports whether any affine part is not zero.
	Affine() bool
	// Defined reports whether T has a value at point p.
	Defined(p int) bool
	// String describes the scheme.
	String() string
}

// Product is Coef times a product of lines of different axes: a mixed derivative,
// or with one line a plain one. No lines stand for the identity. Where lines are
// affine, the last is applied first.
type Product struct {
	Coef  float64
	Lines []*Line
}

// stencil is an Operator made of lines: every point has a stencil of flat
// offsets and coefficients, and few of them are distinct.
type stencil struct {
	name  string
	size  int
	inner int // points along the last axis

	stencils kernel.Stencils // flat offsets
	constant []float64       // per stencil
	defined  []bool          // per stencil
	affine   bool
	least    int // of all offsets
	most     int
	runs     []run // stretches of the last axis on which the stencil does not change
}

// run is the stretch [lo, hi) of the last axis.
type run struct{ lo, hi int }

// NewOperator returns the sum of the given products on g. It is undefined where
// any of its lines is.
//
// NewOperator panics if there are no terms, a line does not belong to g, or
// a product has two lines of one axis (Compose them first).
func (g *Grid) NewOperator(terms ...Product) Operator {
	if len(terms) == 0 {
		panic("grid: NewOperator: no terms")
	}
	for _, t := range terms {
		seen := make([]bool, len(g.Axes))
		for _, l := range t.Lines {
			switch {
			case l.axis < 0 || l.axis >= len(g.Axes) || l.length != g.Axes[l.axis].Points:
				panic("grid: NewOperator: a line does not belong to the grid")
			case seen[l.axis]:
				panic("grid: NewOperator: two lines of one axis in a product")
			}
			seen[l.axis] = true
		}
	}
	s := &stencil{name: termsName(terms), size: g.Size(), inner: g.Axes[len(g.Axes)-1].Points}

	// Along each axis, indices at which all lines keep their rows share a class.
	classes := make([][]int32, len(g.Axes))
	witness := make([][]int, len(g.Axes)) // an index of each class
	count := 1
	for d, a := range g.Axes {
		classes[d], witness[d] = axisClasses(d, a.Points, terms)
		if count > math.MaxUint16/len(witness[d]) {
			panic("grid: NewOperator: too many distinct stencils")
		}
		count *= len(witness[d])
	}
	strides := g.Strides()
	index := make([]int, len(g.Axes))
	s.stencils.Start = make([]int32, 1, count+1)
	for k := range count {
		for d, rest := len(g.Axes)-1, k; d >= 0; d-- {
			index[d] = witness[d][rest%len(witness[d])]
			rest /= len(witness[d])
		}
		p, ok := patternAt(strides, index, terms)
		for _, o := range p.offset {
			s.stencils.Offset = append(s.stencils.Offset, int32(o))
		}
		s.stencils.Coef = append(s.stencils.Coef, p.coef...)
		s.stencils.Start = append(s.stencils.Start, int32(len(s.stencils.Coef)))
		s.constant = append(s.constant, p.constant)
		s.defined = append(s.defined, ok)
		s.affine = s.affine || p.constant != 0
	}
	s.stencils.Which = make([]uint16, s.size)
	for p := range s.stencils.Which {
		g.Unravel(p, index)
		k := 0
		for d, i := range index {
			k = k*len(witness[d]) + int(classes[d][i])
		}
		s.stencils.Which[p] = uint16(k)
	}
	s.runs = stretches(classes[len(classes)-1])
	for _, o := range s.stencils.Offset {
		s.least, s.most = min(s.least, int(o)), max(s.most, int(o))
	}
	return s
}

func termsName(terms []Product) string {
	var names []string
	for _, t := range terms {
		lines := make([]string, len(t.Lines))
		for i, l := range t.Lines {
			lines[i] = l.name
		}
		name := strings.Join(lines, " of ")
		if name == "" {
			name = "u"
		}
		if t.Coef != 1 {
			name = fmt.Sprintf("%g %s", t.Coef, name)
		}
		names = append(names, name)
	}
	return strings.Join(names, " + ")
}

// axisClasses numbers the indices of axis d by the rows that all lines of the
// terms have there, and returns one index of every class.
func axisClasses(d, n int, terms []Product) (class []int32, witness []int) {
	var lines []*Line
	for _, t := range terms {
		for _, l := range t.Lines {
			if l.axis == d && !slices.Contains(lines, l) {
				lines = append(lines, l)
			}
		}
	}
	class = make([]int32, n)
	for i := range n {
		k := slices.IndexFunc(witness, func(j int) bool {
			for _, l := range lines {
				if l.class[i] != l.class[j] {
					return false
				}
			}
			return true
		})
		if k < 0 {
			k = len(witness)
			witness = append(witness, i)
		}
		class[i] = int32(k)
	}
	return class, witness
}

// patternAt returns the stencil of the sum of terms at the point with the given
// index, offsets being flat.
func patternAt(strides, index []int, terms []Product) (row, bool) {
	total := newSum()
	for _, t := range terms {
		entries := map[int]float64{0: t.Coef}
		constant := 0.0
		for _, l := range t.Lines {
			i := index[l.axis]
			if l.class[i] < 0 {
				return row{}, false
			}
			r := l.rows[l.class[i]]
			// The constant of this line passes through the lines outside it,
			// which see it as a field constant along their axes.
			outer := 0.0
			next := map[int]float64{}
			for _, o := range slices.Sorted(maps.Keys(entries)) {
				outer += entries[o]
				for k, off := range r.offset {
					next[o+off*strides[l.axis]] += entries[o] * r.coef[k]
				}
			}
			constant += outer * r.constant
			entries = next
		}
		for o, c := range entries {
			total.weight[o] += c
		}
		total.constant += constant
	}
	return *total.row(0), true
}

func stretches(class []int32) []run {
	var runs []run
	for lo := 0; lo < len(class); {
		hi := lo + 1
		for hi < len(class) && class[hi] == class[lo] {
			hi++
		}
		runs = append(runs, run{lo, hi})
		lo = hi
	}
	return runs
}

func (s *stencil) String() string { return s.name }

func (s *stencil) Affine() bool { return s.affine }

func (s *stencil) Defined(p int) bool { return s.defined[s.stencils.Which[p]] }

func (s *stencil) AddOffset(dst []float64, points []int32) {
	if len(dst) != len(points) {
		panic("grid: AddOffset: want one value per sampled point")
	}
	for r, p := range points {
		dst[r] += s.constant[s.stencils.Which[p]]
	}
}

// pattern returns the entries of the stencil at point p.
func (s *stencil) pattern(p int) (offset []int32, coef []float64) {
	k := s.stencils.Which[p]
	lo, hi := s.stencils.Start[k], s.stencils.Start[k+1]
	return s.stencils.Offset[lo:hi], s.stencils.Coef[lo:hi]
}

func (s *stencil) Apply(dst, u []float64) {
	if len(dst) != s.size || len(u) != s.size {
		panic("grid: Apply: fields must have one value per point")
	}
	for row := 0; row < s.size; row += s.inner {
		for _, stretch := range s.runs {
			lo, hi := row+stretch.lo, row+stretch.hi
			offset, coef := s.pattern(lo)
			kernel.ApplyStencil(dst[lo:hi], u, lo, offset, coef)
		}
	}
}

func (s *stencil) ApplyTranspose(dst, z []float64) {
	if len(dst) != s.size || len(z) != s.size {
		panic("grid: ApplyTranspose: fields must have one value per point")
	}
	s.applyTranspose(dst, 0, z)
}

// applyTranspose adds Tᵀ z to the points of dst, successive lines along the last axis that begin with the
// point first. A stencil takes a stretch of a line to stretches of lines.
func (s *stencil) applyTranspose(dst []float64, first int, z []float64) {
	lines := func(p int) int { return min(max(p, 0), s.size) / s.inner * s.inner }
	for row := lines(first - s.most); row < lines(first+len(dst)-s.least+s.inner-1); row += s.inner {
		for _, stretch := range s.runs {
			lo, hi := row+stretch.lo, row+stretch.hi
			offset, coef := s.pattern(lo)
			for e, o := range offset {
				if at := lo + int(o) - first; at >= 0 && at < len(dst) {
					kernel.Axpy64(dst[at:at+hi-lo], coef[e], z[lo:hi])
				}
			}
		}
	}
}

// gatherStencil sets row r of dst (len(points), n) to row points[r] of the operator of
// the n fields of basis (P, n).
func gatherStencil[T compute.Float](s *stencil, dst, basis []T, n int, points []int32) {
	switch d := any(&dst).(type) {
	case *[]float64:
		kernel.GatherStencils(*d, *any(&basis).(*[]float64), n, points, &s.stencils)
	case *[]float32:
		kernel.GatherStencils32(*d, *any(&basis).(*[]float32), n, points, &s.stencils)
	}
}

// scatter adds Tᵀ Sᵀ v to the points of dst, from first on, with S the selection of points: the
// transpose of gatherStencil for n = 1.
func (s *stencil) scatter(dst []float64, first int, v []float64, points []int32) {
	for r, p := range points {
		offset, coef := s.pattern(int(p))
		for e, o := range offset {
			if at := int(p+o) - first; uint(at) < uint(len(dst)) {
				dst[at] += coef[e] * v[r]
			}
		}
	}
}

// A Sparse operator has rows with few entries: stencils have, spectral operators
// have not.
type Sparse interface {
	Operator
	// Row calls visit for every entry of row p: a grid point and its coefficient.
	Row(p int, visit func(q int, coef float64))
}

// Row implements Sparse.
func (s *stencil) Row(p int, visit func(q int, coef float64)) {
	offset, coef := s.pattern(p)
	for i, o := range offset {
		visit(p+int(o), coef[i])
	}
}

var _ Sparse = (*stencil)(nil)
