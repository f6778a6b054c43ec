package dataset_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
	"pihc/internal/dataset"
	"pihc/pde"
	"pihc/sim"
)

// rotation solves u_t = -a v + f, v_t = a u at every point of x: a solver as a program outside
// of this module has it.
type rotation struct {
	rate  float64
	times []float64
	width int
}

func newRotation(s sim.Setting) (sim.Solver, error) {
	names := make([]string, len(s.Inputs))
	for i, in := range s.Inputs {
		names[i] = in.Name
		if len(in.Axes) != 1 || in.Axes[0] != s.Axes[1] {
			return nil, errors.New("rotation: inputs are along x")
		}
	}
	if len(s.Axes) != 2 || !slices.Equal(s.Unknowns, []string{"u", "v"}) || !slices.Equal(names, []string{"u0", "v0", "f"}) {
		return nil, errors.New("rotation: want unknowns u and v, and an input f")
	}
	return rotation{s.Constants["a"], s.Axes[0].Coordinates(), s.Axes[1].Points}, nil
}

func (r rotation) Solve(dst, sample []float64) (sim.Stats, error) {
	u0, v0, f := sample[:r.width], sample[r.width:2*r.width], sample[2*r.width:]
	for i, t := range r.times {
		sin, cos := math.Sincos(r.rate * t)
		for j := range r.width {
			w := v0[j] - f[j]/r.rate
			dst[i*r.width+j] = cos*u0[j] - sin*w
			dst[(len(r.times)+i)*r.width+j] = sin*u0[j] + cos*w + f[j]/r.rate
		}
	}
	return sim.Stats{Steps: 1}, nil
}

func init() {
	sim.Register("rotation", sim.Maker{Constants: []string{"a"}, General: true, Make: newRotation})
}

const rotationFile = `name: rotation
unknown: [u, v]
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: periodic}
constants: {a: 2}
terms: {u_t: {of: u, axis: t, derivative: 1}, v_t: {of: v, axis: t, derivative: 1}}
residual: {first: {expression: u_t + a*v - f, rows: {t: [1, 0]}}, second: {expression: v_t - a*u, rows: {t: [1, 0]}}}
conditions: {u: {kind: initial, at: {t: low}, expression: u - u0}, v: {kind: initial, at: {t: low}, expression: v - v0}}
initial: {u: {distribution: random-sines, low: -1, high: 1}, v: {distribution: random-sines, low: -1, high: 1}}
inputs: {f: {distribution: random-series, series: periodic, axes: [x]}}
reference: `

// load returns the problem and its grid.
func load(t *testing.T, src string) (*pde.Problem, *grid.Grid) {
	t.Helper()
	p, err := pde.Load("rotation.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, g
}

// solution is that of one sample by a reference.
func solution(t *testing.T, reference string) (u, sample []float64) {
	t.Helper()
	p, g := load(t, rotationFile+reference)
	sample = make([]float64, p.SampleSize(g))
	for k := range 3 {
		for j := range 8 {
			sample[8*k+j] = math.Cos(2*math.Pi*float64(j)/8 + float64(k))
		}
	}
	solver, err := dataset.ReferenceSolver(p, g)
	if err != nil {
		t.Fatal(err)
	}
	u = make([]float64, 2*g.Size())
	if _, err := solver.Solve(u, sample); err != nil {
		t.Fatal(err)
	}
	return u, sample
}

// A registered solver makes the solutions of a system with an input: those of the file's own rows, and
// on more points where the reference has `points`.
func TestRegisteredSolver(t *testing.T) {
	want, _ := solution(t, "{solver: discrete}")
	got, sample := solution(t, "{solver: rotation, constants: {a: 2}}")
	check.Close(t, got, want, 1e-6, 1e-6)
	if !slices.Equal(got[:8], sample[:8]) {
		t.Error("the solution does not begin with u0")
	}
	finer, _ := solution(t, "{solver: rotation, constants: {a: 2}, points: {x: 20}}")
	check.Close(t, finer, got, 1e-12, 1e-12)
}

// A solver says what it is for.
func TestSolverRefuses(t *testing.T) {
	other := strings.NewReplacer("inputs: {f:", "inputs: {h:", "- f,", "- h,").Replace(rotationFile)
	for _, c := range []struct{ src, want string }{
		{rotationFile + "{solver: rotation, constants: {b: 2}}", `rotation has no constant "b"`},
		{rotationFile + "{solver: rotation}", "solver rotation needs the constant a"},
		{rotationFile + "{solver: rotations, constants: {a: 2}}", "did you mean rotation?"},
		{rotationFile + "{solver: navier-stokes}", "solver navier-stokes is of one unknown, and the problem has 2; solver: discrete"},
		{other + "{solver: rotation, constants: {a: 2}}", "want unknowns u and v, and an input f"},
	} {
		p, g := load(t, c.src)
		if _, err := dataset.ReferenceSolver(p, g); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a name is registered twice")
		}
	}()
	sim.Register("rotation", sim.Maker{})
}
