package train

import (
	"math"
	"slices"
	"sync"

	"pihc/internal/kernel"
	"pihc/model"
)

// updateChunk is the number of parameters updated together. It fixes the order
// of the sums.
const updateChunk = 1 << 15

// adam is the Stepper of an engine that is none: it takes the engine's gradient
// and updates the state on workers of its own.
type adam[T kernel.Float] struct {
	engine   model.Engine[T]
	training model.TrainingSpec
	pool     *kernel.Pool
	mu       sync.Locker // the caller's lock of the state, given back while the gradient is formed
	state    *model.State[T]
	grad     []T       // zero between steps
	sums     []float64 // Σ g² per chunk
}

// Begin implements model.Stepper.
func (a *adam[T]) Begin(s *model.State[T]) error {
	a.state, a.grad = s, make([]T, len(s.Params))
	a.sums = make([]float64, (len(a.grad)+updateChunk-1)/updateChunk)
	return nil
}

// Sync implements model.Stepper: the state is always up to date.
func (a *adam[T]) Sync() error { return nil }

// Step implements model.Stepper. Where the loss or the gradient of a batch is not
// finite, its samples are taken one by one, in their order, and those to blame left
// out: the others contribute the bits that they would without them.
func (a *adam[T]) Step(batch model.Batch, rate float64) (model.Stats, float64, error) {
	stats, norm, err := a.gradient(batch)
	if err == nil && !finite(&stats, norm) && len(batch.Initial) > 1 {
		clear(a.grad)
		all := stats
		all.MeanSquares = slices.Clone(stats.MeanSquares) // before the engine's next call
		if stats, err = a.oneByOne(batch); err == nil && stats.Skipped == len(batch.Initial) {
			return all, norm, nil
		}
		norm = math.Sqrt(a.squares())
	}
	if err != nil || !finite(&stats, norm) {
		clear(a.grad)
		return stats, norm, err
	}
	scale := 1.0
	if clip := a.training.Clip; clip > 0 && norm > clip {
		scale = clip / norm
	}
	a.update(scale, rate)
	return stats, norm, nil
}

// gradient adds the gradient of a batch and returns the norm of the sum.
func (a *adam[T]) gradient(batch model.Batch) (model.Stats, float64, error) {
	a.mu.Unlock()
	stats, err := a.engine.LossAndGrad(a.grad, a.state.Params, batch)
	a.mu.Lock()
	if err != nil {
		return stats, 0, err
	}
	return stats, math.Sqrt(a.squares()), nil
}

// oneByOne is gradient without the samples that make it not finite. The statistics
// are means over the others; the gradient is their part of that of the batch.
func (a *adam[T]) oneByOne(batch model.Batch) (model.Stats, error) {
	total := model.Stats{MeanSquares: make([]float64, len(a.engine.Info().Rows))}
	sum := slices.Clone(a.grad) // of the samples so far
	samples := len(batch.Initial)
	for i := range samples {
		one := batch
		one.Initial, one.Seeds, one.Total = batch.Initial[i:i+1], batch.Seeds[i:i+1], samples
		stats, norm, err := a.gradient(one)
		if err != nil {
			return total, err
		}
		if !finite(&stats, norm) {
			copy(a.grad, sum)
			total.Skipped++
			continue
		}
		copy(sum, a.grad)
		total.Add(&stats)
	}
	total.Scale(float64(samples) / float64(samples-total.Skipped))
	return total, nil
}

// finite reports whether a step with these statistics and this norm of the
// gradient counts.
func finite(s *model.Stats, norm float64) bool {
	return s.Finite() && !math.IsNaN(norm) && !math.IsInf(norm, 0)
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
	step := kernel.NewAdamStep(rate, t.Beta1, t.Beta2, t.Epsilon, scale, s.Updates)
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
