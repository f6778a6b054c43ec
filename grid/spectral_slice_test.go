package grid

import (
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
