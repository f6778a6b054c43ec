package sim

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
)

// randomVorticity has random modes up to frequency k in both directions, of
// root mean square 1.
func randomVorticity(points [2]int, k int, seed uint64) []float64 {
	rng := check.Rand(seed)
	w := make([]float64, points[0]*points[1])
	for a := -k; a <= k; a++ {
		for b := 0; b <= k; b++ {
			if b == 0 && a <= 0 {
				continue
			}
			amplitude, phase := rng.NormFloat64(), 2*math.Pi*rng.Float64()
			for i := range w {
				x, y := float64(i/points[1])/float64(points[0]), float64(i%points[1])/float64(points[1])
				w[i] += amplitude * math.Cos(2*math.Pi*(float64(a)*x+float64(b)*y)+phase)
			}
		}
	}
	sum := 0.0
	for _, x := range w {
		sum += x * x
	}
	for i := range w {
		w[i] /= math.Sqrt(sum / float64(len(w)))
	}
	return w
}

// mode is a signed frequency vector.
type mode struct{ x, y int }

// galerkin is the truncated equation written out as a sum over pairs of modes,
// sharing nothing with the solver: with v_p = (i p_y, -i p_x) w_p/|p|²,
//
//	dw_k/dt = Σ_{p+q=k} (p_y q_x - p_x q_y)/|p|² w_p w_q - ν |k|² w_k.
type galerkin struct {
	modes  []mode
	w      []complex128
	decay  []float64
	triads []triad
}

type triad struct {
	k, p, q     int
	coefficient float64
}

// newGalerkin takes the kept modes of a field by a dense transform.
func newGalerkin(c navierStokes, w []float64) *galerkin {
	g := &galerkin{}
	nx, ny := c.Points[0], c.Points[1]
	wave := func(m mode) (x, y float64) {
		return 2 * math.Pi * float64(m.x) / c.Length[0], 2 * math.Pi * float64(m.y) / c.Length[1]
	}
	index := map[mode]int{}
	for a := -(nx - 1) / 3; a <= (nx-1)/3; a++ {
		for b := -(ny - 1) / 3; b <= (ny-1)/3; b++ {
			var sum complex128
			for i, v := range w {
				angle := -2 * math.Pi * (float64(a*(i/ny))/float64(nx) + float64(b*(i%ny))/float64(ny))
				sum += complex(v*math.Cos(angle), v*math.Sin(angle))
			}
			k := mode{a, b}
			index[k] = len(g.modes)
			g.modes = append(g.modes, k)
			g.w = append(g.w, sum/complex(float64(nx*ny), 0))
			x, y := wave(k)
			g.decay = append(g.decay, c.Viscosity*(x*x+y*y))
		}
	}
	for i, p := range g.modes {
		for j, q := range g.modes {
			k, kept := index[mode{p.x + q.x, p.y + q.y}]
			if !kept || p == (mode{}) {
				continue
			}
			px, py := wave(p)
			qx, qy := wave(q)
			g.triads = append(g.triads, triad{k, i, j, (py*qx - px*qy) / (px*px + py*py)})
		}
	}
	return g
}

func (g *galerkin) derivative(w []complex128) []complex128 {
	d := make([]complex128, len(w))
	for k, a := range w {
		d[k] = complex(-g.decay[k], 0) * a
	}
	for _, t := range g.triads {
		d[t.k] += complex(t.coefficient, 0) * w[t.p] * w[t.q]
	}
	return d
}

// field returns the values of the spectrum w.
func (g *galerkin) field(w []complex128, nx, ny int) []float64 {
	values := make([]float64, nx*ny)
	for i, k := range g.modes {
		for j := range values {
			angle := 2 * math.Pi * (float64(k.x*(j/ny))/float64(nx) + float64(k.y*(j%ny))/float64(ny))
			values[j] += real(w[i])*math.Cos(angle) - imag(w[i])*math.Sin(angle)
		}
	}
	return values
}

// rungeKutta takes steps of the classical method of order 4.
func (g *galerkin) rungeKutta(duration float64, steps int) {
	h := complex(duration/float64(steps), 0)
	move := func(by complex128, k []complex128) []complex128 {
		m := make([]complex128, len(k))
		for i, a := range g.w {
			m[i] = a + by*k[i]
		}
		return m
	}
	for range steps {
		k1 := g.derivative(g.w)
		k2 := g.derivative(move(h/2, k1))
		k3 := g.derivative(move(h/2, k2))
		k4 := g.derivative(move(h, k3))
		for i := range g.w {
			g.w[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
		}
	}
}

// The advection term equals the sum over pairs of modes, on grids of even and
// odd size and boxes that are not square.
func TestAdvection(t *testing.T) {
	for _, c := range []navierStokes{
		{Points: [2]int{12, 12}}, {Points: [2]int{10, 13}, Length: [2]float64{2, 0.7}}, {Points: [2]int{9, 4}},
	} {
		c = c.withDefaults()
		w := randomVorticity(c.Points, 2, 3)
		f := newFlow(c)
		f.analyze(f.w, w)
		f.advect(f.n[0], f.w)
		got := make([]float64, len(w))
		f.synthesize(got, f.n[0])
		g := newGalerkin(c, w)
		check.Close(t, got, g.field(g.derivative(g.w), c.Points[0], c.Points[1]), 1e-12, 1e-14)
	}
}

// Both at 1e-10: the solver and an explicit integration of the pair sum.
func TestNavierStokesAgainstGalerkin(t *testing.T) {
	c := navierStokes{Viscosity: 0.01, Points: [2]int{16, 10}, Length: [2]float64{1, 1.5}, Time: 2, Outputs: 2, RTol: 1e-12}
	w := randomVorticity(c.Points, 2, 5)
	dst := make([]float64, 2*len(w))
	if _, err := c.Solve(dst, w); err != nil {
		t.Fatal(err)
	}
	g := newGalerkin(c, w)
	g.rungeKutta(c.Time, 1000)
	check.Close(t, dst[len(w):], g.field(g.w, 16, 10), 1e-10, 0)
}

// Taylor and Green's vortices, eigenfunctions of the Laplacian, do not advect
// themselves: w decays as exp(-ν|k|²t). Exact for the scheme at any step.
func TestTaylorGreen(t *testing.T) {
	c := navierStokes{Viscosity: 0.02, Points: [2]int{32, 24}, Length: [2]float64{1, 0.75}, Time: 1, Outputs: 5}
	w := make([]float64, 32*24)
	for i := range w {
		x, y := float64(i/24)/32, float64(i%24)/24
		w[i] = math.Cos(4*math.Pi*x) * math.Sin(6*math.Pi*y)
	}
	dst := make([]float64, 5*len(w))
	stats, err := c.Solve(dst, w)
	if err != nil {
		t.Fatal(err)
	}
	k2 := math.Pow(4*math.Pi, 2) + math.Pow(6*math.Pi/0.75, 2)
	for output := range 5 {
		want := make([]float64, len(w))
		for i := range w {
			want[i] = w[i] * math.Exp(-0.02*k2*float64(output)/4)
		}
		check.Close(t, dst[output*len(w):(output+1)*len(w)], want, 1e-12, 1e-16)
	}
	t.Logf("%+v", stats)
}

// The step has order 4, its error estimate falls with the fourth power.
func TestNavierStokesOrder(t *testing.T) {
	c := navierStokes{Viscosity: 2e-3, Points: [2]int{32, 32}, Time: 1, Outputs: 2}.withDefaults()
	w := randomVorticity(c.Points, 3, 7)
	run := func(steps int) (field []float64, estimate float64) {
		f := newFlow(c)
		f.analyze(f.w, w)
		f.advect(f.n[0], f.w)
		for range steps {
			estimate = max(estimate, f.step(1/float64(steps)))
			f.accept()
		}
		field = make([]float64, len(w))
		f.synthesize(field, f.w)
		return field, estimate
	}
	exact, _ := run(640)
	a, sa := run(40)
	b, sb := run(80)
	order := math.Log2(check.RelativeL2(a, exact) / check.RelativeL2(b, exact))
	estimated := math.Log2(sa / sb)
	t.Logf("order %.2f, estimate %.2f", order, estimated)
	if math.Abs(order-4) > 0.3 || math.Abs(estimated-4) > 0.3 {
		t.Errorf("order %.2f of the solution and %.2f of the estimate, want 4 and 4", order, estimated)
	}
}

// invariants returns energy ½<v²>, enstrophy ½<w²> and palinstrophy ½<|∇w|²>.
func invariants(f *flow, w []float64) (energy, enstrophy, palinstrophy float64) {
	f.analyze(f.w, w)
	columns := len(f.ky)
	for i, kx := range f.kx {
		for j, ky := range f.ky {
			a := math.Pow(f.w.re[i*columns+j], 2) + math.Pow(f.w.im[i*columns+j], 2)
			if j > 0 {
				a *= 2
			}
			k2 := kx*kx + ky*ky
			if k2 > 0 {
				energy += a / k2 / 2
			}
			enstrophy += a / 2
			palinstrophy += a * k2 / 2
		}
	}
	return energy, enstrophy, palinstrophy
}

// dE/dt = -2ν Z and dZ/dt = -2ν P without forcing, whose integrals Simpson's
// rule takes over the outputs; both constant without viscosity.
func TestEnergyEnstrophyBalance(t *testing.T) {
	for _, viscosity := range []float64{0, 2e-3} {
		c := navierStokes{Viscosity: viscosity, Points: [2]int{32, 32}, Time: 1, Outputs: 401, RTol: 1e-10}.withDefaults()
		w := randomVorticity(c.Points, 3, 9)
		size := len(w)
		dst := make([]float64, c.Outputs*size)
		if _, err := c.Solve(dst, w); err != nil {
			t.Fatal(err)
		}
		f := newFlow(c)
		var energy, enstrophy, zIntegral, pIntegral float64
		for i := range c.Outputs {
			e, z, p := invariants(f, dst[i*size:(i+1)*size])
			weight := 4.0
			switch {
			case i == 0:
				weight, energy, enstrophy = 1, e, z
			case i == c.Outputs-1:
				weight = 1
				energy, enstrophy = e-energy, z-enstrophy
			case i%2 == 0:
				weight = 2
			}
			zIntegral += weight * z / 3 / float64(c.Outputs-1)
			pIntegral += weight * p / 3 / float64(c.Outputs-1)
		}
		_, z0, _ := invariants(f, dst[:size])
		if d := math.Abs(energy + 2*viscosity*zIntegral); d > 1e-9*z0 {
			t.Errorf("ν = %g: energy changed by %g, dissipation %g", viscosity, energy, 2*viscosity*zIntegral)
		}
		if d := math.Abs(enstrophy + 2*viscosity*pIntegral); d > 1e-8*z0 {
			t.Errorf("ν = %g: enstrophy changed by %g, dissipation %g", viscosity, enstrophy, 2*viscosity*pIntegral)
		}
		if viscosity > 0 && -enstrophy < 0.05*z0 {
			t.Errorf("enstrophy fell by %g of %g only: the balance says little", -enstrophy, z0)
		}
	}
}

// Two tolerances agree to 1e-8, and the default one is within 1e-5 of them.
func TestNavierStokesTolerances(t *testing.T) {
	c := navierStokes{Viscosity: 1e-3, Points: [2]int{64, 64}, Time: 2, Outputs: 5}
	field, err := newPeriodicKernelField([]int{64, 64}, []int{64, 64}, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, 64*64)
	field.Sample(check.Rand(4), w)
	solve := func(rtol float64) []float64 {
		c.RTol = rtol
		dst := make([]float64, 5*len(w))
		if _, err := c.Solve(dst, w); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	fine := solve(1e-12)
	if e := check.RelativeL2(solve(1e-10), fine); e > 1e-8 {
		t.Errorf("rtol 1e-10 and 1e-12 differ by %.2e, want at most 1e-8", e)
	}
	if e := check.RelativeL2(solve(0), fine); e > 1e-6 {
		t.Errorf("default tolerance is off by %.2e, want at most 1e-6", e)
	}
}

// A steady forcing that balances viscosity: w = f/(ν|k|²) is approached.
func TestForcing(t *testing.T) {
	s, err := New("navier-stokes", Setting{
		Axes: []grid.Axis{
			{Name: "t", Hi: 2, Points: 3, Boundary: grid.Nodes},
			{Name: "x", Hi: 1, Points: 16, Boundary: grid.Periodic},
			{Name: "y", Hi: 2, Points: 20, Boundary: grid.Periodic},
		},
		Constants: map[string]float64{"nu": 0.1}, Options: map[string]any{"forcing": 0.5, "remove_mean": true},
	})
	if err != nil {
		t.Fatal(err)
	}
	const size = 16 * 20
	dst := make([]float64, 3*size)
	if _, err := s.Solve(dst, constant(size, 3)); err != nil { // at rest, once the mean is removed
		t.Fatal(err)
	}
	k2 := 4 * math.Pi * math.Pi * (1 + 0.25)
	for output := range 3 {
		want := make([]float64, size)
		for i := range want {
			angle := 2 * math.Pi * (float64(i/20)/16 + float64(i%20)/20)
			want[i] = 0.5 * (math.Sin(angle) + math.Cos(angle)) / (0.1 * k2) * (1 - math.Exp(-0.1*k2*float64(output)))
		}
		check.Close(t, dst[output*size:(output+1)*size], want, 1e-6, 1e-15)
	}
}

// Fluid at rest stays at rest; one value serves several goroutines.
func TestNavierStokesRestAndConcurrency(t *testing.T) {
	c := navierStokes{Viscosity: 1e-3, Points: [2]int{16, 16}, Time: 1, Outputs: 4}
	dst := make([]float64, 4*256)
	if _, err := c.Solve(dst, make([]float64, 256)); err != nil {
		t.Fatal(err)
	}
	check.Equal(t, dst, make([]float64, 4*256))
	results := make([][]float64, 3)
	var all sync.WaitGroup
	for i := range results {
		results[i] = make([]float64, 4*256)
		all.Go(func() {
			if _, err := c.Solve(results[i], randomVorticity(c.Points, 3, 1)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, r := range results[1:] {
		check.Equal(t, r, results[0])
	}
}

func TestNavierStokesBadInput(t *testing.T) {
	good := navierStokes{Viscosity: 1e-3, Points: [2]int{8, 8}, Time: 1, Outputs: 2}
	for _, c := range []struct {
		change  func(*navierStokes)
		initial []float64
		want    string
	}{
		{func(n *navierStokes) { n.Viscosity = -1 }, nil, "nu = -1"},
		{func(n *navierStokes) { n.Viscosity = math.NaN() }, nil, "nu = NaN"},
		{func(n *navierStokes) { n.Points[1] = 3 }, nil, "8 x 3 points; navier-stokes needs at least 4 x 4"},
		{func(n *navierStokes) { n.Outputs = 1 }, nil, "axis t has 1 points"},
		{func(n *navierStokes) { n.Length[0] = -1 }, nil, "box of -1 x 1"},
		{func(n *navierStokes) { n.Time = 0 }, nil, "duration 0"},
		{func(n *navierStokes) { n.RTol = 1e-20 }, nil, "below the rounding"},
		{func(n *navierStokes) { n.ATol = math.NaN() }, nil, "atol NaN"},
		{func(n *navierStokes) {}, constant(64, 0.25), "mean 0.25 (root mean square 0.25); a periodic flow has mean 0 (option remove_mean subtracts it)"},
		{func(n *navierStokes) {}, append(constant(63, 0), math.NaN()), "initial condition is NaN at point 63"},
		{func(n *navierStokes) {}, constant(63, 0), "has 63 points, want 64"},
	} {
		n := good
		c.change(&n)
		initial := c.initial
		if initial == nil {
			initial = constant(64, 0)
		}
		_, err := n.Solve(make([]float64, 128), initial)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	axes := []grid.Axis{
		{Name: "t", Hi: 1, Points: 2, Boundary: grid.Nodes},
		{Name: "x", Hi: 1, Points: 8, Boundary: grid.Periodic},
		{Name: "y", Hi: 1, Points: 8, Boundary: grid.Cells},
	}
	for want, a := range map[string][]grid.Axis{
		"wants axis y (space) with periodic, not cells": axes,
		"wants three axes": axes[:2],
	} {
		if _, err := New("navier-stokes", Setting{Axes: a, Constants: map[string]float64{"nu": 1e-3}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// BenchmarkNavierStokes is one trajectory of the paper's data, 64 outputs over
// T = 5. Target: 4 s on two cores.
func BenchmarkNavierStokes(b *testing.B) {
	for _, points := range []int{64, 128, 256} {
		b.Run(fmt.Sprintf("n=%d", points), func(b *testing.B) {
			field, err := newPeriodicKernelField([]int{64, 64}, []int{points, points}, 0.8)
			if err != nil {
				b.Fatal(err)
			}
			w, dst := make([]float64, points*points), make([]float64, 64*points*points)
			field.Sample(check.Rand(1), w)
			c := navierStokes{Viscosity: 1e-4, Points: [2]int{points, points}, Time: 5, Outputs: 64}
			var stats Stats
			for b.Loop() {
				if stats, err = c.Solve(dst, w); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(stats.Steps), "steps")
		})
	}
}
