package kernel_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pihc/compute"
	"pihc/internal/check"
	"pihc/internal/kernel"
)

// gemmReference is Gemm as its documentation has it, in float64.
func gemmReference[T compute.Float](c []T, ldc, m, n int, bias []T, accumulate bool, p, q kernel.Product[T]) {
	for i := range m {
		for j := range n {
			sum := 0.0
			switch {
			case accumulate:
				sum = float64(c[i*ldc+j])
			case bias != nil:
				sum = float64(bias[j])
			}
			for _, t := range []kernel.Product[T]{p, q} {
				for k := range t.K {
					sum += float64(t.A[i*t.RowStride+k*t.ColStride]) * float64(t.B[k*t.BStride+j])
				}
			}
			c[i*ldc+j] = T(sum)
		}
	}
}

// guardedProduct returns a product of m x k by k x n whose operands end exactly
// where they must, between NaN, off alignment by shift.
func guardedProduct[T compute.Float](seed uint64, m, n, k, shift int, transposed bool) kernel.Product[T] {
	if k == 0 {
		return kernel.Product[T]{}
	}
	rng := check.Rand(seed)
	p := kernel.Product[T]{K: k, RowStride: k + shift, ColStride: 1, BStride: n + shift}
	if transposed {
		p.RowStride, p.ColStride = 1, m+shift
	}
	p.A = check.Guard[T]((m-1)*p.RowStride+(k-1)*p.ColStride+1, shift).Slice()
	p.B = check.Guard[T]((k-1)*p.BStride+n, shift).Slice()
	// Elements between the rows are read by nobody: leave them NaN.
	for i := range p.A {
		p.A[i] = T(math.NaN())
	}
	for i := range p.B {
		p.B[i] = T(math.NaN())
	}
	for i := range m {
		for l := range k {
			p.A[i*p.RowStride+l*p.ColStride] = T(rng.NormFloat64())
		}
	}
	for l := range k {
		check.Normal(rng, p.B[l*p.BStride:l*p.BStride+n])
	}
	return p
}

// testGemm compares Gemm with the reference on every size beside a cutoff: 4 and
// 6 rows, 16, 32 and 64 columns, steps unrolled by up to 4.
func testGemm[T compute.Float](t *testing.T, tolerance float64) {
	seed := uint64(0)
	for _, m := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 16} {
		for _, n := range []int{1, 15, 16, 17, 31, 32, 33, 48, 64, 80, 96, 130} {
			for _, k := range [][2]int{{0, 0}, {1, 0}, {2, 0}, {3, 1}, {4, 2}, {5, 5}, {0, 3}, {7, 4}, {8, 8}} {
				seed++
				shift := int(seed % 4)
				mode := seed % 3
				p := guardedProduct[T](2*seed, m, n, k[0], shift, seed%2 == 0)
				q := guardedProduct[T](2*seed+1, m, n, k[1], shift, seed%4 < 2)
				var bias []T
				if mode == 1 {
					bias = check.Normal(check.Rand(seed), check.Guard[T](n, shift).Slice())
				}
				ldc := n + shift
				c := check.Guard[T]((m-1)*ldc+n, shift)
				got := c.Slice()
				for i := range got {
					got[i] = T(i % 7)
				}
				if mode != 2 { // overwritten without being read
					for i := range m {
						for j := range n {
							got[i*ldc+j] = T(math.NaN())
						}
					}
				}
				want := append([]T(nil), got...)
				kernel.Gemm(got, ldc, m, n, bias, mode == 2, p, q)
				gemmReference(want, ldc, m, n, bias, mode == 2, p, q)
				check.Close(t, got, want, tolerance, tolerance)
				c.Verify(t)
				if t.Failed() {
					t.Fatalf("m %d, n %d, k %v, shift %d, mode %d", m, n, k, shift, mode)
				}
			}
		}
	}
}

func TestGemm(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		testGemm[float32](t, 2e-6)
	})
	t.Run("float64", func(t *testing.T) { testGemm[float64](t, 4e-15) })
}

// testGemmPanels compares Gemm, where B is taken in several panels or copied first, with the
// reference, and bit by bit with the same rows one at a time and with the columns in two parts.
func testGemmPanels[T compute.Float](t *testing.T, tolerance float64) {
	for _, c := range []struct{ m, n, p, q, stride int }{
		{9, 70, 300, 0, 256},
		{9, 70, 300, 0, 257},
		{8, 130, 130, 150, 512},
		{8, 130, 130, 150, 300},
		{11, 256, 64, 16, 256},
		{7, 256, 64, 16, 256},
		{9, 20, 700, 3, 1024},
		{8, 33, 1, 600, 128},
		{13, 5, 900, 600, 8},
		{7, 3, 0, 0, 8},
	} {
		for mode := range 3 {
			rng := check.Rand(uint64(c.m * c.n))
			product := func(k, row, column int) kernel.Product[T] {
				b := check.Guard[T](max(0, k-1)*c.stride+c.n, 0)
				return kernel.Product[T]{A: check.Normal(rng, make([]T, c.m*k)), RowStride: row, ColStride: column, B: check.Normal(rng, b.Slice()), BStride: c.stride, K: k}
			}
			p, q := product(c.p, c.p, 1), product(c.q, 1, c.m)
			var bias []T
			if mode == 1 {
				bias = check.Normal(rng, make([]T, c.n))
			}
			ldc := c.n + mode
			guard := check.Guard[T]((c.m-1)*ldc+c.n, 0)
			got := check.Normal(rng, guard.Slice())
			want, rows, columns := slices.Clone(got), slices.Clone(got), slices.Clone(got)
			kernel.Gemm(got, ldc, c.m, c.n, bias, mode == 2, p, q)
			for i := range c.m {
				a, b := p, q
				a.A = a.A[i*a.RowStride:]
				if b.K > 0 {
					b.A = b.A[i*b.RowStride:]
				}
				kernel.Gemm(rows[i*ldc:][:c.n], c.n, 1, c.n, bias, mode == 2, a, b)
			}
			for _, part := range [2][2]int{{0, c.n / 3}, {c.n / 3, c.n}} {
				lo := part[0]
				a, b, start := p, q, bias
				a.B, b.B = a.B[min(lo, len(a.B)):], b.B[min(lo, len(b.B)):]
				if bias != nil {
					start = bias[lo:]
				}
				kernel.Gemm(columns[lo:], ldc, c.m, part[1]-lo, start, mode == 2, a, b)
			}
			gemmReference(want, ldc, c.m, c.n, bias, mode == 2, p, q)
			check.Equal(t, got, rows)
			check.Equal(t, got, columns)
			check.Close(t, got, want, tolerance, tolerance)
			guard.Verify(t)
			if t.Failed() {
				t.Fatalf("%+v, mode %d", c, mode)
			}
		}
	}
}

func TestGemmPanels(t *testing.T) {
	check.Widths(t, func(t *testing.T) { testGemmPanels[float32](t, 2e-5) })
	t.Run("float64", func(t *testing.T) { testGemmPanels[float64](t, 4e-14) })
}

// BenchmarkGemm does products of the network's shapes on one core (fno/PERFORMANCE.md): m x n x
// (k+q), rows of B so far apart, A as it lies or transposed.
func BenchmarkGemm(b *testing.B) {
	for _, c := range []struct {
		m, n, k, q, stride int
		transposed         bool
	}{
		{64, 64, 64, 16, 64, false},
		{64, 128, 64, 0, 128, false},
		{64, 256, 64, 0, 256, false},
		{64, 256, 64, 0, 256, true},
		{64, 64, 256, 0, 64, false},
		{16, 128, 128, 0, 4096, false},
		{128, 128, 16, 0, 4096, false},
		{64, 25, 64, 0, 25, false},
		{64, 9, 64, 0, 9, false},
		{4, 25, 64, 0, 25, false},
	} {
		b.Run(fmt.Sprintf("%dx%dx%d+%d stride %d transposed %t", c.m, c.n, c.k, c.q, c.stride, c.transposed), func(b *testing.B) {
			rng := check.Rand(1)
			product := func(k int) kernel.Product[float32] {
				p := kernel.Product[float32]{
					A: check.Normal(rng, make([]float32, c.m*k)), RowStride: k, ColStride: 1,
					B: check.Normal(rng, make([]float32, k*c.stride)), BStride: c.stride, K: k,
				}
				if c.transposed {
					p.RowStride, p.ColStride = 1, c.m
				}
				return p
			}
			p, q, dst := product(c.k), product(c.q), make([]float32, c.m*c.stride)
			for b.Loop() {
				kernel.Gemm(dst, c.stride, c.m, c.n, nil, false, p, q)
			}
			b.ReportMetric(2*float64(c.m*c.n*(c.k+c.q)*b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

// testAddPairs compares AddPairs with pairs formed one by one and added in their order,
// bit by bit, and with Gemm, on every size beside a cutoff: two rows, two vectors of each width.
func testAddPairs[T compute.Float](t *testing.T, tolerance float64) {
	seed := uint64(100)
	for _, m := range []int{1, 2, 5} {
		for _, n := range []int{1, 3, 4, 5, 15, 16, 17, 31, 33, 63, 64, 65, 80, 130} {
			for _, k := range []int{0, 2, 4, 8} {
				seed++
				shift := int(seed % 4)
				p := guardedProduct[T](seed, m, n, k, shift, seed%2 == 0)
				ldc := n + shift
				c := check.Guard[T]((m-1)*ldc+n, shift)
				got := c.Slice()
				check.Normal(check.Rand(seed), got)
				want, near := append([]T(nil), got...), append([]T(nil), got...)
				kernel.AddPairs(got, ldc, m, n, p)
				for l := 0; l < k; l += 2 {
					pair := p
					pair.K, pair.A, pair.B = 2, p.A[l*p.ColStride:], p.B[l*p.BStride:]
					one := make([]T, len(want))
					kernel.AddPairs(one, ldc, m, n, pair)
					for i := range m {
						for j := range n {
							want[i*ldc+j] += one[i*ldc+j]
						}
					}
				}
				kernel.Gemm(near, ldc, m, n, nil, true, p, kernel.Product[T]{})
				check.Equal(t, got, want)
				check.Close(t, got, near, tolerance, tolerance)
				c.Verify(t)
				if t.Failed() {
					t.Fatalf("m %d, n %d, k %d, shift %d", m, n, k, shift)
				}
			}
		}
	}
}

func TestAddPairs(t *testing.T) {
	check.Widths(t, func(t *testing.T) { testAddPairs[float32](t, 2e-6) })
	t.Run("float64", func(t *testing.T) { testAddPairs[float64](t, 4e-15) })
}

// TestGemmRows checks that a result does not depend on how C is cut into rows.
func TestGemmRows(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		const m, n, k = 23, 80, 37
		p := guardedProduct[float32](1, m, n, k, 1, false)
		whole, cut := make([]float32, m*n), make([]float32, m*n)
		kernel.Gemm(whole, n, m, n, nil, false, p, kernel.Product[float32]{})
		for lo, step := 0, 1; lo < m; lo, step = lo+step, step+1 {
			q := p
			q.A = p.A[lo*p.RowStride:]
			kernel.Gemm(cut[lo*n:], n, min(step, m-lo), n, nil, false, q, kernel.Product[float32]{})
		}
		check.Equal(t, cut, whole)
	})
}

// Rows here and there are those of Gemm, to rounding, whatever the others are, and
// nothing else is touched.
func TestGemmScatteredRows(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		rng := check.Rand(6)
		for _, m := range []int{0, 1, 3, 4, 5, 9} {
			for _, n := range []int{1, 15, 16, 31, 32, 47, 64, 70} {
				for _, k := range []int{1, 2, 3, 4, 7, 64, 600} {
					add := (m+n+k)%2 == 1
					stride := n + k%3
					b := check.Normal(rng, check.Guard[float32]((k-1)*stride+n, n%8).Slice())
					var a, c [][]float32
					var guards []*check.Guarded[float32]
					flat, want := make([]float32, 0, m*k), make([]float32, 0, m*n)
					for i := range m {
						row, dst := check.Guard[float32](k, i%5), check.Guard[float32](n, i%7)
						a, c = append(a, check.Normal(rng, row.Slice())), append(c, check.Normal(rng, dst.Slice()))
						flat, want = append(flat, a[i]...), append(want, c[i]...)
						guards = append(guards, row, dst)
					}
					p := kernel.Product[float32]{A: flat, RowStride: k, ColStride: 1, B: b, BStride: stride, K: k}
					gemmReference(want, n, m, n, nil, add, p, kernel.Product[float32]{})
					kernel.GemmRows(c, a, n, add, b, stride, k)
					for i := range m {
						check.Close(t, c[i], want[i*n:(i+1)*n], 2e-5, 2e-5)
					}
					for _, g := range guards {
						g.Verify(t)
					}
				}
			}
		}
	})
}

func TestGemmPanics(t *testing.T) {
	short := func(name string, f func()) {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
	p := guardedProduct[float32](1, 4, 16, 3, 0, false)
	none := kernel.Product[float32]{}
	c := make([]float32, 64)
	short("C", func() { kernel.Gemm(c[:63], 16, 4, 16, nil, false, p, none) })
	short("ldc", func() { kernel.Gemm(c, 15, 4, 16, nil, false, p, none) })
	short("bias", func() { kernel.Gemm(c, 16, 4, 16, c[:15], false, p, none) })
	short("A", func() { q := p; q.A = q.A[1:]; kernel.Gemm(c, 16, 4, 16, nil, false, q, none) })
	short("B", func() { q := p; q.B = q.B[1:]; kernel.Gemm(c, 16, 4, 16, nil, false, none, q) })
}

// gelu and its derivative straight from the formula with tanh, in float64 (which
// cancels in 1-tanh²: good to about 1e-14).
func geluReference(x float64) (value, slope float64) {
	c := math.Sqrt(2 / math.Pi)
	th := math.Tanh(c * (x + 0.044715*x*x*x))
	return x / 2 * (1 + th), (1+th)/2 + x/2*(1-th*th)*c*(1+3*0.044715*x*x)
}

func TestGelu(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		testGelu[float32](t, 4e-7)
	})
	t.Run("float64", func(t *testing.T) { testGelu[float64](t, 3e-14) })
}

func testGelu[T compute.Float](t *testing.T, tolerance float64) {
	for _, n := range []int{0, 1, 15, 16, 17, 31, 32, 100} {
		for shift := range 3 {
			x := check.Guard[T](n, shift)
			v, g := check.Guard[T](n, 2-shift), check.Guard[T](n, 1)
			wantV, wantG := make([]T, n), make([]T, n)
			for i := range x.Slice() {
				x.Slice()[i] = T(-12 + 24*float64(i+1)/float64(n+1))
				g.Slice()[i] = T(1 + i%3)
				value, slope := geluReference(float64(x.Slice()[i]))
				wantV[i], wantG[i] = T(value), T(slope*float64(1+i%3))
			}
			kernel.GeluBackward(v.Slice(), g.Slice(), x.Slice())
			check.Close(t, v.Slice(), wantV, tolerance, tolerance)
			check.Close(t, g.Slice(), wantG, 2*tolerance, tolerance)
			clear(v.Slice())
			kernel.Gelu(v.Slice(), x.Slice())
			check.Close(t, v.Slice(), wantV, tolerance, tolerance)
			kernel.Gelu(x.Slice(), x.Slice()) // in place
			check.Equal(t, x.Slice(), v.Slice())
			x.Verify(t)
			v.Verify(t)
			g.Verify(t)
		}
	}
}

// TestGeluLimits: relative accuracy of gelu(x)/x for small x, the tails, and NaN.
func TestGeluLimits(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		x := []float32{0, 1e-30, -1e-30, 1e-8, -1e-8, 1e-3, -1e-3, 5, -5, 20, -20, 1e6, -1e6, 1e15, -1e15, float32(math.NaN())}
		v, g := make([]float32, len(x)), make([]float32, len(x))
		for i := range g {
			g[i] = 1
		}
		kernel.GeluBackward(v, g, x)
		plain := make([]float32, len(x))
		kernel.Gelu(plain, x)
		for i, y := range x {
			value, slope := geluReference(float64(y))
			limit := 3e-7*math.Abs(value) + 1e-22*math.Abs(float64(y)) // 2^-126 |x| at most in the far tail
			if y < 0 {
				limit = 3e-7*math.Abs(value) + 4e-7*math.Min(1e-6, math.Abs(float64(y))) + 1e-22*math.Abs(float64(y))
			}
			for _, got := range []float32{v[i], plain[i]} {
				if d := math.Abs(float64(got) - value); !(d <= limit) && !math.IsNaN(float64(y)) {
					t.Errorf("gelu(%g) = %g, want %g", y, got, value)
				}
			}
			if d := math.Abs(float64(g[i]) - slope); !(d <= 6e-7) && !math.IsNaN(float64(y)) {
				t.Errorf("gelu'(%g) = %g, want %g", y, g[i], slope)
			}
			if math.IsNaN(float64(y)) && (v[i] == v[i] || g[i] == g[i] || plain[i] == plain[i]) {
				t.Errorf("NaN gave %g, %g, %g", v[i], g[i], plain[i])
			}
		}
	})
}

// TestAdam compares with a float64 version over several steps, and vectors with the
// reference bitwise.
func TestAdam(t *testing.T) {
	for _, n := range []int{1, 15, 16, 17, 40} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			rng := check.Rand(uint64(n))
			start := check.Normal(rng, make([]float32, n))
			var grads [4][]float32
			for i := range grads {
				grads[i] = check.Normal(rng, make([]float32, n))
			}
			grads[0][0], grads[1][0] = 0, 0

			exact, first, second := make([]float64, n), make([]float64, n), make([]float64, n)
			for i, v := range start {
				exact[i] = float64(v)
			}
			for step, g := range grads {
				for i := range exact {
					x := 0.25 * float64(g[i])
					first[i] = 0.9*first[i] + 0.1*x
					second[i] = 0.999*second[i] + 0.001*x*x
					m := first[i] / (1 - math.Pow(0.9, float64(step+1)))
					v := second[i] / (1 - math.Pow(0.999, float64(step+1)))
					exact[i] -= 0.01 * m / (math.Sqrt(v) + 1e-8)
				}
			}
			want := make([]float32, n)
			for i, v := range exact {
				want[i] = float32(v)
			}
			var before []float32
			check.Widths(t, func(t *testing.T) {
				p, m, v := check.Guard[float32](n, 1), check.Guard[float32](n, 2), check.Guard[float32](n, 3)
				copy(p.Slice(), start)
				for step, g := range grads {
					kernel.Adam(p.Slice(), m.Slice(), v.Slice(), g, kernel.NewAdamStep(0.01, 0.25, step+1))
				}
				check.Close(t, p.Slice(), want, 1e-6, 0)
				if before != nil {
					check.Equal(t, p.Slice(), before)
				}
				before = append([]float32(nil), p.Slice()...)
				p.Verify(t)
				m.Verify(t)
				v.Verify(t)
			})
		})
	}
}

func TestSumSquares(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 47, 48, 1000} {
		x := check.Normal(check.Rand(uint64(n)), check.Guard[float32](n, n%3).Slice())
		want := 0.0
		for _, v := range x {
			want += float64(v) * float64(v)
		}
		var before []float64
		check.Widths(t, func(t *testing.T) {
			got := []float64{kernel.SumSquares(x)}
			check.Close(t, got, []float64{want}, 1e-14, 0)
			if before != nil {
				check.Equal(t, got, before)
			}
			before = got
		})
	}
}

func TestNetworkKernelsDoNotAllocate(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		p := guardedProduct[float32](1, 9, 80, 5, 0, false)
		c, x := make([]float32, 9*80), make([]float32, 9*80)
		if n := testing.AllocsPerRun(10, func() {
			for _, n := range []int{80, 77, 3} {
				kernel.Gemm(c, 80, 9, n, x, false, p, p)
			}
			kernel.Gelu(c, x)
			kernel.GeluBackward(c, c, x)
			kernel.Adam(c, x, x, x, kernel.AdamStep{Root: 1, Epsilon: 1})
			kernel.SumSquares(c)
		}); n != 0 {
			t.Errorf("%g allocations", n)
		}
	})
}
