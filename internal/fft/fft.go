// Package fft computes discrete Fourier transforms of many fields at once, in
// float64. The fields are the innermost index, so that one vector register holds
// one point of eight fields and every length is equally fast to vectorise.
//
// Conventions. The forward transform of length n is
//
//	X[k] = Σ_j x[j] exp(-2πi jk/n),
//
// the inverse has the other sign, and neither is normalised: inverse after
// forward multiplies by the number of points. Complex numbers live in two slices,
// real parts and imaginary parts. Lengths of the form 2^a 3^b 5^c 7^d use Stockham
// passes of radix 4, 2, 3, 5 and 7; any other length goes through Bluestein's
// chirp transform. Rounding errors grow like log n.
package fft

import (
	"math"

	"pihc/internal/kernel"
)

// plan is the complex transform of one length. It is immutable and may be shared.
type plan struct {
	n      int
	stages []stage
	chirp  *chirp // for lengths with a prime factor above 7
}

// stage is one Stockham pass; see kernel.FFTPass.
type stage struct {
	radix, m, s int
	twiddle     []float64
}

// newPlan prepares transforms of length n >= 1.
func newPlan(n int) *plan {
	if n < 1 {
		panic("fft: length must be positive")
	}
	radices := factors(n)
	if radices == nil && n > 1 {
		return &plan{n: n, chirp: newChirp(n)}
	}
	p := &plan{n: n}
	s := 1
	for _, r := range radices {
		m := n / (s * r)
		t := make([]float64, 0, 2*m*(r-1))
		for q := range m {
			for k := 1; k < r; k++ {
				c, d := unit(q*k, r*m)
				t = append(t, c, -d)
			}
		}
		p.stages = append(p.stages, stage{r, m, s, t})
		s *= r
	}
	return p
}

// factors splits n into radices 4, 2, 3, 5, 7, or returns nil if that is not
// possible or n is 1.
func factors(n int) []int {
	var radices []int
	for _, r := range []int{4, 2, 3, 5, 7} {
		for n%r == 0 {
			radices = append(radices, r)
			n /= r
		}
	}
	if n > 1 {
		return nil
	}
	return radices
}

// unit returns cos and sin of 2π j/n to full accuracy, by reducing the angle to
// an eighth of a turn first. j must not be negative.
func unit(j, n int) (cos, sin float64) {
	j %= n
	octant := 8 * j / n
	reduced := func(num int) (float64, float64) { // angle 2π num/(8n)
		s, c := math.Sincos(2 * math.Pi * (float64(num) / float64(8*n)))
		return c, s
	}
	// Octants alternate between angles measured up from one axis and down to
	// the next, so the argument never exceeds π/4.
	switch {
	case octant%2 == 0:
		cos, sin = reduced(8*j - octant*n)
	case 8*j == octant*n: // halfway between two axes
		cos, sin = math.Sqrt2/2, math.Sqrt2/2
	default:
		sin, cos = reduced((octant+1)*n - 8*j)
	}
	for range octant / 2 {
		cos, sin = -sin, cos
	}
	return cos, sin
}

// Frequency returns the signed frequency of index k in a transform of length n:
// k up to n/2, then k-n.
func Frequency(k, n int) int {
	if 2*k > n {
		return k - n
	}
	return k
}

// lanes views a buffer as n complex points of 8 lanes, 16 values each.
func lanes(buffer []float64) kernel.Lanes {
	return kernel.Lanes{Re: buffer, Im: buffer[kernel.LaneCount:], Stride: 2 * kernel.LaneCount}
}

// swapped exchanges real and imaginary parts: a forward transform between
// swapped views is an inverse transform.
func swapped(l kernel.Lanes) kernel.Lanes {
	return kernel.Lanes{Re: l.Im, Im: l.Re, Stride: l.Stride}
}

// point is the size in values of one point of a buffer.
const point = 2 * kernel.LaneCount

// scratch returns the number of values that run needs.
func (p *plan) scratch() int {
	if p.chirp != nil {
		return p.chirp.m*point + p.chirp.inner.scratch()
	}
	return min(2, max(0, len(p.stages)-1)) * p.n * point
}

// run transforms 8 lanes from src to dst, which are the same or do not overlap.
func (p *plan) run(dst, src kernel.Lanes, scratch []float64) {
	if p.chirp != nil {
		p.chirp.run(dst, src, scratch)
		return
	}
	if p.n == 1 {
		copy(dst.Re[:kernel.LaneCount], src.Re)
		copy(dst.Im[:kernel.LaneCount], src.Im)
		return
	}
	last := len(p.stages) - 1
	for i := range p.stages {
		st := &p.stages[i]
		out := dst
		if i < last {
			out = lanes(scratch[i%2*p.n*point:])
		}
		kernel.FFTPass(out, src, st.twiddle, st.radix, st.m, st.s)
		src = out
	}
}
