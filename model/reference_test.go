package model

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"pihc/internal/check"
	"pihc/internal/dataset"
	"pihc/pde"
	"pihc/sim"
)

func navierStokes(t *testing.T) *pde.Problem {
	t.Helper()
	p, err := pde.Open("navier-stokes")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Draws do not depend on who draws: fields are the same from many goroutines, on
// a coarse grid every second point of those on a fine one, and have no mean.
func TestRandomField(t *testing.T) {
	p := navierStokes(t)
	draw := func(points int) func(seed uint64) []float64 {
		g, err := p.Grid(map[string]int{"x": points, "y": points})
		if err != nil {
			t.Fatal(err)
		}
		f, err := dataset.NewSampler(p, g)
		if err != nil {
			t.Fatal(err)
		}
		return func(seed uint64) []float64 {
			dst := make([]float64, points*points)
			if err := f(rand.New(rand.NewPCG(seed, 0)), dst); err != nil {
				t.Error(err)
			}
			return dst
		}
	}
	coarse, fine := draw(16), draw(32)
	var wait sync.WaitGroup
	for seed := range uint64(8) {
		wait.Go(func() {
			u, v := coarse(seed), fine(seed)
			every := make([]float64, len(u))
			for i := range every {
				every[i] = v[i/16*64+i%16*2]
			}
			check.Close(t, every, u, 1e-12, 1e-12)
			if err := dataset.CheckInitial(p, u); err != nil {
				t.Error(err)
			}
			for i := range u {
				u[i] += 0.25
			}
			if err := dataset.CheckInitial(p, u); err == nil || !strings.Contains(err.Error(), "w0 has mean 0.25") {
				t.Errorf("a field with a mean: %v", err)
			}
		})
	}
	wait.Wait()
}

// Solutions on a coarse grid are those of the finer grid the problem asks for,
// thinned out.
func TestReferenceThinned(t *testing.T) {
	p := navierStokes(t)
	p.Reference.Points = map[string]int{"x": 32, "y": 40}
	g, err := p.Grid(map[string]int{"t": 3, "x": 16, "y": 12})
	if err != nil {
		t.Fatal(err)
	}
	fine, err := p.Grid(map[string]int{"t": 3, "x": 32, "y": 48})
	if err != nil {
		t.Fatal(err)
	}
	wave := func(points, half int) []float64 {
		u := make([]float64, points*half)
		for i := range u {
			x, y := 2*math.Pi*float64(i/half)/float64(points), 2*math.Pi*float64(i%half)/float64(half)
			u[i] = math.Sin(x+2*y) + math.Cos(2*x-y)
		}
		return u
	}
	solver, err := dataset.ReferenceSolver(p, g)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, g.Size())
	if _, err := solver.Solve(got, wave(16, 12)); err != nil {
		t.Fatal(err)
	}
	exact, err := sim.New("navier-stokes", sim.Setting{Axes: fine.Axes, Constants: p.Reference.Constants})
	if err != nil {
		t.Fatal(err)
	}
	whole := make([]float64, fine.Size())
	if _, err := exact.Solve(whole, wave(32, 48)); err != nil {
		t.Fatal(err)
	}
	want := make([]float64, len(got))
	for i := range want {
		time, x, y := i/192, i/12%16, i%12
		want[i] = whole[(time*32+2*x)*48+4*y]
	}
	check.Close(t, got, want, 1e-9, 1e-9)
}
