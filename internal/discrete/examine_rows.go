package discrete

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// rank compares the rank of the rows, linearised about u, with the number of values.
func (x *Examination) rank(st *state, u []float64) {
	g, size := st.sys.Grid, st.values()
	var rows [][]float64
	for k, set := range st.sys.Sets {
		for i := range set.Points {
			rows = append(rows, st.denseRow(k, i))
		}
	}
	// What the ansatz fixes: values where its multiplier vanishes, and means.
	for q, fixed := range fixes(st.sys) {
		if fixed {
			rows = append(rows, unit(size, q))
		}
	}
	n := st.sys.SliceSize()
	for f, u := range st.sys.Problem.Unknowns {
		for first := 0; first < g.Size() && u.Ansatz.RemoveMean; first += n {
			row := make([]float64, size)
			for q := range n {
				row[f*g.Size()+first+q] = 1
			}
			if w := st.sys.MeanWeights(f); w != nil {
				copy(row[f*g.Size()+first:], w)
			}
			rows = append(rows, row)
		}
	}
	st.balance(u)
	for _, row := range rows {
		st.inUnits(row)
	}
	rows = slices.DeleteFunc(rows, func(row []float64) bool { return !normalise(row) })
	x.Rows = len(rows)
	shifts := shiftable(rows, st)
	var share []float64
	x.Rank, share = rankOf(rows, size)
	if free := x.Unknowns - x.Rank; free > 0 {
		x.Faults = append(x.Faults, fmt.Sprintf("%d of %d values stay free%s%s", free, x.Unknowns, place(g, share), shifts+moved(st.sys.Problem)))
	}
}

// shiftable names an unknown to which any number may be added, as to a potential between axes that are all periodic, and says what to do.
func shiftable(rows [][]float64, st *state) string {
	n := st.slices * st.points
	for f, u := range st.sys.Problem.Unknowns {
		there := false
		if !slices.ContainsFunc(rows, func(row []float64) bool {
			sum, size := 0.0, 0.0
			for _, v := range row[f*n:][:n] {
				sum += v
				size += math.Abs(v)
			}
			there = there || size > 0
			return math.Abs(sum) > 1e-9*size
		}) && there {
			return fmt.Sprintf("; any number may be added to %[1]s, which no row contains but by its derivatives: 1e-6*%[1]s more in its equation chooses one, if sources and walls balance; else there is none", u.Name)
		}
	}
	return ""
}

// moved says which conditions hold an unknown that they do not contain, which is too few where sides meet.
func moved(p *pde.Problem) string {
	for _, c := range p.Conditions {
		if of := p.Holds(c); of >= 0 && !p.Concerns(c, of) {
			return fmt.Sprintf("; %s stands for a condition on %s, which where sides meet asks for ghost values (\"Stream function\" in docs/reference/pde-files.md)", c.Name, p.Unknowns[of].Name)
		}
	}
	return ""
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

// contradictions finds conditions that no field meets together, or none of the ansatz: rows of
// which least squares, over all grid values, leave most in doubt. That an initial condition and
// those of walls disagree at t = 0 is no fault: rows of walls there are left out, which see as many
// points as their differences have. u is the field of the last evaluation, u0 the sample.
func (x *Examination) contradictions(st *state, u, u0 []float64) {
	const tolerance = 0.01 // of the size of rows
	size := len(u)
	st.balance(u)
	var rows [][]float64 // with minus the residual
	var sets []string    // that they belong to
	add := func(name string, row []float64, residual float64) {
		st.inUnits(row)
		if norm := math.Sqrt(kernel.SumSquares64(row)); normalise(row) {
			rows, sets = append(rows, append(row, -residual/norm)), append(sets, name)
		}
	}
	conditions, first := st.sys.Problem.Conditions, st.sys.Grid.Axes[0].Name
	starts := slices.ContainsFunc(conditions, func(r pde.Rows) bool { return r.Kind == pde.InitialRows })
	for k, set := range st.sys.Sets {
		if set.Kind == pde.ResidualRows || !set.Linear {
			continue // where a condition is not linear several values may meet it
		}
		wall := starts && slices.ContainsFunc(conditions, func(r pde.Rows) bool { return r.Name == set.Name && r.Kind == pde.BoundaryRows && r.At[first] == "" })
		for i, p := range set.Points {
			if wall && int(p) < st.sys.SliceSize() {
				continue
			}
			add(set.Name, st.denseRow(k, i), st.out[k][0][i])
		}
	}
	const ansatz = "the ansatz"
	if fixed := fixes(st.sys); fixed != nil {
		offset := make([]float64, size)
		st.sys.Offset(offset, u0)
		for f, unknown := range st.sys.Problem.Unknowns {
			free := false
			for q := f * st.sys.Grid.Size(); q < (f+1)*st.sys.Grid.Size(); q++ {
				if !fixed[q] {
					free = true
					continue
				}
				add(ansatz, unit(size, q), u[q]-offset[q])
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
	scale := math.Hypot(math.Sqrt(kernel.SumSquares64(misfit)), st.norm(u)) / math.Sqrt(float64(len(misfit)+size))
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
	what := "contradict each other"
	if len(names) == 1 {
		what = "disagrees with other conditions"
	}
	x.Faults = append(x.Faults, fmt.Sprintf("%s %s: what comes nearest to all of them is off by up to %.2g %%", strings.Join(names, " and "), what, 100*most))
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

// vanishes reports whether a value is zero but for rounding.
func vanishes(v, largest float64) bool { return math.Abs(v) <= 1e-12*largest }

// fixes reports, for every value, whether the ansatz gives it there, whatever the basis; nil: it gives none.
func fixes(sys *pde.System) []bool {
	multiplier := sys.Vanishing()
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

// denseRow is one row of the linearisation at the last evaluation, over all grid values (C, P).
func (st *state) denseRow(set, i int) []float64 {
	row, place := make([]float64, st.values()), make([]int, st.values()) // of every column
	for p := range st.order {
		for f := range st.fields {
			place[st.column(f, int32(p))] = f*st.points + p
		}
	}
	st.jacobian(set, i, func(q int, v float64) { row[place[q]] += v })
	return row
}

// unit is row q of the identity of size n.
func unit(n, q int) []float64 {
	row := make([]float64, n)
	row[q] = 1
	return row
}
