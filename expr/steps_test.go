package expr

import (
	"math"
	"testing"
)

// The steps of a program give what it gives, with every operation among them.
func TestSteps(t *testing.T) {
	var outputs []*Expr
	for _, text := range []string{
		"x+y", "x-y", "x*y", "x/y", "x^y", "x<y", "x<=y", "x>y", "x>=y", "x==y", "x!=y", "where(x<y, x, 2)", "min(x,y)", "max(x,y)", "abs(x)",
		"exp(x)", "log(x)", "sqrt(x)", "sin(x)", "cos(x)", "tanh(x)", "sinh(x)", "cosh(x)", "sign(x)", "floor(x)",
		"x+2", "3-x", "2*x", "x/3", "5/x", "x^1.7", "x", "7", "where(x<y, 1, 0)",
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		outputs = append(outputs, e)
	}
	p, err := Compile(outputs, []string{"x", "y"})
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]op{
		"add": opAdd, "sub": opSub, "mul": opMul, "div": opDiv, "pow": opPow, "less": opLess, "less_equal": opLessEqual, "equal": opEqual, "not_equal": opNotEqual,
	}
	for o := opWhere; o < opCount; o++ {
		named[ops[o].text] = o
	}
	for _, at := range [][]float64{{0.7, 1.9}, {1.9, 0.7}, {-0.5, -0.5}} {
		out := make([][]float64, len(outputs))
		for i := range out {
			out[i] = make([]float64, 1)
		}
		p.Evaluator()(1, out, [][]float64{at[:1], at[1:]})
		values, seen := map[int]float64{0: at[0], 1: at[1]}, map[string]bool{}
		p.Steps(func(op string, dst int, args []int, k float64) {
			var v [3]float64
			for i, a := range args {
				v[i] = values[a]
			}
			seen[op] = true
			switch op {
			case "const":
				values[dst] = k
			case "copy":
				values[dst] = v[0]
			case "add_const":
				values[dst] = v[0] + k
			case "const_sub":
				values[dst] = k - v[0]
			case "mul_const":
				values[dst] = k * v[0]
			case "div_const":
				values[dst] = v[0] / k
			case "const_div":
				values[dst] = k / v[0]
			case "pow_const":
				values[dst] = math.Pow(v[0], k)
			default:
				values[dst] = apply(named[op], v)
			}
		})
		for i, o := range out {
			got := values[2+i]
			if d := math.Abs(got - o[0]); !(d <= 1e-14*math.Max(1, math.Abs(got))) && !(math.IsNaN(got) && math.IsNaN(o[0])) {
				t.Errorf("%s at %v is %g by its steps, %g by the program", outputs[i], at, got, o[0])
			}
		}
		if len(seen) != len(named)+8 {
			t.Errorf("%d operations seen of %d: %v", len(seen), len(named)+8, seen)
		}
	}
}
