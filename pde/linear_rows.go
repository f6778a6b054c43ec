package pde

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/band"
)

const (
	// mostFactored bounds the products of the factorisations for each sample: two seconds or so.
	mostFactored = 4e9
	// mostResponse is how large values of a steady problem may be, over what one entry of the matrix makes of a source (of fourth differences of 300 points some
	// 1e10): beyond it a pivot is rounding.
	mostResponse = 1e12
)

var _ = [1]int{}[grid.Stepped-band.Many] // as many functions at once in both

// A LinearRows makes a grid.LinearSolver of the linear part of the rows: of a steady problem about zero, in time about what fields begin with, at all times. It belongs
// to one caller at a time.
type LinearRows struct {
	system   *System // all of whose rows count alike
	weighted *System
	times    int // of the solver: slices that rows are of, 1 of a steady problem
	parts    []*linearRows
	columns  []int            // (C, points of a slice): where the matrix has a value
	entries  []grid.RateEntry // of it
	starts   []grid.RateEntry // as a Radau has them
	ones     int              // the slope that is 1
	sources  []grid.Source    // without By, which is of a sample
	sets     []int            // of each source, among those that have some
	count    int              // of these
	begins   *RowEvaluator
	first    *algebraic    // of unknowns that nothing says the beginning of, or nil
	offsets  *RowEvaluator // of a steady problem whose ansatz states some
	base     []float64     // (C, P): what rows are linearised about
	sample   []float64     // of the last call of For, which was not in vain
	slopes   [][]float64   // by time: those that the solver is of
	radau    *grid.Radau
	direct   *grid.Direct
	matrix   *band.Matrix // of direct
}

// linearRows are those of a residual or of a condition at a wall.
type linearRows struct {
	*RowValues
	rates []int        // per term: of its derivative in time
	ops   []rowEntries // of terms without their derivatives in time; nil stands for the value
	nodes []int        // points of the slice, ascending
	at    []int        // per row: which of the nodes
	times []int        // per row
	rows  []int        // per node: of the matrix
	set   int          // of its sources; -1 without
}

// rowEntries visits the entries of a row, with their points.
type rowEntries func(p int, visit func(q int, coef float64))

// spectralRows are those of a spectral term where all axes of space are periodic, so that each is the first one moved; entries of rounding are left out.
func (s *System) spectralRows(t int) rowEntries {
	axes := s.Grid.Axes[1:]
	if slices.ContainsFunc(axes, func(a grid.Axis) bool { return a.Boundary != grid.Periodic }) {
		return nil
	}
	unit, response := make([]float64, s.Grid.Size()), make([]float64, s.Grid.Size())
	unit[0] = 1
	s.Terms[t].Operator.Apply(response, unit)
	column, most := response[:s.SliceSize()], 0.0 // of the first point: how it adds to others
	for _, v := range column {
		most = max(most, math.Abs(v))
	}
	return func(p int, visit func(q int, coef float64)) {
		n := s.SliceSize()
		for from, v := range column {
			if math.Abs(v) <= spectralRounding*most {
				continue
			}
			q, stride, rest, away := 0, 1, p%n, from // p less from, along each axis
			for a := len(axes) - 1; a >= 0; a-- {
				m := axes[a].Points
				q += ((rest%m - away%m + m) % m) * stride
				rest, away, stride = rest/m, away/m, stride*m
			}
			visit(p-p%n+q, v)
		}
	}
}

// spectralRounding is of the largest entry what is left out as rounding.
const spectralRounding = 1e-13

// NewLinearRows returns an error where rows are not as many as values, of a slice in time, or contain terms that no few points of it give.
func (s *System) NewLinearRows() (*LinearRows, error) {
	if s.Slab != nil {
		return nil, errors.New("slabs divide time, and each value wants all times before it")
	}
	weighted := s
	s, err := s.unweighted()
	if err != nil {
		return nil, err
	}
	p := s.Problem
	l := &LinearRows{system: s, weighted: weighted, times: 1, base: make([]float64, s.FieldSize())}
	values, axes, where := s.FieldSize(), s.Grid.Axes, ""
	if !p.Steady {
		if err := p.linearDomain(); err != nil {
			return nil, err
		}
		l.times, l.begins = s.Grid.Axes[0].Points, s.NewRowEvaluator(1)
		values, axes, where = len(p.Unknowns)*s.SliceSize(), s.Grid.Axes[1:], " of a time"
	} else if slices.ContainsFunc(p.Unknowns, func(u Unknown) bool { return !equals(u.Ansatz.Offset, 0) }) {
		l.offsets = s.NewRowEvaluator(1)
	}
	count := 0
	for _, set := range s.Sets {
		if !p.Steady && set.Kind != ResidualRows && p.rowsOf(set.Name).At[p.Axes[0].Name] != "" {
			continue
		}
		r, err := l.rows(set)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", set.Name, err)
		}
		l.parts, count = append(l.parts, r), count+len(r.nodes)
	}
	if count != values {
		return nil, fmt.Errorf("%d rows for %d values%s, and want as many (`rows` leaves points out of a residual or a condition)", count, values, where)
	}
	best := -1.0
	for slowest := range axes {
		columns, rows := l.arranged(axes, slowest)
		if work := l.spread(columns, rows); best < 0 || work < best {
			best, l.columns = work, columns
			for k, r := range l.parts {
				r.rows = rows[k]
			}
		}
	}
	if p.Steady && best > mostFactored {
		return nil, fmt.Errorf("a factorisation of %.2g multiplications for each sample is more than %.2g", best, mostFactored)
	}
	l.enter()
	l.findSources()
	if !p.Steady {
		if err := l.start(); err != nil {
			return nil, err
		}
		l.first = l.newAlgebraic()
	}
	return l, nil
}

// unweighted is the system whose rows count alike, since weights that change in time would make slopes that do.
func (s *System) unweighted() (*System, error) {
	p := *s.Problem
	one := func(rows []Rows) []Rows {
		rows = slices.Clone(rows)
		for i := range rows {
			rows[i].Weight = expr.Const(1)
		}
		return rows
	}
	p.Residuals, p.Conditions = one(p.Residuals), one(p.Conditions)
	return p.Discretize(s.Grid)
}

// rowsOf is the residual or condition of a name.
func (p *Problem) rowsOf(name string) *Rows {
	for _, all := range [][]Rows{p.Residuals, p.Conditions} {
		if i := slices.IndexFunc(all, func(r Rows) bool { return r.Name == name }); i >= 0 {
			return &all[i]
		}
	}
	return nil
}

// rows looks at one set.
func (l *LinearRows) rows(set *RowSet) (*linearRows, error) {
	s, p := l.system, l.system.Problem
	r := &linearRows{RowValues: s.NewRowValues(set, set.Points)}
	for _, t := range set.Terms {
		term, _ := s.Term(t)
		rate, edge := 0, false
		if !p.Steady {
			rate, edge = term.inTime(p.Axes[0].Name)
		}
		var op rowEntries
		own, sparse := s.Terms[t].Operator.(grid.Sparse)
		switch {
		case t < len(p.Unknowns):
		case edge:
			return nil, fmt.Errorf("%s is taken at an end of %s", term.Name, p.Axes[0].Name)
		case rate > max(1, p.timeOrder(s.Terms[t].Of)):
			return nil, fmt.Errorf("%s is of higher order along %s than the residual has", term.Name, p.Axes[0].Name)
		case rate > 0:
			term.Factors = slices.DeleteFunc(slices.Clone(term.Factors), func(f Factor) bool { return f.Axis == p.Axes[0].Name })
			if len(term.Factors) > 0 {
				product, err := s.product(term)
				if err != nil {
					return nil, err
				}
				op = product.(grid.Sparse).Row
			}
		case sparse:
			op = own.Row
		case p.Steady:
			return nil, fmt.Errorf("%s is no finite difference", term.Name)
		default:
			if op = s.spectralRows(t); op == nil {
				return nil, fmt.Errorf("%s is spectral, and not all axes of space are periodic", term.Name)
			}
		}
		r.rates, r.ops = append(r.rates, rate), append(r.ops, op)
	}
	n := int32(l.size())
	index := map[int]int{}
	for _, point := range set.Points {
		index[int(point%n)] = 0
	}
	r.nodes = slices.Sorted(maps.Keys(index))
	for i, q := range r.nodes {
		index[q] = i
	}
	for _, point := range set.Points {
		r.at, r.times = append(r.at, index[int(point%n)]), append(r.times, int(point/n))
	}
	return r, nil
}

// size is the number of points of a slice, of a steady problem of all.
func (l *LinearRows) size() int { return l.system.Grid.Size() / l.times }

// arranged orders points of the axes with one of them slowest and periodic ones folded in half, values by points, and rows by the points they hold at.
func (l *LinearRows) arranged(axes []grid.Axis, slowest int) (columns []int, rows [][]int) {
	n, unknowns := l.size(), len(l.system.Problem.Unknowns)
	place := make([]int, n) // along the slowest axis first
	for q := range n {
		rest, stride := q, 1
		for i := len(axes) - 1; i >= 0; i-- {
			m := axes[i].Points
			at := rest % m
			if axes[i].Boundary == grid.Periodic {
				at = min(2*at, 2*(m-at)-1)
			}
			if rest /= m; i == slowest {
				place[q] += at * n
			} else {
				place[q] += at * stride
				stride *= m
			}
		}
	}
	points := make([]int, n)
	for i := range points {
		points[i] = i
	}
	slices.SortFunc(points, func(a, b int) int { return cmp.Compare(place[a], place[b]) })
	columns = make([]int, unknowns*n)
	order := make([]int, n)
	for i, q := range points {
		order[q] = i
		for c := range unknowns {
			columns[c*n+q] = i*unknowns + c
		}
	}
	type row struct{ part, node, at int }
	var all []row
	for k, r := range l.parts {
		rows = append(rows, make([]int, len(r.nodes)))
		for i, q := range r.nodes {
			all = append(all, row{k, i, order[q]})
		}
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(a.at, b.at) })
	for i, r := range all {
		rows[r.part][r.node] = i
	}
	return columns, rows
}

// each visits the entries of a part's rows: of a slice in the middle of time.
func (l *LinearRows) each(r *linearRows, visit func(term, node, value int, coef float64)) {
	n := l.size()
	first := l.times / 2 * n
	for j, op := range r.ops {
		base := l.system.Terms[r.Set.Terms[j]].Of * n
		for i, q := range r.nodes {
			if op == nil {
				visit(j, i, base+q, 1)
			} else {
				op(first+q, func(p int, coef float64) { visit(j, i, base+p-first, coef) })
			}
		}
	}
}

// spread is the work of a factorisation with that order of values and rows.
func (l *LinearRows) spread(columns []int, rows [][]int) float64 {
	lower, upper := 0, 0
	for k, r := range l.parts {
		l.each(r, func(_, node, value int, _ float64) {
			away := columns[value] - rows[k][node]
			lower, upper = max(lower, -away), max(upper, away)
		})
	}
	return band.FactorWork(len(columns), lower, upper)
}

// enter finds the entries of the matrix.
func (l *LinearRows) enter() {
	first := 0
	for _, r := range l.parts {
		l.each(r, func(term, node, value int, coef float64) {
			l.entries = append(l.entries, grid.RateEntry{Row: r.rows[node], Value: value, Rate: r.rates[term], Slope: first + term*len(r.nodes) + node, By: coef})
		})
		first += len(r.ops) * len(r.nodes)
	}
	l.ones = first
	slices.SortStableFunc(l.entries, func(a, b grid.RateEntry) int { return cmp.Compare(a.Row, b.Row) })
}

// start finds what holds at the first time in the place of conditions with the rate of an unknown that begins with nothing: the unknown whose residual makes room
// for the condition stays what it is, so that others follow from it.
func (l *LinearRows) start() error {
	p, n := l.system.Problem, l.size()
	owners := p.owners()
	taken := map[int]bool{} // values
	for _, r := range l.parts {
		moves := false
		for j, t := range r.Set.Terms {
			moves = moves || r.rates[j] > 0 && p.timeOrder(l.system.Terms[t].Of) == 0
		}
		if !moves {
			continue
		}
		for i, q := range r.nodes {
			at := slices.IndexFunc(owners, func(c int) bool {
				return p.timeOrder(c) > 0 && !taken[c*n+q] && !slices.Contains(l.parts[slices.Index(owners, c)].nodes, q)
			})
			if at < 0 {
				return fmt.Errorf("%s: no equation with a derivative in time makes room for a condition with one that the equations lack", r.Set.Name)
			}
			value := owners[at]*n + q
			taken[value] = true
			l.starts = append(l.starts, grid.RateEntry{Row: r.rows[i], Value: value, Rate: 1, Slope: l.ones, By: 1})
		}
	}
	slices.SortFunc(l.starts, func(a, b grid.RateEntry) int { return cmp.Compare(a.Row, b.Row) })
	return nil
}

// findSources gives residuals what the network proposes for their own unknown as a source, and conditions that are not linear what it proposes for
// the first unknown that they contain. Linear conditions have none, so that all fields meet them.
func (l *LinearRows) findSources() {
	p, n := l.system.Problem, l.size()
	owners := p.owners()
	for k, r := range l.parts {
		rows := p.rowsOf(r.Set.Name)
		if r.Set.Kind != ResidualRows && p.Affine(rows.Expr) {
			r.set = -1
			continue
		}
		r.set = l.count
		of := 0
		for of < len(p.Unknowns)-1 && !p.Concerns(*rows, of) {
			of++
		}
		if r.Set.Kind == ResidualRows && owners != nil {
			of = owners[k]
		}
		for i, q := range r.nodes {
			l.sources, l.sets = append(l.sources, grid.Source{Row: r.rows[i], Value: of*n + q}), append(l.sets, l.count)
		}
		l.count++
	}
}

// For returns the solver for the inputs of a sample. It is valid until the next call.
func (l *LinearRows) For(sample []float64) (grid.LinearSolver, error) {
	if l.sample == nil || !slices.Equal(sample, l.sample) {
		l.sample = nil
		if err := l.solve(sample); err != nil {
			l.slopes = nil
			return nil, err
		}
		l.sample = slices.Clone(sample)
	}
	if l.radau != nil {
		return l.radau, nil
	}
	return l.direct, nil
}

var errSingular = errors.New("the linear part of the rows has no solution, or more than one")

// solve makes the solver for a sample.
func (l *LinearRows) solve(sample []float64) error {
	var begins []float64
	if l.begins != nil {
		begins = l.begin(sample)
	} else if l.offsets != nil {
		l.offsets.offset(l.base, sample)
	}
	rows := len(l.columns)
	slopes, data := make([][]float64, l.times), make([]float64, l.times*rows)
	for _, r := range l.parts {
		out := r.Eval(1, l.base, sample)
		if l.begins != nil && l.stands(r, out) {
			return fmt.Errorf("%s: where fields begin, its linear part has no derivative in time", r.Set.Name)
		}
		for _, slope := range out[1 : 1+len(r.ops)] {
			for t, of := range r.continued(slope, l.times) {
				slopes[t] = append(slopes[t], of...)
			}
		}
		for t, of := range r.continued(out[0], l.times) {
			for i, row := range r.rows {
				data[t*rows+row] = -of[i]
			}
		}
	}
	for t := range slopes {
		slopes[t] = append(slopes[t], 1)
	}
	same := l.slopes != nil && slices.EqualFunc(slopes, l.slopes, slices.Equal)
	l.slopes = slopes
	if l.begins == nil {
		return l.solveAtOnce(data, same)
	}
	if !same {
		p := l.system.Problem
		r := &grid.Radau{Times: l.times, Points: l.size(), Step: l.system.Grid.Axes[0].Step(), Columns: l.columns, Entries: l.entries, Starts: l.starts, Slopes: slopes}
		for c := range p.Unknowns {
			r.Orders = append(r.Orders, p.timeOrder(c))
		}
		if err := r.Prepare(mostFactored); err != nil {
			return err
		}
		by := l.scales(func(sources []grid.Source) grid.LinearSolver {
			r.Sources = sources
			return r
		})
		if slices.ContainsFunc(by, func(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) }) {
			return errSingular
		}
		r.Sources = l.scaled(by)
		l.radau = r
	}
	l.radau.Data, l.radau.Base = data, begins
	return nil
}

// stands reports whether rows have derivatives in time of unknowns that begin with something, but none in their linear part, by the slopes of their terms: they are
// multiplied by what begins with zero.
func (l *LinearRows) stands(r *linearRows, out [][]float64) bool {
	rated := false
	for j, t := range r.Set.Terms {
		if r.rates[j] == 0 || l.system.Problem.timeOrder(l.system.Terms[t].Of) == 0 {
			continue
		}
		rated = true
		if slices.ContainsFunc(out[1+j], func(slope float64) bool { return slope != 0 }) {
			return false
		}
	}
	return rated
}

// begin sets the base to what fields begin with, at all times, and returns that (C, points of a slice).
func (l *LinearRows) begin(sample []float64) []float64 {
	s, n := l.system, l.size()
	all := make([]float64, len(l.begins.begins)*n)
	l.begins.Begin(all, sample)
	var out []float64
	for c := range s.Problem.Unknowns {
		values := make([]float64, n)
		if order := s.Problem.timeOrder(c); order > 0 && len(all) > 0 {
			copy(values, all)
			all = all[order*n:]
		}
		for t := range l.times {
			copy(l.base[(c*l.times+t)*n:], values)
		}
	}
	if l.first != nil {
		l.first.solve(l, sample)
	}
	for c := range s.Problem.Unknowns {
		out = append(out, l.base[c*l.times*n:][:n]...)
	}
	return out
}

// continued are the values of rows by time and node; at times without a row they are continued from the nearest two.
func (r *linearRows) continued(values []float64, times int) [][]float64 {
	all, known := make([][]float64, times), make([]bool, times*len(r.nodes))
	for t := range all {
		all[t] = make([]float64, len(r.nodes))
	}
	for i, v := range values {
		all[r.times[i]][r.at[i]], known[r.times[i]*len(r.nodes)+r.at[i]] = v, true
	}
	for a := range r.nodes {
		var there []int
		for t := range times {
			if known[t*len(r.nodes)+a] {
				there = append(there, t)
			}
		}
		for t := range times {
			if known[t*len(r.nodes)+a] {
				continue
			}
			nearest, next := there[0], there[min(1, len(there)-1)]
			if t > nearest {
				nearest, next = there[len(there)-1], there[max(0, len(there)-2)]
			}
			all[t][a] = all[nearest][a]
			if next != nearest {
				all[t][a] += (all[next][a] - all[t][a]) * float64(t-nearest) / float64(next-nearest)
			}
		}
	}
	return all
}

// solveAtOnce makes the solver of a steady problem, with what rows are to be; the matrix may be the same as before.
func (l *LinearRows) solveAtOnce(data []float64, same bool) error {
	slopes, size := l.slopes[0], len(l.columns)
	if !same {
		l.direct = nil
		lower, upper := 0, 0
		largest := make([]float64, size) // entries per row
		for _, e := range l.entries {
			away := l.columns[e.Value] - e.Row
			lower, upper = max(lower, -away), max(upper, away)
		}
		l.matrix = band.New(size, lower, upper)
		for _, e := range l.entries {
			v := slopes[e.Slope] * e.By
			l.matrix.Add(e.Row, l.columns[e.Value], v)
			largest[e.Row] = max(largest[e.Row], math.Abs(v))
		}
		if !l.matrix.Factor() {
			return errSingular
		}
		first := l.system.Grid.Axes[0].Points
		direct := &grid.Direct{Times: first, Points: l.system.Grid.Size() / first, Unknowns: len(l.system.Problem.Unknowns), Matrix: l.matrix, Columns: l.columns}
		by := l.scales(func(sources []grid.Source) grid.LinearSolver {
			direct.Sources = sources
			return direct
		})
		entry := make([]float64, l.count)
		for i, s := range l.sources {
			entry[l.sets[i]] = max(entry[l.sets[i]], largest[s.Row])
		}
		for set, v := range by {
			if !(v*mostResponse > entry[set]) || math.IsInf(v, 0) {
				return errSingular
			}
		}
		direct.Sources = l.scaled(by)
		l.direct = direct
	}
	l.matrix.Solve(data)
	fields := make([]float64, size)
	for value, column := range l.columns {
		fields[value] = l.base[value] + data[column]
	}
	if !finite(fields) {
		return errSingular
	}
	l.direct.Data = fields
	return nil
}

func finite(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}
