package sim

import (
	"math"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
)

func periodicKernel(lambda, dx, dy float64) float64 {
	s := math.Pow(math.Sin(math.Pi*dx), 2) + math.Pow(math.Sin(math.Pi*dy), 2)
	return math.Exp(-s / (2 * lambda * lambda))
}

// covariance returns the covariance of the field's draws at all distances from
// the origin: the transform of its variances.
func covariance(f *randomField) []float64 {
	s := f.transform.fromSpectrum
	size := float64(len(f.noise))
	for i, a := range f.amplitude {
		s.re[i], s.im[i] = a*a/size, 0
	}
	c := make([]float64, len(f.noise))
	f.transform.from.Inverse(c, s.re, s.im)
	return c
}

// The spectrum is exact: transformed back, it is the kernel without its mean,
// for long and for short correlation lengths, on even and odd grids.
func TestKernelSpectrum(t *testing.T) {
	for _, lambda := range []float64{0.02, 0.2, 0.8, 5} {
		for _, n := range [][]int{{64, 64}, {15, 32}} {
			f, err := newPeriodicKernelField(n, n, lambda)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float64, n[0]*n[1])
			mean := 0.0
			for i := range want {
				want[i] = periodicKernel(lambda, float64(i/n[1])/float64(n[0]), float64(i%n[1])/float64(n[1]))
				mean += want[i] / float64(len(want))
			}
			for i := range want {
				want[i] -= mean
			}
			check.Close(t, covariance(f), want, 0, 1e-14)
		}
	}
}

// The sample covariance of many draws, at every distance on a coarse grid, is
// the kernel's. Draws are made on one grid and returned on another.
func TestSampleCovariance(t *testing.T) {
	const n, m, draws, lambda = 16, 8, 4000, 0.8
	f, err := newPeriodicKernelField([]int{n, n}, []int{m, m}, lambda)
	if err != nil {
		t.Fatal(err)
	}
	all := covariance(f)
	var want []float64
	for i := 0; i < n; i += 2 {
		for j := 0; j < n; j += 2 {
			want = append(want, all[i*n+j])
		}
	}
	rng := check.Rand(11)
	w, got := make([]float64, m*m), make([]float64, m*m)
	for range draws {
		f.Sample(rng, w)
		mean := 0.0
		for _, x := range w {
			mean += x
		}
		if mean /= m * m; math.Abs(mean) > 1e-4 { // modes that m points alias
			t.Fatalf("a draw has mean %g", mean)
		}
		// Averaged over the origin, by stationarity.
		for d := range got {
			di, dj := d/m, d%m
			for i := range m {
				for j := range m {
					got[d] += w[i*m+j] * w[(i+di)%m*m+(j+dj)%m] / (m * m * draws)
				}
			}
		}
	}
	// The standard deviation of the sample variance is some 1 % of it here.
	check.Close(t, got, want, 0.05, 0)
}

// Power laws have the variances asked for, Σ scale² (4π²|k|²+τ²)^(-α).
func TestPowerLaw(t *testing.T) {
	const n, alpha, tau = 12, 2.5, 7.0
	f, err := newPowerLawField([]int{n, n}, []int{n, n}, alpha, tau, 0)
	if err != nil {
		t.Fatal(err)
	}
	variance := 0.0
	for a := -5; a <= 6; a++ {
		for b := -5; b <= 6; b++ {
			if a != 0 || b != 0 {
				variance += math.Pow(tau, 2*alpha-2) * math.Pow(4*math.Pi*math.Pi*float64(a*a+b*b)+tau*tau, -alpha)
			}
		}
	}
	check.Close(t, covariance(f)[:1], []float64{variance}, 1e-12, 0)
	three, err := newPowerLawField([]int{8, 8, 8}, []int{4, 6, 5}, 2, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, 4*6*5)
	three.Sample(check.Rand(1), w)
	if w[0] == 0 || math.IsNaN(w[0]) {
		t.Errorf("three axes: %v", w[:4])
	}
}

// The same generator gives the same field on every grid: shared points agree.
func TestFieldOnGrids(t *testing.T) {
	draw := func(m int) []float64 {
		f, err := newPeriodicKernelField([]int{64, 64}, []int{m, m}, 0.8)
		if err != nil {
			t.Fatal(err)
		}
		w := make([]float64, m*m)
		f.Sample(check.Rand(2), w)
		return w
	}
	fine := draw(128)
	for _, m := range []int{16, 32, 64} {
		var want []float64
		for i := 0; i < 128; i += 128 / m {
			for j := 0; j < 128; j += 128 / m {
				want = append(want, fine[i*128+j])
			}
		}
		check.Close(t, draw(m), want, 1e-13, 0)
	}
}

// Interpolation is exact for trigonometric polynomials that the source grid
// resolves, on finer, coarser, even and odd grids; the mode at half an even
// length is a cosine.
func TestInterpolate(t *testing.T) {
	f := func(x, y float64) float64 {
		return 0.3 + math.Cos(2*math.Pi*(2*x-3*y)+0.4) + 0.5*math.Sin(2*math.Pi*(x+2*y)) + 0.2*math.Cos(2*math.Pi*4*x) - 0.1*math.Cos(2*math.Pi*4*x)*math.Sin(2*math.Pi*y)
	}
	values := func(shape []int) []float64 {
		v := make([]float64, shape[0]*shape[1])
		for i := range v {
			v[i] = f(float64(i/shape[1])/float64(shape[0]), float64(i%shape[1])/float64(shape[1]))
		}
		return v
	}
	for _, from := range [][]int{{8, 7}, {8, 8}, {9, 12}} {
		for _, to := range [][]int{{8, 7}, {16, 16}, {31, 8}, {4, 4}, {3, 5}, {1, 2}} {
			got := make([]float64, to[0]*to[1])
			NewInterpolator(from, to).Interpolate(got, values(from))
			check.Close(t, got, values(to), 0, 1e-13)
		}
	}
	// One axis and three; a random field is copied between equal grids, Nyquist
	// modes included.
	rng := check.Rand(3)
	for _, shape := range [][]int{{10}, {6, 4}, {4, 5, 6}} {
		n := 1
		for _, s := range shape {
			n *= s
		}
		src, got := make([]float64, n), make([]float64, n)
		check.Normal(rng, src)
		NewInterpolator(shape, shape).Interpolate(got, src)
		check.Close(t, got, src, 0, 1e-13)
	}
}

func TestNewField(t *testing.T) {
	axes := []grid.Axis{
		{Name: "x", Hi: 1, Points: 20, Boundary: grid.Periodic},
		{Name: "y", Hi: 1, Points: 24, Boundary: grid.Periodic},
	}
	for name, parameters := range map[string]map[string]any{
		"periodic-kernel": {"lambda": 0.5, "points": 32},
		"power-law":       {"alpha": 2, "tau": 3.0},
	} {
		f, err := NewField(name, axes, parameters)
		if err != nil {
			t.Fatal(err)
		}
		w := make([]float64, 20*24)
		f.Sample(check.Rand(1), w)
	}
	walls := append([]grid.Axis{}, axes...)
	walls[1].Boundary = grid.Nodes
	for _, c := range []struct {
		name       string
		axes       []grid.Axis
		parameters map[string]any
		want       string
	}{
		{"white", axes, nil, `no random field "white"; there is periodic-kernel, power-law`},
		{"power-law", axes, map[string]any{"lambda": 1.0}, `no parameter "lambda"; it has alpha, points, scale, tau`},
		{"periodic-kernel", axes, map[string]any{"lambda": 0}, "lambda = 0: want a positive number"},
		{"periodic-kernel", axes, map[string]any{"lambda": true}, "want a number"},
		{"periodic-kernel", axes, map[string]any{"points": 1.5}, "points 1.5; want a whole number"},
		{"periodic-kernel", walls, nil, "wants axis y periodic, not nodes"},
		{"periodic-kernel", nil, nil, "on 0 axes"},
		{"power-law", axes, map[string]any{"tau": 0}, "tau = 0 needs a scale"},
		{"power-law", axes, map[string]any{"alpha": math.NaN()}, "want finite numbers"},
	} {
		if _, err := NewField(c.name, c.axes, c.parameters); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
