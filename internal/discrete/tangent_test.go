package discrete

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pihc/grid"
	"pihc/pde"
)

// waves is of second order in time, has constants in its rows, wall and beginning, and is nonlinear.
const waves = `
name: waves
unknown: u
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 11, boundary: nodes}
constants: {m: 2, a: 0.5, w: 0.3}
terms:
  u_t: {axis: t, derivative: 1, order: 2, closure: one-sided}
  u_tt: {axis: t, derivative: 2, order: 2, closure: one-sided}
  u_xx: {axis: x, derivative: 2, order: 2, closure: one-sided}
residual: {expression: u_tt - u_xx + m*u + a*u^3*cos(3*x*m), rows: {t: [1, 1], x: [1, 1]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - a*sin(pi*x) - w}
  speed: {kind: initial, at: {t: low}, expression: u_t - m*x*(1 - x)}
  left: {at: {x: low}, expression: u - w*cos(t)}
  right: {at: {x: high}, expression: u - w*exp(-m*t)}
`

// TestTangents compares with central differences of solutions: constants and inputs of rows, walls, beginnings and ansatz, of first and
// second order in time, without time, by a factored matrix and by GMRES.
func TestTangents(t *testing.T) {
	file := func(name string) func() (*pde.Problem, error) {
		return func() (*pde.Problem, error) { return pde.Open("../../examples/" + name + "/problem.yaml") }
	}
	for _, c := range []struct {
		name    string
		open    func() (*pde.Problem, error)
		free    []string
		points  []int
		iterate bool // by GMRES
	}{
		{"waves", func() (*pde.Problem, error) { return pde.Load("waves.yaml", []byte(waves)) }, []string{"m", "a", "w"}, []int{9, 11}, false},
		{"sorption", file("sorption"), []string{"n_f", "rho_s"}, []int{9, 12}, false},
		{"gray-scott", file("gray-scott"), nil, []int{5, 8, 8}, false},
		{"darcy-smooth", file("darcy-smooth"), nil, []int{9, 9}, false},
		{"navier-stokes", func() (*pde.Problem, error) { return pde.Open("navier-stokes") }, []string{"nu"}, []int{4, 12, 12}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := c.open()
			if err != nil {
				t.Fatal(err)
			}
			if c.free == nil {
				for _, k := range p.Constants {
					c.free = append(c.free, k.Name)
				}
			}
			if p, err = p.Free(c.free...); err != nil {
				t.Fatal(err)
			}
			g := &grid.Grid{}
			for i, a := range p.Axes {
				a.Points = c.points[i]
				g.Axes = append(g.Axes, a.Axis)
			}
			e := effort{tolerance: 1e-12, left: 1e-3, grading: 3, halvings: 3, direct: thorough.direct, dense: thorough.dense}
			if c.iterate {
				e.direct, e.dense = 0, 0
			}
			s, err := newSolver(p, g, slices.Repeat([]int{1}, len(g.Axes)), e)
			if err != nil {
				t.Fatal(err)
			}
			sample, along := testDirections(p, g)
			solve := func(sample []float64) (all []float64) {
				if err := s.SolveAlong(sample, nil, func(_ int, u []float64, _ [][]float64) { all = append(all, u...) }); err != nil {
					t.Fatal(err)
				}
				return all
			}
			tangents := make([][]float64, len(along))
			if err := s.SolveAlong(sample, along, func(_ int, _ []float64, du [][]float64) {
				for j := range du {
					tangents[j] = append(tangents[j], du[j]...)
				}
			}); err != nil {
				t.Fatal(err)
			}
			for j, direction := range along {
				const h = 1e-4
				moved := func(by float64) []float64 {
					x := slices.Clone(sample)
					for i, v := range direction {
						x[i] += by * v
					}
					return solve(x)
				}
				up, down, up2, down2 := moved(h), moved(-h), moved(2*h), moved(-2*h)
				worst, size := 0.0, 0.0
				for i, v := range tangents[j] {
					d := (8*(up[i]-down[i]) - (up2[i] - down2[i])) / (12 * h)
					worst, size = max(worst, math.Abs(v-d)), max(size, math.Abs(d))
				}
				if size == 0 || !(worst <= 1e-6*size) {
					t.Errorf("direction %d: differs from differences by %g, of %g", j, worst, size)
				}
			}
		})
	}
}

// testDirections returns inputs and one direction for each, in proportion to its size.
func testDirections(p *pde.Problem, g *grid.Grid) (sample []float64, along [][]float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i, in := range p.PlaceInputs(g) {
		for range in.Size {
			switch {
			case in.Sampler.Number():
				sample = append(sample, (in.Sampler.Low+in.Sampler.High)/2)
			case i < p.Initials():
				sample = append(sample, 0)
			default:
				sample = append(sample, 1.5)
			}
		}
		if own := in.Of(sample); !in.Sampler.Number() {
			phase := rng.Float64()
			for k := range own {
				rest := k
				for a := len(in.Space) - 1; a >= 0; a-- {
					x := in.Space[a]
					own[k] += 0.2 * math.Sin(2*math.Pi*(x.Coordinate(rest%x.Points)-x.Lo)/(x.Hi-x.Lo)+phase)
					rest /= x.Points
				}
			}
		}
	}
	for _, in := range p.PlaceInputs(g) {
		direction := make([]float64, len(sample))
		for k, v := range in.Of(sample) {
			in.Of(direction)[k] = v
		}
		along = append(along, direction)
	}
	return sample, along
}
