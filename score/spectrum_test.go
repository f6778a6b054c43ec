package score

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"pihc/grid"
	"pihc/internal/fft"
	"pihc/pde"
)

// planeAxes are time and two axes of space of different lengths.
func planeAxes(n, m int, b grid.Boundary) *grid.Grid {
	return &grid.Grid{Axes: []grid.Axis{
		{Name: "t", Lo: 0, Hi: 5, Points: 6, Boundary: grid.Nodes},
		{Name: "x", Lo: 0, Hi: 1, Points: n, Boundary: b},
		{Name: "y", Lo: -1, Hi: 1, Points: m, Boundary: b},
	}}
}

// denseSpectrum sums all modes of u one by one.
func denseSpectrum(u []float64, g *grid.Grid, energy bool, shells int) []float64 {
	x, y := g.Axes[1], g.Axes[2]
	n, m := x.Points, y.Points
	out := make([]float64, shells)
	for a := range n {
		for b := range m {
			c := complex(0, 0)
			for i := range n {
				for j := range m {
					c += complex(u[i*m+j]/float64(n*m), 0) * cmplx.Exp(complex(0, -2*math.Pi*(float64(a*i)/float64(n)+float64(b*j)/float64(m))))
				}
			}
			kx, ky := 2*math.Pi*float64(fft.Frequency(a, n))/(x.Hi-x.Lo), 2*math.Pi*float64(fft.Frequency(b, m))/(y.Hi-y.Lo)
			square := kx*kx + ky*ky
			e := real(c)*real(c) + imag(c)*imag(c)
			switch {
			case energy && square == 0:
				e = 0
			case energy:
				e /= square
			}
			// The longer side is 2.
			out[int(math.Round(math.Sqrt(square)*2/(2*math.Pi)))] += e / 2
		}
	}
	return out
}

func TestSpectrum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{8, 12}, {5, 7}, {6, 9}} {
		for _, energy := range []bool{false, true} {
			g := planeAxes(size[0], size[1], grid.Periodic)
			p := &pde.Problem{}
			if energy {
				p.Terms = []pde.Term{{Name: "v", Spectral: &pde.Spectral{Kind: "velocity", Axis: "x"}}}
			}
			s := NewSpectrum(p, g)
			if want := map[bool]string{true: "energy", false: "power"}[energy]; s.out.Quantity != want {
				t.Fatalf("%s, want %s", s.out.Quantity, want)
			}
			u, truth := make([]float64, g.Size()), make([]float64, g.Size())
			for i := range u {
				u[i], truth[i] = rng.NormFloat64(), rng.NormFloat64()
			}
			s.Add(u, truth)
			s.Add(u, truth)
			out := s.Mean()
			plane := size[0] * size[1]
			for i, at := range []int{0, 3, 5} {
				for _, c := range []struct{ got, field []float64 }{{out.At[i].Prediction, u}, {out.At[i].Truth, truth}} {
					field := c.field[at*plane : (at+1)*plane]
					want := denseSpectrum(field, g, energy, len(c.got))
					sum, half := 0.0, 0.0
					for k := range want {
						sum += c.got[k]
						if math.Abs(c.got[k]-want[k]) > 1e-13 {
							t.Errorf("%v, %s, time %d: %g at %d, want %g", size, out.Quantity, at, c.got[k], k, want[k])
						}
					}
					for _, v := range field {
						half += v * v / 2 / float64(plane)
					}
					if !energy && math.Abs(sum-half) > 1e-13 { // Parseval
						t.Errorf("%v: the spectrum sums to %g, half the mean square is %g", size, sum, half)
					}
				}
			}
			if out.At[1].Time != 3 {
				t.Errorf("time %g, want 3", out.At[1].Time)
			}
		}
	}
	if NewSpectrum(&pde.Problem{}, planeAxes(8, 8, grid.Nodes)) != nil || NewSpectrum(&pde.Problem{}, &grid.Grid{Axes: planeAxes(8, 8, grid.Periodic).Axes[:2]}) != nil {
		t.Error("a spectrum without two periodic axes of space")
	}
}

// A vorticity of one mode has its energy in one shell:
// w = A cos(2π·3 x) moves with v = A/κ sin, of mean square A²/(2κ²).
func TestEnergyOfOneMode(t *testing.T) {
	g := planeAxes(16, 16, grid.Periodic)
	s := NewSpectrum(&pde.Problem{Terms: []pde.Term{{Spectral: &pde.Spectral{Kind: "velocity"}}}}, g)
	const amplitude = 1.7
	u := make([]float64, g.Size())
	for i := range u {
		u[i] = amplitude * math.Cos(2*math.Pi*3*g.Axes[1].Coordinate(i/16%16))
	}
	s.Add(u, nil)
	kappa := 2 * math.Pi * 3
	want := amplitude * amplitude / (2 * kappa * kappa) / 2
	for k, e := range s.Mean().At[2].Prediction {
		expect := 0.0
		if k == 6 { // three periods along x are six across the longer side
			expect = want
		}
		if math.Abs(e-expect) > 1e-15 {
			t.Errorf("energy %g in shell %d, want %g", e, k, expect)
		}
	}
	if s.out.At[0].Truth != nil || s.out.Complete != 9 {
		t.Errorf("truth %v, %d complete shells", s.out.At[0].Truth, s.out.Complete)
	}
}
