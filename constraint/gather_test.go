package constraint

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pihc/internal/check"
	"pihc/internal/kernel"
	"pihc/lm"
	"pihc/pde"
)

// flow is Navier-Stokes on a small grid with a random basis of n functions and a
// random initial vorticity of mean zero.
func flow(t testing.TB, shape map[string]int, n int) (*pde.System, []float64, []float64) {
	t.Helper()
	p, err := pde.Open("navier-stokes")
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(shape)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	normal := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	basis, initial := normal(n*g.Size()), normal(s.InitialSize())
	mean := 0.0
	for _, v := range initial {
		mean += v / float64(len(initial))
	}
	for i := range initial {
		initial[i] -= mean
	}
	return s, basis, initial
}

// The rows of every term and expert are those each operator gathers by itself,
// whether experts look beyond their border or not; those of a float32 basis to its
// rounding.
func TestGatherTogether(t *testing.T) {
	const n = 3
	sys, basis, initial := flow(t, map[string]int{"t": 9, "x": 12, "y": 10}, n)
	o := exactOptions()
	o.Experts, o.Points, o.Overlap, o.Solver.MaxIterations = []int{1, 2, 2}, 150, true, 3
	c, err := New(sys, n, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, exact := c.NewSample(), c.NewSample() // exact has the basis in float64
	narrow, widened := make([]float32, len(basis)), make([]float64, len(basis))
	for i, v := range basis {
		narrow[i] = float32(v)
	}
	kernel.Widen(widened, narrow)
	for i, overlap := range []float64{0, 0.4, 0.4, 0} {
		tolerance := 0.0
		s.SetOverlap(overlap)
		if i < 2 {
			Load(s, basis, initial)
			Load(exact, basis, initial)
		} else {
			Load(s, narrow, initial)
			Load(exact, widened, initial)
			tolerance = 3e-6
		}
		s.Solve(Seed{1, 2, 3})
		merged := false
		for k, e := range s.experts {
			for i, b := range e.blocks {
				for j, term := range b.set.Terms {
					// The offset passes the same operators.
					constant := make([]float64, len(b.points))
					sys.Terms[term].Gather(constant, s.offset, 1, b.points)
					check.Close(t, b.c[j], constant, 1e-12, 1e-12)
					want := make([]float64, len(b.points)*n)
					sys.Terms[term].Gather(want, exact.basis, n, b.points)
					got := b.a[j]
					if s.single && b.a32[j] == nil {
						continue // with those of the term it is merged into
					}
					if s.single {
						for _, other := range b.set.Terms {
							if c.merged[other] == term { // w_t - nu·lap
								lap := make([]float64, len(want))
								sys.Terms[other].Gather(lap, exact.basis, n, b.points)
								kernel.Axpy64(want, -1e-4, lap)
								merged = true
							}
						}
						got = make([]float64, len(want))
						kernel.Widen(got, b.a32[j])
					}
					if d := check.MaxRel(got, want); d > tolerance || math.IsNaN(d) {
						t.Errorf("overlap %g, expert %d, rows %d, term %s: rows differ by %g", overlap, k, i, sys.Terms[term].Name, d)
					}
				}
			}
		}
		if merged != s.single {
			t.Errorf("float32 rows %v, but the Laplacian's merged %v", s.single, merged)
		}
	}
}

// With spectral terms too a step gives the same bits on any number of workers, and
// allocates nothing once its memory is there, whichever points are sampled.
func TestFlowWorkers(t *testing.T) {
	const n = 16
	sys, basis, initial := flow(t, map[string]int{"t": 11, "x": 16, "y": 12}, n)
	narrow := make([]float32, len(basis))
	for i, v := range basis {
		narrow[i] = 0.1 * float32(v)
	}
	var want []float32
	for _, workers := range []int{1, 2, 4} {
		pool := kernel.NewPool(workers)
		o := Options{Mean: true, Experts: []int{1, 2, 2}, Points: 100, Overlap: true, Solver: lm.Options{Ridge: 1e-4, GTol: 1e-4, NewtonCorrection: true}}
		c, err := New(sys, n, o, nil, pool)
		if err != nil {
			t.Fatal(err)
		}
		s := c.NewSample()
		s.SetOverlap(0.5)
		got := make([]float32, len(basis))
		seed := Seed{1, 0, 3}
		step := func() {
			Load(s, narrow, initial)
			s.Solve(seed)
			s.Jumps()
			Backward(s, got, s.Field(), Jumps{1, 1})
			seed.Step++
		}
		step()
		if want == nil {
			want = slices.Clone(got)
		}
		check.Equal(t, got, want)
		if a := testing.AllocsPerRun(5, step); a != 0 && workers == 1 {
			t.Errorf("%v allocations in a step", a)
		}
		pool.Close()
	}
}
