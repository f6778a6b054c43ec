package model

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"pihc/constraint"
	"pihc/internal/kernel"
	"pihc/pde"
)

const toySpec = `
problem: %s
method: %s
grid: {t: 9, x: 24}
network: {width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4, precision: float64}
constraint: {experts: {x: 3}, points: 30, tolerance: 1e-13, max_iterations: 300, start: 0.1}
loss: {form: %s, border_jump: 0.5, border_slope: 0.3, weights: {initial: 2}}
training: {batch: 2, micro_batch: %d}
`

func toyEngine[T kernel.Float](t testing.TB, problem, method, form string, micro, workers int, overrides ...string) *cpu[T] {
	t.Helper()
	spec, err := LoadSpec("toy", fmt.Appendf(nil, toySpec, problem, method, form, micro), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(problem)
	if err != nil {
		t.Fatal(err)
	}
	e, err := newCPU[T](spec, p, EngineOptions{Workers: workers})
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
		b.Initial = append(b.Initial, u0)
		b.Seeds = append(b.Seeds, constraint.Seed{Run: 1, Step: 2, Sample: uint64(i)})
	}
	return b
}

// The gradient of the whole loss, weights solved anew at every point, against
// central differences: three methods, both forms, three directions per tensor.
func TestWholeGradient(t *testing.T) {
	for _, method := range Methods {
		for _, form := range []string{"mean-square", "norm"} {
			t.Run(method+" "+form, func(t *testing.T) {
				e := toyEngine[float64](t, "diffusion-sorption", method, form, 1, 1)
				worst, err := CheckGradient(e, toyBatch(24, 2), 3)
				if err != nil {
					t.Fatal(err)
				}
				if !(worst < 1e-6) {
					t.Errorf("relative error %.2g", worst)
				}
			})
		}
	}
}

// The number of workers does not change a bit of loss or gradient, on a grid with
// several chunks of rows in every solve and in the loss (5280 points; chunks are
// of 2048 and 4096).
func TestBitwise(t *testing.T) {
	for _, method := range Methods {
		t.Run(method, func(t *testing.T) {
			var want []float32
			var wantLoss float64
			var squares []float64 // a difference in a small one is lost in the loss
			for _, workers := range []int{1, 2, 4} {
				e := toyEngine[float32](t, "diffusion-sorption", method, "mean-square", 1, workers,
					"grid.t=40", "grid.x=132", "constraint.points=0", "constraint.experts={x: 2}", "constraint.tolerance=1e-5", "constraint.max_iterations=20")
				params := InitialParams[float32](e.info)
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

func TestMicroBatch(t *testing.T) {
	var want []float64
	for _, micro := range []int{1, 2, 3, 4} {
		e := toyEngine[float64](t, "diffusion-sorption", MoE, "mean-square", micro, 2)
		params := InitialParams[float64](e.info)
		grad := make([]float64, len(params))
		if _, err := e.LossAndGrad(grad, params, toyBatch(24, 3)); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = grad
		}
		scale := 0.0
		for _, w := range want {
			scale = max(scale, math.Abs(w))
		}
		for i := range grad {
			if math.Abs(grad[i]-want[i]) > 1e-10*scale {
				t.Fatalf("micro_batch %d: gradient %d is %g, with 1 %g", micro, i, grad[i], want[i])
			}
		}
	}
}

// float32 of the network against float64: the fields agree to rounding.
func TestPrecision(t *testing.T) {
	wide := toyEngine[float64](t, "diffusion-sorption", MoE, "mean-square", 1, 1)
	narrow := toyEngine[float32](t, "diffusion-sorption", MoE, "mean-square", 1, 1)
	batch := toyBatch(24, 1)
	var want []float64
	if err := wide.Predict(InitialParams[float64](wide.info), batch, func(_ int, p *Prediction) error {
		want = append(want, p.Field...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := narrow.Predict(InitialParams[float32](narrow.info), batch, func(_ int, p *Prediction) error {
		var d, n float64
		for i, v := range p.Field {
			d += (v - want[i]) * (v - want[i])
			n += want[i] * want[i]
		}
		if e := math.Sqrt(d / n); e > 2e-3 {
			t.Errorf("relative difference %.2g", e)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// Nothing of the size of the grid or of the rows is allocated in a step after the
// first.
func TestNoAllocation(t *testing.T) {
	for _, method := range Methods {
		// With what changes during training, as in the shipped specs.
		e := toyEngine[float32](t, "diffusion-sorption", method, "mean-square", 1, 2, "grid={t: 41, x: 240}", "constraint.points=2000", "constraint.max_iterations=5",
			"constraint.overlap={start: 0.75, end: 0, from: 0.2, to: 0.6}", "loss.border_rows={start: 0.01, end: 0.1, from: 0.1, to: 0.7}")
		params := InitialParams[float32](e.info)
		grad := make([]float32, len(params))
		batch := toyBatch(240, 2)
		batch.Progress = 0.3
		step := func() {
			batch.Progress += 0.01
			if _, err := e.LossAndGrad(grad, params, batch); err != nil {
				t.Fatal(err)
			}
		}
		step()
		var before, after runtime.MemStats
		const steps = 5
		runtime.ReadMemStats(&before)
		for range steps {
			step()
		}
		runtime.ReadMemStats(&after)
		if bytes := (after.TotalAlloc - before.TotalAlloc) / steps; bytes > 8000 { // a byte a point is more
			t.Errorf("%s: %d bytes allocated in a step", method, bytes)
		}
	}
}
