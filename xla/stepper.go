package xla

import (
	"errors"
	"math"

	"pihc/compute"
	"pihc/engine"
	"pihc/internal/kernel"
	"pihc/internal/pjrt"
)

// stepper is what an engine that trains keeps on the device: parameters, Adam's moments
// and the average travel when training begins and at Sync alone.
type stepper[T compute.Float] struct {
	given   *engine.State[T]
	buffers []*pjrt.Buffer // as tensors; the parameters are the first
	zero    *pjrt.Buffer
	sum     *pjrt.Buffer // of gradients; zero between steps
	updates int          // that buffers are of
	norm    *pjrt.Program
	update  *pjrt.Program
}

// tensors are the slices of a state that a step changes.
func tensors[T compute.Float](s *engine.State[T]) [][]T {
	all := [][]T{s.Params, s.First, s.Second}
	if s.Average != nil {
		all = append(all, s.Average)
	}
	return all
}

func (s *stepper[T]) free() {
	free(s.buffers...)
	free(s.zero)
	s.buffers, s.zero, s.sum = nil, nil, nil
}

// setSum replaces the sum.
func (s *stepper[T]) setSum(b *pjrt.Buffer) {
	if s.sum != s.zero && s.sum != b {
		free(s.sum)
	}
	s.sum = b
}

// Begin implements engine.Stepper.
func (e *device[T]) Begin(state *engine.State[T]) error {
	s := &e.stepper
	s.free()
	s.given, s.updates = state, state.Updates
	var err error
	for _, x := range tensors(state) {
		b, failed := pjrt.Upload(e.client, x, len(x))
		if failed == nil {
			s.buffers = append(s.buffers, b)
		}
		err = errors.Join(err, failed)
	}
	if err == nil {
		s.zero, err = pjrt.Upload(e.client, make([]T, len(state.Params)), len(state.Params))
		s.sum = s.zero
	}
	if err != nil {
		return e.explain("copy the state of training to the device", err)
	}
	if s.norm, err = e.compile(normText(e.dtype, len(state.Params), e.Frozen())); err != nil {
		return err
	}
	s.update, err = e.compile(updateText(e.dtype, len(state.Params), len(s.buffers) > 3))
	return err
}

// Sync implements engine.Stepper.
func (e *device[T]) Sync() error {
	s := &e.stepper
	if s.updates == s.given.Updates {
		return nil
	}
	for i, x := range tensors(s.given) {
		if err := pjrt.Download(s.buffers[i], x); err != nil {
			return e.explain("copy the state of training from the device", err)
		}
	}
	s.given.Updates = s.updates
	return nil
}

// Step implements engine.Stepper.
func (e *device[T]) Step(batch engine.Batch, rate float64) (engine.Stats, float64, error) {
	s, training := &e.stepper, &e.Spec.Training
	reset := func() { s.setSum(s.zero) }
	defer reset()
	stats, norm, err := batch.AddFinite(e.add, reset)
	if err != nil || !stats.FiniteStep(norm) {
		return stats, norm, err
	}
	n := float64(s.updates + 1)
	step := kernel.NewAdamStep(rate, training.ClipFactor(norm), s.updates+1)
	numbers := []float64{
		adamBeta1: step.Beta1, adamBeta2: step.Beta2, adamEpsilon: step.Epsilon, adamSize: step.Size, adamRoot: step.Root, adamScale: step.Scale,
		adamDecay: min(training.Average, (1+n)/(10+n)),
	}
	constants, err := pjrt.Upload(e.client, numbers, len(numbers))
	if err != nil {
		return stats, norm, e.explain("copy a step's constants to the device", err)
	}
	defer constants.Free()
	next, err := s.update.Run(append([]*pjrt.Buffer{constants, s.sum}, s.buffers...)...)
	if err != nil {
		return stats, norm, e.explain("update the parameters", err)
	}
	free(s.buffers...)
	s.buffers = next
	s.updates++
	return stats, norm, nil
}

// add adds the gradient of a batch, but for that of frozen parameters, and returns the norm of the sum.
func (e *device[T]) add(batch engine.Batch) (engine.Stats, float64, error) {
	clear(e.squares)
	stats := engine.Stats{MeanSquares: e.squares}
	sum, err := e.addSamples(&stats, e.stepper.sum, e.stepper.buffers[0], batch)
	if err != nil {
		return stats, 0, err
	}
	e.stepper.setSum(sum)
	out, err := e.stepper.norm.Run(sum)
	if err != nil {
		return stats, 0, e.explain("run a program", err)
	}
	defer free(out[0])
	if len(out) > 1 {
		e.stepper.setSum(out[1])
	}
	squares := make([]float64, 1)
	if err := pjrt.Download(out[0], squares); err != nil {
		return stats, 0, e.explain("run a program", err)
	}
	return stats, math.Sqrt(squares[0]), nil
}

// normText is a program: the sum of the squares of a gradient, in float64; where
// ranges of it are of frozen parameters, without those, and then the gradient with
// zeros there.
func normText(t dtype, size int, frozen [][2]int) string {
	b := newBuilder()
	all := b.input(t, size)
	if len(frozen) > 0 {
		var parts []value
		at := 0
		for _, r := range append(frozen, [2]int{size, size}) {
			if r[0] > at {
				parts = append(parts, b.slice(all, 0, at, r[0]))
			}
			if r[1] > r[0] {
				parts = append(parts, b.full(0, t, r[1]-r[0]))
			}
			at = r[1]
		}
		all = b.concatenate(0, parts...)
	}
	g := b.convert(all, f64)
	outputs := []value{b.reshape(b.sum(b.mul(g, g), 0), 1)}
	if len(frozen) > 0 {
		outputs = append(outputs, all)
	}
	return b.module(outputs...)
}

// Places among the constants of a step.
const (
	adamBeta1 = iota
	adamBeta2
	adamEpsilon
	adamSize
	adamRoot
	adamScale
	adamDecay
	adamCount
)

// updateText is a program: kernel.Adam, and the average, of the constants, the gradient,
// and the state, of which it gives the next.
func updateText(t dtype, size int, average bool) string {
	b := newBuilder()
	constants := b.convert(b.input(f64, adamCount), t)
	number := func(i int) value { return b.at(constants, 0, i) }
	grad, params, first, second := b.input(t, size), b.input(t, size), b.input(t, size), b.input(t, size)
	rest := func(i int) value { return b.sub(b.scalar(1, t), number(i)) }
	g := b.mul(number(adamScale), grad)
	first = b.add(b.mul(number(adamBeta1), first), b.mul(rest(adamBeta1), g))
	second = b.add(b.mul(number(adamBeta2), second), b.mul(rest(adamBeta2), b.mul(g, g)))
	params = b.sub(params, b.div(b.mul(number(adamSize), first), b.add(b.mul(number(adamRoot), b.sqrt(second)), number(adamEpsilon))))
	outputs := []value{params, first, second}
	if average {
		outputs = append(outputs, b.add(b.mul(number(adamDecay), b.input(t, size)), b.mul(rest(adamDecay), params)))
	}
	return b.module(outputs...)
}
