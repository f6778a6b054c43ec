package discrete

import (
	"math"
	"path/filepath"
	"testing"

	"pihc/grid"
	"pihc/pde"
)

// On all periodic examples, benchmarks and templates the exponential steps give what Radau's do on the same grid; others have none.
func TestExponential(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../examples/*/problem.yaml", "../../examples/benchmarks/*/problem.yaml", "../../experiment/templates/*.yaml", "../../docs/runs/solve/*.yaml"} {
		more, err := filepath.Glob(pattern)
		if err != nil || len(more) == 0 {
			t.Fatal(pattern, err)
		}
		files = append(files, more...)
	}
	uses := map[string]bool{}
	for _, name := range files {
		p, err := pde.Open(name)
		if err != nil {
			t.Fatal(name, err)
		}
		if p = p.WithoutUnread(); !Marches(p) {
			continue
		}
		points := map[string]int{}
		for _, a := range p.Axes[1:] {
			points[a.Name] = 32
			if len(p.Axes) > 2 {
				points[a.Name] = 8
			}
		}
		g, err := p.Grid(points)
		if err != nil {
			t.Fatal(name, err)
		}
		g.Axes[0].Hi = g.Axes[0].Lo + g.Axes[0].Step()/8 // the implicit march is to be exact
		g.Axes[0].Points = 3
		solver, err := New(p, g, refineTime(g, 8))
		if err != nil {
			continue // more than a small grid
		}
		rough, err := New(p, g, refineTime(g, 1))
		if err != nil {
			t.Fatal(name, err)
		}
		if rough.semilinear = newSemilinear(rough.march); rough.semilinear == nil {
			continue
		}
		rough.tolerance = 1e-8
		uses[p.Name] = true
		sample := smoothInputs(p, g)
		got, want := make([]float64, len(p.Unknowns)*g.Size()), make([]float64, len(p.Unknowns)*g.Size())
		if _, err := solver.Solve(want, sample); err != nil {
			t.Fatal(name, err)
		}
		stats, err := rough.Solve(got, sample)
		if err != nil {
			t.Fatal(name, err)
		}
		d := grid.RelativeL2(got, want, len(p.Unknowns))
		t.Logf("%s: %.1e in %d steps", p.Name, d, stats.Steps)
		if !(d <= 2e-6) {
			t.Errorf("%s: %g from the implicit march", name, d)
		}
		rough.tolerance = 1e-3
		if _, err := rough.Solve(got, sample); err != nil {
			t.Fatal(name, err)
		}
		if d := grid.RelativeL2(got, want, len(p.Unknowns)); !(d <= 1e-3) || math.IsNaN(d) {
			t.Errorf("%s: tolerance 1e-3: %g from the implicit march", name, d)
		}
	}
	for _, name := range []string{"kuramoto-sivashinsky", "gray-scott", "allen-cahn-2d", "cahn-hilliard", "wave", "schroedinger", "korteweg-de-vries", "rotating-shallow-water", "burgers2d", "flow"} {
		if !uses[name] {
			t.Errorf("%s: no exponential steps", name)
		}
	}
	for _, name := range []string{"heat", "sorption", "wave2d"} {
		if uses[name] {
			t.Errorf("%s: exponential steps, where walls or what is not linear forbid them", name)
		}
	}
}

func refineTime(g *grid.Grid, by int) []int {
	out := make([]int, len(g.Axes))
	for i := range out {
		out[i] = 1
	}
	out[0] = by
	return out
}

// smoothInputs are inputs of mean 0 that a grid resolves, each with phases of its own.
func smoothInputs(p *pde.Problem, g *grid.Grid) (sample []float64) {
	for k, in := range p.PlaceInputs(g) {
		stride := in.Size
		field := make([]float64, in.Size)
		for a, axis := range in.Space {
			stride /= axis.Points
			for i := range field {
				x := 2 * math.Pi * (axis.Coordinate(i/stride%axis.Points) - axis.Lo) / (axis.Hi - axis.Lo)
				field[i] += 0.2*math.Sin(x+float64(k+a)) + 0.1*math.Cos(2*x+float64(2*k-a))
			}
		}
		sample = append(sample, field...)
	}
	return sample
}

// A solitary wave of fifth order (T. Kawahara, 1972), 105/169 sech⁴(y/√52), y = x - 36/169 t, on a ring where it has died out. Errors are
// within the tolerance, and no more than three times their estimates, though steps are as long as an interval of the grid.
func TestFifthOrder(t *testing.T) {
	p := load(t, `axes: {t: {range: [0, 10], points: 21, boundary: nodes}, x: {range: [0, 100], points: 128, boundary: periodic}}
terms: {u_t: {axis: t, derivative: 1}, u_x: {spectral: derivative, axis: x}, u_xxx: {spectral: derivative, axis: x, derivative: 3}, u_xxxxx: {spectral: derivative, axis: x, derivative: 5}}
residual: {expression: u_t + u*u_x + u_xxx - u_xxxxx, rows: {t: [1, 0]}}
conditions: {a: {at: {t: low}, expression: u - u0}}
`)
	wave := func(x []float64) float64 {
		return 105.0 / 169 / math.Pow(math.Cosh((x[1]-36.0/169*x[0]-50)/math.Sqrt(52)), 4)
	}
	start := func(x []float64) float64 { return wave([]float64{0, x[0]}) }
	g, _ := p.Grid(nil)
	if d := distance(g, solve(t, p, g, []int{4, 1}, start), wave); d > 3e-5 {
		t.Errorf("relative L2 distance to the wave %.3g, want 3e-5 at most", d)
	}
	for _, tolerance := range []float64{1e-3, 1e-5} {
		x, err := NewRefinement(p, g, tolerance).Solve(t.Context(), onSpace(g, start), func(Refined) {})
		if err != nil {
			t.Fatal(err)
		}
		if e := distance(g, x.Field, wave); e > tolerance || e > 3*x.Error() || x.Short != nil {
			t.Errorf("tolerance %g: error %.3g, estimate %.3g, %v", tolerance, e, x.Error(), x.Short)
		}
	}
}
