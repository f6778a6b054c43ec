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
	case r == 2:
		fftPass2Go(dst, src, twiddle, m, s)
	case r == 4:
		fftPass4Go(dst, src, twiddle, m, s)
	default:
		fftPassOddGo(dst, src, twiddle, r, m, s)
	}
}

// cos and sin of 2π j/r for j < r, r odd.
var rootCos, rootSin = [8][7]float64{
	3: {1, -0.5, -0.5},
	5: {1, 0.30901699437494742410, -0.80901699437494742410, -0.80901699437494742410, 0.30901699437494742410},
	7: {1, 0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624, -0.90096886790241912624, -0.22252093395631440429, 0.62348980185873353053},
}, [8][7]float64{
	3: {0, 0.86602540378443864676, -0.86602540378443864676},
	5: {0, 0.95105651629515357212, 0.58778525229247312917, -0.58778525229247312917, -0.95105651629515357212},
	7: {0, 0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048, -0.43388373911755812048, -0.97492791218182360702, -0.78183148246802980871},
}

func fftPass2Go(dst, src Lanes, twiddle []float64, m, s int) {
	for p := range m {
		t := (*[2]float64)(twiddle[2*p:])
		for q := range s {
			ar, ai := src.at(q + s*p)
			br, bi := src.at(q + s*(p+m))
			xr, xi := dst.at(q + s*2*p)
			yr, yi := dst.at(q + s*(2*p+1))
			for l := range LaneCount {
				dr, di := ar[l]-br[l], ai[l]-bi[l]
				xr[l], xi[l] = ar[l]+br[l], ai[l]+bi[l]
				yr[l], yi[l] = dr*t[0]-di*t[1], dr*t[1]+di*t[0]
			}
		}
	}
}

// fftPass4Go multiplies by the roots 1, -i, -1 and i without multiplications.
func fftPass4Go(dst, src Lanes, twiddle []float64, m, s int) {
	for p := range m {
		t := (*[6]float64)(twiddle[6*p:])
		for q := range s {
			ar, ai := src.at(q + s*p)
			br, bi := src.at(q + s*(p+m))
			cr, ci := src.at(q + s*(p+2*m))
			dr, di := src.at(q + s*(p+3*m))
			x0r, x0i := dst.at(q + s*4*p)
			x1r, x1i := dst.at(q + s*(4*p+1))
			x2r, x2i := dst.at(q + s*(4*p+2))
			x3r, x3i := dst.at(q + s*(4*p+3))
			for l := range LaneCount {
				er, ei, fr, fi := ar[l]+cr[l], ai[l]+ci[l], ar[l]-cr[l], ai[l]-ci[l]
				gr, gi, hr, hi := br[l]+dr[l], bi[l]+di[l], br[l]-dr[l], bi[l]-di[l]
				x0r[l], x0i[l] = er+gr, ei+gi
				x1r[l], x1i[l] = (fr+hi)*t[0]-(fi-hr)*t[1], (fr+hi)*t[1]+(fi-hr)*t[0]
				x2r[l], x2i[l] = (er-gr)*t[2]-(ei-gi)*t[3], (er-gr)*t[3]+(ei-gi)*t[2]
				x3r[l], x3i[l] = (fr-hi)*t[4]-(fi+hr)*t[5], (fr-hi)*t[5]+(fi+hr)*t[4]
			}
		}
	}
}

// fftPassOddGo pairs the inputs j and r-j: with their sums and differences,
// outputs k and r-k are A ∓ iB for real combinations A of the sums and B of the
// differences.
func fftPassOddGo(dst, src Lanes, twiddle []float64, r, m, s int) {
	half := r / 2
	var sumRe, sumIm, difRe, difIm [4][LaneCount]float64
	for p := range m {
		t := twiddle[2*p*(r-1) : 2*(p+1)*(r-1)]
		for q := range s {
			ar, ai := src.at(q + s*p)
			xr, xi := dst.at(q + s*r*p)
			sumRe[0], sumIm[0] = *ar, *ai
			total, totalIm := *ar, *ai
			for j := 1; j <= half; j++ {
				br, bi := src.at(q + s*(p+m*j))
				cr, ci := src.at(q + s*(p+m*(r-j)))
				for l := range LaneCount {
					sumRe[j][l], sumIm[j][l] = br[l]+cr[l], bi[l]+ci[l]
					difRe[j][l], difIm[j][l] = br[l]-cr[l], bi[l]-ci[l]
					total[l] += sumRe[j][l]
					totalIm[l] += sumIm[j][l]
				}
			}
			*xr, *xi = total, totalIm
			for k := 1; k <= half; k++ {
				aRe, aIm := sumRe[0], sumIm[0]
				var bRe, bIm [LaneCount]float64
				for j := 1; j <= half; j++ {
					c, d := rootCos[r][j*k%r], rootSin[r][j*k%r]
					for l := range LaneCount {
						aRe[l] += c * sumRe[j][l]
						aIm[l] += c * sumIm[j][l]
						bRe[l] += d * difRe[j][l]
						bIm[l] += d * difIm[j][l]
					}
				}
				yr, yi := dst.at(q + s*(r*p+k))
				zr, zi := dst.at(q + s*(r*p+r-k))
				t1, t2 := t[2*k-2:2*k], t[2*(r-k)-2:2*(r-k)]
				for l := range LaneCount {
					ur, ui := aRe[l]+bIm[l], aIm[l]-bRe[l]
					yr[l], yi[l] = ur*t1[0]-ui*t1[1], ur*t1[1]+ui*t1[0]
					ur, ui = aRe[l]-bIm[l], aIm[l]+bRe[l]
					zr[l], zi[l] = ur*t2[0]-ui*t2[1], ur*t2[1]+ui*t2[0]
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
