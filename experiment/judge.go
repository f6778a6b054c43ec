package experiment

import (
	"fmt"
	"math"

	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/words"
	"pihc/pde"
)

// judge says what predictions leave of the equation and of their beginnings: solutions to compare
// with there are none.
type judge struct {
	problem   *pde.Problem
	grid      *grid.Grid
	plain     *pde.PlainResidual
	begin     dataset.Beginnings
	residuals []float64 // per sample, over the rate
	far       []int     // samples that do not begin with their initial condition
	worst     float64   // of those
}

func newJudge(sys *pde.System, samples int) (*judge, error) {
	j := &judge{problem: sys.Problem, grid: sys.Grid, begin: dataset.NewBeginnings(sys), residuals: make([]float64, 0, samples)}
	var err error
	j.plain, err = sys.NewPlainResidual()
	return j, err
}

// add takes the prediction for the next sample.
func (j *judge) add(field, sample []float64) {
	if miss, far := j.begin.Miss(field, sample); far {
		j.far, j.worst = append(j.far, len(j.residuals)), max(j.worst, miss)
	}
	j.residuals = append(j.residuals, dataset.PredictionResidual(j.plain, j.problem, j.grid, field, sample))
}

// warnings are reasons not to trust the predictions.
func (j *judge) warnings() []string {
	var out []string
	if n := len(j.far); n > 0 {
		out = append(out, fmt.Sprintf("%d of %d predictions do not begin with their initial condition, and may be far off: sample %d is the first, and the worst is off by %s (rms)", n, len(j.residuals), j.far[0], words.Percent(j.worst)))
	}
	undefined := func(r float64) bool { return math.IsInf(r, 1) }
	if count, first := tally(j.residuals, undefined); count > 0 {
		out = append(out, fmt.Sprintf("%d of %d predictions do not change in time (the derivative in time, or a residual's first term where it has none, is zero) and leave a residual, which is relative to nothing: sample %d is the first", count, len(j.residuals), first))
	}
	return out
}

// tally counts the elements that are something, and returns the place of the first.
func tally[T any](all []T, is func(T) bool) (count, first int) {
	for i, x := range all {
		if is(x) {
			if count++; count == 1 {
				first = i
			}
		}
	}
	return count, first
}
