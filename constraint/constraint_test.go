package constraint

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pihc/compute"
	"pihc/internal/check"
	"pihc/internal/kernel"
	"pihc/lm"
	"pihc/pde"
)

// toy is diffusion-sorption on a small grid with a smooth basis of n functions
// that has u = 1 at the wall in reach.
func toy(t testing.TB, problem string, shape map[string]int, n int) (*pde.System, []float64, []float64) {
	t.Helper()
	p, err := pde.Open(problem)
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
	rng := rand.New(rand.NewPCG(1, 2))
	size := g.Size()
	basis := make([]float64, n*size)
	for i := range n {
		a, b, c := rng.NormFloat64(), 2*rng.NormFloat64(), 6*rng.Float64()
		for q := range size {
			tt := float64(q/g.Axes[1].Points) / float64(g.Axes[0].Points)
			x := g.Axes[1].Coordinate(q % g.Axes[1].Points)
			basis[i*size+q] = math.Sin(a*tt+b*x+c) + 0.2*rng.NormFloat64()*math.Exp(-4*x) + 0.3
		}
	}
	initial := make([]float64, s.InputSize())
	for i := range initial {
		initial[i] = 0.11
	}
	return s, basis, initial
}

func exactOptions() Options {
	return Options{Mean: true, Start: 0.1, Solver: lm.Options{Ridge: 1e-4, GTol: 1e-14, FTol: -1, XTol: -1, MaxIterations: 400, NewtonCorrection: true}}
}

// jumpPair is of the two means of jumps, or their weights.
type jumpPair struct{ Value, Slope float64 }

func jumpsOf(x Solution) (j jumpPair) {
	j.Value, j.Slope = x.Jumps()
	return j
}

// lossOf solves and returns Σ v û and the weighted jumps.
func lossOf(s *Workspace, basis, initial, v []float64, weights jumpPair) float64 {
	x := s.Assemble(Input[float64]{Basis: basis, Sample: initial, Seed: Seed{1, 2, 3}}).Solve()
	l := kernel.Dot(v, x.Field())
	j := jumpsOf(x)
	return l + weights.Value*j.Value + weights.Slope*j.Slope
}

// The implicit gradient against central differences of the re-solved problem:
// uneven experts, sampled points, global and local conditions, borders weighed.
func TestGradient(t *testing.T) {
	for _, tc := range []struct {
		name    string
		problem string
		experts []int
		points  int
		local   bool
		jump    jumpPair
	}{
		{"one expert, all points", "diffusion-sorption", nil, 0, false, jumpPair{}},
		{"one expert, sampled", "diffusion-sorption", nil, 90, false, jumpPair{}},
		{"experts 1 x 3", "diffusion-sorption", []int{1, 3}, 40, false, jumpPair{}},
		{"experts 2 x 2, jumps", "diffusion-sorption", []int{2, 2}, 25, false, jumpPair{30, 0.2}},
		{"experts 1 x 2, local conditions", "diffusion-sorption", []int{1, 2}, 0, true, jumpPair{}},
		{"published rows", "diffusion-sorption-published", []int{1, 3}, 40, false, jumpPair{}},
		{"offset, multiplier and mean removed", "testdata/ansatz.yaml", []int{1, 2}, 40, false, jumpPair{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const n = 5
			sys, basis, initial := toy(t, tc.problem, map[string]int{"t": 9, "x": 20}, n)
			for i := range initial {
				initial[i] = 0.11 + 0.05*math.Sin(float64(i))
			}
			o := exactOptions()
			o.Experts, o.Points, o.LocalConditions = tc.experts, tc.points, tc.local
			c, err := New(sys, n, o, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := c.NewWorkspace()
			rng := rand.New(rand.NewPCG(3, 4))
			v := make([]float64, sys.Grid.Size())
			for i := range v {
				v[i] = rng.NormFloat64()
			}
			lossOf(s, basis, initial, v, tc.jump)
			x := Solution{s}
			for k, out := range x.Outcomes() {
				if out.Status.Early() {
					t.Fatalf("expert %d: %v after %d iterations", k, out.Status, out.Iterations)
				}
			}
			grad := make([]float64, len(basis))
			x.Backward(grad, v, tc.jump.Value, tc.jump.Slope)
			dir := make([]float64, len(basis))
			for trial := range 3 {
				for i := range dir {
					dir[i] = rng.NormFloat64()
				}
				at := func(h float64) float64 {
					moved := make([]float64, len(basis))
					for i := range moved {
						moved[i] = basis[i] + h*dir[i]
					}
					return lossOf(s, moved, initial, v, tc.jump)
				}
				const h = 1e-5
				numeric := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
				analytic := kernel.Dot(grad, dir)
				if diff := math.Abs(numeric-analytic) / math.Abs(numeric); !(diff < 1e-6) {
					t.Errorf("direction %d: gradient %.10g, central difference %.10g (relative %.1e)", trial, analytic, numeric, diff)
				}
			}
		})
	}
}

// Results must not depend on the number of workers: with sampled rows, and with
// all of them, which are three chunks for a single expert.
func TestWorkers(t *testing.T) {
	const n = 16
	for _, tc := range []struct {
		experts []int
		points  int
	}{{nil, 700}, {[]int{1, 4}, 700}, {[]int{2, 3}, 700}, {nil, 0}, {[]int{1, 2}, 0}} {
		t.Run(fmt.Sprint(tc.experts, tc.points), func(t *testing.T) {
			sys, basis, initial := toy(t, "diffusion-sorption", map[string]int{"t": 41, "x": 130}, n)
			var want []float64
			for _, workers := range []int{1, 2, 4} {
				pool := compute.NewPool(workers)
				o := Options{Mean: true, Experts: tc.experts, Points: tc.points, Solver: lm.Options{Ridge: 1e-4, GTol: 1e-4, NewtonCorrection: true}}
				c, err := New(sys, n, o, nil, pool)
				if err != nil {
					t.Fatal(err)
				}
				s := c.NewWorkspace()
				got := make([]float64, len(basis))
				x := s.Assemble(Input[float64]{Basis: basis, Sample: initial, Seed: Seed{1, 2, 3}}).Solve()
				x.Backward(got, x.Field(), 0, 0)
				if want == nil {
					want = got
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("%d workers: gradient %d is %g, with one worker %g", workers, i, got[i], want[i])
					}
				}
				pool.Close()
			}
		})
	}
}

// basisOf returns the basis (P, N) a sample keeps in float64.
func basisOf(s *Workspace) []float64 { return s.store.(*rows[float64]).basis }

// stepBytes returns what a step allocates after the first, whichever points it samples.
func stepBytes[T compute.Float](s *Workspace, basis []T, initial []float64) uint64 {
	bbar, seed := make([]T, len(basis)), Seed{1, 0, 3}
	step := func() {
		x := s.Assemble(Input[T]{Basis: basis, Sample: initial, Overlap: 0.5, Seed: seed}).Solve()
		x.Jumps()
		x.Backward(bbar, x.Field(), 1, 1)
		seed.Step++
	}
	step()
	return check.Bytes(3, step)
}

// Nothing proportional to the grid or to the rows is allocated in a step after the
// first: 12 times as many points and rows take no more memory, but for the iterations
// a solve happens to need.
func TestAllocation(t *testing.T) {
	for _, experts := range [][]int{nil, {1, 4}} {
		var bytes [2]uint64
		for i, size := range []int{1, 4} {
			sys, basis, initial := toy(t, "diffusion-sorption", map[string]int{"t": 7 + 14*size, "x": 64 * size}, 16)
			pool := compute.NewPool(2)
			o := Options{Mean: true, Experts: experts, Points: 200 * size * size, Overlap: true, Solver: lm.Options{Ridge: 1e-4, MaxIterations: 4, NewtonCorrection: true}}
			c, err := New(sys, 16, o, nil, pool)
			if err != nil {
				t.Fatal(err)
			}
			s := c.NewWorkspace()
			bytes[i] = stepBytes(s, basis, initial)
			pool.Close()
		}
		if bytes[1] > bytes[0]+4096 {
			t.Errorf("experts %v: %d bytes in a step, %d with twelve times the points", experts, bytes[0], bytes[1])
		}
	}
}

// Directions are functions like those of the network, but for the ansatz, which they meet
// already, and the gradient, which they have none of.
func TestDirections(t *testing.T) {
	const n, further = 9, 2
	for _, experts := range [][]int{nil, {1, 2}} {
		sys, basis, initial := toy(t, "diffusion-sorption", map[string]int{"t": 9, "x": 20}, n+further)
		size := sys.Grid.Size()
		v := make([]float64, size)
		for i := range v {
			v[i] = math.Sin(float64(7 * i))
		}
		run := func(n, further int, fields ...[]float64) (field, grad []float64) {
			o := exactOptions()
			o.Experts, o.Points, o.Directions = experts, 40, further
			c, err := New(sys, n, o, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := c.NewWorkspace()
			in := Input[float64]{Basis: basis[:n*size], Sample: initial, Seed: Seed{1, 2, 3}}
			in.Directions = [][]float64{basis[:size], basis[size : 2*size]}[:further]
			s.Assemble(in)
			in.Directions = fields
			x := s.Assemble(in).Solve() // in the memory of another sample
			field = x.Field()
			grad = make([]float64, n*size)
			x.Backward(grad, v, 0, 0)
			return field, grad
		}
		first, second := basis[n*size:(n+1)*size], basis[(n+1)*size:]
		want, bar := run(n+further, 0)
		got, gotBar := run(n, further, first, second)
		check.Close(t, got, want, 0, 0)
		check.Close(t, gotBar, bar[:n*size], 0, 0)
		want, bar = run(n+1, 0)
		got, gotBar = run(n, 1, first)
		check.Close(t, got, want, 0, 0)
		check.Close(t, gotBar, bar[:n*size], 0, 0)
		fewer, fewerBar := run(n, further, first) // the other is zero
		check.Close(t, fewer, want, 1e-9, 1e-9)
		check.Close(t, fewerBar, bar[:n*size], 1e-7, 1e-7)
	}
}

// A direction is added as it is: with an ansatz, the field that a function makes of it.
func TestDirectionsMeetAnsatz(t *testing.T) {
	const n = 5
	sys, basis, initial := toy(t, "testdata/ansatz.yaml", map[string]int{"t": 9, "x": 20}, n)
	size := sys.Grid.Size()
	o := exactOptions()
	solve := func(n, further int, basis []float64, fields ...[]float64) Solution {
		o := o
		o.Directions = further
		c, err := New(sys, n, o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := c.NewWorkspace()
		return s.Assemble(Input[float64]{Basis: basis, Sample: initial, Directions: fields, Seed: Seed{1, 2, 3}}).Solve()
	}
	o.Fixed, o.Start = true, 1
	field := solve(1, 0, basis[(n-1)*size:]).Field()
	offset := make([]float64, size)
	sys.Problem.Persist(offset, initial, sys.Grid)
	direction := make([]float64, size)
	for i := range field {
		direction[i] = field[i] - offset[i]
	}
	o = exactOptions()
	check.Close(t, solve(n-1, 1, basis[:(n-1)*size], direction).Field(), solve(n, 0, basis).Field(), 1e-9, 1e-9)
}
