package engine

import (
	"errors"
	"math"
	"sync"

	"pihc/compute"
	"pihc/internal/machine"
	"pihc/model"
	"pihc/pde"
)

// several takes the samples of a batch side by side, each by an engine of its own that has a part of the threads: small networks keep few threads busy with one sample.
// Gradients, statistics and predictions are added and handed on in the order of samples, so that results are the bits of one engine.
type several[T compute.Float] struct {
	Engine[T] // with all threads: of a single sample, and the first of engines
	more      func() (Engine[T], error)
	threads   int
	count     int         // of engines
	engines   []Engine[T] // made when there first are several samples
	grads     [][]T
	sums      []float64
}

// threaded is an engine that may be told to use some of its threads.
type threaded interface{ use(threads int) }

// sideBySide is how many engines share the threads where there are so many samples at a time: what has the shortest rounds, if k threads of an engine are as fast as k^0.6.
func sideBySide(samples, threads int) (count int) {
	least := math.Inf(1)
	for n := 1; n <= min(samples, threads); n++ {
		if time := float64((samples+n-1)/n) / math.Pow(float64(threads/n), 0.6); time < least {
			least, count = time, n
		}
	}
	return max(1, count)
}

// fewPoints is how many points for each thread are too few to keep the threads busy with one sample: two threads train 1344 points of width 32 1.4 times as fast side by
// side, and 13,000 and 33,000 as fast either way (an Intel Xeon with AVX-512).
const fewPoints = 2048

// affordable is as many of the samples of an engine's options as are better taken side by side: one where a sample has enough points, and no more than half of the
// machine's memory holds engines for.
func affordable(s *model.Spec, p *pde.Problem, o Options, threads int) int {
	g, err := o.Grid, error(nil)
	if g == nil {
		g, err = p.Grid(s.Grid)
	}
	if err != nil || o.Samples < 2 {
		return o.Samples
	}
	if g.Size()/s.Segments() > fewPoints*threads {
		return 1
	}
	needs, err := Estimate(s, p, g, 1, 1, true)
	if err != nil {
		return o.Samples
	}
	each, have := needs.Network+needs.Constraint+needs.Parameters, machine.Memory()
	samples := o.Samples
	for samples > 1 && have > 0 && float64(sideBySide(samples, threads))*each > have/2 {
		samples--
	}
	return samples
}

// newSeveral returns an engine like first, which has so many threads, by several of them, which more makes with a number of threads.
func newSeveral[T compute.Float](first Engine[T], samples, threads int, more func(threads int) (Engine[T], error)) Engine[T] {
	count := sideBySide(samples, threads)
	return &several[T]{Engine: first, threads: threads, count: count, more: func() (Engine[T], error) { return more(threads / count) }}
}

// AtATime is how many samples an engine takes side by side.
func AtATime[T compute.Float](e Engine[T]) int {
	if s, ok := e.(*several[T]); ok {
		return s.count
	}
	return 1
}

// Close implements Engine.
func (e *several[T]) Close() {
	e.Engine.Close()
	for _, x := range e.engines[min(1, len(e.engines)):] {
		x.Close()
	}
}

// prepare makes the engines, once, of which the first gives threads to the others until done is called.
func (e *several[T]) prepare() (done func(), err error) {
	if e.engines == nil {
		all := []Engine[T]{e.Engine}
		for range e.count - 1 {
			x, err := e.more()
			if err != nil {
				for _, made := range all[1:] {
					made.Close()
				}
				return nil, err
			}
			all = append(all, x)
		}
		e.engines = all
	}
	first := e.Engine.(threaded)
	first.use(e.threads / e.count)
	return func() { first.use(e.threads) }, nil
}

// inOrder evaluates sample i of n by engine i modulo their number, and calls take of each, in order, by the caller's goroutine; a sample is not left by its engine before take
// has returned. The first error ends it.
func inOrder[T compute.Float, R any](e *several[T], n int, evaluate func(k, i int, ready func(R) error) error, take func(k, i int, r R) error) error {
	done, err := e.prepare()
	if err != nil {
		return err
	}
	defer done()
	type result struct {
		value R
		err   error
	}
	count := min(e.count, n)
	results, taken, stop := make([]chan result, count), make([]chan error, count), make(chan struct{})
	var group sync.WaitGroup
	for k := range count {
		results[k], taken[k] = make(chan result), make(chan error)
		group.Go(func() {
			send := func(r result) error {
				select {
				case results[k] <- r:
					return <-taken[k]
				case <-stop:
					return errStopped
				}
			}
			for i := k; i < n; i += count {
				if err := evaluate(k, i, func(r R) error { return send(result{value: r}) }); err != nil {
					_ = send(result{err: err}) // nobody waits for it where it came from there
					return
				}
			}
		})
	}
	for i := range n {
		k := i % count
		r := <-results[k]
		if err = r.err; err == nil {
			err = take(k, i, r.value)
		}
		if err != nil {
			close(stop)
			taken[k] <- err
			break
		}
		taken[k] <- nil
	}
	group.Wait()
	return err
}

var errStopped = errors.New("another sample has ended the batch")

// Predict implements Engine.
func (e *several[T]) Predict(params []T, batch Batch, each func(i int, p *Prediction) error) error {
	n := len(batch.Inputs)
	if n < 2 {
		return e.Engine.Predict(params, batch, each)
	}
	return inOrder(e, n, func(k, i int, ready func(*Prediction) error) error {
		return e.engines[k].Predict(params, batch.Sample(i), func(_ int, p *Prediction) error { return ready(p) })
	}, func(_, i int, p *Prediction) error { return each(i, p) })
}

// LossAndGrad implements Engine.
func (e *several[T]) LossAndGrad(grad, params []T, batch Batch) (Stats, error) {
	n := len(batch.Inputs)
	if n < 2 {
		return e.Engine.LossAndGrad(grad, params, batch)
	}
	if e.grads == nil {
		e.sums, e.grads = make([]float64, len(e.Info().Rows)), make([][]T, e.count)
		for k := range e.grads {
			e.grads[k] = make([]T, len(grad))
		}
	}
	clear(e.sums)
	total := Stats{MeanSquares: e.sums}
	type part struct {
		stats Stats
		field []float64
	}
	err := inOrder(e, n, func(k, i int, ready func(part) error) (err error) {
		var p part
		one := batch.Sample(i)
		if batch.Field != nil {
			one.Field = func(_ int, field []float64) { p.field = field }
		}
		clear(e.grads[k])
		if p.stats, err = e.engines[k].LossAndGrad(e.grads[k], params, one); err != nil {
			return err
		}
		return ready(p)
	}, func(k, i int, p part) error {
		if p.field != nil {
			batch.Field(i, p.field)
		}
		total.Add(&p.stats)
		for j, v := range e.grads[k] {
			grad[j] += v
		}
		return nil
	})
	return total, err
}
