package discrete

import (
	"math"
	"slices"

	"pihc/internal/kernel"
	"pihc/pde"
)

// unitsOf returns a size for every row and every column of a matrix of positive numbers, zeros for what is not there: elements over both
// are as near to 1 as they can be, by least squares of their logarithms (A. R. Curtis and J. K. Reid, On the automatic scaling of matrices for
// Gaussian elimination, J. Inst. Maths Applics 10, 1972). They are the same then whatever the units of rows and columns.
func unitsOf(matrix [][]float64) (rows, columns []float64) {
	const sweeps, least = 200, 1e-250
	rows, columns = make([]float64, len(matrix)), make([]float64, len(matrix[0])) // logarithms
	mean := func(count int, at func(i int) (v, other float64)) float64 {
		sum, n := 0.0, 0
		for i := range count {
			if v, other := at(i); v > least {
				sum += math.Log(v) - other
				n++
			}
		}
		return sum / float64(max(1, n))
	}
	for range sweeps {
		for i := range rows {
			rows[i] = mean(len(columns), func(j int) (float64, float64) { return matrix[i][j], columns[j] })
		}
		for j := range columns {
			columns[j] = mean(len(rows), func(i int) (float64, float64) { return matrix[i][j], rows[i] })
		}
	}
	for _, all := range [][]float64{rows, columns} {
		for i, v := range all {
			all[i] = math.Exp(v)
		}
	}
	return rows, columns
}

// balance sets the units of the rows and the unknowns, where there are several of these, from the derivatives of the rows at u, the values of the
// last evaluation. Unknowns that no row has together, there, get them by what is larger: their values, or what changes these by what their rows leave.
func (st *state) balance(u []float64) {
	if st.fields == 1 || st.units != nil || slices.ContainsFunc(st.sys.Sets, func(set *pde.RowSet) bool {
		return slices.ContainsFunc(set.Terms, func(t int) bool { return st.stencils[t].start == nil }) // of spectral terms elements may be too many
	}) {
		return
	}
	blocks := make([][]float64, len(st.rows))
	for k, set := range st.sys.Sets {
		blocks[k] = make([]float64, st.fields)
		for j, t := range set.Terms {
			m, of := st.rates[t], st.sys.Terms[t].Of
			for i, p := range set.Points {
				g, slice := st.out[k][1+j][i], int(p)/st.points
				if m > 0 {
					g *= math.Sqrt(kernel.SumSquares64(st.rate[m][slice*st.slices:][:st.slices]))
				}
				st.eachEntry(t, p%int32(st.points), func(_ int32, coef float64) { blocks[k][of] += g * coef * g * coef })
			}
		}
		for of, v := range blocks[k] {
			blocks[k][of] = math.Sqrt(v / float64(len(set.Points)))
		}
	}
	var columns []float64
	st.rowUnits, columns = unitsOf(blocks)
	for _, size := range columns {
		st.units = append(st.units, 1/size) // what changes much changes by small numbers
	}
	n := st.slices * st.points
	for _, together := range components(blocks) {
		size, row := 0.0, 0
		for f, unit := range st.units {
			if together.columns[f] {
				size = max(size, rms(u[f*n:][:n])/unit)
			}
		}
		for k, set := range st.sys.Sets {
			if count := len(set.Points); together.rows[k] {
				size = max(size, rms(st.res[row:][:count])/st.rowUnits[k])
			}
			row += len(set.Points)
		}
		if !(size > 0) || math.IsInf(size, 0) {
			continue
		}
		for f := range st.units {
			if together.columns[f] {
				st.units[f] *= size
			}
		}
		for k := range st.rowUnits {
			if together.rows[k] {
				st.rowUnits[k] *= size
			}
		}
	}
}

// component is rows and columns of a matrix that elements tie to each other.
type component struct{ rows, columns []bool }

// components divides a matrix into those that have no element in common.
func components(matrix [][]float64) (all []component) {
	taken := make([]bool, len(matrix[0]))
	for j := range taken {
		if taken[j] {
			continue
		}
		c := component{make([]bool, len(matrix)), make([]bool, len(taken))}
		for next := []int{j}; len(next) > 0; next = next[1:] {
			c.columns[next[0]], taken[next[0]] = true, true
			for i, row := range matrix {
				if row[next[0]] == 0 || c.rows[i] {
					continue
				}
				c.rows[i] = true
				for k, v := range row {
					if v != 0 && !taken[k] {
						next = append(next, k)
					}
				}
			}
		}
		all = append(all, c)
	}
	return all
}

// norm is the Euclidean norm of values (fields, slices, points), each in the unit of its unknown.
func (st *state) norm(values []float64) float64 {
	if st.units == nil {
		return math.Sqrt(kernel.SumSquares64(values))
	}
	sum, n := 0.0, st.slices*st.points
	for f, unit := range st.units {
		sum += kernel.SumSquares64(values[f*n:][:n]) / (unit * unit)
	}
	return math.Sqrt(sum)
}

// inUnits multiplies values (fields, slices, points), or derivatives by these, by the unit of their unknown.
func (st *state) inUnits(values []float64) {
	n := st.slices * st.points
	for f, unit := range st.units {
		kernel.MulScalar64(values[f*n:][:n], unit, values[f*n:][:n])
	}
}

// cost is the sum of squares of the rows last evaluated, each in its unit where they are as many as values.
func (st *state) cost() float64 {
	if st.units == nil || st.normal {
		return kernel.SumSquares64(st.res)
	}
	sum, row := 0.0, 0
	for k, unit := range st.rowUnits {
		n := len(st.sys.Sets[k].Points)
		sum += kernel.SumSquares64(st.res[row:][:n]) / (unit * unit)
		row += n
	}
	return sum
}

// rowUnitsAt are the units of the rows where scatterRows puts them, nil for 1.
func (st *state) rowUnitsAt() []float64 {
	if st.units == nil {
		return nil
	}
	at := slices.Repeat([]float64{1}, st.values())
	for k, set := range st.sys.Sets {
		own := at[st.owner[k]*st.slices*st.points:]
		for _, p := range set.Points {
			own[p] = st.rowUnits[k]
		}
	}
	return at
}

// multiplyBy and divideBy change x by units, nil for 1.
func multiplyBy(x, units []float64) {
	for i, v := range units {
		x[i] *= v
	}
}

func divideBy(x, units []float64) {
	for i, v := range units {
		x[i] /= v
	}
}
