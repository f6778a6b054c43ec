package grid

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pihc/compute"
	"pihc/internal/check"
)

// denseMatrix is the slow, obvious operator: a P x P matrix and an affine vector, built
// from Kronecker products of the lines' own matrices.
type denseMatrix struct {
	p       int
	matrix  []float64
	affine  []float64
	defined []bool
}

func newDenseMatrix(g *Grid, terms []Product) *denseMatrix {
	p := g.Size()
	d := &denseMatrix{p, make([]float64, p*p), make([]float64, p), make([]bool, p)}
	index := make([]int, len(g.Axes))
	strides := g.Strides()
	for q := range d.defined {
		d.defined[q] = true
		g.Unravel(q, index)
		for _, t := range terms {
			for _, l := range t.Lines {
				d.defined[q] = d.defined[q] && l.Defined(index[l.axis])
			}
		}
	}
	for _, t := range terms {
		// Carry the identity and a zero vector through the lines, last first.
		m, c := make([]float64, p*p), make([]float64, p)
		for q := range p {
			m[q*p+q] = 1
		}
		for k := len(t.Lines) - 1; k >= 0; k-- {
			l := t.Lines[k]
			nm, nc := make([]float64, p*p), make([]float64, p)
			for q := range p {
				g.Unravel(q, index)
				i := index[l.axis]
				from, coefs, constant, ok := l.Row(i)
				if !ok {
					continue
				}
				nc[q] = constant
				for e, j := range from {
					src := q + (j-i)*strides[l.axis]
					nc[q] += coefs[e] * c[src]
					for col := range p {
						nm[q*p+col] += coefs[e] * m[src*p+col]
					}
				}
			}
			m, c = nm, nc
		}
		for q := range p {
			if d.defined[q] {
				d.affine[q] += t.Coef * c[q]
				for col := range p {
					d.matrix[q*p+col] += t.Coef * m[q*p+col]
				}
			}
		}
	}
	return d
}

func (d *denseMatrix) apply(u []float64) []float64 {
	out := make([]float64, d.p)
	for q := range out {
		out[q] = check.Dot(d.matrix[q*d.p:(q+1)*d.p], u)
	}
	return out
}

func (d *denseMatrix) transpose(z []float64) []float64 {
	out := make([]float64, d.p)
	for q := range z {
		for col := range out {
			out[col] += d.matrix[q*d.p+col] * z[q]
		}
	}
	return out
}

func line(t testing.TB, g *Grid, name string, s Scheme) *Line {
	t.Helper()
	axis := slices.IndexFunc(g.Axes, func(a Axis) bool { return a.Name == name })
	l, err := g.Axes[axis].Derivative(axis, s)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func edge(t testing.TB, g *Grid, name string, high bool, derivative int, at Location, points int) *Line {
	t.Helper()
	axis := slices.IndexFunc(g.Axes, func(a Axis) bool { return a.Name == name })
	l, err := g.Axes[axis].Edge(axis, high, derivative, at, points)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

type operatorCase struct {
	name  string
	grid  *Grid
	terms []Product
}

func operatorCases(t testing.TB) []operatorCase {
	two, three := testGrid(7, 11), testGrid(5, 6, 8)
	plane := &Grid{Axes: []Axis{{"y", 0, 3, 9, Periodic}, {"x", 0, 1, 7, Periodic}}}
	ghost := Scheme{Derivative: 2, Closure: Ghost, Low: &GhostValue{Constant: 1}, High: &GhostValue{Weights: []float64{-0.3, 0.3}}}
	cases := []operatorCase{
		{"identity", two, []Product{{Coef: 1}}},
		{"scaled identity", three, []Product{{Coef: -2.5}}},
		{"u_x ghost", two, []Product{{1, []*Line{line(t, two, "x", ghost)}}}},
		{"heat", two, []Product{
			{1, []*Line{line(t, two, "t", Scheme{Derivative: 1, Order: 2, Side: -1})}},
			{-0.1, []*Line{line(t, two, "x", ghost)}},
		}},
		{"u_tx affine", two, []Product{{2, []*Line{
			line(t, two, "t", Scheme{Derivative: 1, Closure: Ghost, Low: &GhostValue{Constant: 3}}), line(t, two, "x", ghost),
		}}}},
		{"u_xt affine", two, []Product{{2, []*Line{
			line(t, two, "x", ghost), line(t, two, "t", Scheme{Derivative: 0}),
		}}}},
		{"composed", two, []Product{{1, []*Line{compose(
			line(t, two, "x", Scheme{Derivative: 1, Closure: Extrapolated}), line(t, two, "x", ghost))}}}},
		{"repeated", two, []Product{{1, []*Line{line(t, two, "x", Scheme{Derivative: 2, Repeated: true})}}}},
		{"wall value", two, []Product{{1, []*Line{edge(t, two, "x", true, 1, Wall, 3)}}}},
		{"corner", three, []Product{{1, []*Line{edge(t, three, "x", false, 0, GhostPoint, 3), edge(t, three, "t", false, 0, Inner, 1)}}}},
		{"wall and derivative", two, []Product{
			{1, []*Line{edge(t, two, "x", true, 0, GhostPoint, 3)}},
			{0.2, []*Line{line(t, two, "t", Scheme{Derivative: 1, Closure: Undefined})}},
		}},
		{"Laplacian", plane, []Product{
			{1, []*Line{line(t, plane, "x", Scheme{Derivative: 2, Order: 4})}},
			{1, []*Line{line(t, plane, "y", Scheme{Derivative: 2, Order: 6})}},
		}},
	}
	for _, order := range []int{2, 4, 6} {
		for _, side := range []int{0, -1, 1} {
			for _, closure := range []Closure{OneSided, Extrapolated, Undefined} {
				if order == 6 && (side != 0 || closure == Extrapolated) {
					continue // more points than the small axes have
				}
				s := Scheme{Derivative: 1, Order: order, Side: side, Closure: closure}
				g := testGrid(9, 8, 9)
				cases = append(cases, operatorCase{fmt.Sprintf("u_txy %d %d %s", order, side, closure), g, []Product{{0.5, []*Line{
					line(t, g, "t", s), line(t, g, "x", s), line(t, g, "y", Scheme{Derivative: 1, Order: order, Side: side}),
				}}}})
			}
		}
	}
	return cases
}

func TestOperatorAgainstDense(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		for _, c := range operatorCases(t) {
			t.Run(c.name, func(t *testing.T) { testOperator(t, c) })
		}
	})
}

func testOperator(t *testing.T, c operatorCase) {
	rng := check.Rand(7)
	op, want := c.grid.NewOperator(c.terms...), newDenseMatrix(c.grid, c.terms)
	p := c.grid.Size()
	const tolerance = 1e-14

	u := check.Normal(rng, make([]float64, p))
	got := check.Guard[float64](p, 1)
	op.Apply(got.Slice(), u)
	got.Verify(t)
	check.Close(t, got.Slice(), want.apply(u), tolerance, 0)

	affine := false
	for q := range p {
		affine = affine || math.Abs(want.affine[q]) > 1e-12
		if op.Defined(q) != want.defined[q] {
			t.Fatalf("defined at %d: %t", q, op.Defined(q))
		}
	}
	if op.Affine() != affine {
		t.Errorf("Affine %t, want %t", op.Affine(), affine)
	}

	// The transpose adds to what is there.
	start := check.Normal(rng, make([]float64, p))
	got = check.Guard[float64](p, 3)
	copy(got.Slice(), start)
	op.ApplyTranspose(got.Slice(), u)
	got.Verify(t)
	sum := want.transpose(u)
	for q := range sum {
		sum[q] += start[q]
	}
	check.Close(t, got.Slice(), sum, tolerance, 0)

	check.AdjointIdentity(t, rng, p, p, op.Apply, op.ApplyTranspose, tolerance)

	// Rows at sampled points (repeats allowed) of several fields.
	gatherer := c.grid.NewGatherer([]Operator{op}, nil)
	points := samplePoints(rng, p, 2*p/3+5)
	for _, n := range []int{1, 7, 16, 29} {
		basis := check.Guard[float64](p*n, 5)
		check.Normal(rng, basis.Slice())
		rows := check.Guard[float64](len(points)*n, 2)
		Gather(gatherer, basis.Slice(), n, list(points, rows.Slice()))
		rows.Verify(t)
		expected := make([]float64, len(points)*n)
		field := make([]float64, p)
		for j := range n {
			for q := range field {
				field[q] = basis.Slice()[q*n+j]
			}
			applied := want.apply(field)
			for r, q := range points {
				expected[r*n+j] = applied[q]
			}
		}
		check.Close(t, rows.Slice(), expected, tolerance, 0)
	}
	check.AdjointIdentity(t, rng, p, len(points),
		func(y, x []float64) { Gather(gatherer, x, 1, list(points, y)) },
		func(x, y []float64) { gatherer.Scatter([][]float64{x}, [][]Rows[float64]{list(points, y)}, 0) }, tolerance)
	few := points[:len(points)/40] // each by itself
	check.AdjointIdentity(t, rng, p, len(few),
		func(y, x []float64) { Gather(gatherer, x, 1, list(few, y)) },
		func(x, y []float64) { gatherer.Scatter([][]float64{x}, [][]Rows[float64]{list(few, y)}, 0) }, tolerance)
	for _, points := range [][]int32{points, few} {
		checkWindows(t, gatherer, list(points, check.Normal(rng, make([]float64, len(points)))))
	}

	offset := slices.Repeat([]float64{1}, len(points))
	op.AddOffset(offset, points)
	for r, q := range points {
		if math.Abs(offset[r]-1-want.affine[q]) > 1e-12*(1+math.Abs(want.affine[q])) {
			t.Errorf("offset at point %d: %g, want %g", q, offset[r], want.affine[q])
		}
	}
}

func samplePoints(rng *rand.Rand, p, m int) []int32 {
	points := make([]int32, m)
	for r := range points {
		points[r] = int32(rng.IntN(p))
	}
	slices.Sort(points)
	return points
}

// list is one list of rows of a gatherer's operators.
func list[T compute.Float](points []int32, values ...[]T) []Rows[T] {
	r := Rows[T]{Points: points, Values: values}
	for o := range values {
		r.Operators = append(r.Operators, o)
	}
	return []Rows[T]{r}
}

// gatherOf gives rows of one operator by itself.
func gatherOf[T compute.Float](g *Grid, op Operator, basis []T, n int, points []int32) []T {
	rows := make([]T, len(points)*n)
	Gather(g.NewGatherer([]Operator{op}, nil), basis, n, list(points, rows))
	return rows
}

func TestNewOperatorPanics(t *testing.T) {
	g := testGrid(7, 11)
	x := line(t, g, "x", Scheme{Derivative: 1})
	for _, terms := range [][]Product{
		{},
		{{1, []*Line{x, x}}},
		{{1, []*Line{line(t, testGrid(7, 12), "x", Scheme{Derivative: 1})}}},
		{{1, []*Line{line(t, testGrid(7, 12, 5), "y", Scheme{Derivative: 1})}}},
	} {
		mustPanic(t, func() { g.NewOperator(terms...) })
	}
	mustPanic(t, func() { compose(x, line(t, g, "t", Scheme{Derivative: 1})) })
	op := g.NewOperator(Product{1, []*Line{x}})
	short := make([]float64, 76)
	mustPanic(t, func() { op.Apply(short, make([]float64, 77)) })
	mustPanic(t, func() { op.ApplyTranspose(make([]float64, 77), short) })
	gatherer := g.NewGatherer([]Operator{op}, nil)
	mustPanic(t, func() { Gather(gatherer, make([]float64, 77*2), 2, list([]int32{1}, make([]float64, 4))) })
	mustPanic(t, func() { Gather(gatherer, make([]float64, 77), 2, list([]int32{1}, make([]float64, 2))) })
	mustPanic(t, func() { op.AddOffset(make([]float64, 3), []int32{1}) })
	mustPanic(t, func() { gatherer.Add(0, 0, 1) })
}

func TestOperatorName(t *testing.T) {
	g := testGrid(7, 11)
	op := g.NewOperator(
		Product{1, []*Line{line(t, g, "t", Scheme{Derivative: 1, Side: -1})}},
		Product{-0.5, []*Line{line(t, g, "x", Scheme{Derivative: 2, Closure: Extrapolated})}}, Product{Coef: 3})
	want := "u_t [backward, order 1, one-sided ends] + -0.5 u_xx [central, order 2, ghosts extrapolated from 3 points] + 3 u"
	if got := op.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// large is u_xx of diffusion-sorption at the paper's size, with sampled points.
func large(t testing.TB, n int) (g *Grid, op Operator, basis, rows []float64, points []int32) {
	g = &Grid{Axes: []Axis{{"t", 0, 500, 101, Nodes}, {"x", 0, 1, 1024, Cells}}}
	op = g.NewOperator(Product{1, []*Line{line(t, g, "x", Scheme{Derivative: 2, Closure: Extrapolated})}})
	size := g.Size()
	rng := check.Rand(9)
	all := rng.Perm(101 * 256) // one of four experts
	points = make([]int32, 20000)
	for r := range points {
		points[r] = int32(all[r]/256*1024 + all[r]%256)
	}
	slices.Sort(points)
	return g, op, check.Normal(rng, make([]float64, size*n)), make([]float64, len(points)*n), points
}

func TestOperatorAllocations(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		g, op, basis, rows, points := large(t, 16)
		u, z := basis[:g.Size()], make([]float64, g.Size())
		if n := testing.AllocsPerRun(10, func() { // the mean, whole: one elsewhere does not count
			op.Apply(z, u)
			op.ApplyTranspose(z, u)
			op.AddOffset(rows[:len(points)], points)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func BenchmarkOperator(b *testing.B) {
	for _, n := range []int{16, 64} {
		g, op, basis, rows, points := large(b, n)
		gatherer, rowsOf := g.NewGatherer([]Operator{op}, nil), list(points, rows)
		b.Run(fmt.Sprintf("Gather/n=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(points) * n * 8 * 4)) // three rows read, one written
			for b.Loop() {
				Gather(gatherer, basis, n, rowsOf)
			}
		})
	}
	g, op, basis, rows, points := large(b, 2)
	u, z := basis[:g.Size()], make([]float64, g.Size())
	gatherer := g.NewGatherer([]Operator{op}, nil)
	fields, values := [][]float64{z}, [][]Rows[float64]{list(points, rows[:len(points)])}
	b.Run("Apply", func(b *testing.B) {
		for b.Loop() {
			op.Apply(z, u)
		}
	})
	b.Run("ApplyTranspose", func(b *testing.B) {
		for b.Loop() {
			op.ApplyTranspose(z, u)
		}
	})
	b.Run("Scatter", func(b *testing.B) {
		for b.Loop() {
			gatherer.Scatter(fields, values, 0)
		}
	})
}

// Rows of several fields are those of each alone; Scatter is the transpose, ⟨Ax, y⟩ =
// ⟨x, Aᵀy⟩; with stencils and spectral operators, in both precisions, few rows and many.
func TestGathererFields(t *testing.T) {
	g := &Grid{Axes: []Axis{{"t", 0, 1, 4, Nodes}, {"x", 0, 1, 6, Periodic}, {"y", 0, 2, 8, Periodic}}}
	space := g.NewSpectral()
	line, err := g.Axes[1].Derivative(1, Scheme{Derivative: 1})
	if err != nil {
		t.Fatal(err)
	}
	laplacian, err := space.Laplacian()
	if err != nil {
		t.Fatal(err)
	}
	velocity, err := space.Velocity(2)
	if err != nil {
		t.Fatal(err)
	}
	slope := g.NewOperator(Product{1, []*Line{line}})
	ops, of := []Operator{slope, laplacian, slope, velocity, slope}, []int{0, 2, 1, 0, 2}
	const fields, n = 3, 5
	size, rng := g.Size(), check.Rand(17)
	for _, count := range []int{5, size} {
		points := make([]int32, count)
		for i := range points {
			points[i] = int32(i * size / count)
		}
		lists := func(n int) []Rows[float64] {
			r := Rows[float64]{Points: points, Operators: []int{0, 1, 2, 3, 4}}
			for range ops {
				r.Values = append(r.Values, make([]float64, count*n))
			}
			return []Rows[float64]{r}
		}
		gatherer := g.NewGatherer(ops, nil)
		gatherer.Fields(of)
		basis := check.Normal(rng, make([]float64, fields*size*n))
		all := lists(n)
		Gather(gatherer, basis, n, all)
		narrow, rows32 := make([]float32, len(basis)), Rows[float32]{Points: points, Operators: all[0].Operators}
		for i, v := range basis {
			narrow[i] = float32(v)
		}
		for range ops {
			rows32.Values = append(rows32.Values, make([]float32, count*n))
		}
		Gather(gatherer, narrow, n, []Rows[float32]{rows32})
		for o, op := range ops {
			alone := lists(n)
			Gather(g.NewGatherer(ops, nil), basis[of[o]*size*n:(of[o]+1)*size*n], n, alone)
			check.Close(t, all[0].Values[o], alone[0].Values[o], 0, 0)
			wide := make([]float64, len(rows32.Values[o]))
			for i, v := range rows32.Values[o] {
				wide[i] = float64(v)
			}
			if d := check.RelativeL2(wide, all[0].Values[o]); d > 1e-4 {
				t.Errorf("%v, float32: rows differ by %g", op, d)
			}
		}

		x, y := check.Normal(rng, make([]float64, fields*size)), lists(1)
		ax, aty := lists(1), make([]float64, fields*size)
		Gather(gatherer, x, 1, ax)
		var left, right float64
		for o := range ops {
			check.Normal(rng, y[0].Values[o])
			for i, v := range ax[0].Values[o] {
				left += v * y[0].Values[o][i]
			}
		}
		gatherer.Scatter([][]float64{aty}, [][]Rows[float64]{y}, 0)
		checkWindows(t, gatherer, y)
		for i, v := range aty {
			right += v * x[i]
		}
		if math.Abs(left-right) > 1e-11*math.Abs(left) {
			t.Errorf("%d rows: ⟨Ax, y⟩ = %.15g, ⟨x, Aᵀy⟩ = %.15g", count, left, right)
		}
	}
}

// checkWindows compares what Scatter adds to some slices at a time with what it adds to all: the same bits.
func checkWindows(t *testing.T, g *Gatherer, rows []Rows[float64]) {
	t.Helper()
	whole := check.Normal(check.Rand(8), make([]float64, g.fields*g.size()))
	start := slices.Clone(whole)
	g.Scatter([][]float64{whole}, [][]Rows[float64]{rows}, 0)
	for _, count := range []int{1, 3, g.slices - 1} {
		for first := 0; first < g.slices && count > 0; first += count {
			var part, want []float64
			lo, hi := first*g.width, min(first+count, g.slices)*g.width
			for at := 0; at < len(whole); at += g.size() {
				part, want = append(part, start[at+lo:at+hi]...), append(want, whole[at+lo:at+hi]...)
			}
			g.Scatter([][]float64{part}, [][]Rows[float64]{rows}, first)
			check.Equal(t, part, want)
		}
	}
}
