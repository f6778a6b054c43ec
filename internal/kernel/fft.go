package kernel

// Fourier transforms are done on 8 fields at a time: every point of a transform
// is a complex vector of 8 lanes, and one pass of the transform does the same
// butterfly on all lanes. Package fft puts the passes together.

// LaneCount is the number of fields in a Lanes.
const LaneCount = 8

// Lanes is a sequence of complex 8-vectors in memory: point i has the real parts
// Re[i*Stride : i*Stride+8] and the imaginary parts Im[i*Stride : i*Stride+8].
type Lanes struct {
	Re, Im []float64
	Stride int
}

// fits panics unless l holds n points.
func (l Lanes) fits(n int) {
	if need := (n-1)*l.Stride + LaneCount; n < 1 || l.Stride < 0 || len(l.Re) < need || len(l.Im) < need {
		panic("kernel: fft: too few points in a Lanes")
	}
}

func (l Lanes) at(i int) (re, im *[LaneCount]float64) {
	return (*[LaneCount]float64)(l.Re[i*l.Stride:]), (*[LaneCount]float64)(l.Im[i*l.Stride:])
}

// FFTPass does one radix-r pass (r = 2, 3, 4, 5 or 7) of the self-sorting Stockham
// transform with the sign exp(-2πi jk/n), decimation in frequency, on r·m·s
// points. With ω = exp(-2πi/r) and twiddle factors t, for p < m, q < s, k < r:
//
//	dst[q + s(rp+k)] = t[p,k] Σ_j ω^(jk) src[q + s(p+mj)].
//
// twiddle holds t[p,k] = exp(-2πi pk/(rm)) for p < m and 1 <= k < r as pairs of
// real and imaginary part. dst and src must not overlap, unless m = s = 1.
//
// Source: P. N. Swarztrauber, FFT algorithms for vector computers, Parallel
// Computing 1 (1984) 45-63.
func FFTPass(dst, src Lanes, twiddle []float64, r, m, s int) {
	n := r * m * s
	dst.fits(n)
	src.fits(n)
	if len(twiddle) != 2*m*(r-1) {
		panic("kernel: FFTPass: want r-1 twiddle factors for each of m")
	}
	switch {
	case r < 2 || r > 7 || r == 6:
		panic("kernel: FFTPass: radix must be 2, 3, 4, 5 or 7")
	case width > 0:
		fftPass64(dst, src, twiddle, r, m, s)
	default:
		fftPassGo(dst, src, twiddle, r, m, s)
	}
}

// cos and sin of 2π j/r for j < r.
var rootCos, rootSin = [8][7]float64{
	2: {1, -1},
	3: {1, -0.5, -0.5},
	4: {1, 0, -1, 0},
	5: {1, 0.30901699437494742410, -0.80901699437494742410, -0.80901699437494742410, 0.30901699437494742410},
	7: {1, 0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624, -0.90096886790241912624, -0.22252093395631440429, 0.62348980185873353053},
}, [8][7]float64{
	2: {0, 0},
	3: {0, 0.86602540378443864676, -0.86602540378443864676},
	4: {0, 1, 0, -1},
	5: {0, 0.95105651629515357212, 0.58778525229247312917, -0.58778525229247312917, -0.95105651629515357212},
	7: {0, 0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048, -0.43388373911755812048, -0.97492791218182360702, -0.78183148246802980871},
}

// fftPassGo forms every output by its definition, for any radix; the inputs are read
// before an output is written.
func fftPassGo(dst, src Lanes, twiddle []float64, r, m, s int) {
	for p := range m {
		for q := range s {
			var re, im [7][LaneCount]float64
			for j := range r {
				ar, ai := src.at(q + s*(p+m*j))
				for k := range r {
					c, d := rootCos[r][j*k%r], -rootSin[r][j*k%r]
					for l := range LaneCount {
						re[k][l] += ar[l]*c - ai[l]*d
						im[k][l] += ar[l]*d + ai[l]*c
					}
				}
			}
			for k := range r {
				t := [2]float64{1, 0}
				if k > 0 {
					t = [2]float64(twiddle[2*(p*(r-1)+k-1):])
				}
				xr, xi := dst.at(q + s*(r*p+k))
				for l := range LaneCount {
					xr[l], xi[l] = re[k][l]*t[0]-im[k][l]*t[1], re[k][l]*t[1]+im[k][l]*t[0]
				}
			}
		}
	}
}

// FFTTwist sets dst[i] = factor[i]·src[i] for i < n, factor holding pairs of real
// and imaginary part. dst may be src.
func FFTTwist(dst, src Lanes, factor []float64, n int) {
	dst.fits(n)
	src.fits(n)
	if len(factor) != 2*n {
		panic("kernel: FFTTwist: want one complex factor per point")
	}
	if width > 0 {
		fftTwist64(dst, src, factor, n)
		return
	}
	for i := range n {
		tr, ti := factor[2*i], factor[2*i+1]
		ar, ai := src.at(i)
		xr, xi := dst.at(i)
		for l := range LaneCount {
			xr[l], xi[l] = ar[l]*tr-ai[l]*ti, ar[l]*ti+ai[l]*tr
		}
	}
}

// FFTSplit takes the transform z (n points) of a + ib with a and b real, and
// writes the transforms of a and of b at the points 0..n/2. No two of them may
// overlap.
func FFTSplit(a, b, z Lanes, n int) {
	z.fits(n)
	a.fits(n/2 + 1)
	b.fits(n/2 + 1)
	if width > 0 {
		fftSplit64(a, b, z, n)
		return
	}
	for k := range n/2 + 1 {
		pr, pi := z.at(k)
		qr, qi := z.at((n - k) % n)
		ar, ai := a.at(k)
		br, bi := b.at(k)
		for l := range LaneCount {
			ar[l], ai[l] = 0.5*(pr[l]+qr[l]), 0.5*(pi[l]-qi[l])
			br[l], bi[l] = 0.5*(pi[l]+qi[l]), 0.5*(qr[l]-pr[l])
		}
	}
}

// FFTMerge is the inverse of FFTSplit: from the half spectra a and b (points
// 0..n/2) of two real sequences it makes the whole spectrum z of a + ib. The
// imaginary parts at 0 and, for even n, at n/2 do not count. No two may overlap.
func FFTMerge(z, a, b Lanes, n int) {
	z.fits(n)
	a.fits(n/2 + 1)
	b.fits(n/2 + 1)
	real := func(k int) {
		ar, _ := a.at(k)
		br, _ := b.at(k)
		zr, zi := z.at(k)
		*zr, *zi = *ar, *br
	}
	real(0)
	if n%2 == 0 {
		real(n / 2)
	}
	if width > 0 {
		fftMerge64(z, a, b, n)
		return
	}
	for k := 1; 2*k < n; k++ {
		ar, ai := a.at(k)
		br, bi := b.at(k)
		pr, pi := z.at(k)
		qr, qi := z.at(n - k)
		for l := range LaneCount {
			pr[l], pi[l] = ar[l]-bi[l], ai[l]+br[l]
			qr[l], qi[l] = ar[l]+bi[l], br[l]-ai[l]
		}
	}
}
