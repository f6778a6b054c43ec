package grid

import (
	"math"
	"slices"
)

// Norm is the Euclidean norm, safe against overflow.
func Norm(x []float64) float64 {
	largest := 0.0
	for _, v := range x {
		if a := math.Abs(v); a > largest || math.IsNaN(a) {
			largest = a
		}
	}
	if largest == 0 || math.IsInf(largest, 0) || math.IsNaN(largest) {
		return largest
	}
	sum := 0.0
	for _, v := range x {
		v /= largest
		sum += v * v
	}
	return largest * math.Sqrt(sum)
}

// Distance is the norm of a - b. It panics unless the lengths agree.
func Distance(a, b []float64) float64 {
	if len(a) != len(b) {
		panic("grid: fields differ in length")
	}
	sum := 0.0
	for i, v := range a {
		d := v - b[i]
		sum += d * d
	}
	if sum > 0x1p-900 && sum < math.MaxFloat64 || sum == 0 && slices.Equal(a, b) {
		return math.Sqrt(sum)
	}
	d := make([]float64, len(a)) // squares too large or too small, or not finite
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return Norm(d)
}

// RelativeL2 returns ‖u - truth‖ / ‖truth‖ or, of several fields, one after another in u and
// truth, the root mean square of that, so that small ones count as much as large ones. A field
// counts as 0 if it and the truth are zero, as +Inf if only the truth is. It panics unless the
// lengths agree.
func RelativeL2(u, truth []float64, fields int) float64 {
	size, norm := len(truth)/fields, 0.0
	for lo := 0; lo < len(truth); lo += size {
		norm = math.Hypot(norm, relativeL2(u[lo:lo+size], truth[lo:lo+size]))
	}
	return norm / math.Sqrt(float64(fields))
}

func relativeL2(u, truth []float64) float64 {
	d, t := Distance(u, truth), Norm(truth)
	if d == 0 && t == 0 {
		return 0
	}
	return d / t
}
