package constraint

import (
	"math"
	"slices"
	"testing"

	"pihc/compute"
	"pihc/internal/check"
	"pihc/lm"
)

// The parts of the Hessian add up to it, and it is the derivative of the
// gradient.
func TestHessianParts(t *testing.T) {
	const n = 5
	sys, basis, initial := toy(t, "diffusion-sorption", map[string]int{"t": 13, "x": 24}, n)
	c, err := New(sys, n, Options{Mean: true, Start: 0.3, Solver: lm.Options{Ridge: 1e-4, MaxIterations: 3}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := c.NewWorkspace()
	s.Assemble(Input[float64]{Basis: basis, Sample: initial}).Solve()
	e := problem{s.experts[0], s, 0, s.experts[0].curved}
	w := append([]float64(nil), e.omega...)
	h, a, both, curv := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	g, up, down := make([]float64, n), make([]float64, n), make([]float64, n)
	cost := e.Normal(a, g, w)
	if got := e.HessianParts(h, both, up, w); got != cost {
		t.Errorf("cost %g, want %g", got, cost)
	}
	check.Close(t, up, g, 1e-14, 0)
	check.Close(t, h, a, 1e-14, 0)
	e.HessianParts(nil, curv, nil, w)
	check.Close(t, curv, both, 1e-14, 0)
	for i := range h {
		h[i] += curv[i]
	}
	for k := range n {
		const step = 1e-6
		w[k] += step
		e.Normal(a, up, w)
		w[k] -= 2 * step
		e.Normal(a, down, w)
		w[k] += step
		for j := range n {
			g[j] = (up[j] - down[j]) / (2 * step)
		}
		check.Close(t, g, h[k*n:(k+1)*n], 0, 1e-6*h[k*n+k])
	}
}

// ConstraintRMS is the root mean square of the sampled residual rows of the expert's
// own field, whether the set is affine or not.
func TestConstraintRMS(t *testing.T) {
	for _, name := range []string{shipped, "testdata/heat.yaml"} {
		sys, basis, initial := toy(t, name, map[string]int{"t": 13, "x": 40}, 4)
		const points = 61
		x := solved(t, sys, basis, initial, Options{Mean: true, Experts: []int{1, 2}, Points: points, Start: 0.3, Weights: map[string]float64{"residual": 0.2}, Solver: tight()})
		for k, out := range x.Outcomes() {
			field := make([]float64, sys.Grid.Size())
			for p := range field {
				for i, w := range x.Weights(k) {
					field[p] += w * basisOf(x.memory)[p*4+i]
				}
			}
			sum, all := 0.0, rowValues(sys, sys.Residuals()[0], field, initial)
			for _, p := range x.memory.experts[k].residuals()[0].Points {
				i, _ := slices.BinarySearch(sys.Residuals()[0].Points, p)
				sum += all[i] * all[i]
			}
			check.Close(t, []float64{out.ConstraintRMS}, []float64{math.Sqrt(sum / points)}, 1e-9, 0)
		}
	}
}

// With many rows an eighth of them starts the solve: it ends where one on all rows from
// the start does, to the solver's tolerance, with fewer passes over all rows, and on any
// number of workers at the same bits.
func TestCoarseStart(t *testing.T) {
	sys, basis, initial := toy(t, shipped, map[string]int{"t": 81, "x": 512}, 8)
	for _, experts := range [][]int{nil, {1, 2}} {
		var want []float64
		for _, workers := range []int{1, 2} {
			pool := compute.NewPool(workers)
			o := Options{Mean: true, Experts: experts, Points: 20000, Start: 0.3, Solver: lm.Options{Ridge: 1e-4, GTol: 1e-4, FTol: 1e-6, NewtonCorrection: true, NoRestart: true}}
			c, err := New(sys, 8, o, nil, pool)
			if err != nil {
				t.Fatal(err)
			}
			s := c.NewWorkspace()
			problem := s.Assemble(Input[float64]{Basis: basis, Sample: initial, Seed: Seed{1, 2, 3}})
			x := problem.Solve()
			started := x.Outcomes()
			got := slices.Clone(x.Weights(0))
			for _, e := range s.experts {
				rows := 0.0
				for _, ch := range e.coarse {
					rows += ch.times * float64(ch.hi-ch.lo)
				}
				if math.Abs(rows-20000) > 1e-6 {
					t.Errorf("an eighth of the rows counts as %g", rows)
				}
				e.coarse = nil
			}
			x = problem.Solve()
			for k, out := range x.Outcomes() {
				if started[k].Status.Early() || started[k].Evaluations >= out.Evaluations {
					t.Errorf("expert %d: %v after %d passes, without a start %d", k, started[k].Status, started[k].Evaluations, out.Evaluations)
				}
				check.Close(t, []float64{started[k].Cost}, []float64{out.Cost}, 1e-6, 0)
			}
			if want == nil {
				want = got
			}
			check.Equal(t, got, want)
			pool.Close()
		}
	}
}

// A draft is the solve without a Newton correction, bit by bit, and leaves nothing behind for the next.
func TestDraft(t *testing.T) {
	sys, basis, initial := toy(t, shipped, map[string]int{"t": 9, "x": 12}, 4)
	solve := func(correction bool, drafts ...bool) (all [][]float64, corrected bool) {
		o := Options{Mean: true, Start: 0.3, Solver: lm.Options{GTol: 1e-3, NewtonCorrection: correction}}
		c, err := New(sys, 4, o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := c.NewWorkspace()
		for _, draft := range drafts {
			x := s.Assemble(Input[float64]{Basis: basis, Sample: initial, Draft: draft}).Solve()
			all, corrected = append(all, slices.Clone(x.Weights(0))), x.Outcomes()[0].Corrected
		}
		return all, corrected
	}
	mixed, corrected := solve(true, false, true, false)
	plain, never := solve(false, false)
	if !corrected || never {
		t.Errorf("corrected: %v, without a correction %v", corrected, never)
	}
	check.Equal(t, mixed[1], plain[0])
	check.Equal(t, mixed[2], mixed[0])
	if slices.Equal(mixed[0], mixed[1]) {
		t.Error("a draft is what a corrected solve gives")
	}
}
