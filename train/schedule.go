package train

import (
	"math/rand/v2"

	"pihc/compute"
	"pihc/engine"
)

// state is what training changes from step to step; a checkpoint holds all of
// it.
type state[T compute.Float] struct {
	engine.State[T]
	step int // steps done
	counts
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
