package solver

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"example.com/pihc-go/internal/trial"
	"pihc/experiment"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/pde"
)

const own = "{solver: fitzhugh-nagumo, constants: {Du: Du, Dv: Dv, a: a, b: b, eps: eps}}"

// solve draws one sample of the problem and solves it, with another reference in the PDE file.
func solve(t *testing.T, reference string) []float64 {
	t.Helper()
	src, err := os.ReadFile("fitzhugh-nagumo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Load("fitzhugh-nagumo.yaml", []byte(strings.Replace(string(src), own, reference, 1)))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil) // the points of the file
	if err != nil {
		t.Fatal(err)
	}
	draw, err := dataset.NewSampler(p, g)
	if err != nil {
		t.Fatal(err)
	}
	sample, u := make([]float64, p.InputSize(g)), make([]float64, len(p.Unknowns)*g.Size())
	if err := draw(rand.New(rand.NewPCG(1, 2)), sample); err != nil {
		t.Fatal(err)
	}
	solver, err := dataset.ReferenceSolver(p, g)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := solver.Solve(u, sample); err != nil {
		t.Fatal(err)
	}
	return u
}

// On the file's own points in space the rows of the file are the same ordinary differential equations as the solver's,
// and the solutions are the same but for the steps in time. On nine times as many they differ by the grid's error.
func TestAgainstRows(t *testing.T) {
	u := solve(t, own)
	for reference, limit := range map[string]float64{
		"{solver: discrete, refine: {t: 8, x: 1}}": 1e-7,
		"{solver: discrete}":                       3e-3,
	} {
		if d := grid.RelativeL2Of(u, solve(t, reference), 2); !(d < limit) {
			t.Errorf("%s: solutions differ by %.2g, want less than %.2g", reference, d, limit)
		} else {
			t.Logf("%s: solutions differ by %.2g", reference, d)
		}
	}
}

// It refuses what it is not for.
func TestRefuses(t *testing.T) {
	src, err := os.ReadFile("fitzhugh-nagumo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ old, new, want string }{
		{"boundary: cells", "boundary: nodes", "wants axes t (nodes) and x (cells)"},
		{"reference:", "inputs: {f: {distribution: random-series, series: cosine, axes: [x]}}\nreference:", "initial conditions alone"},
		{", eps: eps", "", "needs the constant eps"},
	} {
		p, err := pde.Load("other.yaml", []byte(strings.Replace(string(src), x.old, x.new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dataset.ReferenceSolver(p, g); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("error %v, want one with %q", err, x.want)
		}
	}
}

// An experiment on this PDE file is scored with these solutions.
func TestExperiment(t *testing.T) {
	run, first, last := trial.Train(t, "./spec.yaml", "network={width: 6, layers: 2, modes: {t: 4, x: 6}, basis: 6}", "training.steps=20")
	if !(last < first) {
		t.Errorf("the residual of validation samples goes from %g to %g", first, last)
	}
	m, err := run.Score(t.Context(), experiment.ScoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, still := m.RelativeL2.Mean, m.Persistence.Mean; !(got < still) {
		t.Errorf("relative error %.2g, and %.2g of the initial values at all times", got, still)
	}
}
