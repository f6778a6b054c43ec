package discrete

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"pihc/pde"
)

// The largest real part of eigenvalues is that of LAPACK's algorithm, in gonum.
func TestAbscissa(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 6; n++ {
		for range 20 {
			m, dense := zeros(n, n), mat.NewDense(n, n, nil)
			for i := range n {
				for j := range n {
					v := rng.NormFloat64() * math.Pow(10, 3*float64(i-j)/float64(n))
					m[i][j] = complex(v, 0)
					dense.Set(i, j, v)
				}
			}
			var e mat.Eigen
			if !e.Factorize(dense, mat.EigenNone) {
				t.Fatal("no eigenvalues")
			}
			want := math.Inf(-1)
			for _, v := range e.Values(nil) {
				want = max(want, real(v))
			}
			balance(m)
			if got := abscissa(m); math.Abs(got-want) > 1e-8*norm(m) {
				t.Errorf("%d: %g, want %g", n, got, want)
			}
		}
	}
}

// onTorus is equations of u and v on a periodic axis.
func onTorus(unknowns, residuals, conditions string) string {
	return `
unknown: ` + unknowns + `
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 9, boundary: periodic}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  u_tt: {of: u, axis: t, derivative: 2}
  u_x: {of: u, axis: x, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2}
  u_xxx: {of: u, axis: x, derivative: 3}
  u_xxxx: {of: u, axis: x, derivative: 4}
` + strings.ReplaceAll(residuals, "; ", "\n") + `
conditions:
  a: {kind: initial, at: {t: low}, expression: u - u0}
` + conditions
}

// illPosedAt is what illPosed says with the same functions for every input.
func illPosedAt(t *testing.T, p *pde.Problem) string {
	t.Helper()
	s, err := smallSystem(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	g := s.sys.Grid
	var all [][]float64
	for _, f := range []func(x []float64) float64{func([]float64) float64 { return 0.5 }, func(x []float64) float64 { return 0.4 + 0.6*math.Sin(6*x[0]+1) }} {
		var sample []float64
		for len(sample) < p.InputSize(g) {
			sample = append(sample, onSpace(g, f)...)
		}
		all = append(all, sample[:p.InputSize(g)])
	}
	text, _ := illPosed(s, all)
	return text
}

// atEnd gives the values of a problem at the end of time.
func atEnd(src string) string {
	return strings.Replace(src, "{kind: initial, at: {t: low}", "{at: {t: high}", 1)
}

// Whether equations are well-posed is known of their symbols.
func TestIllPosed(t *testing.T) {
	one := func(residual string) string { return onTorus("u", "residual: {expression: "+residual+"}", "") }
	second := func(residual string) string {
		return onTorus("u", "residual: {expression: "+residual+", rows: {t: [1, 0]}}", "  b: {kind: initial, at: {t: low}, expression: u_t}\n")
	}
	two := func(a, b string) string {
		src := onTorus("[u, v]", "residual:\n  first: {expression: "+a+"}\n  second: {expression: "+b+"}", "  c: {kind: initial, at: {t: low}, expression: v - v0}\n")
		return strings.Replace(src, "terms:\n", "terms:\n  v_t: {of: v, axis: t, derivative: 1}\n  v_x: {of: v, axis: x, derivative: 1}\n  v_xx: {of: v, axis: x, derivative: 2}\n", 1)
	}
	for name, c := range map[string]struct {
		src string
		ill bool
	}{
		"heat":                           {one("u_t - 0.01*u_xx"), false},
		"backward heat":                  {one("u_t + 1e-4*u_xx"), true},
		"advection":                      {one("u_t + 3*u_x"), false},
		"growth of all alike":            {one("u_t - 30*u"), false},
		"Korteweg and de Vries":          {one("u_t + u*u_x + 1e-3*u_xxx"), false},
		"Kuramoto and Sivashinsky":       {one("u_t + u*u_x + u_xx + u_xxxx"), false},
		"with both signs reversed":       {one("u_t + u*u_x - u_xx - u_xxxx"), true},
		"fourth order alone, reversed":   {one("u_t - 1e-5*u_xxxx"), true},
		"diffusion that is u, of signs":  {one("u_t - u*u_xx"), true},
		"porous medium":                  {one("u_t - u^2*u_xx - 2*u*u_x^2"), false},
		"a coefficient below 0 in a bit": {one("u_t - (x - 0.15 + t)*u_xx"), true},
		"a coefficient that reaches 0":   {one("u_t - x*u_xx"), false},
		"wave":                           {second("u_tt - 4*u_xx"), false},
		"Laplace's equation in time":     {second("u_tt + u_xx"), true},
		"damped wave":                    {second("u_tt + u_t - 4*u_xx + u"), false},
		"telegraph":                      {second("u_tt - 4*u_xx - 9*u"), false},
		"beam":                           {second("u_tt + u_xxxx"), false},
		"beam, reversed":                 {second("u_tt - u_xxxx"), true},
		"wave of first order":            {two("u_t - v", "v_t - 4*u_xx"), false},
		"acoustics":                      {two("u_t + v_x", "v_t + u_x"), false},
		"acoustics with a sign":          {two("u_t + v_x", "v_t - u_x"), true},
		"Schrödinger":                    {two("u_t + v_xx", "v_t - u_xx"), false},
		"reaction and diffusion":         {two("u_t - 0.1*u_xx - u*v", "v_t - 0.01*v_xx + u*v"), false},
		"Fick's flux":                    {two("u_t + v_x", "v + u_x"), false},
		"Fick's flux with a sign":        {two("u_t + v_x", "v - u_x"), true},
		"Cahn and Hilliard, of two":      {two("u_t - v_xx", "v + u - u^3 + 1e-3*u_xx"), false},
		"heat, given at the end":         {atEnd(one("u_t - 0.01*u_xx")), true},
		"backward heat, given there":     {atEnd(one("u_t + 0.01*u_xx")), false},
		"heat that an ansatz begins":     {strings.Replace(atEnd(one("u_t - 0.01*u_xx")), "conditions:", "ansatz: {offset: u0, multiplier: t}\nconditions:", 1), false},
		"a game of two ends":             {strings.Replace(two("u_t - 0.1*u_xx", "v_t + 0.1*v_xx"), "c: {kind: initial, at: {t: low}, expression: v - v0}", "c: {at: {t: high}, expression: v - u}", 1), false},
		"one of two reversed":            {two("u_t - 0.1*u_xx - u*v", "v_t + 0.01*v_xx + u*v"), true},
	} {
		if text := illPosedAt(t, loadSystem(t, c.src)); (text != "") != c.ill {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// A tensor of diffusion that is not positive along a diagonal is of a heat equation backward there, though along the axes it is not: of
// u_xx + c u_xy + u_yy the eigenvalues are 1 ± c/2.
func TestIllPosedAlongDiagonals(t *testing.T) {
	for c, ill := range map[float64]bool{0: false, 1.9: false, 2.1: true, -1.9: false, -2.1: true} {
		text := illPosedAt(t, load(t, fmt.Sprintf(`
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 9, boundary: periodic}
  y: {range: [0, 3], points: 9, boundary: periodic}
terms:
  u_t: {axis: t, derivative: 1}
  u_xx: {axis: x, derivative: 2}
  u_yy: {axis: y, derivative: 2}
  u_xy: {factors: [{axis: x, derivative: 1}, {axis: y, derivative: 1}]}
residual: {expression: u_t - u_xx - 9*u_yy - %g*3*u_xy}
conditions:
  a: {kind: initial, at: {t: low}, expression: u - u0}
`, c)))
		if (text != "") != ill || ill && !strings.Contains(text, "along x, y ") {
			t.Errorf("%g: %q", c, text)
		}
	}
}

// The two halves of a flux term are one second derivative, with what is drawn in it.
func TestIllPosedFlux(t *testing.T) {
	for sign, ill := range map[string]bool{"-": false, "+": true} {
		text := illPosedAt(t, load(t, fmt.Sprintf(`
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 17, boundary: nodes}
inputs:
  a: {distribution: random-series, series: free, axes: [x], parameters: {modes: 2}, positive: exp, scale: 0.1}
terms:
  u_t: {axis: t, derivative: 1}
  flow: {flux: 0.1 + a^2, axis: x}
residual: {expression: u_t %s flow}
conditions:
  a0: {kind: initial, at: {t: low}, expression: u - u0}
  low: {at: {x: low}, expression: u}
  high: {at: {x: high}, expression: u}
`, sign)))
		if (text != "") != ill {
			t.Errorf("%s: %q", sign, text)
		}
	}
}

// All problems that come with pihc, and those with known solutions, are well-posed.
func TestWellPosed(t *testing.T) {
	problems := map[string]*pde.Problem{}
	files, err := filepath.Glob(filepath.Join("..", "..", "examples", "*", "problem.yaml"))
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, name := range append(files, pde.Builtins()...) {
		p, err := pde.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		problems[name] = p
	}
	for _, c := range known {
		problems[c.name] = load(t, c.src)
	}
	for name, p := range problems {
		if text := illPosedAt(t, p); text != "" {
			t.Errorf("%s: %s", name, text)
		}
	}
}
