package expr

import (
	"math"

	"pihc/internal/kernel"
)

// codes says of every instruction what Steps calls it, how many values it takes, and, but for where, copy and const, what it does.
var codes = [opcodeCount]struct {
	name   string
	arity  int
	unary  func(dst, x []float64)
	binary func(dst, x, y []float64)
	scalar func(dst, x []float64, k float64)
}{
	codeAdd:       {name: "add", arity: 2, binary: kernel.Add64},
	codeSub:       {name: "sub", arity: 2, binary: kernel.Sub64},
	codeMul:       {name: "mul", arity: 2, binary: kernel.Mul64},
	codeDiv:       {name: "div", arity: 2, binary: kernel.Div64},
	codePow:       {name: "pow", arity: 2, binary: kernel.Pow64},
	codeLess:      {name: "less", arity: 2, binary: kernel.Less64},
	codeLessEqual: {name: "less_equal", arity: 2, binary: kernel.LessEqual64},
	codeEqual:     {name: "equal", arity: 2, binary: kernel.Equal64},
	codeNotEqual:  {name: "not_equal", arity: 2, binary: kernel.NotEqual64},
	codeMin:       {name: "min", arity: 2, binary: kernel.Min64},
	codeMax:       {name: "max", arity: 2, binary: kernel.Max64},
	codeAbs:       {name: "abs", arity: 1, unary: kernel.Abs64},
	codeExp:       {name: "exp", arity: 1, unary: kernel.Exp64},
	codeLog:       {name: "log", arity: 1, unary: kernel.Log64},
	codeSqrt:      {name: "sqrt", arity: 1, unary: kernel.Sqrt64},
	codeSin:       {name: "sin", arity: 1, unary: kernel.Sin64},
	codeCos:       {name: "cos", arity: 1, unary: kernel.Cos64},
	codeTanh:      {name: "tanh", arity: 1, unary: kernel.Tanh64},
	codeSinh:      {name: "sinh", arity: 1, unary: each(math.Sinh)},
	codeCosh:      {name: "cosh", arity: 1, unary: each(math.Cosh)},
	codeSign:      {name: "sign", arity: 1, unary: each(sign)},
	codeFloor:     {name: "floor", arity: 1, unary: each(math.Floor)},
	codeAddConst:  {name: "add_const", arity: 1, scalar: kernel.AddScalar64},
	codeConstSub:  {name: "const_sub", arity: 1, scalar: func(dst, x []float64, k float64) { kernel.SubFromScalar64(dst, k, x) }},
	codeMulConst:  {name: "mul_const", arity: 1, scalar: func(dst, x []float64, k float64) { kernel.MulScalar64(dst, k, x) }},
	codeDivConst:  {name: "div_const", arity: 1, scalar: kernel.DivScalar64},
	codeConstDiv:  {name: "const_div", arity: 1, scalar: func(dst, x []float64, k float64) { kernel.DivIntoScalar64(dst, k, x) }},
	codePowConst:  {name: "pow_const", arity: 1, scalar: kernel.PowScalar64},
	codeWhere:     {name: "where", arity: 3},
	codeCopy:      {name: "copy", arity: 1},
	codeFill:      {name: "const"},
}

// Steps visits the program's operations in the order in which they are done, for those
// that evaluate it in another way: value dst is op of the values args, of which there are
// as many as op takes, and the number k. Values are numbered: the program's variables, its
// outputs, then others. A value may be set again once nothing reads what it was.
//
// op is an operation of expressions by its name in PDE files or, for operators, add,
// sub, mul, div, pow, less, less_equal, equal, not_equal; or, with the number, const (k),
// add_const (x+k), const_sub (k-x), mul_const, div_const (x/k), const_div (k/x),
// pow_const (x^k), copy.
func (p *Program) Steps(visit func(op string, dst int, args []int, k float64)) {
	for i, k := range p.constants {
		visit("const", len(p.vars)+p.outputs+i, nil, k)
	}
	for _, in := range p.code {
		args := []int{int(in.a), int(in.b), int(in.c)}
		visit(codes[in.code].name, int(in.dst), args[:codes[in.code].arity], in.k)
	}
}
