package paper

import (
	"slices"
	"testing"

	"pihc/constraint"
	"pihc/model"
	"pihc/pde"
)

// TestConstrainedPoints: experts that also have rows beyond their borders have fewer within, and
// only these are points where the equation was imposed on what is the prediction there.
func TestConstrainedPoints(t *testing.T) {
	spec, err := model.OpenSpec("diffusion-sorption-demo", "constraint.points=200", "constraint.overlap.end=0.2")
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(spec.Problem)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(spec.Grid)
	if err != nil {
		t.Fatal(err)
	}
	sys, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	options, err := spec.Options(p)
	if err != nil {
		t.Fatal(err)
	}
	c, err := constraint.New(sys, 1, options, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	seed := constraint.Seed{Run: 1, Step: 2, Sample: 3}
	drawn, scratch := make([]int32, 200), make([]int32, 200)
	for k, points := range constrainedPoints(c, spec.Constraint.Overlap.At(1), seed) {
		c.SamplePoints(drawn, scratch, 0, k, 0.2, seed) // what a solve has (constraint.TestOverlap)
		var want []int32
		for _, q := range drawn {
			if c.Expert(int(q)) == k {
				want = append(want, q)
			}
		}
		if len(want) != 160 {
			t.Fatalf("expert %d: %d of 200 rows within its borders; want four fifths", k, len(want))
		}
		if !slices.Equal(points, want) {
			t.Errorf("expert %d: points %v; want %v", k, points, want)
		}
	}
}
