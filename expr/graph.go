package expr

import "math"

// opcode is an instruction of a compiled program. Those below codeConst are
// the operations of expressions; the rest exist only in programs.
type opcode uint8

const (
	codeInput opcode = iota // k = index of the variable
	codeConst               // k = value
	codeAdd
	codeSub
	codeMul
	codeDiv
	codePow
	codeLess
	codeLessEqual
	codeEqual
	codeNotEqual
	codeWhere
	codeMin
	codeMax
	codeAbs
	codeExp
	codeLog
	codeSqrt
	codeSin
	codeCos
	codeTanh
	codeSinh
	codeCosh
	codeSign
	codeFloor
	codeAddConst // a + k
	codeConstSub // k - a
	codeMulConst // k·a
	codeDivConst // a/k
	codeConstDiv // k/a
	codePowConst // a^k
	codeCopy     // a
	codeFill     // k
	opcodeCount
)

// value is a node of the graph: code applied to earlier nodes.
type value struct {
	code    opcode
	a, b, c int32 // node numbers, -1 where there is none
	k       float64
}

// graph numbers the distinct values of a set of expressions: equal
// sub-expressions, whatever output they come from, get one number.
type graph struct {
	values []value
	number map[valueKey]int32
	inputs map[string]int
	done   map[*Expr]int32
	powers map[uint64][]*powers // by the hash of the base
}

type valueKey struct {
	code    opcode
	a, b, c int32
	k       uint64
}

func newGraph(vars []string) *graph {
	g := &graph{
		number: make(map[valueKey]int32),
		inputs: make(map[string]int),
		done:   make(map[*Expr]int32),
		powers: make(map[uint64][]*powers),
	}
	for i, name := range vars {
		g.inputs[name] = i
	}
	return g
}

// get returns the number of a value, a new one if it was not there.
func (g *graph) get(code opcode, k float64, args ...int32) int32 {
	v := value{code: code, a: -1, b: -1, c: -1, k: k}
	for i, p := range []*int32{&v.a, &v.b, &v.c}[:len(args)] {
		*p = args[i]
	}
	switch code {
	case codeAdd, codeMul, codeEqual, codeNotEqual, codeMin, codeMax:
		if v.a > v.b {
			v.a, v.b = v.b, v.a
		}
	}
	key := valueKey{v.code, v.a, v.b, v.c, math.Float64bits(k)}
	n, ok := g.number[key]
	if !ok {
		n = int32(len(g.values))
		g.values = append(g.values, v)
		g.number[key] = n
	}
	return n
}

func (g *graph) constant(n int32) (float64, bool) {
	return g.values[n].k, g.values[n].code == codeConst
}

// plain maps the operations that are instructions as they stand.
var plain = map[op]opcode{
	opMin: codeMin, opMax: codeMax, opAbs: codeAbs, opExp: codeExp, opLog: codeLog, opSqrt: codeSqrt,
	opSin: codeSin, opCos: codeCos, opTanh: codeTanh, opSinh: codeSinh, opCosh: codeCosh, opSign: codeSign, opFloor: codeFloor, opLess: codeLess, opLessEqual: codeLessEqual,
	opEqual: codeEqual, opNotEqual: codeNotEqual, opWhere: codeWhere,
}

// visit numbers e and everything below it, arguments first.
func (g *graph) visit(e *Expr) int32 {
	if n, ok := g.done[e]; ok {
		return n
	}
	var args [3]int32
	for i, a := range e.args {
		args[i] = g.visit(a)
	}
	n := g.lower(e, args)
	g.done[e] = n
	return n
}

func (g *graph) lower(e *Expr, args [3]int32) int32 {
	x, y := args[0], args[1]
	switch e.op {
	case opConst:
		return g.get(codeConst, e.val)
	case opVar:
		return g.get(codeInput, float64(g.inputs[e.name]))
	case opNeg:
		return g.get(codeMulConst, -1, x)
	case opGreater:
		return g.get(codeLess, 0, y, x)
	case opGreaterEqual:
		return g.get(codeLessEqual, 0, y, x)
	case opAdd, opSub, opMul, opDiv:
		return g.arithmetic(e.op, x, y)
	case opPow:
		if k := e.args[1]; k.op == opConst {
			return g.power(x, k.val, g.powersOf(e.args[0]).exponents)
		}
		return g.get(codePow, 0, x, y)
	}
	return g.get(plain[e.op], 0, args[:len(e.args)]...)
}

// forms are the instructions of an arithmetic operation: of two values, and with a constant as
// the first or second of them.
var forms = map[op]struct{ values, first, second opcode }{
	opAdd: {codeAdd, codeAddConst, codeAddConst},
	opSub: {codeSub, codeConstSub, codeAddConst}, // of its negative
	opMul: {codeMul, codeMulConst, codeMulConst},
	opDiv: {codeDiv, codeConstDiv, codeDivConst},
}

// arithmetic uses the forms with a constant operand. The rewritings are exact.
func (g *graph) arithmetic(o op, x, y int32) int32 {
	form := forms[o]
	if p, ok := g.constant(x); ok {
		return g.get(form.first, p, y)
	}
	q, ok := g.constant(y)
	if !ok {
		return g.get(form.values, 0, x, y)
	}
	switch f, _ := math.Frexp(q); {
	case o == opSub:
		q = -q
	case o == opDiv && math.Abs(f) == 0.5 && !math.IsInf(1/q, 0) && 1/(1/q) == q:
		return g.get(codeMulConst, 1/q, x) // a power of two
	}
	return g.get(form.second, q, x)
}
