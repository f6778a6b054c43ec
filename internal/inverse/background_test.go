package inverse

import (
	"math"
	"testing"

	"pihc/grid"
	"pihc/pde"
)

// TestBackground compares means, variances and the number of functions with those of the distributions: of draws to what these leave, of series
// exactly; by both matrices of principal.
func TestBackground(t *testing.T) {
	sines := 0.0 // variance of random-sines from -1 to 1
	for k := 1.0; k <= 4; k++ {
		sines += 1 / (k * k) / 3 / 2
	}
	for _, c := range []struct {
		name                      string
		sampler                   pde.Sampler
		points, functions         int
		mean, deviation, tolerant float64
	}{
		{"constants", pde.Sampler{Distribution: "uniform-constant", Low: 1, High: 2}, 16, 1, 1.5, 1 / math.Sqrt(12), 0.02},
		{"constants on many points", pde.Sampler{Distribution: "uniform-constant", Low: 1, High: 2}, 300, 1, 1.5, 1 / math.Sqrt(12), 0.07},
		{"sines", pde.Sampler{Distribution: "random-sines", Low: -1, High: 1}, 32, 8, 0, math.Sqrt(sines), 0.05},
		{"series", pde.Sampler{Distribution: "random-series", Series: "periodic", Parameters: map[string]float64{"modes": 3, "decay": 1}}, 32, 6, 0, 1, 1e-12},
	} {
		in := pde.PlacedInput{Size: c.points, Space: []grid.Axis{{Name: "x", Hi: 1, Points: c.points, Boundary: grid.Periodic}}}
		in.Sampler = c.sampler
		b, err := NewBackground(in)
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Functions) != c.functions {
			t.Errorf("%s: %d functions, want %d", c.name, len(b.Functions), c.functions)
		}
		for i, mean := range b.Mean {
			variance := 0.0
			for _, f := range b.Functions {
				variance += f[i] * f[i]
			}
			if math.Abs(mean-c.mean) > c.tolerant || math.Abs(math.Sqrt(variance)-c.deviation) > c.tolerant {
				t.Errorf("%s, point %d: %g ± %g, want %g ± %g", c.name, i, mean, math.Sqrt(variance), c.mean, c.deviation)
			}
		}
	}
	none := pde.PlacedInput{Size: 4, Space: []grid.Axis{{Name: "x", Hi: 1, Points: 4, Boundary: grid.Periodic}}}
	if _, err := NewBackground(none); err == nil {
		t.Error("a background of no distribution")
	}
}
