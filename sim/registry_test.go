package sim

import (
	"fmt"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
)

func sorptionAxes(outputs, points int) []grid.Axis {
	return []grid.Axis{
		{Name: "t", Lo: 0, Hi: 500, Points: outputs, Boundary: grid.Nodes},
		{Name: "x", Lo: 0, Hi: 1, Points: points, Boundary: grid.Cells},
	}
}

var sorptionConstants = map[string]float64{"D": 5e-4, "phi": 0.29, "rho_s": 2880, "k": 3.5e-4, "n_f": 0.874}

// A solver made by name gives what the struct gives.
func TestNew(t *testing.T) {
	s, err := New("diffusion-sorption", Setting{
		Axes: sorptionAxes(11, 32), Constants: sorptionConstants,
		Options: map[string]any{"wall_conditions": true, "rtol": 1e-7, "atol": 1e-8},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := paperSorption(32)
	d.Outputs, d.WallConditions, d.RTol, d.ATol = 11, true, 1e-7, 1e-8
	got, want := make([]float64, 11*32), make([]float64, 11*32)
	if _, err := s.Solve(got, constant(32, 0.1)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Solve(want, constant(32, 0.1)); err != nil {
		t.Fatal(err)
	}
	check.Equal(t, got, want)
}

func TestNewErrors(t *testing.T) {
	with := func(name string, value float64) map[string]float64 {
		c := map[string]float64{}
		for k, v := range sorptionConstants {
			c[k] = v
		}
		c[name] = value
		return c
	}
	without := with("D", 1)
	delete(without, "n_f")
	periodic := sorptionAxes(11, 32)
	periodic[1].Boundary = grid.Periodic
	for _, c := range []struct {
		name      string
		axes      []grid.Axis
		constants map[string]float64
		options   map[string]any
		want      string
	}{
		{"diffusion", sorptionAxes(11, 32), sorptionConstants, nil, `no solver "diffusion"; there is diffusion-sorption, navier-stokes`},
		{"diffusion-sorption", sorptionAxes(11, 32), with("rho", 1), nil, `no constant "rho"; it has D, phi, rho_s, k, n_f`},
		{"diffusion-sorption", sorptionAxes(11, 32), without, nil, "needs the constant n_f"},
		{"diffusion-sorption", sorptionAxes(11, 32), with("phi", 2), nil, "porosity phi = 2"},
		{"diffusion-sorption", sorptionAxes(11, 2), sorptionConstants, nil, "axis x has 2 points"},
		{"diffusion-sorption", sorptionAxes(11, 32)[:1], sorptionConstants, nil, "two axes"},
		{"diffusion-sorption", periodic, sorptionConstants, nil, "wants axis x (space) with cells, not periodic"},
		{"diffusion-sorption", sorptionAxes(11, 32), sorptionConstants, map[string]any{"tol": 1.0}, `no option "tol"`},
		{"diffusion-sorption", sorptionAxes(11, 32), sorptionConstants, map[string]any{"rtol": "small"}, "option rtol is small; want a number"},
		{"diffusion-sorption", sorptionAxes(11, 32), sorptionConstants, map[string]any{"wall_conditions": 1}, "want true or false"},
	} {
		_, err := New(c.name, Setting{Axes: c.axes, Constants: c.constants, Options: c.options})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

func ExampleNew() {
	solver, err := New("diffusion-sorption", Setting{
		Axes: []grid.Axis{
			{Name: "t", Lo: 0, Hi: 500, Points: 101, Boundary: grid.Nodes},
			{Name: "x", Lo: 0, Hi: 1, Points: 64, Boundary: grid.Cells},
		},
		Constants: map[string]float64{"D": 5e-4, "phi": 0.29, "rho_s": 2880, "k": 3.5e-4, "n_f": 0.874},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	u := make([]float64, 101*64)
	initial := make([]float64, 64) // nothing dissolved at first
	if _, err := solver.Solve(u, initial); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("at the end: %.3f near the left wall, %.3f in the middle\n", u[100*64], u[100*64+32])
	// Output: at the end: 0.967 near the left wall, 0.153 in the middle
}
