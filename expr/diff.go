package expr

import "slices"

// Diff returns the simplified derivative of e by a variable. A comparison has
// derivative 0; where, min and max have that of the branch they select (min
// and max that of the first argument on a tie); abs has 0 at 0; sign and floor
// have 0.
func (e *Expr) Diff(name string) *Expr {
	d := differ{name, make(map[*Expr]*Expr)}
	return d.diff(rebuild(e, nil, make(map[*Expr]*Expr)))
}

type differ struct {
	name string
	done map[*Expr]*Expr
}

func (d *differ) diff(e *Expr) *Expr {
	r, ok := d.done[e]
	if !ok {
		r = d.rule(e)
		d.done[e] = r
	}
	return r
}

func (d *differ) rule(e *Expr) *Expr {
	switch e.op {
	case opConst:
		return Const(0)
	case opVar:
		return Const(truth(e.name == d.name))
	}
	if e.op >= opLess && e.op <= opNotEqual {
		return Const(0)
	}
	x := e.args[0]
	if e.op == opWhere {
		return simplify(opWhere, x, d.diff(e.args[1]), d.diff(e.args[2]))
	}
	dx := d.diff(x)
	if len(e.args) == 1 {
		if dx.is(0) {
			return dx
		}
		return simplify(opMul, slope(e, x), dx)
	}
	y := e.args[1]
	dy := d.diff(y)
	if dx.is(0) && dy.is(0) {
		return dx
	}
	switch e.op {
	case opAdd, opSub:
		return simplify(e.op, dx, dy)
	case opMul:
		return simplify(opAdd, simplify(opMul, dx, y), simplify(opMul, x, dy))
	case opDiv:
		// x'/y - (x/y)(y'/y): the quotient and 1/y are shared with the value.
		return simplify(opSub, simplify(opDiv, dx, y), simplify(opMul, e, simplify(opDiv, dy, y)))
	case opPow:
		return diffPow(e, x, y, dx, dy)
	case opMin:
		return simplify(opWhere, simplify(opLessEqual, x, y), dx, dy)
	case opMax:
		return simplify(opWhere, simplify(opGreaterEqual, x, y), dx, dy)
	}
	panic("expr: Diff: not an operation")
}

// slope is the derivative of the function e(x) by x.
func slope(e, x *Expr) *Expr {
	switch e.op {
	case opNeg:
		return Const(-1)
	case opAbs:
		return simplify(opWhere, simplify(opLess, x, Const(0)), Const(-1), simplify(opGreater, x, Const(0)))
	case opExp:
		return e
	case opLog:
		return simplify(opDiv, Const(1), x)
	case opSqrt:
		return simplify(opDiv, Const(0.5), e)
	case opSin:
		return simplify(opCos, x)
	case opCos:
		return simplify(opNeg, simplify(opSin, x))
	case opTanh:
		return simplify(opSub, Const(1), simplify(opMul, e, e))
	case opSinh:
		return simplify(opCosh, x)
	case opCosh:
		return simplify(opSinh, x)
	case opSign, opFloor:
		return Const(0)
	}
	panic("expr: Diff: not a function")
}

// diffPow: (x^y)' = y x^(y-1) x' + x^y log(x) y'. The first term alone, for a
// constant exponent, also holds at x <= 0; Compile makes x^(y-1) from x^y.
func diffPow(e, x, y, dx, dy *Expr) *Expr {
	first := simplify(opMul, simplify(opMul, y, simplify(opPow, x, simplify(opSub, y, Const(1)))), dx)
	if dy.is(0) {
		return first
	}
	return simplify(opAdd, first, simplify(opMul, simplify(opMul, e, simplify(opLog, x)), dy))
}

// Jumps reports whether a part of e whose derivatives are all zero, a comparison or a sign, depends on names.
func (e *Expr) Jumps(names []string) bool {
	found, depends := false, make(map[*Expr]bool)
	e.Walk(make(map[*Expr]bool), func(x *Expr) {
		of := func(a *Expr) bool { return depends[a] }
		depends[x] = slices.Contains(names, x.name) || slices.ContainsFunc(x.args, of)
		switch x.op {
		case opLess, opLessEqual, opGreater, opGreaterEqual, opEqual, opNotEqual, opSign, opFloor:
			found = found || depends[x]
		case opWhere:
			found = found || depends[x.args[0]]
		}
	})
	return found
}
