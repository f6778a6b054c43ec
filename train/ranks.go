package train

import (
	"context"
	"fmt"
	"math"

	"pihc/data"
	"pihc/dist"
	"pihc/internal/kernel"
	"pihc/internal/slab"
)

// writes reports whether this process reads and writes the run folder.
func (t *trainer[T]) writes() bool { return t.options.Comm.Rank() == 0 }

// join opens the run folder, on rank 0, and gives all ranks the state there.
func (t *trainer[T]) join() error {
	c := t.options.Comm
	if c.Size() == 1 {
		return t.open()
	}
	err := dist.Agree(c, [2]string{"spec", t.meta.SpecHash}, [2]string{"PDE file", t.meta.ProblemHash}, [2]string{"dataset", t.meta.DatasetHash},
		[2]string{"vector width", fmt.Sprint(kernel.Width())}, [2]string{"build", t.options.Build})
	if err != nil {
		return err
	}
	t.state = t.drawn()
	if t.writes() {
		if err := t.open(); err != nil {
			return err
		}
	}
	return t.shareState()
}

// shareState gives all ranks the state of rank 0.
func (t *trainer[T]) shareState() error {
	s, c := t.state, t.options.Comm
	ints := []*int{&s.step, &s.Updates, &s.BadInRow, &s.BadTotal, &s.BadSamples, &s.RecoveredAt, &s.BestStep}
	var numbers []uint64
	for _, v := range ints {
		numbers = append(numbers, uint64(*v))
	}
	numbers = append(numbers, math.Float64bits(float64(s.BestResidual)), 0)
	if s.Due {
		numbers[len(ints)+1] = 1
	}
	if err := c.Broadcast(slab.Bytes(numbers), 0); err != nil {
		return err
	}
	for i, v := range ints {
		*v = int(numbers[i])
	}
	s.BestResidual, s.Due = data.Float(math.Float64frombits(numbers[len(ints)])), numbers[len(ints)+1] == 1
	for _, v := range [][]T{s.Params, s.First, s.Second, s.Average} {
		if err := c.Broadcast(slab.Bytes(v), 0); err != nil {
			return err
		}
	}
	return nil
}

// interruptible runs the remaining steps. Where this is rank 0 of several, an
// interrupt does not wait for the step or validation in progress, which the other ranks may never
// finish: launchers leave a second.
func (t *trainer[T]) interruptible(ctx context.Context) error {
	defer t.tellStopping(ctx)()
	if t.options.Comm.Size() == 1 {
		return t.loop(ctx)
	}
	done := make(chan error, 1)
	go func() { done <- t.loop(context.WithoutCancel(ctx)) }()
	if t.writes() {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
		}
		t.update.Lock() // for good: the state changes no more
		if t.state.step < t.spec.Training.Steps || t.state.Due {
			t.abandoned = true
			if err := t.checkpoint(); err != nil {
				return err
			}
			return ErrInterrupted
		}
	}
	return <-done
}

// tellStopping calls Options.Stopping once ctx has ended. What it returns ends that, and waits for a call in progress.
func (t *trainer[T]) tellStopping(ctx context.Context) (end func()) {
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		if t.options.Stopping != nil && t.writes() {
			t.options.Stopping()
		}
	})
	return func() {
		if !stop() {
			<-told
		}
	}
}
