package score

import (
	"math"
	"slices"
	"testing"

	"pihc/grid"
)

func TestSummarize(t *testing.T) {
	s := Summarize([]float64{4, 1, 3, 2})
	if s != (Summary{2.5, math.Sqrt(1.25), 2.5, 4}) {
		t.Errorf("%+v", s)
	}
	if s := Summarize(slices.Repeat([]float64{40}, 100)); s != (Summary{40, 0, 40, 40}) {
		t.Errorf("of equal numbers: %+v", s)
	}
	if s := Summarize(nil); !math.IsNaN(s.Mean) || !math.IsNaN(s.Max) {
		t.Errorf("%+v", s)
	}
	if s := Summarize([]float64{1, math.NaN()}); !math.IsNaN(s.Median) {
		t.Errorf("a NaN is hidden: %+v", s)
	}
	if q := Quantile([]float64{0, 10, 20}, 0.05); math.Abs(q-1) > 1e-12 {
		t.Errorf("5%% quantile = %g", q)
	}
}

func TestMetrics(t *testing.T) {
	truth, prediction := []float64{3, 4, 0}, []float64{3, 4, 1}
	if e := grid.RelativeL2(prediction, truth, 1); math.Abs(e-0.2) > 1e-15 {
		t.Errorf("relative L2 = %g", e)
	}
	if e := nrmse(prediction, truth); math.Abs(e-math.Sqrt(1.0/3)/4) > 1e-15 {
		t.Errorf("NRMSE = %g", e)
	}
	if e := grid.RelativeL2([]float64{1e200, 0}, []float64{0, 1e200}, 1); math.Abs(e-math.Sqrt2) > 1e-12 {
		t.Errorf("overflow: %g", e)
	}
	if e := grid.RelativeL2([]float64{1e-200, 0}, []float64{0, 1e-200}, 1); math.Abs(e-math.Sqrt2) > 1e-12 {
		t.Errorf("underflow: %g", e)
	}
	zero := make([]float64, 2)
	if grid.RelativeL2(zero, zero, 1) != 0 || !math.IsInf(grid.RelativeL2([]float64{1, 0}, zero, 1), 1) {
		t.Error("zero fields")
	}
	if !math.IsNaN(grid.RelativeL2([]float64{math.NaN(), 0}, truth[:2], 1)) {
		t.Error("a NaN is hidden")
	}
}

func TestFieldJump(t *testing.T) {
	// A bilinear field has no jump; a step of 2 across the border has one of 2.
	const n, m = 6, 8
	u := make([]float64, n*m)
	for i := range u {
		u[i] = 0.3*float64(i/m) - 1.7*float64(i%m) + 0.5*float64(i/m)*float64(i%m)
	}
	starts := [][]int{{3}, {4}}
	if j := fieldJump(u, []int{n, m}, starts); j > 1e-12 {
		t.Errorf("jump of a bilinear field: %g", j)
	}
	for i := range u {
		if i%m >= 4 {
			u[i] += 2
		}
	}
	if j := fieldJump(u, []int{n, m}, [][]int{nil, {4}}); math.Abs(j-2) > 1e-12 {
		t.Errorf("jump of a step: %g", j)
	}
	if fieldJump(u, []int{n, m}, nil) != 0 {
		t.Error("a jump without borders")
	}
	// The jump of a smooth field falls with the square of the spacing.
	jump := func(n int) float64 {
		u := make([]float64, n)
		for i := range u {
			u[i] = math.Sin(3 * float64(i) / float64(n))
		}
		return fieldJump(u, []int{n}, [][]int{{n / 2}})
	}
	if rate := math.Log2(jump(64) / jump(128)); rate < 1.9 {
		t.Errorf("order %g", rate)
	}
}
