package xla

import (
	"math"
	"testing"

	"pihc/internal/check"
)

// A matrix that is not positive definite, or not finite, spoils no other of its batch.
func TestInverse(t *testing.T) {
	const k, n = 4, 7
	rng := check.Rand(3)
	a := check.Normal(rng, make([]float64, k*n*n))
	m, rhs := make([]float64, k*n*n), check.Normal(rng, make([]float64, k*n))
	for q := range k {
		for i := range n {
			for j := range n {
				for l := range n {
					m[(q*n+i)*n+j] += a[(q*n+i)*n+l] * a[(q*n+j)*n+l] * math.Pow(10, float64(i+j)/2)
				}
			}
		}
	}
	m[n*n] = -1             // of the second
	m[2*n*n+3] = math.NaN() // of the third
	m[2*n*n+3*n] = m[2*n*n+3]
	out := computed(t, [][]float64{m, rhs}, [][]int{{k, n, n}, {k, n}}, func(b *builder, in []value) []value {
		inverse, pivot := b.inverse(in[0])
		return []value{b.solve(in[0], inverse, in[1]), pivot}
	})
	for q := range k {
		x, pivot := out[0][q*n:][:n], out[1][q]
		if q == 1 || q == 2 {
			if pivot != 0 {
				t.Errorf("matrix %d has pivot %g", q, pivot)
			}
			continue
		}
		back := make([]float64, n)
		for i := range n {
			for j := range n {
				back[i] += m[(q*n+i)*n+j] * x[j]
			}
		}
		check.Close(t, back, rhs[q*n:][:n], 1e-9, 1e-9)
		if want := smallestPivot(m[q*n*n:][:n*n], n); math.Abs(pivot-want) > 1e-9*want {
			t.Errorf("matrix %d: pivot %g, want %g", q, pivot, want)
		}
	}
}

// smallestPivot is that of a Cholesky factorisation of m scaled to unit diagonal.
func smallestPivot(m []float64, n int) float64 {
	l, least := make([]float64, n*n), math.Inf(1)
	for i := range n {
		for j := range i + 1 {
			s := m[i*n+j] / math.Sqrt(m[i*n+i]*m[j*n+j])
			for k := range j {
				s -= l[i*n+k] * l[j*n+k]
			}
			if i == j {
				least = min(least, s)
				l[i*n+i] = math.Sqrt(s)
			} else {
				l[i*n+j] = s / l[j*n+j]
			}
		}
	}
	return least
}
