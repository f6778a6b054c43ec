package discrete

import (
	"math"
	"testing"

	"pihc/internal/check"
)

// The factor of a matrix is that of the textbook, element by element, for bands narrower and wider than a block.
func TestNormalBand(t *testing.T) {
	random := check.Rand(1)
	for _, size := range []struct{ n, band int }{{1, 0}, {4, 0}, {7, 2}, {50, 49}, {200, 3}, {300, 64}, {431, 130}, {130, 129}} {
		n, band := size.n, size.band
		full := make([][]float64, n)
		b := &normalBand{n: n, band: band, a: make([]float64, n*(band+1))}
		for i := range n {
			full[i] = make([]float64, n)
			for j := max(0, i-band); j <= i; j++ {
				full[i][j] = random.NormFloat64()
				if i == j {
					full[i][j] = 3 * float64(band+1)
				}
				b.add(i, j, full[i][j])
			}
		}
		x, want := make([]float64, n), make([]float64, n)
		for i := range want {
			want[i] = random.NormFloat64()
		}
		for i := range n {
			for j := range i + 1 {
				x[i] += full[i][j] * want[j]
				if j < i {
					x[j] += full[i][j] * want[i]
				}
			}
		}
		if !b.factor(0) {
			t.Fatalf("%v: not positive definite", size)
		}
		for i := range n {
			for j := range i + 1 {
				sum := full[i][j]
				for k := range j {
					sum -= full[i][k] * full[j][k]
				}
				if full[i][j] = math.Sqrt(sum); j < i {
					full[i][j] = sum / full[j][j]
				}
				if i-j <= band {
					if got := b.a[b.at(i, j)]; !(math.Abs(got-full[i][j]) < 1e-12*full[j][j]) {
						t.Fatalf("%v: element %d, %d is %g, want %g", size, i, j, got, full[i][j])
					}
				}
			}
		}
		b.solve(x)
		for i := range x {
			if !(math.Abs(x[i]-want[i]) < 1e-12) {
				t.Fatalf("%v: solution %d is off by %g", size, i, x[i]-want[i])
			}
		}
	}
	b := &normalBand{n: 3, band: 1, a: make([]float64, 6)}
	for i := range 3 {
		b.add(i, i, 1)
	}
	b.add(2, 1, 2)
	if b.factor(0) {
		t.Error("a matrix that is not positive definite has a factor")
	}
}
