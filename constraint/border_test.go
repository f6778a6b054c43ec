package constraint

import (
	"math"
	"math/rand/v2"
	"testing"

	"pihc/internal/check"
)

// The jumps are those of a walk over all pairs of neighbouring points, across the
// seams of periodic axes too, with each expert's own field on both points.
func TestJumps(t *testing.T) {
	const n = 3
	sys, basis, initial := flow(t, map[string]int{"t": 9, "x": 12, "y": 10}, n)
	g := sys.Grid
	for _, experts := range [][]int{{1, 1, 1}, {1, 2, 1}, {1, 2, 2}, {2, 3, 1}, {1, 1, 4}} {
		o := exactOptions()
		o.Experts, o.Points, o.Solver.MaxIterations = experts, 60, 3
		c, err := New(sys, n, o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := c.NewWorkspace()
		x := s.Assemble(Input[float64]{Basis: basis, Sample: initial, Seed: Seed{1, 2, 3}}).Solve()

		predict := func(k, p int) float64 {
			v := 0.0
			for i, w := range x.Weights(k) {
				v += w * basisOf(s)[p*n+i]
			}
			return v
		}
		var value, slope, pairs float64
		index, next := make([]int, 3), make([]int, 3)
		for p := range g.Size() {
			g.Unravel(p, index)
			for a, axis := range g.Axes {
				copy(next, index)
				if next[a]++; next[a] == axis.Points {
					if next[a] = 0; a == 0 { // time is not periodic
						continue
					}
				}
				q := g.Ravel(next)
				lower, upper := c.Expert(p), c.Expert(q)
				if lower == upper {
					continue
				}
				d, e := predict(upper, p)-predict(lower, p), predict(upper, q)-predict(lower, q)
				h := axis.Step() / (axis.Hi - axis.Lo)
				value += (d*d + e*e) / 2
				slope += (e - d) * (e - d) / (h * h)
				pairs++
			}
		}
		want := jumpPair{}
		if pairs > 0 {
			want = jumpPair{value / pairs, slope / pairs}
		}
		got := jumpsOf(x)
		check.Close(t, []float64{got.Value, got.Slope}, []float64{want.Value, want.Slope}, 1e-11, 0)
	}
}

// The implicit gradient with spectral terms, and with jumps across the seam,
// against central differences of the re-solved problem.
func TestGradientOfFlow(t *testing.T) {
	const n = 3
	sys, basis, initial := flow(t, map[string]int{"t": 7, "x": 8, "y": 6}, n)
	for i := range basis {
		basis[i] *= 0.1
	}
	for i := range initial {
		initial[i] *= 0.1
	}
	o := exactOptions()
	o.Experts, o.Points, o.Start = []int{1, 2, 2}, 50, 0
	c, err := New(sys, n, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := c.NewWorkspace()
	rng := rand.New(rand.NewPCG(5, 6))
	v := make([]float64, sys.Grid.Size())
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	weights, x := jumpPair{30, 0.2}, Solution{s}
	lossOf(s, basis, initial, v, weights)
	bar := make([]float64, len(basis))
	x.Backward(bar, v, weights.Value, weights.Slope)
	for range 4 {
		direction, moved := make([]float64, len(basis)), make([]float64, len(basis))
		want := 0.0
		for i := range direction {
			direction[i] = rng.NormFloat64()
			want += direction[i] * bar[i]
		}
		const h = 1e-5
		at := func(step float64) float64 {
			for i := range moved {
				moved[i] = basis[i] + step*direction[i]
			}
			return lossOf(s, moved, initial, v, weights)
		}
		got := (8*(at(h)-at(-h)) - at(2*h) + at(-2*h)) / (12 * h)
		if math.Abs(got-want) > 1e-5*math.Abs(want) {
			t.Errorf("directional derivative %g, by differences %g", want, got)
		}
	}
}
