package train

import (
	"pihc/internal/kernel"
	"pihc/model"
)

// updateChunk is the number of parameters updated together. It fixes the order
// of the sums.
const updateChunk = 1 << 15

// updater changes parameters in chunks on a pool of workers.
type updater[T kernel.Float] struct {
	pool  *kernel.Pool
	state *state[T]
	grad  []T
	sums  []float64
	step  kernel.AdamStep
	sum   func(worker, i int)
	adam  func(worker, i int)
}

func newUpdater[T kernel.Float](pool *kernel.Pool, s *state[T], grad []T) *updater[T] {
	u := &updater[T]{pool: pool, state: s, grad: grad, sums: make([]float64, (len(grad)+updateChunk-1)/updateChunk)}
	u.sum = func(_, i int) {
		lo, hi := u.chunk(i)
		u.sums[i] = kernel.SumSquares(u.grad[lo:hi])
	}
	u.adam = func(_, i int) {
		lo, hi := u.chunk(i)
		kernel.Adam(u.state.params[lo:hi], u.state.first[lo:hi], u.state.second[lo:hi], u.grad[lo:hi], u.step)
		clear(u.grad[lo:hi])
	}
	return u
}

func (u *updater[T]) chunk(i int) (lo, hi int) {
	return i * updateChunk, min((i+1)*updateChunk, len(u.grad))
}

// squares returns Σ g².
func (u *updater[T]) squares() float64 {
	u.pool.Run(len(u.sums), u.sum)
	var sum float64
	for _, v := range u.sums {
		sum += v
	}
	return sum
}

// update is one step of Adam with the gradient scaled by scale; it leaves a
// gradient of zero for the next.
func (u *updater[T]) update(scale, rate float64, t model.TrainingSpec) {
	u.state.updates++
	u.step = kernel.NewAdamStep(rate, t.Beta1, t.Beta2, t.Epsilon, scale, u.state.updates)
	u.pool.Run(len(u.sums), u.adam)
}
