//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"math"
	"simd/archsimd"
	"unsafe"
)

// The functions of f64_math.go on 256-bit vectors. This file and its twin of the
// other width have the same text apart from the width, and the same results
// bit for bit. The loops take slices whose lengths are multiples of 8.

// constant4 loads one of the numbers of f64_math_constants.go.
func constant4(i int) archsimd.Float64x4 {
	return archsimd.LoadFloat64x4((*[4]float64)(unsafe.Pointer(&mathConstants[i])))
}

func load4(x []float64, i int) archsimd.Float64x4 {
	return archsimd.LoadFloat64x4((*[4]float64)(unsafe.Pointer(&x[i])))
}

func store4(x []float64, i int, v archsimd.Float64x4) {
	v.Store((*[4]float64)(unsafe.Pointer(&x[i])))
}

// expSum4 returns e^(x+lo), |lo| far below |x|. With n = round(x/log 2) and
// r = x + lo - n·log 2, it is 2ⁿ(1 + r + r²q(r)), q a polynomial of degree 10
// interpolating at Chebyshev points (error 3e-18), scaled in two steps so that
// subnormal results round once.
func expSum4(x, lo archsimd.Float64x4) archsimd.Float64x4 {
	in := x
	x = x.Min(constant4(cExpMax)).Max(constant4(cExpMin))
	magic := constant4(cMagic)
	t := x.MulAdd(constant4(cLog2E), magic)
	n := t.Sub(magic)
	r := n.MulAdd(constant4(cNegLn2), x)
	r = n.MulAdd(constant4(cNegLn2Rest), r)
	r = r.Add(lo)
	q := constant4(cExp12)
	q = q.MulAdd(r, constant4(cExp11))
	q = q.MulAdd(r, constant4(cExp10))
	q = q.MulAdd(r, constant4(cExp9))
	q = q.MulAdd(r, constant4(cExp8))
	q = q.MulAdd(r, constant4(cExp7))
	q = q.MulAdd(r, constant4(cExp6))
	q = q.MulAdd(r, constant4(cExp5))
	q = q.MulAdd(r, constant4(cExp4))
	q = q.MulAdd(r, constant4(cExp3))
	q = q.MulAdd(r, constant4(cHalf))
	y := q.MulAdd(r.Mul(r), r).Add(constant4(cOne))
	half := n.MulAdd(constant4(cHalf), magic)
	rest := n.Sub(half.Sub(magic)).Add(magic)
	bias := constant4(cBias).AsInt64x4()
	y = y.Mul(half.AsInt64x4().Add(bias).ShiftAllLeft(52).AsFloat64x4())
	y = y.Mul(rest.AsInt64x4().Add(bias).ShiftAllLeft(52).AsFloat64x4())
	// Which operand Min returns for NaN depends on how it is compiled.
	return y.Merge(in, in.Equal(in))
}

// split4 returns m in [√½, √2) and e with x = 2^e·m, x positive and finite.
func split4(x archsimd.Float64x4) (m, e archsimd.Float64x4) {
	normal := x.GreaterEqual(constant4(cSmallestNormal))
	x = x.Merge(x.Mul(constant4(cTwo54)), normal)
	v := x.AsUint64x4().Add(constant4(cSplit).AsUint64x4())
	e = v.ShiftAllRight(52).Or(constant4(cTwo52).AsUint64x4()).AsFloat64x4()
	e = e.Sub(constant4(cExponent).Merge(constant4(cExponentTiny), normal))
	m = v.And(constant4(cMantissa).AsUint64x4()).Add(constant4(cRootHalf).AsUint64x4()).AsFloat64x4()
	return m, e
}

// log4 is the method of math.Log (FreeBSD's e_log.c) on m of split4.
func log4(x archsimd.Float64x4) archsimd.Float64x4 {
	m, e := split4(x)
	one := constant4(cOne)
	f := m.Sub(one)
	s := f.Div(m.Add(one))
	z := s.Mul(s)
	w := z.Mul(z)
	t1 := constant4(cLog7).MulAdd(w, constant4(cLog5)).MulAdd(w, constant4(cLog3)).MulAdd(w, constant4(cLog1)).Mul(z)
	t2 := constant4(cLog6).MulAdd(w, constant4(cLog4)).MulAdd(w, constant4(cLog2)).Mul(w)
	h := f.Mul(f).Mul(constant4(cHalf))
	t := s.Mul(h.Add(t1.Add(t2)))
	t = e.MulAdd(constant4(cLn2Low), t)
	y := e.MulAdd(constant4(cLn2High), f.Sub(h.Sub(t)))
	inf := constant4(cInf)
	y = y.Merge(x, x.Less(inf)) // +Inf and NaN
	y = y.Merge(constant4(cNaN), x.GreaterEqual(archsimd.Float64x4{}))
	return y.Merge(archsimd.Float64x4{}.Sub(inf), x.NotEqual(archsimd.Float64x4{}))
}

// logSum4 returns log x as an unevaluated sum of relative error about 2^-63,
// for positive finite x. With s = (m-1)/(m+1), log m = 2s(1 + w) and
// w = s²(1/3 + s²q(s²)), q of degree 7; s, w and the sum carry their rounding
// errors along (Dekker; products by FMA).
func logSum4(x archsimd.Float64x4) (hi, lo archsimd.Float64x4) {
	m, e := split4(x)
	one, zero := constant4(cOne), archsimd.Float64x4{}
	f := m.Sub(one) // exact
	d := m.Add(one)
	dLow := m.Sub(d.Sub(one))
	inv := one.Div(d)
	s := f.Mul(inv)
	neg := zero.Sub(s)
	sLow := neg.MulAdd(dLow, neg.MulAdd(d, f)).Mul(inv)
	z := s.Mul(s)
	zLow := s.MulAdd(sLow.Add(sLow), s.MulAdd(s, zero.Sub(z)))
	q := constant4(cAtanh19)
	q = q.MulAdd(z, constant4(cAtanh17))
	q = q.MulAdd(z, constant4(cAtanh15))
	q = q.MulAdd(z, constant4(cAtanh13))
	q = q.MulAdd(z, constant4(cAtanh11))
	q = q.MulAdd(z, constant4(cAtanh9))
	q = q.MulAdd(z, constant4(cAtanh7))
	q = q.MulAdd(z, constant4(cAtanh5))
	q = q.Mul(z)
	third := constant4(cThird)
	u := third.Add(q)
	uLow := third.Sub(u).Add(q).Add(constant4(cThirdRest))
	w := z.Mul(u)
	wLow := z.MulAdd(uLow, z.MulAdd(u, zero.Sub(w)))
	wLow = zLow.MulAdd(u, wLow)
	s2 := s.Add(s)
	s2Low := sLow.Add(sLow)
	p := s2.Mul(w)
	pLow := s2.MulAdd(wLow, s2.MulAdd(w, zero.Sub(p)))
	pLow = s2Low.MulAdd(w, pLow)
	a := e.Mul(constant4(cLn2High)) // exact
	b := a.Add(s2)
	bLow := a.Sub(b).Add(s2)
	c := b.Add(p)
	cLow := b.Sub(c).Add(p)
	lo = e.MulAdd(constant4(cLn2Low), s2Low.Add(pLow).Add(bLow.Add(cLow)))
	hi = c.Add(lo)
	return hi, c.Sub(hi).Add(lo)
}

// powSum4 returns e^(y(hi+lo)).
func powSum4(hi, lo, y archsimd.Float64x4) archsimd.Float64x4 {
	p := y.Mul(hi)
	pLow := y.MulAdd(lo, y.MulAdd(hi, archsimd.Float64x4{}.Sub(p)))
	inside := p.Less(constant4(cExpMax)).And(p.Greater(constant4(cExpMin)))
	return expSum4(p, pLow.Masked(inside))
}

// sinCos4 returns sin x, or cos x where quarter is cOne's integer: the
// quadrant is shifted by it. With n = round(2x/π), r = x - nπ/2 is formed with
// 160 bits of π and kept as a sum; the polynomials are those of FreeBSD's
// k_sin.c and k_cos.c. It holds for |x| <= cTrigMax.
func sinCos4(x archsimd.Float64x4, quarter archsimd.Int64x4) archsimd.Float64x4 {
	magic := constant4(cMagic)
	t := x.MulAdd(constant4(cTwoOverPi), magic)
	n := t.Sub(magic)
	r1 := n.MulAdd(constant4(cNegHalfPi1), x) // exact
	r := n.MulAdd(constant4(cNegHalfPi2), r1)
	low := n.MulAdd(constant4(cNegHalfPi2), r1.Sub(r))
	low = n.MulAdd(constant4(cNegHalfPi3), low)
	z := r.Mul(r)
	one, half := constant4(cOne), constant4(cHalf)

	q := constant4(cSin6).MulAdd(z, constant4(cSin5)).MulAdd(z, constant4(cSin4)).MulAdd(z, constant4(cSin3)).MulAdd(z, constant4(cSin2))
	v := z.Mul(r)
	// r - ((z(low/2 - v q) - low) - v s1)
	sin := z.Mul(half.Mul(low).Sub(v.Mul(q))).Sub(low)
	sin = r.Sub(sin.Sub(v.Mul(constant4(cSin1))))

	q = constant4(cCos6).MulAdd(z, constant4(cCos5)).MulAdd(z, constant4(cCos4)).MulAdd(z, constant4(cCos3)).MulAdd(z, constant4(cCos2)).MulAdd(z, constant4(cCos1))
	hz := half.Mul(z)
	w := one.Sub(hz)
	cos := z.Mul(z).Mul(q).Sub(r.Mul(low))
	cos = w.Add(one.Sub(w).Sub(hz).Add(cos))

	k := t.AsInt64x4().Add(quarter)
	odd := k.And(constant4(cInt1).AsInt64x4()).Equal(constant4(cInt1).AsInt64x4())
	sign := k.And(constant4(cInt2).AsInt64x4()).ShiftAllLeft(62)
	y := cos.Merge(sin, odd)
	y = y.AsInt64x4().Xor(sign).AsFloat64x4()
	// sin(-0) is -0, which the sum above made +0.
	return y.Merge(x, x.NotEqual(archsimd.Float64x4{}).Or(odd))
}

// tanh4 is 1 - 2/(e^2|x| + 1) with the sign of x, and below 0.625 the rational
// function of math.Tanh (Cephes).
func tanh4(x archsimd.Float64x4) archsimd.Float64x4 {
	sign := x.AsInt64x4().And(constant4(cSign).AsInt64x4())
	a := x.AsInt64x4().Xor(sign).AsFloat64x4()
	one := constant4(cOne)
	e := expSum4(a.Add(a), archsimd.Float64x4{})
	big := one.Sub(constant4(cTwo).Div(e.Add(one)))
	z := a.Mul(a)
	p := constant4(cTanhP0).MulAdd(z, constant4(cTanhP1)).MulAdd(z, constant4(cTanhP2))
	q := z.Add(constant4(cTanhQ0)).MulAdd(z, constant4(cTanhQ1)).MulAdd(z, constant4(cTanhQ2))
	small := a.Mul(z).Mul(p).Div(q).Add(a)
	y := small.Merge(big, a.Less(constant4(cTanhSwitch)))
	return y.AsInt64x4().Or(sign).AsFloat64x4()
}

func expLoop4(dst, x []float64) {
	for i := 0; i < len(dst); i += 4 {
		store4(dst, i, expSum4(load4(x, i), archsimd.Float64x4{}))
	}
	archsimd.ClearAVXUpperBits()
}

func logLoop4(dst, x []float64) {
	for i := 0; i < len(dst); i += 4 {
		store4(dst, i, log4(load4(x, i)))
	}
	archsimd.ClearAVXUpperBits()
}

func tanhLoop4(dst, x []float64) {
	for i := 0; i < len(dst); i += 4 {
		store4(dst, i, tanh4(load4(x, i)))
	}
	archsimd.ClearAVXUpperBits()
}

func sinLoop4(dst, x []float64, cosine bool) {
	var quarter archsimd.Int64x4
	if cosine {
		quarter = constant4(cInt1).AsInt64x4()
	}
	for i := 0; i < len(dst); i += 4 {
		v := load4(x, i)
		far := v.Less(constant4(cTrigMax)).And(v.Greater(constant4(cTrigMin)))
		y := sinCos4(v, quarter)
		if far.ToInt64x4().Not().IsZero() {
			store4(dst, i, y)
			continue
		}
		var in [4]float64
		v.Store(&in)
		store4(dst, i, y)
		for j, v := range in {
			switch {
			case math.Abs(v) < mathConstants[cTrigMax][0]:
			case cosine:
				dst[i+j] = math.Cos(v)
			default:
				dst[i+j] = math.Sin(v)
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

// powScalarLoop4 raises to the k, which is finite and not 0. special holds the
// results at +0 and +∞, and for negative x: sign is -0 if k is an odd integer,
// +0 if even, NaN if k is no integer.
func powScalarLoop4(dst, x []float64, k float64, special powSpecial) {
	y := archsimd.BroadcastFloat64x4(k)
	atZero := archsimd.BroadcastFloat64x4(special.zero)
	atInf := archsimd.BroadcastFloat64x4(special.inf)
	negative := archsimd.BroadcastFloat64x4(special.negative)
	for i := 0; i < len(dst); i += 4 {
		v := load4(x, i)
		sign := v.AsInt64x4().And(constant4(cSign).AsInt64x4())
		a := v.AsInt64x4().Xor(sign).AsFloat64x4()
		hi, lo := logSum4(a)
		r := powSum4(hi, lo, y)
		zero := archsimd.Float64x4{}
		r = r.Merge(atZero, a.NotEqual(zero))
		r = r.Merge(atInf, a.Less(constant4(cInf)))
		r = r.Merge(v, v.Equal(v))
		// A finite negative number to no integer power is NaN; to an odd one, negative.
		finite := v.Less(zero).And(a.Less(constant4(cInf)))
		r = r.Add(negative.Masked(finite))
		odd := sign.And(negative.AsInt64x4()).AsFloat64x4()
		r = r.AsInt64x4().Xor(odd.AsInt64x4()).AsFloat64x4()
		store4(dst, i, r)
	}
	archsimd.ClearAVXUpperBits()
}

func powLoop4(dst, x, y []float64) {
	for i := 0; i < len(dst); i += 4 {
		v, k := load4(x, i), load4(y, i)
		inf := constant4(cInf)
		hi, lo := logSum4(v)
		r := powSum4(hi, lo, k)
		plain := v.Greater(archsimd.Float64x4{}).And(v.Less(inf)).And(k.Less(inf)).And(k.Greater(archsimd.Float64x4{}.Sub(inf)))
		if plain.ToInt64x4().Not().IsZero() {
			store4(dst, i, r)
			continue
		}
		var base, power [4]float64
		v.Store(&base)
		k.Store(&power)
		store4(dst, i, r)
		for j, v := range base {
			if k := power[j]; !(v > 0 && v <= math.MaxFloat64 && math.Abs(k) <= math.MaxFloat64) {
				dst[i+j] = math.Pow(v, k)
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}
