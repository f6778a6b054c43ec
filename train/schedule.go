package train

import (
	"math"
	"math/rand/v2"

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
	model.State[T]
	step     int // steps done
	badInRow int
	badTotal int

	bestStep     int
	bestResidual float64 // of validation; +Inf before the first
}

// evaluated returns the parameters to evaluate with: the average where one is
// kept.
func (s *state[T]) evaluated() []T {
	if s.Average != nil {
		return s.Average
	}
	return s.Params
}

// epochOrder returns the order of the training samples in one epoch.
func epochOrder(order []int, seed uint64, epoch int) {
	rng := rand.New(rand.NewPCG(seed, uint64(epoch)^0x6f72646572))
	for i := range order {
		order[i] = i
	}
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
}
