package model

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/data"
	"pihc/grid"
	"pihc/pde"
)

// rotation turns (u, v) at every point, whose solution is known.
const rotation = `name: rotation
unknown: [u, v]
axes:
  t: {range: [0, 1], points: 5, boundary: nodes}
  x: {range: [0, 1], points: 6, boundary: cells}
terms:
  u_t: {of: u, axis: t, derivative: 1}
  v_t: {of: v, axis: t, derivative: 1}
residual:
  first: {expression: u_t - v}
  second: {expression: v_t + u}
conditions:
  start_u: {kind: initial, at: {t: low}, expression: u - u0}
  start_v: {kind: initial, at: {t: low}, expression: v - v0}
initial:
  u: {distribution: uniform-constant, low: 0, high: 1}
  v: {distribution: random-sines, low: 1, high: 2}
`

// A dataset of two unknowns has two initial conditions a sample and both solutions, solved or
// of a file, on the grid of the spec or thinned out to a coarser one.
func TestSystemDataset(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "own.yaml")
	generate := func(reference string) (*data.Dataset, error) {
		return generated(t, path, rotation+"reference: {"+reference+"}\n", "{train: {count: 3}, validation: {count: 2}, test: {count: 2}}")
	}
	const n, times = 6, 5
	set, err := generate("solver: discrete")
	if err != nil {
		t.Fatal(err)
	}
	initial, err := set.Initial("test")
	if err != nil || !slices.Equal(initial.Shape, []int{2, 2 * n}) {
		t.Fatalf("%v, %v", initial, err)
	}
	solutions, err := set.SolutionsRange("test", 0, 2)
	if err != nil || !slices.Equal(solutions.Shape, []int{2, 2, times, n}) {
		t.Fatalf("%v, %v", solutions, err)
	}
	for i := range 2 {
		start, field := initial.Float64()[i*2*n:], solutions.Float64()[i*2*times*n:]
		for q := range times * n {
			u0, v0, at := start[q%n], start[n+q%n], float64(q/n)/(times-1)
			u, v := u0*math.Cos(at)+v0*math.Sin(at), v0*math.Cos(at)-u0*math.Sin(at)
			if math.Abs(field[q]-u) > 1e-6 || math.Abs(field[times*n+q]-v) > 1e-6 {
				t.Fatalf("sample %d, point %d: (%g, %g), want (%g, %g)", i, q, field[q], field[times*n+q], u, v)
			}
		}
	}
	// The same by a file: what is trained with is drawn, the rest is the file's.
	u, v := make([]float64, 0), make([]float64, 0)
	for i := range 2 {
		own := solutions.Float64()[i*2*times*n:]
		u, v = append(u, own[:times*n]...), append(v, own[times*n:2*times*n]...)
	}
	u, v = slices.Concat(u, u), slices.Concat(v, v)
	shape := []int{4, times, n}
	file := filepath.Join(dir, "own.npz")
	arrays := []data.Named{{Name: "u", Array: data.NewArray(shape, u)}, {Name: "v", Array: data.NewArray(shape, v)}}
	if err := data.WriteNPZ(file, arrays); err != nil {
		t.Fatal(err)
	}
	if set, err = generate("file: own.npz"); err != nil {
		t.Fatal(err)
	}
	if again, err := set.SolutionsRange("test", 0, 2); err != nil || !slices.Equal(again.Float64(), solutions.Float64()) {
		t.Errorf("solutions of a file: %v", err)
	}
	if again, err := set.Initial("test"); err != nil || !slices.Equal(again.Float64()[:n], u[:n]) || !slices.Equal(again.Float64()[n:2*n], v[:n]) {
		t.Errorf("initial conditions of a file: %v", err)
	}
	if err := data.WriteNPZ(file, arrays[:1]); err != nil {
		t.Fatal(err)
	}
	if _, err := generate("file: own.npz"); err == nil || !strings.Contains(err.Error(), `no array "v"`) {
		t.Errorf("a file without v: %v", err)
	}
	if err := data.WriteNPZ(file, []data.Named{arrays[0], {Name: "v", Array: data.NewArray([]int{3, times, n}, v[:3*times*n])}}); err != nil {
		t.Fatal(err)
	}
	if _, err := generate("file: own.npz"); err == nil || !strings.Contains(err.Error(), "3 solutions in array v") {
		t.Errorf("a file with less of v: %v", err)
	}
	if _, err := generate("solver: diffusion-sorption, constants: {D: 1, phi: 0.29, rho_s: 2880, k: 1, n_f: 1}"); err == nil || !strings.Contains(err.Error(), "is of one unknown, and the problem has 2") {
		t.Errorf("a classical solver: %v", err)
	}
}

// errorOfReference measures the reference of a PDE file.
func errorOfReference(t *testing.T, src string) float64 {
	t.Helper()
	p, err := pde.Load("p.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	s, err := LoadSpec("s.yaml", []byte("defaults: paper\nproblem: p.yaml\ndata: {validation: {count: 2}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	e, _, ok, err := s.ReferenceError(p)
	if err != nil || !ok || !(e > 0) {
		t.Fatal(e, err)
	}
	return e
}

// The error of a reference is that of both unknowns, each over its own size.
func TestSystemReferenceError(t *testing.T) {
	var errs []float64
	for _, factor := range []string{"1", "1e6"} {
		src := strings.NewReplacer("u_t - v}", "u_t - v/"+factor+"}", "v_t + u}", "v_t + u*"+factor+"}", "low: 1, high: 2", fmt.Sprintf("low: 1, high: 2, scale: %s", factor)).Replace(rotation)
		errs = append(errs, errorOfReference(t, src+"reference: {solver: discrete}\n"))
	}
	if math.Abs(errs[1]-errs[0]) > 1e-3*errs[0] {
		t.Errorf("%g, and %g with v a million times as large", errs[0], errs[1])
	}
}

// A reference that alternates from point to point, for want of points in a layer at the outflow,
// is found out though every second point of it is smooth, and one that is not refined has an error too.
func TestReferenceErrorFound(t *testing.T) {
	const layer = `name: layer
unknown: u
axes:
  t: {range: [0, 1], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 33, boundary: nodes}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
  u_x: {axis: x, derivative: 1, order: 2}
  u_xx: {axis: x, derivative: 2, order: 2}
residual: {expression: u_t + u_x - D*u_xx, rows: {t: [1, 0], x: [1, 1]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
  left: {at: {x: low}, expression: u}
  right: {at: {x: high}, expression: u}
initial: {distribution: random-series, series: sine, parameters: {modes: 3, decay: 1}}
`
	for _, c := range []struct {
		constants, reference string
		least, most          float64
	}{
		{"{D: 1e-6}", "{solver: discrete}", 0.5, 10},
		{"{D: 0.1}", "{solver: discrete}", 1e-4, 0.05},
		{"{D: 0.1}", "{solver: discrete, refine: {t: 1, x: 1}}", 1e-3, 0.2},
	} {
		if e := errorOfReference(t, layer+"constants: "+c.constants+"\nreference: "+c.reference+"\n"); !(e > c.least && e < c.most) {
			t.Errorf("%s, %s: %g, want %g to %g", c.constants, c.reference, e, c.least, c.most)
		}
	}
}

func TestThinFields(t *testing.T) {
	fine := []grid.Axis{{Name: "t", Hi: 1, Points: 5, Boundary: grid.Nodes}, {Name: "x", Hi: 1, Points: 6, Boundary: grid.Periodic}}
	coarse := slices.Clone(fine)
	coarse[0].Points, coarse[1].Points = 3, 2
	src, dst := make([]float64, 2*30), make([]float64, 2*6)
	for i := range src {
		src[i] = float64(i)
	}
	grid.Thin(dst, src, coarse, fine)
	if want := []float64{0, 3, 12, 15, 24, 27, 30, 33, 42, 45, 54, 57}; !slices.Equal(dst, want) {
		t.Errorf("%v, want %v", dst, want)
	}
}
