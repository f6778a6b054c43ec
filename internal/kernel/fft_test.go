package kernel_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"pihc/internal/check"
	"pihc/internal/kernel"
)

// complexLanes returns n guarded random points of 8 lanes, stride elements apart.
func complexLanes(n, stride int, seed uint64) (l kernel.Lanes, re, im *check.Guarded[float64]) {
	size := (n-1)*stride + kernel.LaneCount
	re, im = check.Guard[float64](size, int(seed%5)), check.Guard[float64](size, int(seed%3))
	check.Normal(check.Rand(seed), re.Slice())
	check.Normal(check.Rand(seed+1), im.Slice())
	return kernel.Lanes{Re: re.Slice(), Im: im.Slice(), Stride: stride}, re, im
}

func value(l kernel.Lanes, i, lane int) complex128 {
	return complex(l.Re[i*l.Stride+lane], l.Im[i*l.Stride+lane])
}

func turn(j, n int) complex128 { return cmplx.Rect(1, -2*math.Pi*float64(j%n)/float64(n)) }

func TestFFTPass(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		for _, r := range []int{2, 3, 4, 5, 7} {
			for _, m := range []int{1, 2, 3, 8} {
				for _, s := range []int{1, 2, 5} {
					n := r * m * s
					src, _, _ := complexLanes(n, 8+s, 1)
					dst, re, im := complexLanes(n, 16+m, 2)
					var twiddle []float64
					for p := range m {
						for k := 1; k < r; k++ {
							w := turn(p*k, r*m)
							twiddle = append(twiddle, real(w), imag(w))
						}
					}
					kernel.FFTPass(dst, src, twiddle, r, m, s)
					re.Verify(t)
					im.Verify(t)
					for p := range m {
						for q := range s {
							for k := range r {
								for lane := range kernel.LaneCount {
									var want complex128
									for j := range r {
										want += turn(j*k, r) * value(src, q+s*(p+m*j), lane)
									}
									want *= turn(p*k, r*m)
									if got := value(dst, q+s*(r*p+k), lane); !(cmplx.Abs(got-want) < 1e-14) {
										t.Fatalf("radix %d, m %d, s %d: output (%d, %d, %d) lane %d: %v, want %v", r, m, s, p, q, k, lane, got, want)
									}
								}
							}
						}
					}
					if m == 1 && s == 1 { // may be in place
						kernel.FFTPass(src, src, twiddle, r, m, s)
						for k := range r {
							if value(src, k, 3) != value(dst, k, 3) {
								t.Errorf("radix %d in place differs", r)
							}
						}
					}
				}
			}
		}
	})
}

func TestFFTTwist(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		const n = 9
		src, _, _ := complexLanes(n, 11, 3)
		dst, re, im := complexLanes(n, 8, 4)
		factor := check.Normal(check.Rand(5), make([]float64, 2*n))
		kernel.FFTTwist(dst, src, factor, n)
		re.Verify(t)
		im.Verify(t)
		for i := range n {
			for lane := range kernel.LaneCount {
				want := complex(factor[2*i], factor[2*i+1]) * value(src, i, lane)
				if got := value(dst, i, lane); !(cmplx.Abs(got-want) < 1e-14) {
					t.Errorf("point %d, lane %d: %v, want %v", i, lane, got, want)
				}
			}
		}
	})
}

func TestFFTSplitMerge(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		for n := 1; n <= 9; n++ {
			z, zre, zim := complexLanes(n, 9, 6)
			a, are, aim := complexLanes(n/2+1, 8, 7)
			b, bre, bim := complexLanes(n/2+1, 12, 8)
			kernel.FFTSplit(a, b, z, n)
			for k := range n/2 + 1 {
				for lane := range kernel.LaneCount {
					p, q := value(z, k, lane), cmplx.Conj(value(z, (n-k)%n, lane))
					if got, want := value(a, k, lane), (p+q)/2; !(cmplx.Abs(got-want) < 1e-15) {
						t.Errorf("length %d, first at %d: %v, want %v", n, k, got, want)
					}
					if got, want := value(b, k, lane), (p-q)/2i; !(cmplx.Abs(got-want) < 1e-15) {
						t.Errorf("length %d, second at %d: %v, want %v", n, k, got, want)
					}
				}
			}
			back, _, _ := complexLanes(n, 16, 9)
			// What the comment of FFTMerge says does not count.
			for lane := range kernel.LaneCount {
				a.Im[lane], b.Im[lane] = math.NaN(), math.NaN()
				if n%2 == 0 {
					a.Im[n/2*a.Stride+lane], b.Im[n/2*b.Stride+lane] = math.NaN(), math.NaN()
				}
			}
			kernel.FFTMerge(back, a, b, n)
			for i := range n {
				for lane := range kernel.LaneCount {
					if got, want := value(back, i, lane), value(z, i, lane); !(cmplx.Abs(got-want) < 1e-14) {
						t.Errorf("length %d, merged at %d: %v, want %v", n, i, got, want)
					}
				}
			}
			for _, g := range []*check.Guarded[float64]{zre, zim, are, aim, bre, bim} {
				g.Verify(t)
			}
		}
	})
}

func TestFFTPanics(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		l, _, _ := complexLanes(6, 8, 1)
		out, _, _ := complexLanes(6, 8, 2)
		for name, f := range map[string]func(){
			"points":   func() { kernel.FFTPass(out, l, make([]float64, 12), 7, 1, 1) },
			"twiddles": func() { kernel.FFTPass(out, l, make([]float64, 2), 3, 2, 1) },
			"radix":    func() { kernel.FFTPass(out, l, make([]float64, 10), 6, 1, 1) },
			"factors":  func() { kernel.FFTTwist(out, l, make([]float64, 11), 6) },
			"split":    func() { kernel.FFTSplit(out, out, l, 7) },
			"merge":    func() { kernel.FFTMerge(out, l, l, 12) },
		} {
			t.Run(fmt.Sprint(name), func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				f()
			})
		}
	})
}
