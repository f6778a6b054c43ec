package train

import (
	"pihc/compute"
	"pihc/engine"
)

// state is all that changes from step to step. A checkpoint has all of it.
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
