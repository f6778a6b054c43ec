package discrete

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/grid"
)

// Of equations with known solutions the error is within the tolerance, and the estimate within a factor of three of it, whatever the order of
// the rows is, and whether space or time is at fault. Inputs are on more points than in other tests, so that what lies between them does not count.
func TestRefinement(t *testing.T) {
	for _, c := range known {
		for _, tolerance := range []float64{1e-3, 1e-5} {
			p := load(t, c.src)
			g, err := p.Grid(nil)
			if err != nil {
				t.Fatal(err)
			}
			by := make([]int, len(g.Axes))
			for i := range by {
				if by[i] = 3; len(by) == 3 || i == 0 && Marches(p) {
					by[i] = 1
				}
			}
			g = refined(g, by)
			x, err := NewRefinement(p, g, tolerance).Solve(context.Background(), onSpace(g, c.start), func(Refined) {})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			e := distance(g, x.Field, c.exact)
			t.Logf("%s, %g: error %.2g, estimate %.2g (space %.2g, time %.2g) on %v", c.name, tolerance, e, x.Error(), x.Space, x.Time, x.Grid.Shape())
			if x.Short != nil || e > tolerance || e > 1e-9 && !(x.Error() > e/3 && x.Error() < 3*e) {
				t.Errorf("%s: error %g, estimate %g, tolerance %g: %v", c.name, e, x.Error(), tolerance, x.Short)
			}
		}
	}
}

// What cannot be had to a tolerance keeps the best solution and says why; where there is none at all that is an error.
func TestRefinementShort(t *testing.T) {
	refinement := func(src string) (*Refinement, []float64) {
		p := load(t, src)
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		return NewRefinement(p, g, 1e-6), onSpace(g, func(x []float64) float64 { return 1 + math.Sin(2*pi*x[0]) })
	}
	r, u0 := refinement(`axes: {t: {range: [0, 2], points: 5, boundary: nodes}, x: {range: [0, 1], points: 4, boundary: periodic}}
terms: {u_t: {axis: t, derivative: 1}}
residual: {expression: u_t - u^2}
conditions: {a: {at: {t: low}, expression: u - u0}}
`)
	if _, err := r.Solve(context.Background(), u0, func(Refined) {}); !errors.Is(err, ErrNotConverged) {
		t.Errorf("u_t = u^2 beyond its end: %v", err)
	}
	const upwind = `axes: {t: {range: [0, 1], points: 33, boundary: nodes}, x: {range: [0, 1], points: 64, boundary: periodic}}
terms: {u_t: {axis: t, derivative: 1}, u_x: {axis: x, derivative: 1, order: 1, side: backward}}
residual: {expression: u_t + u_x}
conditions: {a: {at: {t: low}, expression: u - u0}}
`
	r, u0 = refinement(upwind)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last Refined
	x, err := r.Solve(ctx, u0, func(x Refined) {
		if last = x; !math.IsInf(x.Error(), 1) {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || x.Grid.Axes[1].Points != 128 || x.Error() != last.Error() || !(x.Error() > 1e-3) {
		t.Errorf("interrupted after two grids: %v, error %g on %v", err, x.Error(), x.Grid.Shape())
	}
	r, u0 = refinement(upwind)
	r.most = r.work(level{2, 0})
	x, err = r.Solve(context.Background(), u0, func(Refined) {})
	e := distance(r.grid, x.Field, func(x []float64) float64 { return 1 + math.Sin(2*pi*(x[1]-x[0])) })
	if err != nil || x.Short == nil || !strings.Contains(x.Short.Error(), "33 x 512 takes more than some minutes") || !(x.Error() > e/3 && x.Error() < 3*e) {
		t.Errorf("bounded work: %v, error %g, estimate %g: %v", err, e, x.Error(), x.Short)
	}
}

// What is found is kept where the next grid fails only after the interrupt.
func TestRefinementInterrupted(t *testing.T) {
	p := load(t, `time: none
axes: {x: {range: [0, 1], points: 9, boundary: nodes}, y: {range: [0, 1], points: 8, boundary: periodic}}
terms: {u_xx: {axis: x, derivative: 2}, u_yy: {axis: y, derivative: 2}}
residual: {expression: u_xx + u_yy - u^3 + exp(x), rows: {x: [1, 1]}}
conditions: {a: {at: {x: low}, expression: u}, b: {at: {x: high}, expression: u}}
`)
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := NewRefinement(p, g, 1e-6)
	x, err := r.Solve(ctx, nil, func(x Refined) {
		if !math.IsInf(x.Error(), 1) {
			cancel()
			r.effort.direct = 1
		}
	})
	if !errors.Is(err, context.Canceled) || x.Field == nil || x.Grid.Axes[0].Points != 17 {
		t.Errorf("%v, a solution on %v", err, x.Grid)
	}
}

// Where rounding grows with every grid, the last solution before that is kept, also when interrupted, and no finer ones are tried.
func TestRefinementRounding(t *testing.T) {
	p := load(t, `axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 20], points: 96, boundary: periodic}}
terms: {u_t: {axis: t, derivative: 1}, u6: {axis: x, derivative: 6, order: 2}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t - u6 - u_xx + u^3}
conditions: {a: {at: {t: low}, expression: u - u0}}
`)
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, interrupted := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		least := math.Inf(1)
		x, err := NewRefinement(p, g, 1e-6).Solve(ctx, onSpace(g, func(x []float64) float64 { return math.Sin(math.Pi * x[0] / 5) }), func(x Refined) {
			t.Logf("%v: %.2g", x.Grid.Shape(), x.Error())
			if least = min(least, x.Error()); interrupted && x.Error() > least {
				cancel()
			}
		})
		cancel()
		if x.Error() != least || interrupted != errors.Is(err, context.Canceled) {
			t.Errorf("the estimate kept is %g of %g at least; %v", x.Error(), least, err)
		}
		if !interrupted && (x.Short == nil || !strings.Contains(x.Short.Error(), "rounding")) {
			t.Errorf("what is said is %v", x.Short)
		}
	}
}

// Robertson's reactions on 41 times, of which steps lead to no solution: shorter ones do. The values at the end are those of E. Hairer's test set.
func TestRefinementShortSteps(t *testing.T) {
	p := loadSystem(t, `unknown: [A, B, C]
axes: {t: {range: [0, 40], points: 41, boundary: nodes}, x: {range: [0, 1], points: 9, boundary: periodic}}
terms: {A_t: {of: A, axis: t, derivative: 1}, B_t: {of: B, axis: t, derivative: 1}, C_t: {of: C, axis: t, derivative: 1}, A_xx: {of: A, axis: x, derivative: 2}}
residual:
  a: {expression: A_t + 0.04*A - 1e4*B*C - 1e-9*A_xx}
  b: {expression: B_t - 0.04*A + 1e4*B*C + 3e7*B^2}
  c: {expression: C_t - 3e7*B^2}
conditions: {start_A: {at: {t: low}, expression: A - A0}, start_B: {at: {t: low}, expression: B}, start_C: {at: {t: low}, expression: C}}
initial: {A: {distribution: uniform-constant, low: 0.9, high: 1.1}}
`)
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := NewRefinement(p, g, 1e-5).Solve(t.Context(), slices.Repeat([]float64{1}, 9), func(Refined) {})
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range []float64{0.7158270687, 9.185534765e-6, 0.2841637457} {
		if got := x.Field[c*g.Size()+g.Size()-1]; !(math.Abs(got-want) < 1e-4*want) {
			t.Errorf("%s is %g, want %g", p.Unknowns[c].Name, got, want)
		}
	}
}

// References of two unknowns on many points are on twice these along each axis, not on four times.
func TestRefinementsOfLarge(t *testing.T) {
	p := loadFile(t, `
unknown: [u, v]
time: none
axes: {y: {range: [0, 1], points: 17, boundary: nodes}, x: {range: [0, 2], points: 24, boundary: periodic}}
inputs: {f: {distribution: uniform, low: 1, high: 2}}
terms:
  u_xx: {of: u, axis: x, derivative: 2}
  u_yy: {of: u, axis: y, derivative: 2}
  v_xx: {of: v, axis: x, derivative: 2}
  v_yy: {of: v, axis: y, derivative: 2}
residual: {p: {expression: u_xx + u_yy + v - f}, q: {expression: v_xx + v_yy - u}}
conditions:
  a: {at: {y: low}, expression: u}
  b: {at: {y: high}, expression: u}
  c: {at: {y: low}, expression: v}
  d: {at: {y: high}, expression: v}
`)
	for _, c := range []struct{ y, x, want int }{{17, 24, 4}, {129, 192, 2}} {
		g, err := p.Grid(map[string]int{"y": c.y, "x": c.x})
		if err != nil {
			t.Fatal(err)
		}
		fine, _ := Refinements(p, g)
		solver, err := New(p, g, fine)
		if err != nil || fine[0] != c.want || fine[1] != c.want || !solver.whole.direct {
			t.Errorf("%d x %d: refined by %v, want %d; %v", c.y, c.x, fine, c.want, err)
		}
	}
}

// Fronts, on which the first distances are those of grids that hold nothing yet: the estimate is not below a third of the distance from a much finer solution.
func TestRefinementFronts(t *testing.T) {
	for name, src := range map[string]string{
		"Burgers": `axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 17, boundary: nodes}}
terms: {u_t: {axis: t, derivative: 1}, u_x: {axis: x, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t + 0.5*u*u_x - 0.003*u_xx}
conditions:
  start: {at: {t: low}, expression: u - sin(2*pi*x)}
  left: {at: {x: low}, expression: u}
  right: {at: {x: high}, expression: u}
`,
		"Allen-Cahn": `axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 17, boundary: periodic}}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t - 0.002*u_xx - 100*(u - u^3)}
conditions: {start: {at: {t: low}, expression: "u - 0.01*cos(2*pi*x) - 0.02*cos(4*pi*x+1)"}}
`,
	} {
		p := load(t, src)
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		var fields [][]float64
		var estimate float64
		for _, tolerance := range []float64{4e-5, 1e-3} {
			x, err := NewRefinement(p, g, tolerance).Solve(context.Background(), make([]float64, p.InputSize(g)), func(Refined) {})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			fields, estimate = append(fields, x.Field), x.Error()
		}
		if e := grid.RelativeL2(fields[1], fields[0], 1); !(estimate > e/3) || estimate > 1e-3 {
			t.Errorf("%s: error %.3g, estimate %.3g", name, e, estimate)
		}
	}
}
