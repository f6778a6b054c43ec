package grid_test

import (
	"fmt"

	"pihc/grid"
)

// The heat operator u_t - 0.1 u_xx with BDF2 in time and a compact second
// difference whose left ghost value is 1 and whose right one is extrapolated
// linearly.
func ExampleGrid_NewOperator() {
	g := &grid.Grid{Axes: []grid.Axis{
		{Name: "t", Lo: 0, Hi: 1, Points: 5, Boundary: grid.Nodes},
		{Name: "x", Lo: 0, Hi: 4, Points: 4, Boundary: grid.Cells},
	}}
	t, err := g.Axes[0].Derivative(0, grid.Scheme{Derivative: 1, Order: 2, Side: -1, Closure: grid.Undefined})
	if err != nil {
		panic(err)
	}
	x, err := g.Axes[1].Derivative(1, grid.Scheme{
		Derivative: 2, Closure: grid.Ghost,
		Low: &grid.GhostValue{Constant: 1}, High: &grid.GhostValue{Weights: []float64{2, -1}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(t)
	fmt.Println(x)

	heat := g.NewOperator(grid.Product{Coef: 1, Lines: []*grid.Line{t}}, grid.Product{Coef: -0.1, Lines: []*grid.Line{x}})
	u := make([]float64, g.Size())
	for i := range u {
		u[i] = 1
	}
	first := g.Ravel([]int{3, 0}) // next to the left wall, at the fourth time
	points, out, offset := []int32{int32(first)}, make([]float64, 1), make([]float64, 1)
	grid.Gather(g.NewGatherer([]grid.Operator{heat}, nil), u, 1, []grid.Rows[float64]{{Points: points, Operators: []int{0}, Values: [][]float64{out}}})
	heat.AddOffset(offset, points)
	fmt.Printf("%.2f %+.2f, defined at t = 0: %t\n", out[0], offset[0], heat.Defined(0))
	// Output:
	// u_t [backward, order 2, interior only]
	// u_xx [central, order 2, low ghost 1, high ghost 2 u_1 + -1 u_2]
	// 0.10 -0.10, defined at t = 0: false
}
