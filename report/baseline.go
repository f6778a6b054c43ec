package report

import "time"

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

// PersistenceBaseline returns what e, an evaluation of any method, says of the
// initial condition taken for the solution at all times, on all of its grids.
func PersistenceBaseline(e *Evaluation) *Evaluation {
	out := &Evaluation{Method: "baseline", Problem: e.Problem, Grid: e.Grid}
	for _, s := range e.PerSample {
		x := NewSample(s.Index)
		x.InitialMean, x.RelativeL2, x.RelativeResidual = s.InitialMean, s.Persistence, s.PersistenceResidual
		out.PerSample = append(out.PerSample, x)
	}
	out.Summarize()
	for i := range e.Grids {
		out.Grids = append(out.Grids, *PersistenceBaseline(&e.Grids[i]))
	}
	return out
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
		x.InitialMean = s.initialMean(i)
		field := predict(i)
		x.RelativeL2, x.Unknowns = s.relativeL2(field, truth)
		x.NRMSE = s.nrmse(field, truth)
		e.PerSample = append(e.PerSample, x)
	}
	e.Summarize()
	e.Seconds = time.Since(begin).Seconds()
	return e, nil
}
