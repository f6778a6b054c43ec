//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// The passes of fft.go on strips of 8 lanes; offsets are in bytes. The twiddle
// factors at p = 0 are all 1: radix 2 and 4 leave out the multiplication there.

func load512(x unsafe.Pointer, at int) archsimd.Float64x8 {
	return archsimd.LoadFloat64x8((*[8]float64)(unsafe.Add(x, at)))
}

func save512(v archsimd.Float64x8, x unsafe.Pointer, at int) {
	v.Store((*[8]float64)(unsafe.Add(x, at)))
}

// turn512 stores (re + i im)·(c + i d) at an offset.
func turn512(y strip, at int, re, im archsimd.Float64x8, c, d float64) {
	tr, ti := archsimd.BroadcastFloat64x8(c), archsimd.BroadcastFloat64x8(d)
	save512(re.Mul(tr).Sub(im.Mul(ti)), y.re, at)
	save512(re.MulAdd(ti, im.Mul(tr)), y.im, at)
}

func fftPass2x8(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far := s * m * src.step
	next := s * dst.step
	for p := range m {
		i, o := s*p*src.step, 2*s*p*dst.step
		t := (*[2]float64)(unsafe.Add(twiddle, 16*p))
		for range s {
			ar, ai := load512(src.re, i), load512(src.im, i)
			br, bi := load512(src.re, i+far), load512(src.im, i+far)
			save512(ar.Add(br), dst.re, o)
			save512(ai.Add(bi), dst.im, o)
			if p == 0 {
				save512(ar.Sub(br), dst.re, o+next)
				save512(ai.Sub(bi), dst.im, o+next)
			} else {
				turn512(dst, o+next, ar.Sub(br), ai.Sub(bi), t[0], t[1])
			}
			i += src.step
			o += dst.step
		}
	}
}

func fftPass4x8(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far, next := s*m*src.step, s*dst.step
	i, o := 0, 0
	for range s {
		i1, i2 := i+far, i+2*far
		i3 := i1 + 2*far
		ar, ai := load512(src.re, i), load512(src.im, i)
		cr, ci := load512(src.re, i2), load512(src.im, i2)
		er, ei, fr, fi := ar.Add(cr), ai.Add(ci), ar.Sub(cr), ai.Sub(ci)
		br, bi := load512(src.re, i1), load512(src.im, i1)
		dr, di := load512(src.re, i3), load512(src.im, i3)
		gr, gi, hr, hi := br.Add(dr), bi.Add(di), br.Sub(dr), bi.Sub(di)
		o1, o2 := o+next, o+2*next
		o3 := o1 + 2*next
		save512(er.Add(gr), dst.re, o)
		save512(ei.Add(gi), dst.im, o)
		save512(fr.Add(hi), dst.re, o1)
		save512(fi.Sub(hr), dst.im, o1)
		save512(er.Sub(gr), dst.re, o2)
		save512(ei.Sub(gi), dst.im, o2)
		save512(fr.Sub(hi), dst.re, o3)
		save512(fi.Add(hr), dst.im, o3)
		i += src.step
		o += dst.step
	}
	for p := 1; p < m; p++ {
		i, o = s*p*src.step, 4*s*p*dst.step
		end := i + s*src.step
		t := (*[6]float64)(unsafe.Add(twiddle, 48*p))
		for i < end {
			i1, i2 := i+far, i+2*far
			i3 := i1 + 2*far
			ar, ai := load512(src.re, i), load512(src.im, i)
			cr, ci := load512(src.re, i2), load512(src.im, i2)
			er, ei, fr, fi := ar.Add(cr), ai.Add(ci), ar.Sub(cr), ai.Sub(ci)
			br, bi := load512(src.re, i1), load512(src.im, i1)
			dr, di := load512(src.re, i3), load512(src.im, i3)
			gr, gi, hr, hi := br.Add(dr), bi.Add(di), br.Sub(dr), bi.Sub(di)
			o1, o2 := o+next, o+2*next
			o3 := o1 + 2*next
			save512(er.Add(gr), dst.re, o)
			save512(ei.Add(gi), dst.im, o)
			turn512(dst, o1, fr.Add(hi), fi.Sub(hr), t[0], t[1])
			turn512(dst, o2, er.Sub(gr), ei.Sub(gi), t[2], t[3])
			turn512(dst, o3, fr.Sub(hi), fi.Add(hr), t[4], t[5])
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
		t := (*[4]float64)(unsafe.Add(twiddle, 32*p))
		for range s {
			br, bi := load512(src.re, i+far), load512(src.im, i+far)
			cr, ci := load512(src.re, i+2*far), load512(src.im, i+2*far)
			er, ei := br.Add(cr), bi.Add(ci)
			fr, fi := br.Sub(cr).Mul(d), bi.Sub(ci).Mul(d)
			ar, ai := load512(src.re, i), load512(src.im, i)
			save512(ar.Add(er), dst.re, o)
			save512(ai.Add(ei), dst.im, o)
			gr, gi := er.MulAdd(c, ar), ei.MulAdd(c, ai)
			turn512(dst, o+next, gr.Add(fi), gi.Sub(fr), t[0], t[1])
			turn512(dst, o+2*next, gr.Sub(fi), gi.Add(fr), t[2], t[3])
			i += src.step
			o += dst.step
		}
	}
}

func fftPass5x8(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far := s * m * src.step
	next := s * dst.step
	c, d := &oddCos[5], &oddSin[5]
	for p := range m {
		i, o := s*p*src.step, 5*s*p*dst.step
		t := (*[8]float64)(unsafe.Add(twiddle, 64*p))
		for range s {
			br, bi := load512(src.re, i+far), load512(src.im, i+far)
			er, ei := load512(src.re, i+4*far), load512(src.im, i+4*far)
			s1r, s1i := br.Add(er), bi.Add(ei)
			d1r, d1i := br.Sub(er), bi.Sub(ei)
			cr, ci := load512(src.re, i+2*far), load512(src.im, i+2*far)
			dr, di := load512(src.re, i+3*far), load512(src.im, i+3*far)
			s2r, s2i := cr.Add(dr), ci.Add(di)
			d2r, d2i := cr.Sub(dr), ci.Sub(di)
			ar, ai := load512(src.re, i), load512(src.im, i)
			save512(ar.Add(s1r).Add(s2r), dst.re, o)
			save512(ai.Add(s1i).Add(s2i), dst.im, o)
			c1, c2 := archsimd.BroadcastFloat64x8(c[1]), archsimd.BroadcastFloat64x8(c[2])
			k1, k2 := archsimd.BroadcastFloat64x8(d[1]), archsimd.BroadcastFloat64x8(d[2])
			xr, xi := s2r.MulAdd(c2, s1r.MulAdd(c1, ar)), s2i.MulAdd(c2, s1i.MulAdd(c1, ai))
			yr, yi := d2r.MulAdd(k2, d1r.Mul(k1)), d2i.MulAdd(k2, d1i.Mul(k1))
			turn512(dst, o+next, xr.Add(yi), xi.Sub(yr), t[0], t[1])
			turn512(dst, o+4*next, xr.Sub(yi), xi.Add(yr), t[6], t[7])
			xr, xi = s2r.MulAdd(c1, s1r.MulAdd(c2, ar)), s2i.MulAdd(c1, s1i.MulAdd(c2, ai))
			yr, yi = d1r.Mul(k2).Sub(d2r.Mul(k1)), d1i.Mul(k2).Sub(d2i.Mul(k1))
			turn512(dst, o+2*next, xr.Add(yi), xi.Sub(yr), t[2], t[3])
			turn512(dst, o+3*next, xr.Sub(yi), xi.Add(yr), t[4], t[5])
			i += src.step
			o += dst.step
		}
	}
}

func fftPass7x8(dst, src strip, twiddle unsafe.Pointer, m, s int) {
	far := s * m * src.step
	next := s * dst.step
	c, d := &oddCos[7], &oddSin[7]
	for p := range m {
		i, o := s*p*src.step, 7*s*p*dst.step
		t := (*[12]float64)(unsafe.Add(twiddle, 96*p))
		for range s {
			ar, ai := load512(src.re, i), load512(src.im, i)
			br, bi := load512(src.re, i+far), load512(src.im, i+far)
			cr, ci := load512(src.re, i+6*far), load512(src.im, i+6*far)
			s1r, s1i := br.Add(cr), bi.Add(ci)
			d1r, d1i := br.Sub(cr), bi.Sub(ci)
			br, bi = load512(src.re, i+2*far), load512(src.im, i+2*far)
			cr, ci = load512(src.re, i+5*far), load512(src.im, i+5*far)
			s2r, s2i := br.Add(cr), bi.Add(ci)
			d2r, d2i := br.Sub(cr), bi.Sub(ci)
			br, bi = load512(src.re, i+3*far), load512(src.im, i+3*far)
			cr, ci = load512(src.re, i+4*far), load512(src.im, i+4*far)
			s3r, s3i := br.Add(cr), bi.Add(ci)
			d3r, d3i := br.Sub(cr), bi.Sub(ci)
			save512(ar.Add(s1r).Add(s2r).Add(s3r), dst.re, o)
			save512(ai.Add(s1i).Add(s2i).Add(s3i), dst.im, o)
			for k := 1; k <= 3; k++ {
				j2, j3 := 2*k%7, 3*k%7
				w := archsimd.BroadcastFloat64x8(c[k])
				xr, xi := s1r.MulAdd(w, ar), s1i.MulAdd(w, ai)
				w = archsimd.BroadcastFloat64x8(c[j2])
				xr, xi = s2r.MulAdd(w, xr), s2i.MulAdd(w, xi)
				w = archsimd.BroadcastFloat64x8(c[j3])
				xr, xi = s3r.MulAdd(w, xr), s3i.MulAdd(w, xi)
				w = archsimd.BroadcastFloat64x8(d[k])
				yr, yi := d1r.Mul(w), d1i.Mul(w)
				w = archsimd.BroadcastFloat64x8(d[j2])
				yr, yi = d2r.MulAdd(w, yr), d2i.MulAdd(w, yi)
				w = archsimd.BroadcastFloat64x8(d[j3])
				yr, yi = d3r.MulAdd(w, yr), d3i.MulAdd(w, yi)
				turn512(dst, o+k*next, xr.Add(yi), xi.Sub(yr), t[2*k-2], t[2*k-1])
				turn512(dst, o+(7-k)*next, xr.Sub(yi), xi.Add(yr), t[12-2*k], t[13-2*k])
			}
			i += src.step
			o += dst.step
		}
	}
}

func fftTwistx8(dst, src strip, factor unsafe.Pointer, n int) {
	for i := range n {
		t := (*[2]float64)(unsafe.Add(factor, 16*i))
		turn512(dst, i*dst.step, load512(src.re, i*src.step), load512(src.im, i*src.step), t[0], t[1])
	}
}

func fftSplitx8(a, b, z strip, n int) {
	half := archsimd.BroadcastFloat64x8(0.5)
	for k := range n/2 + 1 {
		p, q := k*z.step, (n-k)*z.step
		if k == 0 {
			q = 0
		}
		pr, pi := load512(z.re, p).Mul(half), load512(z.im, p).Mul(half)
		qr, qi := load512(z.re, q).Mul(half), load512(z.im, q).Mul(half)
		save512(pr.Add(qr), a.re, k*a.step)
		save512(pi.Sub(qi), a.im, k*a.step)
		save512(pi.Add(qi), b.re, k*b.step)
		save512(qr.Sub(pr), b.im, k*b.step)
	}
}

func fftMergex8(z, a, b strip, n int) {
	for k := 1; 2*k < n; k++ {
		ar, ai := load512(a.re, k*a.step), load512(a.im, k*a.step)
		br, bi := load512(b.re, k*b.step), load512(b.im, k*b.step)
		save512(ar.Sub(bi), z.re, k*z.step)
		save512(ai.Add(br), z.im, k*z.step)
		save512(ar.Add(bi), z.re, (n-k)*z.step)
		save512(br.Sub(ai), z.im, (n-k)*z.step)
	}
}
