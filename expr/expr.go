// Package expr is the language of pointwise expressions in PDE files: parse, differentiate, simplify, compile.
package expr

import (
	"math"
	"slices"
)

// Expr is an immutable expression over named real variables. Parse, Const and
// Variable make expressions; Diff and Substitute return new, simplified ones. All
// methods may be called from several goroutines.
//
// Values are float64. A comparison is 0 or 1. where(c, a, b) is a where c is
// not 0 and b where it is: it selects, in values and in derivatives alike, so
// what the other branch would give (NaN included) never reaches the result.
// min and max are NaN when an argument is.
type Expr struct {
	op   op
	val  float64 // opConst
	name string  // opVar
	args []*Expr
	hash uint64 // of the structure: op, val, name and the hashes of args
	done bool   // made by simplify, as are all parts, or a leaf

	// Where a parsed variable stands, for errors: rune column pos of src.
	src string
	pos int
}

type op uint8

const (
	opConst op = iota
	opVar
	opAdd
	opSub
	opMul
	opDiv
	opPow
	opNeg
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opEqual
	opNotEqual
	opWhere
	opMin
	opMax
	opAbs
	opExp
	opLog
	opSqrt
	opSin
	opCos
	opTanh
	opSinh // the functions from here on are no reserved names
	opCosh
	opSign
	opFloor
	opCount
)

// opInfo gives how an operation is written, a function by its name and number of
// arguments, an operator by its symbol and binding strength, and what it means: compiled
// programs are tested against that.
type opInfo struct {
	text   string
	arity  int
	level  int // of operators; functions, names and numbers are atoms
	unary  func(x float64) float64
	binary func(x, y float64) float64
}

// Binding strengths, weakest first. Unary minus binds between * and ^.
const (
	levelCompare = iota + 1
	levelSum
	levelProduct
	levelUnary
	levelPower
	levelAtom
)

var ops = [opCount]opInfo{
	opConst:        {level: levelAtom},
	opVar:          {level: levelAtom},
	opAdd:          {text: "+", arity: 2, level: levelSum, binary: func(x, y float64) float64 { return x + y }},
	opSub:          {text: "-", arity: 2, level: levelSum, binary: func(x, y float64) float64 { return x - y }},
	opMul:          {text: "*", arity: 2, level: levelProduct, binary: func(x, y float64) float64 { return x * y }},
	opDiv:          {text: "/", arity: 2, level: levelProduct, binary: func(x, y float64) float64 { return x / y }},
	opPow:          {text: "^", arity: 2, level: levelPower, binary: math.Pow},
	opNeg:          {text: "-", arity: 1, level: levelUnary, unary: func(x float64) float64 { return -x }},
	opLess:         {text: "<", arity: 2, level: levelCompare, binary: func(x, y float64) float64 { return truth(x < y) }},
	opLessEqual:    {text: "<=", arity: 2, level: levelCompare, binary: func(x, y float64) float64 { return truth(x <= y) }},
	opGreater:      {text: ">", arity: 2, level: levelCompare, binary: func(x, y float64) float64 { return truth(x > y) }},
	opGreaterEqual: {text: ">=", arity: 2, level: levelCompare, binary: func(x, y float64) float64 { return truth(x >= y) }},
	opEqual:        {text: "==", arity: 2, level: levelCompare, binary: func(x, y float64) float64 { return truth(x == y) }},
	opNotEqual:     {text: "!=", arity: 2, level: levelCompare, binary: func(x, y float64) float64 { return truth(x != y) }},
	opWhere:        {text: "where", arity: 3, level: levelAtom},
	opMin:          {text: "min", arity: 2, level: levelAtom, binary: func(x, y float64) float64 { return min(x, y) }},
	opMax:          {text: "max", arity: 2, level: levelAtom, binary: func(x, y float64) float64 { return max(x, y) }},
	opAbs:          {text: "abs", arity: 1, level: levelAtom, unary: math.Abs},
	opExp:          {text: "exp", arity: 1, level: levelAtom, unary: math.Exp},
	opLog:          {text: "log", arity: 1, level: levelAtom, unary: math.Log},
	opSqrt:         {text: "sqrt", arity: 1, level: levelAtom, unary: math.Sqrt},
	opSin:          {text: "sin", arity: 1, level: levelAtom, unary: math.Sin},
	opCos:          {text: "cos", arity: 1, level: levelAtom, unary: math.Cos},
	opTanh:         {text: "tanh", arity: 1, level: levelAtom, unary: math.Tanh},
	opSinh:         {text: "sinh", arity: 1, level: levelAtom, unary: math.Sinh},
	opCosh:         {text: "cosh", arity: 1, level: levelAtom, unary: math.Cosh},
	opSign:         {text: "sign", arity: 1, level: levelAtom, unary: sign},
	opFloor:        {text: "floor", arity: 1, level: levelAtom, unary: math.Floor},
}

// functions maps the name of a function to its operation.
var functions = func() map[string]op {
	m := make(map[string]op)
	for o := opWhere; o < opCount; o++ {
		m[ops[o].text] = o
	}
	return m
}()

// Const returns the expression of a finite number. It panics otherwise: an
// expression can be written down and read back, NaN and infinities cannot.
func Const(v float64) *Expr {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		panic("expr: Const: the number is not finite")
	}
	return &Expr{op: opConst, val: v, hash: mix(uint64(opConst), math.Float64bits(v)), done: true}
}

func variable(name, src string, pos int) *Expr {
	h := uint64(opVar)
	for i := range len(name) {
		h = mix(h, uint64(name[i]))
	}
	return &Expr{op: opVar, name: name, hash: h, src: src, pos: pos, done: true}
}

// node makes an operation as it stands, except that the negative of a number
// is a number: that keeps String and Parse inverse to each other.
func node(o op, args ...*Expr) *Expr {
	if o == opNeg && args[0].op == opConst {
		return Const(-args[0].val)
	}
	h := uint64(o)
	for _, a := range args {
		h = mix(h, a.hash)
	}
	return &Expr{op: o, args: args, hash: h}
}

func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// Same reports whether a and b are the same tree.
func Same(a, b *Expr) bool { return new(comparison).same(a, b) }

// A comparison remembers what it found equal, once it has become long: parts may be shared.
type comparison struct {
	steps int
	equal map[[2]*Expr]bool
}

func (c *comparison) same(a, b *Expr) bool {
	if a == b {
		return true
	}
	if a.hash != b.hash || a.op != b.op || a.name != b.name || len(a.args) != len(b.args) ||
		math.Float64bits(a.val) != math.Float64bits(b.val) {
		return false
	}
	if len(a.args) == 0 {
		return true
	}
	if c.steps++; c.steps > 64 {
		if c.equal == nil {
			c.equal = make(map[[2]*Expr]bool)
		}
		if c.equal[[2]*Expr{a, b}] {
			return true
		}
	}
	for i := range a.args {
		if !c.same(a.args[i], b.args[i]) {
			return false
		}
	}
	if c.equal != nil {
		c.equal[[2]*Expr{a, b}] = true
	}
	return true
}

// Walk calls visit once for every distinct node that is not in seen, arguments first.
// Definitions and derivatives share nodes, so a walk without the memory could take exponential time.
func (e *Expr) Walk(seen map[*Expr]bool, visit func(*Expr)) {
	if seen[e] {
		return
	}
	seen[e] = true
	for _, a := range e.args {
		a.Walk(seen, visit)
	}
	visit(e)
}

// Variables returns the names in e, sorted, each once.
func (e *Expr) Variables() []string {
	var names []string
	e.Walk(make(map[*Expr]bool), func(x *Expr) {
		if x.op == opVar {
			names = append(names, x.name)
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// DependsOn reports whether the variable appears in e.
func (e *Expr) DependsOn(name string) bool {
	return slices.Contains(e.Variables(), name)
}

// Constant returns the value of an expression without variables, and whether
// it has none. The value can be infinite or NaN, as that of 1/0 is.
func (e *Expr) Constant() (float64, bool) {
	if len(e.Variables()) > 0 {
		return math.NaN(), false
	}
	return e.Value(nil), true
}

// Unsquared returns x where e is x², or x to another even power, and else e itself. It has the
// same zeros, and the units of x.
func (e *Expr) Unsquared() *Expr {
	for e.op == opPow && e.args[1].op == opConst && e.args[1].val > 0 && math.Mod(e.args[1].val, 2) == 0 {
		e = e.args[0]
	}
	return e
}

// Value computes with the math package; at gives the variables.
func (e *Expr) Value(at map[string]float64) float64 {
	return e.value(at, make(map[*Expr]float64))
}

// value is Value with the results so far.
func (e *Expr) value(at map[string]float64, done map[*Expr]float64) float64 {
	switch e.op {
	case opConst:
		return e.val
	case opVar:
		return at[e.name]
	}
	if r, ok := done[e]; ok {
		return r
	}
	var v [3]float64
	for i, a := range e.args {
		v[i] = a.value(at, done)
	}
	r := apply(e.op, v)
	done[e] = r
	return r
}

// apply evaluates an operation.
func apply(o op, v [3]float64) float64 {
	switch {
	case ops[o].unary != nil:
		return ops[o].unary(v[0])
	case ops[o].binary != nil:
		return ops[o].binary(v[0], v[1])
	case v[0] != 0: // opWhere
		return v[1]
	}
	return v[2]
}

// sign is -1, 0 or 1, and NaN of NaN.
func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Substitute replaces variables by expressions, all at once (an inserted
// expression is not searched again), and simplifies.
func (e *Expr) Substitute(by map[string]*Expr) *Expr {
	simple := make(map[string]*Expr)
	for _, name := range e.Variables() {
		if x, ok := by[name]; ok {
			simple[name] = rebuild(x, nil, make(map[*Expr]*Expr))
		}
	}
	return rebuild(e, simple, make(map[*Expr]*Expr))
}

// rebuild is Substitute with the results so far. What is simplified and has nothing to replace stays itself, so
// that definitions of definitions share their parts.
func rebuild(e *Expr, by map[string]*Expr, done map[*Expr]*Expr) *Expr {
	if e.done && len(by) == 0 {
		return e
	}
	if r, ok := done[e]; ok {
		return r
	}
	var r *Expr
	switch e.op {
	case opConst:
		r = e
	case opVar:
		r = e
		if x, ok := by[e.name]; ok {
			r = x
		}
	default:
		var args [3]*Expr
		same := e.done
		for i, a := range e.args {
			args[i] = rebuild(a, by, done)
			same = same && args[i] == a
		}
		if r = e; !same {
			r = simplify(e.op, args[:len(e.args)]...)
		}
	}
	done[e] = r
	return r
}
