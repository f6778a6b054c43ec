package inverse

import (
	"context"
	"math"
	"slices"
)

// leastOwn is the part of a number's derivatives, of their norm, that is not among those of others, below which it is not told apart.
const leastOwn = 0.2

// Once fits on the model's own grid alone, and without intervals. It returns the coordinates and how often all observations were predicted with their
// derivatives.
func (m *Model) Once(ctx context.Context) (theta []float64, evaluations int, err error) {
	out := &Fit{}
	f, err := m.fitter(ctx, level{}, out)
	theta = m.coordinates()
	if err == nil {
		_, _, err = f.minimise(theta)
	}
	return theta, out.Evaluations, err
}

// Distinct returns up to so many parameters that the observations tell apart best, where they start: one after another that of which the
// largest part of its derivatives is not among those of the ones before (Gram and Schmidt, with pivots).
func (m *Model) Distinct(ctx context.Context, most int) (list []int, err error) {
	f, err := m.fitter(ctx, level{}, &Fit{})
	if err != nil {
		return nil, err
	}
	theta := m.coordinates()
	if f.move(theta); f.err != nil {
		return nil, f.err
	}
	n, rows := len(theta), len(m.Observations)
	columns, whole := make([][]float64, n), make([]float64, n)
	for j := range columns {
		for i := range rows {
			columns[j] = append(columns[j], f.jacobian[i*n+j])
		}
		whole[j] = norm2(columns[j])
	}
	for len(list) < most {
		best, own := -1, leastOwn
		for j := range columns {
			size := norm2(columns[j])
			if len(list) == 0 && size > 0 { // all are their own: the one seen most
				size = whole[j] * whole[j] / slices.Max(whole)
			}
			if part := math.Sqrt(size / whole[j]); part > own {
				best, own = j, part
			}
		}
		if best < 0 {
			break
		}
		list = append(list, best)
		unit := scaled(columns[best], 1/math.Sqrt(norm2(columns[best])))
		for j := range columns {
			dot := 0.0
			for i, v := range unit {
				dot += v * columns[j][i]
			}
			for i, v := range unit {
				columns[j][i] -= dot * v
			}
		}
	}
	return list, nil
}
