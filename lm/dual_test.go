package lm

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// dual is a number with its derivatives by up to 20 unknowns: the suites state
// each formula once and get exact Jacobians.
type dual struct {
	v float64
	d [20]float64
}

func con(v float64) dual { return dual{v: v} }

// chain returns f(a) given f and f' at a.
func (a dual) chain(v, slope float64) dual {
	r := dual{v: v}
	for i, x := range a.d {
		if x != 0 {
			r.d[i] = slope * x
		}
	}
	return r
}

// combine returns the value v with derivatives fa·a' + fb·b'.
func combine(v, fa float64, a dual, fb float64, b dual) dual {
	r := dual{v: v}
	for i := range r.d {
		if a.d[i] != 0 {
			r.d[i] += fa * a.d[i]
		}
		if b.d[i] != 0 {
			r.d[i] += fb * b.d[i]
		}
	}
	return r
}

func (a dual) add(b dual) dual      { return combine(a.v+b.v, 1, a, 1, b) }
func (a dual) sub(b dual) dual      { return combine(a.v-b.v, 1, a, -1, b) }
func (a dual) mul(b dual) dual      { return combine(a.v*b.v, b.v, a, a.v, b) }
func (a dual) div(b dual) dual      { return combine(a.v/b.v, 1/b.v, a, -a.v/(b.v*b.v), b) }
func (a dual) plus(c float64) dual  { a.v += c; return a }
func (a dual) times(c float64) dual { return a.chain(c*a.v, c) }
func (a dual) neg() dual            { return a.times(-1) }
func (a dual) square() dual         { return a.chain(a.v*a.v, 2*a.v) }
func (a dual) power(c float64) dual { return a.chain(math.Pow(a.v, c), c*math.Pow(a.v, c-1)) }
func (a dual) exp() dual            { e := math.Exp(a.v); return a.chain(e, e) }
func (a dual) log() dual            { return a.chain(math.Log(a.v), 1/a.v) }
func (a dual) sqrt() dual           { s := math.Sqrt(a.v); return a.chain(s, 0.5/s) }
func (a dual) sin() dual            { return a.chain(math.Sin(a.v), math.Cos(a.v)) }
func (a dual) cos() dual            { return a.chain(math.Cos(a.v), -math.Sin(a.v)) }
func (a dual) atan() dual           { return a.chain(math.Atan(a.v), 1/(1+a.v*a.v)) }
func (a dual) abs() dual            { return a.chain(math.Abs(a.v), math.Copysign(1, a.v)) }
func (a dual) pow(b dual) dual {
	v := math.Pow(a.v, b.v)
	// The derivative by an exponent that is constant is never formed: log of a
	// negative base would make it NaN.
	return combine(v, b.v*math.Pow(a.v, b.v-1), a, v*math.Log(a.v), b)
}

// variables returns w as dual numbers, seeded for derivatives.
func variables(x []dual, w []float64) {
	for j, v := range w {
		x[j] = dual{v: v}
		x[j].d[j] = 1
	}
}

// dualProblem returns the dense problem of rows written in dual numbers:
// f writes len(r) residuals.
func dualProblem(rows, n int, f func(r, x []dual)) *Dense {
	r, x := make([]dual, rows), make([]dual, n)
	return NewDense(rows, n,
		func(out, w []float64) {
			variables(x, w)
			f(r, x)
			for i := range out {
				out[i] = r[i].v
			}
		},
		func(jac, w []float64) {
			variables(x, w)
			f(r, x)
			for i := range r {
				copy(jac[i*n:(i+1)*n], r[i].d[:n])
			}
		},
	)
}

// formula parses an expression in numbers, names, + - * / ^, parentheses and
// the functions exp, log, sqrt, sin, cos, atan into a function of the values
// of names.
func formula(src string, names map[string]int) (eval func(x []dual) dual, err error) {
	p := &formulaParser{src: src, names: names}
	defer func() {
		if e, ok := recover().(formulaError); ok {
			err = fmt.Errorf("%s: byte %d: %s", src, p.pos, string(e))
		}
	}()
	eval = p.sum()
	if p.pos != len(src) {
		panic(formulaError("unexpected rest"))
	}
	return eval, nil
}

type formulaError string

type formulaParser struct {
	src   string
	pos   int
	names map[string]int
}

type node = func(x []dual) dual

func (p *formulaParser) next(chars string) byte {
	if p.pos < len(p.src) && strings.IndexByte(chars, p.src[p.pos]) >= 0 {
		p.pos++
		return p.src[p.pos-1]
	}
	return 0
}

func (p *formulaParser) sum() node {
	left := p.product()
	for {
		l := left
		switch p.next("+-") {
		case '+':
			r := p.product()
			left = func(x []dual) dual { return l(x).add(r(x)) }
		case '-':
			r := p.product()
			left = func(x []dual) dual { return l(x).sub(r(x)) }
		default:
			return left
		}
	}
}

func (p *formulaParser) product() node {
	left := p.unary()
	for {
		l := left
		switch p.next("*/") {
		case '*':
			r := p.unary()
			left = func(x []dual) dual { return l(x).mul(r(x)) }
		case '/':
			r := p.unary()
			left = func(x []dual) dual { return l(x).div(r(x)) }
		default:
			return left
		}
	}
}

func (p *formulaParser) unary() node {
	if p.next("-") != 0 {
		f := p.unary()
		return func(x []dual) dual { return f(x).neg() }
	}
	base := p.atom()
	if p.next("^") == 0 {
		return base
	}
	start := p.pos
	exponent := p.unary()
	if c, err := strconv.ParseFloat(p.src[start:p.pos], 64); err == nil {
		return func(x []dual) dual { return base(x).power(c) }
	}
	return func(x []dual) dual { return base(x).pow(exponent(x)) }
}

var formulaFunctions = map[string]func(dual) dual{
	"exp": dual.exp, "log": dual.log, "sqrt": dual.sqrt, "sin": dual.sin, "cos": dual.cos, "atan": dual.atan,
}

func (p *formulaParser) atom() node {
	if p.next("(") != 0 {
		f := p.sum()
		if p.next(")") == 0 {
			panic(formulaError("want )"))
		}
		return f
	}
	start := p.pos
	for p.next("0123456789.") != 0 {
	}
	if p.pos > start {
		v, err := strconv.ParseFloat(p.src[start:p.pos], 64)
		if err != nil {
			panic(formulaError(err.Error()))
		}
		return func([]dual) dual { return con(v) }
	}
	for p.next("abcdefghijklmnopqrstuvwxyz0123456789") != 0 {
	}
	name := p.src[start:p.pos]
	if f, ok := formulaFunctions[name]; ok {
		if p.pos >= len(p.src) || p.src[p.pos] != '(' {
			panic(formulaError("want ("))
		}
		arg := p.atom()
		return func(x []dual) dual { return f(arg(x)) }
	}
	if name == "pi" {
		return func([]dual) dual { return con(math.Pi) }
	}
	i, ok := p.names[name]
	if !ok {
		panic(formulaError("unknown name " + strconv.Quote(name)))
	}
	return func(x []dual) dual { return x[i] }
}
