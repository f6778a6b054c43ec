package fno

import (
	"testing"

	"pihc/internal/kernel"
)

// The estimate is what is allocated, within a tenth; and it holds for sizes that
// nothing can be allocated for.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		Config
		shape []int
		batch int
	}{
		{Config{Inputs: 3, Width: 64, Layers: 5, Modes: []int{8, 8}, Projection: 128, Outputs: 16}, []int{51, 128}, 1},
		{Config{Inputs: 7, Width: 20, Layers: 2, Modes: []int{3, 4, 5}, Projection: 40, Outputs: 1, OutputActivation: true}, []int{10, 16, 16}, 3},
		{Config{Inputs: 1, Width: 100, Layers: 1, Modes: []int{2, 2}, Projection: 10, Outputs: 64}, []int{20, 20}, 2},
	} {
		for _, training := range []bool{false, true} {
			pool := kernel.NewPool(2)
			n := New[float32](c.Config, c.shape, c.batch, pool)
			if training {
				n.allocateBackward()
			}
			got, parameters := c.Memory(c.shape, c.batch, 2, 4, training)
			if want := float64(c.Size()); parameters != want {
				t.Errorf("%g parameters, want %g", parameters, want)
			}
			want := float64(n.Bytes())
			if got < 0.9*want || got > 1.1*want {
				t.Errorf("%+v, training %v: estimated %.0f, allocated %.0f", c.Config, training, got, want)
			}
			pool.Close()
		}
	}
	huge := Config{Inputs: 1, Width: 1e9, Layers: 1e9, Modes: []int{1e9, 1e9}, Projection: 1e9, Outputs: 1e9}
	if got, _ := huge.Memory([]int{1e9, 1e9}, 1e9, 1e9, 8, true); !(got > 1e40) {
		t.Errorf("huge: %g", got)
	}
}
