package discrete

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// An Examination says whether the rows of a problem determine its unknowns, from
// their linearisation on a small grid about initial conditions that vary in time, and agree
// with each other and with the ansatz.
type Examination struct {
	Grid     []int `json:"grid"`
	Rows     int   `json:"rows"`     // with what the ansatz fixes
	Unknowns int   `json:"unknowns"` // values of all unknowns
	Rank     int   `json:"rank"`
	// Faults are what no training can make up for, Notes what may be meant.
	Faults []string `json:"faults,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}

// Examine examines a problem with initial conditions that draw returns for a grid.
func Examine(p *pde.Problem, draw func(g *grid.Grid) ([][]float64, error)) (*Examination, error) {
	x := &Examination{}
	sys, err := smallSystem(p)
	if err != nil {
		return nil, err
	}
	g := sys.Grid
	initial, err := draw(g)
	if err != nil {
		return nil, err
	}
	s, err := newSystem(sys, make([]int, len(sys.Terms)))
	if err != nil {
		return nil, err
	}
	if !s.direct {
		return nil, fmt.Errorf("rows on %v points are %w", g.Shape(), errTooLarge)
	}
	x.Grid, x.Unknowns = g.Shape(), sys.FieldSize()
	for i, in := range p.Inputs {
		switch used := usesInput(p, sys, i); {
		case used:
		case i < p.Initials():
			x.Faults = append(x.Faults, fmt.Sprintf("no row contains %s: all initial conditions have the same solution", in.Name))
		default:
			x.Faults = append(x.Faults, fmt.Sprintf("no row contains %s: the solution does not depend on that input", in.Name))
		}
	}
	if alike(initial) {
		x.Notes = append(x.Notes, "all samples that are drawn are alike: there is one solution to learn")
	}
	x.domain(s, initial)
	if len(x.Faults) == 0 {
		st, add := s.newState(initial[0]), 0.0
		if p.Steady {
			add = 1 // zero is all that is known of it
		}
		st.evaluate(varied(sys, initial[0], 0.2, add, 0))
		if x.rank(st); !x.free() {
			x.contradictions(st, initial[0])
			x.openWalls(s, initial)
		}
	}
	var unused []string
	for i, t := range p.Terms {
		if !slices.ContainsFunc(sys.Sets, func(r *pde.RowSet) bool { return slices.Contains(r.Terms, len(p.Unknowns)+i) }) {
			unused = append(unused, t.Name)
		}
	}
	if len(unused) > 0 {
		x.Notes = append(x.Notes, "no row uses the term "+strings.Join(unused, ", "))
	}
	if term := lacksRate(p); term != "" && x.free() {
		x.Faults[0] += fmt.Sprintf("; %s needs two conditions at %s low, the value and its derivative", term, p.Axes[0].Name)
	}
	if ends := openEnds(p, sys); len(ends) > 0 {
		note := "no condition holds at " + strings.Join(ends, ", ")
		switch {
		case x.free():
			x.Faults[0] += "; " + note // that of the rank
		case len(x.Faults) == 0:
			x.Notes = append(x.Notes, note)
		}
	}
	return x, nil
}

// contradictions finds conditions that no field meets together, or none of the ansatz: rows of
// which least squares, over all grid values, leave most in doubt. Rows that disagree at
// single points, an initial condition and a wall's at t = 0, are no fault.
func (x *Examination) contradictions(st *state, u0 []float64) {
	const tolerance = 0.01 // of the size of rows
	u := st.w[0]
	size := len(u)
	var rows [][]float64 // with minus the residual
	var sets []string    // that they belong to
	add := func(name string, row []float64, residual float64) {
		if norm := math.Sqrt(kernel.SumSquares64(row)); normalise(row) {
			rows, sets = append(rows, append(row, -residual/norm)), append(sets, name)
		}
	}
	value := st.valueOf()
	for k, set := range st.sys.Sets {
		if set.Kind == pde.ResidualRows || !set.Linear {
			continue // where a condition is not linear several values may meet it
		}
		for i := range set.Points {
			row := make([]float64, size)
			st.jacobian(k, i, func(q int, v float64) { row[value[q]] += v })
			add(set.Name, row, st.out[k][0][i])
		}
	}
	const ansatz = "the ansatz"
	if fixed := fixes(st.sys); fixed != nil {
		offset, e, n := make([]float64, size), st.sys.NewEvaluator(1), st.sys.SliceSize()
		for slice := range size / n {
			e.Offset(offset[slice*n:(slice+1)*n], u0, slice)
		}
		for f, unknown := range st.sys.Problem.Unknowns {
			free := false
			for q := f * st.sys.Grid.Size(); q < (f+1)*st.sys.Grid.Size(); q++ {
				if !fixed[q] {
					free = true
					continue
				}
				row := make([]float64, size)
				row[q] = 1
				add(ansatz, row, u[q]-offset[q])
			}
			if !free {
				x.Faults = append(x.Faults, fmt.Sprintf("the multiplier of the ansatz of %s is zero everywhere: its field does not depend on the network", unknown.Name))
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	misfit := make([]float64, len(rows))
	for i, row := range rows {
		misfit[i] = row[size]
	}
	scale := math.Sqrt((kernel.SumSquares64(misfit) + kernel.SumSquares64(u)) / float64(len(misfit)+size))
	projectOut(misfit, rows, size)
	off, all, most := map[string]int{}, map[string]int{}, 0.0
	for i, v := range misfit {
		all[sets[i]]++
		if math.Abs(v) > tolerance*scale {
			off[sets[i]]++
			most = max(most, math.Abs(v)/scale)
		}
	}
	var names []string
	for name, count := range all {
		if 2*off[name] > count {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	if off[ansatz] > 0 && !slices.Contains(names, ansatz) {
		names = append(names, ansatz)
	}
	slices.Sort(names)
	x.Faults = append(x.Faults, fmt.Sprintf("%s contradict each other: what comes nearest to all of them is off by up to %.2g %%", strings.Join(names, " and "), 100*most))
}

// projectOut takes from y what it has in the span of the first n columns of rows.
func projectOut(y []float64, rows [][]float64, n int) {
	const tolerance = 1e-9
	var basis [][]float64
	for j := range n {
		column := make([]float64, len(rows))
		for i, row := range rows {
			column[i] = row[j]
		}
		size := math.Sqrt(kernel.SumSquares64(column))
		for range 2 { // rounding of the first time is removed by the second
			for _, q := range basis {
				kernel.Axpy64(column, -kernel.Dot(q, column), q)
			}
		}
		if rest := math.Sqrt(kernel.SumSquares64(column)); rest > tolerance*size {
			kernel.MulScalar64(column, 1/rest, column)
			basis = append(basis, column)
			kernel.Axpy64(y, -kernel.Dot(column, y), column)
		}
	}
}

// openWalls finds an axis of space at whose ends no condition holds at all, where the equation, of one
// unknown, needs some: differences to one side then make up a solution of their own. A second derivative at
// both ends needs conditions; so does a first one where a linear equation only carries it along, where it comes from.
// Where coefficients vanish at the ends, up to rounding, none is needed; centres of cells do not show that.
func (x *Examination) openWalls(s *system, initial [][]float64) {
	p := s.sys.Problem
	if len(p.Unknowns) > 1 || len(p.Residuals) > 1 {
		return
	}
	fixed := fixes(s.sys)
	for a, axis := range p.Axes {
		if axis.Boundary != grid.Nodes || a == 0 && !p.Steady {
			continue
		}
		if heldAt(p, s.sys, fixed, a, "low", 0) || heldAt(p, s.sys, fixed, a, "high", 0) {
			continue
		}
		needs := make(map[string]int)
		for draw, u0 := range initial {
			st := s.newState(u0)
			st.evaluate(varied(s.sys, u0, 0, 0, draw))
			needs[st.needsConditions(a)]++
		}
		for term, draws := range needs {
			if term != "" && draws == len(initial) {
				x.Faults = append(x.Faults, fmt.Sprintf("no condition holds at either end of %s, where %s needs one", axis.Name, term))
			}
		}
	}
}

// needsConditions returns the term that needs conditions at the ends of axis a, or "".
func (st *state) needsConditions(a int) string {
	p, set := st.sys.Problem, st.sys.Sets[0]
	stride, n := st.sys.Grid.Strides()[a], st.sys.Grid.Axes[a].Points
	rate := slices.Repeat([]float64{1}, len(set.Points))
	for j, t := range set.Terms {
		if order, along := alongOne(st.sys, t); along == 0 && order == 1 {
			rate = st.out[0][1+j]
		}
	}
	for j, t := range set.Terms {
		order, along := alongOne(st.sys, t)
		if along != a || order == 0 {
			continue
		}
		largest, ends := 0.0, [2]struct{ least, most float64 }{{math.Inf(1), math.Inf(-1)}, {math.Inf(1), math.Inf(-1)}}
		for i, point := range set.Points {
			v := st.out[0][1+j][i] * rate[i]
			largest = max(largest, math.Abs(v))
			for e, at := range []int{0, n - 1} {
				if int(point)/stride%n == at {
					ends[e].least, ends[e].most = min(ends[e].least, v), max(ends[e].most, v)
				}
			}
		}
		acts := func(e int) bool { // at all its points, with one sign
			least := min(math.Abs(ends[e].least), math.Abs(ends[e].most))
			return ends[e].least*ends[e].most > 0 && !math.IsInf(least, 0) && !vanishes(least, largest)
		}
		enters := acts(0) && ends[0].least > 0 || acts(1) && ends[1].most < 0
		if order >= 2 && acts(0) && acts(1) || order == 1 && enters && set.Linear && marches(p) && !st.diffuses(a) {
			return p.Terms[t-len(p.Unknowns)].Name
		}
	}
	return ""
}

// diffuses reports whether a term of the equation is a derivative of higher order than one along axis a.
func (st *state) diffuses(a int) bool {
	return slices.ContainsFunc(st.sys.Sets[0].Terms, func(t int) bool {
		order, along := alongOne(st.sys, t)
		return along == a && order > 1
	})
}

// alongOne returns the order of a term's derivative and its axis; -1 for one that is none, at an edge, or along several.
func alongOne(sys *pde.System, t int) (order, axis int) {
	term, ok := sys.Term(t)
	if !ok || len(term.Factors) != 1 || term.Factors[0].Edge != nil {
		return 0, -1
	}
	order = term.Factors[0].Scheme.Derivative
	if term.PerStep {
		order++
	}
	return order, sys.Problem.Axis(term.Factors[0].Axis)
}

// vanishes reports whether a value is zero but for rounding.
func vanishes(v, largest float64) bool { return math.Abs(v) <= 1e-12*largest }

// fixes reports, for every value, whether the multiplier of the ansatz vanishes there; nil: it has none.
func fixes(sys *pde.System) []bool {
	multiplier := sys.Multiplier()
	if multiplier == nil {
		return nil
	}
	fixed, size := make([]bool, len(multiplier)), sys.Grid.Size()
	for lo := 0; lo < len(multiplier); lo += size {
		own := multiplier[lo : lo+size]
		largest := max(slices.Max(own), -slices.Min(own))
		for q, m := range own {
			fixed[lo+q] = vanishes(m, largest)
		}
	}
	return fixed
}

// valueOf returns the grid value of every column.
func (s *system) valueOf() []int {
	value := make([]int, s.values())
	for p := range s.order {
		for f := range s.fields {
			value[s.column(f, int32(p))] = f*s.points + p
		}
	}
	return value
}

// free reports whether the first fault is that values stay free.
func (x *Examination) free() bool { return x.Rank > 0 && x.Rank < x.Unknowns }

// lacksRate returns a second derivative in time of an unknown that has fewer than two conditions at the
// beginning, or "".
func lacksRate(p *pde.Problem) string {
	if !marches(p) {
		return ""
	}
	for _, t := range p.Terms {
		second := slices.ContainsFunc(t.Factors, func(f pde.Factor) bool {
			return f.Axis == p.Axes[0].Name && f.Edge == nil && f.Scheme.Derivative == 2
		})
		if !second || !p.InResidual(t.Name) {
			continue
		}
		conditions := 0
		for _, c := range p.Conditions {
			if c.At[p.Axes[0].Name] == "low" && concerns(p, c, t.Of) {
				conditions++
			}
		}
		if conditions < 2 {
			return t.Name
		}
	}
	return ""
}

// alike reports whether several samples are all the same.
func alike(samples [][]float64) bool {
	return len(samples) > 1 && !slices.ContainsFunc(samples[1:], func(x []float64) bool { return !slices.Equal(x, samples[0]) })
}

// smallSystem is the problem on the smallest grid, odd along periodic axes, that its
// terms have room on.
func smallSystem(p *pde.Problem) (*pde.System, error) {
	var err error
	for _, n := range []int{6, 8, 10, 12, 16, 20} {
		points := map[string]int{}
		for _, a := range p.Axes {
			points[a.Name] = n
			if a.Boundary == grid.Periodic {
				points[a.Name] = n + 1
			}
		}
		var g *grid.Grid
		if g, err = p.Grid(points); err != nil {
			return nil, err
		}
		var sys *pde.System
		if sys, err = p.Discretize(g); err == nil {
			return sys, nil
		}
	}
	return nil, err
}

// usesInput reports whether the ansatz or a row, at its point or a neighbour, reads an input.
func usesInput(p *pde.Problem, sys *pde.System, input int) bool {
	name := p.Inputs[input].Name
	return slices.ContainsFunc(p.Unknowns, func(u pde.Unknown) bool { return u.Ansatz.Offset.DependsOn(name) }) || slices.ContainsFunc(sys.Sets, func(set *pde.RowSet) bool {
		return slices.ContainsFunc(set.Extras, func(x pde.Extra) bool { return x.Axis < 0 && x.Input == input })
	})
}

// openEnds names the ends of axes that no condition, ghost value or ansatz holds at;
// the end of time needs none.
func openEnds(p *pde.Problem, sys *pde.System) []string {
	fixed := fixes(sys)
	var ends []string
	for a, axis := range p.Axes {
		if axis.Boundary == grid.Periodic {
			continue
		}
		for _, end := range []string{"low", "high"} {
			if a == 0 && end == "high" && marches(p) {
				continue
			}
			var open []string
			for f, u := range p.Unknowns {
				if !heldAt(p, sys, fixed, a, end, f) {
					open = append(open, u.Name)
				}
			}
			switch {
			case len(open) == len(p.Unknowns):
				ends = append(ends, axis.Name+" "+end)
			case len(open) > 0:
				ends = append(ends, axis.Name+" "+end+" of "+strings.Join(open, ", "))
			}
		}
	}
	return ends
}

// concerns reports whether a condition says something of an unknown.
func concerns(p *pde.Problem, c pde.Rows, unknown int) bool {
	return c.Expr.DependsOn(p.Unknowns[unknown].Name) ||
		slices.ContainsFunc(p.Terms, func(t pde.Term) bool { return t.Of == unknown && c.Expr.DependsOn(t.Name) })
}

// heldAt reports whether a condition, ghost value or the ansatz holds an unknown at an end of
// axis a.
func heldAt(p *pde.Problem, sys *pde.System, fixed []bool, a int, end string, unknown int) bool {
	name := p.Axes[a].Name
	if slices.ContainsFunc(p.Conditions, func(c pde.Rows) bool { return c.At[name] == end && concerns(p, c, unknown) }) {
		return true
	}
	for _, t := range p.Terms {
		for _, f := range t.Factors {
			if t.Of == unknown && f.Axis == name && p.InResidual(t.Name) && (end == "low" && f.Low != nil || end == "high" && f.High != nil) {
				return true
			}
		}
	}
	if fixed == nil {
		return false
	}
	stride, n := sys.Grid.Strides()[a], sys.Grid.Axes[a].Points
	at := map[string]int{"low": 0, "high": n - 1}[end]
	for q, is := range fixed[unknown*sys.Grid.Size() : (unknown+1)*sys.Grid.Size()] {
		if q/stride%n == at && !is {
			return false
		}
	}
	return true
}

// varied holds the initial condition of a sample in time, or zero, times a factor from 1-by
// to 1+by, plus a number from -add to add, drawn for every point.
func varied(sys *pde.System, sample []float64, by, add float64, seed int) []float64 {
	rng := rand.New(rand.NewPCG(3, uint64(seed)))
	u := make([]float64, sys.FieldSize())
	sys.Problem.Hold(u, sample, sys.SliceSize())
	for i := range u {
		u[i] = u[i]*(1+by*(2*rng.Float64()-1)) + add*(2*rng.Float64()-1)
	}
	return u
}

// domain finds rows that are not finite: at initial conditions, which is a fault, or
// at fields as far from them as they are from zero.
func (x *Examination) domain(s *system, initial [][]float64) {
	for _, near := range []bool{true, false} {
		for k, set := range s.sys.Sets {
			bad, count, example := 0, 0, ""
			for draw, u0 := range initial {
				u := varied(s.sys, u0, 0, 0, draw)
				if !near {
					most := 0.0
					for _, v := range u {
						most = max(most, math.Abs(v))
					}
					if s.sys.Problem.Steady {
						most = 1
					}
					u = varied(s.sys, u0, 0, most, draw)
				}
				st := s.newState(u0)
				st.evaluate(u)
				for i := range set.Points {
					count++
					for _, out := range st.out[k] {
						if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
							if bad++; example == "" {
								example = st.undefined(k, i)
							}
							break
						}
					}
				}
			}
			if bad == 0 {
				continue
			}
			text := fmt.Sprintf("%s: %.3g %% of the rows are not finite", set.Name, 100*float64(bad)/float64(count))
			if near {
				x.Faults = append(x.Faults, text+" where the field keeps its initial values: "+example)
			} else {
				x.Notes = append(x.Notes, text+" for fields about as far from the initial condition as that is from zero, which a network may propose: "+example)
			}
		}
		if len(x.Faults) > 0 {
			return
		}
	}
}

// undefined says what of a row is not finite.
func (st *state) undefined(set, i int) string {
	p, rows := st.sys.Problem, st.rows[set]
	var statement pde.Rows
	for _, r := range p.AllRows() {
		if r.Name == rows.Set.Name {
			statement = r
		}
	}
	at := map[string]float64{}
	for j, t := range rows.Set.Terms {
		at[st.sys.Terms[t].Name] = st.z[set][j][i]
	}
	for e, extra := range rows.Set.Extras {
		at[extra.Name] = rows.Extras[e][i]
	}
	values := func(e *pde.Expr) string {
		var parts []string
		for _, name := range e.Variables() {
			parts = append(parts, fmt.Sprintf("%s = %.3g", name, at[name]))
		}
		return strings.Join(parts, ", ")
	}
	for _, e := range []*pde.Expr{statement.Expr, statement.Weight} {
		if bad := e.Undefined(at); bad != nil {
			return fmt.Sprintf("%s at %s", bad, values(bad))
		}
	}
	for _, t := range rows.Set.Terms {
		name := st.sys.Terms[t].Name
		if bad := statement.Expr.Diff(name).Undefined(at); bad != nil {
			return fmt.Sprintf("the derivative by %s, of which %s at %s", name, bad, values(bad))
		}
	}
	return "the product of weight and expression"
}

// rank compares the rank of the linearised rows with the number of values.
func (x *Examination) rank(st *state) {
	g, size := st.sys.Grid, st.values()
	value := st.valueOf()
	var rows [][]float64
	for k, set := range st.sys.Sets {
		for i := range set.Points {
			row := make([]float64, size)
			st.jacobian(k, i, func(q int, v float64) { row[value[q]] += v })
			rows = append(rows, row)
		}
	}
	// What the ansatz fixes: values where its multiplier vanishes, and means.
	for q, fixed := range fixes(st.sys) {
		if fixed {
			row := make([]float64, size)
			row[q] = 1
			rows = append(rows, row)
		}
	}
	n := st.sys.SliceSize()
	for f, u := range st.sys.Problem.Unknowns {
		for first := 0; first < g.Size() && u.Ansatz.RemoveMean; first += n {
			row := make([]float64, size)
			for q := range n {
				row[f*g.Size()+first+q] = 1
			}
			rows = append(rows, row)
		}
	}
	rows = slices.DeleteFunc(rows, func(row []float64) bool { return !normalise(row) })
	x.Rows = len(rows)
	var share []float64
	x.Rank, share = rankOf(rows, size)
	if free := x.Unknowns - x.Rank; free > 0 {
		x.Faults = append(x.Faults, fmt.Sprintf("%d of %d values stay free%s", free, x.Unknowns, place(g, share)))
	}
}

// normalise gives a row length 1, false for one that is zero or not finite.
func normalise(row []float64) bool {
	sum := 0.0
	for _, v := range row {
		sum += v * v
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return false
	}
	for i := range row {
		row[i] /= math.Sqrt(sum)
	}
	return true
}

// rankOf eliminates rows with the largest pivot left, in rows and columns, and
// returns the rank and the share that every column has in what is left free.
func rankOf(rows [][]float64, n int) (rank int, share []float64) {
	const tolerance = 1e-9
	column := make([]int, n)
	for i := range column {
		column[i] = i
	}
	for rank < min(len(rows), n) {
		r, c, best := rank, rank, 0.0
		for i := rank; i < len(rows); i++ {
			for j := rank; j < n; j++ {
				if v := math.Abs(rows[i][column[j]]); v > best {
					r, c, best = i, j, v
				}
			}
		}
		if best < tolerance {
			break
		}
		rows[r], rows[rank] = rows[rank], rows[r]
		column[c], column[rank] = column[rank], column[c]
		pivot := rows[rank]
		at := column[rank]
		for i := range rows {
			if f := rows[i][at] / pivot[at]; i != rank && f != 0 {
				for j := range n {
					rows[i][j] -= f * pivot[j]
				}
				rows[i][at] = 0
			}
		}
		rank++
	}
	// A free column is 1, and the others follow from the reduced rows.
	share = make([]float64, n)
	for _, free := range column[rank:] {
		z := make([]float64, n)
		z[free] = 1
		for i := range rank {
			z[column[i]] = -rows[i][free] / rows[i][column[i]]
		}
		if normalise(z) {
			for j, v := range z {
				share[j] += v * v / float64(n-rank)
			}
		}
	}
	return rank, share
}

// place names the end of an axis that most of the share is at, if there is one.
func place(g *grid.Grid, share []float64) string {
	best, text := 0.5, ""
	for a, axis := range g.Axes {
		var ends [2]float64
		for q, v := range share {
			switch q / g.Strides()[a] % axis.Points {
			case 0:
				ends[0] += v
			case axis.Points - 1:
				ends[1] += v
			}
		}
		for i, v := range ends {
			if v > best && axis.Boundary != grid.Periodic {
				best, text = v, fmt.Sprintf(", most of them at %s %s", axis.Name, []string{"low", "high"}[i])
			}
		}
	}
	return text
}
