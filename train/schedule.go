package train

import (
	"math"

	"pihc/internal/kernel"
	"pihc/model"
)

// Rate returns the learning rate of a step in [0, steps):
//
//	exponential  initial·(final/initial)^(step/(steps-1)), or in equal stairs
//	cosine       from initial to final along half a cosine
//	constant     initial
//
// after Warmup steps in which it rises linearly to that value.
func Rate(r model.LearningRate, step, steps int) float64 {
	progress := 0.0
	if steps > 1 {
		progress = float64(step) / float64(steps-1)
	}
	if r.Stairs > 1 {
		progress = float64(step*r.Stairs/steps) / float64(r.Stairs-1)
	}
	rate := r.Initial
	switch r.Decay {
	case "exponential":
		rate = r.Initial * math.Pow(r.Final/r.Initial, progress)
	case "cosine":
		rate = r.Final + (r.Initial-r.Final)*0.5*(1+math.Cos(math.Pi*progress))
	}
	if step < r.Warmup {
		rate *= float64(step+1) / float64(r.Warmup)
	}
	return rate
}

// state is what training changes from step to step; a checkpoint holds all of
// it.
type state[T kernel.Float] struct {
	params  []T
	first   []T // Adam's first moment
	second  []T // Adam's second moment
	average []T // exponential moving average of params; nil when off

	step     int // steps done
	updates  int // steps that changed the parameters
	badInRow int
	badTotal int

	bestStep     int
	bestResidual float64 // of validation; +Inf before the first
}

// evaluated returns the parameters to evaluate with: the average where one is
// kept.
func (s *state[T]) evaluated() []T {
	if s.average != nil {
		return s.average
	}
	return s.params
}

// updateAverage moves the average towards the parameters with a decay that
// starts small, so that the random initial values are soon forgotten.
func (s *state[T]) updateAverage(decay float64) {
	if s.average == nil {
		return
	}
	n := float64(s.updates)
	d := T(min(decay, (1+n)/(10+n)))
	for i, p := range s.params {
		s.average[i] = d*s.average[i] + (1-d)*p
	}
}

// epochOrder returns the order of the training samples in one epoch.
func epochOrder(order []int, seed uint64, epoch int) {
	rng := data64(seed, uint64(epoch))
	for i := range order {
		order[i] = i
	}
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
}
