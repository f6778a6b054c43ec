package expr

import (
	"math"
	"testing"
)

var derivativeCases = []string{
	"3*x - y/2 + 1", "x*y*x", "x/y", "(x + y)/(x*x + 1)", "x^2", "x^3*y", "x^-2", "x^0.874", "x^-1.3", "x^y", "2^x", "(x*y)^1.5",
	"-x*-y", "exp(x*y)", "log(x + y^2)", "sqrt(x*x + y)", "sin(x)*cos(y)", "tanh(x*y)", "abs(x - 2*y)", "abs(-x)*y",
	"sinh(x*y)", "cosh(x - y)*x", "sign(x - 5)*x*y", "floor(x - 0.5*y)*x^2",
	"min(x, y)*x", "max(x*y, y)", "min(max(x, 0.1), 3)", "where(x > y, x*x*y, y*y*x)", "where(x < 1, exp(x), x)*where(y > 0, y, 0)",
	"where(x > 0, x, 0)^1.5", "(x < y)*x", "1/(1 + exp(-x))", "exp(-x^2)/sqrt(1 + y^2)", "x - x*y - x", "log(x)/x - exp(log(y))",
	"y - 5e-4/(1 + (1 - 0.29)/0.29*2880*0.00035*0.874*(where(x > 0, x, 0) + 1e-6)^(0.874 - 1))*y",
}

// First and second derivatives against central differences of the value and
// of the first derivative, away from kinks.
func TestDiffCentral(t *testing.T) {
	at := []map[string]float64{{"x": 0.7, "y": 1.3}, {"x": 2.1, "y": 0.45}, {"x": 0.31, "y": 0.17}}
	const h = 1e-5
	difference := func(e *Expr, p map[string]float64, name string) float64 {
		q := map[string]float64{"x": p["x"], "y": p["y"]}
		q[name] = p[name] + h
		hi := e.Value(q)
		q[name] = p[name] - h
		return (hi - e.Value(q)) / (2 * h)
	}
	for _, src := range derivativeCases {
		e := mustParse(t, src)
		for _, v := range []string{"x", "y"} {
			d := e.Diff(v)
			for _, p := range at {
				got, want := d.Value(p), difference(e, p, v)
				if math.Abs(got-want) > 2e-8*(1+math.Abs(want)) {
					t.Errorf("d(%s)/d%s at %v: %v, central difference %v", src, v, p, got, want)
				}
			}
			for _, w := range []string{"x", "y"} {
				dd := d.Diff(w)
				for _, p := range at {
					got, want := dd.Value(p), difference(d, p, w)
					if math.Abs(got-want) > 2e-8*(1+math.Abs(want)) {
						t.Errorf("d²(%s)/d%s d%s at %v: %v, central difference %v", src, v, w, p, got, want)
					}
				}
			}
		}
	}
}

func TestDiffForms(t *testing.T) {
	for _, test := range []struct{ src, want string }{
		{"5", "0"},
		{"y", "0"},
		{"x", "1"},
		{"x + y", "1"},
		{"x^2", "2*x"},
		{"3*x^2*y", "6*(x*y)"},
		{"y*x - x", "-1 + y"},
		{"x < y", "0"},
		{"where(x > 0, x, 0)", "where(x > 0, 1, 0)"},
		{"exp(2*x)", "2*exp(2*x)"},
		{"-x", "-1"},
		{"sinh(3*x)", "3*cosh(3*x)"},
		{"sign(x)*x + floor(x)", "sign(x)"},
		{"abs(x)", "where(x < 0, -1, x > 0)"},
		{"where(x > 0, x, 0)*where(x > 0, x, 0)", "where(x > 0, x + x, 0)"},
	} {
		if got := mustParse(t, test.src).Diff("x").String(); got != test.want {
			t.Errorf("d(%s)/dx = %s, want %s", test.src, got, test.want)
		}
	}
}

// where selects derivatives: what the other branch gives, NaN or infinite,
// never shows, even where the chain rule alone would give 0·∞.
func TestWhereSelectsDerivatives(t *testing.T) {
	for _, src := range []string{
		"where(x > 0, log(x), 0)", "sqrt(where(x > 0, x, 0))", "where(x > 0, x, 0)^0.3", "where(x <= 0, 0, 1/x)",
		"1/where(x > 0, sqrt(x), 1)", "5*where(x > 0, x^0.5, 0)/(1 + where(x > 0, x, 0)^0.2) - y",
		"1/(1 + 2*(where(x > 0, x, 0) + 1e-6)^-0.126)",
	} {
		e := mustParse(t, src)
		d := e.Diff("x")
		dd := d.Diff("x")
		p, err := Compile([]*Expr{e, d, dd}, []string{"x", "y"})
		if err != nil {
			t.Fatal(err)
		}
		x, y := []float64{-3, -1e-300, 0, 2}, []float64{1, 1, 1, 1}
		out := [][]float64{make([]float64, 4), make([]float64, 4), make([]float64, 4)}
		p.Evaluator()(4, out, [][]float64{x, y})
		for i := range 3 {
			if out[1][i] != 0 || out[2][i] != 0 {
				t.Errorf("%s at %v: derivatives %v, %v; want 0, 0", src, x[i], out[1][i], out[2][i])
			}
		}
		if out[1][3] == 0 || out[2][3] == 0 || math.IsNaN(out[1][3]+out[2][3]) {
			t.Errorf("%s at %v: derivatives %v, %v", src, x[3], out[1][3], out[2][3])
		}
	}
}
