package grid

import "math"

// Resample interpolates a field, or several one after another, on the points of other axes: along
// periodic axes by the trigonometric interpolant, along others by the cubic through the four nearest
// points. Along axes that are equal values stay as they are.
func Resample(u []float64, from, to []Axis) []float64 {
	inner := 1 // values of the axes done, in the order of the field
	for i := len(from) - 1; i >= 0; i-- {
		if from[i] != to[i] {
			u = AlongAxis(u, from[i].Interpolation(to[i], 4), from[i].Points, inner)
		}
		inner *= to[i].Points
	}
	return u
}

// AlongAxis multiplies the middle axis of u (outer, n, inner) by a matrix (m, n).
func AlongAxis(u, matrix []float64, n, inner int) []float64 {
	m := len(matrix) / n
	out := make([]float64, len(u)/n*m)
	for o := range len(u) / (n * inner) {
		for j := range m {
			dst := out[(o*m+j)*inner:][:inner]
			for k, w := range matrix[j*n : (j+1)*n] {
				if w == 0 {
					continue
				}
				for q, v := range u[(o*n+k)*inner:][:inner] {
					dst[q] += w * v
				}
			}
		}
	}
	return out
}

// Interpolation is the matrix (to.Points, a.Points) that interpolates along the axis: by the
// trigonometric interpolant of a periodic one, along others by the polynomial through so many
// nearest points, which is continued past the outermost of them.
func (a Axis) Interpolation(to Axis, points int) []float64 {
	n := a.Points
	points = min(points, n)
	matrix := make([]float64, to.Points*n)
	for j := range to.Points {
		row, x := matrix[j*n:(j+1)*n], (to.Coordinate(j)-a.Coordinate(0))/a.Step()
		if a.Boundary == Periodic {
			for k := range row {
				row[k] = periodicCardinal(x-float64(k), n)
			}
			continue
		}
		first := min(max(int(math.Floor(x))-(points-1)/2, 0), n-points)
		for k := range points {
			w := 1.0
			for l := range points {
				if l != k {
					w *= (x - float64(first+l)) / float64(k-l)
				}
			}
			row[first+k] = w
		}
	}
	return matrix
}

// periodicCardinal is the trigonometric polynomial of n points, one apart, that is 1 at 0
// and 0 at the others; of an even number it has the cosine of the highest wavenumber alone.
func periodicCardinal(x float64, n int) float64 {
	x = math.Mod(x, float64(n))
	half := math.Pi * x / float64(n)
	if math.Abs(math.Sin(half)) < 1e-12 {
		return 1
	}
	w := math.Sin(math.Pi*x) / (float64(n) * math.Sin(half))
	if n%2 == 0 {
		w *= math.Cos(half)
	}
	return w
}
