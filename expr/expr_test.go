package expr

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func mustParse(t testing.TB, src string) *Expr {
	t.Helper()
	e, err := Parse(src)
	if err != nil {
		t.Fatalf("Parse(%q): %v", src, err)
	}
	return e
}

// Positions of names are those of runes, also in an expression of the greatest
// length.
func TestParsePositions(t *testing.T) {
	const unit = "µ*é + "
	e := mustParse(t, strings.Repeat(unit, maxSource/len(unit)-1)+"u")
	var syntax *SyntaxError
	if err := e.Check([]string{"µ", "é"}); !errors.As(err, &syntax) || syntax.Pos != 6*(maxSource/len(unit)-1) {
		t.Error("the name at the end is somewhere else")
	}
	if err := mustParse(t, "µ*µ + where(µ > 1, é, x)").Check([]string{"µ", "é"}); !errors.As(err, &syntax) || syntax.Pos != 22 {
		t.Errorf("error %+v, want position 22", syntax)
	}
	_, err := Parse(strings.Repeat(unit, maxSource))
	if err == nil || len(err.Error()) > 300 {
		t.Error("the message about a long expression is not short")
	}
}

func TestParseValues(t *testing.T) {
	at := map[string]float64{"x": 3, "y": -2, "u_xx": 0.5, "μ": 7}
	for _, test := range []struct {
		src  string
		want float64
	}{
		{"1", 1},
		{".5", 0.5},
		{"2.", 2},
		{"2e-3", 2e-3},
		{"1E+2", 100},
		{"2e", math.NaN()},
		{"x - y - 1", 4},
		{"x - (y - 1)", 6},
		{"x/y/2", -0.75},
		{"x/(y/2)", -3},
		{"-x^2", -9},
		{"(-x)^2", 9},
		{"2^3^2", 512},
		{"2^-x", 0.125},
		{"-2^-2", -0.25},
		{"--x", 3},
		{"-+-x", 3},
		{"2*-x", -6},
		{"x*y + 2", -4},
		{"x + y*2", -1},
		{"-x*y", 6},
		{"x < y", 0},
		{"x > y", 1},
		{"x <= 3", 1},
		{"x >= 4", 0},
		{"x == 3", 1},
		{"x != 3", 0},
		{"x + 1 < 2*x", 1},
		{"where(x > 0, 1, 2)", 1},
		{"where(y, 1, 2)", 1},
		{"where(0, 1, 2)", 2},
		{"where(x < 0, log(-x), -x)", -3},
		{"min(x, y)", -2},
		{"max(x, y)", 3},
		{"abs(y)", 2},
		{"exp(0)", 1},
		{"log(exp(x))", 3},
		{"sqrt(4)", 2},
		{"sin(0) + cos(0) + tanh(0)", 1},
		{"sinh(0) + cosh(0)", 1},
		{"cosh(log(2)) - 1.25 + sinh(-log(2))", -0.75},
		{"sign(-3) + sign(0) + 10*sign(0.1)", 9},
		{"floor(2.7) + 10*floor(-0.1)", -8},
		{"u_xx*μ", 3.5},
		{" \t x\n+ 1", 4},
		{"(x == 3) + (y == -2)", 2},
	} {
		e, err := Parse(test.src)
		if math.IsNaN(test.want) {
			if err == nil {
				t.Errorf("Parse(%q) gave %v, want an error", test.src, e)
			}
			continue
		}
		if err != nil {
			t.Errorf("Parse(%q): %v", test.src, err)
			continue
		}
		if got := e.Value(at); math.Abs(got-test.want) > 1e-15 {
			t.Errorf("%s = %v, want %v", test.src, got, test.want)
		}
	}
}

// The printed forms have the fewest parentheses; each reads back to its tree.
func TestString(t *testing.T) {
	for _, test := range []struct{ src, want string }{
		{"((x))", "x"},
		{"x-(y-1)", "x - (y - 1)"},
		{"(x-y)-1", "x - y - 1"},
		{"x+(y+1)", "x + (y + 1)"},
		{"x*(y*2)", "x*(y*2)"},
		{"(x/y)/z", "x/y/z"},
		{"(x+1)*y", "(x + 1)*y"},
		{"(-x)^2", "(-x)^2"},
		{"-(x^2)", "-x^2"},
		{"(-2)^2", "(-2)^2"},
		{"-2^2", "-2^2"},
		{"x^(-2)", "x^-2"},
		{"(x^y)^z", "(x^y)^z"},
		{"x^(y^z)", "x^y^z"},
		{"x - -2", "x - -2"},
		{"-(x*y)", "-(x*y)"},
		{"-x*y", "-x*y"},
		{"x*(-y)", "x*-y"},
		{"(x<y)*2", "(x < y)*2"},
		{"where(x<0,-x,x)", "where(x < 0, -x, x)"},
		{"1e-6", "1e-06"},
		{"-(3)", "-3"},
		{"(x<y)<z", "(x < y) < z"},
		{"(-2)*x", "-2*x"},
	} {
		e := mustParse(t, test.src)
		if got := e.String(); got != test.want {
			t.Errorf("%s prints as %s, want %s", test.src, got, test.want)
		}
		if back := mustParse(t, e.String()); !Same(back, e) {
			t.Errorf("%s prints as %s, which is another tree", test.src, e)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, test := range []struct {
		src       string
		pos       int
		msg, hint string
	}{
		{"", 0, "found the end, want a number", ""},
		{"u_t - tahn(u)", 6, "unknown function tahn", "did you mean tanh?"},
		{"u(1 - u)", 0, "unknown function u", "a product is written with *"},
		{"2 u", 2, `found "u"`, "a product is written with *"},
		{"μ*(1 + 2", 8, "found the end, want an operator or )", ""},
		{"1 + * 2", 4, `found "*"`, ""},
		{"x ** 2", 2, "** is not an operator", "a power is written ^"},
		{"x = 2", 2, `found "="`, "=="},
		{"x < y < z", 6, "comparisons do not chain", "where(a < b, b < c, 0)"},
		{"a && b", 2, `"&" is not an operator`, "where"},
		{"1,5", 1, `found ","`, "point"},
		{"exp", 0, "function exp needs its arguments", "exp(x)"},
		{"where(a, b)", 0, "where has 2 arguments", "where(condition, then, else)"},
		{"min(a, b, c)", 0, "min has 3 arguments", "min(x, y)"},
		{"min(a b)", 6, `found "b"`, ""},
		{"1e999", 0, "out of range", ""},
		{"é + $", 4, "unexpected character '$'", ""},
		{"x + \xff", 4, "not valid UTF-8", ""},
		{strings.Repeat("(", 600) + "x" + strings.Repeat(")", 600), 500, "nested more than 500 deep", ""},
		{strings.Repeat("x", 1<<16+1), 0, "longer than", ""},
	} {
		_, err := Parse(test.src)
		var bad *SyntaxError
		if !errors.As(err, &bad) {
			t.Errorf("Parse(%.40q): %v, want a SyntaxError", test.src, err)
			continue
		}
		if bad.Pos != test.pos || !strings.Contains(bad.Msg, test.msg) || !strings.Contains(bad.Hint, test.hint) {
			t.Errorf("Parse(%.40q): column %d, %q, hint %q; want %d, %q, %q", test.src, bad.Pos, bad.Msg, bad.Hint, test.pos, test.msg, test.hint)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	known := []string{"u", "u_t", "u_xx", "viscosity"}
	for _, test := range []struct {
		src  string
		pos  int
		name string
		hint string
	}{
		{"u_t + u_x", 6, "u_x", "did you mean u_t?"},
		{"μ + visocsity*uxx", 0, "μ", "known names are u, u_t, u_xx, viscosity"},
		{"visocsity*uxx", 0, "visocsity", "did you mean viscosity?"},
		{"u*uxx", 2, "uxx", "did you mean u_xx?"},
	} {
		_, err := Compile([]*Expr{mustParse(t, "u"), mustParse(t, test.src)}, known)
		var bad *SyntaxError
		if !errors.As(err, &bad) || bad.Pos != test.pos || bad.Src != test.src || bad.Msg != "unknown name "+test.name || bad.Hint != test.hint {
			t.Errorf("%s: %#v", test.src, err)
		}
	}
	if _, err := Compile([]*Expr{variable("w", "", 0)}, known); err == nil || !strings.Contains(err.Error(), "unknown name w") {
		t.Errorf("a name without a text: %v", err)
	}
}

func TestVariablesAndConstant(t *testing.T) {
	e := mustParse(t, "b*exp(a) - b/where(a < 2, 1, a)")
	if got := e.Variables(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("variables %v", got)
	}
	if !e.DependsOn("a") || e.DependsOn("exp") {
		t.Error("DependsOn is wrong")
	}
	if _, ok := e.Constant(); ok {
		t.Error("an expression with variables is called constant")
	}
	phi := 0.29
	if v, ok := mustParse(t, "(1 - 0.29)/0.29").Constant(); !ok || v != (1-phi)/phi {
		t.Errorf("constant %v, %v", v, ok)
	}
	if v, ok := mustParse(t, "1/0").Constant(); !ok || !math.IsInf(v, 1) {
		t.Errorf("1/0 = %v, %v", v, ok)
	}
}

func TestSubstitute(t *testing.T) {
	e := mustParse(t, "a*x^n + b*0 + (x - 0)/1")
	got := e.Substitute(map[string]*Expr{"a": Const(2), "n": mustParse(t, "3 - 1"), "x": mustParse(t, "y + a")})
	// Substituted expressions are not searched again: the a of y + a stays.
	if want := "2*(y + a)^2 + (y + a)"; got.String() != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if e.String() != "a*x^n + b*0 + (x - 0)/1" {
		t.Error("Substitute changed its receiver")
	}
}

func TestUnsquared(t *testing.T) {
	for text, want := range map[string]string{
		"(x - y)^2": "x - y", "(x^2)^4": "x", "x^3": "x^3", "x^2 + y": "x^2 + y", "x^y": "x^y", "x^0.5": "x^0.5", "x^-2": "x^-2", "x": "x",
	} {
		if got := mustParse(t, text).Unsquared().String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"NaN constant":      func() { Const(math.NaN()) },
		"infinite constant": func() { Const(math.Inf(1)) },
		"two variables":     func() { Compile(nil, []string{"u", "u"}) },
		"missing input": func() {
			p, _ := Compile([]*Expr{variable("u", "", 0)}, []string{"u"})
			p.Evaluator()(0, [][]float64{nil}, nil)
		},
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "expr: ") {
					t.Errorf("%s: panic %v", name, s)
				}
			}()
			f()
		}()
	}
}
