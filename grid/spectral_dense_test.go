package grid

import (
	"testing"

	"pihc/compute"
	"pihc/internal/check"
	"pihc/internal/kernel"
)

// Products with dense matrices give the rows that Fourier transforms give, to the
// rounding of float32: of operators along each axis, along both, and neither.
func TestDense(t *testing.T) {
	for _, shape := range [][2]int{{8, 6}, {5, 9}, {32, 32}} {
		g := planeGrid(3, shape[0], shape[1])
		s := g.NewSpectral()
		ops := denseOperators(t, s)
		for _, n := range []int{1, 3, 32, 40} {
			rng := check.Rand(uint64(n))
			narrow := check.Normal(rng, make([]float32, g.Size()*n))
			basis := make([]float64, len(narrow))
			for i, v := range narrow {
				basis[i] = float64(v)
			}
			gatherer := g.NewGatherer(ops, nil)
			lists := rowLists[float32](g.Size(), len(ops), n)
			Gather(gatherer, narrow, n, lists)
			for i, l := range lists {
				for j, o := range l.Operators {
					got := make([]float64, len(l.Values[j]))
					kernel.Widen(got, l.Values[j])
					want := gatherOf(g, ops[o], basis, n, l.Points)
					if e := check.RelativeL2(got, want); len(want) > 0 && e > 2e-6 {
						t.Errorf("%v, n = %d, list %d, %v: rows differ by %g", shape, n, i, ops[o], e)
					}
				}
			}
			if gatherer.dense == nil && n > 1 {
				t.Error("no dense tables")
			}
		}
	}
}

// denseOperators are one of every kind.
func denseOperators(t testing.TB, s *Spectral) []Operator {
	var ops []Operator
	add := func(op Operator, err error) {
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, op)
	}
	for order := 1; order <= 4; order++ {
		add(s.Derivative(1, order))
	}
	add(s.Derivative(2, 1))
	add(s.Velocity(2))
	add(s.Laplacian())
	add(s.Velocity(1))
	// Neither even nor odd along an axis: both parts of the kernels along y count.
	add(s.operator("translation", true, func(k []mode) float64 { return k[0].odd*k[0].odd*k[1].odd - k[0].odd*k[1].odd*k[1].odd + k[0].odd }), nil)
	return ops
}

// rowLists are rows here and there, of all operators and of some.
func rowLists[T compute.Float](size, ops, n int) []Rows[T] {
	var lists []Rows[T]
	for i, every := range []int{2, 7, 1000000} {
		var l Rows[T]
		for p := i; p < size && i < 2; p += every + p%3 {
			l.Points = append(l.Points, int32(p))
		}
		for o := range ops {
			if i != 1 || o%2 == 0 {
				l.Operators = append(l.Operators, o)
				l.Values = append(l.Values, make([]T, len(l.Points)*n))
			}
		}
		lists = append(lists, l)
	}
	return lists
}

// With one axis of space there is no other to convolve along.
func TestDenseLine(t *testing.T) {
	g := &Grid{Axes: []Axis{{"t", 0, 1, 2, Nodes}, {"x", 0, 2, 12, Periodic}}}
	s := g.NewSpectral()
	op, err := s.Derivative(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	const n = 2
	narrow := check.Normal(check.Rand(1), make([]float32, g.Size()*n))
	basis, got := make([]float64, len(narrow)), make([]float64, 3*n)
	kernel.Widen(basis, narrow)
	points := []int32{12, 15, 23}
	kernel.Widen(got, gatherOf(g, op, narrow, n, points))
	check.Close(t, got, gatherOf(g, op, basis, n, points), 1e-5, 1e-5)
}

// Slices with three axes have no dense tables: float32 rows are rounded once.
func TestThreeAxesOfSpace(t *testing.T) {
	cube := &Grid{Axes: []Axis{{"t", 0, 1, 2, Nodes}, {"x", 0, 2, 6, Periodic}, {"y", 0, 1, 4, Periodic}, {"z", 0, 1, 4, Periodic}}}
	op, err := cube.NewSpectral().Laplacian()
	if err != nil {
		t.Fatal(err)
	}
	const n = 3
	narrow := check.Normal(check.Rand(1), make([]float32, cube.Size()*n))
	basis := make([]float64, len(narrow))
	kernel.Widen(basis, narrow)
	points := []int32{0, 7, 95, 96, 191}
	rows := gatherOf(cube, op, narrow, n, points)
	for i, v := range gatherOf(cube, op, basis, n, points) {
		if rows[i] != float32(v) {
			t.Errorf("row %d: %g, want %g", i/n, rows[i], v)
		}
	}
}

func BenchmarkDense(b *testing.B) {
	g := planeGrid(1, 64, 64)
	s := g.NewSpectral()
	var ops []Operator
	for _, make := range []func() (Operator, error){
		func() (Operator, error) { return s.Derivative(1, 1) }, func() (Operator, error) { return s.Derivative(2, 1) },
		s.Laplacian, func() (Operator, error) { return s.Velocity(1) }, func() (Operator, error) { return s.Velocity(2) },
	} {
		op, _ := make()
		ops = append(ops, op)
	}
	const n = 64
	basis := check.Normal(check.Rand(1), make([]float32, g.Size()*n))
	lists := rowLists[float32](g.Size(), len(ops), n)
	gatherer := g.NewGatherer(ops, nil)
	for b.Loop() {
		Gather(gatherer, basis, n, lists)
	}
}
