package grid

import (
	"math"
	"testing"
)

// Polynomials of degree 5, and of as many points as there are, have their integrals.
func TestIntegral(t *testing.T) {
	for _, n := range []int{2, 4, 6, 13} {
		a := Axis{Name: "t", Lo: 0.5, Hi: 2, Points: n, Boundary: Nodes}
		m := a.Integral()
		for degree := range min(n, 6) {
			for i := range n {
				got := 0.0
				for j := range n {
					got += m[i*n+j] * math.Pow(a.Coordinate(j), float64(degree))
				}
				d := float64(degree + 1)
				if want := (math.Pow(a.Coordinate(i), d) - math.Pow(a.Lo, d)) / d; math.Abs(got-want) > 1e-12 {
					t.Errorf("%d points, degree %d, at %d: %g, want %g", n, degree, i, got, want)
				}
			}
		}
	}
}
