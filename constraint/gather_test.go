package constraint

import (
	"math"
	"math/rand/v2"
	"testing"

	"pihc/compute"
	"pihc/grid"
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
	basis, initial := normal(n*g.Size()), normal(s.InputSize())
	mean := 0.0
	for _, v := range initial {
		mean += v / float64(len(initial))
	}
	for i := range initial {
		initial[i] -= mean
	}
	return s, basis, initial
}

// kept returns the rows (m, N) of term j of a block in float64, nil where they are kept
// with another term's.
func kept(s *Workspace, b *block, j int) []float64 {
	switch store := s.store.(type) {
	case *rows[float32]:
		if a := store.lists[b.index].Values[j]; a != nil {
			wide := make([]float64, len(a))
			kernel.Widen(wide, a)
			return wide
		}
	case *rows[float64]:
		return store.lists[b.index].Values[j]
	}
	return nil
}

// The rows of every term and expert are those each operator gathers by itself, those of
// the Laplacian with w_t's, whether experts look beyond their border or not; those of a
// float32 basis to its rounding.
func TestRowsOfTerms(t *testing.T) {
	const n = 3
	sys, basis, initial := flow(t, map[string]int{"t": 9, "x": 12, "y": 10}, n)
	o := exactOptions()
	o.Experts, o.Points, o.Overlap, o.Solver.MaxIterations = []int{1, 2, 2}, 150, true, 3
	c, err := New(sys, n, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, exact := c.NewWorkspace(), c.NewWorkspace() // exact has the basis in float64
	narrow, widened := make([]float32, len(basis)), make([]float64, len(basis))
	for i, v := range basis {
		narrow[i] = float32(v)
	}
	kernel.Widen(widened, narrow)
	for i, overlap := range []float64{0, 0.4, 0.4, 0} {
		tolerance := 1e-12
		wide := Input[float64]{Basis: basis, Sample: initial, Overlap: overlap, Seed: Seed{1, 2, 3}}
		if i < 2 {
			s.Assemble(wide).Solve()
		} else {
			s.Assemble(Input[float32]{Basis: narrow, Sample: initial, Overlap: overlap, Seed: Seed{1, 2, 3}}).Solve()
			wide.Basis, tolerance = widened, 3e-6
		}
		exact.Assemble(wide)
		if _, single := s.store.(*rows[float32]); single != (i >= 2) {
			t.Fatalf("float32 rows %v", single)
		}
		combined := 0
		for k, e := range s.experts {
			for i, b := range e.blocks {
				for j, term := range b.Set.Terms {
					// The offset of the ansatz passes the same operators.
					constants, want := make([]float64, len(b.Points)), make([]float64, len(b.Points)*n)
					got := kept(s, b, j)
					if got == nil {
						check.Equal(t, b.Constants[j], constants)
						combined++
						continue
					}
					alone := sys.NewGatherer(nil)
					for _, x := range c.combined {
						if x.with == term {
							alone.Add(x.term, x.with, x.factor)
						}
					}
					lists := func(values []float64) []grid.Rows[float64] {
						r := grid.Rows[float64]{Points: b.Points, Operators: b.Set.Terms, Values: make([][]float64, len(b.Set.Terms))}
						r.Values[j] = values
						return []grid.Rows[float64]{r}
					}
					grid.Gather(alone, s.offset, 1, lists(constants))
					check.Close(t, b.Constants[j], constants, 1e-12, 1e-12)
					grid.Gather(alone, basisOf(exact), n, lists(want))
					if d := check.MaxRel(got, want); d > tolerance || math.IsNaN(d) {
						t.Errorf("overlap %g, expert %d, rows %d, term %s: rows differ by %g", overlap, k, i, sys.Terms[term].Name, d)
					}
				}
			}
		}
		if x := c.combined; combined != 4 || len(x) != 1 || x[0].factor != -1e-4 || sys.Terms[x[0].with].Name != "w_t" {
			t.Errorf("%d experts without rows of the Laplacian; combined %v", combined, x)
		}
	}
}

// With spectral terms too a step gives the same bits on any number of workers, and
// allocates nothing that grows with the grid or the rows.
func TestFlowWorkers(t *testing.T) {
	const n = 16
	var bytes []uint64
	for _, size := range []int{1, 2} {
		sys, basis, initial := flow(t, map[string]int{"t": 11 * size, "x": 16 * size, "y": 12 * size}, n)
		narrow := make([]float32, len(basis))
		for i, v := range basis {
			narrow[i] = 0.1 * float32(v)
		}
		var want []float32
		for _, workers := range []int{1, 2, 4}[:4-size] {
			pool := compute.NewPool(workers)
			o := Options{Mean: true, Experts: []int{1, 2, 2}, Points: 100 * size * size * size, Overlap: true, Solver: lm.Options{Ridge: 1e-4, GTol: 1e-4, MaxIterations: 4, NewtonCorrection: true}}
			c, err := New(sys, n, o, nil, pool)
			if err != nil {
				t.Fatal(err)
			}
			s := c.NewWorkspace()
			got := make([]float32, len(basis))
			x := s.Assemble(Input[float32]{Basis: narrow, Sample: initial, Overlap: 0.5, Seed: Seed{1, 0, 3}}).Solve()
			x.Jumps()
			x.Backward(got, x.Field(), 1, 1)
			if want == nil {
				want = got
			}
			check.Equal(t, got, want)
			if workers == 1 {
				bytes = append(bytes, stepBytes(s, narrow, initial))
			}
			pool.Close()
		}
	}
	if bytes[1] > bytes[0]+4096 {
		t.Errorf("%d bytes in a step, %d with eight times the points", bytes[0], bytes[1])
	}
}
