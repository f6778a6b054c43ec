package expr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pihc/internal/check"
	"pihc/internal/kernel"

	"pgregory.net/rapid"
)

// expression draws a tree over the variables of randomVariables.
func expression(depth int) *rapid.Generator[*Expr] {
	return rapid.Custom(func(t *rapid.T) *Expr {
		if depth == 0 || rapid.IntRange(0, 5).Draw(t, "leaf") == 0 {
			if rapid.Bool().Draw(t, "variable") {
				return variable(rapid.SampledFrom(randomVariables).Draw(t, "name"), "", 0)
			}
			return Const(rapid.SampledFrom([]float64{0, 1, -1, 2, 0.5, -0.5, 3, -2, 1.5, 0.874, -0.126, 1e-6, 100}).Draw(t, "number"))
		}
		o := op(rapid.IntRange(int(opAdd), int(opCount)-1).Draw(t, "op"))
		args := make([]*Expr, ops[o].arity)
		for i := range args {
			args[i] = expression(depth-1).Draw(t, "argument")
		}
		return node(o, args...)
	})
}

var randomVariables = []string{"u", "u_t", "x"}

// bounded is a value with a bound on the rounding error of any evaluation order
// the compiler may choose; uncertain once a comparison may go either way or a
// function leaves its domain within the bound.
type bounded struct {
	v, err    float64
	uncertain bool
}

// evaluate walks the tree with the bound.
func evaluate(e *Expr, at map[string]float64) bounded {
	switch e.op {
	case opConst:
		return bounded{v: e.val}
	case opVar:
		return bounded{v: at[e.name]}
	}
	var a [3]bounded
	var v [3]float64
	r := bounded{}
	for i, x := range e.args {
		a[i] = evaluate(x, at)
		v[i] = a[i].v
		// A simplified tree may lack an infinite or undefined part altogether.
		r.uncertain = r.uncertain || a[i].uncertain || math.IsNaN(v[i]) || math.Abs(v[i]) > 1e100 || v[i] != 0 && math.Abs(v[i]) < 1e-100
	}
	r.v = apply(e.op, v)
	x, y, ex, ey := math.Abs(v[0]), math.Abs(v[1]), a[0].err, a[1].err
	switch e.op {
	case opAdd, opSub:
		r.err = ex + ey + 1e-15*(x+y)
	case opMul:
		r.err = ex*(y+ey) + ey*x
	case opDiv:
		r.uncertain = r.uncertain || y <= 4*ey
		r.err = ex/(y-ey) + ey*x/(y*(y-ey))
	case opPow:
		r.uncertain = r.uncertain || ey > 0 || x <= 4*ex && ex > 0 || x == 0 || v[0] < 0
		l := math.Abs(math.Log(x))
		r.err = math.Abs(r.v) * (y*ex/(x-ex) + 1e-14*(1+y*l+y)) * 2
	case opNeg, opAbs, opMin, opMax:
		r.err = max(ex, ey)
	case opLess, opLessEqual, opGreater, opGreaterEqual, opEqual, opNotEqual:
		r.uncertain = r.uncertain || ex+ey > 0 && math.Abs(v[0]-v[1]) <= ex+ey+1e-14*(x+y)
	case opWhere:
		r.uncertain = a[0].uncertain || x <= ex && ex > 0
		chosen := a[2]
		if v[0] != 0 {
			chosen = a[1]
		}
		r.uncertain = r.uncertain || chosen.uncertain
		r.err = chosen.err
	case opExp:
		r.err = math.Abs(r.v) * math.Expm1(ex)
	case opLog:
		r.uncertain = r.uncertain || v[0] <= 4*ex
		r.err = ex / (x - ex)
	case opSqrt:
		r.uncertain = r.uncertain || v[0] <= 4*ex && ex > 0
		r.err = ex / math.Sqrt(x-ex)
	case opSin, opCos:
		r.uncertain = r.uncertain || x > 1e6
		r.err = ex + 1e-15
	case opTanh:
		r.err = ex
	case opSinh, opCosh:
		r.uncertain = r.uncertain || x > 200
		r.err = ex * math.Cosh(x+ex)
	case opSign:
		r.uncertain = r.uncertain || ex > 0 && x <= ex
	case opFloor:
		r.uncertain = r.uncertain || ex > 0 && math.Floor(v[0]-ex) != math.Floor(v[0]+ex)
	}
	r.err += 2e-15 * math.Abs(r.v)
	r.uncertain = r.uncertain || math.IsNaN(r.v) || math.IsInf(r.v, 0) || math.IsNaN(r.err) || math.IsInf(r.err, 0)
	return r
}

// A compiled program agrees with a walk over the tree as written, within the
// rounding the walk bounds, at every width; an expression and its simplified
// form and derivatives in one program do not disturb each other.
func TestProgramMatchesTree(t *testing.T) {
	compared := 0
	check.Widths(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			es := rapid.SliceOfN(expression(4), 1, 4).Draw(t, "outputs")
			for _, e := range es[:1] {
				es = append(es, e.Diff("u"), e.Substitute(map[string]*Expr{"x": variable("x", "", 0)}))
			}
			p, err := Compile(es, randomVariables)
			if err != nil {
				t.Fatal(err)
			}
			n := rapid.SampledFrom([]int{0, 1, 7, 8, 33, 256, 257, 600}).Draw(t, "points")
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			in := make([][]float64, len(randomVariables))
			for j := range in {
				in[j] = make([]float64, n)
				for i := range in[j] {
					in[j][i] = rapidValue(rng)
				}
			}
			out := make([][]float64, len(es))
			for j := range out {
				out[j] = make([]float64, n)
			}
			p.Evaluator()(n, out, in)
			for i := 0; i < n; i += 1 + n/20 {
				at := map[string]float64{}
				for j, name := range randomVariables {
					at[name] = in[j][i]
				}
				for j, e := range es {
					want := evaluate(e, at)
					if want.uncertain {
						continue
					}
					compared++
					if !(math.Abs(out[j][i]-want.v) <= want.err) {
						t.Fatalf("%s at %v: %v, tree gives %v ± %.2g\n%s", e, at, out[j][i], want.v, want.err, p)
					}
				}
			}
		})
	})
	least := 1000
	if testing.Short() { // rapid draws a fifth of its cases
		least /= 5
	}
	if compared < least {
		t.Errorf("only %d values were certain enough to compare", compared)
	}
}

func rapidValue(rng *rand.Rand) float64 {
	switch rng.IntN(8) {
	case 0:
		return 0
	case 1:
		return -rng.Float64()
	case 2:
		return math.Exp2(20 * rng.NormFloat64())
	}
	return 0.1 + 2*rng.Float64()
}

func TestStringRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := expression(5).Draw(t, "expression")
		for _, x := range []*Expr{e, e.Diff("u")} {
			back, err := Parse(x.String())
			if err != nil {
				t.Fatalf("%s: %v", x, err)
			}
			if !Same(back, x) {
				t.Fatalf("%s reads back as %s", x, back)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, src := range append(derivativeCases, "-2^-x", "μ*(1", "1e-6", "where(a<b,-c,d)") {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		e, err := Parse(src)
		if err != nil {
			bad, ok := err.(*SyntaxError)
			if !ok || bad.Pos < 0 || bad.Pos > len([]rune(src)) || bad.Msg == "" {
				t.Fatalf("%q: %#v", src, err)
			}
			return
		}
		back, err := Parse(e.String())
		if err != nil || !Same(back, e) {
			t.Fatalf("%q prints as %q: %v", src, e, err)
		}
	})
}

// retardation is diffusion-sorption's F and its first (and second) partials.
func retardation(t testing.TB, second bool) (*Program, []string) {
	f := mustParse(t, "u_t - D/(1 + (1 - phi)/phi*rho_s*k*n_f*(where(u > 0, u, 0) + 1e-6)^(n_f - 1))*u_xx").Substitute(map[string]*Expr{
		"D": Const(5e-4), "phi": Const(0.29), "rho_s": Const(2880), "k": Const(3.5e-4), "n_f": Const(0.874),
	})
	vars := []string{"u", "u_t", "u_xx"}
	outputs := []*Expr{f}
	for _, v := range vars {
		outputs = append(outputs, f.Diff(v))
	}
	if second {
		for i, v := range vars {
			for _, w := range vars[i:] {
				outputs = append(outputs, f.Diff(v).Diff(w))
			}
		}
	}
	p, err := Compile(outputs, vars)
	if err != nil {
		t.Fatal(err)
	}
	return p, vars
}

func count(p *Program, code opcode) int {
	n := 0
	for _, in := range p.code {
		if in.code == code {
			n++
		}
	}
	return n
}

// One power, one reciprocal of R and one condition serve the value and all
// first and second partials.
func TestSharing(t *testing.T) {
	p, _ := retardation(t, true)
	if count(p, codePowConst) != 1 || count(p, codeLess) != 1 || count(p, codeConstDiv) != 1 || count(p, codePow)+count(p, codeExp)+count(p, codeLog) != 0 {
		t.Errorf("shared values are computed twice:\n%s", p)
	}
	if len(p.code) > 40 {
		t.Errorf("%d instructions:\n%s", len(p.code), p)
	}
	for _, test := range []struct {
		src       string
		code      opcode
		pow, runs int
	}{
		{"x^5 + x^4", codeMul, 0, 3},
		{"x^2.5 + x^1.5 + x^0.5", codeSqrt, 0, 1},
		{"x^-0.5/x", codeSqrt, 0, 1},
		{"x^0.3*x^1.3*x^2.3", codePowConst, 1, 1},
		{"x^0.3 + x^-0.7", codePowConst, 2, 2},
		{"x^100", codePowConst, 1, 1},
		{"exp(x)*exp(x) - 1/exp(x)", codeExp, 0, 1},
		{"(x + y)*(y + x)", codeAdd, 0, 1},
		{"x/4", codeDivConst, 0, 0},
		{"x/3", codeDivConst, 0, 1},
		{"x > y", codeLess, 0, 1},
	} {
		p, err := Compile([]*Expr{mustParse(t, test.src)}, []string{"x", "y"})
		if err != nil {
			t.Fatal(err)
		}
		if count(p, codePowConst) != test.pow || count(p, test.code) != test.runs {
			t.Errorf("%s:\n%s", test.src, p)
		}
	}
}

// Zeros and infinities survive the chains of powers.
func TestPowerChainsAtEnds(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		x := []float64{0, math.Inf(1), 4, math.NaN(), -2}
		for _, k := range []float64{0.5, -0.5, 1.5, -1.5, 2.5, 0.3, 1.3, 2.3, -0.7, -1.7, -2.7, 2, 3, 7, -1, -2, -5, 16, 17, 33.5} {
			// All relatives in one program.
			var es []*Expr
			for d := -2.0; d <= 2; d++ {
				es = append(es, simplify(opPow, variable("x", "", 0), Const(k+d)))
			}
			p, err := Compile(es, []string{"x"})
			if err != nil {
				t.Fatal(err)
			}
			out := make([][]float64, len(es))
			for i := range out {
				out[i] = make([]float64, len(x))
			}
			p.Evaluator()(len(x), out, [][]float64{x})
			for j, e := range es {
				for i, v := range x {
					want := e.Value(map[string]float64{"x": v})
					if got := out[j][i]; !(got == want || math.Abs(got-want) <= 1e-14*math.Abs(want) || math.IsNaN(got) && math.IsNaN(want)) {
						t.Errorf("%v: %s = %v, want %v", v, e, got, want)
					}
				}
			}
		}
	})
}

func TestOutputsAreInputsAndConstants(t *testing.T) {
	p, err := Compile([]*Expr{variable("a", "", 0), Const(3), mustParse(t, "a + b"), mustParse(t, "b + a"), mustParse(t, "(a + b)*2"), variable("a", "", 0)}, []string{"b", "unused", "a"})
	if err != nil {
		t.Fatal(err)
	}
	n := kernel.BlockSize + 5
	in := [][]float64{make([]float64, n), nil, make([]float64, n)}
	for i := range n {
		in[0][i], in[2][i] = float64(i), 1
	}
	guards, out := make([]*check.Guarded[float64], 6), make([][]float64, 6)
	for i := range out {
		guards[i] = check.Guard[float64](n, i)
		out[i] = guards[i].Slice()
	}
	p.Evaluator()(n, out, in)
	for i := range n {
		v := float64(i)
		for j, want := range []float64{1, 3, v + 1, v + 1, 2*v + 2, 1} {
			if out[j][i] != want {
				t.Fatalf("output %d at %d: %v, want %v", j, i, out[j][i], want)
			}
		}
	}
	for _, g := range guards {
		g.Verify(t)
	}
}

func TestEvalAllocatesNothing(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		p, vars := retardation(t, true)
		const n = 1000
		in, out := make([][]float64, len(vars)), make([][]float64, p.outputs)
		for i := range in {
			in[i] = make([]float64, n)
		}
		for i := range out {
			out[i] = make([]float64, n)
		}
		eval := p.Evaluator()
		if a := testing.AllocsPerRun(10, func() { eval(n, out, in) }); a != 0 {
			t.Errorf("%v allocations", a)
		}
	})
}

// BenchmarkPass is one Levenberg-Marquardt evaluation of an expert of
// diffusion-sorption: 20,000 rows, 16 basis functions, 3 terms.
func BenchmarkPass(b *testing.B) {
	const m, n, block = 20000, 16, 512
	p, vars := retardation(b, false)
	eval := p.Evaluator()
	rng := rand.New(rand.NewPCG(1, 1))
	a := make([][]float64, len(vars))
	for j := range a {
		a[j] = make([]float64, m*n)
		for i := range a[j] {
			a[j][i] = rng.Float64()
		}
	}
	w, z, out := make([]float64, n), make([][]float64, len(vars)), make([][]float64, p.outputs)
	for i := range w {
		w[i] = rng.Float64()
	}
	for j := range z {
		z[j] = make([]float64, block)
	}
	for j := range out {
		out[j] = make([]float64, block)
	}
	gram, grad, scratch := make([]float64, n*n), make([]float64, n), make([]float64, kernel.NormalScratch(n))
	rows := make([][]float64, len(a))
	best, program := math.Inf(1), math.Inf(1)
	for b.Loop() {
		start := time.Now()
		for lo := 0; lo < m; lo += block {
			k := min(block, m-lo)
			for j := range a {
				rows[j] = a[j][lo*n : (lo+k)*n]
				kernel.MatVecRows(z[j], n, k, rows[j], w)
			}
			eval(k, out, z)
			kernel.AccumulateNormal(gram, grad, n, k, out[1:], rows, out[0], scratch)
		}
		best = min(best, time.Since(start).Seconds())
		start = time.Now()
		for lo := 0; lo < m; lo += block {
			eval(min(block, m-lo), out, z)
		}
		program = min(program, time.Since(start).Seconds())
	}
	b.ReportMetric(best*1e6, "best-µs")
	b.ReportMetric(program*1e6, "program-µs")
	if p, _ := retardation(b, false); strings.Count(p.String(), "powconst") != 1 {
		b.Fatal("the power is not shared")
	}
}

var opcodeNames = [opcodeCount]string{
	"input", "const", "add", "sub", "mul", "div", "pow", "less", "lessequal", "equal", "notequal", "where",
	"min", "max", "abs", "exp", "log", "sqrt", "sin", "cos", "tanh", "sinh", "cosh", "sign", "floor",
	"addconst", "constsub", "mulconst", "divconst", "constdiv", "powconst", "copy", "fill",
}

// String lists the instructions, one a line, for people.
func (p *Program) String() string {
	var b strings.Builder
	name := func(s int32) string {
		i := int(s)
		switch outputs := len(p.vars); {
		case i < outputs:
			return p.vars[i]
		case i < outputs+p.outputs:
			return fmt.Sprintf("out%d", i-outputs)
		case i < outputs+p.outputs+len(p.constants):
			return fmt.Sprint(p.constants[i-outputs-p.outputs])
		default:
			return fmt.Sprintf("t%d", i-outputs-p.outputs-len(p.constants))
		}
	}
	for _, in := range p.code {
		fmt.Fprintf(&b, "%s = %s", name(in.dst), opcodeNames[in.code])
		switch {
		case in.code == codeFill:
			fmt.Fprintf(&b, " %v", in.k)
		case in.code >= codeAddConst && in.code <= codePowConst:
			fmt.Fprintf(&b, " %s, %v", name(in.a), in.k)
		case in.code >= codeAbs:
			fmt.Fprintf(&b, " %s", name(in.a))
		case in.code == codeWhere:
			fmt.Fprintf(&b, " %s, %s, %s", name(in.a), name(in.b), name(in.c))
		default:
			fmt.Fprintf(&b, " %s, %s", name(in.a), name(in.b))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
