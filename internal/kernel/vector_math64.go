//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"unsafe"
)

// constant64 loads one of the numbers of f64_math_constants.go.
func constant64(i int) simd.Float64s { return *(*simd.Float64s)(unsafe.Pointer(&mathConstants[i])) }

// math64 sets dst to a function of x, the elements past the last whole vector by a
// padded one, so that all are computed in one way. Where the sine or cosine is left
// to package math, dst is x; math64 reports whether there are such elements.
func math64(f function, dst, x []float64) (rest bool) {
	lanes := (simd.Float64s{}).Len()
	quarter := simd.Uint64s{}
	if f == fCos {
		quarter = constant64(cInt1).ToBits()
	}
	var far simd.Uint64s
	for i := 0; i < len(dst); i += lanes {
		var v, y simd.Float64s
		whole := i+lanes <= len(dst)
		if whole {
			v = load64(unsafe.Pointer(&x[i]))
		} else {
			v, _ = simd.LoadFloat64sPart(x[i:len(dst)])
		}
		switch f {
		case fExp:
			y = expSum64(v, simd.Float64s{})
		case fLog:
			y = log64(v)
		case fTanh:
			y = tanh64(v)
		default:
			near := v.Less(constant64(cTrigMax)).And(v.Greater(constant64(cTrigMin)))
			y = sinCos64(v, quarter).IfElse(near, v)
			far = far.Or(near.ToInt64s().ToBits().Not())
		}
		if whole {
			store64(unsafe.Pointer(&dst[i]), y)
		} else {
			y.StorePart(dst[i:])
		}
	}
	var bits [8]uint64
	far.Store(bits[:])
	clearUpper()
	return bits != [8]uint64{}
}

// powScalar64 raises to the k, which is finite and not 0. special holds the
// results at +0 and +∞, and for negative x: negative is -0 if k is an odd integer,
// +0 if even, NaN if k is no integer.
func powScalar64(dst, x []float64, k float64, special powSpecial) {
	lanes := (simd.Float64s{}).Len()
	y, zero, inf := simd.BroadcastFloat64s(k), simd.Float64s{}, constant64(cInf)
	atZero, atInf := simd.BroadcastFloat64s(special.zero), simd.BroadcastFloat64s(special.inf)
	negative := simd.BroadcastFloat64s(special.negative)
	for i := 0; i < len(dst); i += lanes {
		var v simd.Float64s
		whole := i+lanes <= len(dst)
		if whole {
			v = load64(unsafe.Pointer(&x[i]))
		} else {
			v, _ = simd.LoadFloat64sPart(x[i:len(dst)])
		}
		sign := v.ToBits().And(constant64(cSign).ToBits())
		a := v.Abs()
		hi, lo := logSum64(a)
		r := powSum64(hi, lo, y)
		r = r.IfElse(a.NotEqual(zero), atZero)
		r = r.IfElse(a.Less(inf), atInf)
		r = r.IfElse(v.Equal(v), v)
		// A finite negative number to no integer power is NaN; to an odd one, negative.
		r = r.Add(negative.Masked(v.Less(zero).And(a.Less(inf))))
		r = r.ToBits().Xor(sign.And(negative.ToBits())).BitsToFloat64()
		if whole {
			store64(unsafe.Pointer(&dst[i]), r)
		} else {
			r.StorePart(dst[i:])
		}
	}
	clearUpper()
}

// pow64 raises x, positive and finite, to the finite powers y. Other elements of dst
// are for its caller to correct.
func pow64(dst, x, y []float64) {
	lanes := (simd.Float64s{}).Len()
	for i := 0; i < len(dst); i += lanes {
		v, _ := simd.LoadFloat64sPart(x[i:len(dst)])
		k, _ := simd.LoadFloat64sPart(y[i:len(dst)])
		hi, lo := logSum64(v)
		powSum64(hi, lo, k).StorePart(dst[i:])
	}
	clearUpper()
}

// expSum64 returns e^(x+lo), |lo| far below |x|. With n = round(x/log 2) and
// r = x + lo - n·log 2, it is 2ⁿ(1 + r + r²q(r)), q a polynomial of degree 10
// interpolating at Chebyshev points (error 3e-18), scaled in two steps so that
// subnormal results round once.
func expSum64(x, lo simd.Float64s) simd.Float64s {
	in := x
	x = x.Min(constant64(cExpMax)).Max(constant64(cExpMin))
	magic := constant64(cMagic)
	t := x.MulAdd(constant64(cLog2E), magic)
	n := t.Sub(magic)
	r := n.MulAdd(constant64(cNegLn2), x)
	r = n.MulAdd(constant64(cNegLn2Rest), r)
	r = r.Add(lo)
	q := constant64(cExp12)
	q = q.MulAdd(r, constant64(cExp11))
	q = q.MulAdd(r, constant64(cExp10))
	q = q.MulAdd(r, constant64(cExp9))
	q = q.MulAdd(r, constant64(cExp8))
	q = q.MulAdd(r, constant64(cExp7))
	q = q.MulAdd(r, constant64(cExp6))
	q = q.MulAdd(r, constant64(cExp5))
	q = q.MulAdd(r, constant64(cExp4))
	q = q.MulAdd(r, constant64(cExp3))
	q = q.MulAdd(r, constant64(cHalf))
	y := q.MulAdd(r.Mul(r), r).Add(constant64(cOne))
	half := n.MulAdd(constant64(cHalf), magic)
	rest := n.Sub(half.Sub(magic)).Add(magic)
	bias := constant64(cBias).ToBits()
	y = y.Mul(half.ToBits().Add(bias).ShiftAllLeft(52).BitsToFloat64())
	y = y.Mul(rest.ToBits().Add(bias).ShiftAllLeft(52).BitsToFloat64())
	// Which operand Min returns for NaN depends on how it is compiled.
	return y.IfElse(in.Equal(in), in)
}

// split64 returns m in [√½, √2) and e with x = 2^e·m, x positive and finite.
func split64(x simd.Float64s) (m, e simd.Float64s) {
	normal := x.GreaterEqual(constant64(cSmallestNormal))
	x = x.IfElse(normal, x.Mul(constant64(cTwo54)))
	v := x.ToBits().Add(constant64(cSplit).ToBits())
	e = v.ShiftAllRight(52).Or(constant64(cTwo52).ToBits()).BitsToFloat64()
	e = e.Sub(constant64(cExponent).IfElse(normal, constant64(cExponentTiny)))
	m = v.And(constant64(cMantissa).ToBits()).Add(constant64(cRootHalf).ToBits()).BitsToFloat64()
	return m, e
}

// log64 is the method of math.Log (FreeBSD's e_log.c) on m of split64.
func log64(x simd.Float64s) simd.Float64s {
	m, e := split64(x)
	one := constant64(cOne)
	f := m.Sub(one)
	s := f.Div(m.Add(one))
	z := s.Mul(s)
	w := z.Mul(z)
	t1 := constant64(cLog7).MulAdd(w, constant64(cLog5)).MulAdd(w, constant64(cLog3)).MulAdd(w, constant64(cLog1)).Mul(z)
	t2 := constant64(cLog6).MulAdd(w, constant64(cLog4)).MulAdd(w, constant64(cLog2)).Mul(w)
	h := f.Mul(f).Mul(constant64(cHalf))
	t := s.Mul(h.Add(t1.Add(t2)))
	t = e.MulAdd(constant64(cLn2Low), t)
	y := e.MulAdd(constant64(cLn2High), f.Sub(h.Sub(t)))
	inf := constant64(cInf)
	y = y.IfElse(x.Less(inf), x) // +Inf and NaN
	y = y.IfElse(x.GreaterEqual(simd.Float64s{}), constant64(cNaN))
	return y.IfElse(x.NotEqual(simd.Float64s{}), inf.Neg())
}

// logSum64 returns log x as an unevaluated sum of relative error about 2^-63,
// for positive finite x. With s = (m-1)/(m+1), log m = 2s(1 + w) and
// w = s²(1/3 + s²q(s²)), q of degree 7; s, w and the sum carry their rounding
// errors along (Dekker; products by FMA).
func logSum64(x simd.Float64s) (hi, lo simd.Float64s) {
	m, e := split64(x)
	one := constant64(cOne)
	f := m.Sub(one) // exact
	d := m.Add(one)
	dLow := m.Sub(d.Sub(one))
	inv := one.Div(d)
	s := f.Mul(inv)
	neg := s.Neg()
	sLow := neg.MulAdd(dLow, neg.MulAdd(d, f)).Mul(inv)
	z := s.Mul(s)
	zLow := s.MulAdd(sLow.Add(sLow), s.MulAdd(s, z.Neg()))
	q := constant64(cAtanh19)
	q = q.MulAdd(z, constant64(cAtanh17))
	q = q.MulAdd(z, constant64(cAtanh15))
	q = q.MulAdd(z, constant64(cAtanh13))
	q = q.MulAdd(z, constant64(cAtanh11))
	q = q.MulAdd(z, constant64(cAtanh9))
	q = q.MulAdd(z, constant64(cAtanh7))
	q = q.MulAdd(z, constant64(cAtanh5))
	q = q.Mul(z)
	third := constant64(cThird)
	u := third.Add(q)
	uLow := third.Sub(u).Add(q).Add(constant64(cThirdRest))
	w := z.Mul(u)
	wLow := z.MulAdd(uLow, z.MulAdd(u, w.Neg()))
	wLow = zLow.MulAdd(u, wLow)
	s2 := s.Add(s)
	s2Low := sLow.Add(sLow)
	p := s2.Mul(w)
	pLow := s2.MulAdd(wLow, s2.MulAdd(w, p.Neg()))
	pLow = s2Low.MulAdd(w, pLow)
	a := e.Mul(constant64(cLn2High)) // exact
	b := a.Add(s2)
	bLow := a.Sub(b).Add(s2)
	c := b.Add(p)
	cLow := b.Sub(c).Add(p)
	lo = e.MulAdd(constant64(cLn2Low), s2Low.Add(pLow).Add(bLow.Add(cLow)))
	hi = c.Add(lo)
	return hi, c.Sub(hi).Add(lo)
}

// powSum64 returns e^(y(hi+lo)).
func powSum64(hi, lo, y simd.Float64s) simd.Float64s {
	p := y.Mul(hi)
	pLow := y.MulAdd(lo, y.MulAdd(hi, p.Neg()))
	inside := p.Less(constant64(cExpMax)).And(p.Greater(constant64(cExpMin)))
	return expSum64(p, pLow.Masked(inside))
}

// sinCos64 returns sin x, or cos x where quarter is cOne's integer: the
// quadrant is shifted by it. With n = round(2x/π), r = x - nπ/2 is formed with
// 160 bits of π and kept as a sum; the polynomials are those of FreeBSD's
// k_sin.c and k_cos.c. It holds for |x| <= cTrigMax.
func sinCos64(x simd.Float64s, quarter simd.Uint64s) simd.Float64s {
	magic := constant64(cMagic)
	t := x.MulAdd(constant64(cTwoOverPi), magic)
	n := t.Sub(magic)
	r1 := n.MulAdd(constant64(cNegHalfPi1), x) // exact
	r := n.MulAdd(constant64(cNegHalfPi2), r1)
	low := n.MulAdd(constant64(cNegHalfPi2), r1.Sub(r))
	low = n.MulAdd(constant64(cNegHalfPi3), low)
	z := r.Mul(r)
	one, half := constant64(cOne), constant64(cHalf)

	q := constant64(cSin6).MulAdd(z, constant64(cSin5)).MulAdd(z, constant64(cSin4)).MulAdd(z, constant64(cSin3)).MulAdd(z, constant64(cSin2))
	v := z.Mul(r)
	// r - ((z(low/2 - v q) - low) - v s1)
	sin := z.Mul(half.Mul(low).Sub(v.Mul(q))).Sub(low)
	sin = r.Sub(sin.Sub(v.Mul(constant64(cSin1))))

	q = constant64(cCos6).MulAdd(z, constant64(cCos5)).MulAdd(z, constant64(cCos4)).MulAdd(z, constant64(cCos3)).MulAdd(z, constant64(cCos2)).MulAdd(z, constant64(cCos1))
	hz := half.Mul(z)
	w := one.Sub(hz)
	cos := z.Mul(z).Mul(q).Sub(r.Mul(low))
	cos = w.Add(one.Sub(w).Sub(hz).Add(cos))

	k := t.ToBits().Add(quarter)
	odd := k.And(constant64(cInt1).ToBits()).Equal(constant64(cInt1).ToBits())
	sign := k.And(constant64(cInt2).ToBits()).ShiftAllLeft(62)
	y := cos.IfElse(odd, sin)
	y = y.ToBits().Xor(sign).BitsToFloat64()
	// sin(-0) is -0, which the sum above made +0.
	return y.IfElse(x.NotEqual(simd.Float64s{}).Or(odd), x)
}

// tanh64 is 1 - 2/(e^2|x| + 1) with the sign of x, and below 0.625 the rational
// function of math.Tanh (Cephes).
func tanh64(x simd.Float64s) simd.Float64s {
	sign := x.ToBits().And(constant64(cSign).ToBits())
	a := x.ToBits().Xor(sign).BitsToFloat64()
	one := constant64(cOne)
	e := expSum64(a.Add(a), simd.Float64s{})
	big := one.Sub(constant64(cTwo).Div(e.Add(one)))
	z := a.Mul(a)
	p := constant64(cTanhP0).MulAdd(z, constant64(cTanhP1)).MulAdd(z, constant64(cTanhP2))
	q := z.Add(constant64(cTanhQ0)).MulAdd(z, constant64(cTanhQ1)).MulAdd(z, constant64(cTanhQ2))
	small := a.Mul(z).Mul(p).Div(q).Add(a)
	y := small.IfElse(a.Less(constant64(cTanhSwitch)), big)
	return y.ToBits().Or(sign).BitsToFloat64()
}
