// Package compute is what every package that computes shares: workers, the types of numbers, and named views of
// parameters.
package compute

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Pool runs indexed tasks on a fixed number of workers. Which worker runs an
// index is not fixed, so tasks must write to places that depend on the index
// alone; then results are bitwise equal for any number of workers.
//
// A nil *Pool runs everything on the caller. Run allocates nothing.
type Pool struct {
	workers int
	wake    []chan struct{}
	using   int
	job     job
	closed  bool
}

type job struct {
	n    int64
	next atomic.Int64
	task func(worker, i int)
	done sync.WaitGroup
}

// NewPool starts workers-1 goroutines; the caller of Run is the other worker.
// workers <= 0 means runtime.GOMAXPROCS(0).
func NewPool(workers int) *Pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	p := &Pool{workers: workers, using: workers, wake: make([]chan struct{}, workers-1)}
	for i := range p.wake {
		p.wake[i] = make(chan struct{}, 1)
		go p.serve(i+1, p.wake[i])
	}
	return p
}

func (p *Pool) serve(worker int, wake chan struct{}) {
	for range wake {
		p.drain(worker)
		p.job.done.Done()
	}
}

func (p *Pool) drain(worker int) {
	for {
		i := p.job.next.Add(1) - 1
		if i >= p.job.n {
			return
		}
		p.job.task(worker, int(i))
	}
}

// Use lets calls of Run have so many of the workers from now on, at least one.
func (p *Pool) Use(workers int) { p.using = max(1, min(workers, p.workers)) }

// Workers returns the number of workers, at least 1.
func (p *Pool) Workers() int {
	if p == nil {
		return 1
	}
	return p.workers
}

// Run calls task(worker, i) for every i in [0, n), worker in [0, Workers()),
// and returns when all are done. Calls do not nest and are not concurrent. To
// keep a step free of allocations, build task once and reuse it.
func (p *Pool) Run(n int, task func(worker, i int)) {
	if p == nil || p.using == 1 || n <= 1 {
		for i := range n {
			task(0, i)
		}
		return
	}
	p.job.n, p.job.task = int64(n), task
	p.job.next.Store(0)
	helpers := min(p.using-1, n-1)
	p.job.done.Add(helpers)
	for _, w := range p.wake[:helpers] {
		w <- struct{}{}
	}
	p.drain(0)
	p.job.done.Wait()
	p.job.task = nil
}

// Close ends the workers. The pool must not be used afterwards.
func (p *Pool) Close() {
	if p == nil || p.closed {
		return
	}
	p.closed = true
	for _, w := range p.wake {
		close(w)
	}
}
