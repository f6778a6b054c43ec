package dist

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"slices"

	"pihc/compute"
	"pihc/engine"
	"pihc/model"
	"pihc/pde"
)

// NewEngine makes the engine of a spec on the ranks of a Comm (nil: this process
// alone), among which it shares the samples of a batch; each has an engine of its
// own for one sample at a time. All ranks call the same methods with the same
// arguments, and get the same results: the bits of one engine that forms the samples
// one after the other. Where there are at least twice as many ranks as samples left, so many ranks form a
// sample together: each runs the network, and solves some of its experts (engine.Batch.Ranks).
//
// slabs successive ranks (0 and 1: one) form a sample together, each with a slab of the grid;
// results are then those of one engine but for rounding, and the same bits from
// any number of ranks with as many slabs.
func NewEngine[T compute.Float](s *model.Spec, p *pde.Problem, o engine.Options, comm Comm, slabs int) (engine.Engine[T], error) {
	if comm == nil {
		comm = Alone{}
	}
	if slabs > 1 {
		if comm.Size()%slabs != 0 {
			return nil, fmt.Errorf("%d slabs: %d ranks cannot be divided into groups of as many", slabs, comm.Size())
		}
		group, err := comm.Split(comm.Rank() / slabs)
		if err != nil {
			return nil, err
		}
		if comm, err = comm.Split(comm.Rank() % slabs); err != nil {
			return nil, err
		}
		o.Ranks = group
	}
	single := *s
	if comm.Size() > 1 || slabs > 1 {
		single.Training.MicroBatch, o.Samples = 1, 0
	}
	e, err := engine.New[T](&single, p, o)
	if err != nil || comm.Size() == 1 {
		return e, err
	}
	rows := len(e.Info().Rows)
	return &divided[T]{Engine: e, comm: comm, share: slabs < 2 && o.Name != "xla" && e.Info().Experts > 1, groups: map[int]Comm{}, stats: make([]float64, comm.Size()*(rows+statistics)), total: make([]float64, rows)}, nil
}

// divided shares the samples of a batch among ranks.
type divided[T compute.Float] struct {
	engine.Engine[T] // of this rank
	comm             Comm
	share            bool         // the engine shares the experts of a sample among ranks
	groups           map[int]Comm // by how many samples there are at a time: the ranks that form one with this one
	sum              *sum[T]      // nil before the first gradient
	grad             []T          // of this rank's sample
	stats            []float64    // of one round, for all ranks
	total            []float64    // means of squares of a batch
}

// statistics is how many numbers engine.Stats has beside MeanSquares.
const statistics = 5

// LossAndGrad implements engine.Engine.
func (e *divided[T]) LossAndGrad(grad, params []T, batch engine.Batch) (engine.Stats, error) {
	size, samples := e.comm.Size(), len(batch.Inputs)
	batch.Field = nil // a rank has those of its own samples alone
	clear(e.total)
	total := engine.Stats{MeanSquares: e.total}
	if e.sum == nil {
		e.sum, e.grad = newSum[T](e.comm, len(grad)), make([]T, len(grad))
	}
	e.sum.Begin(grad)
	for lo := 0; lo < samples; lo += size {
		count := min(size, samples-lo)
		var mine engine.Stats
		sample, group, err := e.part(count)
		if err != nil {
			return total, err
		}
		if sample >= 0 {
			clear(e.grad)
			one := batch.Sample(lo + sample)
			one.Ranks = group
			if mine, err = e.Engine.LossAndGrad(e.grad, params, one); err != nil {
				return total, err
			}
		}
		if err := e.addStats(&total, &mine, count); err != nil {
			return total, err
		}
		if err := e.sum.Round(e.grad, count); err != nil {
			return total, err
		}
	}
	return total, e.sum.Finish(grad)
}

// part returns which of so many samples this rank takes part in, -1: none, and the ranks that share it, nil: this one alone. The ranks
// that have results for all are the first, in the order of samples.
func (e *divided[T]) part(count int) (sample int, group compute.Ranks, err error) {
	rank, each := e.comm.Rank(), e.comm.Size()/count
	if !e.share || each < 2 {
		if rank >= count {
			rank = -1
		}
		return rank, nil, nil
	}
	sample = rank % count
	if rank >= count*each {
		sample = -1
	}
	c := e.groups[count]
	if c == nil {
		color := sample
		if sample < 0 {
			color = count
		}
		if c, err = e.comm.Split(color); err != nil {
			return 0, nil, err
		}
		e.groups[count] = c
	}
	return sample, c, nil
}

// addStats adds the statistics of the samples of a round in their order.
func (e *divided[T]) addStats(total, mine *engine.Stats, count int) error {
	width := len(e.total) + statistics
	numbers := make([]float64, width)
	copy(numbers, []float64{mine.Loss, mine.JumpSquare, mine.Iterations, float64(mine.Failed), float64(mine.Fallbacks)})
	copy(numbers[statistics:], mine.MeanSquares)
	if err := e.comm.AllGather(asBytes(e.stats), asBytes(numbers)); err != nil {
		return err
	}
	for r := range count {
		s := e.stats[r*width : (r+1)*width]
		total.Add(&engine.Stats{Loss: s[0], JumpSquare: s[1], Iterations: s[2], Failed: int(s[3]), Fallbacks: int(s[4]), MeanSquares: s[statistics:]})
	}
	return nil
}

// Predict implements engine.Engine; every rank gets every prediction.
func (e *divided[T]) Predict(params []T, batch engine.Batch, each func(i int, p *engine.Prediction) error) error {
	rank, size, samples := e.comm.Rank(), e.comm.Size(), len(batch.Inputs)
	for lo := 0; lo < samples; lo += size {
		count := min(size, samples-lo)
		var mine bytes.Buffer
		sample, group, err := e.part(count)
		if err != nil {
			return err
		}
		if sample >= 0 {
			one := batch.Sample(lo + sample)
			one.Ranks = group
			err := e.Engine.Predict(params, one, func(_ int, p *engine.Prediction) error {
				if rank >= count {
					return nil // another rank has it too
				}
				return gob.NewEncoder(&mine).Encode(p)
			})
			if err != nil {
				return err
			}
		}
		all, err := gather(e.comm, mine.Bytes())
		if err != nil {
			return err
		}
		for r := range count {
			var p engine.Prediction
			if err := gob.NewDecoder(bytes.NewReader(all[r])).Decode(&p); err != nil {
				return fmt.Errorf("prediction of rank %d: %w", r, err)
			}
			if err := each(lo+r, &p); err != nil {
				return err
			}
		}
	}
	return nil
}

// gather returns every rank's bytes, of any length.
func gather(c Comm, mine []byte) ([][]byte, error) {
	lengths := make([]uint64, c.Size())
	if err := c.AllGather(asBytes(lengths), asBytes([]uint64{uint64(len(mine))})); err != nil {
		return nil, err
	}
	longest := slices.Max(lengths)
	padded, all := make([]byte, longest), make([]byte, longest*uint64(c.Size()))
	copy(padded, mine)
	if err := c.AllGather(all, padded); err != nil {
		return nil, err
	}
	out := make([][]byte, c.Size())
	for r, n := range lengths {
		out[r] = all[uint64(r)*longest:][:n]
	}
	return out, nil
}

// Agree reports an error, the same on every rank, unless all ranks have the same
// facts: pairs of a name and a value.
func Agree(c Comm, facts ...[2]string) error {
	var mine bytes.Buffer
	if err := gob.NewEncoder(&mine).Encode(facts); err != nil {
		return err
	}
	all, err := gather(c, mine.Bytes())
	if err != nil {
		return err
	}
	var first [][2]string
	for r, encoded := range all {
		var theirs [][2]string
		if err := gob.NewDecoder(bytes.NewReader(encoded)).Decode(&theirs); err != nil {
			return fmt.Errorf("rank %d: %w", r, err)
		}
		if r == 0 {
			first = theirs
		}
		for i, f := range theirs {
			if i >= len(first) || f != first[i] {
				return fmt.Errorf("rank %d has another %s than rank 0 (%s, %s); all ranks need the same", r, f[0], f[1], first[min(i, len(first)-1)][1])
			}
		}
	}
	return nil
}
