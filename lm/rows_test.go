package lm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"pihc/compute"
	"pihc/internal/check"
	"pihc/internal/kernel"
)

const (
	rowsBlock  = 256       // rows that go through the pass together
	rowsMemory = 256 << 20 // bytes of all rows of a measurement
)

// syntheticRows is a least-squares problem of the shape of a constraint's with
// random rows: r = z1 − D·z2/R(z0) − 1 with z_j = A_j w and R(u) = 1 + c/(1+u²),
// evaluated block by block in one pass: terms, residual, partials, JᵀJ, Jᵀr. It
// is a RowReader.
type syntheticRows[T compute.Float] struct {
	m, n, stored int    // rows, unknowns, rows that are stored: they repeat
	a            [3][]T // A_j, row-major

	widened     [3][]float64 // a block of A_j, where T is float32
	z           [3][]float64
	f, view     [][]float64 // ∂r/∂z_j and A_j of the block at hand
	r, jacobian []float64
	scratch     []float64
}

// newSyntheticRows stores at most the given bytes of rows. More rows than that
// repeat: they are read from memory all the same, where they exceed the caches.
func newSyntheticRows[T compute.Float](m, n, bytes int, seed uint64) *syntheticRows[T] {
	size := 8
	if _, ok := any(T(0)).(float32); ok {
		size = 4
	}
	p := &syntheticRows[T]{
		m: m, n: n, stored: min(m, max(bytes/(3*n*size)/rowsBlock, 1)*rowsBlock),
		f: make([][]float64, 3), view: make([][]float64, 3),
		r: make([]float64, rowsBlock), jacobian: make([]float64, rowsBlock*n), scratch: make([]float64, kernel.NormalScratch(n)),
	}
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	for j := range p.a {
		p.a[j] = make([]T, p.stored*n)
		for i := range p.a[j] {
			p.a[j][i] = T(rng.Float64() - 0.5)
		}
		p.widened[j] = make([]float64, rowsBlock*n)
		p.z[j], p.f[j] = make([]float64, rowsBlock), make([]float64, rowsBlock)
	}
	return p
}

func (p *syntheticRows[T]) Dim() int { return p.n }

// block evaluates rows [lo, lo+k), k <= rowsBlock, and returns ½Σr².
func (p *syntheticRows[T]) block(w []float64, lo, k int) float64 {
	const d, c = 0.1, 2
	n, at := p.n, lo%p.stored
	for j := range p.a {
		switch rows := any(p.a[j]).(type) {
		case []float64:
			p.view[j] = rows[at*n : (at+k)*n]
		case []float32:
			p.view[j] = p.widened[j][:k*n]
			kernel.Widen(p.view[j], rows[at*n:(at+k)*n])
		}
		kernel.MatVecRows(p.z[j], n, k, p.view[j], w)
	}
	for i := range k {
		u := p.z[0][i] + 1
		s := 1 / (1 + u*u)
		inv := 1 / (1 + c*s)
		p.r[i] = p.z[1][i] - d*inv*p.z[2][i] - 1
		p.f[0][i] = -d * p.z[2][i] * inv * inv * c * s * s * 2 * u
		p.f[1][i] = 1
		p.f[2][i] = -d * inv
	}
	return 0.5 * kernel.SumSquares64(p.r[:k])
}

// Normal is the fused pass.
func (p *syntheticRows[T]) Normal(a, g, w []float64) float64 {
	cost := 0.0
	if g != nil {
		clear(a)
		clear(g)
	}
	for lo := 0; lo < p.m; lo += rowsBlock {
		k := min(rowsBlock, p.m-lo)
		cost += p.block(w, lo, k)
		if g != nil {
			kernel.AccumulateNormal(a, g, p.n, k, p.f, p.view, p.r, p.scratch)
		}
	}
	if g != nil {
		kernel.Symmetrize(a, p.n)
	}
	return cost
}

func (p *syntheticRows[T]) EachBlock(w []float64, visit func(r, jac []float64)) {
	for lo := 0; lo < p.m; lo += rowsBlock {
		k := min(rowsBlock, p.m-lo)
		p.block(w, lo, k)
		kernel.CombineRows(p.jacobian, p.n, k, p.f, p.view)
		visit(p.r[:k], p.jacobian[:k*p.n])
	}
}

// The synthetic problem is consistent: its gradient is that of its cost, and its
// rows give the same normal equations as the fused pass, repeated rows included.
func TestSyntheticRows(t *testing.T) {
	testSyntheticRows[float32](t)
	testSyntheticRows[float64](t)
}

func testSyntheticRows[T compute.Float](t *testing.T) {
	const m, n = 700, 16
	p := newSyntheticRows[T](m, n, 2*rowsBlock*3*n*8, 1) // rows repeat
	a, g, w := make([]float64, n*n), make([]float64, n), make([]float64, n)
	for i := range w {
		w[i] = 0.1 * float64(i-5)
	}
	cost := p.Normal(a, g, w)
	again, sum, gradient := make([]float64, n*n), 0.0, make([]float64, n)
	p.EachBlock(w, func(r, jac []float64) {
		for i, v := range r {
			sum += 0.5 * v * v
			row := jac[i*n : (i+1)*n]
			for j, x := range row {
				gradient[j] += v * x
				for k, y := range row {
					again[j*n+k] += x * y
				}
			}
		}
	})
	check.Close(t, []float64{cost}, []float64{sum}, 1e-13, 0)
	check.Close(t, g, gradient, 1e-12, 1e-12)
	check.Close(t, a, again, 1e-12, 1e-12)
	for j := range w {
		const h = 1e-5
		v := w[j]
		w[j] = v + h
		up := p.Normal(nil, nil, w)
		w[j] = v - h
		down := p.Normal(nil, nil, w)
		w[j] = v
		if d := (up - down) / (2 * h); math.Abs(d-g[j]) > 1e-6*math.Abs(cost) {
			t.Errorf("g[%d] = %g, difference of the cost %g", j, g[j], d)
		}
	}
}

var (
	// peak64 and readGBs are the two limits of the machine that passes are beside: fused
	// multiply-adds of one thread, and one thread that sums an array far larger than the caches.
	peak64  = sync.OnceValue(func() float64 { return kernel.PeakGFLOPS64(1) })
	readGBs = sync.OnceValue(func() float64 {
		x := slices.Repeat([]float64{1}, 32<<20)
		best := 0.0
		for range 3 {
			start := time.Now()
			if kernel.SumSquares64(x) > 0 {
				best = max(best, float64(8*len(x))/time.Since(start).Seconds()/1e9)
			}
		}
		return best
	})
)

// BenchmarkRows measures solves and single passes of random rows over sizes.
func BenchmarkRows(b *testing.B) {
	for _, n := range []int{16, 64} {
		for _, m := range []int{100, 1000, 10_000, 100_000, 1_000_000} {
			for _, problems := range []int{1, 24} {
				if problems > 1 && m > 100_000 {
					continue // takes minutes
				}
				benchmarkSolve[float64](b, m, n, problems, "float64")
				benchmarkSolve[float32](b, m, n, problems, "float32")
			}
		}
		for _, m := range []int{20_000, 100_000} {
			benchmarkPass[float64](b, m, n, "float64", 8)
			benchmarkPass[float32](b, m, n, "float32", 4)
		}
	}
	b.Run("twenty_thousand_by_16", benchmarkTwentyThousand)
}

// benchmarkSolve solves problems at once, on all threads if there are several, to the default
// tolerances by both linear solvers. solve_s is the time of all over their number.
func benchmarkSolve[T compute.Float](b *testing.B, m, n, problems int, precision string) {
	b.Run(fmt.Sprintf("solve/basis=%d/rows=%d/problems=%d/%s", n, m, problems, precision), func(b *testing.B) {
		var pool *compute.Pool
		if problems > 1 {
			pool = compute.NewPool(0)
			defer pool.Close()
		}
		rows, w, results := make([]Problem, problems), make([][]float64, problems), make([]Result, problems)
		for i := range rows {
			rows[i], w[i] = newSyntheticRows[T](m, n, rowsMemory/problems, uint64(i)), make([]float64, n)
		}
		for _, qr := range []bool{false, true} {
			b.Run(map[bool]string{false: "cholesky", true: "qr"}[qr], func(b *testing.B) {
				solvers := make([]*Solver, pool.Workers())
				for i := range solvers {
					solvers[i] = NewSolver(n, Options{QR: qr, Ridge: 1e-4})
				}
				for b.Loop() {
					pool.Run(problems, func(worker, i int) {
						clear(w[i])
						results[i] = solvers[worker].Solve(rows[i], w[i])
					})
				}
				iterations := 0
				for _, r := range results {
					if err := r.Status.Err(); err != nil {
						b.Fatal(err)
					}
					iterations += r.Iterations
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*problems), "solve_s")
				b.ReportMetric(float64(iterations)/float64(problems), "iterations")
			})
		}
	})
}

// benchmarkPass evaluates terms, residual, partials, JᵀJ and Jᵀr on one thread. All is of the
// fastest evaluation: the limits beside it are the best of many too.
func benchmarkPass[T compute.Float](b *testing.B, m, n int, precision string, size int) {
	b.Run(fmt.Sprintf("pass/basis=%d/rows=%d/%s", n, m, precision), func(b *testing.B) {
		p := newSyntheticRows[T](m, n, rowsMemory, 1)
		a, gradient, w := make([]float64, n*n), make([]float64, n), make([]float64, n)
		best := math.Inf(1)
		for b.Loop() {
			start := time.Now()
			p.Normal(a, gradient, w)
			best = min(best, time.Since(start).Seconds())
		}
		// JᵀJ n(n+1), Jᵀr 2n, three products A_j w 6n, J = Σ F_j A_j 5n.
		gflops, gbs := float64(m*(n*(n+1)+13*n))/best/1e9, float64(3*m*n*size)/best/1e9
		b.ReportMetric(best, "pass_s")
		b.ReportMetric(gflops, "gflops")
		b.ReportMetric(gflops/peak64(), "fraction_of_peak")
		b.ReportMetric(gbs, "gb_s")
		b.ReportMetric(gbs/readGBs(), "fraction_of_read")
		b.ReportMetric(readGBs(), "read_gb_s")
	})
}

// benchmarkTwentyThousand solves one problem of 20,000 x 16 on one thread in 15 iterations:
// strong damping at the start keeps it from converging earlier.
func benchmarkTwentyThousand(b *testing.B) {
	p, w := newSyntheticRows[float64](20_000, 16, rowsMemory, 1), make([]float64, 16)
	s := NewSolver(16, Options{MaxIterations: 15, GTol: -1, FTol: -1, XTol: -1, Descent: LevenbergMarquardt{InitialDamping: 1e6}, NoRestart: true})
	for b.Loop() {
		clear(w)
		if r := s.Solve(p, w); r.Iterations != 15 {
			b.Fatalf("stopped after %d iterations", r.Iterations)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "twenty_thousand_by_16_s")
}
