package expr

import "pihc/internal/kernel"

// Program evaluates several expressions at many points. It is immutable and
// may be shared; every goroutine needs its own Evaluator.
//
// Values by vectors differ from those of package math by rounding;
// see the bounds in internal/kernel. Points do not influence each other.
type Program struct {
	vars      []string
	used      []bool // whether vars[i] is read
	outputs   int
	constants []float64
	temps     int
	code      []instruction
}

// instruction sets slot dst from slots a, b, c and the number k. Slots are
// numbered: inputs, outputs, constants, temporaries.
type instruction struct {
	code         opcode
	dst, a, b, c int32
	k            float64
}

// Compile makes a program for outputs as functions of vars, in these orders.
// Values that outputs have in common are computed once: an expression and its
// derivatives belong in one program. The error is a *SyntaxError about a name
// that vars does not list. Compile panics if a name is listed twice.
func Compile(outputs []*Expr, vars []string) (*Program, error) {
	for _, e := range outputs {
		if err := e.Check(vars); err != nil {
			return nil, err
		}
	}
	g := newGraph(vars)
	if len(g.inputs) != len(vars) {
		panic("expr: Compile: a variable is listed twice")
	}
	simple := make([]*Expr, len(outputs))
	done, seen := make(map[*Expr]*Expr), make(map[*Expr]bool)
	for i, e := range outputs {
		simple[i] = rebuild(e, nil, done)
		g.findPowers(simple[i], seen)
	}
	roots := make([]int32, len(outputs))
	for i, e := range simple {
		roots[i] = g.visit(e)
	}
	return g.schedule(roots, vars), nil
}

// never is when a value is read last that nothing reads, and the slot of one that has none.
const never = -1

// lastReads is, for each value, the last value or, past them, output that reads it.
func (g *graph) lastReads(roots []int32) []int {
	last := make([]int, len(g.values))
	for i := range last {
		last[i] = never
	}
	for _, r := range roots {
		last[r] = len(g.values)
	}
	for n := len(g.values) - 1; n >= 0; n-- {
		if last[n] == never {
			continue
		}
		v := g.values[n]
		for _, a := range []int32{v.a, v.b, v.c} {
			if a >= 0 && last[a] == never {
				last[a] = n
			}
		}
	}
	return last
}

// schedule orders the values that roots need as instructions and gives each a
// slot. Values are already numbered after their arguments.
func (g *graph) schedule(roots []int32, vars []string) *Program {
	p := &Program{vars: append([]string(nil), vars...), used: make([]bool, len(vars)), outputs: len(roots)}
	last := g.lastReads(roots)
	slot := make([]int32, len(g.values))
	for i := range slot {
		slot[i] = never
	}
	// A computed root lives in its (first) output.
	for i, r := range roots {
		if c := g.values[r].code; c != codeInput && c != codeConst && slot[r] == never {
			slot[r] = int32(len(vars) + i)
		}
	}
	firstTemp := len(vars) + len(roots)
	operand := g.operands(last)
	for n, v := range g.values {
		if v.code == codeConst && last[n] != never && operand[n] {
			slot[n] = int32(firstTemp)
			firstTemp++
			p.constants = append(p.constants, v.k)
		}
	}
	var free []int32
	for n, v := range g.values {
		if last[n] == never || v.code == codeConst {
			continue
		}
		if v.code == codeInput {
			slot[n] = int32(v.k)
			p.used[int(v.k)] = true
			continue
		}
		in := instruction{code: v.code, k: v.k}
		for i, a := range []int32{v.a, v.b, v.c} {
			if a < 0 {
				continue
			}
			*[]*int32{&in.a, &in.b, &in.c}[i] = slot[a]
			// An operand read for the last time frees its slot, for this result already.
			if last[a] == n && int(slot[a]) >= firstTemp {
				free = append(free, slot[a])
				last[a] = never
			}
		}
		if slot[n] == never {
			if len(free) > 0 {
				slot[n] = free[len(free)-1]
				free = free[:len(free)-1]
			} else {
				slot[n] = int32(firstTemp + p.temps)
				p.temps++
			}
		}
		in.dst = slot[n]
		p.code = append(p.code, in)
	}
	for i, r := range roots {
		out := int32(len(vars) + i)
		switch v := g.values[r]; {
		case v.code == codeConst:
			p.code = append(p.code, instruction{code: codeFill, dst: out, k: v.k})
		case slot[r] != out:
			p.code = append(p.code, instruction{code: codeCopy, dst: out, a: slot[r]})
		}
	}
	return p
}

// operands tells which values an instruction reads.
func (g *graph) operands(last []int) []bool {
	read := make([]bool, len(g.values))
	for i, v := range g.values {
		for _, a := range []int32{v.a, v.b, v.c} {
			if last[i] >= 0 && a >= 0 {
				read[a] = true
			}
		}
	}
	return read
}

// Outputs is the number of expressions of the program.
func (p *Program) Outputs() int { return p.outputs }

// Len is the number of instructions of the program.
func (p *Program) Len() int { return len(p.code) }

// Evaluator returns a function that sets out[i][:n] to the outputs at the points whose
// variables are in[j][:n]. Variables that no output depends on may be nil. The outputs
// must not overlap each other or the inputs. It allocates nothing, panics if a slice is
// too short, and serves one caller at a time: it has the memory of the temporaries.
func (p *Program) Evaluator() func(n int, out, in [][]float64) {
	fixed := len(p.vars) + p.outputs
	own := len(p.constants) + p.temps
	slots, blocks := make([][]float64, fixed+own), make([]float64, own*kernel.BlockSize)
	for i, k := range p.constants {
		block := blocks[i*kernel.BlockSize : (i+1)*kernel.BlockSize]
		for j := range block {
			block[j] = k
		}
	}
	return func(n int, out, in [][]float64) {
		if len(in) != len(p.vars) || len(out) != p.outputs {
			panic("expr: Evaluator: wrong number of inputs or outputs")
		}
		for lo := 0; lo < n; lo += kernel.BlockSize {
			hi := min(lo+kernel.BlockSize, n)
			for i, used := range p.used {
				if used {
					slots[i] = in[i][lo:hi]
				}
			}
			for i := range out {
				slots[len(in)+i] = out[i][lo:hi]
			}
			for i := range own {
				at := i * kernel.BlockSize
				slots[fixed+i] = blocks[at : at+hi-lo]
			}
			for i := range p.code {
				p.code[i].run(slots)
			}
		}
		clear(slots[:fixed]) // keep no hold on the caller's memory
	}
}

func (in *instruction) run(slots [][]float64) {
	dst, a, b := slots[in.dst], slots[in.a], slots[in.b]
	switch do := &codes[in.code]; {
	case do.binary != nil:
		do.binary(dst, a, b)
	case do.unary != nil:
		do.unary(dst, a)
	case do.scalar != nil:
		do.scalar(dst, a, in.k)
	case in.code == codeWhere:
		kernel.Select64(dst, a, b, slots[in.c])
	case in.code == codeCopy:
		copy(dst, a)
	default: // codeFill
		for i := range dst {
			dst[i] = in.k
		}
	}
}

// each is f of every element.
func each(f func(float64) float64) func(dst, x []float64) {
	return func(dst, x []float64) {
		for i := range dst {
			dst[i] = f(x[i])
		}
	}
}
