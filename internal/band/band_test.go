package band

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// All solves against the product of the matrix, which wants pivots, and that of its transpose.
func TestSolve(t *testing.T) {
	for _, c := range []struct{ n, lower, upper int }{{1, 0, 0}, {7, 2, 1}, {40, 5, 9}, {12, 20, 20}, {400, 70, 90}, {97, 64, 3}, {500, 130, 64}} {
		rng := rand.New(rand.NewPCG(1, uint64(c.n)))
		b, dense := New(c.n, c.lower, c.upper), make([]float64, c.n*c.n)
		for i := range c.n {
			for j := max(0, i-c.lower); j < min(c.n, i+c.upper+1); j++ {
				v := rng.NormFloat64()
				if i == j {
					v /= 100
				}
				b.Add(i, j, v)
				dense[i*c.n+j] = v
			}
		}
		want := make([]float64, c.n*Many)
		for i := range want {
			want[i] = rng.NormFloat64()
		}
		product := func(transposed bool) []float64 {
			out := make([]float64, c.n*Many)
			for i := range c.n {
				for j := range c.n {
					v := dense[i*c.n+j]
					if transposed {
						v = dense[j*c.n+i]
					}
					for k := range Many {
						out[i*Many+k] += v * want[j*Many+k]
					}
				}
			}
			return out
		}
		if !b.Factor() {
			t.Fatalf("%v: no factor", c)
		}
		near := func(what string, got []float64) {
			for i, v := range got {
				if math.Abs(v-want[i]) > 1e-8 {
					t.Fatalf("%v, %s: value %d is %g, want %g", c, what, i, v, want[i])
				}
			}
		}
		x := product(false)
		one := make([]float64, c.n)
		for i := range one {
			one[i] = x[i*Many+3]
		}
		b.SolveMany(x)
		near("many", x)
		b.Solve(one)
		for i, v := range one {
			if math.Abs(v-x[i*Many+3]) > 1e-8 {
				t.Fatalf("%v: one and many differ by %g", c, v-x[i*Many+3])
			}
		}
		x = product(true)
		b.SolveTransposedMany(x)
		near("transposed", x)
	}
	singular := New(3, 1, 1)
	singular.Add(0, 0, 1)
	if singular.Factor() {
		t.Error("a matrix of zeros has a factor")
	}
}

// BenchmarkFactor is the matrix of a step of two unknowns on 64 x 64 points, and one with a band three times as wide.
func BenchmarkFactor(b *testing.B) {
	const n = 8192
	for _, lower := range []int{260, 829} {
		for name, factor := range map[string]func(m *Matrix) bool{"columns": (*Matrix).factorRows, "blocks": (*Matrix).factorBlocks} {
			b.Run(fmt.Sprintf("%d/%s", lower, name), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				for b.Loop() {
					b.StopTimer()
					m := New(n, lower, lower)
					for i := range n {
						for _, j := range []int{i - lower, i - 2, i - 1, i, i + 1, i + 2, i + lower} {
							if j >= 0 && j < n {
								m.Add(i, j, rng.NormFloat64())
							}
						}
						m.Add(i, i, 4)
					}
					b.StartTimer()
					if !factor(m) {
						b.Fatal("no factor")
					}
				}
				b.ReportMetric(2e-9*FactorWork(n, lower, lower)*float64(b.N)/b.Elapsed().Seconds(), "GFLOP/s")
			})
		}
	}
}
