package discrete

import (
	"math"
	"slices"

	"pihc/internal/kernel"
)

// gmres sets step to the solution of J step = r at the last evaluation (Y. Saad,
// Iterative Methods for Sparse Linear Systems, algorithm 6.9; preconditioned from the right where there is
// an inverse that is near, algorithm 9.5). Rows belong to the values of one field at their points; they count in their units.
func (st *state) gmres() bool {
	const restart, cycles = 60, 8
	n := len(st.step)
	clear(st.step)
	r, units := make([]float64, n), st.rowUnitsAt()
	st.scatterRows(r, st.res)
	divideBy(r, units)
	first := math.Sqrt(kernel.SumSquares64(r))
	target := st.effort.left * first
	if target == 0 {
		return true
	}
	basis := make([][]float64, 0, restart+1)
	product, rows := make([]float64, n), make([]float64, st.count)
	preconditioned := make([]float64, n)
	precondition := func(v []float64) {
		if st.near == nil {
			st.inUnits(v)
			return
		}
		st.work += st.costs.precondition
		multiplyBy(v, units)
		st.near.apply(v, v)
	}
	apply := func(v []float64) {
		copy(preconditioned, v)
		precondition(preconditioned)
		st.times(rows, preconditioned)
		st.scatterRows(product, rows)
		divideBy(product, units)
	}
	defer precondition(st.step)
	for range cycles {
		beta := math.Sqrt(kernel.SumSquares64(r))
		if beta <= target {
			return true
		}
		if math.IsNaN(beta) {
			return false
		}
		basis = append(basis[:0], scaled(r, 1/beta))
		var h [restart][restart + 1]float64 // by column
		var cos, sin [restart]float64
		g := [restart + 1]float64{beta}
		count := 0
		for k := range restart {
			apply(basis[k])
			st.work += float64(len(basis)) * st.costs.project
			for i, v := range basis {
				h[k][i] = kernel.Dot(v, product)
				kernel.Axpy64(product, -h[k][i], v)
			}
			h[k][k+1] = math.Sqrt(kernel.SumSquares64(product))
			for i := range k {
				h[k][i], h[k][i+1] = cos[i]*h[k][i]+sin[i]*h[k][i+1], cos[i]*h[k][i+1]-sin[i]*h[k][i]
			}
			length := math.Hypot(h[k][k], h[k][k+1])
			if length == 0 {
				return false
			}
			cos[k], sin[k] = h[k][k]/length, h[k][k+1]/length
			below := h[k][k+1]
			h[k][k], h[k][k+1] = length, 0
			g[k], g[k+1] = cos[k]*g[k], -sin[k]*g[k]
			count = k + 1
			if math.Abs(g[k+1]) <= target || below == 0 {
				break
			}
			basis = append(basis, scaled(product, 1/below))
		}
		var y [restart]float64
		for i := count - 1; i >= 0; i-- {
			sum := g[i]
			for k := i + 1; k < count; k++ {
				sum -= h[k][i] * y[k]
			}
			y[i] = sum / h[i][i]
		}
		for i := range count {
			kernel.Axpy64(st.step, y[i], basis[i])
		}
		if math.Abs(g[count]) <= target {
			return true
		}
		apply(st.step)
		st.scatterRows(r, st.res)
		divideBy(r, units)
		kernel.Axpy64(r, -1, product)
	}
	return math.Sqrt(kernel.SumSquares64(r)) <= 0.1*first
}

func scaled(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = by * v
	}
	return out
}

// scatterRows puts the values of all rows at their points of the fields they belong to: a
// square system has one row for each.
func (st *state) scatterRows(dst, rows []float64) {
	clear(dst)
	at := 0
	for k, set := range st.sys.Sets {
		own := dst[st.owner[k]*st.slices*st.points:]
		for _, p := range set.Points {
			own[p] += rows[at]
			at++
		}
	}
}

// times sets rows (count) to J v at the last evaluation.
func (st *state) times(rows, v []float64) {
	st.differentiate(v, true)
	st.linear(rows)
}

// linear sets rows (count) to the derivative of the rows, at the last evaluation, along the fields that differentiate has set.
func (st *state) linear(rows []float64) {
	st.gather()
	row := 0
	for k, set := range st.rows {
		own := rows[row:][:len(set.Points)]
		clear(own)
		for j, z := range set.Terms.Values {
			for i, slope := range st.out[k][1+j] {
				own[i] += slope * z[i]
			}
		}
		row += len(own)
	}
}

// sortedBy returns the indices of keys in ascending order of them, stable.
func sortedBy(keys []int) []int {
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return keys[a] - keys[b] })
	return order
}
