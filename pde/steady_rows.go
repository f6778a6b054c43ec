package pde

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/band"
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
	sources      []grid.Source // By of 1
	sets         []int         // of each source, among those that have some
	count        int           // of these
}

func (l *LinearRows) work() float64 {
	return float64(len(l.steady.columns)) * float64(l.steady.lower) * float64(l.steady.lower+l.steady.upper)
}

var _ = [1]int{}[grid.Stepped-band.Many] // as many functions at once in both

// newSteadyRows returns an error where rows are not as many as values, or contain terms that no few points give.
func (s *System) newSteadyRows() (*LinearRows, error) {
	l := &LinearRows{system: s, zero: make([]float64, s.FieldSize()), steady: &steadyRows{}}
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
	best := math.Inf(1)
	for first := range s.Grid.Axes {
		order := l.steady
		if l.arrange(first); l.work() >= best {
			l.steady = order
			continue
		}
		best = l.work()
	}
	if best > mostFactored {
		return nil, fmt.Errorf("a factorisation of %.2g multiplications for each sample is more than %.2g", best, mostFactored)
	}
	l.findSources()
	return l, nil
}

// arrange orders points with one axis slowest, values by points and rows by the points they hold at, and finds the bandwidths.
func (l *LinearRows) arrange(slowest int) {
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
	l.steady = st
	l.entries(nil, func(row, column int, _ float64) {
		st.lower, st.upper = max(st.lower, row-column), max(st.upper, column-row)
	})
}

// entries visits those of the matrix: slopes, by part, term and row (nil: 1), times coefficients.
func (l *LinearRows) entries(slopes [][]float64, visit func(row, column int, v float64)) {
	n, term := l.system.Grid.Size(), 0
	for k, r := range l.parts {
		for j, op := range r.ops {
			columns := l.steady.columns[l.system.Terms[r.Set.Terms[j]].Of*n:][:n]
			for i, p := range r.Set.Points {
				slope := 1.0
				if slopes != nil {
					slope = slopes[term][i]
				}
				switch row := l.steady.rows[k][i]; {
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

// findSources gives residuals what the network proposes for their own unknown as a source, and conditions that are not linear what it proposes for
// the first unknown that they contain. Linear conditions have none, so that all fields meet them.
func (l *LinearRows) findSources() {
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
			l.steady.sources = append(l.steady.sources, grid.Source{Row: l.steady.rows[k][i], Value: of*n + int(point), By: 1})
			l.steady.sets = append(l.steady.sets, l.steady.count)
		}
		l.steady.count++
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
		l.entries(slopes, l.matrix.Add)
		if !l.matrix.Factor() {
			return nil, errSingular
		}
		first := s.Grid.Axes[0].Points
		l.direct = &grid.Direct{Times: first, Points: s.Grid.Size() / first, Unknowns: len(s.Problem.Unknowns), Matrix: l.matrix, Columns: st.columns}
		if err := l.scaleSources(); err != nil {
			l.direct = nil
			return nil, err
		}
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

// scaleSources gives the sources of each set the unit in which 1 makes fields of root mean square 1.
func (l *LinearRows) scaleSources() error {
	st := l.steady
	by, largest := make([]float64, st.count), make([]float64, len(st.columns)) // per row
	l.entries(l.slopes, func(row, _ int, v float64) { largest[row] = max(largest[row], math.Abs(v)) })
	for set := range by {
		x, entry := make([]float64, len(st.columns)), 0.0
		for i, source := range st.sources {
			if st.sets[i] == set {
				x[source.Row], entry = 1, max(entry, largest[source.Row])
			}
		}
		l.matrix.Solve(x)
		sum := 0.0
		for _, v := range x {
			sum += v * v
		}
		if by[set] = 1 / math.Sqrt(sum/float64(len(x))); !(by[set]*mostResponse > entry) || math.IsInf(by[set], 0) {
			return errSingular
		}
	}
	l.direct.Sources = slices.Clone(st.sources)
	for i := range l.direct.Sources {
		l.direct.Sources[i].By = by[st.sets[i]]
	}
	return nil
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
