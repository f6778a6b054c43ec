package expr

import (
	"math"
	"slices"
)

// powers lists the constant exponents that one base is raised to anywhere in
// the outputs of a program. A value x^c comes with x^(c-1) and x^(c-2) in its
// derivatives; one of them is computed, and the others are products or
// quotients of it by x.
type powers struct {
	base      *Expr
	exponents []float64
}

// powersOf returns the record of a base, a new one if there was none.
func (g *graph) powersOf(base *Expr) *powers {
	for _, p := range g.powers[base.hash] {
		if Same(p.base, base) {
			return p
		}
	}
	p := &powers{base: base}
	g.powers[base.hash] = append(g.powers[base.hash], p)
	return p
}

// findPowers records all powers with constant exponents in e.
func (g *graph) findPowers(e *Expr, seen map[*Expr]bool) {
	e.Walk(seen, func(x *Expr) {
		if x.op == opPow && x.args[1].op == opConst {
			p := g.powersOf(x.args[0])
			if !slices.Contains(p.exponents, x.args[1].val) {
				p.exponents = append(p.exponents, x.args[1].val)
			}
		}
	})
}

const (
	maxProduct = 16 // largest integer exponent done by products
	maxStep    = 4  // largest step from one exponent to a relative
)

// power lowers x^k, given all exponents of x.
//
// Relatives are chained away from zero and within one sign of the exponent,
// x^1.5 = x^0.5·x and x^-1.1 = x^-0.1/x, which keeps the values at 0 and at
// infinity: from x^0.5 the quotient x^0.5/x would be NaN at 0, not infinite.
// Half-integer exponents start from a square root (so that (-∞)^0.5 is NaN).
func (g *graph) power(x int32, k float64, exponents []float64) int32 {
	if k == math.Trunc(k) && math.Abs(k) <= maxProduct {
		if k > 0 {
			return g.integerPower(x, int(k))
		}
		return g.get(codeConstDiv, 1, g.integerPower(x, int(-k)))
	}
	if k == 0.5 {
		return g.get(codeSqrt, 0, x)
	}
	if k == -0.5 {
		return g.get(codeConstDiv, 1, g.get(codeSqrt, 0, x))
	}
	relative, step := 0.0, 0
	for _, e := range append([]float64{0.5, -0.5}, exponents...) {
		n, ok := stepFrom(e, k)
		if ok && (step == 0 || n < step) {
			relative, step = e, n
		}
	}
	if step == 0 {
		return g.get(codePowConst, k, x)
	}
	code := codeMul
	if k < 0 {
		code = codeDiv
	}
	return g.get(code, 0, g.power(x, relative, exponents), g.integerPower(x, step))
}

// stepFrom returns how many units k lies beyond e, away from zero and on the
// same side of it, if that is a small whole number.
func stepFrom(e, k float64) (int, bool) {
	d := math.Abs(k) - math.Abs(e)
	n := math.Round(d)
	// Exponents of derivatives were rounded when 1 was subtracted.
	near := math.Abs(d-n) <= 0x1p-51*math.Max(1, math.Abs(k))
	return int(n), e*k > 0 && near && n >= 1 && n <= maxStep && e != math.Trunc(e)
}

// integerPower lowers x^n, n >= 1, by squaring.
func (g *graph) integerPower(x int32, n int) int32 {
	switch {
	case n == 1:
		return x
	case n%2 == 0:
		h := g.integerPower(x, n/2)
		return g.get(codeMul, 0, h, h)
	}
	return g.get(codeMul, 0, g.integerPower(x, n-1), x)
}
