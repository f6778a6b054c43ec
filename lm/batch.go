package lm

import "pihc/compute"

// Task is one independent problem of a batch.
type Task struct {
	Problem Problem
	W       []float64 // start in, solution out
	Result  Result    // out
}

// Batch solves independent problems on a work queue: each task has its own
// damping, status and iteration count and leaves the queue when it is done,
// so a slow or bad problem never holds up or touches another. Results are
// bitwise the same for any number of workers and any split into batches. A
// Batch is for one goroutine at a time.
type Batch struct {
	pool    *compute.Pool
	solvers []*Solver // one per worker
}

// NewBatch returns a batch solver for problems of up to n unknowns on the
// workers of pool; nil means the calling goroutine alone. A task's problem
// must not itself use pool, and two tasks must not share a problem.
func NewBatch(n int, o Options, pool *compute.Pool) *Batch {
	b := &Batch{pool: pool}
	for range pool.Workers() {
		b.solvers = append(b.solvers, NewSolver(n, o))
	}
	return b
}

// Solve solves every task and writes its W and Result.
func (b *Batch) Solve(tasks []Task) {
	b.pool.Run(len(tasks), func(worker, i int) {
		t := &tasks[i]
		t.Result = b.solvers[worker].Solve(t.Problem, t.W)
	})
}
