package score

import (
	"time"

	"pihc/grid"
	"pihc/pde"
)

// MeanBaseline scores, for every sample, the mean of the solutions of all other samples. A method
// that is no better has learnt nothing from the initial condition. s.Truth must not be nil, and
// there must be two samples or more.
func (s *Samples) MeanBaseline() (*Evaluation, error) {
	begin := time.Now()
	var sum []float64
	for i := range s.Inputs {
		truth, err := s.Truth(i)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = make([]float64, len(truth))
		}
		for p, v := range truth {
			sum[p] += v
		}
	}
	field := make([]float64, len(sum))
	return s.scoreFields(begin, func(_ int, truth []float64) []float64 {
		for p, v := range truth {
			field[p] = (sum[p] - v) / float64(len(s.Inputs)-1)
		}
		return field
	})
}

// ZeroBaseline scores the field that is zero everywhere. s.Truth must not be nil.
func (s *Samples) ZeroBaseline() (*Evaluation, error) {
	var zero []float64
	return s.scoreFields(time.Now(), func(_ int, truth []float64) []float64 {
		if zero == nil {
			zero = make([]float64, len(truth))
		}
		return zero
	})
}

// PersistenceBaseline scores persistence: the initial condition as the solution at all times. Its
// scores are in e, an evaluation of any method on these samples, for all grids of e. The errors of
// several unknowns are computed here, on the grid g of e. s.Truth must not be nil.
func (s *Samples) PersistenceBaseline(e *Evaluation, p *pde.Problem, g *grid.Grid) (*Evaluation, error) {
	out := e.persistence()
	if len(s.Unknowns) == 0 {
		return out, nil
	}
	var persistent []float64
	for i := range out.PerSample {
		truth, err := s.Truth(i)
		if err != nil {
			return nil, err
		}
		if persistent == nil {
			persistent = make([]float64, len(truth))
		}
		p.Persist(persistent, s.Inputs[i], g)
		_, out.PerSample[i].Unknowns = s.relativeL2(persistent, truth)
	}
	out.Summarize()
	return out, nil
}

// leavesResidual reports that a relative residual is more than rounding. Of persistence it often is not: a field that solves the equation and
// misses its conditions alone, of which zero would say nothing.
func leavesResidual(v float64) bool { return v > 1e-6 }

// TellingPersistenceResidual is PersistenceResidual, nil where persistence solves the equation and misses conditions alone.
func (e *Evaluation) TellingPersistenceResidual() *Summary {
	if s := e.PersistenceResidual; s != nil && leavesResidual(s.Mean) {
		return s
	}
	return nil
}

// persistence returns the scores of persistence that an evaluation has, on all of its grids.
func (e *Evaluation) persistence() *Evaluation {
	out := &Evaluation{Method: "baseline", Problem: e.Problem, Grid: e.Grid}
	for _, s := range e.PerSample {
		x := NewSample(s.Index)
		x.InitialMean, x.RelativeL2 = s.InitialMean, s.Persistence
		if leavesResidual(s.PersistenceResidual) {
			x.RelativeResidual = s.PersistenceResidual
		}
		out.PerSample = append(out.PerSample, x)
	}
	out.Summarize()
	for i := range e.Grids {
		out.Grids = append(out.Grids, *e.Grids[i].persistence())
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
func (s *Samples) InterpolationBaseline(low, high Endpoint) (*Evaluation, bool, error) {
	if low.Value == high.Value {
		return nil, false, nil
	}
	for _, u0 := range s.Inputs {
		for _, v := range u0 {
			if v != u0[0] {
				return nil, false, nil
			}
		}
	}
	field := make([]float64, len(low.Solution))
	e, err := s.scoreFields(time.Now(), func(i int, _ []float64) []float64 {
		w := (s.Inputs[i][0] - low.Value) / (high.Value - low.Value)
		for p := range field {
			field[p] = (1-w)*low.Solution[p] + w*high.Solution[p]
		}
		return field
	})
	return e, err == nil, err
}

// scoreFields fills an evaluation with the errors of predict's fields, of the size of truth.
func (s *Samples) scoreFields(begin time.Time, predict func(i int, truth []float64) []float64) (*Evaluation, error) {
	e := &Evaluation{Method: "baseline", Grid: s.Grid}
	for i := range s.Inputs {
		truth, err := s.Truth(i)
		if err != nil {
			return nil, err
		}
		x := NewSample(i)
		x.InitialMean = s.initialMean(i)
		field := predict(i, truth)
		x.RelativeL2, x.Unknowns = s.relativeL2(field, truth)
		x.RelativeL2 = absent(x.RelativeL2)
		x.NRMSE = s.nrmse(field, truth)
		e.PerSample = append(e.PerSample, x)
	}
	e.Summarize()
	e.Seconds = time.Since(begin).Seconds()
	return e, nil
}
