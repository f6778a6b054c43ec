package sim

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pihc/grid"
)

// series draws truncated Fourier series with random coefficients on one or two axes
// of space,
//
//	Σ_k c_k Π_a φ_{k_a}(ξ_a),  c_k normal with standard deviation ∝ |k|^-decay,
//
// ξ_a the position along axis a as a fraction of its range. The sum of the
// variances of the c_k is 1, and with it the mean over the box of the variance of
// the field; its mean is 0. The functions have root mean square 1:
//
//	periodic   1, √2 cos 2πkξ, √2 sin 2πkξ
//	free       1, √2 cos πkξ, √2 sin πkξ: a stationary field cut out of one of
//	           twice the period, with nothing special at the ends
//	cosine     1, √2 cos πkξ: slope zero at both ends
//	sine       √2 sin πkξ: zero at both ends
//
// with k from 1 to the number of modes; the constant alone is left out. Draws are
// functions: on another grid the same random numbers give the same one. A Series
// may be used by several goroutines at once.
type series struct {
	tables    [][]float64 // per axis: functions one after the other, a value a point
	shape     []int       // points per axis
	functions []int       // per axis
	waves     [][]int     // per axis and function: k
	deviation []float64   // of each coefficient, last axis fastest
}

// NewSeries returns the series of the kind ("periodic", "free", "cosine" or "sine")
// on the axes of space; along periodic axes every kind is periodic. Parameters left
// out have the default in brackets: modes [8], decay [1].
func NewSeries(kind string, axes []grid.Axis, parameters map[string]float64) (*series, error) {
	p := map[string]float64{"modes": 8, "decay": 1}
	if err := checkNames("random series", "parameter", []string{"decay", "modes"}, parameters); err != nil {
		return nil, err
	}
	for name, v := range parameters {
		p[name] = v
	}
	modes, decay := int(p["modes"]), p["decay"]
	switch {
	case float64(modes) != p["modes"] || modes < 1 || modes > 256:
		return nil, fmt.Errorf("random series: modes %g; want a whole number from 1 to 256", p["modes"])
	case math.IsNaN(decay) || math.Abs(decay) > 100:
		return nil, fmt.Errorf("random series: decay %g; want a number from -100 to 100", decay)
	case !slices.Contains([]string{"periodic", "free", "cosine", "sine"}, kind):
		return nil, fmt.Errorf("no random series %q; there is cosine, free, periodic, sine", kind)
	case len(axes) < 1 || len(axes) > 2:
		return nil, fmt.Errorf("random series on %d axes; want 1 or 2", len(axes))
	}
	s := &series{}
	for _, axis := range axes {
		table, k := seriesTable(kind, axis, modes)
		s.tables, s.waves = append(s.tables, table), append(s.waves, k)
		s.shape, s.functions = append(s.shape, axis.Points), append(s.functions, len(k))
	}
	count := 1
	for _, n := range s.functions {
		count *= n
	}
	total := 0.0
	s.deviation = make([]float64, count)
	for i := range s.deviation {
		if square := s.square(i); square > 0 {
			s.deviation[i] = math.Pow(float64(square), -decay/2)
			total += s.deviation[i] * s.deviation[i]
		}
	}
	for i := range s.deviation {
		s.deviation[i] /= math.Sqrt(total)
	}
	return s, nil
}

// seriesTable returns the functions of one axis at its points, and their k.
func seriesTable(kind string, axis grid.Axis, modes int) (table []float64, waves []int) {
	rate := math.Pi
	if axis.Boundary == grid.Periodic {
		kind = "periodic"
	}
	if kind == "periodic" {
		rate = 2 * math.Pi
	}
	add := func(k int, f func(x float64) float64) {
		for i := range axis.Points {
			table = append(table, f(rate*float64(k)*(axis.Coordinate(i)-axis.Lo)/(axis.Hi-axis.Lo)))
		}
		waves = append(waves, k)
	}
	if kind != "sine" {
		add(0, func(float64) float64 { return 1 })
	}
	for k := 1; k <= modes; k++ {
		if kind != "sine" {
			add(k, func(x float64) float64 { return math.Sqrt2 * math.Cos(x) })
		}
		if kind != "cosine" {
			add(k, func(x float64) float64 { return math.Sqrt2 * math.Sin(x) })
		}
	}
	return table, waves
}

// Sample draws one field into dst. It uses as many normal variates as there are
// coefficients.
func (s *series) Sample(rng *rand.Rand, dst []float64) {
	c := make([]float64, len(s.deviation))
	for i, d := range s.deviation {
		c[i] = d * rng.NormFloat64()
	}
	last := len(s.shape) - 1
	width, functions := s.shape[last], s.functions[last]
	// Sum over the last axis first: rows of fields along it, one per function of the other.
	rows := make([]float64, len(c)/functions*width)
	for r := range len(c) / functions {
		for f := range functions {
			axpy(rows[r*width:(r+1)*width], c[r*functions+f], s.tables[last][f*width:(f+1)*width])
		}
	}
	if last == 0 {
		copy(dst, rows)
		return
	}
	clear(dst)
	n := s.shape[0]
	for i := range n {
		for f := range s.functions[0] {
			axpy(dst[i*width:(i+1)*width], s.tables[0][f*n+i], rows[f*width:(f+1)*width])
		}
	}
}

// Functions returns the first functions of the series, those of the longest waves first, at the points of its axes, and the standard
// deviations of their coefficients. There are fewer where the series has.
func (s *series) Functions(count int) (fields [][]float64, deviation []float64) {
	var order []int
	for i, d := range s.deviation {
		if d > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.square(a), s.square(b)) })
	last := len(s.shape) - 1
	width := s.shape[last]
	for _, i := range order[:min(count, len(order))] {
		own := s.tables[last][i%s.functions[last]*width:][:width]
		field := slices.Clone(own)
		if last > 0 {
			field = field[:0]
			for _, v := range s.tables[0][i/s.functions[last]*s.shape[0]:][:s.shape[0]] {
				for _, w := range own {
					field = append(field, v*w)
				}
			}
		}
		fields, deviation = append(fields, field), append(deviation, s.deviation[i])
	}
	return fields, deviation
}

// square is |k|² of a coefficient.
func (s *series) square(i int) (sum int) {
	for a := len(s.shape) - 1; a >= 0; a-- {
		k := s.waves[a][i%s.functions[a]]
		sum, i = sum+k*k, i/s.functions[a]
	}
	return sum
}

func axpy(dst []float64, a float64, x []float64) {
	for i, v := range x {
		dst[i] += a * v
	}
}
