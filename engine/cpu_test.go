package engine

import (
	"fmt"
	"slices"
	"testing"

	"pihc/compute"
	"pihc/constraint"
	"pihc/internal/check"
	"pihc/model"
	"pihc/pde"
)

const toySpec = `
defaults: paper
problem: %s
method: %s
grid: {t: 9, x: 24}
network: {width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4, precision: float64}
constraint: {experts: {x: 3}, points: 30, tolerance: 1e-13, max_iterations: 300, start: 0.1}
loss: {form: %s, border_jump: 0.5, border_slope: 0.3, weights: {initial: 2}}
training: {batch: 2, micro_batch: %d}
`

func toyEngine[T compute.Float](t testing.TB, problem, method, form string, micro, workers int, overrides ...string) *cpu[T] {
	t.Helper()
	spec, err := model.LoadSpec("toy", fmt.Appendf(nil, toySpec, problem, method, form, micro), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(problem)
	if err != nil {
		t.Fatal(err)
	}
	e, err := newCPU[T](spec, p, Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func toyBatch(n, samples int) Batch {
	var b Batch
	for i := range samples {
		u0 := make([]float64, n)
		for j := range u0 {
			u0[j] = 0.4 + 0.1*float64(i) // away from u = 0, where R has no derivative
		}
		b.Inputs = append(b.Inputs, u0)
		b.Seeds = append(b.Seeds, constraint.Seed{Run: 1, Step: 2, Sample: uint64(i)})
	}
	return b
}

// The number of workers does not change a bit of loss or gradient, on a grid with
// several chunks of rows in every solve and in the loss (5280 points; chunks are
// of 2048 and 4096).
func TestBitwise(t *testing.T) {
	for _, method := range model.Methods {
		t.Run(method, func(t *testing.T) {
			var want []float32
			var wantLoss float64
			var squares []float64 // a difference in a small one is lost in the loss
			for _, workers := range []int{1, 2, 4} {
				e := toyEngine[float32](t, "diffusion-sorption", method, "mean-square", 1, workers,
					"grid.t=40", "grid.x=132", "constraint.points=0", "constraint.experts={x: 2}", "constraint.tolerance=1e-5", "constraint.max_iterations=20")
				params := InitialParams[float32](e.Info())
				grad := make([]float32, len(params))
				st, err := e.LossAndGrad(grad, params, toyBatch(132, 2))
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want, wantLoss, squares = grad, st.Loss, slices.Clone(st.MeanSquares)
				}
				if !slices.Equal(st.MeanSquares, squares) {
					t.Errorf("%d workers: mean squares %v, with one %v", workers, st.MeanSquares, squares)
				}
				if st.Loss != wantLoss {
					t.Errorf("%d workers: loss %v, with one %v", workers, st.Loss, wantLoss)
				}
				for i := range grad {
					if grad[i] != want[i] {
						t.Fatalf("%d workers: gradient %d differs", workers, i)
					}
				}
			}
		})
	}
}

// Nothing proportional to the grid or to the rows is allocated in a step after the
// first: twice the points and rows need no more.
func TestNoAllocation(t *testing.T) {
	for _, method := range model.Methods {
		allocated := func(points, rows int) uint64 {
			// With what changes during training, as in the shipped specs.
			e := toyEngine[float32](t, "diffusion-sorption", method, "mean-square", 1, 2, fmt.Sprintf("grid={t: 41, x: %d}", points),
				fmt.Sprint("constraint.points=", rows), "constraint.max_iterations=4",
				"constraint.overlap={start: 0.75, end: 0, from: 0.2, to: 0.6}", "loss.border_rows={start: 0.01, end: 0.1, from: 0.1, to: 0.7}")
			params := InitialParams[float32](e.Info())
			grad := make([]float32, len(params))
			batch := toyBatch(points, 2)
			batch.Progress = 0.3
			step := func() {
				batch.Progress += 0.01
				if _, err := e.LossAndGrad(grad, params, batch); err != nil {
					t.Fatal(err)
				}
			}
			step()
			return check.Bytes(5, step)
		}
		if small, large := allocated(120, 1000), allocated(240, 2000); large > small+500 || small > 16<<10 {
			t.Errorf("%s: a step allocates %d bytes, with twice the points %d", method, small, large)
		}
	}
}
