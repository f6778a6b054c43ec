package grid

import "math"

// Resample interpolates a field, or several one after another, on the points of other axes: along
// periodic axes by the trigonometric interpolant, along others by the cubic through the four nearest
// points. Along axes that are equal values stay as they are.
func Resample(u []float64, from, to []Axis) []float64 {
	inner := 1 // values of the axes done, in the order of the field
	for i := len(from) - 1; i >= 0; i-- {
		if from[i] != to[i] {
			u = from[i].Interpolation(to[i], 4).Along(u, inner)
		}
		inner *= to[i].Points
	}
	return u
}

// An Interpolation is a matrix from the points of an axis to those of another: row j has weights of the points from First[j] on.
type Interpolation struct {
	Points  int // of the axis that it is from
	First   []int
	Weights []float64 // (rows, weights of a row)
}

// Row is the first point that has a weight in a row, and the weights from there.
func (m *Interpolation) Row(j int) (first int, weights []float64) {
	width := len(m.Weights) / len(m.First)
	return m.First[j], m.Weights[j*width : (j+1)*width]
}

// Along multiplies the middle axis of u (outer, m.Points, inner).
func (m *Interpolation) Along(u []float64, inner int) []float64 {
	rows, outer := len(m.First), len(u)/(m.Points*inner)
	out := make([]float64, outer*rows*inner)
	for o := range outer {
		for j := range rows {
			dst := out[(o*rows+j)*inner:][:inner]
			first, weights := m.Row(j)
			for k, w := range weights {
				if w == 0 {
					continue
				}
				for q, v := range u[(o*m.Points+first+k)*inner:][:inner] {
					dst[q] += w * v
				}
			}
		}
	}
	return out
}

// Interpolation interpolates along the axis: by the trigonometric interpolant of a periodic one, whose rows have weights of all points,
// along others by the polynomial through so many nearest points, which is continued past the outermost of them.
func (a Axis) Interpolation(to Axis, points int) *Interpolation {
	n := a.Points
	if points = min(points, n); a.Boundary == Periodic {
		points = n
	}
	m := &Interpolation{Points: n, First: make([]int, to.Points), Weights: make([]float64, to.Points*points)}
	for j := range to.Points {
		row, x := m.Weights[j*points:(j+1)*points], (to.Coordinate(j)-a.Coordinate(0))/a.Step()
		if a.Boundary == Periodic {
			for k := range row {
				row[k] = periodicCardinal(x-float64(k), n)
			}
			continue
		}
		first := min(max(int(math.Floor(x))-(points-1)/2, 0), n-points)
		m.First[j] = first
		for k := range points {
			row[k] = 1
			for l := range points {
				if l != k {
					row[k] *= (x - float64(first+l)) / float64(k-l)
				}
			}
		}
	}
	return m
}

// NearestPoints takes the value of the nearest point.
func (a Axis) NearestPoints(to Axis) *Interpolation {
	m := &Interpolation{Points: a.Points, First: make([]int, to.Points), Weights: make([]float64, to.Points)}
	for j := range to.Points {
		m.First[j], m.Weights[j] = a.Nearest(to.Coordinate(j)), 1
	}
	return m
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
