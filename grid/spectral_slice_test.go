package grid

import (
	"math"
	"testing"

	"pihc/internal/check"
)

// Rows of all points of slices are bit by bit those that are formed where a point is missing or
// points repeat, of operators that are set and of one that is added to rows of a stencil.
func TestDenseSlices(t *testing.T) {
	for _, shape := range [][2]int{{8, 6}, {5, 9}, {32, 32}} {
		g := planeGrid(3, shape[0], shape[1])
		rate := g.NewOperator(Product{1, []*Line{line(t, g, "t", Scheme{Derivative: 1})}})
		ops := append(denseOperators(t, g.NewSpectral()), rate)
		const laplacian = 6
		width := shape[0] * shape[1]
		var all, missing, repeated []int32
		for p := range int32(g.Size()) {
			all = append(all, p)
			if int(p)%width == width/2 {
				repeated = append(repeated, p-1)
				continue
			}
			missing, repeated = append(missing, p), append(repeated, p)
		}
		for _, n := range []int{3, 16, 24, 40} {
			basis := check.Normal(check.Rand(uint64(n)), make([]float32, g.Size()*n))
			gatherer := g.NewGatherer(ops, nil)
			gatherer.Add(laplacian, len(ops)-1, -0.3)
			rows := func(points []int32) Rows[float32] {
				r := Rows[float32]{Points: points}
				for o := range ops {
					r.Operators = append(r.Operators, o)
					r.Values = append(r.Values, make([]float32, len(points)*n))
				}
				r.Values[laplacian] = nil
				return r
			}
			few := rows([]int32{1}) // of the stencil alone, which asks nothing of slices
			few.Operators, few.Values = few.Operators[len(ops)-1:], few.Values[len(ops)-1:]
			whole := rows(all)
			Gather(gatherer, basis, n, []Rows[float32]{few, whole})
			for _, points := range [][]int32{missing, repeated} {
				part := rows(points)
				Gather(gatherer, basis, n, []Rows[float32]{part})
				for o, values := range part.Values {
					for i := range values {
						if at := int(points[i/n])*n + i%n; values[i] != whole.Values[o][at] {
							t.Fatalf("%v, n = %d, %v: row %d is %g, %g of a whole slice", shape, n, ops[o], points[i/n], values[i], whole.Values[o][at])
						}
					}
				}
			}
			d := gatherer.dense[0]
			for i, list := range []Rows[float32]{whole, rows(missing), rows(repeated)} {
				if complete := d.newWorkspace(n).complete(d, []Rows[float32]{few, list}, width, n); complete != (i == 0) {
					t.Errorf("%v, n = %d: list %d has all points of a slice once: %v", shape, n, i, complete)
				}
			}
		}
	}
}

// On slices that are too large for dense matrices rows of a float32 basis are those of the same basis in float64, rounded,
// whichever points are wanted; rows added to those of a stencil are rounded once more.
func TestLargeSlices(t *testing.T) {
	g := planeGrid(3, 100, 64)
	rate := g.NewOperator(Product{1, []*Line{line(t, g, "t", Scheme{Derivative: 1})}})
	ops := append(denseOperators(t, g.NewSpectral()), rate)
	const laplacian, n = 6, 3
	basis := check.Normal(check.Rand(5), make([]float32, g.Size()*n))
	wide := make([]float64, len(basis))
	for i, v := range basis {
		wide[i] = float64(v)
	}
	gatherer := g.NewGatherer(ops, nil)
	gatherer.Add(laplacian, len(ops)-1, -0.3)
	var all, some []int32
	for p := range int32(g.Size()) {
		if all = append(all, p); p%3 > 0 {
			some = append(some, p)
		}
	}
	want := gathered64(gatherer, wide, n, all, len(ops))
	for _, points := range [][]int32{all, some} {
		got := Rows[float32]{Points: points}
		for o := range ops {
			got.Operators, got.Values = append(got.Operators, o), append(got.Values, make([]float32, len(points)*n))
		}
		got.Values[laplacian] = nil
		Gather(gatherer, basis, n, []Rows[float32]{got})
		for o, values := range got.Values {
			for i, v := range values {
				exact := want[o][int(points[i/n])*n+i%n]
				if tolerance := 1e-6 * (1 + math.Abs(exact)); o == len(ops)-1 && math.Abs(float64(v)-exact) < tolerance {
					continue
				}
				if v != float32(exact) {
					t.Fatalf("%v: row %d is %g, want %g", ops[o], points[i/n], v, exact)
				}
			}
		}
	}
	if gatherer.dense != nil {
		t.Error("dense matrices")
	}
}

// gathered64 returns the rows of all operators but the one that is added to another.
func gathered64(g *Gatherer, basis []float64, n int, points []int32, ops int) [][]float64 {
	r := Rows[float64]{Points: points}
	for o := range ops {
		r.Operators, r.Values = append(r.Operators, o), append(r.Values, nil)
		if g.ops[o].to < 0 {
			r.Values[o] = make([]float64, len(points)*n)
		}
	}
	Gather(g, basis, n, []Rows[float64]{r})
	return r.Values
}
