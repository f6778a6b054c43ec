package model

import (
	"math"
	"testing"
)

func TestRamp(t *testing.T) {
	geometric, linear := Ramp{0.01, 1, 0.2, 0.6}, Ramp{0.8, 0, 0.2, 0.6}
	for _, tc := range []struct {
		ramp           Ramp
		progress, want float64
	}{
		{geometric, 0, 0.01},
		{geometric, 0.2, 0.01},
		{geometric, 0.3, 0.01 * math.Sqrt(10)},
		{geometric, 0.4, 0.1},
		{geometric, 0.6, 1},
		{geometric, 1, 1},
		{linear, 0, 0.8},
		{linear, 0.3, 0.6},
		{linear, 0.5, 0.2},
		{linear, 0.6, 0},
		{linear, 1, 0},
		{Ramp{2, 2, 0, 1}, 0.5, 2},
		{Ramp{}, 0.3, 0},
		{Ramp{1, 3, 0, 0}, 0, 3},
	} {
		if got := tc.ramp.At(tc.progress); math.Abs(got-tc.want) > 1e-14 {
			t.Errorf("%+v at %g: %g, want %g", tc.ramp, tc.progress, got, tc.want)
		}
	}
}

func TestRate(t *testing.T) {
	exponential := LearningRate{Initial: 1e-3, Final: 1e-4, Decay: "exponential"}
	stairs, cosine, constant, warm := exponential, exponential, exponential, exponential
	stairs.Stairs, cosine.Decay, constant.Decay, warm.Warmup = 5, "cosine", "constant", 4
	fine := stairs
	fine.Stairs = 100
	tenth := math.Pow(10, -0.25)
	for _, test := range []struct {
		name        string
		rate        LearningRate
		step, steps int
		want        float64
	}{
		{"exponential", exponential, 0, 4001, 1e-3},
		{"exponential, half-way", exponential, 2000, 4001, math.Sqrt(1e-7)},
		{"exponential, last", exponential, 4000, 4001, 1e-4},
		{"exponential, one step", exponential, 0, 1, 1e-3},
		{"stairs, first", stairs, 0, 4000, 1e-3},
		{"stairs, end of the first", stairs, 799, 4000, 1e-3},
		{"stairs, second", stairs, 800, 4000, 1e-3 * tenth},
		{"stairs, end of the second", stairs, 1599, 4000, 1e-3 * tenth},
		{"stairs, last", stairs, 3200, 4000, 1e-4},
		{"stairs, end", stairs, 3999, 4000, 1e-4},
		// 29/100*100 is 28.999... in floating point.
		{"a stair a step", fine, 29, 100, 1e-3 * math.Pow(10, -29.0/99)},
		{"cosine", cosine, 0, 101, 1e-3},
		{"cosine, half-way", cosine, 50, 101, 5.5e-4},
		{"cosine, quarter", cosine, 25, 101, 1e-4 + 9e-4*0.5*(1+math.Sqrt(0.5))},
		{"cosine, last", cosine, 100, 101, 1e-4},
		{"constant", constant, 77, 100, 1e-3},
		{"warm-up, first", warm, 0, 1, 0.25e-3},
		{"warm-up, third", warm, 2, 101, 0.75e-3 * math.Pow(10, -0.02)},
		{"warm-up, over", warm, 4, 101, 1e-3 * math.Pow(10, -0.04)},
	} {
		if got := test.rate.At(test.step, test.steps); math.Abs(got-test.want) > 1e-14*test.want {
			t.Errorf("%s: %.16g, want %.16g", test.name, got, test.want)
		}
	}
}
