package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// stencil lists the neighbours within a distance along each axis, of a grid whose axes are periodic or not.
func stencil(shape []int, reach int, periodic bool) [][]int32 {
	n := 1
	for _, s := range shape {
		n *= s
	}
	near := make([][]int32, n)
	for p := range n {
		stride := 1
		for a := len(shape) - 1; a >= 0; a-- {
			at := p / stride % shape[a]
			for d := -reach; d <= reach; d++ {
				to := at + d
				if periodic {
					to = (to + shape[a]) % shape[a]
				}
				if d != 0 && to >= 0 && to < shape[a] {
					near[p] = append(near[p], int32(p+(to-at)*stride))
				}
			}
			stride *= shape[a]
		}
	}
	return near
}

// Solutions against the product of the matrix: most of these matrices want pivots that are far from the diagonal.
func TestSolve(t *testing.T) {
	for _, c := range []struct {
		shape    []int
		reach    int
		periodic bool
		unknowns int
		diagonal float64
		delays   bool // some part must have rows whose pivots are only found further on
	}{
		{[]int{1}, 1, false, 1, 1, false},
		{[]int{40}, 1, false, 3, 0, false},
		{[]int{30, 30}, 1, false, 1, 1, false},
		{[]int{30, 30}, 1, false, 1, 0, true},
		{[]int{64, 15}, 1, false, 1, 1e-9, true},
		{[]int{30, 30}, 1, false, 2, 0, false},
		{[]int{40, 16}, 1, true, 1, 1e-3, false},
		{[]int{24, 20}, 2, false, 2, 0, false},
		{[]int{8, 10, 8}, 1, true, 1, 0, true},
		{[]int{33, 35}, 1, true, 3, 1e-9, false},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			near := stencil(c.shape, c.reach, c.periodic)
			m := New(Dissect(near, c.shape, c.unknowns), c.unknowns)
			for round := range 2 { // the second in the memory of the first
				m.Clear()
				n := len(near) * c.unknowns
				want, x, size := make([]float64, n), make([]float64, n), 0.0
				for i := range want {
					want[i] = rng.NormFloat64()
				}
				add := func(i, j int, v float64) {
					m.Add(i, j, v)
					x[i] += v * want[j]
				}
				for p, list := range near {
					for i := range c.unknowns {
						for j := range c.unknowns {
							v := rng.NormFloat64()
							if i == j {
								v *= c.diagonal
							}
							add(p*c.unknowns+i, p*c.unknowns+j, v)
							for _, q := range list {
								add(p*c.unknowns+i, int(q)*c.unknowns+j, rng.NormFloat64())
							}
						}
					}
				}
				if !m.Factor() {
					t.Fatal("no factor")
				}
				m.Solve(x)
				for i, v := range x {
					size = max(size, math.Abs(v-want[i]))
				}
				delayed := 0
				for k, f := range m.fronts {
					delayed += max(0, len(m.tree.nodes[k].points)*c.unknowns-f.pivots)
				}
				t.Logf("round %d: error %.2g; %d fronts, %d pivots left to parents", round, size, len(m.fronts), delayed)
				if c.delays && delayed == 0 {
					t.Error("every pivot was found where it is")
				}
				if size > 1e-8 {
					t.Errorf("round %d: error %g", round, size)
				}
			}
		})
	}
}

// A matrix without an inverse is said to have none.
func TestSingular(t *testing.T) {
	near := stencil([]int{12, 12}, 1, false)
	for _, bad := range []string{"column", "row", "not a number"} {
		m := New(Dissect(near, []int{12, 12}, 1), 1)
		for p, list := range near {
			for _, q := range append([]int32{int32(p)}, list...) {
				if bad == "column" && q == 70 || bad == "row" && p == 70 {
					continue
				}
				v := -1.0
				if int(q) == p {
					v = 5
				}
				if bad == "not a number" && p == 70 {
					v = math.NaN()
				}
				m.Add(p, int(q), v)
			}
		}
		if m.Factor() {
			t.Errorf("%s: a factor", bad)
		}
	}
}

// The dissection of a square takes as many products as is known: about 20 n³ of the two factors.
func TestWork(t *testing.T) {
	for _, n := range []int{32, 64, 128} {
		work, numbers := Dissect(stencil([]int{n, n}, 1, false), []int{n, n}, 1).Work(1)
		cube := float64(n * n * n)
		if work/cube < 5 || work/cube > 30 {
			t.Errorf("%d: %g n³ products", n, work/cube)
		}
		t.Logf("%d: %.3g products, %.3g n³, %.3g numbers", n, work, work/cube, numbers)
	}
}
