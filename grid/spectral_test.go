package grid

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pihc/compute"
	"pihc/internal/check"
)

// planeGrid is time and two periodic axes of different lengths.
func planeGrid(nt, nx, ny int) *Grid {
	return &Grid{Axes: []Axis{
		{Name: "t", Lo: 0, Hi: 5, Points: nt, Boundary: Nodes},
		{Name: "x", Lo: 0, Hi: 1, Points: nx, Boundary: Periodic},
		{Name: "y", Lo: -1, Hi: 2, Points: ny, Boundary: Periodic},
	}}
}

// spectralCase is an operator and its symbol as a formula of signed wave numbers:
// odd ones are zero at half an even number of points. The symbol is a real part
// and an imaginary part.
type spectralCase struct {
	name   string
	op     Operator
	symbol func(kx, ky, oddX, oddY float64) (re, im float64)
}

func spectralCases(t testing.TB, g *Grid) []spectralCase { return spectralCasesOf(t, g.NewSpectral()) }

func spectralCasesOf(t testing.TB, s *Spectral) []spectralCase {
	t.Helper()
	must := func(op Operator, err error) Operator {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return op
	}
	inverse := func(kx, ky float64) float64 {
		if kx == 0 && ky == 0 {
			return 0
		}
		return 1 / (kx*kx + ky*ky)
	}
	return []spectralCase{
		{"x1", must(s.Derivative(1, 1)), func(_, _, ox, _ float64) (float64, float64) { return 0, ox }},
		{"y1", must(s.Derivative(2, 1)), func(_, _, _, oy float64) (float64, float64) { return 0, oy }},
		{"x2", must(s.Derivative(1, 2)), func(kx, _, _, _ float64) (float64, float64) { return -kx * kx, 0 }},
		{"y3", must(s.Derivative(2, 3)), func(_, _, _, oy float64) (float64, float64) { return 0, -oy * oy * oy }},
		{"y4", must(s.Derivative(2, 4)), func(_, ky, _, _ float64) (float64, float64) { return ky * ky * ky * ky, 0 }},
		{"x5", must(s.Derivative(1, 5)), func(_, _, ox, _ float64) (float64, float64) { return 0, math.Pow(ox, 5) }},
		{"y6", must(s.Derivative(2, 6)), func(_, ky, _, _ float64) (float64, float64) { return -math.Pow(ky, 6), 0 }},
		{"laplacian", must(s.Laplacian()), func(kx, ky, _, _ float64) (float64, float64) { return -kx*kx - ky*ky, 0 }},
		{"velocity x", must(s.Velocity(1)), func(kx, ky, _, oy float64) (float64, float64) { return 0, oy * inverse(kx, ky) }},
		{"velocity y", must(s.Velocity(2)), func(kx, ky, ox, _ float64) (float64, float64) { return 0, -ox * inverse(kx, ky) }},
	}
}

// denseSpectral is the matrix of one slice by sums over all modes,
// T[p, q] = 1/W Σ_k symbol(k) exp(ik·(x_p - x_q)).
func denseSpectral(g *Grid, c spectralCase) []float64 {
	nx, ny := g.Axes[1].Points, g.Axes[2].Points
	width := nx * ny
	numbers := func(a Axis, f int) (even, odd float64) {
		if 2*f > a.Points {
			f -= a.Points
		}
		even = 2 * math.Pi / (a.Hi - a.Lo) * float64(f)
		if 2*f == a.Points {
			return even, 0
		}
		return even, even
	}
	matrix := make([]float64, width*width)
	for i := range nx {
		kx, ox := numbers(g.Axes[1], i)
		for j := range ny {
			ky, oy := numbers(g.Axes[2], j)
			re, im := c.symbol(kx, ky, ox, oy)
			for p := range width {
				for q := range width {
					angle := 2 * math.Pi * (float64(i*(p/ny-q/ny))/float64(nx) + float64(j*(p%ny-q%ny))/float64(ny))
					sin, cos := math.Sincos(angle)
					matrix[p*width+q] += (re*cos - im*sin) / float64(width)
				}
			}
		}
	}
	return matrix
}

func TestSpectralAgainstDense(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		for _, shape := range [][3]int{{2, 6, 8}, {3, 5, 4}, {2, 7, 9}, {1, 4, 11}} {
			g := planeGrid(shape[0], shape[1], shape[2])
			for _, c := range spectralCases(t, g) {
				t.Run(fmt.Sprintf("%v %s", shape, c.name), func(t *testing.T) { testSpectral(t, g, c) })
			}
		}
	})
}

func testSpectral(t *testing.T, g *Grid, c spectralCase) {
	rng := check.Rand(11)
	size := g.Size()
	width := size / g.Axes[0].Points
	matrix := denseSpectral(g, c)
	u := check.Normal(rng, make([]float64, size))
	want, wantT := make([]float64, size), make([]float64, size)
	for p := range size {
		lo := p / width * width
		for q := range width {
			want[p] += matrix[(p-lo)*width+q] * u[lo+q]
			wantT[lo+q] += matrix[(p-lo)*width+q] * u[p]
		}
	}
	got := make([]float64, size)
	c.op.Apply(got, u)
	check.Close(t, got, want, 1e-12, 1e-12)
	base := check.Normal(rng, make([]float64, size))
	got = append([]float64(nil), base...)
	c.op.ApplyTranspose(got, u)
	for i := range got {
		got[i] -= base[i]
	}
	check.Close(t, got, wantT, 1e-12, 1e-12)

	// Gather of n fields is Apply of each.
	gatherer := g.NewGatherer([]Operator{c.op}, nil)
	points := samplePoints(rng, size, max(3, size/3))
	points = append(points, points[0], points[len(points)/2])
	slices.Sort(points)
	for _, n := range []int{1, 3, 8, 16, 19} {
		basis := check.Normal(rng, make([]float64, size*n))
		rows := check.Guard[float64](len(points)*n, 3)
		Gather(gatherer, basis, n, list(points, rows.Slice()))
		rows.Verify(t)
		field, out := make([]float64, size), make([]float64, size)
		for f := range n {
			for p := range field {
				field[p] = basis[p*n+f]
			}
			c.op.Apply(out, field)
			column, at := make([]float64, len(points)), make([]float64, len(points))
			for r, p := range points {
				column[r], at[r] = rows.Slice()[r*n+f], out[p]
			}
			check.Close(t, column, at, 1e-12, 1e-12)
		}
	}
	check.AdjointIdentity(t, rng, size, len(points),
		func(y, x []float64) { Gather(gatherer, x, 1, list(points, y)) },
		func(x, y []float64) {
			clear(x)
			gatherer.Scatter([][]float64{x}, [][]Rows[float64]{list(points, y)}, 0)
		}, 1e-12)
	check.AdjointIdentity(t, rng, size, size, c.op.Apply,
		func(x, y []float64) { clear(x); c.op.ApplyTranspose(x, y) }, 1e-12)
}

// togetherCase is a Gatherer of operators of all kinds, and lists of rows of it.
func togetherCase[T compute.Float](t *testing.T, g *Grid, n int, pool *compute.Pool) (*Gatherer, []Rows[T]) {
	s := g.NewSpectral()
	ops := append(denseOperators(t, s), g.NewOperator(Product{Coef: 1}), g.NewOperator(Product{2, []*Line{line(t, g, "t", Scheme{Derivative: 1})}}))
	return g.NewGatherer(ops, pool), rowLists[T](g.Size(), len(ops), n)
}

// All operators together, on any number of workers, rows have the same bits as by
// themselves, whichever points are asked for.
func TestGatherTogether(t *testing.T) {
	t.Run("float64", gatherTogether[float64])
	t.Run("float32", gatherTogether[float32])
}

func gatherTogether[T compute.Float](t *testing.T) {
	g := planeGrid(11, 8, 6)
	for _, n := range []int{1, 3, 16} {
		basis := check.Normal(check.Rand(6), make([]T, g.Size()*n))
		for _, workers := range []int{1, 3} {
			pool := compute.NewPool(workers)
			gatherer, lists := togetherCase[T](t, g, n, pool)
			Gather(gatherer, basis, n, lists)
			pool.Close()
			for i, l := range lists {
				for j, o := range l.Operators {
					op := Operator(gatherer.ops[o].spectral)
					if s := gatherer.ops[o].stencil; s != nil {
						op = s
					}
					check.Equal(t, l.Values[j], gatherOf(g, op, basis, n, l.Points))
					if len(l.Points) == 0 {
						continue
					}
					one := gatherOf(g, op, basis, n, l.Points[:1])
					check.Equal(t, one, l.Values[j][:n])
				}
				if t.Failed() {
					t.Fatalf("n = %d, %d workers, list %d", n, workers, i)
				}
			}
		}
	}
}

// Scatter is the transpose of Gather, for several lists, operators and fields at
// once, with slices that do not fill the last block and points that repeat.
func TestScatterTogether(t *testing.T) {
	g := planeGrid(11, 8, 6)
	pool := compute.NewPool(2)
	defer pool.Close()
	gatherer, lists := togetherCase[float64](t, g, 1, pool)
	lists[1].Points[1] = lists[1].Points[0]
	rng := check.Rand(7)
	u := check.Normal(rng, make([]float64, g.Size()))
	Gather(gatherer, u, 1, lists)
	want := 0.0
	for _, l := range lists {
		for _, v := range l.Values {
			w := check.Normal(rng, make([]float64, len(v)))
			want += check.Dot(v, w)
			copy(v, w)
		}
	}
	start := check.Normal(rng, make([]float64, g.Size()))
	fields := [][]float64{slices.Clone(start), make([]float64, g.Size()), make([]float64, g.Size())}
	gatherer.Scatter(fields, [][]Rows[float64]{lists, nil, lists[1:]}, 0)
	for p, v := range start {
		fields[0][p] -= v
	}
	if got := check.Dot(fields[0], u); math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("⟨Tᵀz, u⟩ = %g, ⟨z, Tu⟩ = %g", got, want)
	}
	check.Equal(t, fields[1], make([]float64, g.Size()))
	gatherer.Scatter(fields[2:], [][]Rows[float64]{lists[:1]}, 0)
	check.Close(t, fields[2], fields[0], 1e-12, 1e-12)
	checkWindows(t, gatherer, lists)
}

// Rows that others are added to have the factor times what the operator gives more.
func TestGatherAdd(t *testing.T) {
	t.Run("float64", func(t *testing.T) { gatherAdd[float64](t, 1e-13) })
	t.Run("float32", func(t *testing.T) { gatherAdd[float32](t, 2e-6) })
}

func gatherAdd[T compute.Float](t *testing.T, tolerance float64) {
	const factor = -0.3
	g := planeGrid(3, 12, 10)
	ops := append(denseOperators(t, g.NewSpectral()), g.NewOperator(Product{Coef: 1}))
	host := len(ops) - 1
	points := []int32{3, 17, 18, 150, 310}
	for _, n := range []int{1, 16} {
		basis := check.Normal(check.Rand(2), make([]T, g.Size()*n))
		for o := range host {
			gatherer := g.NewGatherer(ops, nil)
			gatherer.Add(o, host, factor)
			rows := Rows[T]{points, []int{o, host}, [][]T{nil, make([]T, len(points)*n)}}
			alone := Rows[T]{points, []int{host}, [][]T{make([]T, len(points)*n)}} // not asked for the other
			Gather(gatherer, basis, n, []Rows[T]{rows, alone})
			got, want := make([]float64, len(points)*n), make([]float64, len(points)*n)
			for i, v := range gatherOf(g, ops[o], basis, n, points) {
				got[i] = float64(rows.Values[1][i])
				want[i] = float64(alone.Values[0][i]) + factor*float64(v)
			}
			check.Equal(t, alone.Values[0], gatherOf(g, ops[host], basis, n, points))
			if e := check.RelativeL2(got, want); e > tolerance {
				t.Errorf("n = %d, %v: rows differ by %g", n, ops[o], e)
			}
		}
	}
}

// On modes below half the points every operator is exact.
func TestSpectralExact(t *testing.T) {
	g := planeGrid(2, 12, 16)
	wx, wy := 2*math.Pi*3, 2*math.Pi*2/3.0
	kk := wx*wx + wy*wy
	coordinate := func(p int) (x, y float64) {
		index := make([]int, 3)
		g.Unravel(p, index)
		return g.Axes[1].Coordinate(index[1]), g.Axes[2].Coordinate(index[2])
	}
	field := func(f func(x, y float64) float64) []float64 {
		u := make([]float64, g.Size())
		for p := range u {
			u[p] = f(coordinate(p))
		}
		return u
	}
	wave := func(x, y float64) float64 { return 0.7 + math.Sin(wx*x+wy*y+0.4) }
	cos := func(c float64) func(x, y float64) float64 {
		return func(x, y float64) float64 { return c * math.Cos(wx*x+wy*y+0.4) }
	}
	sin := func(c float64) func(x, y float64) float64 {
		return func(x, y float64) float64 { return c * math.Sin(wx*x+wy*y+0.4) }
	}
	want := map[string]func(x, y float64) float64{
		"x1": cos(wx), "y1": cos(wy), "x2": sin(-wx * wx), "y3": cos(-wy * wy * wy), "y4": sin(wy * wy * wy * wy),
		"x5": cos(math.Pow(wx, 5)), "y6": sin(-math.Pow(wy, 6)),
		"laplacian": sin(-kk), "velocity x": cos(wy / kk), "velocity y": cos(-wx / kk),
	}
	u, got := field(wave), make([]float64, g.Size())
	for _, c := range spectralCases(t, g) {
		c.op.Apply(got, u)
		tolerance := 1e-12
		if c.name == "x5" || c.name == "y6" {
			tolerance = 1e-11 // rounding of the highest waves counts 4^6 times
		}
		check.Close(t, got, field(want[c.name]), tolerance, tolerance)
	}
}

// A periodic analytic function is differentiated with an error that falls faster
// than any power of the step: at least by the square each time points double.
func TestSpectralOrder(t *testing.T) {
	errorAt := func(n int) float64 {
		g := planeGrid(1, n, 4)
		op, err := g.NewSpectral().Derivative(1, 1)
		if err != nil {
			t.Fatal(err)
		}
		u, got := make([]float64, g.Size()), make([]float64, g.Size())
		worst := 0.0
		for p := range u {
			u[p] = math.Exp(math.Sin(2 * math.Pi * float64(p/4) / float64(n)))
		}
		op.Apply(got, u)
		for p := range u {
			want := 2 * math.Pi * math.Cos(2*math.Pi*float64(p/4)/float64(n)) * u[p]
			worst = max(worst, math.Abs(got[p]-want))
		}
		return worst / (2 * math.Pi)
	}
	for _, n := range []int{6, 8, 10} {
		if coarse, fine := errorAt(n), errorAt(2*n); fine > coarse*coarse {
			t.Errorf("error %.2g with %d points, %.2g with %d: want its square", coarse, n, fine, 2*n)
		}
	}
}

// The velocity of a vorticity has no divergence, and its curl is the vorticity
// without its mean, unless half modes are there.
func TestSpectralVelocityCurl(t *testing.T) {
	g := planeGrid(2, 9, 15)
	s := g.NewSpectral()
	rng := check.Rand(2)
	w := check.Normal(rng, make([]float64, g.Size()))
	apply := func(op Operator, err error) func(u []float64) []float64 {
		if err != nil {
			t.Fatal(err)
		}
		return func(u []float64) []float64 {
			out := make([]float64, len(u))
			op.Apply(out, u)
			return out
		}
	}
	dx, dy := apply(s.Derivative(1, 1)), apply(s.Derivative(2, 1))
	vx, vy := apply(s.Velocity(1))(w), apply(s.Velocity(2))(w)
	divergence, curl := dx(vx), dx(vy)
	width := g.Size() / 2
	for lo := 0; lo < len(w); lo += width {
		mean := 0.0
		for _, v := range w[lo : lo+width] {
			mean += v / float64(width)
		}
		for p := lo; p < lo+width; p++ {
			w[p] -= mean
		}
	}
	for p, v := range dy(vy) {
		divergence[p] += v
	}
	for p, v := range dy(vx) {
		curl[p] -= v
	}
	check.Close(t, divergence, make([]float64, len(w)), 0, 1e-12)
	check.Close(t, curl, w, 1e-12, 1e-12)
}

func TestSpectralErrors(t *testing.T) {
	g := planeGrid(3, 4, 4)
	s := g.NewSpectral()
	walls := planeGrid(3, 4, 4)
	walls.Axes[2].Boundary = Nodes
	w := walls.NewSpectral()
	line := (&Grid{Axes: g.Axes[:2]}).NewSpectral()
	for _, c := range []struct {
		want string
		make func() (Operator, error)
	}{
		{"axis y has boundary nodes; a spectral derivative needs it periodic", func() (Operator, error) { return w.Derivative(2, 1) }},
		{"axis y has boundary nodes; a spectral laplacian needs it periodic", w.Laplacian},
		{"axis y has boundary nodes; a spectral velocity needs it periodic", func() (Operator, error) { return w.Velocity(1) }},
		{"acts on slices along t", func() (Operator, error) { return s.Derivative(0, 1) }},
		{"order 7: want 1 to 6", func() (Operator, error) { return s.Derivative(1, 7) }},
		{"no component along t", func() (Operator, error) { return s.Velocity(0) }},
		{"two axes of space, not 1", func() (Operator, error) { return line.Velocity(1) }},
	} {
		if _, err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v; want %q", err, c.want)
		}
	}
	if _, err := w.Derivative(1, 1); err != nil {
		t.Errorf("a derivative along the periodic axis: %v", err)
	}
}

// Workers share an operator: equal results, and nothing proportional to the grid
// is allocated after the first call.
func TestSpectralConcurrent(t *testing.T) {
	g := planeGrid(6, 16, 16)
	u := check.Normal(check.Rand(8), make([]float64, g.Size()))
	cases := spectralCases(t, g)
	want := make([][]float64, len(cases))
	for i, c := range cases {
		want[i] = make([]float64, len(u))
		c.op.Apply(want[i], u)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			got := make([]float64, len(u))
			for i, c := range cases {
				c.op.Apply(got, u)
				check.Equal(t, got, want[i])
			}
		})
	}
	wait.Wait()
	for _, c := range cases {
		if a := testing.AllocsPerRun(5, func() { c.op.Apply(want[0], u); c.op.ApplyTranspose(want[1], u) }); a != 0 {
			t.Errorf("%s: %v allocations", c.name, a)
		}
	}
}

func BenchmarkSpectral(b *testing.B) {
	g := planeGrid(64, 64, 64)
	points := make([]int32, 0, 20000)
	for p := 0; p < g.Size(); p += 13 {
		points = append(points, int32(p))
	}
	var ops []Operator
	for _, c := range spectralCases(b, g)[:5] {
		ops = append(ops, c.op)
	}
	gatherer := g.NewGatherer(ops, nil)
	for _, n := range []int{1, 16, 64} {
		basis := check.Normal(check.Rand(1), make([]float64, g.Size()*n))
		rows := make([]float64, len(points)*n)
		one := list(points, rows)
		b.Run(fmt.Sprintf("Gather/%d", n), func(b *testing.B) {
			for b.Loop() {
				Gather(gatherer, basis, n, one)
			}
		})
	}
	// Four experts and five terms of 16 functions.
	const n = 16
	basis := check.Normal(check.Rand(1), make([]float64, g.Size()*n))
	var wanted []Rows[float64]
	for range 4 {
		r := Rows[float64]{Points: points, Operators: []int{0, 1, 2, 3, 4}}
		for range ops {
			r.Values = append(r.Values, make([]float64, len(points)*n))
		}
		wanted = append(wanted, r)
	}
	b.Run("Gather/16x5x4", func(b *testing.B) {
		for b.Loop() {
			Gather(gatherer, basis, n, wanted)
		}
	})
	fields, rows := [][]float64{make([]float64, g.Size())}, [][]Rows[float64]{list(points, make([]float64, len(points)))}
	b.Run("Scatter", func(b *testing.B) {
		for b.Loop() {
			gatherer.Scatter(fields, rows, 0)
		}
	})
}
