package fft

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"pihc/internal/check"
)

// Every radix alone, mixed, and twice; primes above 7 and their products.
var lengths = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 21, 25, 26, 27, 28, 32, 35, 49, 60, 64, 75, 97, 101, 105, 121, 128, 210, 243, 256, 343, 360}

var fieldCounts = []int{1, 2, 7, 8, 9, 15, 16, 17, 24, 33}

// tolerance of a transform of n points relative to its largest output.
func tolerance(n int) float64 { return 4e-16 * (2 + math.Log2(float64(n))) }

func column(x []float64, fields, f int) []float64 {
	out := make([]float64, len(x)/fields)
	for i := range out {
		out[i] = x[i*fields+f]
	}
	return out
}

func TestComplexAgainstDense(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		rng := check.Rand(1)
		for _, n := range lengths {
			for _, fields := range fieldCounts {
				if n > 100 && fields != 1 && fields != 17 {
					continue // the definition is slow, and the passes are the same
				}
				re, im := check.Guard[float64](n*fields, 3), check.Guard[float64](n*fields, 1)
				x := check.Normal(rng, append([]float64(nil), re.Slice()...))
				y := check.Normal(rng, append([]float64(nil), im.Slice()...))
				wantRe, wantIm := make([]float64, n), make([]float64, n)
				for _, inverse := range []bool{false, true} {
					copy(re.Slice(), x)
					copy(im.Slice(), y)
					if inverse {
						Forward(im.Slice(), re.Slice(), n)
					} else {
						Forward(re.Slice(), im.Slice(), n)
					}
					re.Verify(t)
					im.Verify(t)
					for _, f := range []int{0, fields / 2, fields - 1} {
						dft(wantRe, wantIm, column(x, fields, f), column(y, fields, f), inverse)
						got := append(column(re.Slice(), fields, f), column(im.Slice(), fields, f)...)
						if e := check.MaxRel(got, append(append([]float64(nil), wantRe...), wantIm...)); !(e <= tolerance(n)) {
							t.Errorf("length %d, field %d of %d, inverse %t: relative error %.3g", n, f, fields, inverse, e)
						}
					}
				}
			}
		}
	})
}

func TestComplexAgainstGonum(t *testing.T) {
	rng := check.Rand(2)
	for _, n := range []int{64, 101, 1000, 1024, 2310, 4096, 5000, 10007} {
		x, y := check.Normal(rng, make([]float64, n)), check.Normal(rng, make([]float64, n))
		z := make([]complex128, n)
		for i := range z {
			z[i] = complex(x[i], y[i])
		}
		want := fourier.NewCmplxFFT(n).Coefficients(nil, z)
		Forward(x, y, n)
		wantRe, wantIm := make([]float64, n), make([]float64, n)
		for i, w := range want {
			wantRe[i], wantIm[i] = real(w), imag(w)
		}
		check.Close(t, x, wantRe, 1e-14, 0)
		check.Close(t, y, wantIm, 1e-14, 0)
	}
}

var shapes = [][]int{{1}, {5}, {16}, {101}, {4, 6}, {8, 8}, {5, 9}, {12, 11}, {3, 1}, {1, 7}, {16, 15}, {3, 4, 5}, {4, 6, 8}, {2, 1, 3, 4}}

// dense transforms one complex array of any shape by the definition, axis by axis.
func dense(shape []int, re, im []float64, inverse bool) {
	inner := 1
	for d := len(shape) - 1; d >= 0; d-- {
		n := shape[d]
		a, b, c, e := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for o := range len(re) / (n * inner) {
			for j := range inner {
				for i := range n {
					a[i], b[i] = re[(o*n+i)*inner+j], im[(o*n+i)*inner+j]
				}
				dft(c, e, a, b, inverse)
				for i := range n {
					re[(o*n+i)*inner+j], im[(o*n+i)*inner+j] = c[i], e[i]
				}
			}
		}
		inner *= n
	}
}

func TestShapesAgainstDense(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		rng := check.Rand(3)
		for _, shape := range shapes {
			for _, fields := range fieldCounts {
				testShape(t, shape, fields, check.Normal(rng, make([]float64, 2*product(shape)*fields)))
			}
		}
	})
}

func product(shape []int) int {
	p := 1
	for _, n := range shape {
		p *= n
	}
	return p
}

// forward transforms complex arrays (shape..., fields) in place along all axes.
func forward(shape []int, fields int, re, im []float64) {
	inner := fields
	for d := len(shape) - 1; d >= 0; d-- {
		p := newPlan(shape[d])
		b := newBuffer([]*plan{p})
		b.along(p, re, im, len(re)/(shape[d]*inner), inner)
		inner *= shape[d]
	}
}

func testShape(t *testing.T, shape []int, fields int, data []float64) {
	size, last := product(shape), shape[len(shape)-1]
	x, y := data[:size*fields], data[size*fields:]
	name := fmt.Sprintf("shape %v, %d fields", shape, fields)
	report := func(what string, got, want []float64) {
		t.Helper()
		if e := check.MaxRel(got, want); !(e <= tolerance(size)) {
			t.Errorf("%s: %s: relative error %.3g", name, what, e)
		}
	}

	re, im := append([]float64(nil), x...), append([]float64(nil), y...)
	forward(shape, fields, re, im)
	for f := range fields {
		a, b := column(x, fields, f), column(y, fields, f)
		dense(shape, a, b, false)
		report("complex", append(column(re, fields, f), column(im, fields, f)...), append(a, b...))
	}
	forward(shape, fields, im, re)
	for i := range re {
		re[i] /= float64(size)
		im[i] /= float64(size)
	}
	report("complex there and back", append(re, im...), append(append([]float64(nil), x...), y...))

	r := NewReal(shape, fields)
	if r.Size() != len(x) || r.Modes() != size/last*(last/2+1)*fields {
		t.Fatalf("%s: size %d, modes %d", name, r.Size(), r.Modes())
	}
	gre, gim, gx := check.Guard[float64](r.Modes(), 1), check.Guard[float64](r.Modes(), 2), check.Guard[float64](len(x), 3)
	copy(gx.Slice(), x)
	r.Forward(gre.Slice(), gim.Slice(), gx.Slice())
	check.Equal(t, gx.Slice(), x)
	for f := range fields {
		a, b := column(x, fields, f), make([]float64, size)
		dense(shape, a, b, false)
		var wantRe, wantIm []float64
		for i := range a {
			if i%last <= last/2 {
				wantRe, wantIm = append(wantRe, a[i]), append(wantIm, b[i])
			}
		}
		got := append(column(gre.Slice(), fields, f), column(gim.Slice(), fields, f)...)
		report("real", got, append(wantRe, wantIm...))
	}
	r.Inverse(gx.Slice(), gre.Slice(), gim.Slice())
	for i := range gx.Slice() {
		gx.Slice()[i] /= float64(size)
	}
	report("real there and back", gx.Slice(), x)
	for _, g := range []*check.Guarded[float64]{gre, gim, gx} {
		g.Verify(t)
	}
}

// A half spectrum that belongs to no real array is projected: the inverse is that
// of the conjugate-symmetric part, as the comment of Inverse says.
func TestRealInverseProjects(t *testing.T) {
	rng := check.Rand(4)
	for _, shape := range [][]int{{8}, {9}, {4, 6}, {5, 7}} {
		r := NewReal(shape, 1)
		size, last := product(shape), shape[len(shape)-1]
		h := last/2 + 1
		re, im := check.Normal(rng, make([]float64, r.Modes())), check.Normal(rng, make([]float64, r.Modes()))
		// The whole spectrum: on the self-conjugate columns the symmetric part.
		fullRe, fullIm := make([]float64, size), make([]float64, size)
		rows := size / last
		for i := range rows {
			for k := range last {
				j, q := i, k
				sign := 1.0
				if k >= h {
					j, q, sign = (rows-i)%rows, last-k, -1
				}
				fullRe[i*last+k], fullIm[i*last+k] = re[j*h+q], sign*im[j*h+q]
				if k == 0 || 2*k == last {
					j = (rows - i) % rows
					fullRe[i*last+k] = (re[i*h+k] + re[j*h+k]) / 2
					fullIm[i*last+k] = (im[i*h+k] - im[j*h+k]) / 2
				}
			}
		}
		dense(shape, fullRe, fullIm, true)
		check.Close(t, fullIm, make([]float64, size), 0, 1e-13)
		x := make([]float64, size)
		r.Inverse(x, re, im)
		check.Close(t, x, fullRe, 1e-14, 0)
	}
}

// The transpose of the forward transform is the forward transform with the sum
// taken over the same modes: <F x, y> = <x, F' y> with F symmetric.
func TestAdjoint(t *testing.T) {
	const n, fields = 12, 3
	split := func(v []float64) (re, im []float64) { return v[:n*fields], v[n*fields:] }
	check.AdjointIdentity(t, check.Rand(5), 2*n*fields, 2*n*fields, func(y, x []float64) {
		copy(y, x)
		re, im := split(y)
		Forward(re, im, n)
	}, func(x, y []float64) {
		z := append([]float64(nil), y...)
		re, im := split(z)
		Forward(im, re, n) // the conjugate transpose is the real transpose of (re, im)
		for i := range x {
			x[i] += z[i]
		}
	}, 1e-15)
}

func TestUnit(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 7, 8, 12, 16, 101, 1024} {
		for j := range 2 * n {
			c, s := unit(j, n)
			if math.Abs(c-math.Cos(2*math.Pi*float64(j)/float64(n))) > 2e-15 || math.Abs(s-math.Sin(2*math.Pi*float64(j)/float64(n))) > 2e-15 {
				t.Errorf("unit(%d, %d) = %g, %g", j, n, c, s)
			}
			if c2, s2 := unit(n-j%n, n); c2 != c || s2 != -s {
				t.Errorf("unit(%d, %d) is not the conjugate of unit(%d, %d)", n-j%n, n, j, n)
			}
		}
	}
	for n, want := range map[int][]int{5: {0, 1, 2, -2, -1}, 6: {0, 1, 2, 3, -2, -1}, 1: {0}} {
		for k, f := range want {
			if got := Frequency(k, n); got != f {
				t.Errorf("frequency of %d in %d: %d, want %d", k, n, got, f)
			}
		}
	}
}

func TestPanics(t *testing.T) {
	r := NewReal([]int{4, 4}, 2)
	for name, f := range map[string]func(){
		"no length":      func() { newPlan(0) },
		"no axes":        func() { NewReal(nil, 1) },
		"no fields":      func() { NewReal([]int{3}, 0) },
		"short spectrum": func() { r.Forward(make([]float64, 23), make([]float64, 24), make([]float64, 32)) },
		"short array":    func() { r.Inverse(make([]float64, 31), make([]float64, 24), make([]float64, 24)) },
		"short complex":  func() { Forward(make([]float64, 32), make([]float64, 31), 4) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestAllocations(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		for _, fields := range []int{1, 16, 19} {
			r := NewReal([]int{13, 30}, fields)
			x, re, im := make([]float64, r.Size()), make([]float64, r.Modes()), make([]float64, r.Modes())
			if n := testing.AllocsPerRun(10, func() { // the mean, whole: one elsewhere does not count
				r.Forward(re, im, x)
				r.Inverse(x, re, im)
			}); n != 0 {
				t.Errorf("%d fields: %v allocations", fields, n)
			}
		}
	})
}

func BenchmarkReal(b *testing.B) {
	for _, c := range []struct{ n, fields int }{{64, 16}, {256, 1}, {64, 1}, {64, 64}, {256, 16}, {101, 16}} {
		r := NewReal([]int{c.n, c.n}, c.fields)
		x := check.Normal(check.Rand(1), make([]float64, r.Size()))
		re, im := make([]float64, r.Modes()), make([]float64, r.Modes())
		flop := 2.5 * float64(r.Size()) * math.Log2(float64(c.n*c.n))
		b.Run(fmt.Sprintf("n=%dx%d/fields=%d/forward", c.n, c.n, c.fields), func(b *testing.B) {
			for b.Loop() {
				r.Forward(re, im, x)
			}
			b.ReportMetric(flop*float64(b.N)/1e9/b.Elapsed().Seconds(), "GFLOP/s")
		})
		b.Run(fmt.Sprintf("n=%dx%d/fields=%d/inverse", c.n, c.n, c.fields), func(b *testing.B) {
			for b.Loop() {
				clear(re) // the inverse overwrites; growing numbers would overflow
				clear(im)
				r.Inverse(x, re, im)
			}
		})
	}
}

// dft is the definition, in n² operations: it sets (outRe, outIm) to the forward
// transform of the complex sequence (re, im), or the inverse one.
func dft(outRe, outIm, re, im []float64, inverse bool) {
	n := len(re)
	for k := range n {
		sr, si := 0.0, 0.0
		for j := range n {
			c, s := unit(j*k%n, n)
			if !inverse {
				s = -s
			}
			sr += re[j]*c - im[j]*s
			si += re[j]*s + im[j]*c
		}
		outRe[k], outIm[k] = sr, si
	}
}
