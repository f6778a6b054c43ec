package expr

import "math"

// simplify makes the operation o of simplified arguments, in a shorter or more
// canonical form where one is known: numbers are folded (unless the result is
// not finite) and collected at the left of products, neutral elements vanish,
// signs move outwards, and a where with a zero branch moves out of products
// and quotients, so that a derivative is selected, never multiplied by zero.
// Apart from rounding, and from 0·x = 0 and x - x = 0 for every x, the value
// is kept.
func simplify(o op, args ...*Expr) *Expr {
	if e := fold(o, args); e != nil {
		return e
	}
	x := args[0]
	switch o {
	case opAdd:
		return add(x, args[1])
	case opSub:
		return sub(x, args[1])
	case opMul:
		return mul(x, args[1])
	case opDiv:
		return div(x, args[1])
	case opPow:
		return pow(x, args[1])
	case opNeg:
		return neg(x)
	case opWhere:
		return where(x, args[1], args[2])
	case opMin, opMax:
		if Same(x, args[1]) {
			return x
		}
	case opAbs:
		if x.op == opAbs {
			return x
		}
		if x.op == opNeg {
			return made(opAbs, x.args[0])
		}
	}
	return made(o, append([]*Expr(nil), args...)...)
}

// made is the node of simplified arguments.
func made(o op, args ...*Expr) *Expr {
	e := node(o, args...)
	if e.op == o {
		e.done = true
		for _, a := range args {
			e.done = e.done && a.done
		}
	}
	return e
}

// fold evaluates an operation on numbers, or returns nil.
func fold(o op, args []*Expr) *Expr {
	var v [3]float64
	for i, a := range args {
		if a.op != opConst {
			return nil
		}
		v[i] = a.val
	}
	r := apply(o, v)
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return nil
	}
	if r == 0 {
		r = 0 // not -0
	}
	return Const(r)
}

func (e *Expr) is(v float64) bool { return e.op == opConst && e.val == v }

func add(x, y *Expr) *Expr {
	switch {
	case x.is(0):
		return y
	case y.is(0):
		return x
	case y.op == opConst && x.op != opConst:
		return simplify(opAdd, y, x) // numbers first
	case x.op == opConst && y.op == opAdd && y.args[0].op == opConst:
		if c := fold(opAdd, []*Expr{x, y.args[0]}); c != nil {
			return simplify(opAdd, c, y.args[1])
		}
	case y.op == opNeg:
		return simplify(opSub, x, y.args[0])
	case x.op == opNeg:
		return simplify(opSub, y, x.args[0])
	case sameGate(x, y):
		return simplify(opWhere, x.args[0], simplify(opAdd, x.args[1], y.args[1]), simplify(opAdd, x.args[2], y.args[2]))
	}
	return made(opAdd, x, y)
}

func sub(x, y *Expr) *Expr {
	switch {
	case y.is(0):
		return x
	case x.is(0):
		return simplify(opNeg, y)
	case Same(x, y):
		return Const(0)
	case y.op == opConst:
		return simplify(opAdd, Const(-y.val), x)
	case y.op == opNeg:
		return simplify(opAdd, x, y.args[0])
	case x.op == opNeg:
		return simplify(opNeg, simplify(opAdd, x.args[0], y))
	case sameGate(x, y):
		return simplify(opWhere, x.args[0], simplify(opSub, x.args[1], y.args[1]), simplify(opSub, x.args[2], y.args[2]))
	}
	return made(opSub, x, y)
}

func neg(x *Expr) *Expr {
	switch {
	case x.op == opNeg:
		return x.args[0]
	case x.op == opSub:
		return simplify(opSub, x.args[1], x.args[0])
	case x.op == opMul && x.args[0].op == opConst:
		return simplify(opMul, Const(-x.args[0].val), x.args[1])
	case gate(x):
		return simplify(opWhere, x.args[0], simplify(opNeg, x.args[1]), simplify(opNeg, x.args[2]))
	}
	return made(opNeg, x)
}

func mul(x, y *Expr) *Expr {
	switch {
	case x.is(0) || y.is(0):
		return Const(0)
	case x.is(1):
		return y
	case y.is(1):
		return x
	case x.is(-1):
		return simplify(opNeg, y)
	case y.op == opConst && x.op != opConst:
		return simplify(opMul, y, x) // numbers first
	case gate(x):
		return simplify(opWhere, x.args[0], simplify(opMul, x.args[1], y), simplify(opMul, x.args[2], y))
	case gate(y):
		return simplify(opWhere, y.args[0], simplify(opMul, x, y.args[1]), simplify(opMul, x, y.args[2]))
	case x.op == opNeg:
		return simplify(opNeg, simplify(opMul, x.args[0], y))
	case y.op == opNeg:
		return simplify(opNeg, simplify(opMul, x, y.args[0]))
	case x.op == opConst && y.op == opMul && y.args[0].op == opConst:
		if c := fold(opMul, []*Expr{x, y.args[0]}); c != nil {
			return simplify(opMul, c, y.args[1])
		}
	case x.op != opConst && x.op == opMul && x.args[0].op == opConst:
		return simplify(opMul, x.args[0], simplify(opMul, x.args[1], y))
	case x.op != opConst && y.op == opMul && y.args[0].op == opConst:
		return simplify(opMul, y.args[0], simplify(opMul, x, y.args[1]))
	}
	return made(opMul, x, y)
}

func div(x, y *Expr) *Expr {
	switch {
	case x.is(0):
		return Const(0)
	case y.is(1):
		return x
	case y.is(-1):
		return simplify(opNeg, x)
	case gate(x):
		return simplify(opWhere, x.args[0], simplify(opDiv, x.args[1], y), simplify(opDiv, x.args[2], y))
	case x.op == opNeg:
		return simplify(opNeg, simplify(opDiv, x.args[0], y))
	case y.op == opNeg:
		return simplify(opNeg, simplify(opDiv, x, y.args[0]))
	case x.op == opMul && x.args[0].op == opConst:
		return simplify(opMul, x.args[0], simplify(opDiv, x.args[1], y))
	}
	return made(opDiv, x, y)
}

func pow(x, y *Expr) *Expr {
	switch {
	case y.is(0):
		return Const(1)
	case y.is(1):
		return x
	}
	return made(opPow, x, y)
}

func where(c, x, y *Expr) *Expr {
	if c.op == opConst {
		if c.val != 0 {
			return x
		}
		return y
	}
	if x.op == opWhere && Same(x.args[0], c) {
		x = x.args[1]
	}
	if y.op == opWhere && Same(y.args[0], c) {
		y = y.args[2]
	}
	if Same(x, y) {
		return x
	}
	if e := made(opWhere, c, x, y); nested(e) <= maxNested {
		return e
	}
	return flat(c, x, y)
}

// maxNested bounds gates inside each other, so that the way of one out of a product has few steps.
const maxNested = 8

// nested counts the gates inside each other that x begins with, to one more than maxNested.
func nested(x *Expr) (n int) {
	for ; gate(x) && n <= maxNested; n++ {
		if x.args[1].is(0) {
			x = x.args[2]
		} else {
			x = x.args[1]
		}
	}
	return n
}

// flat is where(c, x, y), a gate with a gate in its other branch, as one gate with both conditions.
func flat(c, x, y *Expr) *Expr {
	zero, inner := Const(0), x
	if x.is(0) {
		inner = y
	}
	// both is the condition of the inner gate where its branch is selected, and else that of zero.
	both := func(otherwise *Expr) *Expr {
		if x.is(0) {
			return made(opWhere, c, otherwise, inner.args[0])
		}
		return made(opWhere, c, inner.args[0], otherwise)
	}
	if inner.args[2].is(0) {
		return made(opWhere, both(zero), inner.args[1], zero)
	}
	return made(opWhere, both(Const(1)), zero, inner.args[2])
}

// gate reports whether x is a where with a branch that is zero.
func gate(x *Expr) bool { return x.op == opWhere && (x.args[1].is(0) || x.args[2].is(0)) }

// sameGate reports whether x and y are zero in the same branch of the same condition.
func sameGate(x, y *Expr) bool {
	return x.op == opWhere && y.op == opWhere && Same(x.args[0], y.args[0]) &&
		(x.args[1].is(0) && y.args[1].is(0) || x.args[2].is(0) && y.args[2].is(0))
}
