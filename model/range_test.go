package model

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/data"
	"pihc/pde"
)

// Draws that were not seen are like those that were; others are not.
func TestRange(t *testing.T) {
	for _, name := range pde.Builtins() {
		p, err := pde.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		points := map[string]int{}
		for _, a := range p.Axes {
			points[a.Name] = 16
		}
		g, err := p.Grid(points)
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewRange(p, g)
		if err != nil {
			t.Fatal(err)
		}
		next, err := sampler(p, g)
		if err != nil {
			t.Fatal(err)
		}
		u0 := make([]float64, g.Size()/16)
		for i := range 200 {
			if err := next(data.SampleRand(7, i), u0); err != nil {
				t.Fatal(err)
			}
			if why := r.Outside(u0); why != "" {
				t.Fatalf("%s, draw %d: %s", name, i, why)
			}
		}
		far := slices.Clone(u0)
		for i := range far {
			far[i] *= 1e6
		}
		if why := r.Outside(far); !strings.Contains(why, "those of the PDE file's distribution are from") {
			t.Errorf("%s: a million times too large: %q", name, why)
		}
		in := r.inputs[0]
		size := (in.high - in.low) / 2
		for i := range u0 {
			u0[i] = (in.low+in.high)/2 + size*math.Copysign(1, float64(i%2)-0.5)
		}
		if why := r.Outside(u0); !strings.Contains(why, "neighbouring values differ") {
			t.Errorf("%s: a sawtooth: %q", name, why)
		}
	}
}
