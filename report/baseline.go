package report

import (
	"slices"
	"time"
)

// MeanBaseline scores the simplest prediction, the same for every sample: the
// mean of the solutions it is scored on. A method that does no better has learnt
// nothing of the initial condition. s.Truth must not be nil.
func MeanBaseline(s Samples) (*Evaluation, error) {
	begin := time.Now()
	var field []float64
	for i := range s.Initial {
		truth, err := s.Truth(i)
		if err != nil {
			return nil, err
		}
		if field == nil {
			field = make([]float64, len(truth))
		}
		for p, v := range truth {
			field[p] += v / float64(len(s.Initial))
		}
	}
	return scoreFields(s, begin, func(int) []float64 { return field })
}

// PersistenceBaseline scores the initial condition itself as the solution at all
// of a number of times. s.Truth must not be nil.
func PersistenceBaseline(s Samples, times int) (*Evaluation, error) {
	return scoreFields(s, time.Now(), func(i int) []float64 { return slices.Repeat(s.Initial[i], times) })
}

// An Endpoint is a constant initial condition and its classical solution (P).
type Endpoint struct {
	Value    float64
	Solution []float64
}

// InterpolationBaseline scores linear interpolation in the value of a constant
// initial condition between two solutions. The second result is false, and
// nothing is scored, unless every initial condition is a constant and the
// endpoints differ. s.Truth must not be nil.
func InterpolationBaseline(s Samples, low, high Endpoint) (*Evaluation, bool, error) {
	if low.Value == high.Value {
		return nil, false, nil
	}
	for _, u0 := range s.Initial {
		for _, v := range u0 {
			if v != u0[0] {
				return nil, false, nil
			}
		}
	}
	field := make([]float64, len(low.Solution))
	e, err := scoreFields(s, time.Now(), func(i int) []float64 {
		w := (s.Initial[i][0] - low.Value) / (high.Value - low.Value)
		for p := range field {
			field[p] = (1-w)*low.Solution[p] + w*high.Solution[p]
		}
		return field
	})
	return e, err == nil, err
}

// scoreFields fills an evaluation with the errors of predict's fields.
func scoreFields(s Samples, begin time.Time, predict func(i int) []float64) (*Evaluation, error) {
	e := &Evaluation{Method: "baseline"}
	for i := range s.Initial {
		truth, err := s.Truth(i)
		if err != nil {
			return nil, err
		}
		x := NewSample(i)
		x.InitialMean = mean(s.Initial[i])
		field := predict(i)
		x.RelativeL2, x.NRMSE = RelativeL2(field, truth), NRMSE(field, truth)
		e.PerSample = append(e.PerSample, x)
	}
	e.Summarize()
	e.Seconds = time.Since(begin).Seconds()
	return e, nil
}
