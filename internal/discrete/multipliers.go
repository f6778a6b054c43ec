package discrete

import (
	"math"
	"math/cmplx"

	"pihc/grid"
)

// multipliers are what a step of ETDRK4 multiplies y and the N of its stages by, from φ_0 to φ_3 of the step times L.
type multipliers struct {
	whole, half   multiplier // e^(hL) and e^(hL/2), of y
	second        multiplier
	third, fourth [2]multiplier
	sum           [3]multiplier // of N(y), of both stages in the middle, of the last stage
}

// multiplier is a matrix (state, state) for each mode: elements by row and column, each (modes), nil where they vanish for all modes; im is
// nil where they are real.
type multiplier struct {
	modes  int
	re, im [][]float64
}

// multipliers returns those of a step of the interval over 2^halving.
func (x *exponential) multipliers(halving int) *multipliers {
	for len(x.steps) <= halving {
		h := math.Ldexp(x.interval, -len(x.steps))
		whole, half := x.phis(h), x.phis(h/2)
		weigh := func(phis [4][]complex128, c0, c1, c2, c3 float64) multiplier {
			return x.weigh(phis, [4]float64{c0, c1, c2, c3})
		}
		x.steps = append(x.steps, multipliers{
			whole: weigh(whole, 1, 0, 0, 0), half: weigh(half, 1, 0, 0, 0),
			second: weigh(half, 0, h/2, 0, 0),
			third:  [2]multiplier{weigh(half, 0, h/2, -h, 0), weigh(half, 0, 0, h, 0)},
			fourth: [2]multiplier{weigh(whole, 0, h, -2*h, 0), weigh(whole, 0, 0, 2*h, 0)},
			sum:    [3]multiplier{weigh(whole, 0, h, -3*h, 4*h), weigh(whole, 0, 0, 2*h, -4*h), weigh(whole, 0, 0, -h, 4*h)},
		})
	}
	return &x.steps[halving]
}

// phis returns φ_0 to φ_3 of h L, each (modes, state, state).
func (x *exponential) phis(h float64) (all [4][]complex128) {
	d := x.state
	for q := range all {
		all[q] = make([]complex128, len(x.linear))
	}
	for k := range x.modes {
		at := k * d * d
		block, diagonal := x.linear[at:at+d*d], true
		for i, v := range block {
			diagonal = diagonal && (v == 0 || i%(d+1) == 0)
		}
		if !diagonal {
			for q, v := range grid.Phis(block, d, h, 3) {
				copy(all[q][at:], v)
			}
			continue
		}
		for i := range d {
			for q, v := range phiOf(block[i*(d+1)] * complex(h, 0)) {
				all[q][at+i*(d+1)] = v
			}
		}
	}
	return all
}

// weigh is Σ weights[q] φ_q.
func (x *exponential) weigh(phis [4][]complex128, weights [4]float64) multiplier {
	size := x.state * x.state
	m := multiplier{x.modes, make([][]float64, size), make([][]float64, size)}
	for e := range size {
		re, im := make([]float64, x.modes), make([]float64, x.modes)
		var some, complexes bool
		for k := range re {
			sum := complex128(0)
			for q, w := range weights {
				sum += complex(w, 0) * phis[q][k*size+e]
			}
			re[k], im[k] = real(sum), imag(sum)
			some, complexes = some || sum != 0, complexes || im[k] != 0
		}
		if some {
			m.re[e] = re
		}
		if complexes {
			m.im[e] = im
		}
	}
	return m
}

// add adds the product with v (state, modes) to dst.
func (m *multiplier) add(dst, v []complex128) {
	n, d := m.modes, len(v)/m.modes
	for e, re := range m.re {
		if re == nil {
			continue
		}
		to, from := dst[e/d*n:][:n], v[e%d*n:][:n]
		re = re[:n]
		if im := m.im[e]; im != nil {
			im = im[:n]
			for k, x := range from {
				to[k] += complex(re[k], im[k]) * x
			}
			continue
		}
		for k, x := range from {
			to[k] += complex(re[k]*real(x), re[k]*imag(x))
		}
	}
}

// phiOf returns φ_0 to φ_3 of a number.
func phiOf(z complex128) (out [4]complex128) {
	out[0] = cmplx.Exp(z)
	if real(z)*real(z)+imag(z)*imag(z) > 1 {
		for q, inverse := range []float64{1, 1, 0.5} {
			out[q+1] = (out[q] - complex(inverse, 0)) / z
		}
		return out
	}
	sum := complex128(1) // φ_3 = (1 + z/4 (1 + z/5 (...)))/6
	for k := 20; k >= 4; k-- {
		sum = 1 + z*sum/complex(float64(k), 0)
	}
	out[3] = sum / 6
	out[2] = z*out[3] + 0.5
	out[1] = z*out[2] + 1
	return out
}
