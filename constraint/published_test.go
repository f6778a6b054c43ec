package constraint

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
	"pihc/internal/kernel"
	"pihc/lm"
	"pihc/pde"
	"pihc/sim"
)

// Each test here shows one deliberate departure from the paper or its published
// code: what that does, what pihc does, and why. Qn is the number in the notes on
// that code. Both behaviours stay reachable.

// rowValues returns the weighted rows of a set for a field.
func rowValues(sys *pde.System, set *pde.RowSet, u, initial []float64) []float64 {
	rows := sys.NewPointRows(set, set.Points)
	rows.Prepare()
	rows.SetInputs(initial)
	z := rows.NewValues()
	grid.Gather(sys.NewGatherer(nil), u, 1, []grid.Rows[float64]{z})
	return sys.NewRowEvaluator(len(set.Points)).Eval(rows, 0, z.Values, 0, len(set.Points))[0]
}

func rms(v []float64) float64 { return math.Sqrt(kernel.SumSquares64(v) / float64(len(v))) }

// truth is a problem on a grid with the classical solution for u0.
func truth(t *testing.T, problem string, nx int, u0 float64) (sys *pde.System, u, initial []float64) {
	t.Helper()
	p, err := pde.Open(problem)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(map[string]int{"t": 101, "x": nx})
	if err != nil {
		t.Fatal(err)
	}
	if sys, err = p.Discretize(g); err != nil {
		t.Fatal(err)
	}
	solver, err := sim.New(p.Reference.Solver, sim.Setting{Axes: g.Axes, Constants: p.Reference.Constants})
	if err != nil {
		t.Fatal(err)
	}
	u, initial = make([]float64, g.Size()), make([]float64, nx)
	for i := range initial {
		initial[i] = u0
	}
	if _, err := solver.Solve(u, initial); err != nil {
		t.Fatal(err)
	}
	return sys, u, initial
}

const published, shipped = "diffusion-sorption-published", "diffusion-sorption"

// solved runs one constraint on the toy of constraint_test.go.
func solved(t *testing.T, sys *pde.System, basis, initial []float64, o Options) Solution {
	t.Helper()
	c, err := New(sys, len(basis)/sys.Grid.Size(), o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := c.NewWorkspace()
	return s.Assemble(Input[float64]{Basis: basis, Sample: initial, Seed: Seed{1, 2, 3}}).Solve()
}

func tight() lm.Options {
	return lm.Options{Ridge: 1e-4, GTol: 1e-13, FTol: -1, XTol: -1, MaxIterations: 400, NewtonCorrection: true}
}

// Q1: in the published PI-HC the initial condition is broadcast to all 101
// times, so its rows count 101 times; an expert of PI-HC-MoE has them once. That
// confounds the comparison, so here every method has them once. repeat_initial
// gives the published weight, which is that of really stating the rows so often,
// and of the weight sqrt(101).
func TestInitialRowsCountOnce(t *testing.T) {
	const times = 101
	sys, basis, initial := toy(t, shipped, map[string]int{"t": 9, "x": 20}, 5)
	o := Options{Start: 0.1, Solver: tight()}
	once := solved(t, sys, basis, initial, o)
	o.RepeatInitial = times
	repeated := solved(t, sys, basis, initial, o)
	o.RepeatInitial, o.Weights = 0, map[string]float64{"initial": math.Sqrt(times)}
	weighted := solved(t, sys, basis, initial, o)

	// The witness: a PDE file with 101 sets of initial rows.
	p, err := pde.Open(shipped)
	if err != nil {
		t.Fatal(err)
	}
	row := "initial: {kind: initial, at: {t: low}, expression: u - u0, weight: 1}\n"
	if !strings.Contains(string(p.Source), row) {
		t.Fatalf("the built-in file has no line %q", row)
	}
	var rows strings.Builder
	for i := range times {
		fmt.Fprintf(&rows, "  again%d: {kind: initial, at: {t: low}, expression: u - u0}\n", i)
	}
	if p, err = pde.Load("repeated.yaml", []byte(strings.Replace(string(p.Source), "  "+row, rows.String(), 1))); err != nil {
		t.Fatal(err)
	}
	many, err := p.Discretize(sys.Grid)
	if err != nil {
		t.Fatal(err)
	}
	stated := solved(t, many, basis, initial, Options{Start: 0.1, Solver: tight()})

	check.Close(t, repeated.Weights(0), stated.Weights(0), 1e-7, 0)
	check.Close(t, weighted.Weights(0), stated.Weights(0), 1e-7, 0)
	misfit := func(x Solution) float64 { return rms(rowValues(sys, sys.Set("initial"), x.Field(), initial)) }
	if a, b := misfit(once), misfit(repeated); !(b < 0.8*a) {
		t.Errorf("rms of the initial rows: %.3g stated once, %.3g stated %d times", a, b, times)
	}
}

// Q4: jnp.gradient applied twice is a second difference over twice the step,
// with half of u_xx at an end and three quarters next to it, and it does not see a
// sawtooth. The shipped rows have the compact difference, and none at the walls.
func TestSecondDifferenceIsCompact(t *testing.T) {
	term := func(problem string, f func(i int) float64) (values []float64) {
		sys, _, _ := toy(t, problem, map[string]int{"t": 9, "x": 20}, 1)
		u := make([]float64, sys.Grid.Size())
		for i := range u {
			u[i] = f(i % 20)
		}
		for _, op := range sys.Terms {
			if op.Name == "u_xx" {
				values = make([]float64, len(u))
				op.Apply(values, u)
				return values[:20]
			}
		}
		t.Fatal("no term u_xx")
		return nil
	}
	square := func(i int) float64 { x := (float64(i) + 0.5) / 20; return x * x }
	old, compact := term(published, square), term(shipped, square)
	for i := range 20 {
		want := 2.0
		switch i {
		case 0, 19:
			want = 1
		case 1, 18:
			want = 1.5
		}
		if math.Abs(old[i]-want) > 1e-10 {
			t.Errorf("repeated difference of x² at %d: %g, want %g", i, old[i], want)
		}
		if math.Abs(compact[i]-2) > 1e-10 {
			t.Errorf("compact difference of x² at %d: %g, want 2", i, compact[i])
		}
	}
	sawtooth := func(i int) float64 { return float64(1 - 2*(i%2)) }
	old, compact = term(published, sawtooth), term(shipped, sawtooth)
	for i := 2; i < 18; i++ {
		if old[i] != 0 {
			t.Errorf("repeated difference of a sawtooth at %d: %g, want 0", i, old[i])
		}
		if want := -4 * 400 * sawtooth(i); math.Abs(compact[i]-want) > 1e-9 {
			t.Errorf("compact difference of a sawtooth at %d: %g, want %g", i, compact[i], want)
		}
	}
}

// Q6: the published right wall is u = +D u_x and the left one u = 1 at the first
// cell centre; the data were made with the ghost values D (u[n-2]-u[n-1])/dx and
// 1. On the true solution the published rows leave what no training removes, the
// shipped ones almost nothing.
func TestWallsAgreeWithTheData(t *testing.T) {
	later := func(set *pde.RowSet, r []float64) []float64 { // the published walls stand at t = 0 too, in the loss (Q31)
		if set.Points[0] < 1024 {
			return r[1:]
		}
		return r
	}
	left, right := map[string]float64{}, map[string]float64{}
	for _, problem := range []string{published, shipped} {
		sys, u, initial := truth(t, problem, 1024, 0.1)
		left[problem] = rms(later(sys.Set("left"), rowValues(sys, sys.Set("left"), u, initial)))
		right[problem] = rms(later(sys.Set("right"), rowValues(sys, sys.Set("right"), u, initial)))
	}
	t.Logf("left %v, right %v", left, right)
	if v := left[published]; v < 1e-3 || v > 1e-2 {
		t.Errorf("published left rows leave %.2g, in the notes 4e-3", v)
	}
	if v := right[published]; v < 1e-4 || v > 3e-3 {
		t.Errorf("published right rows leave %.2g, in the notes 2e-4 to 2e-3", v)
	}
	if !(left[shipped] < left[published]/20) || !(right[shipped] < right[published]/20) {
		t.Errorf("shipped rows leave %.2g and %.2g, published %.2g and %.2g", left[shipped], right[shipped], left[published], right[published])
	}
	// The sign alone: with it turned, the shipped row would leave as much.
	sys, u, initial := truth(t, shipped, 1024, 0.1)
	src := strings.Replace(string(sys.Problem.Source), "right_ghost + D*right_slope", "right_ghost - D*right_slope", 1)
	p, err := pde.Load("turned.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	turned, err := p.Discretize(sys.Grid)
	if err != nil {
		t.Fatal(err)
	}
	if v := rms(rowValues(turned, turned.Set("right"), u, initial)); !(v > 10*right[shipped]) {
		t.Errorf("with the paper's sign the right rows leave %.2g, with the data's %.2g", v, right[shipped])
	}
}

// Q7: the published residual has rows at t = 0 and at the walls. Most of the true
// solution's squared residual is in the row t = 0, where the solution is a jump,
// while the zero function has none: the loss then prefers zero to the truth. The
// shipped rows begin at t_1 and leave the walls out.
func TestNoRowsAtTheStart(t *testing.T) {
	for _, u0 := range []float64{0.02, 0.1, 0.19} {
		sys, u, initial := truth(t, published, 1024, u0)
		set := sys.Residuals()[0]
		share := func(r []float64) (start, all float64) {
			for i, p := range set.Points {
				all += r[i] * r[i]
				if p < 1024 {
					start += r[i] * r[i]
				}
			}
			return start, all
		}
		start, all := share(rowValues(sys, set, u, initial))
		t.Logf("u0 = %g: norm %.3f, %.0f %% at t = 0", u0, math.Sqrt(all), 100*start/all)
		if start < 0.8*all {
			t.Errorf("u0 = %g: %.0f %% of the published squared residual is at t = 0, in the notes 88 %%", u0, 100*start/all)
		}
		if _, zero := share(rowValues(sys, set, make([]float64, len(u)), initial)); zero != 0 {
			t.Errorf("the zero function leaves %g", zero)
		}
	}
	sys, _, _ := truth(t, shipped, 1024, 0.1)
	set := sys.Residuals()[0]
	for _, p := range set.Points {
		if step, x := p/1024, p%1024; step < 1 || x < 1 || x > 1022 {
			t.Fatalf("a residual row at step %d, cell %d", step, x)
		}
	}
	if want := 100 * 1022; len(set.Points) != want {
		t.Errorf("%d residual rows, want %d", len(set.Points), want)
	}
}

// Q10: the published initial rows are divided by u0, which is NaN at u0 = 0 and
// up to 40,000 times the other rows' weight near it. Both problems here are
// finite at u0 = 0, in value, field and gradient; the shipped initial rows weigh
// the same whatever u0 is, the published ones at most 1000.
func TestZeroInitialCondition(t *testing.T) {
	for _, problem := range []string{published, shipped} {
		for _, adjoint := range adjoints {
			sys, basis, initial := toy(t, problem, map[string]int{"t": 9, "x": 20}, 5)
			clear(initial)
			c, err := New(sys, 5, Options{Mean: true, Experts: []int{1, 2}, Adjoint: adjoint.matrix, PaperAdjoint: adjoint.paper, Solver: lm.Options{Ridge: 1e-4, NewtonCorrection: true}}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := c.NewWorkspace()
			for _, b := range [][]float64{basis, make([]float64, len(basis))} { // a network may also propose nothing
				x := s.Assemble(Input[float64]{Basis: b, Sample: initial, Seed: Seed{1, 2, 3}}).Solve()
				grad := make([]float64, len(basis))
				x.Backward(grad, x.Field(), 0, 0)
				for _, v := range slices.Concat(grad, x.Field(), x.Weights(0), x.Weights(1)) {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("%s, %s: the field, the gradient or a weight has a %g", problem, adjoint.name, v)
						break
					}
				}
			}
		}
	}
	weight := func(problem string, u0 float64) float64 {
		sys, _, initial := toy(t, problem, map[string]int{"t": 9, "x": 20}, 1)
		for i := range initial {
			initial[i] = u0
		}
		u := make([]float64, sys.Grid.Size())
		for i := range u {
			u[i] = u0 + 1
		}
		return rowValues(sys, sys.Set("initial"), u, initial)[0]
	}
	for _, u0 := range []float64{0, 1e-5, 0.01, 0.2} {
		if got, want := weight(published, u0), 1/max(u0, 1e-3); math.Abs(got-want) > 1e-9*want {
			t.Errorf("published initial rows at u0 = %g weigh %g, want %g", u0, got, want)
		}
		if got := weight(shipped, u0); math.Abs(got-weight(shipped, 0.1)) > 1e-9 {
			t.Errorf("shipped initial rows at u0 = %g weigh %g, at 0.1 %g", u0, got, weight(shipped, 0.1))
		}
	}
}

// Q13: the published code reads a ridge and then uses 1e-4. Here the solution is
// stationary for the ridge that was asked for, and for no other.
func TestRidgeIsRespected(t *testing.T) {
	sys, basis, initial := toy(t, shipped, map[string]int{"t": 9, "x": 20}, 5)
	gradient := func(x Solution, ridge float64) float64 {
		n := len(x.Weights(0))
		a, g := make([]float64, n*n), make([]float64, n)
		problem{x.memory.experts[0], x.memory, 0, x.memory.experts[0].curved}.Normal(a, g, x.Weights(0))
		kernel.Axpy64(g, ridge*ridge, x.Weights(0))
		return math.Sqrt(kernel.SumSquares64(g))
	}
	last := math.Inf(1)
	for _, ridge := range []float64{1e-4, 0.1, 1} {
		o := tight()
		o.Ridge = ridge
		x := solved(t, sys, basis, initial, Options{Mean: true, Start: 0.1, Solver: o})
		if g := gradient(x, ridge); g > 1e-7 {
			t.Errorf("ridge %g: gradient %.2g", ridge, g)
		}
		if ridge != 1e-4 {
			if g := gradient(x, 1e-4); g < 1e-4 {
				t.Errorf("ridge %g: the solution is that of 1e-4 (gradient %.2g)", ridge, g)
			}
		}
		norm := math.Sqrt(kernel.SumSquares64(x.Weights(0)))
		if !(norm < last) {
			t.Errorf("ridge %g: weights of size %g, with less ridge %g", ridge, norm, last)
		}
		last = norm
	}
}

// Q16: the published solves start at 1 for one problem and at 0 for the other,
// chosen by name. Here it is a field; it decides the way, not the end.
func TestStart(t *testing.T) {
	sys, basis, initial := toy(t, shipped, map[string]int{"t": 9, "x": 20}, 4)
	run := func(start float64, iterations int) []float64 {
		o := tight()
		o.MaxIterations, o.NewtonCorrection = iterations, iterations > 1
		o.NoRestart = iterations == 1
		return solved(t, sys, basis, initial, Options{Mean: true, Start: start, Solver: o}).Weights(0)
	}
	check.Close(t, run(1, 400), run(0.1, 400), 1e-6, 0)
	if d := check.MaxRel(run(1, 1), run(0.1, 1)); d < 1e-3 {
		t.Errorf("after one iteration the two starts are %.2g apart", d)
	}
	// Fixed weights are the start itself: PI-SC is the sum of its basis.
	x := solved(t, sys, basis, initial, Options{Fixed: true, Start: 1})
	size := sys.Grid.Size()
	for p, u := range x.Field() {
		want := 0.0
		for i := range 4 {
			want += basis[i*size+p]
		}
		if math.Abs(u-want) > 1e-13 {
			t.Fatalf("point %d: %g, want %g", p, u, want)
		}
	}
}

// adjoint is the matrix and the right-hand side of a gradient.
type adjoint struct {
	name   string
	matrix lm.Hessian
	paper  bool
}

var adjoints = []adjoint{{"exact", lm.HessianExact, false}, {"gauss-newton", lm.HessianGaussNewton, false}, {"paper", lm.HessianGaussNewton, true}}

// The paper's adjoint solves (JᵀJ) λ = ω̄ and drops what the rows' second
// derivatives and the residual contribute (text, "implicit function theorem").
// It is the gradient where the residual is zero and another direction where it is
// not, so the exact adjoint is the default. `paper` and `gauss-newton` stay.
func TestAdjointModes(t *testing.T) {
	implicit := func(sys *pde.System, basis, initial []float64, mode adjoint) []float64 {
		n, size := len(basis)/sys.Grid.Size(), sys.Grid.Size()
		o := tight()
		x := solved(t, sys, basis, initial, Options{Mean: true, Start: 0.5, Solver: o, Adjoint: mode.matrix, PaperAdjoint: mode.paper})
		rng := rand.New(rand.NewPCG(5, 6))
		v := check.Normal(rng, make([]float64, size))
		grad := make([]float64, len(basis))
		x.Backward(grad, v, 0, 0)
		for i := range n { // less the direct part
			kernel.Axpy64(grad[i*size:(i+1)*size], -x.Weights(0)[i], v)
		}
		return grad
	}
	cosine := func(a, b []float64) float64 {
		return check.Dot(a, b) / math.Sqrt(check.Dot(a, a)*check.Dot(b, b))
	}

	sys, basis, initial := toy(t, published, map[string]int{"t": 9, "x": 20}, 5)
	exact := implicit(sys, basis, initial, adjoints[0])
	gn, paper := cosine(implicit(sys, basis, initial, adjoints[1]), exact), cosine(implicit(sys, basis, initial, adjoints[2]), exact)
	t.Logf("a basis that cannot satisfy the rows: cosine to the exact gradient %.3f for gauss-newton, %.3f for paper", gn, paper)
	if !(paper < 0.95) {
		t.Errorf("with a residual the paper's gradient has cosine %.3f to the exact one", paper)
	}
	if !(gn > paper) {
		t.Errorf("cosines: gauss-newton %.3f, paper %.3f", gn, paper)
	}

	// A basis that contains a solution: u u_x = x + 3/2 has u = x + 3/2.
	path := filepath.Join(t.TempDir(), "solvable.yaml")
	if err := os.WriteFile(path, []byte(`name: solvable
unknown: u
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 20, boundary: nodes}
terms:
  u_x: {axis: x, derivative: 1}
  u_t: {axis: t, derivative: 1}
residual: {expression: u_t + u*u_x - x - 1.5}
conditions:
  left: {at: {x: low}, expression: u^2 - 2.25}
`), 0o666); err != nil {
		t.Fatal(err)
	}
	sys, basis, initial = toy(t, path, nil, 4)
	for p := range sys.Grid.Size() {
		basis[p] = sys.Grid.Axes[1].Coordinate(p%20) + 1.5
	}
	exact = implicit(sys, basis, initial, adjoints[0])
	for _, mode := range adjoints[1:] {
		if c := cosine(implicit(sys, basis, initial, mode), exact); !(c > 0.9999) {
			t.Errorf("without a residual the %s gradient has cosine %.6f to the exact one", mode.name, c)
		}
	}
}
