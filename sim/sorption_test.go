package sim

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"pihc/internal/check"
)

// rightHandSide is the method of lines written out from its definition,
// sharing nothing with the solver.
func rightHandSide(d diffusionSorption, du, u []float64) {
	n := len(u)
	dx := d.Length / float64(n)
	left, right := 1.0, d.D*(u[n-2]-u[n-1])/dx
	if d.WallConditions {
		left = 2 - u[0] // mean of ghost and cell is 1
		// (ghost + cell)/2 = -D (ghost - cell)/dx
		right = u[n-1] * (d.D/dx - 0.5) / (d.D/dx + 0.5)
	}
	for i := range u {
		a, b := left, right
		if i > 0 {
			a = u[i-1]
		}
		if i < n-1 {
			b = u[i+1]
		}
		r := 1 + (1-d.Phi)/d.Phi*d.RhoS*d.K*d.NF*math.Pow(max(u[i], 0)+1e-6, d.NF-1)
		du[i] = d.D / r * (a - 2*u[i] + b) / (dx * dx)
	}
}

// rungeKutta is the classical explicit method of order 4 with equal steps.
func rungeKutta(f func(du, u []float64), dst, initial []float64, duration float64, outputs, perOutput int) {
	n := len(initial)
	u := append([]float64{}, initial...)
	copy(dst, u)
	var k [4][]float64
	for i := range k {
		k[i] = make([]float64, n)
	}
	v := make([]float64, n)
	h := duration / float64((outputs-1)*perOutput)
	move := func(by float64, k []float64) []float64 {
		for i := range v {
			v[i] = u[i] + by*k[i]
		}
		return v
	}
	for output := 1; output < outputs; output++ {
		for range perOutput {
			f(k[0], u)
			f(k[1], move(h/2, k[0]))
			f(k[2], move(h/2, k[1]))
			f(k[3], move(h, k[2]))
			for i := range u {
				u[i] += h / 6 * (k[0][i] + 2*k[1][i] + 2*k[2][i] + k[3][i])
			}
		}
		copy(dst[output*n:], u)
	}
}

// Both at 1e-10: the solver and an explicit integration that shares no code
// with it agree, for both kinds of conditions and at every width of vectors.
func TestSorptionAgainstExplicit(t *testing.T) {
	const points, outputs = 32, 11
	initial := make([]float64, points)
	for i := range initial {
		initial[i] = 0.1 + 0.05*math.Sin(float64(7*i))
	}
	for _, wall := range []bool{false, true} {
		d := paperSorption(points)
		d.WallConditions, d.Outputs, d.RTol, d.ATol = wall, outputs, 1e-11, 1e-12
		d = d.withDefaults()
		want := make([]float64, outputs*points)
		rungeKutta(func(du, u []float64) { rightHandSide(d, du, u) }, want, initial, d.Time, outputs, 1600)
		t.Run(fmt.Sprintf("walls=%v", wall), func(t *testing.T) {
			check.Widths(t, func(t *testing.T) {
				got := make([]float64, outputs*points)
				if _, err := d.Solve(got, initial); err != nil {
					t.Fatal(err)
				}
				check.Close(t, got, want, 1e-10, 0)
			})
		})
	}
}

// Reference values at the paper's resolution, from SciPy's Radau at rtol
// 1e-11 on the same right-hand side: every 31st of 1024 cells at five times.
func TestSorptionAgainstSciPy(t *testing.T) {
	text, err := os.ReadFile("testdata/sorption.json")
	if err != nil {
		t.Fatal(err)
	}
	var reference struct {
		Times  []float64
		Stride int
		Cases  []struct {
			U0     float64
			Values [][]float64
		}
	}
	if err := json.Unmarshal(text, &reference); err != nil {
		t.Fatal(err)
	}
	if len(reference.Cases) == 0 {
		t.Fatal("no reference values")
	}
	const points, outputs = 1024, 1001
	dst := make([]float64, outputs*points)
	for _, c := range reference.Cases {
		d := paperSorption(points)
		d.Outputs, d.RTol, d.ATol = outputs, 1e-10, 1e-12
		if _, err := d.Solve(dst, constant(points, c.U0)); err != nil {
			t.Fatal(err)
		}
		for i, at := range reference.Times {
			row := dst[int(math.Round(at/500*(outputs-1)))*points:][:points]
			var got []float64
			for j := 0; j < points; j += reference.Stride {
				got = append(got, row[j])
			}
			check.Close(t, got, c.Values[i], 1e-9, 0)
		}
	}
}

// At its default tolerances the solver is within 1e-6 of its own solution at
// rtol 1e-10, in relative L2 over the trajectory.
func TestSorptionDefaultAccuracy(t *testing.T) {
	for _, u0 := range []float64{0, 1e-4, 0.01, 0.2} {
		d := paperSorption(1024)
		got, want := make([]float64, 101*1024), make([]float64, 101*1024)
		stats, err := d.Solve(got, constant(1024, u0))
		if err != nil {
			t.Fatal(err)
		}
		d.RTol, d.ATol = 1e-10, 1e-11
		if _, err := d.Solve(want, constant(1024, u0)); err != nil {
			t.Fatal(err)
		}
		e := check.RelativeL2(got, want)
		t.Logf("u0 = %g: %.1e, %+v", u0, e, stats)
		if e > 5e-7 {
			t.Errorf("u0 = %g: relative error %.2e, want at most 5e-7", u0, e)
		}
	}
}

// Facts of the equation with a constant initial condition: values between 0
// and 1, falling from left to right; what the cells store changes by what flows
// through the ends.
func TestSorptionFacts(t *testing.T) {
	const points, outputs = 128, 4001
	for _, u0 := range []float64{0, 0.05, 0.2} {
		d := paperSorption(points)
		d.Outputs, d.RTol, d.ATol = outputs, 1e-10, 1e-12
		d = d.withDefaults()
		u := make([]float64, outputs*points)
		if _, err := d.Solve(u, constant(points, u0)); err != nil {
			t.Fatal(err)
		}
		sorbing := (1 - d.Phi) / d.Phi * d.RhoS * d.K
		dx := d.Length / points
		store := func(row []float64) float64 { // ∫ R du summed over cells
			sum := 0.0
			for _, x := range row {
				sum += x + sorbing*math.Pow(x+d.Shift, d.NF)
			}
			return sum * dx
		}
		inflow := func(row []float64) float64 {
			right := d.D * (row[points-2] - row[points-1]) / dx
			return d.D / dx * ((1 - row[0]) + (right - row[points-1]))
		}
		for i := range outputs {
			row := u[i*points : (i+1)*points]
			for j, x := range row {
				if !(x > -1e-12 && x < 1) {
					t.Fatalf("u0 = %g, output %d: u[%d] = %g outside [0, 1)", u0, i, j, x)
				}
				if j > 0 && x > row[j-1]+1e-12 {
					t.Fatalf("u0 = %g, output %d: u[%d] = %g above its left neighbour %g", u0, i, j, x, row[j-1])
				}
			}
		}
		// Simpson's rule from where the solution is smooth in time.
		const from = 1000
		flow, h := 0.0, d.Time/(outputs-1)
		for i := from; i+2 < outputs; i += 2 {
			a, b, c := u[i*points:][:points], u[(i+1)*points:][:points], u[(i+2)*points:][:points]
			flow += h / 3 * (inflow(a) + 4*inflow(b) + inflow(c))
		}
		change := store(u[(outputs-1)*points:]) - store(u[from*points:][:points])
		if math.Abs(change-flow) > 1e-8*math.Abs(flow) {
			t.Errorf("u0 = %g: store changed by %.12g, inflow was %.12g", u0, change, flow)
		}
	}
}

// With the conditions on the walls the scheme is of second order in space;
// PDEBench's ghost values, one cell outside, make it first order. Both go to
// the same solution. Grids refined by three share cell centres.
func TestSorptionSpatialOrder(t *testing.T) {
	solve := func(points int, wall bool) []float64 {
		d := paperSorption(points)
		d.WallConditions, d.Outputs, d.RTol, d.ATol = wall, 2, 1e-9, 1e-10
		dst := make([]float64, 2*points)
		if _, err := d.Solve(dst, constant(points, 0.1)); err != nil {
			t.Fatal(err)
		}
		stride, sampled := points/27, []float64{}
		for i := stride / 2; i < points; i += stride {
			sampled = append(sampled, dst[points+i])
		}
		return sampled
	}
	fine := solve(27*27, true)
	for _, c := range []struct {
		wall   bool
		lo, hi float64
	}{{true, 1.8, 2.3}, {false, 0.8, 1.2}} {
		a, b := check.RelativeL2(solve(81, c.wall), fine), check.RelativeL2(solve(243, c.wall), fine)
		order := math.Log(a/b) / math.Log(3)
		t.Logf("walls=%v: %.2e -> %.2e, order %.2f", c.wall, a, b, order)
		if order < c.lo || order > c.hi {
			t.Errorf("walls=%v: order %.2f, want %g to %g", c.wall, order, c.lo, c.hi)
		}
	}
}

// R at u <= 0 is R at 0, with a zero derivative there.
func TestSorptionNegative(t *testing.T) {
	d := paperSorption(4).withDefaults()
	s := newSorption(d)
	u := []float64{-0.3, 0, -1e-6, 0.5}
	du := make([]float64, 4)
	s.linearize(du, u)
	want := math.Pow(1e-6, d.NF-1)
	check.Close(t, s.power[:3], []float64{want, want, want}, 1e-14, 0)
	check.Equal(t, s.rate[:3], []float64{0, 0, 0})
	if s.rate[3] == 0 {
		t.Error("no derivative of R at u = 0.5")
	}
}

// The Jacobian against central differences, through the factored matrix:
// (s·I - J)⁻¹ applied to (s·I - J)x gives x.
func TestSorptionJacobian(t *testing.T) {
	for _, wall := range []bool{false, true} {
		for _, points := range []int{3, 4, 17} {
			d := paperSorption(points)
			d.WallConditions = wall
			d = d.withDefaults()
			s := newSorption(d)
			rng := check.Rand(1)
			u, x := make([]float64, points), make([]float64, points)
			for i := range u {
				u[i], x[i] = 0.1+rng.Float64(), rng.NormFloat64()
			}
			const shift, h = 0.03, 1e-5
			du, plus, minus := make([]float64, points), make([]float64, points), make([]float64, points)
			product := make([]float64, points)
			for i := range u {
				plus[i], minus[i] = u[i]+h*x[i], u[i]-h*x[i]
			}
			rightHandSide(d, du, plus)
			copy(plus, du)
			rightHandSide(d, du, minus)
			for i := range u {
				product[i] = shift*x[i] - (plus[i]-du[i])/(2*h)
			}
			s.linearize(du, u)
			s.factor(shift)
			s.solve(product)
			check.Close(t, product, x, 1e-8, 0)
		}
	}
}

// One value serves several goroutines, with equal results.
func TestSorptionConcurrent(t *testing.T) {
	var s Solver = paperSorption(64)
	results := make([][]float64, 4)
	var all sync.WaitGroup
	for i := range results {
		results[i] = make([]float64, 101*64)
		all.Go(func() {
			if _, err := s.Solve(results[i], constant(64, 0.1)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, r := range results[1:] {
		check.Equal(t, r, results[0])
	}
}

func TestSorptionBadInput(t *testing.T) {
	good := paperSorption(16)
	for _, c := range []struct {
		change  func(*diffusionSorption)
		initial []float64
		want    string
	}{
		{func(d *diffusionSorption) { d.D = 0 }, nil, "D = 0: want a positive"},
		{func(d *diffusionSorption) { d.D = math.NaN() }, nil, "D = NaN"},
		{func(d *diffusionSorption) { d.Phi = 1 }, nil, "phi = 1: want a number between"},
		{func(d *diffusionSorption) { d.RhoS = -1 }, nil, "rho_s = -1"},
		{func(d *diffusionSorption) { d.K = math.Inf(1) }, nil, "k = +Inf"},
		{func(d *diffusionSorption) { d.NF = 0 }, nil, "n_f = 0"},
		{func(d *diffusionSorption) { d.Points = 2 }, nil, "axis x has 2 points; diffusion-sorption needs at least 3"},
		{func(d *diffusionSorption) { d.Outputs = 1 }, nil, "axis t has 1 points"},
		{func(d *diffusionSorption) { d.Length = -1 }, nil, "length -1"},
		{func(d *diffusionSorption) { d.Time = math.NaN() }, nil, "duration NaN"},
		{func(d *diffusionSorption) { d.Shift = -1e-6 }, nil, "shift -1e-06"},
		{func(d *diffusionSorption) { d.ATol = -1 }, nil, "atol -1"},
		{func(d *diffusionSorption) { d.RTol = 1e-16 }, nil, "below the rounding"},
		{func(d *diffusionSorption) {}, constant(15, 0.1), "initial condition has 15 points, want 16"},
		{func(d *diffusionSorption) {}, append(constant(15, 0.1), math.NaN()), "initial condition is NaN at point 15"},
		{func(d *diffusionSorption) {}, append(constant(15, 0.1), math.Inf(-1)), "-Inf at point 15"},
	} {
		d := good
		c.change(&d)
		initial := c.initial
		if initial == nil {
			initial = constant(16, 0.1)
		}
		var dst []float64
		if d.Outputs >= 0 && d.Points > 0 {
			shape := d.Shape()
			dst = make([]float64, shape[0]*shape[1])
		}
		_, err := d.Solve(dst, initial)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
