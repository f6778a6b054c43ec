package sim

import "testing"

// paperSorption is the paper's diffusion-sorption on a grid of points cells.
func paperSorption(points int) diffusionSorption {
	return diffusionSorption{D: 5e-4, Phi: 0.29, RhoS: 2880, K: 3.5e-4, NF: 0.874, Points: points}
}

func constant(n int, value float64) []float64 {
	u := make([]float64, n)
	for i := range u {
		u[i] = value
	}
	return u
}

// BenchmarkDiffusionSorption is one trajectory of 1024 x 101 at the default
// tolerances. Target: 30 ms on one core.
func BenchmarkDiffusionSorption(b *testing.B) {
	for _, c := range []struct {
		name string
		u0   float64
	}{{"u0=0", 0}, {"u0=0.01", 0.01}, {"u0=0.1", 0.1}, {"u0=0.2", 0.2}} {
		b.Run(c.name, func(b *testing.B) {
			d := paperSorption(1024)
			dst, initial := make([]float64, 101*1024), constant(1024, c.u0)
			var stats Stats
			for b.Loop() {
				var err error
				if stats, err = d.Solve(dst, initial); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(stats.Steps), "steps")
		})
	}
}
