package train

import (
	"math"
	"sync"

	"pihc/compute"
	"pihc/engine"
	"pihc/internal/kernel"
	"pihc/model"
)

// updateChunk is the number of parameters updated together. It fixes the order
// of the sums.
const updateChunk = 1 << 15

// adam is the Stepper of an engine that has none: it updates the state by the
// engine's gradient.
type adam[T compute.Float] struct {
	engine   engine.Engine[T]
	training model.TrainingSpec
	pool     *compute.Pool
	mu       sync.Locker // the caller's lock of the state, given back while the gradient is formed
	state    *engine.State[T]
	frozen   [][2]int  // ranges of parameters that stay
	grad     []T       // zero between steps
	sums     []float64 // Σ g² per chunk
}

// Begin implements engine.Stepper.
func (a *adam[T]) Begin(s *engine.State[T]) error {
	a.state, a.grad = s, make([]T, len(s.Params))
	a.sums = make([]float64, (len(a.grad)+updateChunk-1)/updateChunk)
	return nil
}

// Sync implements engine.Stepper: the state is always up to date.
func (a *adam[T]) Sync() error { return nil }

// Step implements engine.Stepper.
func (a *adam[T]) Step(batch engine.Batch, rate float64) (engine.Stats, float64, error) {
	stats, norm, err := batch.AddFinite(a.add, func() { clear(a.grad) })
	if err != nil || !stats.FiniteStep(norm) {
		clear(a.grad)
		return stats, norm, err
	}
	a.update(a.training.ClipFactor(norm), rate)
	return stats, norm, nil
}

// add adds the gradient of a batch, and returns the norm of the sum.
func (a *adam[T]) add(batch engine.Batch) (engine.Stats, float64, error) {
	a.mu.Unlock()
	stats, err := a.engine.LossAndGrad(a.grad, a.state.Params, batch)
	a.mu.Lock()
	if err != nil {
		return stats, 0, err
	}
	for _, r := range a.frozen {
		clear(a.grad[r[0]:r[1]])
	}
	return stats, math.Sqrt(a.squares()), nil
}

// chunks runs f on the ranges of parameters that are updated together.
func (a *adam[T]) chunks(f func(i, lo, hi int)) {
	a.pool.Run(len(a.sums), func(_, i int) { f(i, i*updateChunk, min((i+1)*updateChunk, len(a.grad))) })
}

// squares returns Σ g².
func (a *adam[T]) squares() float64 {
	a.chunks(func(i, lo, hi int) { a.sums[i] = kernel.SumSquares(a.grad[lo:hi]) })
	var sum float64
	for _, v := range a.sums {
		sum += v
	}
	return sum
}

// update is one step of Adam with the gradient scaled by scale; it leaves a
// gradient of zero for the next. The average moves towards the parameters with a
// decay that starts small, so that the random initial values are soon forgotten.
func (a *adam[T]) update(scale, rate float64) {
	s, t := a.state, &a.training
	s.Updates++
	n := float64(s.Updates)
	step := kernel.NewAdamStep(rate, scale, s.Updates)
	decay := T(min(t.Average, (1+n)/(10+n)))
	a.chunks(func(_, lo, hi int) {
		kernel.Adam(s.Params[lo:hi], s.First[lo:hi], s.Second[lo:hi], a.grad[lo:hi], step)
		clear(a.grad[lo:hi])
		if s.Average != nil {
			average := s.Average[lo:hi]
			for i, p := range s.Params[lo:hi] {
				average[i] = decay*average[i] + (1-decay)*p
			}
		}
	})
}
