package engine

import (
	"math"
	"testing"

	"pihc/constraint"
	"pihc/model"
)

// The initial condition reaches the network divided by initial_scale, so scaling
// both leaves a network's field as it is.
func TestInitialScale(t *testing.T) {
	field := func(u0, scale string) []float64 {
		e := toyEngine[float64](t, "diffusion-sorption", model.Soft, "mean-square", 1, 1, "network.initial_scale="+scale)
		b := Batch{Inputs: [][]float64{make([]float64, 24)}, Seeds: []constraint.Seed{{}}}
		for i := range b.Inputs[0] {
			b.Inputs[0][i] = map[string]float64{"small": 0.1, "large": 0.4}[u0]
		}
		var out []float64
		if err := e.Predict(InitialParams[float64](e.Info()), b, func(_ int, p *Prediction) error { out = append(out, p.Field...); return nil }); err != nil {
			t.Fatal(err)
		}
		return out
	}
	same, want, other := field("small", "0.25"), field("large", "1"), field("small", "1")
	differs := false
	for i := range want {
		if math.Abs(same[i]-want[i]) > 1e-12 {
			t.Fatalf("point %d: %g, want %g", i, same[i], want[i])
		}
		differs = differs || math.Abs(other[i]-want[i]) > 1e-6
	}
	if !differs {
		t.Error("the network does not see its initial condition")
	}
}
