package pde

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/band"
	"pihc/internal/kernel"
)

// mostResponse is how large values may be, over what one entry of the matrix makes of a source (of fourth differences of 300 points some 1e10): beyond it a
// pivot is rounding.
const mostResponse = 1e12

// mostFactored bounds the multiplications of a factorisation for each sample: a second or so.
const mostFactored = 2e9

// steadyRows are the rows of a steady problem, linearised where all unknowns are zero, as a banded matrix.
type steadyRows struct {
	columns      []int   // (C, P): where the matrix has a value
	rows         [][]int // by part: where it has a row
	lower, upper int
	sources      []grid.Source // without By, which is of a sample
	sets         []int         // of each source, among those that have some
	count        int           // of these
}

// work is about the number of multiplications of a factorisation.
func (st *steadyRows) work() float64 {
	return float64(len(st.columns)) * float64(st.lower) * float64(st.lower+st.upper)
}

var _ = [1]int{}[grid.Stepped-band.Many] // as many functions at once in both

// newSteadyRows returns an error where rows are not as many as values, or contain terms that no few points give.
func (s *System) newSteadyRows() (*LinearRows, error) {
	l := &LinearRows{system: s, zero: make([]float64, s.FieldSize())}
	count := 0
	for _, set := range s.Sets {
		r := &linearRows{RowValues: s.NewRowValues(set, set.Points), owner: -1}
		for _, t := range set.Terms {
			var op rowEntries
			if t >= len(s.Problem.Unknowns) {
				own, sparse := s.Terms[t].Operator.(grid.Sparse)
				if !sparse {
					term, _ := s.Term(t)
					return nil, fmt.Errorf("%s is no finite difference", term.Name)
				}
				op = own.Row
			}
			r.ops = append(r.ops, op)
		}
		count += len(set.Points)
		l.parts = append(l.parts, r)
	}
	if count != s.FieldSize() {
		return nil, fmt.Errorf("%d rows for %d values, and want as many (`rows` leaves points out of a residual or a condition)", count, s.FieldSize())
	}
	for slowest := range s.Grid.Axes {
		if st := l.arranged(slowest); l.steady == nil || st.work() < l.steady.work() {
			l.steady = st
		}
	}
	if work := l.steady.work(); work > mostFactored {
		return nil, fmt.Errorf("a factorisation of %.2g multiplications for each sample is more than %.2g", work, mostFactored)
	}
	return l, nil
}

// arranged orders points with one axis slowest, values by points and rows by the points they hold at.
func (l *LinearRows) arranged(slowest int) *steadyRows {
	s := l.system
	n, unknowns := s.Grid.Size(), len(s.Problem.Unknowns)
	points := make([]int, n)
	for i := range points {
		points[i] = i
	}
	index := make([]int, len(s.Grid.Axes))
	slow := make([]int, n)
	for p := range n {
		s.Grid.Unravel(p, index)
		slow[p] = index[slowest]
	}
	slices.SortStableFunc(points, func(a, b int) int { return cmp.Compare(slow[a], slow[b]) })
	st := &steadyRows{columns: make([]int, unknowns*n)}
	at := make([]int, n)
	for i, p := range points {
		at[p] = i
		for c := range unknowns {
			st.columns[c*n+p] = i*unknowns + c
		}
	}
	type place struct{ part, row, at int }
	var places []place
	for k, r := range l.parts {
		st.rows = append(st.rows, make([]int, len(r.Set.Points)))
		for i, p := range r.Set.Points {
			places = append(places, place{k, i, at[p]})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	for row, p := range places {
		st.rows[p.part][p.row] = row
	}
	l.entries(st, nil, func(row, column int, _ float64) {
		st.lower, st.upper = max(st.lower, row-column), max(st.upper, column-row)
	})
	l.findSources(st)
	return st
}

// entries visits those of the matrix: slopes, by part, term and row (nil: 1), times coefficients.
func (l *LinearRows) entries(st *steadyRows, slopes [][]float64, visit func(row, column int, v float64)) {
	n, term := l.system.Grid.Size(), 0
	for k, r := range l.parts {
		for j, op := range r.ops {
			columns := st.columns[l.system.Terms[r.Set.Terms[j]].Of*n:][:n]
			for i, p := range r.Set.Points {
				slope := 1.0
				if slopes != nil {
					slope = slopes[term][i]
				}
				switch row := st.rows[k][i]; {
				case slope == 0:
				case op == nil:
					visit(row, columns[p], slope)
				default:
					op(int(p), func(q int, coef float64) { visit(row, columns[q], slope*coef) })
				}
			}
			term++
		}
	}
}

// findSources gives residuals, in the order of st, what the network proposes for their own unknown as a source, and conditions that are not linear what it proposes for
// the first unknown that they contain. Linear conditions have none, so that all fields meet them.
func (l *LinearRows) findSources(st *steadyRows) {
	s, p := l.system, l.system.Problem
	owners, n := p.owners(), s.Grid.Size()
	for k, r := range l.parts {
		rows := p.rowsOf(r.Set.Name)
		if r.Set.Kind != ResidualRows && p.linearIn(rows.Expr) {
			continue
		}
		of := 0
		for of < len(p.Unknowns)-1 && !p.Concerns(*rows, of) {
			of++
		}
		if r.Set.Kind == ResidualRows && owners != nil {
			of = owners[k]
		}
		for i, point := range r.Set.Points {
			st.sources = append(st.sources, grid.Source{Row: st.rows[k][i], Value: of*n + int(point)})
			st.sets = append(st.sets, st.count)
		}
		st.count++
	}
}

var errSingular = errors.New("the linear part of the rows has no solution, or more than one")

// steadyFor is For of a steady problem.
func (l *LinearRows) steadyFor(sample []float64) (grid.LinearSolver, error) {
	if l.sample != nil && slices.Equal(sample, l.sample) {
		return l.direct, nil
	}
	l.sample = nil
	s, st := l.system, l.steady
	var slopes [][]float64
	values := make([]float64, len(st.columns))
	for k, r := range l.parts {
		out := r.Eval(1, l.zero, sample)
		for i, row := range st.rows[k] {
			values[row] = -out[0][i]
		}
		for _, slope := range out[1 : 1+len(r.ops)] {
			slopes = append(slopes, slices.Clone(slope))
		}
	}
	if l.direct == nil || !slices.EqualFunc(slopes, l.slopes, slices.Equal) {
		l.direct, l.slopes = nil, slopes
		l.matrix = band.New(len(st.columns), st.lower, st.upper)
		l.entries(st, slopes, l.matrix.Add)
		if !l.matrix.Factor() {
			return nil, errSingular
		}
		first := s.Grid.Axes[0].Points
		sources, err := l.scaled(st, slopes, l.matrix)
		if err != nil {
			return nil, err
		}
		l.direct = &grid.Direct{Times: first, Points: s.Grid.Size() / first, Unknowns: len(s.Problem.Unknowns), Matrix: l.matrix, Columns: st.columns, Sources: sources}
	}
	l.matrix.Solve(values)
	data := make([]float64, len(values))
	for value, column := range st.columns {
		data[value] = values[column]
	}
	if !finite(data) {
		return nil, errSingular
	}
	l.direct.Data, l.sample = data, slices.Clone(sample)
	return l.direct, nil
}

// scaled are the sources, those of each set in the unit in which 1 makes fields of root mean square 1.
func (l *LinearRows) scaled(st *steadyRows, slopes [][]float64, matrix *band.Matrix) ([]grid.Source, error) {
	largest, sources := make([]float64, len(st.columns)), slices.Clone(st.sources) // entries per row
	l.entries(st, slopes, func(row, _ int, v float64) { largest[row] = max(largest[row], math.Abs(v)) })
	for set := range st.count {
		x, entry := make([]float64, len(st.columns)), 0.0
		for i, source := range sources {
			if st.sets[i] == set {
				x[source.Row], entry = 1, max(entry, largest[source.Row])
			}
		}
		matrix.Solve(x)
		by := 1 / math.Sqrt(kernel.SumSquares64(x)/float64(len(x)))
		if !(by*mostResponse > entry) || math.IsInf(by, 0) {
			return nil, errSingular
		}
		for i := range sources {
			if st.sets[i] == set {
				sources[i].By = by
			}
		}
	}
	return sources, nil
}

func finite(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// steadyMet are the linear conditions whose first unknown is this one: fields of the linear part meet them.
func (p *Problem) steadyMet(unknown int) (names []string) {
	for _, c := range p.Conditions {
		if of := p.unknownsOf(c.Expr); len(of) > 0 && slices.Min(of) == unknown && p.linearIn(c.Expr) {
			names = append(names, c.Name)
		}
	}
	return names
}
