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
	// Limit is the number of passes of a sample at most, those on a coarser grid among them;
	// there are repeatPatience + 1 on the grid itself in any case.
	Limit    int
	Together int // samples that are held in memory at a time
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
//
// coarse, if not nil, is an engine of the same spec on a coarser grid, where a pass costs less
// and low wavenumbers settle in fewer (nested iteration; Brandt 1977). Passes begin on it, and
// those of e with what it leaves, interpolated. Close closes both.
func Repeat[T kernel.Float](e, coarse Engine[T], o RepeatOptions) (Engine[T], error) {
	info := e.Info()
	if info.Spec.Network.Passes < 3 {
		return nil, fmt.Errorf("network.passes: %d: want 3 at least, to be repeated", info.Spec.Network.Passes)
	}
	return &repeated[T]{e, coarse, o}, nil
}

type repeated[T kernel.Float] struct {
	Engine[T]
	coarse  Engine[T]
	options RepeatOptions
}

// Close implements Engine.
func (e *repeated[T]) Close() {
	e.Engine.Close()
	if e.coarse != nil {
		e.coarse.Close()
	}
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
	begun, most  int // passes on a coarser grid, and on this one at most, the last among them
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
	info := e.Info()
	fine, err := newRepetitions(e.Engine, batch.Initial, e.options.Together)
	if err != nil {
		return err
	}
	var coarse *repetitions[T]
	if e.coarse != nil {
		on := e.coarse.Info()
		initial := make([][]float64, len(batch.Initial))
		for i, u0 := range batch.Initial {
			initial[i] = InputsOn(info.Problem, u0, info.Grid, on.Grid)
		}
		if coarse, err = newRepetitions(e.coarse, initial, e.options.Together); err != nil {
			return err
		}
	}
	for lo := 0; lo < len(batch.Initial); lo += len(fine.samples) {
		hi := min(lo+len(fine.samples), len(batch.Initial))
		part := Batch{Seeds: batch.Seeds[lo:hi], Done: batch.Done}
		if coarse != nil {
			part.Initial = coarse.initial[lo:hi]
			for i := range part.Initial {
				coarse.samples[i].hold(e.coarse.Info(), part.Initial[i], e.options.Limit)
			}
			if err := e.settle(params, part, coarse, lo); err != nil {
				return err
			}
		}
		part.Initial = fine.initial[lo:hi]
		for i := range part.Initial {
			s := &fine.samples[i]
			s.hold(info, part.Initial[i], e.options.Limit)
			if coarse != nil {
				from := &coarse.samples[i]
				copy(s.field, prolong(from.best, e.coarse.Info().Grid, info.Grid))
				s.begun, s.most = from.bestPass, max(e.options.Limit-from.count, repeatPatience+1)
			}
		}
		if err := e.settle(params, part, fine, lo); err != nil {
			return err
		}
		part.Pass = info.Spec.Network.Passes
		for i := range part.Initial {
			part.Previous, part.Directions = append(part.Previous, fine.samples[i].best), append(part.Directions, fine.samples[i].directions)
		}
		if err := e.Engine.Predict(params, part, func(i int, p *Prediction) error {
			p.Passes, p.Residual = fine.samples[i].begun+fine.samples[i].bestPass+1, e.residual(p.Loss, fine.still[lo+i])
			return each(lo+i, p)
		}); err != nil {
			return err
		}
	}
	return nil
}

// repetitions are the samples of a batch on one grid, as many of them as are held together.
type repetitions[T kernel.Float] struct {
	engine  Engine[T]
	initial [][]float64 // of the whole batch
	still   []float64   // loss of the field that keeps it
	samples []repetition
}

func newRepetitions[T kernel.Float](e Engine[T], initial [][]float64, together int) (*repetitions[T], error) {
	info := e.Info()
	still, err := StillLosses(info, initial)
	if err != nil {
		return nil, err
	}
	r := &repetitions[T]{e, initial, still, make([]repetition, max(1, together))}
	size := info.FieldSize()
	for i := range r.samples {
		r.samples[i].field, r.samples[i].best = make([]float64, size), make([]float64, size)
		for range info.Spec.directions() {
			r.samples[i].spare = append(r.samples[i].spare, make([]float64, size))
		}
	}
	return r, nil
}

// settle runs all passes but the last on the samples of a batch together, which are those of
// the whole from first on; those that have ended are left out.
func (e *repeated[T]) settle(params []T, batch Batch, r *repetitions[T], first int) error {
	for {
		next := Batch{Done: batch.Done}
		var at []int
		for i := range batch.Initial {
			s := &r.samples[i]
			if s.done || s.count >= s.most-1 {
				continue
			}
			at = append(at, i)
			next.Initial, next.Seeds = append(next.Initial, batch.Initial[i]), append(next.Seeds, batch.Seeds[i])
			next.Pass = 1
			if s.begun+s.count > 0 { // of samples that go on together all or none
				next.Pass = 2 // which stands for all that have a pass before and one after
				next.Previous, next.Directions = append(next.Previous, s.field), append(next.Directions, s.directions)
			}
		}
		if len(at) == 0 {
			return nil
		}
		if err := r.engine.Predict(params, next, func(i int, p *Prediction) error {
			s := &r.samples[at[i]]
			s.add(p)
			s.done = s.done || e.residual(s.lowest, r.still[first+at[i]]) <= e.options.Tolerance
			return nil
		}); err != nil {
			return err
		}
	}
}

// hold begins with the field that keeps its initial values.
func (s *repetition) hold(info Info, initial []float64, most int) {
	*s = repetition{field: s.field, best: s.best, spare: s.spare, most: most, lowest: math.Inf(1), before: math.Inf(1)}
	info.Problem.Hold(s.field, initial, info.SliceSize())
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
