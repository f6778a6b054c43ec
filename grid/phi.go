package grid

import (
	"math"
	"math/cmplx"
)

// Phis returns φ_0 to φ_n of h a, a (d, d): φ_0 is the exponential, φ_q(z) = (φ_(q-1)(z) - 1/(q-1)!)/z. By Taylor's series of a
// fraction of z, and φ_q(2z) = 2^-q (φ_0(z) φ_q(z) + Σ_k φ_k(z)/(q-k)!).
func Phis(a []complex128, d int, h float64, n int) [][]complex128 {
	z, norm := make([]complex128, d*d), 0.0
	for i, v := range a {
		z[i] = v * complex(h, 0)
		norm = math.Max(norm, float64(d)*cmplx.Abs(z[i]))
	}
	doublings := 0
	if norm > 0.5 {
		doublings = int(math.Ceil(math.Log2(2 * norm)))
	}
	for i := range z {
		z[i] = complex(math.Ldexp(real(z[i]), -doublings), math.Ldexp(imag(z[i]), -doublings))
	}
	out, inverse := make([][]complex128, n+1), []float64{1} // 1/q!
	for q := 1; q <= n; q++ {
		inverse = append(inverse, inverse[q-1]/float64(q))
	}
	const terms = 16
	last := make([]complex128, d*d)
	for i := range d {
		last[i*d+i] = 1
	}
	for k := terms; k >= 1; k-- { // Horner: 1 + z/(n+1) (1 + z/(n+2) (...))
		last = product(z, last, d)
		for i := range last {
			last[i] /= complex(float64(n+k), 0)
		}
		for i := range d {
			last[i*d+i]++
		}
	}
	for i := range last {
		last[i] *= complex(inverse[n], 0)
	}
	out[n] = last
	for q := n - 1; q >= 0; q-- {
		out[q] = product(z, out[q+1], d)
		for i := range d {
			out[q][i*d+i] += complex(inverse[q], 0)
		}
	}
	for range doublings {
		next := make([][]complex128, n+1)
		for q := range next {
			next[q] = product(out[0], out[q], d)
			for k := 1; k <= q; k++ {
				for i, v := range out[k] {
					next[q][i] += v * complex(inverse[q-k], 0)
				}
			}
			for i := range next[q] {
				next[q][i] *= complex(math.Ldexp(1, -q), 0)
			}
		}
		out = next
	}
	return out
}

// growth is the spectral radius of e^(t a).
func growth(a []complex128, d int, t float64) float64 {
	e := Phis(a, d, t, 0)[0]
	const squarings = 6
	log := 0.0
	for k := 0; ; k++ {
		largest := 0.0
		for _, v := range e {
			largest = math.Max(largest, cmplx.Abs(v))
		}
		log += math.Log(largest) / float64(int(1)<<k)
		if k == squarings || !(largest > 0) || math.IsInf(largest, 0) {
			return math.Exp(log)
		}
		for i := range e {
			e[i] /= complex(largest, 0)
		}
		e = product(e, e, d)
	}
}

// rotation is the largest imaginary part of an eigenvalue of h a: of the growth by i a and -i a.
func rotation(a []complex128, d int, h float64) float64 {
	most, by := 0.0, make([]complex128, len(a))
	for _, unit := range []complex128{1i, -1i} {
		for i, v := range a {
			by[i] = unit * v
		}
		if angle := math.Log(growth(by, d, h)); !(angle <= most) {
			most = angle
		}
	}
	return most
}

func product(a, b []complex128, d int) []complex128 {
	out := make([]complex128, d*d)
	for i := range d {
		for k := range d {
			for j := range d {
				out[i*d+j] += a[i*d+k] * b[k*d+j]
			}
		}
	}
	return out
}
