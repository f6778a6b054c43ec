package pde

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/band"
)

const (
	// mostStates bounds the values of a slice, with derivatives in time.
	mostStates = 1 << 16
	// leastSlope is, of the largest slope of a condition, one that a value can be found by.
	leastSlope = 1e-9
	// mostSubstitutions bounds how far values at walls follow from others that do.
	mostSubstitutions = 8
)

// A LinearRows makes a grid.LinearSolver of the rows as they are where all unknowns are zero: their slopes, means over time, their walls, and what they are there. It
// belongs to one caller at a time.
type LinearRows struct {
	system  *System
	orders  []int // in time, per unknown
	first   []int // in y
	state   int
	slice   int // the time whose stencils are taken
	parts   []*linearRows
	zero    []float64 // a field
	sample  []float64 // of the last call of For, which was not in vain
	stepper *grid.Stepper
	slopes  [][]float64 // by part and term: those that the solver is of
	steady  *steadyRows // of a problem without time, or nil
	direct  *grid.Direct
	matrix  *band.Matrix // of direct
	// What rows' constants add to y, in the unit of Stepper.Data, and to fields.
	added, addedToFields []addition
}

// linearRows are those of a residual or of a condition at a wall.
type linearRows struct {
	*RowValues
	owner  int // the unknown whose highest derivative in time a residual has; -1 of a condition
	leads  int // the term of that
	inTime []int
	ops    []rowEntries // of terms without their derivatives in time; nil stands for the value
	nodes  []int        // points of the slice, ascending
	at     []int        // per row: which of the nodes
	times  []int        // per row
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

// NewLinearRows returns an error where rows have no linear part that can be solved, in steps of time or without time at once.
func (s *System) NewLinearRows() (*LinearRows, error) {
	p := s.Problem
	if p.Steady {
		return s.newSteadyRows()
	}
	if err := p.linearDomain(); err != nil {
		return nil, err
	}
	if s.Slab != nil {
		return nil, errors.New("slabs divide time, and each value wants all times before it")
	}
	l := &LinearRows{system: s, slice: s.Grid.Axes[0].Points / 2, zero: make([]float64, s.FieldSize())}
	for c, u := range p.Unknowns {
		order := p.timeOrder(c)
		if order != 1 && order != 2 {
			return nil, fmt.Errorf("want a first or second derivative of %s along %s as a term by itself", u.Name, p.Axes[0].Name)
		}
		l.orders, l.first, l.state = append(l.orders, order), append(l.first, l.state), l.state+order
	}
	for _, a := range p.Axes[1:] {
		if a.Boundary == grid.Cells {
			return nil, fmt.Errorf("axis %s has cells: want nodes, or a periodic one", a.Name)
		}
	}
	owned := make([]bool, len(p.Unknowns))
	for _, set := range s.Sets {
		if set.Kind != ResidualRows && p.rowsOf(set.Name).At[p.Axes[0].Name] != "" {
			continue
		}
		r, err := l.rows(set)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", set.Name, err)
		}
		if r.owner >= 0 {
			if owned[r.owner] {
				return nil, fmt.Errorf("two residuals have the highest derivative of %s in time", p.Unknowns[r.owner].Name)
			}
			owned[r.owner] = true
		}
		l.parts = append(l.parts, r)
	}
	return l, nil
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
	r := &linearRows{RowValues: s.NewRowValues(set, set.Points), owner: -1}
	time := p.Axes[0].Name
	for j, t := range set.Terms {
		term, _ := s.Term(t)
		rate, edge := term.inTime(time)
		var op rowEntries
		if t >= len(p.Unknowns) {
			if edge {
				return nil, fmt.Errorf("%s is taken at an end of %s", term.Name, time)
			}
			if own, sparse := s.Terms[t].Operator.(grid.Sparse); sparse {
				op = own.Row
			} else if op = s.spectralRows(t); op == nil {
				return nil, fmt.Errorf("%s is spectral, and not all axes of space are periodic", term.Name)
			}
			if rate > 0 {
				term.Factors = slices.DeleteFunc(slices.Clone(term.Factors), func(f Factor) bool { return f.Axis == time })
				if op = nil; len(term.Factors) > 0 {
					product, err := s.product(term)
					if err != nil {
						return nil, err
					}
					op = product.(grid.Sparse).Row
				}
			}
		}
		of := s.Terms[t].Of
		if set.Kind == ResidualRows && rate >= l.orders[of] {
			if r.owner >= 0 || op != nil || rate > l.orders[of] {
				return nil, fmt.Errorf("want one derivative of highest order along %s, by itself", time)
			}
			r.owner, r.leads = of, j
		}
		if rate > l.orders[of] {
			return nil, fmt.Errorf("%s is of higher order along %s than the residual has", term.Name, time)
		}
		r.inTime, r.ops = append(r.inTime, rate), append(r.ops, op)
	}
	if set.Kind == ResidualRows && r.owner < 0 {
		return nil, fmt.Errorf("want a derivative of highest order along %s", time)
	}
	n := int32(s.SliceSize())
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

// For returns the solver for the inputs of a sample. It is valid until the next call.
func (l *LinearRows) For(sample []float64) (grid.LinearSolver, error) {
	if l.steady != nil {
		return l.steadyFor(sample)
	}
	return l.stepperFor(sample)
}

// stepperFor is For of a problem in time.
func (l *LinearRows) stepperFor(sample []float64) (*grid.Stepper, error) {
	if l.sample != nil && slices.Equal(sample, l.sample) {
		return l.stepper, nil
	}
	l.sample = nil
	var slopes, constants [][]float64 // by part and term: per node; by part: per time and node
	for _, r := range l.parts {
		out := r.Eval(1, l.zero, sample)
		own := make([][]float64, len(r.Set.Terms))
		for j := range own {
			own[j] = make([]float64, len(r.nodes))
			for i, v := range out[1+j] {
				own[j][r.at[i]] += v
			}
		}
		slopes = append(slopes, own...)
		constants = append(constants, r.constants(out, own, l.system.Grid.Axes[0].Points))
	}
	same := l.stepper != nil && slices.EqualFunc(slopes, l.slopes, slices.Equal)
	if !same {
		l.slopes = slopes
		if err := l.assemble(); err != nil {
			l.stepper = nil
			return nil, err
		}
	}
	l.data(constants)
	l.sample = slices.Clone(sample)
	return l.stepper, nil
}

// constants are what rows are at each time and node, in the unit of the sums of slopes over time, negated. At times without a row they are continued from the nearest two.
func (r *linearRows) constants(out, sums [][]float64, times int) []float64 {
	all := make([]float64, times*len(r.nodes))
	known := make([]bool, len(all))
	most := make([]int, len(r.nodes)) // the term with the largest slope, or that of the highest derivative in time
	for a := range most {
		most[a] = r.leads
		for j := range sums {
			if r.owner < 0 && math.Abs(sums[j][a]) > math.Abs(sums[most[a]][a]) {
				most[a] = j
			}
		}
	}
	for i, v := range out[0] {
		a, slope := r.at[i], out[1+most[r.at[i]]][i]
		if sum := sums[most[a]][a]; math.Abs(slope)*float64(times) > leastSlope*math.Abs(sum) {
			all[r.times[i]*len(r.nodes)+a], known[r.times[i]*len(r.nodes)+a] = -v*sum/slope, true
		}
	}
	for a := range r.nodes {
		var there []int
		for t := range times {
			if known[t*len(r.nodes)+a] {
				there = append(there, t)
			}
		}
		if len(there) == 0 {
			continue
		}
		for t := range times {
			at := t*len(r.nodes) + a
			if known[at] {
				continue
			}
			nearest := there[0]
			if t > nearest {
				nearest = there[len(there)-1]
			}
			next := there[min(1, len(there)-1)]
			if nearest != there[0] {
				next = there[max(0, len(there)-2)]
			}
			all[at] = all[nearest*len(r.nodes)+a]
			if next != nearest {
				all[at] += (all[next*len(r.nodes)+a] - all[at]) * float64(t-nearest) / float64(next-nearest)
			}
		}
	}
	return all
}

// A combination is a sum of values with factors, by their keys: states (State, P), derivatives of highest order in time (C, P), and what rows are (rows, 2), with its
// derivative in time.
type combination map[int]float64

// assembly is what a Stepper is made from.
type assembly struct {
	*LinearRows
	n, states, leads int
	of               []combination       // per row, parts one after another: its slopes
	nodes            []int               // per row
	covered          []int               // per unknown and point: 1 + the row of its residual
	eliminated       map[int]combination // states
	moved            map[int]combination // by unknown and point: highest derivatives in time that a condition gives
}

func (l *LinearRows) assemble() error {
	s := l.system
	n := s.SliceSize()
	if l.state*n > mostStates {
		return fmt.Errorf("%d values at a time are more than %d", l.state*n, mostStates)
	}
	a := &assembly{LinearRows: l, n: n, states: l.state * n, leads: len(l.orders) * n, covered: make([]int, len(l.orders)*n), eliminated: map[int]combination{}, moved: map[int]combination{}}
	term := 0
	var conditions []int
	for _, r := range l.parts {
		for i, q := range r.nodes {
			sum := combination{}
			for j, op := range r.ops {
				slope := l.slopes[term+j][i]
				of := s.Terms[r.Set.Terms[j]].Of
				base := (l.first[of] + r.inTime[j]) * n
				if r.inTime[j] == l.orders[of] {
					base = a.states + of*n
				}
				switch {
				case slope == 0:
				case op == nil:
					sum[base+q] += slope
				default:
					op(l.slice*n+q, func(p int, coef float64) { sum[base+p-l.slice*n] += slope * coef })
				}
			}
			if r.owner >= 0 {
				a.covered[r.owner*n+q] = len(a.of) + 1
			} else {
				conditions = append(conditions, len(a.of))
			}
			a.of, a.nodes = append(a.of, sum), append(a.nodes, q)
		}
		term += len(r.ops)
	}
	var left []int
	for _, row := range conditions {
		if !a.own(row) {
			left = append(left, row)
		}
	}
	for _, row := range left {
		a.near(row)
	}
	return a.stepper()
}

// key is that of a derivative in time of an unknown at a point.
func (a *assembly) key(unknown, rate, point int) int {
	if rate == a.orders[unknown] {
		return a.states + unknown*a.n + point
	}
	return (a.first[unknown]+rate)*a.n + point
}

// solve gives what a row says of the value of a key.
func (a *assembly) solve(row, key int) combination {
	out, slope := combination{}, a.of[row][key]
	for k, v := range a.of[row] {
		if k != key {
			out[k] = -v / slope
		}
	}
	out[a.states+a.leads+2*row] = 1 / slope
	return out
}

// own makes a condition the equation of the highest derivative in time at its own point, if that has no condition yet.
func (a *assembly) own(row int) bool {
	q, most := a.nodes[row], 0.0
	for _, v := range a.of[row] {
		most = max(most, math.Abs(v))
	}
	for rate := 2; rate >= 0; rate-- {
		for c, order := range a.orders {
			if rate > order || !(math.Abs(a.of[row][a.key(c, rate, q)]) > leastSlope*most) {
				continue
			}
			key := a.key(c, rate, q)
			if rate == order {
				if a.moved[c*a.n+q] == nil {
					a.moved[c*a.n+q] = a.solve(row, key)
					return true
				}
			} else if a.eliminated[a.key(c, 0, q)] == nil && a.eliminated[key] == nil {
				a.eliminate(row, c, rate, key)
				return true
			}
		}
	}
	return false
}

func (a *assembly) eliminate(row, unknown, rate, key int) {
	v := a.solve(row, key)
	a.eliminated[key] = v
	if rate == 0 && a.orders[unknown] == 2 {
		a.eliminated[key+a.n] = a.differentiated(v)
	}
}

// differentiated is the derivative in time of a combination of values.
func (a *assembly) differentiated(v combination) combination {
	out := combination{}
	for k, by := range v {
		if k >= a.states+a.leads {
			out[k+1] += by
			continue
		}
		c := 0
		for c+1 < len(a.orders) && a.first[c+1] <= k/a.n {
			c++
		}
		out[a.key(c, k/a.n-a.first[c]+1, k%a.n)] += by
	}
	return out
}

// near makes a second condition of a wall the equation of a value nearby that no other rows are of.
func (a *assembly) near(row int) {
	best, most := -1, 0.0
	for _, k := range slices.Sorted(maps.Keys(a.of[row])) {
		if k >= a.states || a.eliminated[k] != nil {
			continue
		}
		c := slices.Index(a.first, k/a.n) // values alone
		if c < 0 || a.covered[c*a.n+k%a.n] > 0 || a.moved[c*a.n+k%a.n] != nil {
			continue
		}
		if v := math.Abs(a.of[row][k]); v > most {
			best, most = k, v
		}
	}
	if best >= 0 {
		a.eliminate(row, slices.Index(a.first, best/a.n), 0, best)
	}
}

// substituted has no values that follow from others.
func (a *assembly) substituted(v combination) (combination, error) {
	for range mostSubstitutions {
		out, again := combination{}, false
		for _, k := range slices.Sorted(maps.Keys(v)) { // sums have one order
			by := v[k]
			if of := a.eliminated[k]; of != nil && k < a.states {
				again = true
				for i, x := range of {
					out[i] += by * x
				}
			} else {
				out[k] += by
			}
		}
		if !again {
			return out, nil
		}
		v = out
	}
	return nil, errors.New("values at walls follow from each other alone")
}

func (a *assembly) stepper() error {
	s, n := a.system, a.n
	time := s.Grid.Axes[0]
	h := time.Step()
	st := &grid.Stepper{
		Times: time.Points, Unknowns: len(a.orders), Points: n, State: a.state, First: a.first, Step: h,
		Matrix: &grid.SparseMatrix{}, Field: &grid.SparseMatrix{}, Source: make([]float64, a.states),
	}
	scaled := make([]float64, a.states) // what y is multiplied by
	for c, order := range a.orders {
		for r := range order {
			for q := range n {
				scaled[a.key(c, r, q)] = math.Pow(h, float64(r))
			}
		}
	}
	// add appends a row to a matrix, and what it has of rows' constants to data.
	add := func(m *grid.SparseMatrix, data *[]addition, row int, v combination, by float64) error {
		v, err := a.substituted(v)
		if err != nil {
			return err
		}
		var columns []int32
		var values []float64
		for _, k := range slices.Sorted(maps.Keys(v)) {
			switch {
			case v[k] == 0:
			case k < a.states:
				columns, values = append(columns, int32(k)), append(values, by*v[k]/scaled[k])
			case k < a.states+a.leads:
				return errors.New("a condition contains the highest derivative in time of a value at another place")
			default:
				k -= a.states + a.leads
				*data = append(*data, addition{row, k / 2, k%2 == 1, by * v[k+a.states+a.leads]})
			}
		}
		m.Append(columns, values)
		return nil
	}
	a.added, a.addedToFields = nil, nil
	for c, order := range a.orders {
		for r := range order {
			for q := range n {
				key := a.key(c, r, q)
				row := a.covered[c*n+q] - 1
				var v combination
				switch moved := a.moved[c*n+q]; {
				case a.eliminated[key] != nil:
				case r < order-1:
					v = combination{key + n: 1}
				case moved != nil:
					v = moved
				case row < 0:
					return fmt.Errorf("no row says how %s moves at one of its points", s.Problem.Unknowns[c].Name)
				default:
					if a.of[row][a.key(c, order, q)] == 0 {
						return fmt.Errorf("the highest derivative of %s is multiplied by zero where all unknowns are", s.Problem.Unknowns[c].Name)
					}
					v = a.solve(row, a.key(c, order, q))
					st.Source[key] = h * scaled[key] * math.Pow(time.Hi-time.Lo, -float64(order))
				}
				if err := add(st.Matrix, &a.added, key, v, h*scaled[key]); err != nil {
					return err
				}
			}
		}
	}
	for c, order := range a.orders {
		for q := range n {
			v := a.eliminated[a.key(c, 0, q)]
			if v == nil {
				v = combination{a.key(c, 0, q): 1}
			}
			if err := add(st.Field, &a.addedToFields, c*n+q, v, 1); err != nil {
				return err
			}
		}
		for range (order - 1) * n {
			st.Field.Append(nil, nil)
		}
	}
	if err := st.Prepare(); err != nil {
		return err
	}
	a.LinearRows.stepper = st
	return nil
}

// addition is what a row's constants, or their derivative in time, add to a value.
type addition struct {
	to, row int
	rate    bool
	by      float64
}

// data completes the Stepper with the constants of rows, by part (times, nodes).
func (l *LinearRows) data(constants [][]float64) {
	times, step := l.system.Grid.Axes[0].Points, l.system.Grid.Axes[0].Step()
	var rows []func(t int) float64
	for i, r := range l.parts {
		for a := range r.nodes {
			rows = append(rows, func(t int) float64 { return constants[i][t*len(r.nodes)+a] })
		}
	}
	fill := func(size int, all []addition) []float64 {
		var out []float64
		for _, g := range all {
			of := rows[g.row]
			for t := range times {
				v := 0.0
				if g.rate {
					lo, hi := max(t-1, 0), min(t+1, times-1)
					v = (of(hi) - of(lo)) / (float64(hi-lo) * step)
				} else {
					v = of(t)
				}
				if v *= g.by; v != 0 {
					if out == nil {
						out = make([]float64, times*size)
					}
					out[t*size+g.to] += v
				}
			}
		}
		return out
	}
	n := l.system.SliceSize()
	l.stepper.Data, l.stepper.FieldData = fill(l.state*n, l.added), fill(len(l.orders)*n, l.addedToFields)
}
