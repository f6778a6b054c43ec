package model

import (
	"math"
	"testing"

	"pihc/constraint"
)

func TestRamp(t *testing.T) {
	geometric, linear := Ramp{0.01, 1, 0.2, 0.6}, Ramp{0.8, 0, 0.2, 0.6}
	for _, tc := range []struct {
		ramp           Ramp
		progress, want float64
	}{
		{geometric, 0, 0.01}, {geometric, 0.2, 0.01}, {geometric, 0.3, 0.01 * math.Sqrt(10)}, {geometric, 0.4, 0.1}, {geometric, 0.6, 1}, {geometric, 1, 1},
		{linear, 0, 0.8}, {linear, 0.3, 0.6}, {linear, 0.5, 0.2}, {linear, 0.6, 0}, {linear, 1, 0},
		{Ramp{2, 2, 0, 1}, 0.5, 2}, {Ramp{}, 0.3, 0}, {Ramp{1, 3, 0, 0}, 0, 3},
	} {
		if got := tc.ramp.At(tc.progress); math.Abs(got-tc.want) > 1e-14 {
			t.Errorf("%+v at %g: %g, want %g", tc.ramp, tc.progress, got, tc.want)
		}
	}
}

// A loss at some progress of training is that of an engine whose ramps stand
// still there; a prediction is that at the end.
func TestRampsInTraining(t *testing.T) {
	batch := toyBatch(24, 2)
	const tight = "constraint.max_iterations=60"
	loss := func(progress float64, overrides ...string) (float64, *cpu[float64]) {
		e := toyEngine[float64](t, "diffusion-sorption", MoE, "mean-square", 1, 1, append(overrides, tight)...)
		b := batch
		b.Progress = progress
		params := InitialParams[float64](e.info)
		st, err := e.LossAndGrad(make([]float64, len(params)), params, b)
		if err != nil {
			t.Fatal(err)
		}
		return st.Loss, e
	}
	for _, key := range []string{"loss.border_rows", "constraint.overlap"} {
		ramp, still := key+"={start: 0.1, end: 0.4, from: 0, to: 1}", key+"={start: 0.2, end: 0.2, from: 0, to: 1}"
		seen := map[float64]bool{}
		for _, progress := range []float64{0, 0.5, 1} {
			v, _ := loss(progress, ramp)
			seen[v] = true
		}
		if len(seen) != 3 {
			t.Errorf("%s: the loss does not change with the progress: %v", key, seen)
		}
		got, e := loss(0.5, ramp)
		want, _ := loss(0, still)
		if !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("%s: loss %.15g half way, with the value there from the start %.15g", key, got, want)
		}
		end, _ := loss(1, ramp)
		var predicted float64
		if err := e.Predict(InitialParams[float64](e.info), batch, func(_ int, p *Prediction) error { predicted += p.Loss / 2; return nil }); err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(predicted-end) <= 1e-12*end) {
			t.Errorf("%s: predictions have loss %.15g, training at its end %.15g", key, predicted, end)
		}
	}
}

// The initial condition reaches the network divided by initial_scale, so scaling
// both leaves a network's field as it is.
func TestInitialScale(t *testing.T) {
	field := func(u0, scale string) []float64 {
		e := toyEngine[float64](t, "diffusion-sorption", Soft, "mean-square", 1, 1, "network.initial_scale="+scale)
		b := Batch{Initial: [][]float64{make([]float64, 24)}, Seeds: []constraint.Seed{{}}}
		for i := range b.Initial[0] {
			b.Initial[0][i] = map[string]float64{"small": 0.1, "large": 0.4}[u0]
		}
		var out []float64
		if err := e.Predict(InitialParams[float64](e.info), b, func(_ int, p *Prediction) error { out = append(out, p.Field...); return nil }); err != nil {
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
