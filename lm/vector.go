package lm

import "math"

// dot returns Σ x_i y_i over len(x), in four interleaved partial sums.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a, b := x[i:i+4:i+4], y[i:i+4:i+4]
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// dot4 returns the dot products of x with the first len(x) entries of four
// rows.
func dot4(x, y0, y1, y2, y3 []float64) (s0, s1, s2, s3 float64) {
	n := len(x)
	y0, y1, y2, y3 = y0[:n], y1[:n], y2[:n], y3[:n]
	for i, v := range x {
		s0 += v * y0[i]
		s1 += v * y1[i]
		s2 += v * y2[i]
		s3 += v * y3[i]
	}
	return s0, s1, s2, s3
}

// axpy adds alpha·x to dst over len(dst).
func axpy(dst []float64, alpha float64, x []float64) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] += alpha * x[i]
	}
}

func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }

func negate(dst, x []float64) {
	for i, v := range x {
		dst[i] = -v
	}
}

func finite(x float64) bool { return x*0 == 0 }

func allFinite(x []float64) bool {
	check := 0.0
	for _, v := range x {
		check += v * 0
	}
	return check == 0
}
