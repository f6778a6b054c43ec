package fft

import "pihc/internal/kernel"

// chirp is Bluestein's transform of any length n: with w[j] = exp(-πi j²/n),
//
//	X[k] = w[k] Σ_j (x[j] w[j]) conj(w[k-j]),
//
// a convolution, done by transforms of a convenient length m >= 2n-1.
//
// Source: L. I. Bluestein, A linear filtering approach to the computation of the
// discrete Fourier transform, IEEE Trans. Audio Electroacoustics 18 (1970) 451-455.
type chirp struct {
	n, m   int
	inner  *plan
	w      []float64 // n complex factors
	filter []float64 // m complex factors: transform of conj(w), over m
}

func newChirp(n int) *chirp {
	c := &chirp{n: n, m: convenient(2*n - 1)}
	c.inner = newPlan(c.m)
	c.w = make([]float64, 2*n)
	re, im := make([]float64, c.m*kernel.LaneCount), make([]float64, c.m*kernel.LaneCount)
	set := func(j int, x, y float64) { re[j*kernel.LaneCount], im[j*kernel.LaneCount] = x, y }
	for j := range n {
		cos, sin := unit(j*j%(2*n), 2*n)
		c.w[2*j], c.w[2*j+1] = cos, -sin
		set(j, cos, sin)
		if j > 0 {
			set(c.m-j, cos, sin)
		}
	}
	l := kernel.Lanes{Re: re, Im: im, Stride: kernel.LaneCount}
	c.inner.run(l, l, make([]float64, c.inner.scratch()))
	c.filter = make([]float64, 2*c.m)
	for j := range c.m {
		c.filter[2*j] = re[j*kernel.LaneCount] / float64(c.m)
		c.filter[2*j+1] = im[j*kernel.LaneCount] / float64(c.m)
	}
	return c
}

// convenient returns the cheapest length 2^a 3^b 5^c 7^d from least to half as
// much again, counting butterflies roughly.
func convenient(least int) int {
	best, cost := 0, 0.0
	for m := least; m <= least+least/2+1; m++ {
		radices := factors(m)
		if radices == nil {
			continue
		}
		total := 0.0
		for _, r := range radices {
			total += map[int]float64{2: 0.8, 3: 1.1, 4: 1, 5: 1.6, 7: 2.2}[r] * float64(m)
		}
		if best == 0 || total < cost {
			best, cost = m, total
		}
	}
	return best
}

func (c *chirp) run(dst, src kernel.Lanes, scratch []float64) {
	work, rest := scratch[:c.m*point], scratch[c.m*point:]
	l := lanes(work)
	kernel.FFTTwist(l, src, c.w, c.n)
	clear(work[c.n*point:])
	c.inner.run(l, l, rest)
	kernel.FFTTwist(l, l, c.filter, c.m)
	c.inner.run(swapped(l), swapped(l), rest)
	kernel.FFTTwist(dst, l, c.w, c.n)
}
