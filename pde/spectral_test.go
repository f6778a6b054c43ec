package pde

import (
	"math"
	"testing"

	"pihc/internal/check"
)

// The decaying vortex w = sin(2πx) sin(2πy) exp(-8π²νt) solves the equation: its
// velocity is along the level lines of w, so advection vanishes.
func TestNavierStokesTaylorGreen(t *testing.T) {
	p, err := Open("navier-stokes")
	if err != nil {
		t.Fatal(err)
	}
	s := discretize(t, p, map[string]int{"t": 12, "x": 12, "y": 10})
	const nu = 1e-4
	u := field(s, func(x []float64) float64 {
		return math.Sin(2*math.Pi*x[1]) * math.Sin(2*math.Pi*x[2]) * math.Exp(-8*math.Pi*math.Pi*nu*x[0])
	})
	r := rowValues(s, s.Sets[0], u, u[:s.InputSize()])
	if len(r) != s.Grid.Size() {
		t.Fatalf("%d residual rows on %d points", len(r), s.Grid.Size())
	}
	// The rate is 8π²ν = 0.0079, and differences of order 4 in time are off by
	// a few rate⁵ step⁴.
	check.Close(t, r, make([]float64, len(r)), 0, 1e-10)

	// A travelling vortex: w = sin(2πy) carries its perturbation along x with
	// velocity ψ_y = cos(2πy)/(2π).
	w := field(s, func(x []float64) float64 { return math.Sin(2 * math.Pi * x[2]) })
	got := make([]float64, s.Grid.Size())
	for _, term := range s.Terms {
		if term.Name == "vel_x" {
			term.Apply(got, w)
		}
	}
	check.Close(t, got, field(s, func(x []float64) float64 { return math.Cos(2*math.Pi*x[2]) / (2 * math.Pi) }), 0, 1e-12)
}

// The published residual is the square of the other one, with other differences
// (authors' notes, Q2 and Q3).
func TestNavierStokesPublished(t *testing.T) {
	p, err := Open("navier-stokes-published")
	if err != nil {
		t.Fatal(err)
	}
	s := discretize(t, p, map[string]int{"t": 6, "x": 8, "y": 8})
	set := s.Sets[0]
	rng := check.Rand(4)
	u := check.Normal(rng, make([]float64, s.Grid.Size()))
	value := map[string][]float64{}
	for _, i := range set.Terms {
		z := make([]float64, len(u))
		s.Terms[i].Apply(z, u)
		value[s.Terms[i].Name] = z
	}
	want := make([]float64, len(u))
	for i := range want {
		r := value["w_t"][i] + value["vel_x"][i]*value["w_x"][i] + value["vel_y"][i]*value["w_y"][i] - 1e-4*(value["w_xx"][i]+value["w_yy"][i])
		want[i] = r * r
	}
	check.Close(t, rowValues(s, set, u, u[:s.InputSize()]), want, 1e-12, 1e-12)
	// x² has the second derivative 2; repeated differences give half of it at
	// an end that a periodic axis does not have, and 3/4 next to it.
	op := s.Terms[4]
	if op.Name != "w_xx" {
		t.Fatalf("term 4 is %s", op.Name)
	}
	x2 := field(s, func(x []float64) float64 { return x[1] * x[1] })
	got := make([]float64, len(u))
	op.Apply(got, x2)
	column := []float64{got[0], got[8], got[16], got[24]}
	check.Close(t, column, []float64{1, 1.5, 2, 2}, 1e-12, 1e-12)
}
