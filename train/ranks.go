package train

import (
	"context"
	"fmt"
	"math"
	"slices"

	"pihc/dist"
	"pihc/internal/kernel"
	"pihc/pde"
)

// writes reports whether this process reads and writes the run folder.
func (t *trainer[T]) writes() bool { return t.options.Comm.Rank() == 0 }

// join opens the run folder, on rank 0, and gives all ranks the state there.
func (t *trainer[T]) join(p *pde.Problem) error {
	c := t.options.Comm
	if c.Size() == 1 {
		return t.open(p)
	}
	err := dist.Agree(c, [2]string{"spec", t.meta.SpecHash}, [2]string{"PDE file", t.meta.ProblemHash}, [2]string{"dataset", t.meta.DatasetHash},
		[2]string{"vector width", fmt.Sprint(kernel.Width())}, [2]string{"build", t.options.Build})
	if err != nil {
		return err
	}
	if t.writes() {
		err = t.open(p)
	} else {
		err = t.start()
	}
	if err != nil {
		return err
	}
	s := t.state
	counts := []uint64{
		uint64(s.step), uint64(s.Updates), uint64(s.badInRow), uint64(s.badTotal), uint64(s.bestStep), math.Float64bits(s.bestResidual),
		uint64(s.badSamples), uint64(s.recoveredAt), 0,
	}
	if s.due {
		counts[8] = 1
	}
	if err := dist.Share(c, counts); err != nil {
		return err
	}
	s.step, s.Updates, s.badInRow, s.badTotal, s.bestStep = int(counts[0]), int(counts[1]), int(counts[2]), int(counts[3]), int(counts[4])
	s.bestResidual = math.Float64frombits(counts[5])
	s.badSamples, s.recoveredAt, s.due = int(counts[6]), int(counts[7]), counts[8] == 1
	if s.Average != nil && len(s.Average) != len(s.Params) {
		s.Average = slices.Clone(s.Params)
	}
	return dist.Share(c, s.Params, s.First, s.Second, s.Average)
}

// interruptible runs the remaining steps. Where this is rank 0 of several, an
// interrupt does not wait for the step or validation in progress, which the other ranks may never
// finish: launchers leave a second.
func (t *trainer[T]) interruptible(ctx context.Context) error {
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
		if t.state.step < t.spec.Training.Steps || t.state.due {
			t.abandoned = true
			if err := t.checkpoint(); err != nil {
				return err
			}
			return ErrInterrupted
		}
	}
	return <-done
}
