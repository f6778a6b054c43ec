package constraint

import (
	"slices"
	"testing"

	"pihc/compute"
)

// deaf is the first of two ranks, and hears zeros from the other.
type deaf struct{ compute.Ranks }

func (deaf) Rank() int { return 0 }
func (deaf) Size() int { return 2 }
func (deaf) AllGather(dst, src []byte) error {
	clear(dst[copy(dst, src):])
	return nil
}

// TestShare: a rank solves its own experts, with the bits of one that solves all, and takes those of others as they come.
// dist.TestExpertsOnRanks compares ranks that hear each other.
func TestShare(t *testing.T) {
	const n = 5
	sys, basis, initial := toy(t, "diffusion-sorption", map[string]int{"t": 9, "x": 32}, n)
	o := exactOptions()
	o.Experts, o.Points, o.Overlap = []int{1, 4}, 40, true
	c, err := New(sys, n, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := Input[float64]{Basis: basis, Sample: initial, Seed: Seed{1, 2, 3}}
	all, part := c.NewWorkspace(), c.NewWorkspace()
	for range 2 { // alone again afterwards
		want := all.Assemble(in).Solve()
		in.Ranks = deaf{}
		got := part.Assemble(in).Solve()
		ubar := make([]float64, sys.Grid.Size())
		for i := range ubar {
			ubar[i] = 1
		}
		got.Backward(make([]float64, len(basis)), ubar, 0, 0)
		for k, e := range part.experts {
			heard, same := e.result.Iterations == 0, slices.Equal(got.Weights(k), want.Weights(k))
			if k < 2 && (heard || !same) || k >= 2 && (!heard || same) {
				t.Errorf("expert %d: %d iterations, weights as of one process: %t", k, e.result.Iterations, same)
			}
			if other := slices.Equal(e.lambda, make([]float64, n)); other != (k >= 2) {
				t.Errorf("expert %d: an adjoint of zeros: %t", k, other)
			}
		}
		in.Ranks = nil
		if stepBytes(part, basis, initial) != stepBytes(all, basis, initial) {
			t.Error("alone, a workspace that had shared a sample gives other bits")
		}
	}
}
