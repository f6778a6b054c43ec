package lm

import (
	"fmt"
	"testing"

	"pihc/internal/kernel"
)

// BenchmarkCholesky times factor and solve of the damped system alone.
func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{16, 64, 256} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			x, y := randomRows(2*n, n, 1)
			a, g := make([]float64, n*n), make([]float64, n)
			accumulate(a, g, x, y, n)
			kernel.Symmetrize(a, n)
			c := newCholesky(n)
			for b.Loop() {
				c.factor(a, n, 0, nil)
				c.solve(y[:n], g)
			}
			b.ReportMetric(float64(n*n*n)/3*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
