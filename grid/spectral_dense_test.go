package grid

import (
	"slices"
	"testing"

	"pihc/internal/check"
	"pihc/internal/kernel"
)

// Products with dense matrices give the rows that Fourier transforms give, to the
// rounding of float32: of operators along each axis, along both, and neither.
func TestDense(t *testing.T) {
	for _, shape := range [][2]int{{8, 6}, {5, 9}, {32, 32}} {
		g := planeGrid(3, shape[0], shape[1])
		s := NewSpectral(g)
		ops := denseOperators(t, s)
		for _, n := range []int{1, 3, 32, 40} {
			rng := check.Rand(uint64(n))
			narrow := check.Normal(rng, make([]float32, g.Size()*n))
			basis := make([]float64, len(narrow))
			for i, v := range narrow {
				basis[i] = float64(v)
			}
			lists := denseLists(g.Size(), len(ops), n)
			d := s.NewDense(setting(ops))
			width := g.Size() / 3 * n
			for slice := range 3 {
				d.GatherSlice(slice, narrow[slice*width:(slice+1)*width], n, lists)
			}
			for o, op := range ops {
				for i, l := range lists {
					if l.Dst[o] == nil {
						continue
					}
					want, got := make([]float64, len(l.Dst[o])), make([]float64, len(l.Dst[o]))
					kernel.Widen(got, l.Dst[o])
					op.Gather(want, basis, n, l.Points)
					if e := check.RelativeL2(got, want); len(want) > 0 && e > 2e-6 {
						t.Errorf("%v, n = %d, list %d, %v: rows differ by %g", shape, n, i, op, e)
					}
				}
			}
			// A row does not depend on the others, and nothing is allocated.
			alone := DenseRows{lists[0].Points[4:5], nil}
			for range ops {
				alone.Dst = append(alone.Dst, make([]float32, n))
			}
			at := int(alone.Points[0]) / (g.Size() / 3)
			one := []DenseRows{alone}
			if a := testing.AllocsPerRun(3, func() { d.GatherSlice(at, narrow[at*width:(at+1)*width], n, one) }); a != 0 {
				t.Errorf("%v allocations", a)
			}
			for o := range ops {
				check.Equal(t, alone.Dst[o], lists[0].Dst[o][4*n:5*n])
			}
		}
	}
}

// setting are operators whose rows are set.
func setting(ops []Operator) []DenseOperator {
	var d []DenseOperator
	for _, op := range ops {
		d = append(d, DenseOperator{Operator: op})
	}
	return d
}

// Rows that grow do so by the factor times what the operator gives.
func TestDenseAdd(t *testing.T) {
	const n, factor = 16, -0.3
	g := planeGrid(1, 12, 10)
	s := NewSpectral(g)
	rng := check.Rand(2)
	narrow := check.Normal(rng, make([]float32, g.Size()*n))
	basis := make([]float64, len(narrow))
	kernel.Widen(basis, narrow)
	points := []int32{3, 17, 18, 70}
	for _, op := range denseOperators(t, s) {
		rows, got, want := check.Normal(rng, make([]float32, len(points)*n)), make([]float64, len(points)*n), make([]float64, len(points)*n)
		op.Gather(want, basis, n, points)
		for i, v := range rows {
			want[i] = float64(v) + factor*want[i]
		}
		s.NewDense([]DenseOperator{{op, true, factor}}).GatherSlice(0, narrow, n, []DenseRows{{points, [][]float32{rows}}})
		kernel.Widen(got, rows)
		if e := check.RelativeL2(got, want); e > 2e-6 {
			t.Errorf("%v: rows differ by %g", op, e)
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

// denseLists are points here and there, with what some operators are not asked for.
func denseLists(size, ops, n int) []DenseRows {
	var lists []DenseRows
	for i, every := range []int{2, 7, 1000000} {
		var l DenseRows
		for p := i; p < size; p += every + p%3 {
			l.Points = append(l.Points, int32(p))
		}
		if i == 2 {
			l.Points = nil
		}
		for o := range ops {
			if i == 1 && o%2 == 1 {
				l.Dst = append(l.Dst, nil)
				continue
			}
			l.Dst = append(l.Dst, make([]float32, len(l.Points)*n))
		}
		lists = append(lists, l)
	}
	return lists
}

// With one axis of space there is no other to convolve along.
func TestDenseLine(t *testing.T) {
	g := &Grid{Axes: []Axis{{"t", 0, 1, 2, Nodes}, {"x", 0, 2, 12, Periodic}}}
	s := NewSpectral(g)
	op, err := s.Derivative(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	const n = 2
	narrow := check.Normal(check.Rand(1), make([]float32, 12*n))
	basis := make([]float64, g.Size()*n)
	for i, v := range narrow {
		basis[12*n+i] = float64(v)
	}
	points := []int32{12, 15, 23}
	rows, got, want := make([]float32, 3*n), make([]float64, 3*n), make([]float64, 3*n)
	s.NewDense(setting([]Operator{op})).GatherSlice(1, narrow, n, []DenseRows{{points, [][]float32{rows}}})
	kernel.Widen(got, rows)
	op.Gather(want, basis, n, points)
	check.Close(t, got, want, 1e-5, 1e-5)

	cube := &Grid{Axes: slices.Concat(g.Axes, []Axis{{"y", 0, 1, 4, Periodic}, {"z", 0, 1, 4, Periodic}})}
	if NewSpectral(cube).NewDense(nil) != nil {
		t.Error("matrices for three axes of space")
	}
}

func BenchmarkDense(b *testing.B) {
	g := planeGrid(1, 64, 64)
	s := NewSpectral(g)
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
	var l DenseRows
	for p := 0; p < g.Size(); p += 3 {
		l.Points = append(l.Points, int32(p))
	}
	for range ops {
		l.Dst = append(l.Dst, make([]float32, len(l.Points)*n))
	}
	d := s.NewDense(setting(ops))
	for b.Loop() {
		d.GatherSlice(0, basis, n, []DenseRows{l})
	}
}
