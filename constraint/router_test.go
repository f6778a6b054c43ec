package constraint

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/internal/check"
	"pihc/lm"
)

func plane(nt, nx int, x grid.Boundary) *grid.Grid {
	return &grid.Grid{Axes: []grid.Axis{
		{Name: "t", Lo: 0, Hi: 500, Points: nt, Boundary: grid.Nodes},
		{Name: "x", Lo: 0, Hi: 1, Points: nx, Boundary: x},
	}}
}

// A window is a box of indices.
type window struct{ Lo, Hi []int }

// windows are the boxes that a router gives its experts.
func windows(t *testing.T, r Router, g *grid.Grid) []window {
	t.Helper()
	d, err := r.Divide(g)
	if err != nil {
		t.Fatal(err)
	}
	var boxes []window
	for k := range r.Experts() {
		points := d.Points(k)
		w := window{Lo: make([]int, len(g.Axes)), Hi: make([]int, len(g.Axes))}
		g.Unravel(int(points[0]), w.Lo)
		g.Unravel(int(points[len(points)-1]), w.Hi)
		for a := range w.Hi {
			w.Hi[a]++
		}
		if !slices.Equal(g.Window(w.Lo, w.Hi), points) {
			t.Fatalf("expert %d has no box", k)
		}
		boxes = append(boxes, w)
	}
	return boxes
}

// Sizes need not divide: the boxes cover every point once, differ by one point
// at most along each axis, and come with the last axis fastest.
func TestWindowsUneven(t *testing.T) {
	for _, experts := range [][]int{nil, {1, 4}, {3, 7}, {2, 3}, {4}, {0, 5}, {7, 1}} {
		for _, boundary := range []grid.Boundary{grid.Cells, grid.Nodes, grid.Periodic} {
			g := plane(101, 128, boundary)
			r := NewBoxes(g, experts)
			w := windows(t, r, g)
			if len(w) != r.Experts() {
				t.Fatalf("%v: %d windows, %d experts", experts, len(w), r.Experts())
			}
			count := make([]int, g.Size())
			for k, box := range w {
				for _, p := range g.Window(box.Lo, box.Hi) {
					count[p]++
				}
				if k == 0 {
					continue
				}
				before, starts := w[k-1], box.Lo
				if starts[1] != before.Hi[1] && !(starts[1] == 0 && before.Hi[1] == 128 && starts[0] == before.Hi[0]) {
					t.Errorf("%v: window %d starts at %v after %v", experts, k, starts, before)
				}
			}
			for p, c := range count {
				if c != 1 {
					t.Fatalf("%v %s: point %d is in %d windows", experts, boundary, p, c)
				}
			}
			for axis := range g.Axes {
				least, most := math.MaxInt, 0
				for _, box := range w {
					least, most = min(least, box.Hi[axis]-box.Lo[axis]), max(most, box.Hi[axis]-box.Lo[axis])
				}
				// With both ends points, the last part also has the upper end.
				if slack := 1; most-least > slack+1 || boundary != grid.Nodes && axis == 1 && most-least > slack {
					t.Errorf("%v %s: axis %d is cut into parts of %d to %d points", experts, boundary, axis, least, most)
				}
			}
		}
	}
}

// Borders are physical coordinates: the decomposition made for one grid puts the
// same places into the same expert on every other grid.
func TestBordersOnOtherGrids(t *testing.T) {
	train := plane(101, 1024, grid.Cells)
	r := NewBoxes(train, []int{2, 3})
	for _, g := range []*grid.Grid{train, plane(101, 128, grid.Cells), plane(51, 100, grid.Cells), plane(37, 31, grid.Nodes), plane(64, 17, grid.Periodic)} {
		index := make([]int, 2)
		for k, w := range windows(t, r, g) {
			for _, p := range g.Window(w.Lo, w.Hi) {
				g.Unravel(int(p), index)
				for a, j := range []int{k / 3, k % 3} {
					x, b := g.Axes[a].Coordinate(index[a]), r[a]
					const rounding = 1e-7
					inside := x >= b[j]-rounding && x < b[j+1]-rounding || j == len(b)-2 && x <= b[j+1]+rounding
					if !inside {
						t.Fatalf("%v: %s = %g is with expert %d, whose borders are %g and %g", g.Shape(), g.Axes[a].Name, x, k, b[j], b[j+1])
					}
				}
			}
		}
	}
}

// A point on a border belongs to the upper part, whatever the rounding of the
// coordinates.
func TestBordersOnPoints(t *testing.T) {
	for parts := 2; parts < 60; parts++ {
		g := &grid.Grid{Axes: []grid.Axis{{Name: "x", Lo: -0.3, Hi: 0.7, Points: parts + 1, Boundary: grid.Nodes}}}
		for k, w := range windows(t, NewBoxes(g, []int{parts}), g) {
			hi := k + 1
			if k == parts-1 {
				hi++ // with the upper end
			}
			if w.Lo[0] != k || w.Hi[0] != hi {
				t.Fatalf("%d parts: part %d holds points %d to %d", parts, k, w.Lo[0], w.Hi[0])
			}
		}
	}
}

func TestRouterRefuses(t *testing.T) {
	g := plane(11, 8, grid.Cells)
	for _, test := range []struct {
		router Boxes
		grid   *grid.Grid
		want   string
	}{
		{NewBoxes(g, []int{1, 9}), g, "axis x has 8 points, too few for 9 experts"},
		{NewBoxes(g, []int{12, 1}), g, "axis t has 11 points, too few for 12 experts"},
		{NewBoxes(plane(101, 1024, grid.Cells), []int{1, 64}), g, "axis x has 8 points, too few for 64 experts"},
		{nil, g, "borders along 0 axes, but the grid has 2"},
		{Boxes{{0, 500}, {}}, g, "axis x has 0 borders"},
		{Boxes{{0, 500}, {0, 0.9, 0.1, 1}}, g, "axis x"},
	} {
		_, err := test.router.Divide(test.grid)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.router, err, test.want)
		}
	}
	sys, _, _ := toy(t, "diffusion-sorption", map[string]int{"t": 9, "x": 20}, 4)
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{Experts: []int{1, 21}}, "too few for 21 experts"},
		{Options{Experts: []int{9, 1}}, "expert 0 has no residual rows"}, // the row t = 0
		{Options{Experts: []int{1, 4}, Points: 33}, "33 asked for, but the subdomain of expert 0 holds 32 residual rows"},
		{Options{Router: "spiral"}, "router \"spiral\": there is no such router: want boxes"},
		{Options{Weights: map[string]float64{"residual": 0, "initial": 0, "left": 0, "right": 0}}, "they are 0 for all rows"},
		{Options{Weights: map[string]float64{"wall": 1}}, "no rows are called \"wall\"; there are residual, initial, left, right"},
	} {
		if _, err := New(sys, 4, test.o, nil, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.o, err, test.want)
		}
	}
}

// owners is a router that says what it is told.
type owners struct {
	Division
	experts int
}

func (r owners) Experts() int                         { return r.experts }
func (r owners) Divide(*grid.Grid) (*Division, error) { return &r.Division, nil }

// A router from outside is checked, and one that gives every point the owner that boxes give it
// leads to the same weights, gradient and jumps.
func TestRouterFromOutside(t *testing.T) {
	sys, basis, initial := toy(t, "diffusion-sorption", map[string]int{"t": 9, "x": 20}, 4)
	boxes := NewBoxes(sys.Grid, []int{2, 2})
	d, err := boxes.Divide(sys.Grid)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		router owners
		want   string
	}{
		{owners{Division{Owner: d.Owner[1:]}, 4}, "owners of 179 points"},
		{owners{*d, 3}, "expert 3 of 3"},
		{owners{Division{Owner: d.Owner, Rows: make([][]int32, 3)}, 4}, "rows of 3 experts"},
		{owners{*d, 5}, "expert 4 has no residual rows"},
		{owners{Division{Owner: d.Owner, Rows: [][]int32{{3, 2}, {}, {}, {}}}, 4}, "rows of expert 0 are at point 2, want points of the grid, ascending"},
		{owners{Division{Owner: d.Owner, Rows: [][]int32{{}, {180}, {}, {}}}, 4}, "rows of expert 1 are at point 180, want points"},
	} {
		if _, err := New(sys, 4, Options{}, test.router, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
	run := func(r Router) []float64 {
		c, err := New(sys, 4, Options{Mean: true, Points: 20, Overlap: true, LocalConditions: true, Solver: lm.Options{Ridge: 1e-4, MaxIterations: 20}}, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		x := c.NewWorkspace().Assemble(Input[float64]{Basis: basis, Sample: initial, Overlap: 0.4, Seed: Seed{1, 2, 3}}).Solve()
		grad, j := make([]float64, len(basis)), jumpsOf(x)
		x.Backward(grad, x.Field(), 1, 2)
		return append(grad, j.Value, j.Slope)
	}
	check.Equal(t, run(owners{*d, 4}), run(boxes))
}

// Numbers are in order, none twice, every one and every pair of neighbours with the frequency of drawing
// without replacement, whether many are drawn of all or few.
func TestSamplePositions(t *testing.T) {
	const draws = 40000
	rng := rand.NewPCG(1, 2)
	for _, c := range []struct{ n, m int }{{40, 10}, {700, 10}} {
		dst := make([]int32, c.m)
		single, pair := make([]float64, c.n), make([]float64, c.n-1)
		for range draws {
			if got := samplePositions(dst, c.n, c.m, rng); got != c.m {
				t.Fatal(got)
			}
			for i, p := range dst {
				if i > 0 && p <= dst[i-1] {
					t.Fatalf("sample %v", dst)
				}
				single[p]++
				if i > 0 && p == dst[i-1]+1 {
					pair[p-1]++
				}
			}
		}
		chi := func(counts []float64, probability float64) (sum float64) {
			want := draws * probability
			for _, c := range counts {
				sum += (c - want) * (c - want) / (want * (1 - probability))
			}
			return sum
		}
		// With n and n - 1 degrees of freedom: below with probability 0.9999, by the normal approximation of χ²'s cube root.
		n, m := float64(c.n), float64(c.m)
		limit := n * math.Pow(1-2/(9*n)+3.72*math.Sqrt(2/(9*n)), 3)
		if v := chi(single, m/n); v > limit {
			t.Errorf("%d of %d: chi-squared %.1f, above %.1f; %v", c.m, c.n, v, limit, single)
		}
		if v := chi(pair, m*(m-1)/(n*(n-1))); v > limit {
			t.Errorf("%d of %d, neighbours: chi-squared %.1f, above %.1f; %v", c.m, c.n, v, limit, pair)
		}
	}
	all := make([]int32, 9)
	if n := samplePositions(all, 7, 9, rng); n != 7 || !slices.Equal(all[:7], []int32{0, 1, 2, 3, 4, 5, 6}) {
		t.Errorf("all numbers: %d of %v", n, all)
	}
}

// Rows beyond an expert's border are any of all rows but its own, and no others, in whatever numbers they are drawn.
func TestSampleElsewhere(t *testing.T) {
	sys, _, _ := toy(t, "diffusion-sorption", map[string]int{"t": 21, "x": 40}, 4)
	c, err := New(sys, 4, Options{Experts: []int{2, 4}, Points: 40, Overlap: true}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	points, scratch := make([]int32, 40), make([]int32, 40)
	for k := range 8 {
		for _, overlap := range []float64{0.05, 0.5} { // of 633 rows or so 2 and 20
			seen := map[int32]bool{}
			for seed := range 4000 {
				c.SamplePoints(points, scratch, 0, k, overlap, Seed{Run: uint64(seed)})
				outside := 0
				for i, p := range points {
					if i > 0 && p <= points[i-1] {
						t.Fatalf("rows %v", points)
					}
					if _, own := slices.BinarySearch(c.candidates[0][k], p); !own {
						outside++
						seen[p] = true
					}
				}
				if outside != int(overlap*40) {
					t.Fatalf("%d rows of others, want %g", outside, overlap*40)
				}
			}
			all := sys.All().Residuals()[0].Points
			if want := len(all) - len(c.candidates[0][k]); len(seen) != want {
				t.Errorf("expert %d, overlap %g: %d places were drawn of %d", k, overlap, len(seen), want)
			}
			for p := range seen {
				if _, ok := slices.BinarySearch(all, p); !ok {
					t.Fatalf("%d has no row", p)
				}
			}
		}
	}
}

// The points depend on run, step, sample and expert, and on nothing else: not on
// what was solved before.
func TestSampleSeeds(t *testing.T) {
	sys, basis, initial := toy(t, "diffusion-sorption", map[string]int{"t": 21, "x": 40}, 4)
	c, err := New(sys, 4, Options{Mean: true, Experts: []int{1, 2}, Points: 60, Solver: lm.Options{Ridge: 1e-4, MaxIterations: 2}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.candidates[0][0]) != len(c.candidates[0][1]) {
		t.Fatalf("%d and %d candidates: the experts cannot be compared", len(c.candidates[0][0]), len(c.candidates[0][1]))
	}
	s := c.NewWorkspace()
	points := func(seed Seed) [2]string {
		s.Assemble(Input[float64]{Basis: basis, Sample: initial, Seed: seed})
		var out [2]string
		for k := range out {
			p := s.experts[k].residuals()[0].Points
			for _, q := range p {
				if c.Expert(int(q)) != k {
					t.Fatalf("point %d is not expert %d's", q, k)
				}
			}
			// As positions among the candidates, of which both experts have as many.
			rel := make([]int, len(p))
			for i, q := range p {
				rel[i], _ = slices.BinarySearch(c.candidates[0][k], q)
			}
			out[k] = fmt.Sprint(rel)
		}
		return out
	}
	first := points(Seed{1, 2, 3})
	seen := map[string]string{}
	for _, seed := range []Seed{{1, 2, 3}, {1, 2, 4}, {1, 3, 3}, {2, 2, 3}, {2, 1, 3}, {1, 3, 2}, {3, 2, 1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}} {
		for k, p := range points(seed) {
			name := fmt.Sprintf("%v expert %d", seed, k)
			if other, ok := seen[p]; ok {
				t.Errorf("%s samples the same points as %s", name, other)
			}
			seen[p] = name
		}
	}
	if again := points(Seed{1, 2, 3}); again != first {
		t.Error("the same seed samples other points the second time")
	}
}

// With an overlap p, round(p m) of an expert's m rows lie outside its subdomain,
// all in grid order and distinct; without it none does.
func TestOverlap(t *testing.T) {
	sys, basis, initial := toy(t, "diffusion-sorption", map[string]int{"t": 21, "x": 40}, 4)
	const m = 61
	c, err := New(sys, 4, Options{Mean: true, Experts: []int{1, 2}, Points: m, Overlap: true, Solver: lm.Options{Ridge: 1e-4, MaxIterations: 2}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := c.NewWorkspace()
	for _, fraction := range []float64{0, 0.25, 0.75, 1} {
		s.Assemble(Input[float64]{Basis: basis, Sample: initial, Overlap: fraction, Seed: Seed{1, 2, 3}})
		for k, e := range s.experts {
			outside, last := 0, -1
			for _, p := range e.residuals()[0].Points {
				if c.Expert(int(p)) != k {
					outside++
				}
				if int(p) <= last {
					t.Fatalf("overlap %g, expert %d: point %d after %d", fraction, k, p, last)
				}
				last = int(p)
			}
			drawn, scratch := make([]int32, m), make([]int32, m)
			c.SamplePoints(drawn, scratch, 0, k, fraction, Seed{1, 2, 3})
			if !slices.Equal(drawn, e.residuals()[0].Points) {
				t.Errorf("overlap %g, expert %d: SamplePoints has other points than the solve", fraction, k)
			}
			if want := int(math.Round(fraction * m)); outside != want {
				t.Errorf("overlap %g, expert %d: %d rows outside, want %d of %d", fraction, k, outside, want, m)
			}
		}
	}
}
