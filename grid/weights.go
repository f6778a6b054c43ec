package grid

import "math"

// Fornberg returns the weights w of the finite-difference formula
//
//	u^(derivative)(x0) ≈ Σ_k w[k] u(xs[k])
//
// that is exact for polynomials of degree len(xs)-1. The nodes must be distinct,
// in any order and with any spacing.
//
// Source: B. Fornberg, Generation of finite difference formulas on arbitrarily
// spaced grids, Mathematics of Computation 51 (1988) 699-706.
func Fornberg(derivative int, x0 float64, xs []float64) []float64 {
	n := len(xs)
	if derivative < 0 || n <= derivative {
		panic("grid: Fornberg: a derivative needs more nodes than its order")
	}
	// c[m][j] is the weight of node j in the m-th derivative over nodes 0..i.
	c := make([][]float64, derivative+1)
	for m := range c {
		c[m] = make([]float64, n)
	}
	c[0][0] = 1
	c1, c4 := 1.0, xs[0]-x0
	for i := 1; i < n; i++ {
		c2, c5 := 1.0, c4
		c4 = xs[i] - x0
		for j := range i {
			c3 := xs[i] - xs[j]
			if c3 == 0 {
				panic("grid: Fornberg: two nodes coincide")
			}
			c2 *= c3
			if j == i-1 {
				for m := min(i, derivative); m > 0; m-- {
					c[m][i] = c1 * (float64(m)*c[m-1][i-1] - c5*c[m][i-1]) / c2
				}
				c[0][i] = -c1 * c5 * c[0][i-1] / c2
			}
			for m := min(i, derivative); m > 0; m-- {
				c[m][j] = (c4*c[m][j] - float64(m)*c[m-1][j]) / c3
			}
			c[0][j] = c4 * c[0][j] / c3
		}
		c1 = c2
	}
	return c[derivative]
}

// unitWeights returns Fornberg weights on the integer nodes first, first+1, ...
// (count of them) for a point at x0, all in units of the step. Weights that
// vanish up to rounding are exactly zero, and where nodes lie symmetrically about
// x0 the weights are exactly (anti)symmetric.
func unitWeights(derivative int, x0 float64, first, count int) []float64 {
	xs := make([]float64, count)
	for k := range xs {
		xs[k] = float64(first + k)
	}
	w := Fornberg(derivative, x0, xs)
	if float64(2*first+count-1) == 2*x0 {
		sign := float64(1 - 2*(derivative%2))
		for k := range (count + 1) / 2 {
			l := count - 1 - k
			mean := (w[k] + sign*w[l]) / 2
			w[k], w[l] = mean, sign*mean
			if k == l && sign < 0 {
				w[k] = 0
			}
		}
	}
	largest := 0.0
	for _, v := range w {
		largest = max(largest, math.Abs(v))
	}
	for k, v := range w {
		if math.Abs(v) < 1e-13*largest {
			w[k] = 0
		}
	}
	return w
}
