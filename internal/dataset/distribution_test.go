package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/data"
	"pihc/grid"
	"pihc/pde"
)

// problemWith has axes of space with the boundaries given and a distribution.
func problemWith(t *testing.T, boundaries []string, initial string) *pde.Problem {
	t.Helper()
	var axes strings.Builder
	for i, b := range boundaries {
		fmt.Fprintf(&axes, "  %s: {range: [1, 3], points: 9, boundary: %s}\n", string("xy"[i]), b)
	}
	p, err := pde.Load("p.yaml", []byte("name: p\nunknown: u\naxes:\n  t: {range: [0, 1], points: 3, boundary: nodes}\n"+axes.String()+
		"residual: {expression: u - u0}\ninitial: "+initial+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// draws returns n initial conditions on a grid of the given points along every axis of space.
func draws(t *testing.T, p *pde.Problem, points, n int) [][]float64 {
	t.Helper()
	on := map[string]int{}
	for _, a := range p.Axes[1:] {
		on[a.Name] = points
	}
	g, err := p.Grid(on)
	if err != nil {
		t.Fatal(err)
	}
	next, err := NewSampler(p, g)
	if err != nil {
		t.Fatal(err)
	}
	fields := make([][]float64, n)
	for i := range fields {
		fields[i] = make([]float64, g.Size()/3)
		if err := next(data.SampleRand(5, i), fields[i]); err != nil {
			t.Fatal(err)
		}
	}
	return fields
}

// moments returns mean and variance over draws at every point.
func moments(fields [][]float64) (mean, variance []float64) {
	mean, variance = make([]float64, len(fields[0])), make([]float64, len(fields[0]))
	for _, f := range fields {
		for i, v := range f {
			mean[i] += v / float64(len(fields))
		}
	}
	for _, f := range fields {
		for i, v := range f {
			variance[i] += (v - mean[i]) * (v - mean[i]) / float64(len(fields)-1)
		}
	}
	return mean, variance
}

// Mean and variance at every point are those that the sum over modes gives.
func TestSeriesMoments(t *testing.T) {
	const n, modes, decay = 4000, 3, 1.5
	for _, c := range []struct {
		kind       string
		boundaries []string
	}{
		{"periodic", []string{"periodic"}},
		{"free", []string{"nodes"}},
		{"cosine", []string{"cells"}},
		{"sine", []string{"nodes"}},
		{"periodic", []string{"periodic", "periodic"}},
		{"free", []string{"cells", "nodes"}},
		{"sine", []string{"periodic", "nodes"}},
	} {
		p := problemWith(t, c.boundaries, fmt.Sprintf("{distribution: random-series, series: %s, parameters: {modes: %d, decay: %g}, scale: 2, offset: 1}", c.kind, modes, decay))
		const points = 9
		mean, variance := moments(draws(t, p, points, n))
		g, _ := p.Grid(nil)
		// The variance at a point, of squares of functions that are written down again here.
		square := func(axis grid.Axis, i, k int) float64 {
			x := (axis.Coordinate(i) - axis.Lo) / (axis.Hi - axis.Lo)
			kind := c.kind
			if axis.Boundary == grid.Periodic {
				kind = "periodic"
			}
			switch {
			case kind == "sine":
				return 2 * math.Pow(math.Sin(math.Pi*float64(k)*x), 2)
			case k == 0:
				return 1
			case kind == "cosine":
				return 2 * math.Pow(math.Cos(math.Pi*float64(k)*x), 2)
			}
			return 2 // cos² + sin²
		}
		// How many functions have the wave number k along an axis.
		functions := func(axis grid.Axis, k int) float64 {
			switch {
			case c.kind == "sine" && axis.Boundary != grid.Periodic && k == 0:
				return 0
			case k > 0 && (axis.Boundary == grid.Periodic || c.kind == "free"):
				return 2
			}
			return 1
		}
		total, want := 0.0, make([]float64, len(mean))
		space := g.Axes[1:]
		for k := range modes + 1 {
			for j := range modes + 1 {
				if len(space) == 1 && j > 0 || k == 0 && j == 0 {
					continue
				}
				w := math.Pow(float64(k*k+j*j), -decay)
				count := functions(space[0], k)
				if len(space) == 2 {
					count *= functions(space[1], j)
				}
				if count == 0 {
					continue
				}
				total += w * count
				for i := range want {
					if len(space) == 1 {
						want[i] += 4 * w * square(space[0], i, k)
					} else {
						want[i] += 4 * w * square(space[0], i/points, k) * square(space[1], i%points, j)
					}
				}
			}
		}
		for i := range mean {
			v := want[i] / total
			if math.Abs(mean[i]-1) > 4.5*math.Sqrt(v/n)+1e-12 || math.Abs(variance[i]-v) > 0.12*v+1e-12 {
				t.Errorf("%s on %v, point %d: mean %.3f, variance %.3f; want 1 and %.3f", c.kind, c.boundaries, i, mean[i], variance[i], v)
			}
		}
	}
}

// A seed means the same function on every grid, and the same again.
func TestSeriesIsAFunction(t *testing.T) {
	p := problemWith(t, []string{"nodes", "periodic"}, "{distribution: random-series, series: free}")
	coarse, again, fine := draws(t, p, 8, 2), draws(t, p, 8, 2), draws(t, p, 64, 2)
	if !slices.Equal(coarse[1], again[1]) || slices.Equal(coarse[0], coarse[1]) {
		t.Error("draws of one seed differ, or those of two samples do not")
	}
	for j := range 8 { // x low (nodes), along the periodic y
		if d := math.Abs(coarse[1][j] - fine[1][8*j]); d > 1e-12 {
			t.Errorf("y point %d: %v and %v on the finer grid", j, coarse[1][j], fine[1][8*j])
		}
	}
}

// Positive distributions are; their means are those of the functions of a normal
// number, and offset and scale come after.
func TestPositive(t *testing.T) {
	const n = 4000
	for _, c := range []struct {
		positive       string
		mean, variance float64
	}{
		{"exp", math.Exp(0.5), (math.E - 1) * math.E},
		{"square", 1, 2},
		{"softplus", 0.806, 0.2715}, // by quadrature of log(1 + e^z) and its square with the normal density
	} {
		p := problemWith(t, []string{"periodic"}, fmt.Sprintf("{distribution: random-series, series: periodic, positive: %s, scale: 3, offset: 0.5}", c.positive))
		fields := draws(t, p, 8, n)
		for _, f := range fields {
			if m := slices.Min(f); m < 0.5 {
				t.Fatalf("%s: %v is below the offset", c.positive, m)
			}
		}
		mean, variance := moments(fields)
		if want := 0.5 + 3*c.mean; math.Abs(mean[3]-want) > 5*3*math.Sqrt(c.variance/n) {
			t.Errorf("%s: mean %.3f, want %.3f", c.positive, mean[3], want)
		}
		if want := 9 * c.variance; c.positive != "exp" && math.Abs(variance[3]-want) > 0.15*want { // exp has heavy tails
			t.Errorf("%s: variance %.3f, want %.3f", c.positive, variance[3], want)
		}
	}
	p := problemWith(t, []string{"nodes"}, "{distribution: uniform-constant, low: 1, high: 2, scale: -1, offset: 3}")
	if a, ok := p.Inputs[0].Sampler.Constant(0); !ok || a != 2 {
		t.Errorf("constant at the low end: %v", a)
	}
	for _, f := range draws(t, p, 4, 50) {
		if f[0] < 1 || f[0] > 2 || f[3] != f[0] {
			t.Fatalf("%v is no constant from 1 to 2", f)
		}
	}
}

// A mixture draws from its parts as often as their weights say, and transforms what they give.
func TestMixture(t *testing.T) {
	const n = 4000
	p := problemWith(t, []string{"periodic"}, "{distribution: mixture, scale: 2, of: [{distribution: uniform-constant, low: 0, high: 1, weight: 3}, {distribution: uniform-constant, low: 2, high: 3, offset: 10}]}")
	first, sum := 0, 0.0
	for _, f := range draws(t, p, 4, n) {
		sum += f[0] / n
		switch {
		case f[0] >= 0 && f[0] <= 2:
			first++
		case f[0] < 24 || f[0] > 26:
			t.Fatalf("%v is of neither part", f[0])
		}
	}
	if share := float64(first) / n; math.Abs(share-0.75) > 0.03 || math.Abs(sum-(0.75*1+0.25*25)) > 0.8 {
		t.Errorf("first part in %.3f of the draws, mean %.2f; want 0.75 and 7", share, sum)
	}
	if a, b := draws(t, p, 4, 20), draws(t, p, 4, 20); !slices.EqualFunc(a, b, func(x, y []float64) bool { return slices.Equal(x, y) }) {
		t.Error("two draws of one seed differ")
	}
}
