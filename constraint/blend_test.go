package constraint

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
)

// Shares sum to one, are one alone away from borders and a half for both at a border, along two axes and across the seam of a periodic one;
// fields with them are the means of the experts' own.
func TestBlend(t *testing.T) {
	borders := []float64{0, 1, 3, 4}
	for _, c := range []struct {
		x        float64
		periodic bool
		parts    []int
		of       float64 // the share of the first
	}{
		{0.5, false, []int{0}, 1},
		{1, false, []int{0, 1}, 0.5},
		{1.125, false, []int{0, 1}, 1 - 0.8965}, // s = 3/4: s³(10 - 15 s + 6 s²)
		{1.3, false, []int{1}, 1},
		{3.9, false, []int{2}, 1},
		{4, true, []int{2, 0}, 0.5},
		{0, true, []int{2, 0}, 0.5},
		{0, false, []int{0}, 1},
	} {
		got := shares(borders, c.x, 0.25, c.periodic)
		same := slices.Equal(got.experts, c.parts) && math.Abs(got.parts[0]-c.of) < 1e-4
		if !same {
			t.Errorf("x = %g, periodic %v: %v", c.x, c.periodic, got)
		}
	}
	const n = 4
	sys, basis, initial := toy(t, "diffusion-sorption", map[string]int{"t": 17, "x": 32}, n)
	o := exactOptions()
	o.Experts, o.Blend = []int{2, 3}, 0.5
	c, err := New(sys, n, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := c.NewWorkspace().Assemble(Input[float64]{Basis: basis, Sample: initial}).Solve()
	field, size, mixed := x.Field(), sys.Grid.Size(), 0
	along, all := c.Shares(), make([][]float64, 6)
	for k := range all {
		for q := range size {
			all[k] = append(all[k], along[0][k/3][q/32]*along[1][k%3][q%32])
		}
	}
	want := make([]float64, size)
	for q := range want {
		sum := 0.0
		for k := range all {
			v := 0.0
			for i, w := range x.Weights(k) {
				v += w * basis[i*size+q]
			}
			want[q] += all[k][q] * v
			sum += all[k][q]
			if 0 < all[k][q] && all[k][q] < 1 && all[c.Expert(q)][q] < 1 {
				mixed++
			}
		}
		if math.Abs(sum-1) > 1e-14 || all[c.Expert(q)][q] < 0.25 {
			t.Errorf("point %d: shares sum to %g, the owner's is %g", q, sum, all[c.Expert(q)][q])
		}
	}
	check.Close(t, field, want, 1e-12, 1e-12)
	if mixed < size {
		t.Errorf("%d shares of %d points between 0 and 1", mixed, size)
	}
	defer func() {
		if recover() == nil {
			t.Error("Backward of a blended field did not panic")
		}
	}()
	x.Backward(make([]float64, n*size), field, 0, 0)
}

// What is blended are boxes, and no further than half of one.
func TestBlendRefused(t *testing.T) {
	sys, _, _ := toy(t, "diffusion-sorption", map[string]int{"t": 9, "x": 20}, 2)
	for want, c := range map[string]struct {
		router Router
		blend  float64
	}{
		"blend 0.6: want 0 to 0.5":    {nil, 0.6},
		"blend: experts are no boxes": {halves{}, 0.2},
		"blend -1: want 0 to 0.5":     {nil, -1},
	} {
		o := exactOptions()
		o.Experts, o.Blend = []int{1, 2}, c.blend
		if _, err := New(sys, 2, o, c.router, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// halves is a router that is no Boxes.
type halves struct{}

func (halves) Experts() int { return 2 }

func (halves) Divide(g *grid.Grid) (*Division, error) {
	d := &Division{Owner: make([]int32, g.Size())}
	for p := range d.Owner {
		d.Owner[p] = int32(2 * p / len(d.Owner))
	}
	return d, nil
}
