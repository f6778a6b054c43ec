//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"math"
	"simd/archsimd"
	"unsafe"
)

// The functions of f64_math.go on 512-bit vectors. This file and its twin of the
// other width have the same text apart from the width, and the same results
// bit for bit. The loops take slices whose lengths are multiples of 8.

// constant8 loads one of the numbers of f64_math_constants.go.
func constant8(i int) archsimd.Float64x8 {
	return archsimd.LoadFloat64x8((*[8]float64)(unsafe.Pointer(&mathConstants[i])))
}

func load8(x []float64, i int) archsimd.Float64x8 {
	return archsimd.LoadFloat64x8((*[8]float64)(unsafe.Pointer(&x[i])))
}

func store8(x []float64, i int, v archsimd.Float64x8) {
	v.Store((*[8]float64)(unsafe.Pointer(&x[i])))
}

// expSum8 returns e^(x+lo), |lo| far below |x|. With n = round(x/log 2) and
// r = x + lo - n·log 2, it is 2ⁿ(1 + r + r²q(r)), q a polynomial of degree 10
// interpolating at Chebyshev points (error 3e-18), scaled in two steps so that
// subnormal results round once.
func expSum8(x, lo archsimd.Float64x8) archsimd.Float64x8 {
	in := x
	x = x.Min(constant8(cExpMax)).Max(constant8(cExpMin))
	magic := constant8(cMagic)
	t := x.MulAdd(constant8(cLog2E), magic)
	n := t.Sub(magic)
	r := n.MulAdd(constant8(cNegLn2), x)
	r = n.MulAdd(constant8(cNegLn2Rest), r)
	r = r.Add(lo)
	q := constant8(cExp12)
	q = q.MulAdd(r, constant8(cExp11))
	q = q.MulAdd(r, constant8(cExp10))
	q = q.MulAdd(r, constant8(cExp9))
	q = q.MulAdd(r, constant8(cExp8))
	q = q.MulAdd(r, constant8(cExp7))
	q = q.MulAdd(r, constant8(cExp6))
	q = q.MulAdd(r, constant8(cExp5))
	q = q.MulAdd(r, constant8(cExp4))
	q = q.MulAdd(r, constant8(cExp3))
	q = q.MulAdd(r, constant8(cHalf))
	y := q.MulAdd(r.Mul(r), r).Add(constant8(cOne))
	half := n.MulAdd(constant8(cHalf), magic)
	rest := n.Sub(half.Sub(magic)).Add(magic)
	bias := constant8(cBias).AsInt64x8()
	y = y.Mul(half.AsInt64x8().Add(bias).ShiftAllLeft(52).AsFloat64x8())
	y = y.Mul(rest.AsInt64x8().Add(bias).ShiftAllLeft(52).AsFloat64x8())
	// Which operand Min returns for NaN depends on how it is compiled.
	return y.Merge(in, in.Equal(in))
}

// split8 returns m in [√½, √2) and e with x = 2^e·m, x positive and finite.
func split8(x archsimd.Float64x8) (m, e archsimd.Float64x8) {
	normal := x.GreaterEqual(constant8(cSmallestNormal))
	x = x.Merge(x.Mul(constant8(cTwo54)), normal)
	v := x.AsUint64x8().Add(constant8(cSplit).AsUint64x8())
	e = v.ShiftAllRight(52).Or(constant8(cTwo52).AsUint64x8()).AsFloat64x8()
	e = e.Sub(constant8(cExponent).Merge(constant8(cExponentTiny), normal))
	m = v.And(constant8(cMantissa).AsUint64x8()).Add(constant8(cRootHalf).AsUint64x8()).AsFloat64x8()
	return m, e
}

// log8 is the method of math.Log (FreeBSD's e_log.c) on m of split8.
func log8(x archsimd.Float64x8) archsimd.Float64x8 {
	m, e := split8(x)
	one := constant8(cOne)
	f := m.Sub(one)
	s := f.Div(m.Add(one))
	z := s.Mul(s)
	w := z.Mul(z)
	t1 := constant8(cLog7).MulAdd(w, constant8(cLog5)).MulAdd(w, constant8(cLog3)).MulAdd(w, constant8(cLog1)).Mul(z)
	t2 := constant8(cLog6).MulAdd(w, constant8(cLog4)).MulAdd(w, constant8(cLog2)).Mul(w)
	h := f.Mul(f).Mul(constant8(cHalf))
	t := s.Mul(h.Add(t1.Add(t2)))
	t = e.MulAdd(constant8(cLn2Low), t)
	y := e.MulAdd(constant8(cLn2High), f.Sub(h.Sub(t)))
	inf := constant8(cInf)
	y = y.Merge(x, x.Less(inf)) // +Inf and NaN
	y = y.Merge(constant8(cNaN), x.GreaterEqual(archsimd.Float64x8{}))
	return y.Merge(archsimd.Float64x8{}.Sub(inf), x.NotEqual(archsimd.Float64x8{}))
}

// logSum8 returns log x as an unevaluated sum of relative error about 2^-63,
// for positive finite x. With s = (m-1)/(m+1), log m = 2s(1 + w) and
// w = s²(1/3 + s²q(s²)), q of degree 7; s, w and the sum carry their rounding
// errors along (Dekker; products by FMA).
func logSum8(x archsimd.Float64x8) (hi, lo archsimd.Float64x8) {
	m, e := split8(x)
	one, zero := constant8(cOne), archsimd.Float64x8{}
	f := m.Sub(one) // exact
	d := m.Add(one)
	dLow := m.Sub(d.Sub(one))
	inv := one.Div(d)
	s := f.Mul(inv)
	neg := zero.Sub(s)
	sLow := neg.MulAdd(dLow, neg.MulAdd(d, f)).Mul(inv)
	z := s.Mul(s)
	zLow := s.MulAdd(sLow.Add(sLow), s.MulAdd(s, zero.Sub(z)))
	q := constant8(cAtanh19)
	q = q.MulAdd(z, constant8(cAtanh17))
	q = q.MulAdd(z, constant8(cAtanh15))
	q = q.MulAdd(z, constant8(cAtanh13))
	q = q.MulAdd(z, constant8(cAtanh11))
	q = q.MulAdd(z, constant8(cAtanh9))
	q = q.MulAdd(z, constant8(cAtanh7))
	q = q.MulAdd(z, constant8(cAtanh5))
	q = q.Mul(z)
	third := constant8(cThird)
	u := third.Add(q)
	uLow := third.Sub(u).Add(q).Add(constant8(cThirdRest))
	w := z.Mul(u)
	wLow := z.MulAdd(uLow, z.MulAdd(u, zero.Sub(w)))
	wLow = zLow.MulAdd(u, wLow)
	s2 := s.Add(s)
	s2Low := sLow.Add(sLow)
	p := s2.Mul(w)
	pLow := s2.MulAdd(wLow, s2.MulAdd(w, zero.Sub(p)))
	pLow = s2Low.MulAdd(w, pLow)
	a := e.Mul(constant8(cLn2High)) // exact
	b := a.Add(s2)
	bLow := a.Sub(b).Add(s2)
	c := b.Add(p)
	cLow := b.Sub(c).Add(p)
	lo = e.MulAdd(constant8(cLn2Low), s2Low.Add(pLow).Add(bLow.Add(cLow)))
	hi = c.Add(lo)
	return hi, c.Sub(hi).Add(lo)
}

// powSum8 returns e^(y(hi+lo)).
func powSum8(hi, lo, y archsimd.Float64x8) archsimd.Float64x8 {
	p := y.Mul(hi)
	pLow := y.MulAdd(lo, y.MulAdd(hi, archsimd.Float64x8{}.Sub(p)))
	inside := p.Less(constant8(cExpMax)).And(p.Greater(constant8(cExpMin)))
	return expSum8(p, pLow.Masked(inside))
}

// sinCos8 returns sin x, or cos x where quarter is cOne's integer: the
// quadrant is shifted by it. With n = round(2x/π), r = x - nπ/2 is formed with
// 160 bits of π and kept as a sum; the polynomials are those of FreeBSD's
// k_sin.c and k_cos.c. It holds for |x| <= cTrigMax.
func sinCos8(x archsimd.Float64x8, quarter archsimd.Int64x8) archsimd.Float64x8 {
	magic := constant8(cMagic)
	t := x.MulAdd(constant8(cTwoOverPi), magic)
	n := t.Sub(magic)
	r1 := n.MulAdd(constant8(cNegHalfPi1), x) // exact
	r := n.MulAdd(constant8(cNegHalfPi2), r1)
	low := n.MulAdd(constant8(cNegHalfPi2), r1.Sub(r))
	low = n.MulAdd(constant8(cNegHalfPi3), low)
	z := r.Mul(r)
	one, half := constant8(cOne), constant8(cHalf)

	q := constant8(cSin6).MulAdd(z, constant8(cSin5)).MulAdd(z, constant8(cSin4)).MulAdd(z, constant8(cSin3)).MulAdd(z, constant8(cSin2))
	v := z.Mul(r)
	// r - ((z(low/2 - v q) - low) - v s1)
	sin := z.Mul(half.Mul(low).Sub(v.Mul(q))).Sub(low)
	sin = r.Sub(sin.Sub(v.Mul(constant8(cSin1))))

	q = constant8(cCos6).MulAdd(z, constant8(cCos5)).MulAdd(z, constant8(cCos4)).MulAdd(z, constant8(cCos3)).MulAdd(z, constant8(cCos2)).MulAdd(z, constant8(cCos1))
	hz := half.Mul(z)
	w := one.Sub(hz)
	cos := z.Mul(z).Mul(q).Sub(r.Mul(low))
	cos = w.Add(one.Sub(w).Sub(hz).Add(cos))

	k := t.AsInt64x8().Add(quarter)
	odd := k.And(constant8(cInt1).AsInt64x8()).Equal(constant8(cInt1).AsInt64x8())
	sign := k.And(constant8(cInt2).AsInt64x8()).ShiftAllLeft(62)
	y := cos.Merge(sin, odd)
	y = y.AsInt64x8().Xor(sign).AsFloat64x8()
	// sin(-0) is -0, which the sum above made +0.
	return y.Merge(x, x.NotEqual(archsimd.Float64x8{}).Or(odd))
}

// tanh8 is 1 - 2/(e^2|x| + 1) with the sign of x, and below 0.625 the rational
// function of math.Tanh (Cephes).
func tanh8(x archsimd.Float64x8) archsimd.Float64x8 {
	sign := x.AsInt64x8().And(constant8(cSign).AsInt64x8())
	a := x.AsInt64x8().Xor(sign).AsFloat64x8()
	one := constant8(cOne)
	e := expSum8(a.Add(a), archsimd.Float64x8{})
	big := one.Sub(constant8(cTwo).Div(e.Add(one)))
	z := a.Mul(a)
	p := constant8(cTanhP0).MulAdd(z, constant8(cTanhP1)).MulAdd(z, constant8(cTanhP2))
	q := z.Add(constant8(cTanhQ0)).MulAdd(z, constant8(cTanhQ1)).MulAdd(z, constant8(cTanhQ2))
	small := a.Mul(z).Mul(p).Div(q).Add(a)
	y := small.Merge(big, a.Less(constant8(cTanhSwitch)))
	return y.AsInt64x8().Or(sign).AsFloat64x8()
}

func expLoop8(dst, x []float64) {
	for i := 0; i < len(dst); i += 8 {
		store8(dst, i, expSum8(load8(x, i), archsimd.Float64x8{}))
	}
	archsimd.ClearAVXUpperBits()
}

func logLoop8(dst, x []float64) {
	for i := 0; i < len(dst); i += 8 {
		store8(dst, i, log8(load8(x, i)))
	}
	archsimd.ClearAVXUpperBits()
}

func tanhLoop8(dst, x []float64) {
	for i := 0; i < len(dst); i += 8 {
		store8(dst, i, tanh8(load8(x, i)))
	}
	archsimd.ClearAVXUpperBits()
}

func sinLoop8(dst, x []float64, cosine bool) {
	var quarter archsimd.Int64x8
	if cosine {
		quarter = constant8(cInt1).AsInt64x8()
	}
	for i := 0; i < len(dst); i += 8 {
		v := load8(x, i)
		far := v.Less(constant8(cTrigMax)).And(v.Greater(constant8(cTrigMin)))
		y := sinCos8(v, quarter)
		if far.ToBits() == 0xff {
			store8(dst, i, y)
			continue
		}
		var in [8]float64
		v.Store(&in)
		store8(dst, i, y)
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

// powScalarLoop8 raises to the k, which is finite and not 0. special holds the
// results at +0 and +∞, and for negative x: sign is -0 if k is an odd integer,
// +0 if even, NaN if k is no integer.
func powScalarLoop8(dst, x []float64, k float64, special powSpecial) {
	y := archsimd.BroadcastFloat64x8(k)
	atZero := archsimd.BroadcastFloat64x8(special.zero)
	atInf := archsimd.BroadcastFloat64x8(special.inf)
	negative := archsimd.BroadcastFloat64x8(special.negative)
	for i := 0; i < len(dst); i += 8 {
		v := load8(x, i)
		sign := v.AsInt64x8().And(constant8(cSign).AsInt64x8())
		a := v.AsInt64x8().Xor(sign).AsFloat64x8()
		hi, lo := logSum8(a)
		r := powSum8(hi, lo, y)
		zero := archsimd.Float64x8{}
		r = r.Merge(atZero, a.NotEqual(zero))
		r = r.Merge(atInf, a.Less(constant8(cInf)))
		r = r.Merge(v, v.Equal(v))
		// A finite negative number to no integer power is NaN; to an odd one, negative.
		finite := v.Less(zero).And(a.Less(constant8(cInf)))
		r = r.Add(negative.Masked(finite))
		odd := sign.And(negative.AsInt64x8()).AsFloat64x8()
		r = r.AsInt64x8().Xor(odd.AsInt64x8()).AsFloat64x8()
		store8(dst, i, r)
	}
	archsimd.ClearAVXUpperBits()
}

func powLoop8(dst, x, y []float64) {
	for i := 0; i < len(dst); i += 8 {
		v, k := load8(x, i), load8(y, i)
		inf := constant8(cInf)
		hi, lo := logSum8(v)
		r := powSum8(hi, lo, k)
		plain := v.Greater(archsimd.Float64x8{}).And(v.Less(inf)).And(k.Less(inf)).And(k.Greater(archsimd.Float64x8{}.Sub(inf)))
		if plain.ToBits() == 0xff {
			store8(dst, i, r)
			continue
		}
		var base, power [8]float64
		v.Store(&base)
		k.Store(&power)
		store8(dst, i, r)
		for j, v := range base {
			if k := power[j]; !(v > 0 && v <= math.MaxFloat64 && math.Abs(k) <= math.MaxFloat64) {
				dst[i+j] = math.Pow(v, k)
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}
