package discrete

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pihc/grid"
)

// A problem has the same solution whatever the units of its unknowns, and is examined alike: in time, steady by a factored matrix and by GMRES.
func TestUnits(t *testing.T) {
	for name, c := range map[string]struct {
		src      string
		unknowns int // of which the last is in units of S
		input    float64
	}{
		"reaction": {`unknown: [u, v]
axes: {t: {range: [0, 2], points: 9, boundary: nodes}, x: {range: [0, 1], points: 12, boundary: periodic}}
constants: {S: UNIT}
terms: {u_t: {of: u, axis: t, derivative: 1}, v_t: {of: v, axis: t, derivative: 1}, u_xx: {of: u, axis: x, derivative: 2}, v_xx: {of: v, axis: x, derivative: 2}}
residual: {one: {expression: u_t - 0.1*u_xx + u*v/S - 2, rows: {t: [1, 0]}}, other: {expression: v_t - 0.05*v_xx - S*u^2 + v^2/S, rows: {t: [1, 0]}}}
conditions: {a: {at: {t: low}, expression: u - u0}, b: {at: {t: low}, expression: "v - S*(1 + sin(2*pi*x)/2)"}}
initial: {u: {distribution: random-sines, low: 0, high: 1}}
`, 2, 1},
		"steady": {`unknown: v
time: none
axes: {x: {range: [0, 1], points: 33, boundary: nodes}, y: {range: [0, 1], points: 4, boundary: periodic}}
constants: {S: UNIT}
inputs: {f: {distribution: uniform, low: 1, high: 2}}
terms: {v_xx: {axis: x, derivative: 2}}
residual: {expression: v_xx - 10*v^2/S + 30*S*f, rows: {x: [1, 1]}}
conditions: {a: {at: {x: low}, expression: v}, b: {at: {x: high}, expression: v - S}}
`, 1, 1.5},
		"potential": {`unknown: [u, v]
axes: {t: {range: [0, 0.1], points: 3, boundary: nodes}, x: {range: [0, 1], points: 21, boundary: nodes}, y: {range: [0, 1], points: 20, boundary: periodic}}
constants: {S: UNIT}
inputs: {f: {distribution: uniform, low: 1, high: 2}}
terms: {v_t: {of: v, axis: t, derivative: 1}, u_xx: {of: u, axis: x, derivative: 2}, u_yy: {of: u, axis: y, derivative: 2}, v_xx: {of: v, axis: x, derivative: 2}, v_yy: {of: v, axis: y, derivative: 2}}
residual: {one: {expression: "u_xx + u_yy - u*v/S + f*sin(2*pi*y)", rows: {x: [1, 1]}}, other: {expression: v_t - v_xx - v_yy - S*u^2 + 1*S, rows: {x: [1, 1]}}}
conditions: {start: {kind: initial, at: {t: low}, expression: v}, a: {at: {x: low}, expression: u}, b: {at: {x: high}, expression: u - 1}, c: {at: {x: low}, expression: v}, d: {at: {x: high}, expression: v}}
`, 2, 1.5},
	} {
		var plain []float64
		for _, unit := range []string{"1", "1e-14", "1e19"} {
			p := loadSystem(t, strings.Replace(c.src, "UNIT", unit, 1))
			g, err := p.Grid(nil)
			if err != nil {
				t.Fatal(err)
			}
			e := thorough
			if name == "potential" {
				e.direct = 0
			}
			s, err := newSolver(p, g, ones(len(g.Axes)), e)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sample := make([]float64, p.InputSize(g))
			for i := range sample {
				sample[i] = c.input
			}
			u := make([]float64, c.unknowns*g.Size())
			if _, err := s.Solve(u, sample); err != nil {
				t.Errorf("%s in units of %s: %v", name, unit, err)
				continue
			}
			if plain == nil {
				plain = u
			}
			size := map[string]float64{"1": 1, "1e-14": 1e-14, "1e19": 1e19}[unit]
			for q := (c.unknowns - 1) * g.Size(); q < len(u); q++ {
				u[q] /= size
			}
			if d := grid.RelativeL2(u, plain, c.unknowns); !(d <= 2e-6) {
				t.Errorf("%s in units of %s: %g from that in units of 1", name, unit, d)
			}
			x, err := Examine(p, nil, func(g *grid.Grid) ([][]float64, error) {
				sample := make([]float64, p.InputSize(g))
				for i := range sample {
					sample[i] = c.input + 0.1*math.Sin(float64(i))
				}
				return [][]float64{sample}, nil
			})
			if err != nil || len(x.Faults) > 0 {
				t.Errorf("%s in units of %s: %v, %v", name, unit, x, err)
			}
		}
	}
}

func ones(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// Newton's method goes through where an equation degenerates at zero, with which it begins: (p p')' = 0 between 1 and 2 has p = sqrt(1 + 3 x). A problem
// that is not solved on any grid says so, and not that finer ones are too large.
func TestDegenerate(t *testing.T) {
	const src = `unknown: p
time: none
axes: {x: {range: [0, 1], points: 65, boundary: nodes}, y: {range: [0, 1], points: 4, boundary: periodic}}
inputs: {f: {distribution: uniform, low: 1, high: 2}}
terms: {p_x: {axis: x, derivative: 1}, p_xx: {axis: x, derivative: 2}, p_yy: {axis: y, derivative: 2}}
residual: {expression: EXPRESSION, rows: {x: [1, 1]}}
conditions: {a: {at: {x: low}, expression: p - 1}, b: {at: {x: high}, expression: p - 2}}
`
	solve := func(expression string) ([]float64, *grid.Grid, error) {
		p := loadSystem(t, strings.Replace(src, "EXPRESSION", expression, 1))
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		x, err := NewRefinement(p, g, 1e-4).Solve(t.Context(), []float64{1}, func(Refined) {})
		return x.Field, g, err
	}
	u, g, err := solve("p*(p_xx + p_yy) + p_x^2 + 0*f")
	if err != nil {
		t.Fatal(err)
	}
	for q, v := range u {
		if x := g.Axes[0].Coordinate(q / 4); !(math.Abs(v-math.Sqrt(1+3*x)) < 1e-4) {
			t.Fatalf("p is %g at %g", v, x)
		}
	}
	if _, _, err := solve("p_xx + p_yy + 10*f*exp(p)"); !errors.Is(err, ErrNotConverged) {
		t.Errorf("%v of an equation without a solution", err)
	}
}
