package paper

import (
	"math"
	"strings"
	"testing"

	"pihc/internal/kernel"
)

// TestScalingVerdict: a page says that experts are faster where the ratio is above one by
// more than its error, and why that may be where there are several passes.
func TestScalingVerdict(t *testing.T) {
	arms := func(factor, noise float64) *scalingStudy {
		hard, moe := &scalingTimes{}, &scalingTimes{}
		for i := range scalingSteps {
			moe.training = append(moe.training, 1)
			hard.training = append(hard.training, factor+noise*float64(i/roundSteps%2*2-1))
		}
		moe.TrainingRatio = ratioOf(hard.training, moe.training)
		moe.InferenceRatio = moe.TrainingRatio
		return &scalingStudy{Soft: &scalingTimes{}, Rows: []scalingArms{{Points: 1000, Hard: hard, MoE: moe}}}
	}
	for _, x := range []struct {
		factor, noise float64
		want          string
	}{
		{1.1, 0.02, "faster to train at 1000 points"},
		{1.1, 0.3, "not faster"},
		{0.9, 0.02, "not faster"},
	} {
		r := arms(x.factor, x.noise)
		ratio := r.Rows[0].MoE.TrainingRatio
		if math.Abs(ratio.Mean-x.factor) > 1e-12 || math.Abs(ratio.Error-x.noise/math.Sqrt(scalingRounds-1)) > 1e-12 {
			t.Errorf("%g ± %g: %v", x.factor, x.noise, *ratio)
		}
		page := scalingPage(r, "demo scale", "")
		if !strings.Contains(page.Summary[0], x.want) || strings.Contains(page.Summary[0], "passes") {
			t.Errorf("%g ± %g: %s", x.factor, x.noise, page.Summary[0])
		}
		if note := page.Tables[0].Notes[0]; !strings.Contains(note, ". "+kernel.Machine()+". ") {
			t.Error(note)
		}
		r.Passes = 6
		if page := scalingPage(r, "demo scale", ""); !strings.Contains(page.Summary[0], "Of the 6 passes only the last has experts") {
			t.Error(page.Summary[0])
		}
	}
}
