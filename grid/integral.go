package grid

import "math"

// Integral returns the matrix (n, n), row-major, of integrals from the first point of a nodes axis to each: those of the polynomials
// through the six points, or all of fewer, that are nearest to each step.
func (a Axis) Integral() []float64 {
	const nearest = 6
	n := a.Points
	nodes := min(nearest, n)
	out := make([]float64, n*n)
	for i := 1; i < n; i++ {
		row := out[i*n : (i+1)*n]
		copy(row, out[(i-1)*n:])
		first := min(max(i-nodes/2, 0), n-nodes)
		for k, weight := range []float64{5, 8, 5} { // Gauss, exact for degree 5
			at := float64(i) - 0.5 + float64(k-1)*math.Sqrt(0.15)
			for j := first; j < first+nodes; j++ {
				value := a.Step() * weight / 18
				for m := first; m < first+nodes; m++ {
					if m != j {
						value *= (at - float64(m)) / float64(j-m)
					}
				}
				row[j] += value
			}
		}
	}
	return out
}
