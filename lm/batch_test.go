package lm

import (
	"math"
	"runtime"
	"testing"

	"pihc/compute"
)

// linearRows streams rows of z0 − D·z1/(1+z0²), the terms problem, through
// Block and AddCurvature.
type linearRows struct{ *terms }

func (t linearRows) Rows() int { return t.m }

func (t linearRows) Block(r, jac, w []float64, lo, hi int) {
	n := t.n
	for i := lo; i < hi; i++ {
		v, f0, f1, _, _ := t.row(i, w)
		r[i-lo] = v
		if jac != nil {
			for j := range n {
				jac[(i-lo)*n+j] = f0*t.a0[i*n+j] + f1*t.a1[i*n+j]
			}
		}
	}
}

func (t linearRows) AddCurvature(h, r, w []float64, lo, hi int) {
	n := t.n
	for i := lo; i < hi; i++ {
		_, _, _, f00, f01 := t.row(i, w)
		a0, a1 := t.a0[i*n:(i+1)*n], t.a1[i*n:(i+1)*n]
		for j := range n {
			for k := range j + 1 {
				h[j*n+k] += r[i-lo] * (f00*a0[j]*a0[k] + f01*(a0[j]*a1[k]+a1[j]*a0[k]))
			}
		}
	}
}

func closeTo(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	scale := 0.0
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*scale) {
			t.Errorf("%s[%d] = %.17g, want %.17g", what, i, got[i], want[i])
			return
		}
	}
}

func TestStreamedMatchesWholeProblem(t *testing.T) {
	for _, size := range [][2]int{{1, 5}, {7, 5}, {127, 5}, {1000, 5}, {5000, 5}, {40000, 5}, {700, 200}} {
		m, n := size[0], size[1]
		p := newTerms(m, n, 2)
		pool := compute.NewPool(3)
		for _, workers := range []*compute.Pool{nil, pool} {
			s := NewStreamedSecondOrder(linearRows{p}, workers)
			w := fill(n, func(i int) float64 { return 0.1 * float64(i) })
			a, g := make([]float64, n*n), make([]float64, n)
			b, h := make([]float64, n*n), make([]float64, n)
			cost := p.Normal(a, g, w)
			closeTo(t, "cost", []float64{s.Normal(b, h, w), s.Normal(nil, nil, w)}, []float64{cost, cost}, 1e-12)
			closeTo(t, "JᵀJ", b, a, 1e-11)
			closeTo(t, "Jᵀr", h, g, 1e-11)
			want := hessianOf(p, w)
			closeTo(t, "H", hessianOf(s, w), want, 1e-11)
			s.HessianParts(nil, b, nil, w)
			axpy(b, 1, a)
			closeTo(t, "the curvature alone", b, want, 1e-11)
			rows := 0
			s.EachBlock(w, func(r, jac []float64) {
				if len(jac) != len(r)*n {
					t.Fatal("block sizes disagree")
				}
				rows += len(r)
			})
			if rows != m {
				t.Errorf("EachBlock visited %d rows of %d", rows, m)
			}
		}
		pool.Close()
	}
}

// decay is the rows of a fit of w0·exp(−w1·t) + w2 to its own values at
// (2, 3, 1), t in [0, 1], which nothing stores.
type decay int

func (decay) Dim() int    { return 3 }
func (m decay) Rows() int { return int(m) }

func (m decay) Block(r, jac, w []float64, lo, hi int) {
	for i := lo; i < hi; i++ {
		t := float64(i) / float64(m)
		e := math.Exp(-w[1] * t)
		r[i-lo] = w[0]*e + w[2] - 2*math.Exp(-3*t) - 1
		if jac != nil {
			copy(jac[3*(i-lo):], []float64{e, -w[0] * t * e, 1})
		}
	}
}

// TestStreamedMemoryIsBounded solves for ten million rows, whose Jacobian would
// take 240 MB.
func TestStreamedMemoryIsBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := []float64{1, 1, 0}
	res := NewSolver(3, Options{}).Solve(NewStreamed(decay(10_000_000), nil), w)
	runtime.ReadMemStats(&after)
	closeTo(t, "w", w, []float64{2, 3, 1}, 1e-6)
	if used := after.TotalAlloc - before.TotalAlloc; res.Status.Err() != nil || used > 1<<20 {
		t.Errorf("%v after %d iterations, %d bytes", res.Status, res.Iterations, used)
	}
}

func sameResult(a, b Result) bool {
	same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
	return a.Status == b.Status && a.Iterations == b.Iterations && a.Evaluations == b.Evaluations && a.Rank == b.Rank &&
		same(a.Cost, b.Cost) && same(a.Gradient, b.Gradient) && same(a.Distance, b.Distance) && same(a.SmallestPivot, b.SmallestPivot)
}

// TestBatchIsBitwiseOneByOne solves 30 problems, two of them poisoned, on 1, 2
// and 4 workers and in batches of different sizes, after unrelated solves.
func TestBatchIsBitwiseOneByOne(t *testing.T) {
	const count = 30
	o := Options{Ridge: 1e-4, NewtonCorrection: true, MaxIterations: 40}
	tasks := func() []Task {
		list := make([]Task, count)
		for i := range list {
			p := newTerms(20+7*i, 2+i%9, uint64(i))
			p.d = 0.1 + 0.2*float64(i%7) // some need many iterations
			p.bad = i == 4 || i == 17
			list[i] = Task{Problem: p, W: make([]float64, p.n)}
		}
		return list
	}
	want := tasks()
	for i := range want {
		want[i].Result = NewSolver(want[i].Problem.Dim(), o).Solve(want[i].Problem, want[i].W)
	}
	spread := map[int]bool{}
	for _, w := range want {
		spread[w.Result.Iterations] = true
	}
	if len(spread) < 4 {
		t.Errorf("iteration counts %v: the problems are too alike to test retirement", spread)
	}
	for _, workers := range []int{1, 2, 4} {
		for _, size := range []int{1, 7, count} {
			pool := compute.NewPool(workers)
			b := NewBatch(10, o, pool)
			got := tasks()
			for lo := 0; lo < count; lo += size {
				b.Solve(got[lo:min(lo+size, count)])
			}
			pool.Close()
			for i := range got {
				if !sameResult(got[i].Result, want[i].Result) {
					t.Errorf("%d workers, batches of %d, problem %d: %+v, alone %+v", workers, size, i, got[i].Result, want[i].Result)
				}
				for j := range got[i].W {
					if math.Float64bits(got[i].W[j]) != math.Float64bits(want[i].W[j]) {
						t.Errorf("%d workers, batches of %d, problem %d: w differs", workers, size, i)
					}
				}
				if bad := i == 4 || i == 17; bad != (got[i].Result.Status == StatusNonFiniteStart) {
					t.Errorf("problem %d: %v", i, got[i].Result.Status)
				}
			}
		}
	}
}

// TestStreamedIsBitwiseForAnyWorkers solves one large problem on 1, 2 and 5
// workers.
func TestStreamedIsBitwiseForAnyWorkers(t *testing.T) {
	p := newTerms(30000, 6, 8)
	var first []float64
	for _, workers := range []int{1, 2, 5} {
		pool := compute.NewPool(workers)
		w := make([]float64, p.n)
		NewSolver(p.n, Options{NewtonCorrection: true}).Solve(NewStreamedSecondOrder(linearRows{p}, pool), w)
		pool.Close()
		if first == nil {
			first = w
		}
		for j := range w {
			if math.Float64bits(w[j]) != math.Float64bits(first[j]) {
				t.Errorf("%d workers: w[%d] = %.17g, one worker %.17g", workers, j, w[j], first[j])
			}
		}
	}
}

// After the first solve nothing is allocated that grows with the rows or the
// unknowns: no linear solver, no adjoint and no batch takes more than a few
// closures, whether there are a hundred rows or ten thousand.
func TestAllocationAfterTheFirstSolve(t *testing.T) {
	const n, bound = 16, 4096
	pool := compute.NewPool(2)
	defer pool.Close()
	for _, o := range []Options{
		{MaxIterations: 5, NewtonCorrection: true},
		{MaxIterations: 5, Linear: LinearQR, Descent: Dogleg{}},
		{MaxIterations: 5, Linear: LinearQR, Descent: GaussNewton{}, NewtonCorrection: true},
	} {
		for _, m := range []int{100, 10_000} {
			p := newTerms(m, n, 1)
			dense := NewDense(Func{
				Rows: m, Dim: n,
				Residual: func(r, w []float64) { linearRows{p}.Block(r, nil, w, 0, m) },
				Jacobian: func(jac, w []float64) {
					for i := range m {
						_, f0, f1, _, _ := p.row(i, w)
						for j := range n {
							jac[i*n+j] = f0*p.a0[i*n+j] + f1*p.a1[i*n+j]
						}
					}
				},
			})
			s, b := NewSolver(n, o), NewBatch(n, o, pool)
			tasks := []Task{
				{Problem: dense, W: make([]float64, n)},
				{Problem: NewStreamedSecondOrder(linearRows{p}, nil), W: make([]float64, n)},
			}
			streamed := NewStreamedSecondOrder(linearRows{p}, pool)
			w, lambda := make([]float64, n), make([]float64, n)
			solve := func() {
				for i := range tasks {
					clear(tasks[i].W)
				}
				b.Solve(tasks)
				clear(w)
				s.Solve(streamed, w)
				s.FactorSolution(streamed, w, AdjointExact)
				s.SolveAdjoint(lambda, w)
				s.Factor(streamed, w, AdjointGaussNewton)
				s.SolveAdjoint(lambda, w)
			}
			solve()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			solve()
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > bound {
				t.Errorf("%T %v, %d rows: %d bytes in the second solve, want at most %d", o.Descent, o.Linear, m, used, bound)
			}
		}
	}
}
