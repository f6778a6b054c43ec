package expr

// A Step is one operation of a [Program], for those that evaluate it in another way:
// value Dst is Op of the values Args, of which there are as many as Op takes, and the
// number K. Values are numbered: the program's variables, its outputs, then others. A
// value may be set again once nothing reads what it was.
//
// Op is an operation of expressions by its name in PDE files or, for operators, add,
// sub, mul, div, pow, less, less_equal, equal, not_equal; or, with the number, const (K),
// add_const (x+K), const_sub (K-x), mul_const, div_const (x/K), const_div (K/x),
// pow_const (x^K), copy.
type Step struct {
	Op   string
	Dst  int
	Args []int
	K    float64
}

// stepNames are the operations by code, and how many values each takes.
var stepNames = [opcodeCount]struct {
	name  string
	arity int
}{
	codeAdd: {"add", 2}, codeSub: {"sub", 2}, codeMul: {"mul", 2}, codeDiv: {"div", 2}, codePow: {"pow", 2},
	codeLess: {"less", 2}, codeLessEqual: {"less_equal", 2}, codeEqual: {"equal", 2}, codeNotEqual: {"not_equal", 2},
	codeWhere: {"where", 3}, codeMin: {"min", 2}, codeMax: {"max", 2}, codeAbs: {"abs", 1}, codeExp: {"exp", 1},
	codeLog: {"log", 1}, codeSqrt: {"sqrt", 1}, codeSin: {"sin", 1}, codeCos: {"cos", 1}, codeTanh: {"tanh", 1},
	codeSinh: {"sinh", 1}, codeCosh: {"cosh", 1}, codeSign: {"sign", 1}, codeFloor: {"floor", 1},
	codeAddConst: {"add_const", 1}, codeConstSub: {"const_sub", 1}, codeMulConst: {"mul_const", 1}, codeDivConst: {"div_const", 1},
	codeConstDiv: {"const_div", 1}, codePowConst: {"pow_const", 1}, codeCopy: {"copy", 1}, codeFill: {"const", 0},
}

// Steps returns the program's operations in the order in which they are done.
func (p *Program) Steps() []Step {
	var steps []Step
	for i, k := range p.constants {
		steps = append(steps, Step{Op: "const", Dst: len(p.vars) + p.outputs + i, K: k})
	}
	for _, in := range p.code {
		s := Step{Op: stepNames[in.code].name, Dst: int(in.dst), K: in.k}
		for _, a := range []int32{in.a, in.b, in.c}[:stepNames[in.code].arity] {
			s.Args = append(s.Args, int(a))
		}
		steps = append(steps, s)
	}
	return steps
}
