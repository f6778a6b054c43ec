//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"unsafe"
)

// strip is what the vector passes see of a Lanes: addresses, from the first of as
// many lanes as a vector has, and the distance between points in bytes.
type strip struct {
	re, im unsafe.Pointer
	step   int
}

func (l Lanes) strip(lane int) strip {
	return strip{unsafe.Pointer(&l.Re[lane]), unsafe.Pointer(&l.Im[lane]), 8 * l.Stride}
}

// fftPass64 is FFTPass for one of its radices.
func fftPass64(dst, src Lanes, twiddle []float64, r, m, s int) {
	t := unsafe.Pointer(unsafe.SliceData(twiddle))
	for lane := 0; lane < LaneCount; lane += (simd.Float64s{}).Len() {
		d, x := dst.strip(lane), src.strip(lane)
		switch r {
		case 2:
			fftPass2s(d, x, t, m, s)
		case 3:
			fftPass3s(d, x, t, m, s)
		case 4:
			fftPass4s(d, x, t, m, s)
		case 5:
			fftPass5s(d, x, t, m, s)
		case 7:
			fftPass7s(d, x, t, m, s)
		}
	}
	clearUpper()
}

func fftTwist64(dst, src Lanes, factor []float64, n int) {
	for lane := 0; lane < LaneCount; lane += (simd.Float64s{}).Len() {
		fftTwists(dst.strip(lane), src.strip(lane), unsafe.Pointer(unsafe.SliceData(factor)), n)
	}
	clearUpper()
}

func fftSplit64(a, b, z Lanes, n int) {
	for lane := 0; lane < LaneCount; lane += (simd.Float64s{}).Len() {
		fftSplits(a.strip(lane), b.strip(lane), z.strip(lane), n)
	}
	clearUpper()
}

func fftMerge64(z, a, b Lanes, n int) {
	for lane := 0; lane < LaneCount; lane += (simd.Float64s{}).Len() {
		fftMerges(z.strip(lane), a.strip(lane), b.strip(lane), n)
	}
	clearUpper()
}

// Offsets are in bytes. The twiddle factors at p = 0 are all 1: radix 2 and 4 leave
// out the multiplication there.

// turn64 stores (re + i im)·(c + i d) at an offset.
func turn64(y strip, at int, re, im simd.Float64s, c, d float64) {
	tr, ti := simd.BroadcastFloat64s(c), simd.BroadcastFloat64s(d)
	*(*simd.Float64s)(unsafe.Add(y.re, at)) = re.Mul(tr).Sub(im.Mul(ti))
	*(*simd.Float64s)(unsafe.Add(y.im, at)) = re.MulAdd(ti, im.Mul(tr))
}

func fftPass2s(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far := s * m * src.step
	next := s * dst.step
	for p := range m {
		i, o := s*p*src.step, 2*s*p*dst.step
		t := (*[2]float64)(unsafe.Add(twiddle, 16*p))
		for left := s; left > 0; left-- {
			ar, ai := *(*simd.Float64s)(unsafe.Add(src.re, i)), *(*simd.Float64s)(unsafe.Add(src.im, i))
			br, bi := *(*simd.Float64s)(unsafe.Add(src.re, i+far)), *(*simd.Float64s)(unsafe.Add(src.im, i+far))
			*(*simd.Float64s)(unsafe.Add(dst.re, o)) = ar.Add(br)
			*(*simd.Float64s)(unsafe.Add(dst.im, o)) = ai.Add(bi)
			if p == 0 {
				*(*simd.Float64s)(unsafe.Add(dst.re, o+next)) = ar.Sub(br)
				*(*simd.Float64s)(unsafe.Add(dst.im, o+next)) = ai.Sub(bi)
			} else {
				turn64(dst, o+next, ar.Sub(br), ai.Sub(bi), t[0], t[1])
			}
			i += src.step
			o += dst.step
		}
	}
}

func fftPass4s(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far, next := s*m*src.step, s*dst.step
	for p := range m {
		i, o := s*p*src.step, 4*s*p*dst.step
		t := (*[6]float64)(unsafe.Add(twiddle, 48*p))
		for left := s; left > 0; left-- {
			i1, i2 := i+far, i+2*far
			i3 := i1 + 2*far
			ar, ai := *(*simd.Float64s)(unsafe.Add(src.re, i)), *(*simd.Float64s)(unsafe.Add(src.im, i))
			cr, ci := *(*simd.Float64s)(unsafe.Add(src.re, i2)), *(*simd.Float64s)(unsafe.Add(src.im, i2))
			er, ei, fr, fi := ar.Add(cr), ai.Add(ci), ar.Sub(cr), ai.Sub(ci)
			br, bi := *(*simd.Float64s)(unsafe.Add(src.re, i1)), *(*simd.Float64s)(unsafe.Add(src.im, i1))
			dr, di := *(*simd.Float64s)(unsafe.Add(src.re, i3)), *(*simd.Float64s)(unsafe.Add(src.im, i3))
			gr, gi, hr, hi := br.Add(dr), bi.Add(di), br.Sub(dr), bi.Sub(di)
			o1, o2 := o+next, o+2*next
			o3 := o1 + 2*next
			*(*simd.Float64s)(unsafe.Add(dst.re, o)) = er.Add(gr)
			*(*simd.Float64s)(unsafe.Add(dst.im, o)) = ei.Add(gi)
			if p == 0 {
				*(*simd.Float64s)(unsafe.Add(dst.re, o1)) = fr.Add(hi)
				*(*simd.Float64s)(unsafe.Add(dst.im, o1)) = fi.Sub(hr)
				*(*simd.Float64s)(unsafe.Add(dst.re, o2)) = er.Sub(gr)
				*(*simd.Float64s)(unsafe.Add(dst.im, o2)) = ei.Sub(gi)
				*(*simd.Float64s)(unsafe.Add(dst.re, o3)) = fr.Sub(hi)
				*(*simd.Float64s)(unsafe.Add(dst.im, o3)) = fi.Add(hr)
			} else {
				turn64(dst, o1, fr.Add(hi), fi.Sub(hr), t[0], t[1])
				turn64(dst, o2, er.Sub(gr), ei.Sub(gi), t[2], t[3])
				turn64(dst, o3, fr.Sub(hi), fi.Add(hr), t[4], t[5])
			}
			i += src.step
			o += dst.step
		}
	}
}

func fftPass3s(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far := s * m * src.step
	next := s * dst.step
	c, d := simd.BroadcastFloat64s(rootCos[3][1]), simd.BroadcastFloat64s(rootSin[3][1])
	for p := range m {
		i, o := s*p*src.step, 3*s*p*dst.step
		t := (*[4]float64)(unsafe.Add(twiddle, 32*p))
		for left := s; left > 0; left-- {
			br, bi := *(*simd.Float64s)(unsafe.Add(src.re, i+far)), *(*simd.Float64s)(unsafe.Add(src.im, i+far))
			cr, ci := *(*simd.Float64s)(unsafe.Add(src.re, i+2*far)), *(*simd.Float64s)(unsafe.Add(src.im, i+2*far))
			er, ei := br.Add(cr), bi.Add(ci)
			fr, fi := br.Sub(cr).Mul(d), bi.Sub(ci).Mul(d)
			ar, ai := *(*simd.Float64s)(unsafe.Add(src.re, i)), *(*simd.Float64s)(unsafe.Add(src.im, i))
			*(*simd.Float64s)(unsafe.Add(dst.re, o)) = ar.Add(er)
			*(*simd.Float64s)(unsafe.Add(dst.im, o)) = ai.Add(ei)
			gr, gi := er.MulAdd(c, ar), ei.MulAdd(c, ai)
			turn64(dst, o+next, gr.Add(fi), gi.Sub(fr), t[0], t[1])
			turn64(dst, o+2*next, gr.Sub(fi), gi.Add(fr), t[2], t[3])
			i += src.step
			o += dst.step
		}
	}
}

func fftPass5s(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far := s * m * src.step
	next := s * dst.step
	c, d := &rootCos[5], &rootSin[5]
	for p := range m {
		i, o := s*p*src.step, 5*s*p*dst.step
		t := (*[8]float64)(unsafe.Add(twiddle, 64*p))
		for left := s; left > 0; left-- {
			br, bi := *(*simd.Float64s)(unsafe.Add(src.re, i+far)), *(*simd.Float64s)(unsafe.Add(src.im, i+far))
			er, ei := *(*simd.Float64s)(unsafe.Add(src.re, i+4*far)), *(*simd.Float64s)(unsafe.Add(src.im, i+4*far))
			s1r, s1i := br.Add(er), bi.Add(ei)
			d1r, d1i := br.Sub(er), bi.Sub(ei)
			cr, ci := *(*simd.Float64s)(unsafe.Add(src.re, i+2*far)), *(*simd.Float64s)(unsafe.Add(src.im, i+2*far))
			dr, di := *(*simd.Float64s)(unsafe.Add(src.re, i+3*far)), *(*simd.Float64s)(unsafe.Add(src.im, i+3*far))
			s2r, s2i := cr.Add(dr), ci.Add(di)
			d2r, d2i := cr.Sub(dr), ci.Sub(di)
			ar, ai := *(*simd.Float64s)(unsafe.Add(src.re, i)), *(*simd.Float64s)(unsafe.Add(src.im, i))
			*(*simd.Float64s)(unsafe.Add(dst.re, o)) = ar.Add(s1r).Add(s2r)
			*(*simd.Float64s)(unsafe.Add(dst.im, o)) = ai.Add(s1i).Add(s2i)
			c1, c2 := simd.BroadcastFloat64s(c[1]), simd.BroadcastFloat64s(c[2])
			k1, k2 := simd.BroadcastFloat64s(d[1]), simd.BroadcastFloat64s(d[2])
			xr, xi := s2r.MulAdd(c2, s1r.MulAdd(c1, ar)), s2i.MulAdd(c2, s1i.MulAdd(c1, ai))
			yr, yi := d2r.MulAdd(k2, d1r.Mul(k1)), d2i.MulAdd(k2, d1i.Mul(k1))
			turn64(dst, o+next, xr.Add(yi), xi.Sub(yr), t[0], t[1])
			turn64(dst, o+4*next, xr.Sub(yi), xi.Add(yr), t[6], t[7])
			xr, xi = s2r.MulAdd(c1, s1r.MulAdd(c2, ar)), s2i.MulAdd(c1, s1i.MulAdd(c2, ai))
			yr, yi = d1r.Mul(k2).Sub(d2r.Mul(k1)), d1i.Mul(k2).Sub(d2i.Mul(k1))
			turn64(dst, o+2*next, xr.Add(yi), xi.Sub(yr), t[2], t[3])
			turn64(dst, o+3*next, xr.Sub(yi), xi.Add(yr), t[4], t[5])
			i += src.step
			o += dst.step
		}
	}
}

func fftPass7s(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far := s * m * src.step
	next := s * dst.step
	c, d := &rootCos[7], &rootSin[7]
	for p := range m {
		i, o := s*p*src.step, 7*s*p*dst.step
		t := (*[12]float64)(unsafe.Add(twiddle, 96*p))
		for left := s; left > 0; left-- {
			ar, ai := *(*simd.Float64s)(unsafe.Add(src.re, i)), *(*simd.Float64s)(unsafe.Add(src.im, i))
			br, bi := *(*simd.Float64s)(unsafe.Add(src.re, i+far)), *(*simd.Float64s)(unsafe.Add(src.im, i+far))
			cr, ci := *(*simd.Float64s)(unsafe.Add(src.re, i+6*far)), *(*simd.Float64s)(unsafe.Add(src.im, i+6*far))
			s1r, s1i := br.Add(cr), bi.Add(ci)
			d1r, d1i := br.Sub(cr), bi.Sub(ci)
			br, bi = *(*simd.Float64s)(unsafe.Add(src.re, i+2*far)), *(*simd.Float64s)(unsafe.Add(src.im, i+2*far))
			cr, ci = *(*simd.Float64s)(unsafe.Add(src.re, i+5*far)), *(*simd.Float64s)(unsafe.Add(src.im, i+5*far))
			s2r, s2i := br.Add(cr), bi.Add(ci)
			d2r, d2i := br.Sub(cr), bi.Sub(ci)
			br, bi = *(*simd.Float64s)(unsafe.Add(src.re, i+3*far)), *(*simd.Float64s)(unsafe.Add(src.im, i+3*far))
			cr, ci = *(*simd.Float64s)(unsafe.Add(src.re, i+4*far)), *(*simd.Float64s)(unsafe.Add(src.im, i+4*far))
			s3r, s3i := br.Add(cr), bi.Add(ci)
			d3r, d3i := br.Sub(cr), bi.Sub(ci)
			*(*simd.Float64s)(unsafe.Add(dst.re, o)) = ar.Add(s1r).Add(s2r).Add(s3r)
			*(*simd.Float64s)(unsafe.Add(dst.im, o)) = ai.Add(s1i).Add(s2i).Add(s3i)
			for k := 1; k <= 3; k++ {
				j2, j3 := 2*k%7, 3*k%7
				w := simd.BroadcastFloat64s(c[k])
				xr, xi := s1r.MulAdd(w, ar), s1i.MulAdd(w, ai)
				w = simd.BroadcastFloat64s(c[j2])
				xr, xi = s2r.MulAdd(w, xr), s2i.MulAdd(w, xi)
				w = simd.BroadcastFloat64s(c[j3])
				xr, xi = s3r.MulAdd(w, xr), s3i.MulAdd(w, xi)
				w = simd.BroadcastFloat64s(d[k])
				yr, yi := d1r.Mul(w), d1i.Mul(w)
				w = simd.BroadcastFloat64s(d[j2])
				yr, yi = d2r.MulAdd(w, yr), d2i.MulAdd(w, yi)
				w = simd.BroadcastFloat64s(d[j3])
				yr, yi = d3r.MulAdd(w, yr), d3i.MulAdd(w, yi)
				turn64(dst, o+k*next, xr.Add(yi), xi.Sub(yr), t[2*k-2], t[2*k-1])
				turn64(dst, o+(7-k)*next, xr.Sub(yi), xi.Add(yr), t[12-2*k], t[13-2*k])
			}
			i += src.step
			o += dst.step
		}
	}
}

func fftTwists(dst, src strip, factor unsafe.Pointer, n int) {
	for i := range n {
		t := (*[2]float64)(unsafe.Add(factor, 16*i))
		turn64(dst, i*dst.step, *(*simd.Float64s)(unsafe.Add(src.re, i*src.step)), *(*simd.Float64s)(unsafe.Add(src.im, i*src.step)), t[0], t[1])
	}
}

func fftSplits(a, b, z strip, n int) {
	half := simd.BroadcastFloat64s(0.5)
	for k := range n/2 + 1 {
		p, q := k*z.step, (n-k)*z.step
		if k == 0 {
			q = 0
		}
		pr, pi := (*(*simd.Float64s)(unsafe.Add(z.re, p))).Mul(half), (*(*simd.Float64s)(unsafe.Add(z.im, p))).Mul(half)
		qr, qi := (*(*simd.Float64s)(unsafe.Add(z.re, q))).Mul(half), (*(*simd.Float64s)(unsafe.Add(z.im, q))).Mul(half)
		*(*simd.Float64s)(unsafe.Add(a.re, k*a.step)) = pr.Add(qr)
		*(*simd.Float64s)(unsafe.Add(a.im, k*a.step)) = pi.Sub(qi)
		*(*simd.Float64s)(unsafe.Add(b.re, k*b.step)) = pi.Add(qi)
		*(*simd.Float64s)(unsafe.Add(b.im, k*b.step)) = qr.Sub(pr)
	}
}

func fftMerges(z, a, b strip, n int) {
	for k := 1; 2*k < n; k++ {
		ar, ai := *(*simd.Float64s)(unsafe.Add(a.re, k*a.step)), *(*simd.Float64s)(unsafe.Add(a.im, k*a.step))
		br, bi := *(*simd.Float64s)(unsafe.Add(b.re, k*b.step)), *(*simd.Float64s)(unsafe.Add(b.im, k*b.step))
		*(*simd.Float64s)(unsafe.Add(z.re, k*z.step)) = ar.Sub(bi)
		*(*simd.Float64s)(unsafe.Add(z.im, k*z.step)) = ai.Add(br)
		*(*simd.Float64s)(unsafe.Add(z.re, (n-k)*z.step)) = ar.Add(bi)
		*(*simd.Float64s)(unsafe.Add(z.im, (n-k)*z.step)) = br.Sub(ai)
	}
}
