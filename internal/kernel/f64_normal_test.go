package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pihc/internal/check"
	"pihc/internal/kernel"
)

// The reference of each kernel is its formula, summed naively.

// normalProblem is a random least-squares block beside guard bands.
type normalProblem struct {
	n, m    int
	a, f, s [][]float64
	r       []float64
	guards  []*check.Guarded[float64]
}

func (p *normalProblem) guarded(rng *rand.Rand, n int) []float64 {
	g := check.Guard[float64](n, rng.IntN(8))
	p.guards = append(p.guards, g)
	for i := range g.Slice() {
		g.Slice()[i] = rng.NormFloat64()
	}
	return g.Slice()
}

func newNormalProblem(rng *rand.Rand, n, m, terms int) *normalProblem {
	p := &normalProblem{n: n, m: m}
	p.r = p.guarded(rng, m)
	p.s = make([][]float64, terms*terms)
	for j := range terms {
		p.a = append(p.a, p.guarded(rng, m*n))
		p.f = append(p.f, p.guarded(rng, m))
		for k := range j + 1 {
			p.s[j*terms+k] = p.guarded(rng, m)
			p.s[k*terms+j] = p.s[j*terms+k]
		}
	}
	if terms > 2 { // a term that drops out, and one pair
		p.f[1], p.s[terms], p.s[1] = nil, nil, nil
	}
	return p
}

func (p *normalProblem) verify(t *testing.T) {
	for _, g := range p.guards {
		g.Verify(t)
	}
}

func (p *normalProblem) jacobian() []float64 {
	j := make([]float64, p.m*p.n)
	for r := range p.m {
		for k, f := range p.f {
			for i := range p.n {
				if f != nil {
					j[r*p.n+i] += f[r] * p.a[k][r*p.n+i]
				}
			}
		}
	}
	return j
}

var normalSizes = []struct{ n, m, terms int }{
	{1, 0, 1},
	{1, 1, 1},
	{1, 5, 2},
	{2, 3, 1},
	{3, 7, 2},
	{4, 4, 1},
	{5, 9, 3},
	{7, 33, 1},
	{8, 1, 1},
	{8, 257, 2},
	{9, 30, 1},
	{12, 20, 3},
	{15, 8, 1},
	{16, 0, 1},
	{16, 1, 3},
	{16, 2, 3},
	{16, 3, 3},
	{16, 127, 3},
	{16, 128, 3},
	{16, 129, 3},
	{16, 255, 1},
	{16, 256, 1},
	{16, 257, 1},
	{17, 40, 2},
	{20, 21, 1},
	{23, 9, 1},
	{24, 85, 1},
	{24, 86, 1},
	{31, 10, 1},
	{32, 65, 2},
	{33, 6, 1},
	{40, 52, 1},
	{48, 43, 1},
	{64, 31, 1},
	{64, 32, 3},
	{64, 33, 1},
	{64, 70, 1},
	{72, 40, 1},
	{100, 37, 2},
}

func forNormalSizes(t *testing.T, f func(t *testing.T, rng *rand.Rand, p *normalProblem)) {
	check.Widths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 10))
		for _, size := range normalSizes {
			p := newNormalProblem(rng, size.n, size.m, size.terms)
			t.Run(fmt.Sprintf("n=%d,m=%d,J=%d", size.n, size.m, size.terms), func(t *testing.T) {
				f(t, rng, p)
				p.verify(t)
			})
		}
	})
}

func TestAddScaledRows(t *testing.T) {
	forNormalSizes(t, func(t *testing.T, rng *rand.Rand, p *normalProblem) {
		got, c := p.guarded(rng, p.m*p.n), p.guarded(rng, p.m)
		want := append([]float64(nil), got...)
		for i := range want {
			want[i] += c[i/p.n] * p.a[0][i]
		}
		kernel.AddScaledRows(got, p.n, c, p.a[0])
		check.Close(t, got, want, 1e-15, 1e-15)
	})
}

// Kernels of float32 rows give what those of float64 rows give for the same numbers.
func TestRows32(t *testing.T) {
	forNormalSizes(t, func(t *testing.T, rng *rand.Rand, p *normalProblem) {
		n, m := p.n, p.m
		var narrow [][]float32
		for _, a := range p.a {
			g := check.Guard[float32](m*n, rng.IntN(8))
			for i := range a {
				g.Slice()[i] = float32(a[i])
			}
			kernel.Widen(a, g.Slice())
			narrow = append(narrow, g.Slice())
			defer g.Verify(t)
		}
		scratch, scratch32 := make([]float64, kernel.NormalScratch(n)), p.guarded(rng, kernel.NormalScratch32(n))
		w := p.guarded(rng, n)
		want, got := make([]float64, m), p.guarded(rng, m)
		kernel.MatVecRows(want, n, m, p.a[0], w)
		kernel.MatVecRows32(got, n, m, narrow[0], w, scratch32)
		check.Close(t, got, want, 1e-12, 1e-12)

		gram, grad := p.guarded(rng, n*n), p.guarded(rng, n)
		wantGram, wantGrad := append([]float64(nil), gram...), append([]float64(nil), grad...)
		kernel.AccumulateNormal(wantGram, wantGrad, n, m, p.f, p.a, p.r, scratch)
		kernel.AccumulateNormal32(gram, grad, n, m, p.f, narrow, p.r, scratch32)
		kernel.Symmetrize(gram, n)
		kernel.Symmetrize(wantGram, n)
		check.Close(t, gram, wantGram, 1e-11, 1e-11)
		check.Close(t, grad, wantGrad, 1e-11, 1e-11)

		clear(gram)
		clear(wantGram)
		kernel.AccumulateHessian(wantGram, n, m, p.s, p.a, scratch)
		halved := append([][]float64(nil), p.s...)
		for j := range p.a {
			d := append([]float64(nil), p.s[j*len(p.a)+j]...)
			kernel.MulScalar64(d, 0.5, d)
			halved[j*len(p.a)+j] = d
		}
		kernel.AccumulateCurvature32(gram, n, m, halved, narrow, scratch32)
		kernel.AddTranspose(gram, n)
		kernel.Symmetrize(wantGram, n)
		check.Close(t, gram, wantGram, 1e-11, 1e-11)
	})
}

func TestAccumulateNormal(t *testing.T) {
	forNormalSizes(t, func(t *testing.T, rng *rand.Rand, p *normalProblem) {
		n := p.n
		gram, grad := p.guarded(rng, n*n), p.guarded(rng, n)
		want, wantGrad := make([]float64, n*n), append([]float64(nil), grad...)
		for i := range n {
			for k := range i + 1 {
				gram[k*n+i] = gram[i*n+k]
			}
		}
		copy(want, gram)
		j := p.jacobian()
		for r := range p.m {
			for i := range n {
				wantGrad[i] += p.r[r] * j[r*n+i]
				for k := range n {
					want[i*n+k] += j[r*n+i] * j[r*n+k]
				}
			}
		}
		kernel.AccumulateNormal(gram, grad, n, p.m, p.f, p.a, p.r, p.guarded(rng, kernel.NormalScratch(n)))
		kernel.Symmetrize(gram, n)
		check.Close(t, gram, want, 1e-14, 1e-14)
		check.Close(t, grad, wantGrad, 1e-13, 1e-13)
	})
}

func TestCombineRows(t *testing.T) {
	forNormalSizes(t, func(t *testing.T, rng *rand.Rand, p *normalProblem) {
		dst := p.guarded(rng, p.m*p.n)
		kernel.CombineRows(dst, p.n, p.m, p.f, p.a)
		check.Close(t, dst, p.jacobian(), 1e-14, 1e-14)
	})
}

func TestAccumulateHessian(t *testing.T) {
	forNormalSizes(t, func(t *testing.T, rng *rand.Rand, p *normalProblem) {
		n, terms := p.n, len(p.a)
		gram, want := p.guarded(rng, n*n), make([]float64, n*n)
		for i := range n {
			for k := range i + 1 {
				gram[k*n+i] = gram[i*n+k]
			}
		}
		copy(want, gram)
		for r := range p.m {
			for jk, s := range p.s {
				if s == nil {
					continue
				}
				x, y := p.a[jk/terms][r*n:], p.a[jk%terms][r*n:]
				for i := range n {
					for k := range n {
						want[i*n+k] += s[r] * x[i] * y[k]
					}
				}
			}
		}
		kernel.AccumulateHessian(gram, n, p.m, p.s, p.a, p.guarded(rng, kernel.NormalScratch(n)))
		kernel.Symmetrize(gram, n)
		check.Close(t, gram, want, 1e-13, 1e-13)
	})
}

func TestMatVecRowsAndTransposed(t *testing.T) {
	forNormalSizes(t, func(t *testing.T, rng *rand.Rand, p *normalProblem) {
		n, m, a := p.n, p.m, p.a[0]
		w, z, g := p.guarded(rng, n), p.guarded(rng, m), p.guarded(rng, n)
		wantZ, wantG := make([]float64, m), append([]float64(nil), g...)
		for r := range m {
			for i := range n {
				wantZ[r] += a[r*n+i] * w[i]
				wantG[i] += a[r*n+i] * p.r[r]
			}
		}
		kernel.MatVecRows(z, n, m, a, w)
		kernel.AccumulateTransposed(g, n, m, a, p.r)
		check.Close(t, z, wantZ, 1e-14, 1e-14)
		check.Close(t, g, wantG, 1e-13, 1e-13)
		// A row does not depend on the rows it is computed with.
		for r := range m {
			one := p.guarded(rng, 1)
			kernel.MatVecRows(one, n, 1, a[r*n:(r+1)*n], w)
			check.Equal(t, one, z[r:r+1])
		}
	})
}

func TestVectorSums(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(13, 14))
		for n := range 150 {
			p := &normalProblem{}
			x, y := p.guarded(rng, n), p.guarded(rng, n)
			dot, squares, want := 0.0, 0.0, make([]float64, n)
			for i := range x {
				dot += x[i] * y[i]
				squares += x[i] * x[i]
				want[i] = y[i] + 0.75*x[i]
			}
			check.Close(t, []float64{kernel.Dot(x, y), kernel.SumSquares64(x)}, []float64{dot, squares}, 1e-13, 1e-13)
			kernel.Axpy64(y, 0.75, x)
			check.Close(t, y, want, 1e-15, 0)
			p.verify(t)
		}
	})
}

func TestNormalPanics(t *testing.T) {
	v := make([]float64, 5000)
	for name, f := range map[string]func(){
		"gram":    func() { kernel.AccumulateNormal(v[:3], v, 2, 1, [][]float64{v}, [][]float64{v}, v, v) },
		"scratch": func() { kernel.AccumulateNormal(v, v, 2, 1, [][]float64{v}, [][]float64{v}, v, v[:10]) },
		"matrix":  func() { kernel.AccumulateNormal(v, v, 16, 3, [][]float64{v}, [][]float64{v[:47]}, v, v) },
		"weights": func() { kernel.AccumulateHessian(v, 2, 1, [][]float64{v, v}, [][]float64{v}, v) },
		"combine": func() { kernel.CombineRows(v[:3], 2, 2, [][]float64{v}, [][]float64{v}) },
		"coef":    func() { kernel.CombineRows(v, 2, 2, [][]float64{v[:1]}, [][]float64{v}) },
		"rows":    func() { kernel.MatVecRows(v[:2], 4, 3, v, v) },
		"row":     func() { kernel.AccumulateTransposed(v, 4, 3, v[:11], v) },
	} {
		check.Widths(t, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		})
	}
}

func BenchmarkNormal(b *testing.B) {
	peak := kernel.PeakGFLOPS64(1)
	for _, n := range []int{16, 32, 64} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			const m = 256
			p := newNormalProblem(rand.New(rand.NewPCG(1, 1)), n, m, 1)
			gram, grad, scratch := make([]float64, n*n), make([]float64, n), make([]float64, kernel.NormalScratch(n))
			best := math.Inf(1) // of short runs, for machines that do other work too
			for b.Loop() {
				start := time.Now()
				for range 10 {
					kernel.AccumulateNormal(gram, grad, n, m, p.f, p.a, p.r, scratch)
				}
				best = min(best, time.Since(start).Seconds()/10)
			}
			// Counted as n(n+1)/2 multiply-adds a row, whatever is executed.
			g := float64(m*n*(n+1)) / best / 1e9
			b.ReportMetric(g, "GFLOP/s")
			b.ReportMetric(100*g/peak, "%peak")
			if math.IsNaN(gram[0]) {
				b.Fatal("NaN")
			}
		})
	}
}

// Scratch for some columns is enough for fewer, of which there may be more rows at once.
func TestNormalScratch(t *testing.T) {
	for n := range 300 {
		if least := kernel.NormalScratch(n); kernel.NormalScratch(n+1) < least {
			t.Errorf("%d columns need %d values, %d need %d", n, least, n+1, kernel.NormalScratch(n+1))
		}
	}
}
