package train

import (
	"fmt"
	"math/rand/v2"

	"pihc/constraint"
	"pihc/data"
	"pihc/engine"
)

// samples are the training samples, and their order.
type samples struct {
	inputs    [][]float64 // on the spec's grid
	solutions [][]float64 // for loss.data; nil without it
	order     []int       // of the samples in an epoch
	epoch     int
	batch     engine.Batch
}

// trainingSamples reads the inputs, and where loss.data has a weight the solutions.
func (t *trainer[T]) trainingSamples(set *data.Dataset) (s samples, err error) {
	if s.inputs, err = bySample(set.Initial("train")); err != nil {
		return s, err
	}
	s.order, s.epoch = make([]int, len(s.inputs)), -1
	if t.spec.Loss.Data == 0 {
		return s, nil
	}
	if s.solutions, err = bySample(set.SolutionsRange("train", 0, len(s.inputs))); err != nil {
		return s, fmt.Errorf("loss.data: %w; generate a dataset with loss.data in its spec", err)
	}
	t.cut(s.solutions)
	return s, nil
}

// bySample splits an array (sample, ...) into one slice a sample.
func bySample(a *data.Array, err error) ([][]float64, error) {
	if err != nil {
		return nil, err
	}
	flat := a.Float64()
	width := len(flat) / a.Shape[0]
	out := make([][]float64, a.Shape[0])
	for i := range out {
		out[i] = flat[i*width : (i+1)*width]
	}
	return out, nil
}

// nextBatch selects the samples of the state's step: the data are walked
// through in an order drawn anew each epoch, so the step alone is the position.
func (t *trainer[T]) nextBatch() engine.Batch {
	s, step, size := &t.samples, t.state.step, t.spec.Training.Batch
	b := &s.batch
	b.Inputs, b.Seeds, b.Truth = b.Inputs[:0], b.Seeds[:0], b.Truth[:0]
	for at := step * size; at < (step+1)*size; at++ {
		if epoch := at / len(s.order); epoch != s.epoch {
			epochOrder(s.order, t.spec.Seed, epoch)
			s.epoch = epoch
		}
		sample := s.order[at%len(s.order)]
		b.Inputs = append(b.Inputs, t.now.inputs[sample])
		if s.solutions != nil {
			b.Truth = append(b.Truth, s.solutions[sample])
		}
		b.Seeds = append(b.Seeds, constraint.Seed{Run: t.spec.Seed, Step: uint64(step), Sample: uint64(sample)})
	}
	b.Pass = 1 + step%t.spec.Network.Passes // each in turn
	b.Progress = t.spec.Training.Progress(step)
	return *b
}

// epochOrder returns the order of the training samples in one epoch.
func epochOrder(order []int, seed uint64, epoch int) {
	rng := rand.New(rand.NewPCG(seed, uint64(epoch)^0x6f72646572))
	for i := range order {
		order[i] = i
	}
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
}
