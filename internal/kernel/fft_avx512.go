//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// The passes of fft.go on strips of 8 lanes. The twiddle factors at p = 0 are all
// 1, so the butterflies there have no multiplication by them.

func fetch8(x unsafe.Pointer, i int) archsimd.Float64x8 { return archsimd.LoadFloat64x8(at8(x, i)) }

func spread8(x unsafe.Pointer, i int) archsimd.Float64x8 {
	return archsimd.BroadcastFloat64x8(*(*float64)(unsafe.Add(x, i*8)))
}

// turn8 stores (re + i im)·t, t the k-th complex number at twiddle.
func turn8(d strip, at int, re, im archsimd.Float64x8, twiddle unsafe.Pointer, k int) {
	tr, ti := spread8(twiddle, 2*k), spread8(twiddle, 2*k+1)
	re.Mul(tr).Sub(im.Mul(ti)).Store(at8(d.re, at))
	re.MulAdd(ti, im.Mul(tr)).Store(at8(d.im, at))
}

func fftPass2x8(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far := s * m * src.step
	next := s * dst.step
	for p := range m {
		i, o := s*p*src.step, 2*s*p*dst.step
		t := unsafe.Add(twiddle, 16*p)
		for range s {
			ar, ai := fetch8(src.re, i), fetch8(src.im, i)
			br, bi := fetch8(src.re, i+far), fetch8(src.im, i+far)
			ar.Add(br).Store(at8(dst.re, o))
			ai.Add(bi).Store(at8(dst.im, o))
			if p == 0 {
				ar.Sub(br).Store(at8(dst.re, o+next))
				ai.Sub(bi).Store(at8(dst.im, o+next))
			} else {
				turn8(dst, o+next, ar.Sub(br), ai.Sub(bi), t, 0)
			}
			i += src.step
			o += dst.step
		}
	}
}

func fftPass4x8(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far := s * m * src.step
	next := s * dst.step
	i, o := 0, 0
	for range s {
		ar, ai := fetch8(src.re, i), fetch8(src.im, i)
		cr, ci := fetch8(src.re, i+2*far), fetch8(src.im, i+2*far)
		er, ei := ar.Add(cr), ai.Add(ci)
		fr, fi := ar.Sub(cr), ai.Sub(ci)
		br, bi := fetch8(src.re, i+far), fetch8(src.im, i+far)
		dr, di := fetch8(src.re, i+3*far), fetch8(src.im, i+3*far)
		gr, gi := br.Add(dr), bi.Add(di)
		hr, hi := br.Sub(dr), bi.Sub(di)
		er.Add(gr).Store(at8(dst.re, o))
		ei.Add(gi).Store(at8(dst.im, o))
		fr.Add(hi).Store(at8(dst.re, o+next))
		fi.Sub(hr).Store(at8(dst.im, o+next))
		er.Sub(gr).Store(at8(dst.re, o+2*next))
		ei.Sub(gi).Store(at8(dst.im, o+2*next))
		fr.Sub(hi).Store(at8(dst.re, o+3*next))
		fi.Add(hr).Store(at8(dst.im, o+3*next))
		i += src.step
		o += dst.step
	}
	for p := 1; p < m; p++ {
		i, o = s*p*src.step, 4*s*p*dst.step
		t := unsafe.Add(twiddle, 48*p)
		for range s {
			ar, ai := fetch8(src.re, i), fetch8(src.im, i)
			cr, ci := fetch8(src.re, i+2*far), fetch8(src.im, i+2*far)
			er, ei := ar.Add(cr), ai.Add(ci)
			fr, fi := ar.Sub(cr), ai.Sub(ci)
			br, bi := fetch8(src.re, i+far), fetch8(src.im, i+far)
			dr, di := fetch8(src.re, i+3*far), fetch8(src.im, i+3*far)
			gr, gi := br.Add(dr), bi.Add(di)
			hr, hi := br.Sub(dr), bi.Sub(di)
			er.Add(gr).Store(at8(dst.re, o))
			ei.Add(gi).Store(at8(dst.im, o))
			turn8(dst, o+next, fr.Add(hi), fi.Sub(hr), t, 0)
			turn8(dst, o+2*next, er.Sub(gr), ei.Sub(gi), t, 1)
			turn8(dst, o+3*next, fr.Sub(hi), fi.Add(hr), t, 2)
			i += src.step
			o += dst.step
		}
	}
}

func fftPass3x8(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far := s * m * src.step
	next := s * dst.step
	c, d := archsimd.BroadcastFloat64x8(oddCos[3][1]), archsimd.BroadcastFloat64x8(oddSin[3][1])
	for p := range m {
		i, o := s*p*src.step, 3*s*p*dst.step
		t := unsafe.Add(twiddle, 32*p)
		for range s {
			br, bi := fetch8(src.re, i+far), fetch8(src.im, i+far)
			cr, ci := fetch8(src.re, i+2*far), fetch8(src.im, i+2*far)
			er, ei := br.Add(cr), bi.Add(ci)
			fr, fi := br.Sub(cr).Mul(d), bi.Sub(ci).Mul(d)
			ar, ai := fetch8(src.re, i), fetch8(src.im, i)
			ar.Add(er).Store(at8(dst.re, o))
			ai.Add(ei).Store(at8(dst.im, o))
			gr, gi := er.MulAdd(c, ar), ei.MulAdd(c, ai)
			turn8(dst, o+next, gr.Add(fi), gi.Sub(fr), t, 0)
			turn8(dst, o+2*next, gr.Sub(fi), gi.Add(fr), t, 1)
			i += src.step
			o += dst.step
		}
	}
}

func fftPass5x8(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far := s * m * src.step
	next := s * dst.step
	c, d := unsafe.Pointer(&oddCos[5]), unsafe.Pointer(&oddSin[5])
	for p := range m {
		i, o := s*p*src.step, 5*s*p*dst.step
		t := unsafe.Add(twiddle, 64*p)
		for range s {
			br, bi := fetch8(src.re, i+far), fetch8(src.im, i+far)
			er, ei := fetch8(src.re, i+4*far), fetch8(src.im, i+4*far)
			s1r, s1i := br.Add(er), bi.Add(ei)
			d1r, d1i := br.Sub(er), bi.Sub(ei)
			cr, ci := fetch8(src.re, i+2*far), fetch8(src.im, i+2*far)
			dr, di := fetch8(src.re, i+3*far), fetch8(src.im, i+3*far)
			s2r, s2i := cr.Add(dr), ci.Add(di)
			d2r, d2i := cr.Sub(dr), ci.Sub(di)
			ar, ai := fetch8(src.re, i), fetch8(src.im, i)
			ar.Add(s1r).Add(s2r).Store(at8(dst.re, o))
			ai.Add(s1i).Add(s2i).Store(at8(dst.im, o))
			c1, c2 := spread8(c, 1), spread8(c, 2)
			k1, k2 := spread8(d, 1), spread8(d, 2)
			xr, xi := s2r.MulAdd(c2, s1r.MulAdd(c1, ar)), s2i.MulAdd(c2, s1i.MulAdd(c1, ai))
			yr, yi := d2r.MulAdd(k2, d1r.Mul(k1)), d2i.MulAdd(k2, d1i.Mul(k1))
			turn8(dst, o+next, xr.Add(yi), xi.Sub(yr), t, 0)
			turn8(dst, o+4*next, xr.Sub(yi), xi.Add(yr), t, 3)
			xr, xi = s2r.MulAdd(c1, s1r.MulAdd(c2, ar)), s2i.MulAdd(c1, s1i.MulAdd(c2, ai))
			yr, yi = d1r.Mul(k2).Sub(d2r.Mul(k1)), d1i.Mul(k2).Sub(d2i.Mul(k1))
			turn8(dst, o+2*next, xr.Add(yi), xi.Sub(yr), t, 1)
			turn8(dst, o+3*next, xr.Sub(yi), xi.Add(yr), t, 2)
			i += src.step
			o += dst.step
		}
	}
}

func fftPass7x8(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far := s * m * src.step
	next := s * dst.step
	c, d := unsafe.Pointer(&oddCos[7]), unsafe.Pointer(&oddSin[7])
	for p := range m {
		i, o := s*p*src.step, 7*s*p*dst.step
		t := unsafe.Add(twiddle, 96*p)
		for range s {
			ar, ai := fetch8(src.re, i), fetch8(src.im, i)
			br, bi := fetch8(src.re, i+far), fetch8(src.im, i+far)
			cr, ci := fetch8(src.re, i+6*far), fetch8(src.im, i+6*far)
			s1r, s1i := br.Add(cr), bi.Add(ci)
			d1r, d1i := br.Sub(cr), bi.Sub(ci)
			br, bi = fetch8(src.re, i+2*far), fetch8(src.im, i+2*far)
			cr, ci = fetch8(src.re, i+5*far), fetch8(src.im, i+5*far)
			s2r, s2i := br.Add(cr), bi.Add(ci)
			d2r, d2i := br.Sub(cr), bi.Sub(ci)
			br, bi = fetch8(src.re, i+3*far), fetch8(src.im, i+3*far)
			cr, ci = fetch8(src.re, i+4*far), fetch8(src.im, i+4*far)
			s3r, s3i := br.Add(cr), bi.Add(ci)
			d3r, d3i := br.Sub(cr), bi.Sub(ci)
			ar.Add(s1r).Add(s2r).Add(s3r).Store(at8(dst.re, o))
			ai.Add(s1i).Add(s2i).Add(s3i).Store(at8(dst.im, o))
			for k := 1; k <= 3; k++ {
				j2, j3 := 2*k%7, 3*k%7
				w := spread8(c, k)
				xr, xi := s1r.MulAdd(w, ar), s1i.MulAdd(w, ai)
				w = spread8(c, j2)
				xr, xi = s2r.MulAdd(w, xr), s2i.MulAdd(w, xi)
				w = spread8(c, j3)
				xr, xi = s3r.MulAdd(w, xr), s3i.MulAdd(w, xi)
				w = spread8(d, k)
				yr, yi := d1r.Mul(w), d1i.Mul(w)
				w = spread8(d, j2)
				yr, yi = d2r.MulAdd(w, yr), d2i.MulAdd(w, yi)
				w = spread8(d, j3)
				yr, yi = d3r.MulAdd(w, yr), d3i.MulAdd(w, yi)
				turn8(dst, o+k*next, xr.Add(yi), xi.Sub(yr), t, k-1)
				turn8(dst, o+(7-k)*next, xr.Sub(yi), xi.Add(yr), t, 6-k)
			}
			i += src.step
			o += dst.step
		}
	}
}

func fftTwistx8(dst, src strip, factor unsafe.Pointer, n int) {
	for i := range n {
		turn8(dst, i*dst.step, fetch8(src.re, i*src.step), fetch8(src.im, i*src.step), factor, i)
	}
}

func fftSplitx8(a, b, z strip, n int) {
	half := archsimd.BroadcastFloat64x8(0.5)
	for k := range n/2 + 1 {
		p, q := k*z.step, (n-k)*z.step
		if k == 0 {
			q = 0
		}
		pr, pi := fetch8(z.re, p).Mul(half), fetch8(z.im, p).Mul(half)
		qr, qi := fetch8(z.re, q).Mul(half), fetch8(z.im, q).Mul(half)
		pr.Add(qr).Store(at8(a.re, k*a.step))
		pi.Sub(qi).Store(at8(a.im, k*a.step))
		pi.Add(qi).Store(at8(b.re, k*b.step))
		qr.Sub(pr).Store(at8(b.im, k*b.step))
	}
}

func fftMergex8(z, a, b strip, n int) {
	for k := 1; 2*k < n; k++ {
		ar, ai := fetch8(a.re, k*a.step), fetch8(a.im, k*a.step)
		br, bi := fetch8(b.re, k*b.step), fetch8(b.im, k*b.step)
		ar.Sub(bi).Store(at8(z.re, k*z.step))
		ai.Add(br).Store(at8(z.im, k*z.step))
		ar.Add(bi).Store(at8(z.re, (n-k)*z.step))
		br.Sub(ai).Store(at8(z.im, (n-k)*z.step))
	}
}
