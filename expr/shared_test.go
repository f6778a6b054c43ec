package expr

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// shared is what definitions of definitions make of a first expression: each level holds the one before more than once.
func shared(t *testing.T, first, level string, levels int) *Expr {
	t.Helper()
	parse := func(src string) *Expr {
		e, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := parse(first).Substitute(nil)
	for range levels {
		e = parse(level).Substitute(map[string]*Expr{"e": e})
	}
	return e
}

// Whatever is done with an expression takes time by its distinct parts: as a tree these have 2^60 and more.
func TestShared(t *testing.T) {
	at := map[string]float64{"u": 0.3, "x": 0.7}
	for _, test := range []struct{ first, level string }{
		{"u", "e*e"},
		{"u + x", "e + e*x"},
		{"u", "e - x*e^2"},
		{"u + 2", "e/(1 + e)"},
		{"u", "min(e, x*e)"},
		{"u", "abs(e) + max(e, x)*abs(e)"},
		{"u", "where(e > x, e*e, e)"},
		{"u", "where(x > 0.5, sin(e)*e, 0)"},
		{"u + 1", "e^(e/(1 + e*e))"},
		{"1/0*u", "e*e"},
		{"u", "exp(-e*e)"},
		{"u", "-e*-e"},
	} {
		t.Run(test.level, func(t *testing.T) {
			begin := time.Now()
			e, twin := shared(t, test.first, test.level, 60), shared(t, test.first, test.level, 60)
			if !Same(e, twin) || Same(e, shared(t, test.first, test.level, 59)) {
				t.Error("Same is wrong")
			}
			value := e.Value(at)
			d := e.Diff("u")
			second := d.Diff("x")
			program, err := Compile([]*Expr{e, d, second}, []string{"u", "x"})
			if err != nil {
				t.Fatal(err)
			}
			if program.Len() > 60*200 {
				t.Errorf("%d operations", program.Len())
			}
			out := [][]float64{make([]float64, 1), make([]float64, 1), make([]float64, 1)}
			program.Evaluator()(1, out, [][]float64{{at["u"]}, {at["x"]}})
			same := func(a, b float64) bool {
				return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*math.Abs(b)
			}
			if !same(out[0][0], value) || !same(out[1][0], d.Value(at)) {
				t.Errorf("values %v, want %g and %g", out, value, d.Value(at))
			}
			for _, x := range []*Expr{e, d, second} {
				text := x.String()
				if back, err := Parse(text); len(text) > maxSource+3 || err == nil && !Same(back.Substitute(nil), x.Substitute(nil)) || err != nil && !strings.HasSuffix(text, "...") {
					t.Errorf("text of %d bytes: %v", len(text), err)
				}
				x.Undefined(at)
				x.Jumps([]string{"u"})
				x.DependsOn("u")
				x.Substitute(map[string]*Expr{"u": Variable("v")})
			}
			if took := time.Since(begin); took > 20*time.Second { // a hundredth of a second
				t.Errorf("took %v", took)
			}
		})
	}
}

// Gates inside each other, however many, leave a product as few steps; values and derivatives are those of the
// formula, and what is not selected is never multiplied.
func TestNestedGates(t *testing.T) {
	build := func(kinds string) (e *Expr, src string) {
		e, src = Variable("u"), "u"
		for k, kind := range kinds {
			level := fmt.Sprintf("where(x > %d/100, e, 0)", k)
			if kind == 'b' {
				level = fmt.Sprintf("where(x < %d/100, 0, e)", k)
			}
			next, err := Parse(level)
			if err != nil {
				t.Fatal(err)
			}
			e = next.Substitute(map[string]*Expr{"e": e})
			src = strings.NewReplacer("e,", src+",", "e)", src+")").Replace(level)
		}
		return e, src
	}
	for _, kinds := range []string{"a", "b", "abababab", strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("aab", 14), strings.Repeat("bba", 14)} {
		e, src := build(kinds)
		plain, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		product := e.Times(Const(1).Over(Variable("y")))
		for x := -0.005; x < 0.5; x += 0.01 {
			at := map[string]float64{"u": 2, "x": x, "y": 0}
			want := plain.Value(at)
			if got := e.Value(at); got != want {
				t.Errorf("%s at %g: %g, want %g", kinds, x, got, want)
			}
			if got := product.Value(at); want == 0 && got != 0 || want != 0 && !math.IsInf(got, 1) {
				t.Errorf("%s at %g, over zero: %g", kinds, x, got)
			}
		}
	}
	e, _ := build(strings.Repeat("a", 5000))
	nodes := 0
	for range 200 {
		e = e.Times(Variable("u"))
	}
	e.Walk(map[*Expr]bool{}, func(*Expr) { nodes++ })
	if nodes > 100_000 { // 5000 gates with a comparison, of three parts each
		t.Errorf("%d parts", nodes)
	}
}
