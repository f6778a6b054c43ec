package constraint

import (
	"math"
	"slices"
	"testing"

	"pihc/internal/check"
)

// Two uncoupled copies of an equation give what each gives alone: with separate weights
// for bases and initial conditions that differ, with tied weights for two that are the
// same, where the gradients of the components add up.
func TestUncoupledCopies(t *testing.T) {
	const n = 5
	for _, separate := range []bool{false, true} {
		one, basis, initial := toy(t, "testdata/burgers.yaml", nil, 2*n)
		two, _, _ := toy(t, "testdata/copies.yaml", nil, n)
		size, width := one.Grid.Size(), one.SliceSize()
		for i := range initial {
			initial[i] = 0.3 * math.Sin(float64(i))
		}
		// The basis and the initial condition of each unknown.
		bases, starts := [2][]float64{basis[:n*size], basis[:n*size]}, [2][]float64{initial, initial}
		if separate {
			bases[1], starts[1] = basis[n*size:], slices.Clone(initial)
			for i := range starts[1] {
				starts[1][i] = 0.2 * math.Cos(float64(2*i))
			}
		}
		both := make([]float64, 2*n*size) // (N, C, P)
		for i := range n {
			copy(both[2*i*size:], bases[0][i*size:(i+1)*size])
			copy(both[(2*i+1)*size:], bases[1][i*size:(i+1)*size])
		}
		v := check.Normal(check.Rand(5), make([]float64, 2*size))
		weights := jumpPair{0.3, 0.02}
		o := exactOptions()
		o.Experts, o.Points, o.Overlap = []int{2, 2}, 25, true

		run := func(o Options, copies bool, basis, start, v []float64, weights jumpPair) (field, bbar []float64, jumps jumpPair) {
			sys := one
			if copies {
				sys = two
			}
			c, err := New(sys, n, o, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := c.NewWorkspace()
			x := s.Assemble(Input[float64]{Basis: basis, Sample: start, Overlap: 0.4, Seed: Seed{1, 2, 3}}).Solve()
			for _, out := range x.Outcomes() {
				if out.Status.Early() {
					t.Fatalf("%v after %d iterations", out.Status, out.Iterations)
				}
			}
			field, jumps = slices.Clone(x.Field()), jumpsOf(x)
			bbar = make([]float64, len(basis))
			x.Backward(bbar, v, weights.Value, weights.Slope)
			return field, bbar, jumps
		}
		system := o
		system.Separate = separate
		if !separate {
			system.Solver.Ridge *= math.Sqrt2 // the squares of the rows count twice
		}
		field, bbar, jumps := run(system, true, both, append(slices.Clone(starts[0]), starts[1]...), v, weights)
		if len(field) != 2*size || len(starts[0]) != width {
			t.Fatal("sizes")
		}
		// The mean over two unknowns, of which one counts.
		half := jumpPair{weights.Value / 2, weights.Slope / 2}
		var value, slope float64
		for k := range 2 {
			alone, gradient, j := run(o, false, bases[k], starts[k], v[k*size:(k+1)*size], half)
			check.Close(t, field[k*size:(k+1)*size], alone, 1e-7, 0)
			value, slope = value+j.Value/2, slope+j.Slope/2
			if !separate {
				continue
			}
			own := make([]float64, 0, n*size)
			for i := range n {
				own = append(own, bbar[(2*i+k)*size:(2*i+k+1)*size]...)
			}
			check.Close(t, own, gradient, 1e-6, 0)
		}
		check.Close(t, []float64{jumps.Value, jumps.Slope}, []float64{value, slope}, 1e-7, 0)
		if separate {
			continue
		}
		sum := make([]float64, size)
		for i := range sum {
			sum[i] = v[i] + v[size+i]
		}
		_, gradient, _ := run(o, false, bases[0], starts[0], sum, weights)
		total := make([]float64, n*size)
		for i := range total {
			at := i/size*2*size + i%size
			total[i] = bbar[at] + bbar[at+size]
		}
		check.Close(t, total, gradient, 1e-6, 0)
	}
}

// Rows of half of the weights have the memory of all: of any number of functions, kept as
// float32 or float64, the field is the same but for rounding.
func TestSeparatePrecision(t *testing.T) {
	for _, n := range []int{7, 16, 24} {
		sys, basis, initial := toy(t, "../examples/gray-scott/problem.yaml", map[string]int{"t": 6, "x": 8, "y": 8}, 2*n) // n of two components
		for i := range initial {
			initial[i] = 0.3 * math.Sin(float64(i))
		}
		single := make([]float32, len(basis))
		for i, x := range basis {
			single[i] = float32(x)
			basis[i] = float64(single[i])
		}
		o := exactOptions()
		o.Separate = true
		c, err := New(sys, n, o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := c.NewWorkspace()
		want := slices.Clone(s.Assemble(Input[float64]{Basis: basis, Sample: initial}).Solve().Field())
		got := s.Assemble(Input[float32]{Basis: single, Sample: initial}).Solve().Field()
		check.Close(t, got, want, 1e-5, 0)
	}
}

// The gradient has the same bits on however many slices the fields of experts are at a time.
func TestBackwardWindows(t *testing.T) {
	const n = 5
	for _, file := range []string{"testdata/copies.yaml", "diffusion-sorption", "navier-stokes"} {
		sys, basis, initial := toy(t, file, nil, n*2)
		basis, initial = basis[:n*sys.FieldSize()], slices.Repeat(initial, 2)[:sys.InputSize()]
		o := exactOptions()
		o.Experts, o.Points, o.Overlap = []int{2, 2}, 25, true
		c, err := New(sys, n, o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := c.NewWorkspace()
		x := s.Assemble(Input[float64]{Basis: basis, Sample: initial, Overlap: 0.4, Seed: Seed{1, 2, 3}}).Solve()
		ubar := check.Normal(check.Rand(6), slices.Clone(x.Field()))
		all, want := s.slices, make([]float64, len(basis))
		x.Backward(want, ubar, 0.3, 0.02)
		for _, s.slices = range []int{1, 3, all - 1} {
			got := make([]float64, len(basis))
			x.Backward(got, ubar, 0.3, 0.02)
			check.Equal(t, got, want)
		}
	}
}
