package discrete

import (
	"errors"
	"fmt"
	"slices"

	"pihc/grid"
	"pihc/internal/sparse"
	"pihc/pde"
)

// system is the rows of a problem over some slices of space: all times at once, or
// the stages of one step. The values are those of every field (unknown of the problem) at
// all points, (fields, slices, points). Term j acts on the derivative of order rates[j]
// along time, which is a combination of the slices and of known fields.
type system struct {
	sys    *pde.System
	rates  []int // per term of sys
	fields int
	slices int
	points int   // of a slice
	count  int   // of rows
	normal bool  // steps solve the normal equations: rows outnumber the values
	whole  bool  // all is solved at once: no shorter step in time helps
	owner  []int // per set of rows, for GMRES: the field whose values they belong to

	// Of a minimiser, or nil: what each set's rows are multiplied by, and the values that stay.
	roots []float64
	fixed []bool

	stencils []stencils // per term of sys: within a slice; nil rows where it has none
	order    []int      // position of each point of a slice in the matrix
	at       []int      // place of every row in the matrix; nil of the normal equations
	lower    int        // bandwidths
	upper    int
	tree     *sparse.Tree // of the matrix where that takes less work than its band, or nil
	products float64      // work of a factorisation, in products of a band's
	direct   bool         // by a factored matrix, else by GMRES
	tries    bool         // by GMRES, as long as that takes less work than a factored matrix
	effort   effort

	circulant *circulant // of GMRES, or nil
	costs     costs
}

// stencils are the rows of one term within a slice.
type stencils struct {
	start []int32
	point []int32
	coef  []float64
}

// effort says how well systems are solved, and what is tried.
type effort struct {
	tolerance float64 // of the last step of Newton's method, relative to the values
	left      float64 // of the rows, by GMRES in a step: Newton's method makes up for it
	grading   int     // steps in place of the first in time
	halvings  int     // of a step in time that fails
	direct    float64 // most multiplications of a factorisation; what takes more is left to GMRES
	dense     int     // most unknowns of systems with dense rows
}

var thorough = effort{tolerance: 1e-9, left: 1e-3, grading: 8, halvings: 10, direct: 3e10, dense: 1600}

var rough = effort{tolerance: 1e-4, left: 1e-3, grading: 4, halvings: 3, direct: thorough.direct, dense: thorough.dense}

// leastTried is the work of a factorisation of all instants of a step from which GMRES is tried first.
const leastTried = 3e7

// newSystem is for rows on the whole grid or, with the rates of terms, on slices that its first axis
// counts.
func newSystem(sys *pde.System, rates []int, e effort) (*system, error) {
	s, err := arranged(sys, rates, e)
	if err == nil {
		s.setCosts()
	}
	return s, err
}

func arranged(sys *pde.System, rates []int, e effort) (*system, error) {
	s := &system{sys: sys, rates: rates, fields: len(sys.Problem.Unknowns), slices: 1, effort: e, whole: rates == nil}
	if s.whole {
		s.rates = make([]int, len(sys.Terms))
	} else {
		s.slices = sys.Grid.Axes[0].Points
	}
	s.points = sys.Grid.Size() / s.slices
	for _, set := range sys.Sets {
		s.count += len(set.Points)
	}
	s.normal = s.count != s.values()
	dense, ok := s.tabulate(e.dense)
	if ok {
		if near := s.arrange(!dense); !dense {
			s.divide(near)
		}
		ok = dense || s.products <= e.direct
	}
	if s.direct = ok; !ok {
		if s.whole && s.order != nil {
			return nil, fmt.Errorf("%w: a factorisation takes about %.0e products, of at most %.0e; on fewer points it takes less", ErrTooLarge, s.products, e.direct) // GMRES without a preconditioner has little hope
		}
		return s, s.checkIterative()
	}
	s.tries = !dense && !s.whole && !s.normal && s.products > leastTried && s.checkIterative() == nil
	if s.tree != nil { // its columns are in the order of the points
		for p := range s.order {
			s.order[p] = p
		}
	}
	return s, nil
}

// values is the number of values of all fields.
func (s *system) values() int { return s.fields * s.slices * s.points }

// slice returns field f in slice i of values.
func (s *system) slice(values []float64, f, i int) []float64 {
	at := (f*s.slices + i) * s.points
	return values[at : at+s.points : at+s.points]
}

// column is the place among the columns of the matrix of field f at a point of the
// first slice; those of the other slices follow.
func (s *system) column(f int, p int32) int { return (s.order[p]*s.fields + f) * s.slices }

// tabulate lists the stencils of the terms that rows use, and of those without, where there are at
// most so many values, all rows; ok is false where there are more.
func (s *system) tabulate(mostDense int) (dense, ok bool) {
	used := make([]bool, len(s.sys.Terms))
	for _, set := range s.sys.Sets {
		for _, t := range set.Terms {
			used[t] = true
		}
	}
	n := s.points
	s.stencils = make([]stencils, len(s.sys.Terms))
	for t, term := range s.sys.Terms {
		if !used[t] {
			continue
		}
		list := &s.stencils[t]
		sparse, ok := term.Operator.(grid.Sparse)
		if !ok {
			if s.values() > mostDense {
				return dense, false
			}
			dense = true
			*list = denseRows(term.Operator, n, s.slices)
			continue
		}
		list.start = []int32{0}
		for p := range n {
			if term.Defined(p) {
				sparse.Row(p, func(q int, coef float64) {
					list.point, list.coef = append(list.point, int32(q)), append(list.coef, coef)
				})
			}
			list.start = append(list.start, int32(len(list.coef)))
		}
	}
	return dense, true
}

// ErrTooLarge says that neither way of solving fits.
var ErrTooLarge = errors.New("too large to be solved at once")

func (s *system) checkIterative() error {
	if s.normal {
		return fmt.Errorf("%w: %d rows for %d values want least squares by a factored matrix", ErrTooLarge, s.count, s.values())
	}
	if s.owner = s.owners(); s.owner == nil {
		return fmt.Errorf("%w: iterations want one row for each unknown at each point, not two conditions for one and none for another at a wall; on fewer points a matrix is factored", ErrTooLarge)
	}
	s.circulant = s.newCirculant()
	return nil
}

// owners gives every set of rows a field whose terms it has, so that each value has one row;
// nil if there is no such choice. Fields come first whose derivative in time the set has,
// then those of which it has the most terms.
func (s *system) owners() []int {
	sets := s.sys.Sets
	owner, taken := make([]int, len(sets)), make([]bool, s.values())
	size := s.slices * s.points
	var choose func(k int) bool
	choose = func(k int) bool {
		if k == len(sets) {
			return true
		}
		scored := make([]int, s.fields)
		for _, t := range sets[k].Terms {
			scored[s.sys.Terms[t].Of] += 1 + 1000*s.rates[t]
		}
		for range s.fields {
			f := slices.Index(scored, slices.Max(scored))
			if scored[f] <= 0 {
				return false
			}
			scored[f] = 0
			own := taken[f*size : (f+1)*size]
			if slices.ContainsFunc(sets[k].Points, func(p int32) bool { return own[p] }) {
				continue
			}
			mark := func(v bool) {
				for _, p := range sets[k].Points {
					own[p] = v
				}
			}
			mark(true)
			if owner[k] = f; choose(k + 1) {
				return true
			}
			mark(false)
		}
		return false
	}
	if !choose(0) {
		return nil
	}
	return owner
}

// denseRows applies an operator without stencils to unit fields.
func denseRows(op grid.Operator, n, count int) stencils {
	list := stencils{start: make([]int32, n+1), point: make([]int32, n*n), coef: make([]float64, n*n)}
	unit, column := make([]float64, n*count), make([]float64, n*count)
	for q := range n {
		unit[q] = 1
		op.Apply(column, unit)
		unit[q] = 0
		for p := range n {
			list.point[p*n+q], list.coef[p*n+q] = int32(q), column[p]
		}
	}
	for p := range n + 1 {
		list.start[p] = int32(p * n)
	}
	return list
}

// eachRow visits the rows of all sets: row i of set k is the one of that number.
func (s *system) eachRow(visit func(k, i, row int)) {
	row := 0
	for k, set := range s.sys.Sets {
		for i := range set.Points {
			visit(k, i, row)
			row++
		}
	}
}

// eachEntry visits the stencil of a term at a point of a slice.
func (s *system) eachEntry(term int, p int32, visit func(q int32, coef float64)) {
	list := &s.stencils[term]
	for e := list.start[p]; e < list.start[p+1]; e++ {
		visit(list.point[e], list.coef[e])
	}
}
