package train

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"pihc/engine"
)

// recover goes back after too many steps in a row whose loss or gradient is not
// finite: parameters, moments and average are restored from the newest checkpoint that
// a finite step followed, and the learning rate is lower from then on. Steps, data
// and schedule continue. The second time training ends, with a checkpoint.
func (t *trainer[T]) recover() error {
	s, spec := t.state, &t.spec.Training
	failure := fmt.Errorf("training stopped at step %d: %w in %d steps in a row", s.step, ErrNotFinite, s.BadInRow)
	if s.RecoveredAt > 0 || spec.RecoveryFactor == 0 {
		if err := t.checkpoint(); err != nil {
			return err
		}
		again := ""
		if s.RecoveredAt > 0 {
			again = fmt.Sprintf(", although training went back at step %d and went on with a lower learning rate", s.RecoveredAt)
		}
		return fmt.Errorf("%w%s; try a smaller learning rate, or look at the rows' weights", failure, again)
	}
	from := t.lastGood()
	if t.writes() {
		old, err := t.stateOf(from)
		if err != nil {
			return fmt.Errorf("%w; going back to step %d: %w", failure, from, err)
		}
		s.State = old
	}
	if err := t.shareState(); err != nil {
		return err
	}
	s.BadInRow, s.RecoveredAt = 0, s.step
	t.options.Logger.Warn("loss or gradient not finite: going back, with a lower learning rate", "step", s.step, "checkpoint", from, "factor", float64(spec.RecoveryFactor))
	if err := t.now.stepper.Begin(&s.State); err != nil {
		return err
	}
	return t.write(Record{Step: s.step, RecoveredFrom: &from})
}

// lastGood is the step of the newest checkpoint that a finite step followed, or
// will have if the next step is the first that is not finite; 0: the initial state.
// Checkpoints of interrupts do not count: a run has them or not, with the same bits.
func (t *trainer[T]) lastGood() int {
	before := max(0, t.state.step-t.state.BadInRow-1)
	return before - before%t.spec.Training.Checkpoint
}

// stateOf reads the parameters and moments from the checkpoint of a step.
func (t *trainer[T]) stateOf(step int) (engine.State[T], error) {
	if step == 0 {
		// A run that started from another has a checkpoint of step 0.
		_, err := os.Stat(metaFile(t.dir, stepName(0)))
		if errors.Is(err, fs.ErrNotExist) {
			return t.drawn().State, nil
		}
	}
	s, _, err := readCheckpoint[T](t.dir, stepName(step), t.info.Layout, true)
	if err != nil {
		return engine.State[T]{}, err
	}
	return s.State, nil
}
