package engine

import (
	"context"
	"errors"
	"testing"

	"pihc/model"
)

// Once a batch is cancelled no further sample is taken up, and the engine is as good
// as new.
func TestCanceled(t *testing.T) {
	for _, micro := range []int{1, 3} {
		e := toyEngine[float64](t, "diffusion-sorption", model.MoE, "mean-square", micro, 1)
		params := InitialParams[float64](e.Info())
		batch := toyBatch(e.InputSize(), 3)
		gradient := func(b Batch) ([]float64, error) {
			grad := make([]float64, len(params))
			_, err := e.LossAndGrad(grad, params, b)
			return grad, err
		}
		want, err := gradient(batch)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		canceled := batch
		canceled.Done = done
		seen := 0
		err = e.Predict(params, canceled, func(i int, _ *Prediction) error {
			seen++
			if i == 1 {
				close(done)
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) || seen != 2 {
			t.Errorf("micro-batches of %d: %d predictions, %v", micro, seen, err)
		}
		if _, err := gradient(canceled); !errors.Is(err, context.Canceled) {
			t.Errorf("micro-batches of %d: %v", micro, err)
		}
		got, err := gradient(batch)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != want[i] {
				t.Fatalf("micro-batches of %d: element %d of the next gradient is %g, want %g", micro, i, v, want[i])
			}
		}
	}
}
