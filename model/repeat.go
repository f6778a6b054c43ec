package model

import (
	"fmt"
	"math"

	"pihc/internal/kernel"
)

// RepeatOptions say how often Repeat runs the network.
type RepeatOptions struct {
	// Tolerance ends a sample whose residual meets it: the root of its loss over that
	// of the field which keeps its initial values (Prediction.Residual). 0: none.
	Tolerance float64
	Limit     int // most passes of a sample
	Together  int // samples that are held in memory at a time
}

// A residual has stopped falling when the lowest of the last repeatPatience passes is
// not repeatFall below the lowest before them.
const (
	repeatPatience = 4
	repeatFall     = 0.02
)

// Repeat returns an engine like e, of a spec with three passes or more, whose Predict
// runs the network on each sample until its residual has stopped falling or meets the
// tolerance; from the pass with the lowest residual it goes on to the last, with the
// method's own constraint. Predictions say how many passes there were, and what
// residual is left. Batches that ask for a pass are handed to e.
func Repeat[T kernel.Float](e Engine[T], o RepeatOptions) (Engine[T], error) {
	info := e.Info()
	if info.Spec.Network.Passes < 3 {
		return nil, fmt.Errorf("network.passes: %d: want 3 at least, to be repeated", info.Spec.Network.Passes)
	}
	return &repeated[T]{e, o}, nil
}

type repeated[T kernel.Float] struct {
	Engine[T]
	options RepeatOptions
}

// repetition is one sample on its way.
type repetition struct {
	field, best  []float64
	directions   [][]float64 // that led to field, the newest first
	spare        [][]float64 // their memory
	lowest       float64     // loss of best
	before       float64     // the lowest when it last fell by repeatFall
	bestPass     int
	since, count int // passes since then, and in all
	done         bool
}

// residual is the root of a loss over that of the initial condition at all times.
func (e *repeated[T]) residual(loss, still float64) float64 {
	if e.Info().Spec.Loss.Form == "norm" {
		return loss / still
	}
	return math.Sqrt(loss / still)
}

// Predict implements Engine.
func (e *repeated[T]) Predict(params []T, batch Batch, each func(i int, p *Prediction) error) error {
	if batch.Pass != 0 || batch.Previous != nil {
		return e.Engine.Predict(params, batch, each)
	}
	info, samples := e.Info(), make([]repetition, max(1, e.options.Together))
	still, err := StillLosses(info, batch.Initial)
	if err != nil {
		return err
	}
	size := info.FieldSize()
	for i := range samples {
		samples[i].field, samples[i].best = make([]float64, size), make([]float64, size)
		for range info.Spec.directions() {
			samples[i].spare = append(samples[i].spare, make([]float64, size))
		}
	}
	for lo := 0; lo < len(batch.Initial); lo += len(samples) {
		hi := min(lo+len(samples), len(batch.Initial))
		part := Batch{Initial: batch.Initial[lo:hi], Seeds: batch.Seeds[lo:hi], Done: batch.Done}
		if err := e.predict(params, part, samples[:hi-lo], still[lo:hi], func(i int, p *Prediction) error { return each(lo+i, p) }); err != nil {
			return err
		}
	}
	return nil
}

// predict does the samples of a batch together, those that have ended left out.
func (e *repeated[T]) predict(params []T, batch Batch, samples []repetition, still []float64, each func(i int, p *Prediction) error) error {
	info := e.Info()
	for i, s := range samples {
		samples[i] = repetition{field: s.field, best: s.best, spare: s.spare, lowest: math.Inf(1), before: math.Inf(1)}
		info.Problem.Hold(s.field, batch.Initial[i], info.SliceSize())
	}
	for pass := 1; pass < e.options.Limit; pass++ {
		next := Batch{Pass: min(pass, 2), Done: batch.Done} // the second stands for all that have a pass before and one after
		var at []int
		for i := range samples {
			if samples[i].done {
				continue
			}
			at = append(at, i)
			next.Initial, next.Seeds = append(next.Initial, batch.Initial[i]), append(next.Seeds, batch.Seeds[i])
			if pass > 1 {
				next.Previous = append(next.Previous, samples[i].field)
				next.Directions = append(next.Directions, samples[i].directions)
			}
		}
		if len(at) == 0 {
			break
		}
		if err := e.Engine.Predict(params, next, func(i int, p *Prediction) error {
			samples[at[i]].add(p)
			s := &samples[at[i]]
			s.done = s.done || e.residual(s.lowest, still[at[i]]) <= e.options.Tolerance
			return nil
		}); err != nil {
			return err
		}
	}
	last := Batch{Initial: batch.Initial, Seeds: batch.Seeds, Pass: info.Spec.Network.Passes, Done: batch.Done}
	for i := range samples {
		last.Previous, last.Directions = append(last.Previous, samples[i].best), append(last.Directions, samples[i].directions)
	}
	return e.Engine.Predict(params, last, func(i int, p *Prediction) error {
		p.Passes, p.Residual = samples[i].bestPass+1, e.residual(p.Loss, still[i])
		return each(i, p)
	})
}

// add takes the field of a further pass.
func (s *repetition) add(p *Prediction) {
	s.directions = PushDirection(s.spare, s.directions, p.Field, s.field)
	copy(s.field, p.Field)
	s.count++
	s.since++
	if s.bestPass == 0 || p.Loss < s.lowest {
		copy(s.best, p.Field)
		s.lowest, s.bestPass = p.Loss, s.count
	}
	if s.lowest < (1-repeatFall)*s.before {
		s.before, s.since = s.lowest, 0
	}
	s.done = s.since >= repeatPatience || !(p.Loss < math.Inf(1))
}
